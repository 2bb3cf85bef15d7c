//! Whose sums they are: each thread of a block has registers of its own, which others never see.
//! And how many products they add up.

use std::collections::BTreeSet;

use crate::diagnostics::Diagnostic;
use crate::ir::{MmaOp, Scalar, ThreadSet};
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::{Named, Place};
use crate::source::Span;
use crate::symbolic::Sym;

/// Beyond this not every whole number is an `f16`.
const EXACT: i64 = 2048;

pub(crate) fn note_owners(el: &mut Elab<'_>, op: &MmaOp, span: Span) {
    if let MmaOp::FillElements {
        part, add: false, ..
    } = op
    {
        let loops = el.fragments.owners.turns.len();
        el.fragments.owners.filled.insert(part.buffer, loops);
    }
    let (sums, multiplies) = match op {
        MmaOp::Product(product) => (product.sums.buffer, true),
        MmaOp::Multiply { sums, .. } => (sums.buffer, true),
        MmaOp::Store { from, .. } | MmaOp::Reduce { from, .. } | MmaOp::Convert { from, .. } => {
            (from.buffer, false)
        }
        MmaOp::Apply { part, .. } => (part.buffer, false),
        _ => return,
    };
    // Outside of all regions everyone comes.
    let set = match el.path.region_threads() {
        Some(set) => set.clone(),
        None => ThreadSet::first(u32::MAX),
    };
    let place = Place { sums, set, span };
    match multiplies {
        true => el.fragments.owners.products.push(place),
        false => el.fragments.owners.uses.push(place),
    }
}

/// At the function's end: sums that are used where nobody multiplies into them.
pub(crate) fn report_sums_of_others(el: &mut Elab<'_>) {
    let owners = std::mem::take(&mut el.fragments.owners);
    let mut told = BTreeSet::new();
    for place in &owners.uses {
        let products = owners.products.iter().filter(|p| p.sums == place.sums);
        let products: Vec<&Place> = products.collect();
        let Some(product) = products.first() else {
            continue;
        };
        if products.iter().any(|p| p.set.meets(&place.set)) || !told.insert(place.sums) {
            continue;
        }
        let name = &el.f.buffer(place.sums).name;
        let text = format!("`{name}` is in registers of other threads than those that come here");
        el.cx.report(
            Diagnostic::new("E0934", place.span, text)
                .label("the threads here have sums of their own, without any product")
                .also(product.span, "these threads multiply into theirs")
                .help("use the sums where they are made; through shared memory others see them"),
        );
    }
}

pub(crate) fn enter_loop(el: &mut Elab<'_>, range: &Sym, step: &Sym) {
    let (least, _) = el.f.cx.range(range);
    let turns = least.unwrap_or(1) / step.as_int().unwrap_or(1).max(1);
    el.fragments.owners.turns.push(turns.max(1));
}

pub(crate) fn leave_loop(el: &mut Elab<'_>) {
    el.fragments.owners.turns.pop();
}

/// Sums of `f16` that certainly add up more than an `f16` has places for.
pub(crate) fn lint_lossy_sums(el: &mut Elab<'_>, sums: &Named, k: i64) {
    let id = sums.part.buffer;
    let owners = &el.fragments.owners;
    let since = owners.filled.get(&id).copied().unwrap_or(0);
    let turns = owners.turns.iter().skip(since);
    let all = turns.fold(k, |all, turns| all.saturating_mul(*turns));
    let elem = el.f.buffer(id).elem;
    if elem != Scalar::F16 || all <= EXACT || !el.fragments.owners.lossy.insert(id) {
        return;
    }
    let text = format!("`{}` adds up {all} products in `f16`", sums.name);
    el.cx.report(
        Diagnostic::new("W0935", sums.span, text)
            .label(format!(
                "beyond {EXACT} an `f16` has not even all whole numbers"
            ))
            .help("write `mma.fill.f32`: `mma.store` converts"),
    );
}
