//! Assigns a level to each `parallel` of a nest (language 03 section 2).
//!
//! The whole nest is analysed before its first statement is elaborated, because the level of an
//! unannotated parent depends on its children.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Level, WARP_THREADS};
use crate::sema::checks::unsupported;
use crate::sema::levels::{cluster_legality, devices};
use crate::sema::state::cx::Cx;
use crate::sema::state::nests::{self, Node};
use crate::sema::values::constants;
use crate::source::Span;
use crate::syntax::ast::{self, ParallelBound, ParallelItem, ParallelStmt, Stmt, StmtKind as S};

/// Levels of a whole nest; `None` after an error.
pub(crate) fn assign_levels(cx: &mut Cx<'_>, outermost: &ParallelStmt) -> Option<Node> {
    let mut ok = true;
    let mut node = build_node(cx, &outermost.items, &outermost.body, &mut ok)?;
    if !ok {
        return None;
    }
    infer_levels(cx, &mut node, true, &mut ok);
    if !ok {
        return None;
    }
    if node.children.is_empty() && !node.explicit {
        node.single = true;
        node.level = if uses_shared(&outermost.body.stmts) {
            Level::Block
        } else {
            Level::Thread
        };
    }
    check_order(cx, &node, None, &mut ok);
    ok &= cluster_legality::check_blocks(cx, outermost, &node);
    ok.then_some(node)
}

fn build_node(
    cx: &mut Cx<'_>,
    items: &[ParallelItem],
    body: &ast::Block,
    ok: &mut bool,
) -> Option<Node> {
    let (first, rest) = items.split_first()?;
    let children = if rest.is_empty() {
        let mut inner = Vec::new();
        nested(&body.stmts, &mut inner);
        inner
            .into_iter()
            .filter_map(|p| build_node(cx, &p.items, &p.body, ok))
            .collect()
    } else {
        build_node(cx, rest, body, ok).into_iter().collect()
    };
    let mut level = Level::Thread;
    let mut cooperative = None;
    if let Some(spec) = &first.level {
        level = match spec.level {
            ast::Level::Cluster => Level::Cluster,
            ast::Level::Block => Level::Block,
            ast::Level::Group4 => Level::Warpgroup,
            ast::Level::Group => Level::Warp,
            ast::Level::Thread => Level::Thread,
            ast::Level::Device => {
                devices::report_inner(cx, spec.span);
                *ok = false;
                Level::Block
            }
        };
        if let Some(at) = spec.cooperative {
            if level == Level::Block {
                cooperative = Some(at);
            } else {
                cx.report(
                    Diagnostic::new(codes::W0521, at, "`cooperative` is for `block` only")
                        .label("ignored"),
                );
            }
        }
        if spec.term {
            let remedy = "write `: thread`, or no level";
            unsupported::report_with_remedy(cx, spec.span, "`: term`", Some(remedy));
            *ok = false;
        }
    }
    Some(Node {
        level,
        explicit: first.level.is_some(),
        merged: false,
        single: false,
        cooperative,
        children,
        span: first.span,
        count: literal_count(&first.bound),
    })
}

fn literal_count(bound: &ParallelBound) -> Option<i64> {
    match bound {
        ParallelBound::Single(e) => constants::constant(e),
        ParallelBound::List(list, _) => list
            .iter()
            .map(constants::constant)
            .try_fold(1i64, |p, n| p.checked_mul(n?)),
    }
}

fn infer_levels(cx: &mut Cx<'_>, node: &mut Node, root: bool, ok: &mut bool) {
    for child in &mut node.children {
        infer_levels(cx, child, node.level == Level::Cluster, ok);
    }
    let Some(outermost_child) = node.children.iter().map(|c| c.level).min() else {
        return;
    };
    if !node.explicit {
        let mixed = node.children.iter().any(|c| c.explicit);
        node.level = match (root, outermost_child) {
            (_, Level::Block | Level::Cluster) => {
                let child = node
                    .children
                    .iter()
                    .find(|c| c.level <= Level::Block)
                    .map_or(node.span, |c| c.span);
                let name = nests::level_name(outermost_child);
                let text = format!("what lies outside `{name}` is not inferred");
                cx.report(
                    Diagnostic::new(codes::E0511, node.span, text)
                        .label("what should this be?")
                        .also(child, format!("this is `{name}`"))
                        .help("annotate it, or make it a `foreach`"),
                );
                *ok = false;
                return;
            }
            (true, _) => Level::Block,
            (false, Level::Thread) => Level::Warp,
            (false, Level::Warp) => Level::Warpgroup,
            (false, Level::Warpgroup) => Level::Block,
        };
        // A warp has 32 threads: an inner count other than 32 makes both levels threads.
        let warp = node
            .children
            .iter()
            .all(|c| c.count == Some(i64::from(WARP_THREADS)));
        let threads =
            node.level == Level::Warp && outermost_child == Level::Thread && !root && !warp;
        if mixed {
            let name = nests::level_name(if threads { Level::Thread } else { node.level });
            let end = Span::new(node.span.end, node.span.end);
            cx.report(
                Diagnostic::new(
                    codes::W0520,
                    node.span,
                    "some levels of this nest are annotated, this one is not",
                )
                .label(format!("taken as `{name}`"))
                .help(format!("write `: {name}`"))
                .suggest(end, format!(" : {name}")),
            );
        }
        if threads {
            if node.children.iter().any(|c| c.merged) {
                cx.report(
                    Diagnostic::new(
                        codes::E0513,
                        node.span,
                        "more nested levels than a block has",
                    )
                    .label("no level is left for this")
                    .help("fold two of them into one: `parallel {a, b} by [A, B]`"),
                );
                *ok = false;
                return;
            }
            node.level = Level::Thread;
            node.merged = true;
        }
    }
}

