//! `croq tune`: tries the values that files declare tunable, and writes the best to a file for
//! `croq_build::Config::tuned`.
//!
//! All candidates that the compiler accepts become one program ([`driver`]), which calls each of them
//! with the same random inputs. What differs from the first candidate is never chosen.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::input;
use super::outcome::{DIAGNOSTICS, Outcome};
use super::usage::bad_usage;
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::emit::Call;
use crate::pipeline;
use crate::source::tuning::{self, Tunable};
use crate::toolchain::inputs::{self, Input};
use crate::toolchain::tuned::{self, Entry};

mod candidates;
mod driver;
mod given;
mod project;
mod report;
mod results;

use candidates::Values;
use given::Given;
use project::Project;
use report::{FileReport, Row, RowOutcome};
use results::{Cost, Results};

/// The file of chosen values, in the folder of the package.
const OUT: &str = "croq-tuned.txt";

pub(super) fn tune(args: &[String]) -> Outcome {
    let given = match Given::of(args) {
        Ok(given) => given,
        Err(why) => return bad_usage(&why),
    };
    let mut outcome = Outcome::default();
    let mut reports = Vec::new();
    match files(&given.common) {
        Err(why) => fail(&mut outcome, &why),
        Ok(files) => {
            for file in files {
                match tune_file(&file, &given) {
                    Ok((report, said)) => {
                        outcome.stderr.push_str(&said);
                        if report.chosen().is_none() {
                            fail(
                                &mut outcome,
                                &format!("{}: no candidate has a result", report.file),
                            );
                        }
                        reports.push(report);
                    }
                    Err(why) => fail(&mut outcome, &format!("{}: {why}", file.path)),
                }
            }
        }
    }
    outcome.stdout = match given.json {
        true => {
            let files: Vec<String> = reports.iter().map(FileReport::json).collect();
            format!("{{\"files\":[{}]}}\n", files.join(","))
        }
        false => reports.iter().map(FileReport::table).collect(),
    };
    outcome
}

fn fail(outcome: &mut Outcome, why: &str) {
    let _ = writeln!(outcome.stderr, "croq: {why}");
    outcome.status = DIAGNOSTICS;
}

/// The files with something to tune.
fn files(args: &Arguments) -> Result<Vec<Input>, String> {
    let mut found: Vec<Input> = Vec::new();
    for path in &args.files {
        let inputs = inputs::find(Path::new(""), Path::new(path));
        let inputs =
            inputs.map_err(|problem| format!("error[{}]: {}", problem.code, problem.message))?;
        for input in inputs {
            let tunes = !tuning::tunables(&input.text, &mut Diagnostics::new()).is_empty();
            if tunes && found.iter().all(|known| known.path != input.path) {
                found.push(input);
            }
        }
    }
    match found.is_empty() {
        true => Err("no file has a comment such as `// croq: tune TILE in 32, 64` above a `#define TILE 32`; \
                     `croq check` says what is wrong with one that is there"
            .to_owned()),
        false => Ok(found),
    }
}

/// A candidate that the compiler accepts.
struct Accepted {
    number: usize,
    text: String,
    calls: Vec<Call>,
}

/// The report, and what is said on standard error.
fn tune_file(file: &Input, given: &Given) -> Result<(FileReport, String), String> {
    let path = Path::new(&file.path);
    let whole = path
        .canonicalize()
        .map_err(|why| format!("can't read it: {why}"))?;
    let project = Project::of(&whole, given.timeout);
    let out = given.out.clone().unwrap_or_else(|| project.root.join(OUT));
    // Before all the work.
    let mut entries = match out.exists() {
        true => tuned::read(&out).map_err(|problem| problem.to_string())?,
        false => Vec::new(),
    };
    let tunables = tunables(file, given);
    let (combinations, all) = candidates::combinations(&tunables, given.limit);
    let mut outcomes: Vec<Option<RowOutcome>> = Vec::new();
    let mut accepted = Vec::new();
    for (number, values) in combinations.iter().enumerate() {
        let text = tuning::with_values(&file.text, &tunables, values);
        let compiled = compiled(file, &text, given);
        outcomes.push(match compiled {
            Ok(calls) => {
                accepted.push(Accepted {
                    number,
                    text,
                    calls,
                });
                None
            }
            Err(rejected) => Some(rejected),
        });
    }
    let mut basis = String::new();
    if !accepted.is_empty() {
        basis = measure(&project, given, &whole, accepted, &mut outcomes)?;
    }
    let not_run = || RowOutcome::Failed("it was not run".to_owned());
    let rows = combinations.into_iter().zip(outcomes);
    let rows = rows.map(|(values, outcome)| Row {
        values,
        outcome: outcome.unwrap_or_else(not_run),
    });
    let report = FileReport {
        file: file.path.clone(),
        all,
        basis,
        rows: rows.collect(),
    };
    let mut said = String::new();
    if let Some(chosen) = report.chosen().and_then(|at| report.rows.get(at)) {
        said = write(&out, &mut entries, &whole, &file.text, &chosen.values)?;
    }
    Ok((report, said))
}

