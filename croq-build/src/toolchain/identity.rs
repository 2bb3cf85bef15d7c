//! Identifies a compiler without running it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::environment::Environment;

/// The identity of a program file in the file system: an update changes its size or its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileIdentity {
    path: PathBuf,
    bytes: u64,
    modified: u128,
}

impl FileIdentity {
    /// Follows links, so that switching an alternative counts as another program.
    pub fn of(path: &Path) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let metadata = path.metadata().ok();
        let modified = metadata
            .as_ref()
            .and_then(|m| m.modified().ok())
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            path,
            bytes: metadata.map_or(0, |m| m.len()),
            modified: modified.map_or(0, |time| time.as_nanos()),
        }
    }
}

impl fmt::Display for FileIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {}",
            self.path.display(),
            self.bytes,
            self.modified
        )
    }
}

/// The identity of a compiler given as a command (`c++`, `ccache g++ -m64`): the words, and the
/// identity of those that are programs.
pub fn of_command(env: &Environment, command: &str) -> String {
    let mut text = command.to_owned();
    for word in command.split_whitespace() {
        if let Some(program) = env.resolve(Path::new(word)) {
            text.push('\n');
            text.push_str(&FileIdentity::of(&program).to_string());
        }
    }
    text
}
