//! The user's headers: the files, other than croq's and the system's, that a text includes.
//!
//! Their contents are part of a file's key, and so of its symbols, which must be known before
//! anything is compiled. So a compiler is first run to list them (`-M`), if there can be any. The
//! list is kept with the hash of each header; it is valid until one of them changes, or a file
//! appears in a folder that is searched before the one where a header was found.

use std::path::{Path, PathBuf};

use super::canonical::Canonical;
use super::key::Key;
use super::outputs::replace;

/// Headers in the order in which they were read, with the hashes of their contents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Headers {
    pub files: Vec<(PathBuf, String)>,
}

/// The folders in which headers are searched.
pub struct Folders<'a> {
    /// Everything below this folder is croq's own output.
    pub own: &'a Path,
    /// The base of relative paths: the crate's folder.
    pub base: &'a Path,
    /// In the order of the search, as far as they are known.
    pub searched: Vec<PathBuf>,
    /// The toolkit's folder, whose headers are not the user's.
    pub toolkit: Option<&'a Path>,
}

impl Folders<'_> {
    /// Headers that are installed with the compilers belong to the compilers' identity.
    fn is_users(&self, path: &Path) -> bool {
        const SYSTEM: [&str; 4] = ["/usr/include", "/usr/lib", "/usr/lib64", "/usr/share"];
        let named = || {
            let mut folders = self.searched.iter().map(PathBuf::as_path);
            folders.any(|folder| path.starts_with(folder))
        };
        let systems = || {
            let mut folders = SYSTEM.iter().map(Path::new).chain(self.toolkit);
            folders.any(|folder| path.starts_with(folder))
        };
        !path.starts_with(self.own) && (path.starts_with(self.base) || named() || !systems())
    }
}

/// The headers of croq that emitted texts include, besides their own.
const OF_CROQ: [&str; 5] = [
    "croq.h",
    "croq_wgmma.h",
    "croq_user.h",
    "croq_loops_counted.h",
    "croq_loops_plain.h",
];

/// Whether a text may include user headers: it has an `#include` that croq did not print. `own` is the name of
/// the text's own header.
pub fn includes_any(device_text: &str, own: &str) -> bool {
    let text = Canonical::of(&device_text.replace("\\\n", "")).text;
    text.lines().any(|line| {
        let line = line.trim_start();
        let directive = line.strip_prefix('#').or_else(|| line.strip_prefix("%:"));
        let directive = directive
            .or_else(|| line.strip_prefix("??="))
            .unwrap_or("")
            .trim_start();
        let includes = ["include", "import", "embed"].iter().find_map(|word| {
            let rest = directive.strip_prefix(word)?;
            Some(rest.trim())
        });
        let printed = |rest: &str| {
            let mut headers = OF_CROQ.iter().chain([&own]);
            headers.any(|header| rest == format!("\"{header}\""))
        };
        includes.is_some_and(|rest| !printed(rest)) || line.contains("__has_")
    })
}

impl Headers {
    /// The recorded list for the same text, flags and variables, if it is still valid.
    pub fn recall(record: &Path, key: &str, folders: &Folders<'_>) -> Option<Self> {
        let text = std::fs::read_to_string(record).ok()?;
        let mut lines = text.lines();
        if lines.next()? != key || lines.next_back()? != END {
            return None;
        }
        let mut files = Vec::new();
        for line in lines {
            let (hash, path) = line.split_once(' ')?;
            let path = PathBuf::from(path);
            if hash_of_file(&path)? != hash || is_hidden(&path, folders) {
                return None;
            }
            files.push((path, hash.to_owned()));
        }
        Some(Self { files })
    }

    /// Parses the compiler's list (a rule of make). `None` if one of the headers cannot be read.
    pub fn of_rule(rule: &str, folders: &Folders<'_>) -> Option<Self> {
        let mut files = Vec::new();
        for name in prerequisites(rule) {
            let path = folders.base.join(name);
            if folders.is_users(&path) {
                let hash = hash_of_file(&path)?;
                files.push((path, hash));
            }
        }
        Some(Self { files })
    }

    /// Whether all headers are unchanged.
    pub fn are_unchanged(&self) -> bool {
        let mut files = self.files.iter();
        files.all(|(path, hash)| hash_of_file(path).as_deref() == Some(hash))
    }

