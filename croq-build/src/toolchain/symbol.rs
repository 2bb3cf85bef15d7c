//! The names of C symbols: one symbol identifies one kernel.
//!
//! Every symbol of a file contains 96 bits of a hash of all inputs of its objects: package,
//! version, the text with its line numbers, the user's headers, flags, compilers, architectures and
//! croq's headers. Files that differ in any of these have different symbols, in whichever packages
//! they are. If two packages agree in all of them their objects are equal, and the linker may take
//! either: definitions are weak.
//!
//! The hash depends on the text and is part of the text, so texts are emitted with a placeholder.

use super::canonical::Canonical;
use super::key::Key;

/// The placeholder for the digits until they are known; it has the same length, so that no column
/// moves.
pub const PLACEHOLDER: &str = "h0h0h0h0h0h0h0h0h0h0h0h0";

/// 24 hex digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol(String);

impl Symbol {
    /// `key` has all inputs except the line numbers of statements.
    pub fn of(key: &Key, device: &Canonical) -> Self {
        let key = key
            .clone()
            .with("lines", &format!("{:?}", device.presumed()));
        Self(key.finish().chars().take(PLACEHOLDER.len()).collect())
    }

    /// Parses a recorded symbol; `None` if the text is not one.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.bytes().all(|b| b.is_ascii_hexdigit());
        (digits && text.len() == PLACEHOLDER.len()).then(|| Self(text.to_owned()))
    }

    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The text with its symbol, as it is compiled.
    pub fn fill(&self, text: &str) -> String {
        text.replace(PLACEHOLDER, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_contents_make_other_symbols() {
        let symbol = |content: &str, text: &str| {
            let key = Key::new("object").with("content", content);
            Symbol::of(&key, &Canonical::of(text))
        };
        let first = symbol("a", "#line 3 \"a.co\"\nf();\n");
        assert_eq!(first.digits().len(), 24);
        assert_eq!(Symbol::read(first.digits()).as_ref(), Some(&first));
        assert_eq!(first, symbol("a", "#line 3 \"a.co\"\nf(); // same\n"));
        assert_ne!(first, symbol("a", "#line 4 \"a.co\"\nf();\n"));
        assert_ne!(first, symbol("b", "#line 3 \"a.co\"\nf();\n"));
        assert_eq!(
            first.fill(&format!("croq_sim_{PLACEHOLDER}_f")),
            format!("croq_sim_{}_f", first.digits())
        );
        for half in ["", "abc", &first.digits()[1..], PLACEHOLDER] {
            assert_eq!(Symbol::read(half), None, "{half}");
        }
    }
}
