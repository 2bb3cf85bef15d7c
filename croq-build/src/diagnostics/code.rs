//! The type of diagnostic codes.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::Severity;
use super::explain::Explanation;

/// A code of the catalogue. Each is a constant of [`super::codes`], declared beside its
/// explanation, so that no code can lack one.
#[derive(Clone, Copy)]
pub struct Code(&'static Explanation);

impl Code {
    pub(super) const fn new(explanation: &'static Explanation) -> Self {
        Self(explanation)
    }

    pub const fn explanation(self) -> &'static Explanation {
        self.0
    }

    /// The code in reports, such as `E0431`.
    pub const fn text(self) -> &'static str {
        self.0.code
    }

    /// The severity of its reports.
    pub fn severity(self) -> Severity {
        self.0.kind.severity()
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Code {}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text().cmp(other.text())
    }
}

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text(), f)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// For tests, which compare reported codes with text.
#[cfg(test)]
impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.text() == *other
    }
}
