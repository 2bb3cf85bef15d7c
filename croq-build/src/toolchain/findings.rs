//! The compilers' messages about the emitted texts, sorted by `.co` file.

use super::compile::{Failed, Twin};
use super::messages::{self, Message, Origin};
use super::problem::Problem;
use super::unit::Unit;
use crate::diagnostics::{Diagnostic, Diagnostics};

/// The compilers' messages: those on `.co` lines (by the unit's index), and those without such a
/// line.
#[derive(Default, Debug)]
pub struct Findings {
    pub placed: Vec<(usize, Vec<Diagnostic>)>,
    pub unplaced: Vec<Problem>,
}

impl From<Problem> for Findings {
    fn from(problem: Problem) -> Self {
        Findings {
            placed: Vec::new(),
            unplaced: vec![problem],
        }
    }
}

impl Findings {
    pub fn is_empty(&self) -> bool {
        self.placed.is_empty() && self.unplaced.is_empty()
    }
}

/// Sorts messages into those with a `.co` line and those without.
pub(super) fn place(
    unit: &Unit,
    twin: Twin,
    messages: &[Message],
    placed: &mut Diagnostics,
    unplaced: &mut Vec<Problem>,
) {
    let origin = Origin {
        path: &unit.path,
        source: &unit.source,
        device_text: &unit.device,
    };
    let codes = twin.codes();
    for message in messages {
        match origin.diagnostic(message, &codes) {
            // Both compilers compile one text: only the first message on a line is reported.
            Some(diagnostic) => {
                if !placed
                    .iter()
                    .any(|d| d.primary.span == diagnostic.primary.span)
                {
                    placed.push(diagnostic);
                }
            }
            None => {
                let code = match message.severity {
                    messages::Severity::Error => codes.error,
                    _ => codes.warning,
                };
                let place = match &message.file {
                    Some(file) => format!("{file}:{}: ", message.line),
                    None => String::new(),
                };
                let mut problem = Problem::new(
                    code,
                    format!("{}: {place}{}", codes.compiler, message.described()),
                );
                problem
                    .notes
                    .extend(message.details.iter().take(8).cloned());
                unplaced.push(problem);
            }
        }
    }
}

/// Collects failures, so that all are reported at once.
pub struct Failures<'a> {
    units: &'a [Unit],
    placed: Vec<Diagnostics>,
    unplaced: Vec<Problem>,
    any: bool,
}

impl<'a> Failures<'a> {
    pub fn new(units: &'a [Unit]) -> Self {
        Self {
            units,
            placed: units.iter().map(|_| Diagnostics::new()).collect(),
            unplaced: Vec::new(),
            any: false,
        }
    }

    /// `index` is the unit's; it is `None` for croq's own text.
    pub fn add(&mut self, index: Option<usize>, twin: Twin, failed: Failed) {
        self.any = true;
        match failed {
            Failed::Machine(problem) => {
                // A missing compiler is missing for every file, and is reported once.
                if !self.unplaced.contains(&problem) {
                    self.unplaced.push(problem);
                }
            }
            Failed::Text { messages, output } => {
                let unit = index.and_then(|index| self.units.get(index));
                let placed = index.and_then(|index| self.placed.get_mut(index));
                let errors: Vec<Message> = messages
                    .into_iter()
                    .filter(|message| message.severity == messages::Severity::Error)
                    .collect();
                match (unit, placed) {
                    (Some(unit), Some(placed)) if !errors.is_empty() => {
                        place(unit, twin, &errors, placed, &mut self.unplaced);
                    }
                    _ => {
                        let codes = twin.codes();
                        let what = unit.map_or("the CUDA runtime's table", |unit| &unit.path);
                        self.unplaced.push(
                            Problem::new(
                                codes.error,
                                format!("{} fails on {what}", codes.compiler),
                            )
                            .note(output.trim().to_owned()),
                        );
                    }
                }
            }
        }
    }

    /// `Ok` if nothing has failed.
    pub fn none(self) -> Result<(), Findings> {
        if !self.any {
            return Ok(());
        }
        Err(Findings {
            placed: self
                .placed
                .into_iter()
                .enumerate()
                .filter(|(_, list)| !list.is_empty())
                .map(|(index, list)| (index, list.into_sorted()))
                .collect(),
            unplaced: self.unplaced,
        })
    }
}
