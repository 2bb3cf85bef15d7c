//! Functions for tests that run `sema` and the first passes on a text.

use crate::diagnostics::Diagnostics;
use crate::ir::Function;
use crate::passes::pass::State;
use crate::passes::{Limits, driver};
use crate::sema::state::cx::{Options, Target};
use crate::sema::{Checked, check};
use crate::settings::Checks;
use crate::source::{self, SourceFile};
use crate::syntax;

/// All functions of a file, and the diagnostics.
pub fn program(path: &str, text: &str) -> (SourceFile, Vec<Function>, Diagnostics) {
    program_for(path, text, &Options::default())
}

pub fn program_for(
    path: &str,
    text: &str,
    options: &Options,
) -> (SourceFile, Vec<Function>, Diagnostics) {
    let mut diags = Diagnostics::new();
    let file = source::load(path, text, &[], &mut diags);
    let tree = syntax::parse(&file, &mut diags);
    let limits = Limits {
        most: u64::MAX,
        least: u64::MAX,
    };
    let mut functions = Vec::new();
    for checked in check(&file, &tree, options, 1, &mut diags) {
        let Checked {
            mut function,
            mut findings,
        } = checked;
        let verify = !diags.has_errors() && !findings.diags.has_errors();
        let own = &mut findings.diags;
        let mut state = State::new(limits, true, Checks::All, verify, own);
        driver::complete(&mut function, &mut state, &mut ());
        if findings.publish(&mut diags) {
            functions.push(function);
        }
    }
    (file, functions, diags)
}

/// The first function after the passes up to and including `pass`.
#[track_caller]
pub fn function_after(text: &str, pass: &str) -> Function {
    let mut function = function(text);
    let limits = Limits {
        most: u64::MAX,
        least: u64::MAX,
    };
    let mut diags = Diagnostics::new();
    let mut state = State::new(limits, false, Checks::All, true, &mut diags);
    driver::run_until(pass, &mut function, &mut state).expect("no internal error");
    function
}

/// Functions as the walk leaves them, before the first pass.
pub fn elaborated(path: &str, text: &str) -> (Vec<Function>, Diagnostics) {
    let mut diags = Diagnostics::new();
    let file = source::load(path, text, &[], &mut diags);
    let tree = syntax::parse(&file, &mut diags);
    let checked = check(&file, &tree, &Options::default(), 1, &mut diags);
    let functions = checked.into_iter().map(|checked| checked.function);
    (functions.collect(), diags)
}

/// The first function.
#[track_caller]
pub fn function(text: &str) -> Function {
    let (_, mut functions, diags) = program("t.co", text);
    if functions.is_empty() {
        panic!("{text}\n{:#?}", diags.into_sorted());
    }
    functions.swap_remove(0)
}

/// The codes that are reported for a file with these targets.
pub fn codes(text: &str, archs: &[(&str, u16)]) -> Vec<&'static str> {
    let targets = archs.iter().map(|(name, number)| Target {
        name: (*name).to_owned(),
        number: *number,
    });
    let options = Options {
        targets: targets.collect(),
        targets_asked: true,
        ..Options::default()
    };
    let (_, _, diags) = program_for("t.co", text, &options);
    diags.into_sorted().iter().map(|d| d.code.text()).collect()
}
