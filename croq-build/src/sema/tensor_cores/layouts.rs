//! The layout of each fragment: determined by MMAs, and propagated to fragments that are combined
//! with others.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BufferId, Dealing, FragmentLayout, Layout, Level, WARP_THREADS};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sorted::SortedSet;
use crate::source::Span;

/// Sets the layout that an MMA requires of a fragment, or reports a different one.
pub(crate) fn assign_layout(
    el: &mut Elab<'_>,
    named: &Named,
    layout: FragmentLayout,
) -> Option<()> {
    let id = named.part.buffer;
    let fragment = el.f.fragments.get_mut(&id)?;
    match fragment.layout {
        None => {
            fragment.layout = Some(layout);
            el.fragments.asked.insert(id, named.span);
            Some(())
        }
        Some(before) if before == layout => Some(()),
        Some(_) => {
            let earlier = el.fragments.asked.get(&id).copied();
            report_two_layouts(&mut el.cx, &named.name, named.span, earlier);
            None
        }
    }
}

fn report_two_layouts(cx: &mut Cx<'_>, name: &str, at: Span, earlier: Option<Span>) {
    let mut d = Diagnostic::new(
        codes::E0927,
        at,
        format!("`{name}` lies in the registers for another use"),
    )
    .label("here its elements must be with other threads");
    if let Some(earlier) = earlier {
        d = d.also(earlier, "they are as this needs them");
    }
    cx.report(d.help("load or copy it a second time, into a fragment of its own"));
}

/// Records that elements of the two are combined, so that the same thread must have both.
pub(crate) fn relate_layouts(el: &mut Elab<'_>, a: BufferId, b: BufferId, span: Span) {
    el.fragments.alike.push((a, b, span));
}

pub(crate) fn require_layout(el: &mut Elab<'_>, id: BufferId, span: Span) {
    el.fragments.needed.push((id, span));
}

/// Records an operation on a fragment by the unit that executes the current statement.
pub(crate) fn note_use(el: &mut Elab<'_>, id: BufferId, span: Span) {
    if let Some(unit) = el.kernel.as_ref().map(|k| k.unit) {
        el.fragments.uses.push((id, span, unit));
    }
}

fn of(el: &Elab<'_>, id: BufferId) -> Option<FragmentLayout> {
    el.f.fragments.get(&id).and_then(|f| f.layout)
}

fn shape<'e>(el: &'e Elab<'_>, id: BufferId) -> &'e [i64] {
    el.f.fragments.get(&id).map_or(&[], |f| &f.shape)
}

/// Propagates layouts at the function's end, deals out fragments that take part in no MMA, and
/// reports those that need one.
pub(crate) fn propagate_layouts(el: &mut Elab<'_>) {
    let alike = std::mem::take(&mut el.fragments.alike);
    propagate(el, &alike);
    deal_out(el, &alike);
    for (a, b, span) in &alike {
        let fits = match (of(el, *a), of(el, *b)) {
            (Some(a), Some(b)) => agree(a, b),
            _ => continue,
        };
        if !fits {
            let name = el.f.buffer(*b).name.clone();
            let earlier = el.fragments.asked.get(b).copied();
            report_two_layouts(&mut el.cx, &name, *span, earlier);
        }
    }
    report_columns_alone(el);
    report_without_layout(el);
    report_uses_by_others(el);
}

fn propagate(el: &mut Elab<'_>, alike: &[(BufferId, BufferId, Span)]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (a, b, _) in alike {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let (Some(layout), None) = (of(el, from), of(el, to)) else {
                    continue;
                };
                let Some(carried) = carried(layout, shape(el, to)) else {
                    continue;
                };
                if let Some(fragment) = el.f.fragments.get_mut(&to) {
                    fragment.layout = Some(carried);
                    changed = true;
                }
            }
        }
    }
}

/// The layout of a fragment that meets one with `layout`.
fn carried(layout: FragmentLayout, shape: &[i64]) -> Option<FragmentLayout> {
    match (layout, shape) {
        (FragmentLayout::Dealt(_), _) => Some(layout),
        (FragmentLayout::Metadata(_), _) => None,
        // A column is combined with the rows of an accumulator.
        (_, [_]) => Some(FragmentLayout::Rows {
            warps: layout.warps(),
        }),
        (FragmentLayout::Matrix(_), _) => Some(layout),
        // A matrix beside such a column lies like the accumulator, where it can.
        (FragmentLayout::Rows { warps }, [rows, columns]) => {
            let layout = Layout {
                warps,
                ..Layout::accumulator(16, false)
            };
            let fits = rows % layout.below() == 0 && columns % layout.columns() == 0;
            fits.then_some(FragmentLayout::Matrix(layout))
        }
        (FragmentLayout::Rows { .. }, _) => None,
    }
}

/// Deals out the fragments that have no layout over the threads that use them: all that meet each
/// other in one way.
fn deal_out(el: &mut Elab<'_>, alike: &[(BufferId, BufferId, Span)]) {
    let uses = el.fragments.uses.clone();
    for (id, span, unit) in &uses {
        let (None, Some(threads)) = (of(el, *id), unit.threads) else {
            continue;
        };
        let meeting = meeting(el, *id, alike);
        let widths = meeting.iter().filter_map(|id| shape(el, *id).get(1));
        let narrowest = widths.copied().min();
        let dealing = Dealing {
            threads: i64::from(threads),
            lanes: lanes_of_row(narrowest, threads),
        };
        for id in meeting {
            el.fragments.asked.entry(id).or_insert(*span);
            if let Some(fragment) = el.f.fragments.get_mut(&id) {
                fragment.layout = Some(FragmentLayout::Dealt(dealing));
            }
        }
    }
}

