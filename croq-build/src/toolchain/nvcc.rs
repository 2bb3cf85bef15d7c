//! Finds nvcc and its libraries.
//!
//! Places are searched in a fixed order and all are recorded, so that an error can list them. The
//! GPU is not queried: build machines have none.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::{Environment, is_program};
use super::identity::FileIdentity;
use super::problem::Problem;
use crate::diagnostics::codes;
use crate::target::Version;

/// The oldest toolkit whose PTX (8.4) supports what the device headers use, but for instructions that
/// `sema` reports with an older one.
pub const OLDEST: Version = Version {
    major: 12,
    minor: 4,
};

/// An nvcc that is installed and recent enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolkit {
    pub nvcc: PathBuf,
    pub version: Version,
    /// The folder of `libcudart_static.a`.
    pub libraries: PathBuf,
}

/// The result of a search: at most one toolkit, and each place with the outcome there.
#[derive(Debug, Default)]
pub struct Search {
    pub toolkit: Option<Toolkit>,
    pub looked_at: Vec<String>,
}

impl Search {
    /// The error if CUDA was required.
    pub fn required(&self) -> Problem {
        let mut problem = Problem::new(
            codes::E1111,
            format!("CUDA is required, but there is no nvcc {OLDEST} or later"),
        );
        for place in &self.looked_at {
            problem = problem.note(format!("looked at {place}"));
        }
        problem.help(format!(
            "{HOW_TO_GET_IT}, or set CROQ_CUDA=off to build for the simulated GPU only"
        ))
    }

    /// The warning if CUDA was optional.
    pub fn left_out(&self) -> Problem {
        let seen = self
            .looked_at
            .iter()
            .filter(|place| place.contains("is too old"));
        let mut problem = Problem::new(
            codes::W1110,
            format!(
                "no nvcc {OLDEST} or later was found: kernels are built for the simulated GPU only"
            ),
        );
        for place in seen {
            problem = problem.note(place.clone());
        }
        // Cargo's line is cut after 400 characters.
        problem.help(
            "CROQ_CUDA=off silences this; to compile for GPUs, install the CUDA toolkit, or run \
             `make setup` in croq's repository, which puts nvcc into its .croq/cuda; the first of \
             these counts: NVCC (the program), CUDA_HOME and CUDA_PATH (its folder), PATH, \
             /usr/local/cuda*, Python environments",
        )
    }
}

const HOW_TO_GET_IT: &str = "install the CUDA toolkit, or run `pip install \"nvidia-cuda-nvcc==13.0.*\" \
\"nvidia-cuda-runtime==13.0.*\" \"nvidia-cuda-crt==13.0.*\" \"nvidia-nvvm==13.0.*\" \"nvidia-cuda-cccl==13.0.*\"` \
in an active virtual environment, or run `make setup` in croq's repository, which puts nvcc into its .croq/cuda. \
The first of these counts: NVCC (the program), CUDA_HOME and CUDA_PATH (its folder, such as .croq/cuda), PATH, \
/usr/local/cuda*, Python environments";

/// Searches for nvcc. `remember` is a file with the results of running it, so that an unchanged
/// nvcc is not run again.
pub fn search(env: &Environment, remember: Option<&Path>) -> Search {
    let mut search = Search::default();
    for (place, nvcc) in candidates(env) {
        let Some(nvcc) = nvcc else {
            search.looked_at.push(place);
            continue;
        };
        match examine(&nvcc, remember) {
            Ok(toolkit) => {
                search.toolkit = Some(toolkit);
                return search;
            }
            Err(why) => search.looked_at.push(format!("{place}: {why}")),
        }
    }
    search
}