    pub fn remember(&self, record: &Path, key: &str) {
        let mut text = format!("{key}\n");
        for (path, hash) in &self.files {
            text.push_str(&format!("{hash} {}\n", path.display()));
        }
        text.push_str(END);
        text.push('\n');
        // Without the record, the compiler is run once more, so an error is ignored.
        let _ = replace(record, &text);
    }

    /// The hash of their contents, independent of their paths, for a key.
    pub fn digest(&self) -> String {
        let mut key = Key::new("user headers");
        for (path, hash) in &self.files {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            key = key.with(&name, hash);
        }
        key.finish()
    }
}

/// The last line of a record.
const END: &str = "end";

/// Whether a folder that is searched earlier now has a file of that name.
fn is_hidden(path: &Path, folders: &Folders<'_>) -> bool {
    let searched = &folders.searched;
    let homes = searched.iter().enumerate();
    homes
        .filter_map(|(at, folder)| Some((at, path.strip_prefix(folder).ok()?)))
        .any(|(at, name)| {
            let mut earlier = searched.iter().take(at);
            earlier.any(|folder| {
                let other = folder.join(name);
                other != path && other.is_file()
            })
        })
}

fn hash_of_file(path: &Path) -> Option<String> {
    Some(
        blake3::hash(&std::fs::read(path).ok()?)
            .to_hex()
            .to_string(),
    )
}

/// The files to the right of the colon in a make rule; `\ ` is a blank in a name, `\` before a line
/// break continues the rule.
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
    fn make_rules_are_read() {
        let rule = "build/scale.o: /out/scale.cc \\\n  kernels/my\\ header.h kernels/$$x.h\n\nother: rule\n";
        assert_eq!(
            prerequisites(rule),
            ["/out/scale.cc", "kernels/my header.h", "kernels/$x.h"]
        );
        assert_eq!(prerequisites(""), Vec::<String>::new());
    }

    #[test]
    fn a_text_without_an_include_of_its_own_is_recognised() {
        let own = "scale.h";
        let plain =
            "#include \"croq.h\"\n#include \"scale.h\" // its own\n// #include \"user.h\"\n";
        assert!(!includes_any(plain, own));
        for more in [
            "#include \"user.h\"",
            "  #  include <vector>",
            "#include_next <x>",
            "#inc\\\nlude \"x.h\"",
            "/* */ #include HEADER",
            "%:include \"x.h\"",
            "#if __has_include(\"x.h\")",
        ] {
            assert!(includes_any(&format!("{plain}{more}\n"), own), "{more}");
        }
    }

    #[test]
    fn a_list_holds_until_a_header_changes_or_hides_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let base = folder.path();
        let own = at("out");
        for name in ["first", "second", "out"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        std::fs::write(at("second/user.h"), "1").expect("a header");
        let folders = Folders {
            own: &own,
            base,
            searched: vec![at("first"), at("second")],
            toolkit: None,
        };
        let rule = "x.o: out/scale.cc second/user.h /usr/include/math.h\n";
        let headers = Headers::of_rule(rule, &folders).expect("read");
        assert_eq!(headers.files.len(), 1, "{headers:?}");
        let record = at("out/scale.headers");
        headers.remember(&record, "k");
        let recall = || Headers::recall(&record, "k", &folders);
        assert_eq!(recall().as_ref(), Some(&headers));
        assert_eq!(Headers::recall(&record, "other", &folders), None);

        std::fs::write(at("second/user.h"), "2").expect("a header");
        assert!(recall().is_none() && !headers.are_unchanged());
        assert_ne!(
            Headers::of_rule(rule, &folders).expect("read").digest(),
            headers.digest()
        );
        std::fs::write(at("second/user.h"), "1").expect("a header");
        assert!(recall().is_some() && headers.are_unchanged());
        std::fs::write(at("first/user.h"), "3").expect("a header");
        assert!(recall().is_none(), "first/ is searched before second/");
        std::fs::remove_file(at("first/user.h")).expect("gone");

        let whole = std::fs::read_to_string(&record).expect("a record");
        std::fs::write(&record, &whole[..whole.len() - 20]).expect("a half");
        assert!(recall().is_none(), "cut short");
    }
}
