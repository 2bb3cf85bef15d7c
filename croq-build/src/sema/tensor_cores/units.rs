//! Warps and warpgroups that execute MMAs together.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Level;
use crate::sema::state::elab::Elab;
use crate::source::Span;

/// Whether whole warps of threads execute this; otherwise reports the level.
pub(crate) fn check_by_warp(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    let (found, help) = match el.level() {
        // No condition at this level differs within a warp.
        Some(Level::Warp) => return Some(()),
        Some(Level::Warpgroup) => return check_by_warpgroup(el, span, what),
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
            "put it outside of the `: thread` level, inside `: group`",
        ),
    };
    // The level is the cause, so it is reported only once.
    let kernel = el.kernel.as_ref().map_or(el.f.span, |k| k.header);
    let level = el.path.level_header().unwrap_or(kernel);
    if !el.cx.without_warps.insert(level) {
        return None;
    }
    el.cx.report(
        Diagnostic::new(codes::E0906, span, format!("{what} is the work of a warp"))
            .label(format!("here it is {found}"))
            .help(help),
    );
    None
}

/// The only target with these instructions.
pub(crate) const TARGET: &str = "sm_90a";

pub(crate) fn is_a_warpgroup(el: &Elab<'_>) -> bool {
    el.level() == Some(Level::Warpgroup)
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
    if !others.is_empty() && el.cx.older_left_out.insert(header) {
        let text = format!("this kernel is built for {TARGET} alone");
        let label = format!("{others} has no warpgroup MMA");
        el.cx
            .report(Diagnostic::new(codes::N0905, span, text).label(label));
    }
    Some(())
}