/// Every place in order; one without an nvcc has a description and no path.
fn candidates(env: &Environment) -> Vec<(String, Option<PathBuf>)> {
    let mut list = Vec::new();
    list.push(match env.text("NVCC") {
        None => ("NVCC: not set".to_owned(), None),
        Some(value) => match env.resolve(Path::new(&value)) {
            Some(nvcc) => (format!("NVCC={value}"), Some(nvcc)),
            None => (format!("NVCC={value}: no such program"), None),
        },
    });
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        list.push(match env.text(name) {
            None => (format!("{name}: not set"), None),
            Some(value) => under(&format!("{name}={value}"), Path::new(&value)),
        });
    }
    list.push(match env.program("nvcc") {
        Some(nvcc) => (format!("PATH ({})", nvcc.display()), Some(nvcc)),
        None => ("PATH: no nvcc".to_owned(), None),
    });
    let installed = installed_toolkits(Path::new("/usr/local"));
    if installed.is_empty() {
        list.push(("/usr/local/cuda*: no such folder".to_owned(), None));
    }
    list.extend(
        installed
            .iter()
            .map(|root| under(&root.display().to_string(), root)),
    );
    let wheels = wheel_toolkits(env);
    if wheels.is_empty() {
        list.push((
            "Python packages (VIRTUAL_ENV, CONDA_PREFIX, ~/.local, /usr/local): no nvidia/cu*/bin/nvcc".to_owned(),
            None,
        ));
    }
    list.extend(
        wheels
            .iter()
            .map(|root| under(&root.display().to_string(), root)),
    );
    list
}

fn under(place: &str, root: &Path) -> (String, Option<PathBuf>) {
    let nvcc = root.join("bin").join("nvcc");
    if is_program(&nvcc) {
        (place.to_owned(), Some(nvcc))
    } else {
        (format!("{place}: no bin/nvcc"), None)
    }
}

/// `/usr/local/cuda` first (the administrator's choice), then the versioned folders, newest first.
fn installed_toolkits(parent: &Path) -> Vec<PathBuf> {
    let mut versioned: Vec<(Vec<u32>, PathBuf)> = entries(parent)
        .into_iter()
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            let version = name.strip_prefix("cuda-")?;
            Some((
                version.split('.').map(|n| n.parse().unwrap_or(0)).collect(),
                path,
            ))
        })
        .collect();
    versioned.sort_by(|a, b| b.cmp(a));
    let usual = parent.join("cuda");
    let mut roots: Vec<PathBuf> = usual.exists().then_some(usual).into_iter().collect();
    roots.extend(versioned.into_iter().map(|(_, path)| path));
    roots
}

/// `…/site-packages/nvidia/cu13` of the active virtual environment, the user and the system.
fn wheel_toolkits(env: &Environment) -> Vec<PathBuf> {
    python_packages(env)
        .iter()
        .flat_map(|packages| {
            let mut roots = entries(&packages.join("nvidia"));
            roots.retain(|root| {
                root.file_name().is_some_and(|name| {
                    name.to_string_lossy().starts_with("cu") && root.join("bin/nvcc").exists()
                })
            });
            roots.reverse();
            roots
        })
        .collect()
}

/// The `site-packages` folders, those of an active environment first.
pub fn python_packages(env: &Environment) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|name| env.undeclared(name))
        .map(PathBuf::from)
        .collect();
    prefixes.extend(
        env.undeclared("HOME")
            .map(|home| Path::new(&home).join(".local")),
    );
    prefixes.extend([PathBuf::from("/usr/local"), PathBuf::from("/usr")]);
    prefixes
        .iter()
        .flat_map(|prefix| entries(&prefix.join("lib")))
        .filter(|lib| {
            lib.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("python3"))
        })
        .flat_map(|lib| [lib.join("site-packages"), lib.join("dist-packages")])
        .filter(|packages| packages.is_dir())
        .collect()
}

