//! The file of values that `croq tune` has chosen, and what a build does with it.
//!
//! A line is `FILE HASH: NAME = VALUE, NAME = VALUE`: the path of a `.co` file from the folder of this
//! file, a hash of the text that the values were chosen for, and the values. Lines that begin with `#`
//! are comments.

use std::fmt::Write as _;
use std::path::Path;

use super::directives::shown;
use super::inputs::Input;
use super::problem::Problem;
use crate::diagnostics::{Diagnostics, codes, nearest};
use crate::source::tuning::{self, Tunable};

/// The values for one `.co` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the folder of the file of values, with `/`.
    pub file: String,
    pub hash: String,
    pub values: Vec<(String, i64)>,
}

/// The hash of a text, for [`Entry::hash`]. Line ends do not matter: version control may change them.
pub fn hash(text: &str) -> String {
    let hash = blake3::hash(text.replace("\r\n", "\n").as_bytes()).to_hex();
    hash.chars().take(HASH_DIGITS).collect()
}

const HASH_DIGITS: usize = 16;

/// Reads a file of values.
pub fn read(path: &Path) -> Result<Vec<Entry>, Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("can't read {}: {error}", shown(path));
        Problem::new(codes::E1104, message).help(
            "`croq tune` writes it; without values to apply, leave `Config::tuned` out of build.rs",
        )
    })?;
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<Vec<Entry>, Problem> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let malformed = |what: &str| {
            Problem::new(codes::E1118, format!("{}:{number}: {what}", shown(path)))
                .help("a line is `FILE HASH: NAME = VALUE, …`; `croq tune` writes such a file")
        };
        let entry = entry(line).map_err(malformed)?;
        if entries.iter().any(|known| known.file == entry.file) {
            return Err(malformed("this file has a line already"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(line: &str) -> Result<Entry, &'static str> {
    let (head, list) = line.rsplit_once(':').ok_or("there is no `:`")?;
    let (file, hash) = head
        .rsplit_once(' ')
        .ok_or("there is no hash before the `:`")?;
    if hash.len() != HASH_DIGITS || !hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err("the word before the `:` is no hash");
    }
    let mut values: Vec<(String, i64)> = Vec::new();
    for item in list.split(',') {
        let (name, value) = item
            .split_once('=')
            .ok_or("an item of the list has no `=`")?;
        let name = name.trim();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name {
            return Err("what is before a `=` is no name");
        }
        if values.iter().any(|(known, _)| known == name) {
            return Err("a name is in the list twice");
        }
        let value: i32 = value
            .trim()
            .parse()
            .map_err(|_| "a value is no integer of 32 bits")?;
        values.push((name.to_owned(), i64::from(value)));
    }
    Ok(Entry {
        file: file.trim().to_owned(),
        hash: hash.to_owned(),
        values,
    })
}

/// The text of a file of values.
pub fn print(entries: &[Entry]) -> String {
    let mut text = String::from(
        "# Values that `croq tune` has chosen, for `croq_build::Config::tuned`.\n\
         # The number behind a file is a hash of the text that they were chosen for.\n",
    );
    for entry in entries {
        let values = shown_values(&entry.values);
        let _ = writeln!(text, "{} {}: {values}", entry.file, entry.hash);
    }
    text
}

/// `TILE_M = 64, TILE_K = 32`
pub fn shown_values(values: &[(String, i64)]) -> String {
    let values = values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    values.collect::<Vec<_>>().join(", ")
}

/// Replaces values in the texts of a build, and returns warnings about those that do not apply.
/// `folder` is that of the file of values, whose path in messages is `shown_path`; `package` is the
/// folder that the inputs' paths begin at.
pub fn apply(
    entries: &[Entry],
    inputs: &mut [Input],
    package: &Path,
    folder: &Path,
    shown_path: &str,
) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let whole = |path: &Path| path.canonicalize().ok();
    for entry in entries {
        let wanted = whole(&folder.join(&entry.file));
        let mut inputs = inputs.iter_mut();
        let input = inputs.find(|input| {
            let own = whole(&package.join(&input.path));
            own.is_some() && own == wanted
        });
        let Some(input) = input else {
            let message = format!(
                "{shown_path} has values for {}, which is no file of this build",
                entry.file
            );
            warnings.push(unused(message));
            continue;
        };
        let found = hash(&input.text);
        let tunables = tuning::tunables(&input.text, &mut Diagnostics::new());
        let mut applied = entry.values.clone();
        applied.retain(|(name, value)| match applies(&tunables, name, *value) {
            Ok(()) => true,
            Err(why) => {
                warnings.push(unused(format!("{shown_path}: {}: {why}", entry.file)));
                false
            }
        });
        if !applied.is_empty() && found != entry.hash {
            let (file, values) = (&entry.file, shown_values(&applied));
            let message = format!(
                "{shown_path}: the values for {file} ({values}) were chosen for another text of it"
            );
            let warning = Problem::new(codes::W1119, message);
            warnings.push(warning.help("run `croq tune` again"));
        }
        input.text = tuning::with_values(&input.text, &tunables, &applied);
    }
    warnings
}

fn unused(message: String) -> Problem {
    Problem::new(codes::W1118, message).help("run `croq tune` again, or remove the value")
}

