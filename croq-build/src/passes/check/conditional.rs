//! Checks of single statements that may depend on the conditions around them.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ir::{Function, KernelId, Stmt, any_stmt, path_facts};
use crate::symbolic::{Ctx, Sym};

/// Reports what is wrong with the statements of a kernel. What the conditions around a statement say is
/// derived only if there is something without it: it costs questions to the prover.
pub fn report(
    function: &mut Function,
    id: KernelId,
    diags: &mut Diagnostics,
    faults: impl Fn(&Function, &Stmt) -> Vec<Diagnostic>,
) {
    function.with_kernel_body(id, |function, body| {
        if any_stmt(body, |stmt| !faults(function, stmt).is_empty()) {
            path_facts::visit(function, body, &mut |function, stmt| {
                faults(function, stmt)
                    .into_iter()
                    .for_each(|d| diags.push(d));
            });
        }
    });
}

/// Whether a number divides a place that was computed without what is known here.
pub fn divides(cx: &Ctx, number: i64, place: &Sym) -> bool {
    let number = Sym::int(number);
    cx.divides(&number, place).is_yes() || cx.divides(&number, &cx.simplify(place)).is_yes()
}