/// A folder's entries, sorted by name; none if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(read) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn examine(nvcc: &Path, remember: Option<&Path>) -> Result<Toolkit, String> {
    let identity = FileIdentity::of(nvcc).to_string();
    if let Some(toolkit) = remember.and_then(|file| recall(file, &identity, nvcc)) {
        return Ok(toolkit);
    }
    let version = version_of(nvcc)?;
    if version < OLDEST {
        return Err(format!("nvcc {version} is too old"));
    }
    let libraries = libraries_of(nvcc).ok_or_else(|| {
        format!("nvcc {version} is there, but not libcudart_static.a of its toolkit")
    })?;
    let toolkit = Toolkit {
        nvcc: nvcc.to_owned(),
        version,
        libraries,
    };
    if let Some(file) = remember {
        // Without the record, nvcc is run twice more, so an error is ignored.
        let _ = std::fs::write(
            file,
            format!("{identity}\n{version}\n{}\n", toolkit.libraries.display()),
        );
    }
    Ok(toolkit)
}

fn recall(file: &Path, identity: &str, nvcc: &Path) -> Option<Toolkit> {
    let text = std::fs::read_to_string(file).ok()?;
    let mut lines = text.lines();
    if lines.next()? != identity {
        return None;
    }
    let (major, minor) = lines.next()?.split_once('.')?;
    let toolkit = Toolkit {
        nvcc: nvcc.to_owned(),
        version: Version {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        },
        libraries: PathBuf::from(lines.next()?),
    };
    has_runtime(&toolkit.libraries).then_some(toolkit)
}

fn version_of(nvcc: &Path) -> Result<Version, String> {
    let output = Command::new(nvcc)
        .arg("--version")
        .output()
        .map_err(|error| format!("it can't be run ({error})"))?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| "`nvcc --version` does not say its version".to_owned())
}

