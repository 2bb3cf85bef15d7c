use std::fmt;

/// Text that is not PTX, or not the PTX that this crate reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line in the PTX text, from 1.
    pub line: u32,
    /// That line, without the spaces around it.
    pub text: String,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}\n  {}", self.line, self.message, self.text)
    }
}

impl std::error::Error for ParseError {}

/// An error before its text is known.
#[derive(Debug)]
pub struct Fault {
    pub line: u32,
    pub message: String,
}

impl Fault {
    pub fn new(line: u32, message: impl Into<String>) -> Fault {
        Fault {
            line,
            message: message.into(),
        }
    }

    pub fn in_text(self, text: &str) -> ParseError {
        let index = usize::try_from(self.line).unwrap_or(0).saturating_sub(1);
        let line = text.lines().nth(index).unwrap_or("");
        ParseError {
            line: self.line,
            text: line.trim().to_owned(),
            message: self.message,
        }
    }
}
