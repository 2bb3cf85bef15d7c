//! The layout of each fragment: determined by MMAs, and propagated to fragments that are combined
//! with others.

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BufferId, FragmentLayout};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
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

/// Propagates layouts at the function's end, and reports fragments without one.
pub(crate) fn propagate_layouts(el: &mut Elab<'_>) {
    let alike = std::mem::take(&mut el.fragments.alike);
    let rank = |el: &Elab<'_>, id| el.f.fragments.get(&id).map(|f| f.shape.len());
    let of = |el: &Elab<'_>, id: BufferId| el.f.fragments.get(&id).and_then(|f| f.layout);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (a, b, _) in &alike {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let (Some(layout), None) = (of(el, from), of(el, to)) else {
                    continue;
                };
                // A column is combined with the rows of an accumulator.
                let carried = match (layout, rank(el, to)) {
                    (_, Some(1)) => FragmentLayout::Rows {
                        warps: layout.warps(),
                    },
                    (FragmentLayout::Matrix(_), _) => layout,
                    (FragmentLayout::Rows { .. }, _) => continue,
                };
                if let Some(fragment) = el.f.fragments.get_mut(&to) {
                    fragment.layout = Some(carried);
                    changed = true;
                }
            }
        }
    }
    for (a, b, _) in &alike {
        for id in [a, b] {
            if (of(el, *id), rank(el, *id)) == (None, Some(1))
                && let Some(fragment) = el.f.fragments.get_mut(id)
            {
                fragment.layout = Some(FragmentLayout::Rows { warps: 1 });
            }
        }
    }
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
    for (id, span) in std::mem::take(&mut el.fragments.columns) {
        if of(el, id).is_some() || el.fragments.failed {
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
    let mut reported = BTreeSet::new();
    for (id, span) in std::mem::take(&mut el.fragments.needed) {
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

/// Whether a thread has the same elements of both, in the same order.
fn agree(a: FragmentLayout, b: FragmentLayout) -> bool {
    match (a, b) {
        (FragmentLayout::Matrix(a), FragmentLayout::Matrix(b)) => a == b,
        (FragmentLayout::Rows { warps: a }, FragmentLayout::Rows { warps: b }) => a == b,
        // The threads that share a row are adjacent lanes only if the accumulator is not
        // transposed.
        (FragmentLayout::Matrix(m), FragmentLayout::Rows { warps })
        | (FragmentLayout::Rows { warps }, FragmentLayout::Matrix(m)) => {
            !m.transposed && m.warps == warps
        }
    }
}
