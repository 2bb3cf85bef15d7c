//! Finds and reads `.co` files.
//!
//! The rule: every regular file `*.co` below the folder, with links followed. Names that begin with
//! a dot are skipped: editors keep locks and copies there (`.#scale.co`). Anything else with such a
//! name, or a name that cannot be printed on one line, is an error. Only regular files are opened,
//! since opening a pipe waits for its other end.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::directives::shown;
use super::modules::{self, ModulePath};
use super::problem::Problem;
use crate::diagnostics::codes;

/// A `.co` file that was found.
#[derive(Debug)]
pub struct Input {
    /// The path relative to the package, for messages and `#line`.
    pub path: String,
    pub folder: PathBuf,
    pub module: ModulePath,
    pub text: String,
}

/// The largest text; files that people or programs write are smaller.
const MOST_BYTES: u64 = 4 << 20;

/// The most nested folders.
const DEEPEST: usize = 32;

/// The longest part of a path. File names made from one part have up to about thirty more bytes;
/// file systems allow 255.
const LONGEST_NAME: usize = 200;

/// The `.co` files below `path` (or `path` itself), sorted by name. `package` is the base of
/// relative paths.
pub fn find(package: &Path, path: &Path) -> Result<Vec<Input>, Problem> {
    let root = package.join(path);
    let metadata = root.metadata().map_err(|error| {
        unreadable(&root, &error).note(format!(
            "paths begin at the package's folder, {}",
            shown(package)
        ))
    })?;
    let (base, found) = match metadata.is_dir() {
        true => (root.as_path(), below(&root)?),
        false => (root.parent().unwrap_or(&root), vec![root.clone()]),
    };
    let mut inputs = Vec::new();
    for file in found {
        let relative = file.strip_prefix(base).unwrap_or(&file).to_owned();
        let below_package = file.strip_prefix(package).unwrap_or(&file);
        let path = printable(below_package)?.to_owned();
        let module = ModulePath::of(&relative);
        if let Some(long) = module.longest().filter(|part| part.len() > LONGEST_NAME) {
            return Err(Problem::new(
                codes::E1104,
                format!("{path}: a name of {} bytes is too long", long.len()),
            )
            .note("generated files and a Rust module are called after it")
            .help(format!("use at most {LONGEST_NAME} bytes")));
        }
        inputs.push(Input {
            text: read(&file)?,
            folder: file.parent().unwrap_or(base).to_owned(),
            path,
            module,
        });
    }
    modules::distinct(
        inputs
            .iter()
            .map(|input| (&input.module, input.path.as_str())),
    )?;
    Ok(inputs)
}

/// The `.co` files below a folder, sorted by name. There is at least one.
pub fn below(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut found = Vec::new();
    let mut walk = Walk {
        found: &mut found,
        within: Vec::new(),
    };
    walk.folder(folder)?;
    match found.is_empty() {
        true => Err(Problem::new(
            codes::E1104,
            format!("there is no `.co` file below {}", shown(folder)),
        )),
        false => Ok(found),
    }
}

/// The text of a `.co` file.
pub fn read(path: &Path) -> Result<String, Problem> {
    let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        let what = kind(&metadata);
        return Err(Problem::new(
            codes::E1104,
            format!("{} is {what}, not a file", shown(path)),
        )
        .help("a `.co` file is a regular file, or a link to one"));
    }
    // The file may have grown since.
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        let size = metadata.len().max(bytes.len() as u64);
        return Err(
            Problem::new(codes::E1104, format!("{} has {size} bytes", shown(path))).help(format!(
                "a `.co` file has at most {MOST_BYTES}: make it several files"
            )),
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to());
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        Problem::new(codes::E1104, format!("{} is not UTF-8 text", shown(path)))
            .note(format!("the first invalid byte is in line {line}"))
    })
}