/// Whether a text has a definition that may have this value. An error says why not.
fn applies(tunables: &[Tunable], name: &str, value: i64) -> Result<(), String> {
    let Some(tunable) = tunables.iter().find(|tunable| tunable.name == name) else {
        let names = tunables.iter().map(|tunable| tunable.name.as_str());
        let meant = nearest(name, names).map(|meant| format!("; did you mean `{meant}`?"));
        let meant = meant.unwrap_or_default();
        return Err(format!(
            "no `tune` comment of the file is about `{name}`{meant}"
        ));
    };
    match tunable.candidates().contains(&value) {
        true => Ok(()),
        false => Err(format!("{value} is not among the values of `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::inputs;

    const TEXT: &str =
        "// croq: tune A in 1, 2\n#define A 1\n// croq: tune B in 3, 4\n#define B 3\n";

    fn problem(text: &str) -> String {
        let problem = parse(text, Path::new("t.txt")).expect_err("malformed");
        assert_eq!(problem.code, codes::E1118);
        problem.message
    }

    #[test]
    fn what_is_printed_is_read() {
        let entries = vec![
            Entry {
                file: "a folder/x: y.co".to_owned(),
                hash: hash(TEXT),
                values: vec![("A".to_owned(), -2), ("B_2".to_owned(), 64)],
            },
            Entry {
                file: "k.co".to_owned(),
                hash: hash(""),
                values: vec![("C".to_owned(), 1)],
            },
        ];
        let text = print(&entries);
        assert!(text.contains(": A = -2, B_2 = 64\n"), "{text}");
        assert_eq!(
            parse(&text, Path::new("t.txt")).expect("well-formed"),
            entries
        );
        assert_eq!(hash("a\nb"), hash("a\r\nb"));
        assert_ne!(hash("a\nb"), hash("a\nc"));
    }

    #[test]
    fn malformed_lines_are_named() {
        let good = format!("k.co {}: A = 1", hash(TEXT));
        for (text, part) in [
            ("k.co".to_owned(), "t.txt:1: there is no `:`"),
            (
                format!("# x\n\n{good}\n{good}"),
                "t.txt:4: this file has a line already",
            ),
            ("k.co: A = 1".to_owned(), "no hash before"),
            ("k.co 12: A = 1".to_owned(), "is no hash"),
            (good.replace("= 1", "1"), "has no `=`"),
            (good.replace("= 1", "= 1,"), "has no `=`"),
            (good.replace("= 1", "= one"), "no integer"),
            (good.replace("= 1", "= 9999999999"), "no integer"),
            (good.replace("A =", "2A ="), "no name"),
            (good.replace("= 1", "= 1, A = 2"), "twice"),
        ] {
            let message = problem(&text);
            assert!(message.contains(part), "{text}: {message}");
        }
        let missing = read(Path::new("/nowhere/t.txt")).expect_err("missing");
        assert_eq!(missing.code, codes::E1104);
    }

    #[test]
    fn values_are_applied_and_others_are_warnings() {
        let package = tempfile::tempdir().expect("a folder");
        let at = package.path();
        std::fs::create_dir(at.join("kernels")).expect("a folder");
        std::fs::write(at.join("kernels/k.co"), TEXT).expect("written");
        let applied = |file: &str, hash: &str, values: &[(&str, i64)]| {
            let mut inputs = inputs::find(at, Path::new("kernels")).expect("found");
            let entry = Entry {
                file: file.to_owned(),
                hash: hash.to_owned(),
                values: values
                    .iter()
                    .map(|(name, v)| ((*name).to_owned(), *v))
                    .collect(),
            };
            let warnings = apply(&[entry], &mut inputs, at, at, "t.txt");
            let warnings: Vec<String> = warnings.iter().map(Problem::to_string).collect();
            (inputs.remove(0).text, warnings.join("\n"))
        };
        let fresh = hash(TEXT);
        let (text, warnings) = applied("kernels/k.co", &fresh, &[("B", 4), ("A", 2)]);
        assert_eq!(text, TEXT.replace("A 1", "A 2").replace("B 3", "B 4"));
        assert_eq!(warnings, "");
        let (text, warnings) = applied("kernels/k.co", &hash("old"), &[("A", 2)]);
        assert_eq!(text, TEXT.replace("A 1", "A 2"));
        assert!(
            warnings.starts_with("warning[W1119]: t.txt: the values for kernels/k.co (A = 2)"),
            "{warnings}"
        );
        for (file, values, part) in [
            (
                "kernels/gone.co",
                ("A", 2),
                "kernels/gone.co, which is no file of this build",
            ),
            (
                "kernels/k.co",
                ("AB", 2),
                "no `tune` comment of the file is about `AB`",
            ),
            ("kernels/k.co", ("A", 3), "3 is not among the values of `A`"),
        ] {
            let (text, warnings) = applied(file, &hash("old"), &[values]);
            assert_eq!(text, TEXT);
            assert!(
                warnings.starts_with("warning[W1118]") && warnings.contains(part),
                "{warnings}"
            );
            assert!(!warnings.contains("W1119"), "{warnings}");
        }
    }
}