/// `… release 13.0, V13.0.88` → 13.0
fn parse_version(text: &str) -> Option<Version> {
    let (_, rest) = text.split_once("release ")?;
    let (major, rest) = rest.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(Version {
        major: major.trim().parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// The folder beside nvcc in the known layouts, else the one from which nvcc itself links.
fn libraries_of(nvcc: &Path) -> Option<PathBuf> {
    let real = nvcc.canonicalize().unwrap_or_else(|_| nvcc.to_owned());
    let roots = [nvcc, &real]
        .into_iter()
        .filter_map(|path| path.parent()?.parent().map(Path::to_owned));
    for root in roots {
        let target = format!("targets/{}-linux/lib", std::env::consts::ARCH);
        for folder in ["lib64", "lib", target.as_str()] {
            let folder = root.join(folder);
            if has_runtime(&folder) {
                return Some(folder);
            }
        }
    }
    let dry = Command::new(nvcc)
        .args(["--dryrun", "-x", "cu", "-", "-o", "unused"])
        .output()
        .ok()?;
    library_folders(&String::from_utf8_lossy(&dry.stderr))
        .into_iter()
        .find(|folder| has_runtime(folder))
}

/// The `-L` folders of the `#$ LIBRARIES=` line of `nvcc --dryrun`.
fn library_folders(dry: &str) -> Vec<PathBuf> {
    dry.lines()
        .filter_map(|line| line.strip_prefix("#$ LIBRARIES="))
        .flat_map(str::split_whitespace)
        .filter_map(|word| word.trim_matches('"').strip_prefix("-L"))
        .map(|folder| PathBuf::from(folder.trim_matches('"')))
        .collect()
}

fn has_runtime(folder: &Path) -> bool {
    folder.join("libcudart_static.a").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::environment::tests::environment;

    #[cfg(unix)]
    fn fake_nvcc(path: &Path, version: &str) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        let script = format!(
            "#!/bin/sh\necho run >> \"$0.log\"\necho 'Cuda compilation tools, release {version}, V{version}.88'\n"
        );
        std::fs::write(path, script).expect("a script");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn runtime(folder: &Path) {
        std::fs::create_dir_all(folder).expect("folders");
        std::fs::write(folder.join("libcudart_static.a"), "").expect("a library");
    }

    #[test]
    fn versions_are_read() {
        let text = "Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0";
        assert_eq!(
            parse_version(text),
            Some(Version {
                major: 13,
                minor: 0
            })
        );
        assert_eq!(parse_version("nothing"), None);
        assert!(
            Version {
                major: 12,
                minor: 10
            } > OLDEST
        );
    }

    #[test]
    fn the_warning_says_how_nvcc_is_found() {
        let warning = Search::default().left_out().one_line();
        let places = [
            "NVCC",
            "CUDA_HOME",
            "CUDA_PATH",
            "PATH",
            "/usr/local/cuda*",
            "Python",
        ];
        assert!(warning.len() < 400, "{warning}");
        let (_, order) = warning
            .split_once("the first of these counts: ")
            .expect("the order");
        let at: Vec<_> = places.map(|place| order.find(place)).to_vec();
        assert!(at.is_sorted() && at.iter().all(Option::is_some), "{order}");
        assert!(
            warning.contains("make setup") && warning.contains("CROQ_CUDA=off silences this"),
            "{warning}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_wheel_layout_is_found_and_nvcc_is_asked_once() {
        let venv = tempfile::tempdir().expect("a folder");
        let root = venv.path().join("lib/python3.11/site-packages/nvidia/cu13");
        fake_nvcc(&root.join("bin/nvcc"), "13.0");
        runtime(&root.join("lib"));
        let env = environment(&[("VIRTUAL_ENV", &venv.path().to_string_lossy())]);
        let remember = venv.path().join("nvcc.txt");
        for _ in 0..3 {
            let search = search(&env, Some(&remember));
            let toolkit = search.toolkit.expect("the toolkit of the wheel");
            assert_eq!(
                toolkit.version,
                Version {
                    major: 13,
                    minor: 0
                }
            );
            assert_eq!(toolkit.libraries, root.join("lib"));
        }
        let log = std::fs::read_to_string(root.join("bin/nvcc.log")).expect("a log");
        assert_eq!(log.lines().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn an_old_one_is_passed_over_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fake_nvcc(&old.join("bin/nvcc"), "11.8");
        runtime(&old.join("lib64"));
        let old_home = old.display().to_string();
        let alone = environment(&[("CUDA_HOME", &old_home)]);
        let search_alone = search(&alone, None);
        assert_eq!(search_alone.toolkit, None);
        let text = search_alone.required().to_string();
        assert!(text.contains("NVCC: not set"), "{text}");
        assert!(text.contains("nvcc 11.8 is too old"), "{text}");
        assert!(
            search_alone
                .left_out()
                .one_line()
                .contains("11.8 is too old")
        );

        fake_nvcc(&new.join("bin/nvcc"), "12.4");
        runtime(&new.join("lib64"));
        let path = new.join("bin").display().to_string();
        let both = environment(&[("CUDA_HOME", &old_home), ("PATH", &path)]);
        let found = search(&both, None).toolkit.expect("the one in PATH");
        assert_eq!(found.nvcc, new.join("bin/nvcc"));
        assert!(both.asked().contains(&"CUDA_HOME".to_owned()));
    }

    #[test]
    fn installed_toolkits_come_newest_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["cuda", "cuda-12.4", "cuda-12.10", "cuda-13.0", "other"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let names: Vec<String> = installed_toolkits(folder.path())
            .iter()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        assert_eq!(names, ["cuda", "cuda-13.0", "cuda-12.10", "cuda-12.4"]);
    }

    #[test]
    fn link_folders_are_read_from_a_dry_run() {
        let dry =
            "#$ TOP=/opt/cuda\n#$ LIBRARIES=  \"-L/opt/cuda/lib64/stubs\" \"-L/opt/cuda/lib64\"\n";
        assert_eq!(
            library_folders(dry),
            [
                PathBuf::from("/opt/cuda/lib64/stubs"),
                PathBuf::from("/opt/cuda/lib64")
            ]
        );
    }
}
