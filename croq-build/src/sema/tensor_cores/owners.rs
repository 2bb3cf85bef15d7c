//! The threads that have an accumulator in their registers, which other threads cannot access, and
//! the number of products that it accumulates.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{MmaOp, Scalar, ThreadSet};
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::{Named, Place};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

/// The largest number up to which `f16` represents all integers.
const EXACT: i64 = 2048;

pub(crate) fn note_owners(el: &mut Elab<'_>, op: &MmaOp, span: Span) {
    if let MmaOp::FillElements {
        part, add: false, ..
    } = op
    {
        let loops = el.fragments.owners.iterations.len();
        el.fragments.owners.filled.insert(part.buffer, loops);
    }
    let (acc, multiplies) = match op {
        MmaOp::WarpgroupMma(mma) => (mma.acc.buffer, true),
        MmaOp::Multiply { acc, .. } => (acc.buffer, true),
        MmaOp::Store { from, .. } | MmaOp::Reduce { from, .. } | MmaOp::Convert { from, .. } => {
            (from.buffer, false)
        }
        MmaOp::Apply { part, .. } => (part.buffer, false),
        _ => return,
    };
    // Outside of all regions every thread executes the statement.
    let set = match el.path.region_threads() {
        Some(set) => set.clone(),
        None => ThreadSet::first(u32::MAX),
    };
    let place = Place { acc, set, span };
    match multiplies {
        true => el.fragments.owners.mmas.push(place),
        false => el.fragments.owners.uses.push(place),
    }
}

/// Reports accumulators that are used by threads that execute no MMA into them. Runs at the
/// function's end.
pub(crate) fn report_accumulators_of_others(el: &mut Elab<'_>) {
    let owners = std::mem::take(&mut el.fragments.owners);
    let mut reported = SortedSet::new();
    for place in &owners.uses {
        let mmas = owners.mmas.iter().filter(|p| p.acc == place.acc);
        let mmas: Vec<&Place> = mmas.collect();
        let Some(mma) = mmas.first() else {
            continue;
        };
        if mmas.iter().any(|p| p.set.meets(&place.set)) || !reported.insert(place.acc) {
            continue;
        }
        let name = &el.f.buffer(place.acc).name;
        let text =
            format!("`{name}` is in registers of other threads than those that execute this");
        el.cx.report(
            Diagnostic::new(codes::E0934, place.span, text)
                .label("these threads' registers contain the result of no MMA")
                .also(mma.span, "these threads multiply into theirs")
                .help("use the accumulator in the threads that compute it, or pass it through shared memory"),
        );
    }
}

pub(crate) fn enter_loop(el: &mut Elab<'_>, range: &Sym, step: &Sym) {
    let (least, _) = el.f.cx.range(range);
    let iterations = least.unwrap_or(1) / step.as_int().unwrap_or(1).max(1);
    el.fragments.owners.iterations.push(iterations.max(1));
}

pub(crate) fn leave_loop(el: &mut Elab<'_>) {
    el.fragments.owners.iterations.pop();
}

/// Warns of an `f16` accumulator that certainly accumulates more products than `f16` can count
/// exactly.
pub(crate) fn lint_lossy_accumulation(el: &mut Elab<'_>, acc: &Named, k: i64) {
    let id = acc.part.buffer;
    let owners = &el.fragments.owners;
    let since = owners.filled.get(&id).copied().unwrap_or(0);
    let iterations = owners.iterations.iter().skip(since);
    let all = iterations.fold(k, |all, iterations| all.saturating_mul(*iterations));
    let elem = el.f.buffer(id).elem;
    if elem != Scalar::F16 || all <= EXACT || !el.fragments.owners.lossy.insert(id) {
        return;
    }
    let text = format!("`{}` accumulates {all} products in `f16`", acc.name);
    el.cx.report(
        Diagnostic::new(codes::W0935, acc.span, text)
            .label(format!(
                "beyond {EXACT} an `f16` has not even all whole numbers"
            ))
            .help("write `mma.fill.f32`: `mma.store` converts"),
    );
}
