//! What each diagnostic code means and what to do about it: a paragraph per code, for
//! `croq explain` and for the documentation.

mod atomics;
#[cfg(test)]
mod catalogue;
mod declarations;
mod events;
mod files;
mod loops;
mod movement;
mod names;
mod numbers;
mod parallel;
mod products;
mod run_time;
mod shapes;
mod storage;
mod syntax;
mod tools;

/// A code and its paragraph.
pub type Entry = (&'static str, &'static str);

/// All of it, in the order of the topics.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    [
        files::TABLE,
        syntax::TABLE,
        names::TABLE,
        declarations::TABLE,
        shapes::TABLE,
        parallel::TABLE,
        loops::TABLE,
        storage::TABLE,
        numbers::TABLE,
        movement::TABLE,
        atomics::TABLE,
        events::TABLE,
        products::TABLE,
        tools::TABLE,
        run_time::TABLE,
    ]
    .into_iter()
    .flatten()
}

/// The paragraph of a code, or `None` when there is no such code.
pub fn explain(code: &str) -> Option<&'static str> {
    all()
        .find(|(known, _)| *known == code)
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Codes that only tests use.
    const MADE_UP: [&str; 2] = ["E0999", "E9999"];

    #[test]
    fn every_code_that_is_reported_is_explained() {
        let mut reported = BTreeSet::new();
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut reported,
        );
        assert!(reported.len() > 100, "{reported:?}");
        let missing: Vec<&String> = reported
            .iter()
            .filter(|code| explain(code).is_none() && !MADE_UP.contains(&code.as_str()))
            .collect();
        assert!(missing.is_empty(), "no explanation of {missing:?}");
    }

    #[test]
    fn no_code_is_explained_twice() {
        let mut seen = BTreeSet::new();
        for (code, text) in all() {
            assert!(seen.insert(code), "{code}");
            assert!(text.len() > 30 && text.ends_with('.'), "{code}: {text}");
        }
    }

    /// String literals of the sources that look like a code.
    fn collect(folder: &Path, codes: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("src/").flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "explain") {
                    collect(&path, codes);
                }
            } else {
                let text = std::fs::read_to_string(&path).expect("a source file");
                codes.extend(
                    text.split('"')
                        .filter(|word| is_code(word))
                        .map(str::to_owned),
                );
            }
        }
    }

    fn is_code(word: &str) -> bool {
        let Some(digits) = word.strip_prefix(['E', 'W', 'N', 'R']) else {
            return false;
        };
        let length = if word.starts_with('R') { 2 } else { 4 };
        digits.len() == length && digits.bytes().all(|b| b.is_ascii_digit())
    }
}
