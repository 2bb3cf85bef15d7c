//! What a build does with warnings and notes: settings for codes and groups.

use super::explain::{self, Kind};
use super::groups::{self, GROUPS, Group};
use super::{Code, Diagnostic, Severity, nearest};

/// What happens to a warning or a note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// It is not reported.
    Allow,
    /// It is reported as a warning.
    Warn,
    /// It is an error.
    Deny,
}

/// A code or a group, by which warnings and notes are selected.
#[derive(Clone, Copy)]
pub enum Selection {
    Code(&'static str),
    Group(&'static Group),
}

impl Selection {
    /// The warning, the note or the group of this name.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the name.
    pub fn of(name: &str) -> Result<Self, NoSelection> {
        if let Some(group) = groups::group(name) {
            return Ok(Self::Group(group));
        }
        let selectable = |kind: Kind| matches!(kind, Kind::Warning | Kind::Note);
        match explain::explain(name) {
            Some(known) if selectable(known.kind) => return Ok(Self::Code(known.code)),
            Some(_) => return Err(NoSelection::OfError),
            None => {}
        }
        let codes = explain::all().filter(|known| selectable(known.kind));
        let names = GROUPS.iter().map(|group| group.name);
        Err(NoSelection::Unknown {
            meant: nearest(name, names.chain(codes.map(|known| known.code))),
        })
    }

    pub fn has(self, code: &str) -> bool {
        match self {
            Self::Code(selected) => selected == code,
            Self::Group(group) => group.has(code),
        }
    }
}

/// Why a name selects nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoSelection {
    /// It is the code of an error.
    OfError,
    /// There is no such code or group.
    Unknown { meant: Option<&'static str> },
}

impl NoSelection {
    /// One sentence about the name.
    pub fn message(self, name: &str) -> String {
        match self {
            Self::OfError => {
                format!("`{name}` is an error, and only warnings and notes have a level")
            }
            Self::Unknown { .. } => format!("there is no warning, note or group `{name}`"),
        }
    }

    pub fn help(self) -> String {
        match self {
            Self::OfError => {
                "an error cannot be allowed: `croq explain` says how to avoid it".to_owned()
            }
            Self::Unknown { meant: Some(meant) } => format!("did you mean `{meant}`?"),
            Self::Unknown { meant: None } => {
                let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
                format!(
                    "a code such as W0620, or one of the groups {}",
                    names.join(", ")
                )
            }
        }
    }
}

#[derive(Clone)]
struct Rule {
    selects: Selection,
    level: Level,
    /// The setting, for the report: `--deny all`.
    by: String,
}

/// The settings of a build. Later rules win over earlier ones.
#[derive(Clone, Default)]
pub struct Levels {
    rules: Vec<Rule>,
    /// What happens to the warnings that remain.
    rest: Option<(Level, &'static str)>,
}

impl std::fmt::Debug for Levels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rules = self.rules.iter().map(|rule| &rule.by);
        f.debug_list().entries(rules).finish()
    }
}

impl Levels {
    /// Adds a setting, which reports call `by`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the name.
    pub fn set(&mut self, level: Level, name: &str, by: String) -> Result<(), NoSelection> {
        let selects = Selection::of(name)?;
        self.rules.push(Rule { selects, level, by });
        Ok(())
    }

    /// Makes every remaining warning an error ([`Level::Deny`]), or every denied one a warning
    /// ([`Level::Warn`]).
    pub fn set_rest(&mut self, level: Level, by: &'static str) {
        self.rest = Some((level, by));
    }

    /// The severity of a code and the setting that gives it, `None` if it is not reported.
    pub fn severity(&self, code: Code) -> Option<(Severity, Option<&str>)> {
        let own = code.severity();
        if own == Severity::Error {
            return Some((own, None));
        }
        let mut rules = self.rules.iter().rev();
        let rule = rules.find(|rule| rule.selects.has(code.text()));
        let by = rule.map(|rule| rule.by.as_str());
        let severity = match rule.map(|rule| rule.level) {
            None => own,
            Some(Level::Allow) => return None,
            Some(Level::Warn) => Severity::Warning,
            Some(Level::Deny) => Severity::Error,
        };
        Some(match (severity, self.rest) {
            (Severity::Warning, Some((Level::Deny, by))) => (Severity::Error, Some(by)),
            (Severity::Error, Some((Level::Warn, by))) => (Severity::Warning, Some(by)),
            _ => (severity, by),
        })
    }