fn check_order(cx: &mut Cx<'_>, node: &Node, above: Option<&Node>, ok: &mut bool) {
    if let Some(parent) = above {
        let strictly = node.level > parent.level || parent.merged && node.level == Level::Thread;
        if !strictly {
            let (child, outer) = (
                nests::level_name(node.level),
                nests::level_name(parent.level),
            );
            cx.report(
                Diagnostic::new(
                    codes::E0512,
                    node.span,
                    format!("`{child}` inside `{outer}`"),
                )
                .label("must be a finer level")
                .also(parent.span, format!("this is `{outer}`"))
                .help("levels go from outer to inner: cluster, block, group-4, group, thread"),
            );
            *ok = false;
        } else if node.level == Level::Warp && parent.level == Level::Warpgroup && node.explicit {
            cx.report(
                Diagnostic::new(codes::E0514, node.span, "`group` inside `group-4`")
                    .label("a warpgroup is one unit")
                    .also(parent.span, "the warpgroup")
                    .help("use `thread` inside, or `group` outside"),
            );
            *ok = false;
        }
    }
    for child in &node.children {
        check_order(cx, child, Some(node), ok);
    }
}

/// The `parallel`s directly inside a statement list, in source order.
fn nested<'s>(stmts: &'s [Stmt], out: &mut Vec<&'s ParallelStmt>) {
    for stmt in stmts {
        match &stmt.kind {
            S::Parallel(p) => out.push(p),
            S::Block(b)
            | S::With { body: b, .. }
            | S::Inthreads { body: b, .. }
            | S::While { body: b, .. } => {
                nested(&b.stmts, out);
            }
            S::Foreach(f) => nested(&f.body.stmts, out),
            S::If {
                then, otherwise, ..
            } => {
                nested(&then.stmts, out);
                if let Some(b) = otherwise {
                    nested(&b.stmts, out);
                }
            }
            _ => {}
        }
    }
}

/// Whether a body declares or allocates shared memory, or uses events.
pub(crate) fn uses_shared(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        S::Buffer {
            storage: Some((ast::Storage::Shared, _)),
            ..
        }
        | S::Scalar {
            storage: Some((ast::Storage::Shared, _)),
            ..
        }
        | S::Event { .. }
        | S::Wait(_)
        | S::Trigger { .. } => true,
        S::Copy(c) => matches!(c.dest, ast::CopyDest::Storage(ast::Storage::Shared, _)),
        S::Block(b)
        | S::With { body: b, .. }
        | S::Inthreads { body: b, .. }
        | S::While { body: b, .. } => uses_shared(&b.stmts),
        S::Foreach(f) => uses_shared(&f.body.stmts),
        S::If {
            then, otherwise, ..
        } => uses_shared(&then.stmts) || otherwise.as_ref().is_some_and(|b| uses_shared(&b.stmts)),
        _ => false,
    })
}

/// The children of a node, last first, so that popping yields them in source order.
pub(crate) fn node_cursor(node: &Node) -> Vec<Node> {
    node.children.iter().rev().cloned().collect()
}

pub(crate) fn first_inner(stmts: &[ast::Stmt]) -> Option<&ParallelStmt> {
    use ast::StmtKind as S;
    stmts.iter().find_map(|s| match &s.kind {
        S::Parallel(p) => Some(p),
        S::Block(b) | S::With { body: b, .. } | S::While { body: b, .. } => first_inner(&b.stmts),
        S::Foreach(f) => first_inner(&f.body.stmts),
        S::If {
            then, otherwise, ..
        } => first_inner(&then.stmts)
            .or_else(|| otherwise.as_ref().and_then(|b| first_inner(&b.stmts))),
        _ => None,
    })
}