/// A path for messages, `#line` and generated comments.
pub fn printable(path: &Path) -> Result<&str, Problem> {
    let wrong = |what: &str| {
        Problem::new(codes::E1104, format!("the name {} {what}", shown(path)))
            .note("the name is used in generated files and in lines that cargo reads")
            .help("rename it")
    };
    let text = path.to_str().ok_or_else(|| wrong("is not UTF-8"))?;
    match text.contains(char::is_control) {
        true => Err(wrong("has a control character")),
        false => Ok(text),
    }
}

struct Walk<'a> {
    found: &'a mut Vec<PathBuf>,
    /// The enclosing folders, with links resolved.
    within: Vec<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> Result<(), Problem> {
        let real = folder
            .canonicalize()
            .map_err(|error| unreadable(folder, &error))?;
        if self.within.contains(&real) {
            return Err(Problem::new(
                codes::E1104,
                format!(
                    "{} is a link to {}, a folder around it",
                    shown(folder),
                    shown(&real)
                ),
            )
            .help("remove the link: the files below it are found without it"));
        }
        if self.within.len() >= DEEPEST {
            return Err(Problem::new(
                codes::E1104,
                format!("{} is nested in more than {DEEPEST} folders", shown(folder)),
            ));
        }
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            paths.push(entry.map_err(|error| unreadable(folder, &error))?.path());
        }
        paths.sort();
        self.within.push(real);
        for path in paths {
            let name = path.file_name().unwrap_or_default();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if path.is_dir() {
                self.folder(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "co") {
                self.found.push(path);
            }
        }
        self.within.pop();
        Ok(())
    }
}

