//! Kinds of codes.

use crate::diagnostics::Severity;

/// The kind of a code's reports, given by its first letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `E`: nothing is generated.
    Error,
    /// `W`: the program is compiled, but probably behaves differently from what was intended.
    Warning,
    /// `N`: a fact that the author may want to know.
    Note,
    /// `R`: an error of a call, which generated code or the device API finds.
    RunTime,
}

impl Kind {
    /// The kind of a code.
    pub const fn of(code: &str) -> Option<Self> {
        match code.as_bytes().first() {
            Some(b'E') => Some(Self::Error),
            Some(b'W') => Some(Self::Warning),
            Some(b'N') => Some(Self::Note),
            Some(b'R') => Some(Self::RunTime),
            _ => None,
        }
    }

    /// The severity of its reports. Errors at run time have none, unless they are proved to occur.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Error | Self::RunTime => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Note => Severity::Note,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::RunTime => "error at run time",
        }
    }
}
