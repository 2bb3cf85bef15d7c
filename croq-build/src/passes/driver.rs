//! Runs the table of passes, shows the IR to whoever watches, and has it verified.

use super::pass::{Pass, Run, State, kernel_id};
use super::table::PASSES;
use crate::diagnostics::Diagnostic;
use crate::ir::{Function, KernelId, verify};

/// Reports a violation that the verifier has found after a stage, as an error of croq.
pub fn report(stage: &str, function: &Function, violation: verify::Violation) -> Diagnostic {
    let verify::Violation {
        kernel,
        what,
        stmt,
        span,
    } = violation;
    let place = kernel.unwrap_or_else(|| format!("{}, on the host", function.name));
    Diagnostic::new(
        "E1199",
        span,
        format!("internal error after `{stage}` in {place}: {what}"),
    )
    .label("the statement comes from here")
    .note(format!("statement: {stmt}"))
    .help("this is an error in croq, not in the program; please report it with this file")
}

/// Called after a pass: on one kernel, or on the whole function.
pub type Observer<'o> = dyn FnMut(&'static Pass, &Function, Option<KernelId>) + 'o;

/// Runs the table up to the pass before `end`, or all of it. It ends early at an internal error.
pub fn run_until(
    function: &mut Function,
    end: Option<&str>,
    state: &mut State,
    observe: &mut Observer,
) {
    let count = PASSES.iter().position(|pass| Some(pass.name) == end);
    let mut rest = &PASSES[..count.unwrap_or(PASSES.len())];
    while let Some((first, others)) = rest.split_first() {
        if let Run::Function(run) = first.run {
            run(function, state);
            observe(first, function, None);
            if state.verify
                && let Err(violation) = verify::function(function)
            {
                state.diags.push(report(first.name, function, violation));
                return;
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
                    Run::Tiles(run) if !state.spread => run(function, id, state),
                    _ => {}
                }
                observe(pass, function, Some(id));
                if state.verify
                    && let Err(violation) = verify::kernel(function, id, &host)
                {
                    state.diags.push(report(pass.name, function, violation));
                    return;
                }
            }
        }
        rest = later;
    }
}