/// What can be tuned in a file; definitions in a branch that is not compiled cannot.
fn tunables(file: &Input, given: &Given) -> Vec<Tunable> {
    let mut tunables = tuning::tunables(&file.text, &mut Diagnostics::new());
    let options = pipeline::Options {
        texts: false,
        ..given.common.options.clone()
    };
    let (compiled, _) = input::compile_text(&file.path, &file.text, &given.common, &options);
    let dead = compiled.file.dead_branches;
    let lives = |at: u32| dead.iter().all(|span| at < span.start || span.end <= at);
    tunables.retain(|tunable| lives(tunable.span.start));
    tunables
}

/// How to call the functions of a candidate, or why the compiler rejects it.
fn compiled(file: &Input, text: &str, given: &Given) -> Result<Vec<Call>, RowOutcome> {
    let (compiled, _) = input::compile_text(&file.path, text, &given.common, &given.common.options);
    let mut errors = compiled.diagnostics.iter();
    let error = errors.find(|diagnostic| diagnostic.severity() == Severity::Error);
    match (error, compiled.outputs) {
        (Some(error), _) => Err(rejected(&compiled.file, error)),
        (None, Some(outputs)) => Ok(outputs.calls),
        (None, None) => Err(RowOutcome::Failed(
            "nothing is generated from it".to_owned(),
        )),
    }
}

fn rejected(file: &crate::source::SourceFile, error: &Diagnostic) -> RowOutcome {
    let line = file.line(error.primary.span);
    RowOutcome::Rejected {
        code: error.code.to_string(),
        message: format!("{} (line {line})", error.message),
    }
}

/// Builds and runs what the compiler has accepted, and returns what was measured on what.
fn measure(
    project: &Project,
    given: &Given,
    file: &Path,
    mut accepted: Vec<Accepted>,
    outcomes: &mut [Option<RowOutcome>],
) -> Result<String, String> {
    for candidate in &mut accepted {
        let selected = driver::selected(&candidate.calls, &given.functions);
        if selected.is_empty() {
            let asked = given.functions.join(", ");
            return Err(format!("it has no function {asked}"));
        }
        let missing = driver::missing_sizes(&selected, given);
        if !missing.is_empty() {
            let sizes: Vec<String> = missing.iter().map(|name| format!("{name}=64")).collect();
            return Err(format!(
                "extents have no value: add `--size {}` (a few tiles are enough, and quick)",
                sizes.join(",")
            ));
        }
        candidate.calls = selected.into_iter().cloned().collect();
    }
    build(project, given, file, &mut accepted, outcomes)?;
    let mut reference: Option<(usize, Results)> = None;
    let mut basis = String::new();
    for candidate in &accepted {
        let outcome = match run(
            project,
            candidate.number,
            given,
            reference.as_ref().map(|(_, first)| first),
        ) {
            Ok((results, outcome)) => {
                if reference.is_none() {
                    basis = described(&results, &outcome, given);
                    reference = Some((candidate.number, results));
                }
                outcome
            }
            Err(why) => RowOutcome::Failed(why),
        };
        if let Some(slot) = outcomes.get_mut(candidate.number) {
            *slot = Some(outcome);
        }
    }
    Ok(basis)
}

