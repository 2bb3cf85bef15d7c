//! Runs the table of passes, passes the IR to an observer, and has it verified.

use crate::diagnostics::Diagnostic;
use crate::ir::{Function, KernelId, Phase, Threads, verify};
use crate::passes::lower::seal;
use crate::passes::pass::{Kind, Pass, Run, State, kernel_id};
use crate::passes::table::{self, COMPLETION, RESOLUTION};

/// Reports a violation that the verifier has found after a stage, as an internal error.
pub fn report<P: Phase>(
    stage: &str,
    function: &Function<P>,
    violation: verify::Violation,
) -> Diagnostic {
    internal(stage, &function.name, violation)
}

fn internal(stage: &str, function: &str, violation: verify::Violation) -> Diagnostic {
    let verify::Violation {
        kernel,
        what,
        stmt,
        span,
    } = violation;
    let place = kernel.unwrap_or_else(|| format!("{function}, on the host"));
    let message = format!("internal error after `{stage}` in {place}: {what}");
    Diagnostic::internal(span, message)
        .label("the statement is generated from this")
        .note(format!("statement: {stmt}"))
}

/// Receives the IR after each pass: of one kernel, or of the whole function.
pub trait Observe {
    fn after<P: Phase>(
        &mut self,
        pass: &'static Pass,
        function: &Function<P>,
        kernel: Option<KernelId>,
    );
}

/// The observer that does nothing.
impl Observe for () {
    fn after<P: Phase>(&mut self, _: &'static Pass, _: &Function<P>, _: Option<KernelId>) {}
}

/// Runs the stages that complete the result of `sema` for a function, as far as its errors allow;
/// `state.diags` has the reports of this function only.
pub fn complete(function: &mut Function, state: &mut State, observe: &mut impl Observe) {
    for stage in [RESOLUTION, COMPLETION] {
        if state.diags.has_errors() && !stage.after_errors {
            return;
        }
        let passes: Vec<&'static Pass> = stage.passes.iter().collect();
        if run(&passes, function, state, observe).is_none() {
            return;
        }
    }
}

/// Runs the last stages, on a complete function. `None` after an error of the program, or after an
/// internal error, which is reported.
pub fn lower(
    function: Function,
    state: &mut State,
    observe: &mut impl Observe,
) -> Option<Function<Threads>> {
    let passes: Vec<&'static Pass> = table::of_lowering(state.improve).collect();
    lower_by(&passes, function, state, observe)
}

/// Runs the passes up to and including this one, of its stage or of those that lower, on a function
/// that has gone through the earlier stages. `None` if there is no such pass, or after an internal
/// error, which is reported.
pub fn run_until(name: &str, function: &mut Function, state: &mut State) -> Option<()> {
    let lowering: Vec<&'static Pass> = table::of_lowering(true).collect();
    let early = [RESOLUTION, COMPLETION].map(|stage| stage.passes.iter().collect());
    for mut passes in early.into_iter().chain([lowering]) {
        if let Some(last) = passes.iter().position(|pass| pass.name == name) {
            passes.truncate(last + 1);
            return run(&passes, function, state, &mut ());
        }
    }
    None
}

/// Like [`lower`], with another table.
pub(super) fn lower_by(
    passes: &[&'static Pass],
    mut function: Function,
    state: &mut State,
    observe: &mut impl Observe,
) -> Option<Function<Threads>> {
    run(passes, &mut function, state, observe)?;
    // Work that remains after an error is not reported as a second error.
    if state.diags.has_errors() {
        return None;
    }
    let last = table::all().find(|pass| matches!(pass.run, Run::Seal))?;
    let name = function.name.clone();
    let sealed = sealed(function, state)
        .map_err(|violation| internal(last.name, &name, violation))
        .and_then(|sealed| {
            observe.after(last, &sealed, None);
            let verified = match state.verify {
                true => verify::function(&sealed),
                false => Ok(()),
            };
            verified.map_err(|violation| report(last.name, &sealed, violation))?;
            Ok(sealed)
        });
    sealed.map_err(|error| state.diags.push(error)).ok()
}

/// The name of a lowering that did not run, if any. `seal` cannot detect this for every lowering:
/// that of swizzles only changes addresses.
fn missing_lowering(state: &State) -> Option<&'static str> {
    let lowerings = table::all().filter(|pass| pass.kind == Kind::Lowering);
    let mut lowerings = lowerings.filter(|pass| !matches!(pass.run, Run::Seal));
    let missing_lowering = lowerings.find(|pass| !state.ran.contains(&pass.name));
    missing_lowering.map(|pass| pass.name)
}

/// Seals the function; an error if a lowering did not run.
fn sealed(function: Function, state: &State) -> Result<Function<Threads>, verify::Violation> {
    let span = function.span;
    match (seal::seal(function), missing_lowering(state)) {
        (result, None) => result,
        (Err(violation), Some(pass)) => Err(verify::Violation {
            what: format!("`{pass}` did not run, and {}", violation.what),
            ..violation
        }),
        (Ok(_), Some(pass)) => Err(verify::Violation {
            kernel: None,
            what: format!("`{pass}` did not run"),
            stmt: String::new(),
            span,
        }),
    }
}

/// Runs passes over tiles. Returns `None` after an internal error, which it reports.
pub(super) fn run(
    passes: &[&'static Pass],
    function: &mut Function,
    state: &mut State,
    observe: &mut impl Observe,
) -> Option<()> {
    let mut rest = passes;
    while let Some((first, others)) = rest.split_first() {
        if !first.is_of_kernels() {
            if let Run::Function(run) = first.run {
                run(function, state);
                observe.after(first, function, None);
                state.ran.push(first.name);
                verified(state, first, function, |function| {
                    verify::function(function)
                })?;
            }
            rest = others;
            continue;
        }
        let of_kernels = rest.iter().take_while(|pass| pass.is_of_kernels());
        let (now, later) = rest.split_at(of_kernels.count());
        let host = verify::host_locals(function);
        for id in (0..function.kernels.len()).map(kernel_id) {
            for pass in now {
                match pass.run {
                    Run::Kernel(run) => run(function, id, state),
                    Run::Tiles(run) if !state.is_grid_copy => run(function, id, state),
                    _ => {}
                }
                observe.after(pass, function, Some(id));
                verified(state, pass, function, |function| {
                    verify::kernel(function, id, &host)
                })?;
            }
        }
        state.ran.extend(now.iter().map(|pass| pass.name));
        rest = later;
    }
    Some(())
}

fn verified(
    state: &mut State,
    pass: &Pass,
    function: &Function,
    verify: impl FnOnce(&Function) -> Result<(), verify::Violation>,
) -> Option<()> {
    if !state.verify {
        return Some(());
    }
    let verified = verify(function);
    let error = verified.map_err(|violation| report(pass.name, function, violation));
    error.map_err(|error| state.diags.push(error)).ok()
}
