//! Writes generated files, and does not touch a file whose contents are already right: with an
//! unchanged time stamp, cargo and debuggers do not treat it as changed.
//!
//! A file is complete or absent: it is written under another name and then renamed, which is atomic
//! even if the build is killed. A file left under such a name is removed by the next build.

use std::path::{Path, PathBuf};

use super::problem::Problem;
use crate::diagnostics::codes;
use crate::sorted::SortedSet;

/// `OUT_DIR/croq` and the files that this build wrote there.
pub struct Outputs {
    root: PathBuf,
    written: SortedSet<PathBuf>,
}

impl Outputs {
    pub fn in_folder(root: PathBuf) -> Self {
        Self {
            root,
            written: SortedSet::new(),
        }
    }

    /// Writes `text` to `name` (a relative path) and returns the full path.
    pub fn write(&mut self, name: &str, text: &str) -> Result<PathBuf, Problem> {
        let path = self.path(name)?;
        let same = std::fs::read(&path).is_ok_and(|old| old == text.as_bytes());
        if !same {
            replace(&path, text)?;
        }
        Ok(path)
    }

    /// A path for a tool to write to; its folder exists.
    pub fn path(&mut self, name: &str) -> Result<PathBuf, Problem> {
        let path = self.root.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        }
        self.written.insert(path.clone());
        Ok(path)
    }

    /// Removes files of earlier builds that this one did not write, such as those of a deleted
    /// kernel.
    pub fn remove_stale(&self) {
        remove_stale(&self.root, &self.written);
    }
}

/// Writes a file under a temporary name and renames it, so that it is complete under its own name.
pub fn replace(path: &Path, text: &str) -> Result<(), Problem> {
    let part = part_of(path);
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|error| {
            let _ = std::fs::remove_file(&part);
            unwritable(path, &error)
        })
}

/// The name of a file until it is complete, in the same folder.
pub fn part_of(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".part-");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

/// A failure to remove is ignored: nothing refers to the file any more.
fn remove_stale(folder: &Path, keep: &SortedSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_stale(&path, keep);
            let _ = std::fs::remove_dir(&path); // fails unless it became empty
        } else if !keep.contains(&path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

pub fn unwritable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(
        codes::E1107,
        format!("can't write {}: {error}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unchanged_is_not_written_and_what_is_left_over_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("croq");
        let mut first = Outputs::in_folder(root.clone());
        let kept = first.write("matmul/basic.cc", "a").expect("written");
        let gone = first.write("gone/old.cc", "b").expect("written");
        let time = kept.metadata().and_then(|m| m.modified()).expect("a time");

        let mut second = Outputs::in_folder(root);
        second.write("matmul/basic.cc", "a").expect("written");
        second.remove_stale();
        assert!(!gone.exists() && !gone.parent().is_some_and(Path::exists));
        assert_eq!(
            kept.metadata().and_then(|m| m.modified()).expect("a time"),
            time
        );
    }

    #[test]
    fn a_file_is_whole_or_absent() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("croq");
        let mut outputs = Outputs::in_folder(root.clone());
        let path = outputs.write("scale.rs", "whole").expect("written");
        // A temporary file left by a killed build.
        let part = part_of(&path);
        assert_eq!(part.parent(), path.parent());
        std::fs::write(&part, "ha").expect("a half");
        outputs.remove_stale();
        assert!(!part.exists() && path.exists());
        // If writing fails, the old file remains.
        std::fs::create_dir(&part).expect("in the way");
        let problem = outputs.write("scale.rs", "other").expect_err("in the way");
        assert!(problem.message.contains("can't write"), "{problem}");
        assert!(std::fs::read_to_string(&path).is_ok_and(|text| text == "whole"));
    }
}
