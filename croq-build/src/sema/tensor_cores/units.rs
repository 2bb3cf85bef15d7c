//! Warps and warpgroups that execute MMAs together.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{FragmentLayout, Level, WARP_THREADS, WARPGROUP_THREADS};
use crate::sema::levels::indices;
use crate::sema::state::elab::Elab;
use crate::sema::state::kernel::Unit;
use crate::sema::state::scopes::Entity;
use crate::source::Span;
use crate::syntax::ast;

/// Whether whole warps of threads execute this; otherwise reports the level.
pub(crate) fn check_by_warp(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    let (found, help) = match el.unit() {
        // `passes::check::divergence` finds conditions that differ within the unit.
        Some(Level::Warp) => return check_region_is_whole(el, span, what),
        Some(Level::Warpgroup) => {
            check_region_is_whole(el, span, what)?;
            return check_by_warpgroup(el, span, what);
        }
        None => (
            "the host's",
            "put it inside `parallel … : block`, and there inside `parallel w by 4 : group`",
        ),
        Some(Level::Cluster | Level::Block) => (
            "the whole block's",
            "put it inside `parallel w by 4 : group { … }`, for four warps",
        ),
        Some(Level::Thread) => (
            "a single thread's",
            "let the level fill a warp or a warpgroup: `parallel g by 2 : group-4, t by 128 : thread`",
        ),
    };
    let kernel = el.kernel.as_ref().map_or(el.f.span, |k| k.header);
    let level = el.path.level_header().unwrap_or(kernel);
    report(el, level, span, what, (format!("here it is {found}"), help));
    None
}

/// Whether the threads of a unit or of a level execute this together: work on the registers of each,
/// which needs no warp; otherwise reports it.
pub(crate) fn check_by_threads(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    let threads = el.kernel.as_ref().and_then(|k| k.unit.threads);
    if threads.is_none() {
        return check_by_warp(el, span, what);
    }
    check_region_is_whole(el, span, what)
}

/// Reports a statement of a warp that no warp executes. The level or region around is the cause, so
/// it is reported only once.
fn report(el: &mut Elab<'_>, cause: Span, span: Span, what: &str, (label, help): (String, &str)) {
    if el.cx.without_warps.insert(cause) {
        el.cx.report(
            Diagnostic::new(codes::E0906, span, format!("{what} is the work of a warp"))
                .label(label)
                .help(help),
        );
    }
}

/// Whether the enclosing `inthreads` is executed by whole units, as far as its threads are known.
fn check_region_is_whole(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    let unit = el.kernel.as_ref()?.unit.threads?;
    let (set, region) = match el.path.regions().next() {
        Some((Some(set), region)) if !set.is_empty() => (set, region.span),
        _ => return Some(()),
    };
    if set.is_whole(unit) {
        return Some(());
    }
    let threads = match set.len() {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    };
    let name = match unit {
        WARP_THREADS => "no whole warps of",
        WARPGROUP_THREADS => "no whole warpgroups of",
        _ => "not all",
    };
    let label = format!("{threads} execute it: {name} {unit}");
    let help = "let the condition of the `inthreads` hold for whole units";
    report(el, region, span, what, (label, help));
    None
}

/// Lowers a statement on a fragment. At block level the block executes it if it is one warp or
/// warpgroup: an accumulator may be used after the level that computed it.
pub(crate) fn within_only_unit<R>(
    el: &mut Elab<'_>,
    fragment: Option<&ast::Expr>,
    lower: impl FnOnce(&mut Elab<'_>) -> R,
) -> R {
    let Some(unit) = fragment.and_then(|fragment| only_unit(el, fragment)) else {
        return lower(el);
    };
    let outside = indices::enter_level(el, unit, Unit::of(unit));
    let done = lower(el);
    indices::leave_level(el, outside);
    done
}

/// The level of the whole block if it is one warp or warpgroup, which has the fragment.
fn only_unit(el: &mut Elab<'_>, fragment: &ast::Expr) -> Option<Level> {
    if el.level() != Some(Level::Block) {
        return None;
    }
    let mut named = fragment;
    while let ast::ExprKind::Subscript(inner, _) = &*named.kind {
        named = inner;
    }
    let ast::ExprKind::Name(name) = &*named.kind else {
        return None;
    };
    let Entity::Buffer { id, .. } = el.names.find(name)?.entity else {
        return None;
    };
    let layout = el.f.fragments.get(&id)?.layout;
    let kernel = el.kernel.as_ref()?;
    let threads = match &kernel.threads.count {
        Some(threads) => threads.as_int(),
        None => el.earlier.threads(el.choices.on_host),
    };
    // The level that has them may come later.
    el.earlier.incomplete |= layout.is_none() || kernel.threads.count.is_none();
    let warps = layout.map_or(1, FragmentLayout::warps);
    let threads = threads.and_then(|n| u32::try_from(n).ok());
    match (layout, threads?) {
        (None, WARPGROUP_THREADS) => Some(Level::Warpgroup),
        (Some(_), WARPGROUP_THREADS) if warps == 4 => Some(Level::Warpgroup),
        (_, WARP_THREADS) if warps == 1 => Some(Level::Warp),
        _ => None,
    }
}

/// The only target with these instructions.
pub(crate) const TARGET: &str = "sm_90a";

pub(crate) fn is_a_warpgroup(el: &Elab<'_>) -> bool {
    el.unit() == Some(Level::Warpgroup)
}

/// Whether some target has warpgroup MMAs; the kernel is not built for the others.
fn check_by_warpgroup(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    let targets = el.cx.options.targets.iter().map(|t| t.name.as_str());
    let (with, without): (Vec<&str>, Vec<&str>) = targets.partition(|name| *name == TARGET);
    let others = without.join(" and ");
    if with.is_empty() && !others.is_empty() {
        el.cx.report(
                Diagnostic::new(codes::E0905, span, format!("{what} by a warpgroup needs {TARGET}"))
                    .label(format!("this is built for {others} alone"))
                    .help("add the architecture, `.arch(\"sm_90a\")`; or use `: group`, one warp, which every target has"),
            );
        return None;
    }
    let header = el.kernel.as_ref().map_or(span, |k| k.header);
    let asked = el.cx.options.targets_asked && !others.is_empty();
    if asked && el.cx.older_left_out.insert(header) {
        let text = format!("this kernel is built for {TARGET} alone");
        let label = format!("{others} has no warpgroup MMA");
        el.cx
            .report(Diagnostic::new(codes::N0905, span, text).label(label));
    }
    Some(())
}
