//! Problems of the machine rather than of a `.co` file: a missing compiler, a folder that cannot be
//! read. They have no source location.

use std::fmt;

use crate::diagnostics::levels::Levels;
use crate::diagnostics::{Code, Severity, render};

/// One problem, the observations that led to it, and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// A stable id of the catalogue, `E11xx`.
    pub code: Code,
    pub message: String,
    pub notes: Vec<String>,
    pub help: Option<String>,
    severity: Severity,
}

impl Problem {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            notes: Vec::new(),
            help: None,
            severity: code.severity(),
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
        self.severity == Severity::Warning
    }

    /// Gives it the severity that the settings of the build say; false if it is not to be reported.
    pub fn apply(&mut self, levels: &Levels) -> bool {
        let Some((severity, by)) = levels.severity(self.code) else {
            return false;
        };
        if severity == Severity::Error && self.is_warning() {
            self.notes
                .extend(by.map(|by| format!("an error because of {by}")));
        }
        self.severity = severity;
        true
    }

    /// The problem as one JSON object, without a location.
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
            "{{\"code\":{},\"severity\":\"{severity}\",\"message\":{},\"spans\":[],\"notes\":[{}],\"help\":{},\"suggestion\":null}}",
            string(self.code.text()),
            string(&self.message),
            notes.join(","),
            self.help
                .as_deref()
                .map_or_else(|| "null".to_owned(), string),
        )
    }

    /// The whole text on one line, for `cargo::warning`.
    pub fn one_line(&self) -> String {
        let mut line = format!("[{}] {}", self.code, self.message);
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