/// The adjacent lanes that share a row of at least so many columns: each has one.
fn lanes_of_row(columns: Option<i64>, threads: u32) -> i64 {
    let lanes = [32, 16, 8, 4, 2].into_iter();
    let fits = |lanes: &i64| columns.is_some_and(|columns| *lanes <= columns);
    match threads % WARP_THREADS {
        0 => lanes.into_iter().find(fits).unwrap_or(1),
        _ => 1,
    }
}

/// The fragments without a layout that meet this one, directly or by others.
fn meeting(
    el: &Elab<'_>,
    id: BufferId,
    alike: &[(BufferId, BufferId, Span)],
) -> SortedSet<BufferId> {
    let mut found = SortedSet::from([id]);
    let mut before = 0;
    while before < found.len() {
        before = found.len();
        for (a, b, _) in alike {
            for (one, other) in [(a, b), (b, a)] {
                if found.contains(one) && of(el, *other).is_none() {
                    found.insert(*other);
                }
            }
        }
    }
    found
}

/// Reports sums over the threads that share a row of no matrix.
fn report_columns_alone(el: &mut Elab<'_>) {
    for (id, span) in std::mem::take(&mut el.fragments.columns) {
        let shared = match of(el, id) {
            Some(FragmentLayout::Dealt(dealing)) => dealing.lanes > 1,
            layout => layout.is_some(),
        };
        if shared || el.fragments.failed {
            continue;
        }
        let name = el.f.buffer(id).name.clone();
        el.cx.report(
            Diagnostic::new(
                codes::E0919,
                span,
                format!("`{name}` is related to no accumulator"),
            )
            .label("which threads have its rows?")
            .help("use it in an `apply` over an accumulator, or reduce an accumulator into it"),
        );
    }
}

/// Reports loads and stores of fragments that take part in no MMA.
fn report_without_layout(el: &mut Elab<'_>) {
    let mut reported = SortedSet::new();
    for (id, span) in std::mem::take(&mut el.fragments.needed) {
        if let Some(FragmentLayout::Metadata(_)) = of(el, id)
            && span != el.f.buffer(id).span
        {
            let name = el.f.buffer(id).name.clone();
            let earlier = el.fragments.asked.get(&id).copied();
            report_two_layouts(&mut el.cx, &name, span, earlier);
        }
        if of(el, id).is_some() || el.fragments.failed || !reported.insert(id) {
            continue;
        }
        let name = el.f.buffer(id).name.clone();
        el.cx.report(
            Diagnostic::new(
                codes::E0913,
                span,
                format!("`{name}` is an operand of no MMA"),
            )
            .label("which threads would have what of it?")
            .help("multiply with it, or combine it with an accumulator"),
        );
    }
}

/// Reports operations by threads that are no unit on fragments of a warp or warpgroup, and those by
/// other units than the one over which a fragment is dealt out.
fn report_uses_by_others(el: &mut Elab<'_>) {
    let mut reported = SortedSet::new();
    for (id, span, unit) in std::mem::take(&mut el.fragments.uses) {
        let Some(layout) = of(el, id) else { continue };
        let fits = match layout {
            FragmentLayout::Dealt(dealing) => unit.threads.map(i64::from) == Some(dealing.threads),
            _ => unit.level != Level::Thread,
        };
        if fits || el.fragments.failed || !reported.insert(id) {
            continue;
        }
        let name = el.f.buffer(id).name.clone();
        let threads = unit.threads.map_or(1, i64::from);
        let text = format!("`{name}` lies in the registers of other threads");
        let label = format!(
            "{threads} threads execute this, {} have it",
            layout.threads()
        );
        let mut d = Diagnostic::new(codes::E0927, span, text).label(label);
        if let Some(earlier) = el.fragments.asked.get(&id) {
            d = d.also(*earlier, "the threads here have it");
        }
        el.cx
            .report(d.help("use it in one level, or declare another fragment there"));
    }
}

/// Whether a thread has the same elements of both, in the same order.
fn agree(a: FragmentLayout, b: FragmentLayout) -> bool {
    match (a, b) {
        (FragmentLayout::Matrix(a), FragmentLayout::Matrix(b)) => a == b,
        (FragmentLayout::Rows { warps: a }, FragmentLayout::Rows { warps: b }) => a == b,
        (FragmentLayout::Dealt(a), FragmentLayout::Dealt(b)) => a == b,
        (FragmentLayout::Dealt(_), _) | (_, FragmentLayout::Dealt(_)) => false,
        // The threads that share a row are adjacent lanes only if the accumulator is not
        // transposed.
        (FragmentLayout::Matrix(m), FragmentLayout::Rows { warps })
        | (FragmentLayout::Rows { warps }, FragmentLayout::Matrix(m)) => {
            !m.transposed && m.warps == warps
        }
        // Its registers have bits of two rows, or of every other row.
        (FragmentLayout::Metadata(_), _) | (_, FragmentLayout::Metadata(_)) => false,
    }
}
