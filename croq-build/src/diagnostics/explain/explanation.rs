//! One code: its kind, its title and its text.

use std::fmt::Write as _;

use super::examples;
use super::kind::Kind;

/// The explanation of one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub code: &'static str,
    pub kind: Kind,
    /// A phrase that names the construct or the fact.
    pub title: &'static str,
    /// Markdown, as [`super`] describes it.
    pub page: &'static str,
}

impl Explanation {
    pub(super) const fn new(code: &'static str, title: &'static str, text: &'static str) -> Self {
        let kind = match Kind::of(code) {
            Some(kind) => kind,
            None => Kind::Error,
        };
        Self {
            code,
            kind,
            title,
            page: text,
        }
    }

    /// The explanation as text for a terminal.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{} ({}): {}\n",
            self.code,
            self.kind.name(),
            self.title
        );
        examples::show(self.kind, self.page, &mut out);
        out
    }
}
