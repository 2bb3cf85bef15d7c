//! Legality of clusters of blocks, and the targets that have them.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, CheckCode, Level, Role, VarHome};
use crate::sema::checks::{run_time, targets, unsupported};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::nests::{Node, level_name};
use crate::source::Span;
use crate::symbolic::{Sym, Truth, Var};
use crate::syntax::ast::{self, CopyStmt, ParallelStmt, StmtKind as S};

pub(crate) fn is_in_cluster(el: &Elab<'_>) -> bool {
    let size = el.kernel.as_ref().map(|k| k.grid.cluster.iter().product());
    size.is_some_and(|n: u32| n > 1)
}

/// Whether a variable is the position of a block in its cluster.
pub(crate) fn is_of_cluster(func: &ir::Function, var: Var) -> bool {
    let Some(VarHome::Local(id)) = func.var_home.get(&var) else {
        return false;
    };
    func.local(*id).role == Role::Parallel(Level::Cluster)
}

/// Whether a cluster of the nest contains its blocks, and nothing that would run once for all of
/// them.
pub(crate) fn check_blocks(cx: &mut Cx<'_>, p: &ParallelStmt, node: &Node) -> bool {
    if node.level != Level::Cluster {
        return true;
    }
    if !matches!(&*node.children, [only] if only.level == Level::Block) {
        let more = node.children.get(1);
        let what = match more {
            Some(_) => "a cluster has one grid of blocks",
            None => "a cluster is made of blocks",
        };
        let mut report = Diagnostic::new(codes::E0525, node.span, what);
        report = match (more, node.children.first()) {
            (Some(second), _) => report.label("of this").also(second.span, "another one"),
            (None, Some(inner)) => report
                .label("of what blocks?")
                .also(inner.span, "not of these"),
            (None, None) => report.label("there are none inside"),
        };
        cx.report(report.help("write one `parallel … by […] : block` inside"));
        return false;
    }
    if let Some(at) = node.children.iter().find_map(|only| only.cooperative) {
        unsupported::report(cx, at, "a cooperative launch of clusters");
        return false;
    }
    let only_definitions = p.items.len() > 1 || check_only_definitions(cx, &p.body);
    check_available(cx, node.span) && only_definitions
}

fn check_only_definitions(cx: &mut Cx<'_>, body: &ast::Block) -> bool {
    let other = body.stmts.iter().find(|stmt| match &stmt.kind {
        S::Parallel(_) | S::Mdspan { .. } | S::Ituple { .. } | S::Error => false,
        S::Scalar {
            storage, mutable, ..
        } => storage.is_some() || mutable.is_some(),
        S::Assign { target, op, .. } => {
            op.is_some() || !matches!(&*target.kind, ast::ExprKind::Name(_))
        }
        _ => true,
    });
    if let Some(stmt) = other {
        cx.report(
            Diagnostic::new(
                codes::E0525,
                stmt.span,
                "nothing runs once for all blocks of a cluster",
            )
            .label("between `cluster` and `block`")
            .help("only names for values are allowed here: move it into the blocks"),
        );
    }
    other.is_none()
}

/// Whether any of the targets has clusters.
pub(crate) fn check_available(cx: &mut Cx<'_>, at: Span) -> bool {
    let (newer, older) = targets::targets(cx);
    if newer.is_empty() && !older.is_empty() {
        cx.report(
            Diagnostic::new(codes::E0510, at, "clusters need sm_90 or newer")
                .label(format!("this is built for {older} alone"))
                .help("add an architecture: `.arch(\"sm_90a\")`"),
        );
        return false;
    }
    true
}

/// Assumes that the index of a block is at least its position in the cluster: the first block of a
/// cluster is a block of the grid.
pub(crate) fn assume_first_block(el: &mut Elab<'_>) {
    let Some(k) = &el.kernel else { return };
    for (place, block) in k.grid.places.into_iter().zip(k.grid.indices) {
        if let (Some(place), Some(block)) = (place, block) {
            el.f.cx.assume_le(&Sym::var(place), &Sym::var(block));
        }
    }
}