/// Builds the program; candidates that a C++ compiler rejects are left out.
fn build(
    project: &Project,
    given: &Given,
    file: &Path,
    accepted: &mut Vec<Accepted>,
    outcomes: &mut [Option<RowOutcome>],
) -> Result<(), String> {
    while !accepted.is_empty() {
        let calls = accepted.iter().map(|c| (c.number, c.calls.clone()));
        let main = driver::main(&calls.collect::<Vec<_>>(), given)?;
        let texts: Vec<(usize, String)> = accepted
            .iter()
            .map(|c| (c.number, c.text.clone()))
            .collect();
        project.write(given, file, &texts, &main)?;
        let rejected = project.build()?;
        if rejected.is_empty() {
            return Ok(());
        }
        let before = accepted.len();
        for rejected in rejected {
            accepted.retain(|candidate| candidate.number != rejected.candidate);
            if let Some(slot) = outcomes.get_mut(rejected.candidate) {
                *slot = Some(RowOutcome::Rejected {
                    code: rejected.code,
                    message: rejected.message,
                });
            }
        }
        if accepted.len() == before {
            return Err("the build rejects a candidate that is not in it".to_owned());
        }
    }
    Ok(())
}

/// Runs a candidate: its results, and how they compare with the first ones.
fn run(
    project: &Project,
    candidate: usize,
    given: &Given,
    reference: Option<&Results>,
) -> Result<(Results, RowOutcome), String> {
    let (results, counts) = project.run(candidate, 0)?;
    let difference = match reference.map(|first| results.difference(first, given.tolerance)) {
        None => 0.0,
        Some(Ok(difference)) => difference,
        Some(Err(why)) => return Ok((results, RowOutcome::Wrong(why))),
    };
    let cost = match counts {
        Some(counts) => Cost::Counts(counts),
        None if results.is_of_ptx_machine() => {
            return Err("the PTX machine has written no counts".to_owned());
        }
        None if results.is_of_gpu() => {
            let (timed, _) = project.run(candidate, given.repeat)?;
            let time = timed.nanoseconds();
            Cost::Time(time.ok_or_else(|| "its calls were not timed".to_owned())?)
        }
        None => Cost::Wavefronts(results.wavefronts.unwrap_or_default()),
    };
    Ok((results, RowOutcome::Measured { cost, difference }))
}

fn described(results: &Results, outcome: &RowOutcome, given: &Given) -> String {
    let RowOutcome::Measured { cost, .. } = outcome else {
        return String::new();
    };
    match cost {
        Cost::Time(_) => format!(
            "by time on {}: the shortest of {} calls that wait, with inputs on the GPU",
            results.device, given.repeat
        ),
        Cost::Counts(_) => {
            "by counts of the PTX machine, a proxy and not a time: the most of instructions / 4, \
                            sectors * 32 / 42, and wavefronts"
                .to_owned()
        }
        Cost::Wavefronts(_) => {
            "by wavefronts of shared memory on the simulated GPU, a weak proxy and not a time: \
                                there is neither a GPU nor the PTX machine"
                .to_owned()
        }
    }
}

/// Writes the values of a file, and keeps those of others. Returns what to say about it.
fn write(
    out: &Path,
    entries: &mut Vec<Entry>,
    file: &Path,
    text: &str,
    values: &Values,
) -> Result<String, String> {
    let folder = out
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(".".as_ref());
    let base = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let relative = file
        .strip_prefix(&base)
        .map_or_else(|_| file.to_owned(), PathBuf::from);
    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
    let name = match relative.is_absolute() {
        true => relative.to_string_lossy().into_owned(),
        false => parts.join("/"),
    };
    let entry = Entry {
        file: name,
        hash: tuned::hash(text),
        values: values.clone(),
    };
    match entries.iter_mut().find(|known| known.file == entry.file) {
        Some(known) => *known = entry,
        None => entries.push(entry),
    }
    let shown = out.display();
    fs::write(out, tuned::print(entries)).map_err(|why| format!("can't write {shown}: {why}"))?;
    let values = tuned::shown_values(values);
    Ok(format!(
        "{values} written to {shown}, for `Config::tuned` in build.rs\n"
    ))
}

#[cfg(test)]
#[path = "tune_tests.rs"]
mod tests;