    /// Removes what is allowed, and changes the severity of what is denied.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| {
            let Some((severity, by)) = self.severity(diagnostic.code) else {
                return false;
            };
            if severity == Severity::Error && diagnostic.severity() != severity {
                diagnostic
                    .notes
                    .extend(by.map(|by| format!("an error because of {by}")));
            }
            diagnostic.severity = severity;
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::codes;
    use crate::span::Span;

    fn levels(rules: &[(Level, &str)]) -> Levels {
        let mut levels = Levels::default();
        for (level, name) in rules {
            levels
                .set(*level, name, format!("`{name}`"))
                .expect("a name");
        }
        levels
    }

    fn severity(levels: &Levels, code: Code) -> Option<Severity> {
        levels.severity(code).map(|(severity, _)| severity)
    }

    #[test]
    fn later_settings_win() {
        let (deny, allow, warn) = (Level::Deny, Level::Allow, Level::Warn);
        let some = levels(&[(deny, "all"), (allow, "unused"), (warn, "W0209")]);
        assert_eq!(severity(&some, codes::W0620), Some(Severity::Error));
        assert_eq!(severity(&some, codes::W0210), None);
        assert_eq!(severity(&some, codes::W0209), Some(Severity::Warning));
        // Groups of warnings have no notes, and errors remain errors.
        assert_eq!(severity(&some, codes::N0321), Some(Severity::Note));
        let some = levels(&[(allow, "W0620"), (deny, "correctness"), (allow, "notes")]);
        assert_eq!(severity(&some, codes::W0620), Some(Severity::Error));
        assert_eq!(severity(&some, codes::N0321), None);
        assert_eq!(severity(&some, codes::E0201), Some(Severity::Error));
        let some = levels(&[(warn, "N0321")]);
        assert_eq!(severity(&some, codes::N0321), Some(Severity::Warning));
    }

    #[test]
    fn the_rest_is_what_is_not_allowed() {
        let mut some = levels(&[(Level::Allow, "unused"), (Level::Deny, "W0620")]);
        some.set_rest(Level::Deny, "CROQ_WARNINGS=deny");
        assert_eq!(severity(&some, codes::W0703), Some(Severity::Error));
        assert_eq!(severity(&some, codes::W0209), None);
        assert_eq!(severity(&some, codes::N0321), Some(Severity::Note));
        some.set_rest(Level::Warn, "CROQ_WARNINGS=warn");
        assert_eq!(severity(&some, codes::W0620), Some(Severity::Warning));
        assert_eq!(severity(&some, codes::E0201), Some(Severity::Error));
    }

    #[test]
    fn a_denied_warning_says_why_it_is_an_error() {
        let mut found = vec![Diagnostic::new(codes::W0620, Span::new(0, 1), "lost")];
        levels(&[(Level::Deny, "correctness")]).apply(&mut found);
        assert_eq!(found[0].severity(), Severity::Error);
        assert_eq!(found[0].notes, ["an error because of `correctness`"]);
    }

    #[test]
    fn names_that_select_nothing_are_explained() {
        let fault = |name: &str| {
            let fault = Selection::of(name).err().expect("an error");
            format!("{}; {}", fault.message(name), fault.help())
        };
        assert!(fault("W062O").contains("did you mean `W0620`?"));
        assert!(fault("performence").contains("did you mean `performance`?"));
        assert!(fault("w0620").contains("did you mean `W0620`?"));
        assert!(fault("E0431").contains("is an error"));
        assert!(fault("nothing like it").contains("one of the groups correctness"));
    }
}