/// Checks that `.multicast` is used with TMA, and warns of it without a cluster.
pub(crate) fn check_multicast(el: &mut Elab<'_>, tma: bool, at: Span) -> bool {
    if !tma {
        el.cx.report(
            Diagnostic::new(codes::E0832, at, "`.multicast` is only for `tma`")
                .label("threads copy to their own block alone")
                .help("write `tma`, or remove it"),
        );
    } else if el
        .kernel
        .as_ref()
        .is_some_and(|k| k.grid.places == [None; 3])
    {
        el.cx.report(
            Diagnostic::new(codes::W1044, at, "`.multicast` without a cluster")
                .label("each block loads for itself")
                .help("write `parallel … : cluster` around the blocks, or remove it"),
        );
    }
    tma
}

/// Checks that each block of the cluster takes part in a multicast as a whole.
pub(crate) fn check_whole_blocks(
    cx: &mut Cx<'_>,
    level: Level,
    load: bool,
    c: &CopyStmt,
) -> Option<()> {
    let at = c.head;
    if !load {
        cx.report(
            Diagnostic::new(
                codes::E0832,
                at,
                "`.multicast` goes from global to shared memory",
            )
            .label("from shared to global")
            .help("remove `.multicast`"),
        );
        return None;
    }
    if level != Level::Block {
        let unit = level_name(level);
        cx.report(
            Diagnostic::new(
                codes::E0862,
                at,
                format!("each `{unit}` loads a tile of its own here"),
            )
            .label("a multicast is by blocks")
            .help(format!(
                "move it out of the `parallel … : {unit}`, or remove `.multicast`"
            )),
        );
        return None;
    }
    Some(())
}

/// Whether a `trigger.cluster` is legal: there are other blocks to arrive at.
pub(crate) fn check_trigger(el: &mut Elab<'_>, after: &[ast::Name], at: Span) -> bool {
    if let Some(copy) = after.first() {
        el.cx.report(
            Diagnostic::new(
                codes::E1030,
                at,
                "what copies bring completes the event of a block, not of its cluster",
            )
            .label("of every block")
            .also(copy.span, "arrives at its own")
            .help("write `trigger … after` without `.cluster`"),
        );
    } else if el
        .kernel
        .as_ref()
        .is_none_or(|k| k.grid.places == [None; 3])
    {
        el.cx.report(
            Diagnostic::new(codes::W1044, at, "`trigger.cluster` without a cluster")
                .label("the cluster has no other block")
                .help("write `parallel … : cluster` around the blocks, or `trigger`"),
        );
    }
    after.is_empty() && is_in_cluster(el)
}

/// Checks that the grid consists of whole clusters.
pub(crate) fn check_grid(el: &mut Elab<'_>, grid: &[Sym; 3], at: Span) -> Option<()> {
    let cluster = el.kernel.as_ref().map_or([1; 3], |k| k.grid.cluster);
    let axes = grid.iter().zip(cluster).zip(["x", "y", "z"]);
    for ((blocks, size), axis) in axes.filter(|((_, size), _)| *size > 1) {
        let left = el.f.cx.rem(blocks, &Sym::int(i64::from(size)));
        let shown = el.f.cx.show(blocks);
        match el.f.cx.eq(&left, &Sym::zero()) {
            Truth::Yes => {}
            Truth::No => {
                let plural = if blocks.is_one() { "" } else { "s" };
                el.cx.report(
                    Diagnostic::new(
                        codes::E0525,
                        at,
                        format!("{shown} block{plural} along {axis}, in clusters of {size}"),
                    )
                    .label("not a multiple")
                    .help(format!("make the blocks along {axis} a multiple of {size}")),
                );
                return None;
            }
            Truth::Unknown => {
                let message = format!(
                    "`{shown}` blocks along {axis} must be a multiple of the cluster's {size}: {{0}} are left over"
                );
                run_time::emit_compare(
                    el,
                    run_time::Check::new(CheckCode::R05, message, at),
                    BinOp::Eq,
                    &left,
                    &Sym::zero(),
                );
            }
        }
    }
    Some(())
}