fn kind(metadata: &Metadata) -> &'static str {
    if metadata.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(codes::E1104, format!("can't read {}: {error}", shown(path)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A package with the folder `kernels`.
    struct Package(tempfile::TempDir);

    impl Package {
        fn new() -> Self {
            let package = Self(tempfile::tempdir().expect("a folder"));
            std::fs::create_dir(package.at("kernels")).expect("a folder");
            package
        }

        fn at(&self, name: impl AsRef<Path>) -> PathBuf {
            self.0.path().join(name)
        }

        fn with(self, name: impl AsRef<Path>) -> Self {
            let path = self.at(Path::new("kernels").join(name));
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            std::fs::write(path, "// text").expect("a file");
            self
        }

        fn found(&self) -> Vec<String> {
            let inputs = find(self.0.path(), Path::new("kernels/")).expect("found");
            inputs.into_iter().map(|input| input.path).collect()
        }

        fn problem(&self) -> String {
            let problem = find(self.0.path(), Path::new("kernels/")).expect_err("an error");
            assert_eq!(problem.code, codes::E1104);
            let text = problem.to_string();
            assert!(
                !text.contains(|c: char| c.is_control() && c != '\n'),
                "{text:?}"
            );
            text.replace(
                &self
                    .0
                    .path()
                    .canonicalize()
                    .expect("there")
                    .display()
                    .to_string(),
                "P",
            )
        }
    }

    #[test]
    fn files_are_found_below_folders_whatever_those_are_called() {
        let package = Package::new()
            .with("scale.co")
            .with("folder.co/inner.co")
            .with("a folder/\"quoted\"/größe's.co")
            .with("notes.txt")
            .with("scale.co~");
        assert_eq!(
            package.found(),
            [
                "kernels/a folder/\"quoted\"/größe's.co",
                "kernels/folder.co/inner.co",
                "kernels/scale.co",
            ]
        );
    }

    #[test]
    fn hidden_names_are_passed_over() {
        let package = Package::new()
            .with("scale.co")
            .with(".hidden/x.co")
            .with(".old.co");
        // Emacs marks a file that is being edited by a dangling link.
        symlink("me@host.4711:1", package.at("kernels/.#scale.co")).expect("a link");
        assert_eq!(package.found(), ["kernels/scale.co"]);
    }

    #[test]
    fn a_link_to_a_folder_around_it_is_an_error() {
        let package = Package::new().with("deep/scale.co");
        symlink("..", package.at("kernels/deep/loop")).expect("a link");
        assert!(
            package.problem().starts_with(
                "error[E1104]: P/kernels/deep/loop is a link to P/kernels, a folder around it"
            ),
            "{}",
            package.problem()
        );
        let package = Package::new().with("scale.co");
        symlink(".", package.at("kernels/loop")).expect("a link");
        assert!(
            package.problem().contains("kernels/loop is a link"),
            "{}",
            package.problem()
        );
        // A link to another folder is that folder.
        let package = Package::new().with("scale.co").with("deep/more.co");
        symlink("deep", package.at("kernels/same")).expect("a link");
        let found = [
            "kernels/deep/more.co",
            "kernels/same/more.co",
            "kernels/scale.co",
        ];
        assert_eq!(package.found(), found);
    }

    #[test]
    fn a_pipe_is_not_opened() {
        let package = Package::new().with("scale.co");
        let made = std::process::Command::new("mkfifo")
            .arg(package.at("kernels/x.co"))
            .status();
        assert!(made.expect("mkfifo runs").success());
        assert!(
            package
                .problem()
                .contains("kernels/x.co is a pipe, not a file"),
            "{}",
            package.problem()
        );
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        let package = Package::new().with("scale.co");
        symlink("nowhere.co", package.at("kernels/gone.co")).expect("a link");
        let problem = package.problem();
        assert!(
            problem.contains("can't read") && problem.contains("gone.co"),
            "{problem}"
        );
        std::fs::remove_file(package.at("kernels/gone.co")).expect("gone");

        let closed = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(package.at("kernels/scale.co"), closed).expect("closed");
        // Root can read it nevertheless.
        if let Err(problem) = find(package.0.path(), Path::new("kernels")) {
            let text = problem.to_string();
            assert!(
                text.contains("can't read") && text.contains("scale.co"),
                "{text}"
            );
        }
        std::fs::write(package.at("kernels/bytes.co"), b"a\nb\xff").expect("written");
        let problem = read(&package.at("kernels/bytes.co")).expect_err("no text");
        assert!(problem.to_string().contains("line 2"), "{problem}");
    }

    #[test]
    fn names_that_are_no_line_of_text_are_errors() {
        for (name, part) in [
            (
                &b"new\nline.co"[..],
                "\"kernels/new\\nline.co\" has a control character",
            ),
            (b"bell\x07.co", "has a control character"),
            (b"folder\r/x.co", "has a control character"),
            (b"latin-\xe9.co", "is not UTF-8"),
        ] {
            let package = Package::new().with(std::ffi::OsStr::from_bytes(name));
            assert!(package.problem().contains(part), "{}", package.problem());
        }
    }

    #[test]
    fn names_and_files_have_limits() {
        let long = "x".repeat(201);
        let package = Package::new().with(format!("{long}.co"));
        assert!(
            package.problem().contains("201 bytes is too long"),
            "{}",
            package.problem()
        );
        let package = Package::new().with(format!("{}.co", &long[1..]));
        assert_eq!(package.found().len(), 1);

        let package = Package::new().with("huge.co");
        let file = File::options()
            .write(true)
            .open(package.at("kernels/huge.co"));
        file.expect("a file")
            .set_len(MOST_BYTES + 1)
            .expect("a hole");
        assert!(
            package.problem().contains("has 4194305 bytes"),
            "{}",
            package.problem()
        );

        let mut deep = PathBuf::new();
        for _ in 0..40 {
            deep.push("d");
        }
        let package = Package::new().with(deep.join("x.co"));
        assert!(
            package.problem().contains("more than 32 folders"),
            "{}",
            package.problem()
        );
    }

    #[test]
    fn an_empty_folder_and_names_that_collide_are_errors() {
        assert!(Package::new().problem().contains("no `.co` file below"));
        let package = Package::new().with("a-b.co").with("a_b.co");
        let problem = find(package.0.path(), Path::new("kernels")).expect_err("alike");
        assert_eq!(problem.code, codes::E1116);
        assert!(
            problem
                .message
                .contains("kernels/a-b.co and kernels/a_b.co"),
            "{problem}"
        );
    }
}
