//! Names of files that are equal wherever a package is built, so that nvcc's objects are.
//!
//! An object of nvcc contains absolute names: of all files with device code in its line table, and
//! of its input in the names of internal functions. Relative names do not help, because nvcc makes
//! them absolute. Therefore it runs in `/`, and gets the folder of generated files as its standard
//! input: `/proc/self/fd/0` is a name of that folder in nvcc and in all programs that it runs. A
//! `#line 3 "kernels/scale.co"` becomes `/kernels/scale.co` in the line table.
//!
//! A line table also has the time of each file, so generated files get a fixed one, and the user's
//! headers are copied. nvcc numbers its temporary files by its process, and such a name is a symbol
//! of the object; files that it is told to keep have names without a number.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::headers::HEADERS;
use super::nvcc::Toolkit;
use crate::target::Version;

/// The folder of generated files, under the name that it has in nvcc.
const OWN: &str = "/proc/self/fd/0";
/// Copies of the package's headers, and nvcc's files; both exist while nvcc runs.
const PACKAGE: &str = "build/package";
const KEPT: &str = "build/kept";
/// The oldest toolkit whose objects were compared.
const OLDEST: Version = Version {
    major: 13,
    minor: 0,
};

/// The names for all objects of a build. Dropping the value removes the copies.
pub struct PortableNames<'a> {
    own: &'a Path,
    package: &'a Path,
}

impl<'a> PortableNames<'a> {
    /// Whether names of this kind are possible for the toolkit on this system.
    pub fn possible(toolkit: &Toolkit) -> bool {
        let has_names = || Path::new("/proc/self/fd").is_dir();
        cfg!(target_os = "linux") && toolkit.version >= OLDEST && has_names()
    }

    /// `own` is the folder of generated files, `texts` are those that will be compiled, with the
    /// headers beside them, and `headers` the user's.
    pub fn new<'p>(
        own: &'a Path,
        package: &'a Path,
        texts: impl Iterator<Item = &'p PathBuf>,
        headers: impl Iterator<Item = &'p PathBuf>,
    ) -> io::Result<Self> {
        let names = Self { own, package };
        for (name, _) in HEADERS {
            set_time(&own.join("include").join(name))?;
        }
        for text in texts {
            set_time(text)?;
            let header = text.with_extension("h");
            if header.is_file() {
                set_time(&header)?;
            }
        }
        for header in headers {
            let Ok(name) = header.strip_prefix(package) else {
                continue;
            };
            let copy = own.join(PACKAGE).join(name);
            if let Some(folder) = copy.parent() {
                std::fs::create_dir_all(folder)?;
            }
            // Not `fs::copy`: a copy of a file that is read-only would be read-only.
            std::fs::write(&copy, std::fs::read(header)?)?;
            set_time(&copy)?;
        }
        Ok(names)
    }

    /// The names of a file or folder, in the order in which headers are searched. What is not copied
    /// has its own name, as a folder that a text only asks about with `__has_include`.
    pub fn of(&self, path: &Path) -> Vec<PathBuf> {
        let own = Path::new(OWN);
        if let Ok(rest) = path.strip_prefix(self.own) {
            vec![own.join(rest)]
        } else if let Ok(rest) = path.strip_prefix(self.package) {
            vec![own.join(PACKAGE).join(rest), path.to_owned()]
        } else {
            vec![path.to_owned()]
        }
    }

    /// The folder in which nvcc keeps the files of an object.
    pub fn kept(&self, symbol: &str) -> PathBuf {
        self.own.join(KEPT).join(symbol)
    }

    /// Sets the folder of a command of nvcc, and its options for names.
    pub fn set(&self, command: &mut Command, symbol: &str) -> io::Result<()> {
        std::fs::create_dir_all(self.kept(symbol))?;
        command.stdin(Stdio::from(File::open(self.own)?));
        command.current_dir("/");
        command.args(["-frandom-seed", symbol, "-keep", "-keep-dir"]);
        command.arg(Path::new(OWN).join(KEPT).join(symbol));
        // Otherwise that of the file behind `OWN`.
        command.args(["-Xcudafe", &format!("--orig_src_path_name={symbol}")]);
        Ok(())
    }

    /// The compiler's output with the paths of this machine.
    pub fn in_output(&self, text: &str) -> String {
        let package = format!("{OWN}/{PACKAGE}");
        text.replace(&package, &self.package.to_string_lossy())
            .replace(OWN, &self.own.to_string_lossy())
    }
}

impl Drop for PortableNames<'_> {
    fn drop(&mut self) {
        for folder in [PACKAGE, KEPT] {
            let _ = std::fs::remove_dir_all(self.own.join(folder));
        }
    }
}

/// The first time that all archives and file systems can express, in 1980.
fn fixed_time() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(315_532_800)
}

fn set_time(path: &Path) -> io::Result<()> {
    File::options()
        .append(true)
        .open(path)?
        .set_modified(fixed_time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn files_of_the_build_and_the_package_have_names_without_their_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let (own, package) = (folder.path().join("out"), folder.path().join("package"));
        for (name, text) in HEADERS {
            let path = own.join("include").join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        std::fs::create_dir_all(package.join("k")).expect("a folder");
        let (text, header) = (own.join("a.cc"), package.join("k/a.h"));
        std::fs::write(&text, "there").expect("a file");
        std::fs::write(&header, "here").expect("a file");
        let names = PortableNames::new(&own, &package, [&text].into_iter(), [&header].into_iter());
        let names = names.expect("names");
        let of = |path: &Path| {
            let list = names.of(path);
            list.iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&text), ["/proc/self/fd/0/a.cc"]);
        let copy = "/proc/self/fd/0/build/package/k/a.h";
        assert_eq!(of(&header), [copy, &header.display().to_string()]);
        assert_eq!(of(Path::new("/usr/include")), ["/usr/include"]);
        let shown = format!("{}:3: error", header.display());
        assert_eq!(names.in_output(&format!("{copy}:3: error")), shown);

        // The names are those of the files, in another process.
        let mut command = Command::new("cat");
        command.args([copy, "/proc/self/fd/0/a.cc"]);
        command.stdin(Stdio::from(File::open(&own).expect("a folder")));
        let output = command.output().expect("cat runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "herethere");
        for path in [&text, &own.join("build/package/k/a.h")] {
            let time = path.metadata().and_then(|file| file.modified());
            assert_eq!(time.expect("a time"), fixed_time(), "{}", path.display());
        }
        drop(names);
        let left = std::fs::read_dir(own.join("build")).map(Iterator::count);
        assert_eq!(left.expect("a folder"), 0);
        assert!(header.exists());
    }
}
