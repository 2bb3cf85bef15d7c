//! Records the inputs of a file's objects, so that a compiler only runs when one of them has
//! changed.
//!
//! Each object has a `.log` beside it with the compiler's output (its warnings are shown again when
//! the object is reused). For all objects of a file, a `.text` has the emitted text that they were
//! built from (its line numbers are the ones inside the objects), and a `.key` has the hash of all
//! inputs, the symbol that names the objects, and their sizes. The key is removed before a compiler
//! starts and written after all objects are complete, so an interrupted build leaves nothing that
//! looks complete.

use std::path::PathBuf;

use super::canonical::{Canonical, moved_lines};
use super::outputs::{Outputs, part_of, replace, unwritable};
use super::problem::Problem;
use super::symbol::Symbol;

/// The paths of one object and of its compiler's output.
#[derive(Debug)]
pub struct Place {
    object: PathBuf,
    log: PathBuf,
}

impl Place {
    pub fn object(&self) -> &PathBuf {
        &self.object
    }

    /// The path to which a compiler writes the object until it is complete.
    pub fn part(&self) -> PathBuf {
        part_of(&self.object)
    }

    /// Makes the object available after a successful compilation.
    pub fn finish(&self, log: &str) -> Result<(), Problem> {
        std::fs::rename(self.part(), &self.object)
            .map_err(|error| unwritable(&self.object, &error))?;
        replace(&self.log, log)
    }
}

/// The paths of a file's objects and of their record.
#[derive(Debug)]
pub struct Entry {
    pub places: Vec<Place>,
    key: PathBuf,
    text: PathBuf,
}

/// Objects that can be reused.
#[derive(Debug)]
pub struct Reusable {
    pub symbol: Symbol,
    /// In the order of the entry's places.
    pub logs: Vec<String>,
    /// See [`moved_lines`].
    pub moved: Vec<(u32, u32)>,
}

impl Entry {
    /// `stem` is a path below the output folder, such as `build/scale`.
    pub fn new(outputs: &mut Outputs, stem: &str, twins: &[&str]) -> Result<Self, Problem> {
        let mut places = Vec::new();
        for twin in twins {
            places.push(Place {
                object: outputs.path(&format!("{stem}.{twin}.o"))?,
                log: outputs.path(&format!("{stem}.{twin}.log"))?,
            });
        }
        Ok(Self {
            places,
            key: outputs.path(&format!("{stem}.key"))?,
            text: outputs.path(&format!("{stem}.text"))?,
        })
    }

    /// `device_text` is compared as it was emitted, before its symbols were known.
    pub fn reusable(&self, key: &str, device_text: &str) -> Option<Reusable> {
        let record = std::fs::read_to_string(&self.key).ok()?;
        let mut lines = record.lines();
        if lines.next()? != key {
            return None;
        }
        let symbol = Symbol::read(lines.next()?)?;
        let mut logs = Vec::new();
        for place in &self.places {
            let bytes = place.object.metadata().ok()?.len();
            if lines.next()?.parse() != Ok(bytes) {
                return None;
            }
            logs.push(std::fs::read_to_string(&place.log).ok()?);
        }
        let old = std::fs::read_to_string(&self.text).ok()?;
        let moved = if old == device_text {
            Vec::new()
        } else {
            let (old, new) = (Canonical::of(&old), Canonical::of(device_text));
            if old.text != new.text {
                return None;
            }
            moved_lines(&old, &new)?
        };
        Some(Reusable {
            symbol,
            logs,
            moved,
        })
    }

    /// Marks the objects as invalid, before a compiler runs.
    pub fn invalidate(&self) -> Result<(), Problem> {
        match std::fs::remove_file(&self.key) {
            Err(error) if self.key.exists() => Err(unwritable(&self.key, &error)),
            _ => Ok(()),
        }
    }

    /// Records the inputs, after all objects were built.
    pub fn record(&self, key: &str, symbol: &Symbol, device_text: &str) -> Result<(), Problem> {
        let mut record = format!("{key}\n{}\n", symbol.digits());
        for place in &self.places {
            let metadata = place.object.metadata();
            let metadata = metadata.map_err(|error| unwritable(&place.object, &error))?;
            record.push_str(&format!("{}\n", metadata.len()));
        }
        replace(&self.text, device_text)?;
        replace(&self.key, &record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::key::Key;

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        let ab = Key::new("x").with("a", "b").finish();
        assert_ne!(ab, Key::new("x").with("ab", "").finish());
        assert_ne!(ab, Key::new("y").with("a", "b").finish());
        assert_eq!(ab, Key::new("x").with("a", "b").finish());
    }

    #[test]
    fn objects_are_reused_until_something_that_matters_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut outputs = Outputs::in_folder(folder.path().join("croq"));
        let entry = Entry::new(&mut outputs, "build/a", &["sim"]).expect("an entry");
        let text = "#line 3 \"a.co\"\nf();\n";
        let symbol = Symbol::of(&Key::new("x"), &Canonical::of(text));
        assert!(entry.reusable("k", text).is_none());

        let place = &entry.places[0];
        std::fs::write(place.part(), "object").expect("an object");
        assert!(!place.object().exists());
        place.finish("warned").expect("finished");
        assert!(entry.reusable("k", text).is_none(), "not recorded yet");
        entry.record("k", &symbol, text).expect("recorded");

        let same = entry.reusable("k", text).expect("unchanged");
        assert_eq!(same.logs, ["warned"]);
        assert_eq!((&same.symbol, same.moved), (&symbol, vec![]));
        let shifted = entry
            .reusable("k", "#line 4 \"a.co\"\nf(); // new\n")
            .expect("moved");
        assert_eq!(shifted.moved, [(3, 4)]);
        assert!(entry.reusable("other", text).is_none());
        assert!(entry.reusable("k", "g();\n").is_none());

        // A missing or truncated file is built again.
        for name in ["a.sim.o", "a.sim.log", "a.text", "a.key"] {
            let path = folder.path().join("croq/build").join(name);
            let whole = std::fs::read(&path).expect(name);
            std::fs::remove_file(&path).expect(name);
            assert!(entry.reusable("k", text).is_none(), "no {name}");
            std::fs::write(&path, &whole[..whole.len() / 2]).expect(name);
            let half = entry.reusable("k", text);
            assert!(half.is_none() || name == "a.sim.log", "half of {name}");
            std::fs::write(&path, &whole).expect(name);
            assert!(entry.reusable("k", text).is_some());
        }
        entry.invalidate().expect("invalid");
        assert!(entry.reusable("k", text).is_none());
    }
}
