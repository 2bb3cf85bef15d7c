//! What can be wrong with the machine rather than with a `.co` file: a compiler that is missing, a
//! folder that can't be read. There is no place in a program to point at.

use std::fmt;

use crate::diagnostics::{Code, Severity, render};

/// One fault, what it was seen by, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// A stable id of the catalogue, `E11xx`.
    pub code: Code,
    pub message: String,
    pub notes: Vec<String>,
    pub help: Option<String>,
}

impl Problem {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    pub fn is_warning(&self) -> bool {
        self.code.severity() == Severity::Warning
    }

    /// As one JSON object, without a place.
    pub fn json(&self) -> String {
        let string = |text: &str| {
            let mut out = String::new();
            render::quote(&mut out, text);
            out
        };
        let severity = if self.is_warning() {
            "warning"
        } else {
            "error"
        };
        let notes: Vec<String> = self.notes.iter().map(|note| string(note)).collect();
        format!(
            "{{\"code\":{},\"severity\":\"{severity}\",\"message\":{},\"spans\":[],\"notes\":[{}],\"help\":{}}}",
            string(self.code.text()),
            string(&self.message),
            notes.join(","),
            self.help
                .as_deref()
                .map_or_else(|| "null".to_owned(), string),
        )
    }

    /// All of it on one line, for `cargo::warning`.
    pub fn one_line(&self) -> String {
        let mut line = self.message.clone();
        for text in self.notes.iter().chain(&self.help) {
            line.push_str("; ");
            line.push_str(text);
        }
        line.replace('\n', " ")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_warning() {
            "warning"
        } else {
            "error"
        };
        write!(f, "{word}[{}]: {}", self.code, self.message)?;
        for note in &self.notes {
            write!(f, "\n  note: {}", note.replace('\n', "\n        "))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", help.replace('\n', "\n        "))?;
        }
        Ok(())
    }
}
