//! Remembers what an object file was built from, so that a compiler runs only for a reason.
//!
//! Beside each object stand three files: `.log`, what the compiler printed (its warnings are shown
//! again when the object is reused); `.text`, the emitted text it was built from (its line numbers
//! are the ones inside the object); and `.key`, the hash of everything that went in, with the hash
//! of each of the user's own headers. The key is removed before a compiler starts and written when
//! all is done, so an interrupted build leaves nothing that looks finished.

use std::path::{Path, PathBuf};

use super::canonical::{Canonical, moved_lines};
use super::outputs::{Outputs, unwritable};
use super::problem::Problem;

/// Collects all that a result depends on.
pub struct Key(blake3::Hasher);

impl Key {
    pub fn new(kind: &str) -> Self {
        let key = Self(blake3::Hasher::new());
        key.with("kind", kind)
            .with("croq-build", env!("CARGO_PKG_VERSION"))
    }

    /// Each part is stored with its length, so that no two lists of parts look alike.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        for part in [name, value] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
        self
    }

    pub fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// The place of one object and its record.
pub struct Entry {
    pub object: PathBuf,
    key: PathBuf,
    log: PathBuf,
    text: PathBuf,
    dependencies: PathBuf,
}

/// An object that is as good as a new one.
#[derive(Debug)]
pub struct Reusable {
    pub log: String,
    pub headers: Vec<PathBuf>,
    /// See [`moved_lines`].
    pub moved: Vec<(u32, u32)>,
}

impl Entry {
    /// `stem` is a path below the output folder, such as `build/scale.sim`.
    pub fn new(outputs: &mut Outputs, stem: &str) -> Result<Self, Problem> {
        Ok(Self {
            object: outputs.path(&format!("{stem}.o"))?,
            key: outputs.path(&format!("{stem}.key"))?,
            log: outputs.path(&format!("{stem}.log"))?,
            text: outputs.path(&format!("{stem}.text"))?,
            dependencies: outputs.path(&format!("{stem}.d"))?,
        })
    }

    /// Where the compiler shall list the headers that it read (make's format).
    pub fn dependencies(&self) -> &Path {
        &self.dependencies
    }

    pub fn reusable(&self, key: &str, device_text: &str) -> Option<Reusable> {
        let record = std::fs::read_to_string(&self.key).ok()?;
        let mut lines = record.lines();
        if lines.next()? != key || !self.object.is_file() {
            return None;
        }
        let mut headers = Vec::new();
        for line in lines {
            let (hash, path) = line.split_once(' ')?;
            if hash_of_file(Path::new(path))? != hash {
                return None;
            }
            headers.push(PathBuf::from(path));
        }
        let old = std::fs::read_to_string(&self.text).ok()?;
        let moved = if old == device_text {
            Vec::new()
        } else {
            moved_lines(&Canonical::of(&old), &Canonical::of(device_text))?
        };
        let log = std::fs::read_to_string(&self.log).ok()?;
        Some(Reusable {
            log,
            headers,
            moved,
        })
    }

    /// Before the compiler runs: what is here is no longer valid.
    pub fn invalidate(&self) {
        let _ = std::fs::remove_file(&self.key);
    }

    /// After it ran well. `mine` says which of the headers it read are croq's own (they are in the
    /// key already).
    pub fn record(
        &self,
        key: &str,
        device_text: &str,
        log: &str,
        base: &Path,
        mine: impl Fn(&Path) -> bool,
    ) -> Result<Vec<PathBuf>, Problem> {
        let listed = std::fs::read_to_string(&self.dependencies).unwrap_or_default();
        let mut record = format!("{key}\n");
        let mut headers = Vec::new();
        for name in prerequisites(&listed) {
            let path = base.join(name);
            if mine(&path) {
                continue;
            }
            if let Some(hash) = hash_of_file(&path) {
                record.push_str(&format!("{hash} {}\n", path.display()));
                headers.push(path);
            }
        }
        for (path, text) in [
            (&self.log, log),
            (&self.text, device_text),
            (&self.key, &record),
        ] {
            std::fs::write(path, text).map_err(|error| unwritable(path, &error))?;
        }
        Ok(headers)
    }
}

fn hash_of_file(path: &Path) -> Option<String> {
    Some(
        blake3::hash(&std::fs::read(path).ok()?)
            .to_hex()
            .to_string(),
    )
}

/// The files right of the colon in a make rule; `\ ` is a blank in a name, `\` before a line break
/// continues the rule.
fn prerequisites(rule: &str) -> Vec<String> {
    let rule = rule.replace("\\\r\n", " ").replace("\\\n", " ");
    let Some((_, list)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let mut names = vec![String::new()];
    let mut chars = list.lines().next().unwrap_or("").chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => {
                let escaped = chars.next();
                if let Some(name) = names.last_mut() {
                    name.extend(escaped);
                }
            }
            (' ' | '\t', _) => names.push(String::new()),
            _ => {
                if let Some(name) = names.last_mut() {
                    name.push(c);
                }
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        let ab = Key::new("x").with("a", "b").finish();
        assert_ne!(ab, Key::new("x").with("ab", "").finish());
        assert_ne!(ab, Key::new("y").with("a", "b").finish());
        assert_eq!(ab, Key::new("x").with("a", "b").finish());
    }

    #[test]
    fn make_rules_are_read() {
        let rule = "build/scale.o: /out/scale.cc \\\n  kernels/my\\ header.h kernels/$$x.h\n\nother: rule\n";
        assert_eq!(
            prerequisites(rule),
            ["/out/scale.cc", "kernels/my header.h", "kernels/$x.h"]
        );
        assert_eq!(prerequisites(""), Vec::<String>::new());
    }

    #[test]
    fn an_object_is_reused_until_something_that_matters_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let header = folder.path().join("user.h");
        std::fs::write(&header, "1").expect("a header");
        let mut outputs = Outputs::in_folder(folder.path().join("croq"));
        let entry = Entry::new(&mut outputs, "build/a.sim").expect("an entry");
        let text = "#line 3 \"a.co\"\nf();\n";
        assert!(entry.reusable("k", text).is_none());

        std::fs::write(&entry.object, "object").expect("an object");
        std::fs::write(entry.dependencies(), "a.o: /own/a.cc user.h\n").expect("a rule");
        let headers = entry
            .record("k", text, "warned", folder.path(), |path| {
                path.starts_with("/own")
            })
            .expect("recorded");
        assert_eq!(headers, std::slice::from_ref(&header));

        let same = entry.reusable("k", text).expect("unchanged");
        assert_eq!((same.log.as_str(), same.moved), ("warned", vec![]));
        let shifted = entry
            .reusable("k", "#line 4 \"a.co\"\nf(); // new\n")
            .expect("moved");
        assert_eq!(shifted.moved, [(3, 4)]);
        assert!(entry.reusable("other", text).is_none());
        std::fs::write(&header, "2").expect("a header");
        assert!(entry.reusable("k", text).is_none(), "a header changed");
        std::fs::write(&header, "1").expect("a header");
        assert!(entry.reusable("k", text).is_some());
        entry.invalidate();
        assert!(entry.reusable("k", text).is_none());
    }
}
