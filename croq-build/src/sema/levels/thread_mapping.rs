//! Levels below the block: the number of their threads, and their indices as functions of the
//! linear thread id.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    BinOp, CheckCode, Expr, Intrinsic, Level, StmtKind, WARP_THREADS, WARPGROUP_THREADS, path_facts,
};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::levels::nest::{self, first_inner};
use crate::sema::levels::{extents, indices};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::kernel::{ThreadIndex, Unit};
use crate::sema::state::nests::{Node, level_name};
use crate::sema::state::path::Frame;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, ParallelItem, ParallelStmt};

/// The threads per block when a single level is split into blocks and threads.
const SPLIT_THREADS: i64 = 256;

/// Lowers a level below the block: computes its indices from the linear thread id and lowers its
/// body.
pub(crate) fn lower_level(
    el: &mut Elab<'_>,
    item: &ParallelItem,
    extents: &[Sym],
    node: &Node,
    rest: &[ParallelItem],
    body: &ast::Block,
) -> Option<()> {
    let parent = el.level()?;
    let product = extents.iter().product::<Sym>();
    let mut divisor = Sym::int(i64::from(node.level.threads().unwrap_or(1)));
    if node.merged {
        divisor = merged_inner_threads(el, rest, body)?;
    }
    let total = &product * &divisor;
    let inside_unit = parent.threads_together().map(i64::from);
    if let Some(unit) = inside_unit {
        check_unit_total(el, &total, unit, parent, item.span)?;
    } else if !el.path.is_merged() {
        fix_block_total(el, &total, item.span)?;
    }
    let whole_block = inside_unit.is_none() && !el.path.is_merged();
    let unit = match node.level {
        Level::Thread if el.path.is_merged() || node.merged => Unit::of_threads(None),
        Level::Thread => filled_unit(parent, &total),
        level => Unit::of(level),
    };
    let saved = indices::enter_level(el, node.level, unit);
    let frame = Frame::Level {
        merged: node.merged,
        header: item.span,
    };
    let level = |el: &mut Elab<'_>| {
        let mut values = Vec::new();
        let digits = indices::digits(&el.cx, extents, divisor, whole_block);
        for (axis, (extent, index)) in extents.iter().zip(digits).enumerate() {
            let name = indices::part_name(&item.binding, axis);
            let e = indices::thread_expr(&index, item.span);
            values.push(indices::new_index_variable(
                el,
                &name,
                node.level,
                e,
                extent,
                Some(index),
            ));
        }
        indices::bind_indices(el, &item.binding, values, extents);
        lower_after_header(el, node, rest, body);
    };
    let ((), stmts) = scope::within(el, frame, |el| build::collect(el, level));
    indices::leave_level(el, saved);
    build::emit(
        el,
        StmtKind::Parallel {
            level: node.level,
            body: stmts,
        },
        item.span,
    );
    Some(())
}

/// The unit that `total` threads inside a unit of level `parent` are: a level of threads that fills
/// a warp or a warpgroup is that unit. In a block it fills one that has exactly as many threads.
fn filled_unit(parent: Level, total: &Sym) -> Unit {
    let threads = total.as_int().and_then(|n| u32::try_from(n).ok());
    match (parent, threads) {
        (Level::Warp | Level::Warpgroup, _) => Unit::of(parent),
        (_, Some(WARP_THREADS)) => Unit::of(Level::Warp),
        (_, Some(WARPGROUP_THREADS)) => Unit::of(Level::Warpgroup),
        _ => Unit::of_threads(threads),
    }
}

/// The number of threads of the inner of two merged thread levels.
fn merged_inner_threads(
    el: &mut Elab<'_>,
    rest: &[ParallelItem],
    body: &ast::Block,
) -> Option<Sym> {
    let item = match rest.first() {
        Some(item) => item,
        None => first_inner(&body.stmts)?.items.first()?,
    };
    let names_missed = el.cx.names_missed;
    let (extents, reports) = el.ask_ahead(|el| extents::lower_all(el, item));
    match extents {
        Some(e) => Some(e.iter().product::<Sym>()),
        // The inner level is not lowered later, so its errors are reported here.
        None if el.cx.names_missed == names_missed => {
            reports
                .into_sorted()
                .into_iter()
                .for_each(|d| el.cx.report(d));
            None
        }
        None => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0509,
                    item.span,
                    "the number of threads of this inner level is not known at the outer one",
                )
                .label("must be known outside")
                .help("use names that are visible before the outer `parallel`"),
            );
            None
        }
    }
}

fn check_unit_total(
    el: &mut Elab<'_>,
    total: &Sym,
    unit: i64,
    parent: Level,
    at: Span,
) -> Option<()> {
    let name = level_name(parent);
    match el.f.cx.eq(total, &Sym::int(unit)) {
        Truth::Yes => Some(()),
        Truth::No => {
            let shown = el.f.cx.show(total);
            el.cx.report(
                Diagnostic::new(
                    codes::E0515,
                    at,
                    format!("a `{name}` has exactly {unit} threads, this asks for {shown}"),
                )
                .label(format!("{shown} threads"))
                .help(format!(
                    "make the product of the extents {unit}, or remove the `{name}` level"
                )),
            );
            None
        }
        Truth::Unknown => {
            let message = format!("a `{name}` has {{1}} threads, this asks for {{0}}");
            run_time::emit_compare(
                el,
                run_time::Check::new(CheckCode::R05, message, at),
                BinOp::Eq,
                total,
                &Sym::int(unit),
            );
            Some(())
        }
    }
}

/// Sets the block's number of threads, or compares it with that of a sibling.
fn fix_block_total(el: &mut Elab<'_>, total: &Sym, at: Span) -> Option<()> {
    let shown = el.f.cx.show(total);
    let known = el
        .kernel
        .as_ref()
        .and_then(|k| k.threads.count.clone().map(|t| (t, k.threads.declared)));
    if let Some((threads, first)) = known {
        match el.f.cx.eq(&threads, total) {
            Truth::Yes => {}
            Truth::No => {
                let other = el.f.cx.show(&threads);
                el.cx.report(
                    Diagnostic::new(
                        codes::E0518,
                        at,
                        format!("this needs {shown} threads per block, an earlier one {other}"),
                    )
                    .label(format!("{shown} threads"))
                    .also(first, format!("{other} threads"))
                    .help(
                        "inner `parallel`s of one block share its threads: make the totals equal",
                    ),
                );
                return None;
            }
            Truth::Unknown => {
                let message = "inner `parallel`s of one block need {0} and {1} threads".to_owned();
                run_time::emit_compare(
                    el,
                    run_time::Check::new(CheckCode::R05, message, at),
                    BinOp::Eq,
                    total,
                    &threads,
                );
            }
        }
        return Some(());
    }
    match el.f.cx.le(total, &Sym::int(1024)) {
        Truth::Yes => {}
        Truth::No => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0516,
                    at,
                    format!("{shown} threads in one block: at most 1024 fit"),
                )
                .label(format!("{shown} threads"))
                .help("spread the work over more blocks: `parallel … : block` outside"),
            );
            return None;
        }
        Truth::Unknown => run_time::emit_compare(
            el,
            run_time::Check::new(
                CheckCode::R05,
                "{0} threads in one block, at most {1} fit".into(),
                at,
            ),
            BinOp::Le,
            total,
            &Sym::int(1024),
        ),
    }
    if let Some(k) = el.kernel.as_mut() {
        k.threads.count = Some(total.clone());
        k.threads.declared = at;
    }
    Some(())
}

/// Lowers a single level of threads with any number of instances.
pub(crate) fn lower_split(
    el: &mut Elab<'_>,
    p: &ParallelStmt,
    item: &ParallelItem,
    extents: &[Sym],
) -> Option<[Sym; 3]> {
    let total = extents.iter().product::<Sym>();
    let small = total.as_int().is_some_and(|n| n <= 1024);
    let threads = if small {
        total.clone()
    } else {
        Sym::int(SPLIT_THREADS)
    };
    let blocks = if small {
        Sym::one()
    } else {
        el.f.cx.cdiv(&total, &threads)
    };
    extents::check_grid_limit(el, 0, &blocks, item.span);
    if let Some(k) = el.kernel.as_mut() {
        k.threads.count = Some(threads.clone());
    }
    let unit = filled_unit(Level::Block, &threads);
    let saved = indices::enter_level(el, Level::Thread, unit);
    el.nests.push(Vec::new());
    let grid = |el: &mut Elab<'_>| {
        if small {
            split_indices(el, item, extents, None);
            el.block(&p.body);
            return;
        }
        let block = indices::block_index(0, item.span);
        let bvar = indices::new_index_variable(el, "block", Level::Block, block, &blocks, None);
        let t = Expr::intrinsic(Intrinsic::Thread, item.span);
        let index = ThreadIndex {
            divisor: Sym::one(),
            modulus: None,
        };
        let tvar =
            indices::new_index_variable(el, "thread", Level::Thread, t, &threads, Some(index));
        let linear = &(&bvar * &threads) + &tvar;
        let guard = crate::sema::checks::run_time::compare(BinOp::Lt, &linear, &total, item.span);
        let skip = path_facts::decided(&el.f, &guard) == Some(true);
        el.f.cx.push_scope();
        if !skip {
            el.f.cx.assume_lt(&linear, &total);
        }
        let ((), inner) = build::collect(el, |el| {
            split_indices(el, item, extents, Some(linear.clone()));
            el.block(&p.body);
        });
        el.f.cx.pop_scope();
        if skip {
            if let Some(sink) = el.build.sinks.last_mut() {
                sink.extend(inner);
            }
        } else {
            build::emit(
                el,
                StmtKind::If {
                    cond: guard,
                    then: inner,
                    otherwise: Vec::new(),
                },
                item.span,
            );
        }
    };
    let ((), stmts) = scope::reported(el, |el| build::collect(el, grid));
    el.nests.pop();
    indices::leave_level(el, saved);
    build::emit(
        el,
        StmtKind::Parallel {
            level: Level::Thread,
            body: stmts,
        },
        item.span,
    );
    Some([blocks, Sym::one(), Sym::one()])
}

/// The indices of a split level, from the linear instance number.
fn split_indices(el: &mut Elab<'_>, item: &ParallelItem, extents: &[Sym], linear: Option<Sym>) {
    let mut values = Vec::new();
    let digits = indices::digits(&el.cx, extents, Sym::one(), true);
    for (axis, (extent, index)) in extents.iter().zip(digits).enumerate() {
        let name = indices::part_name(&item.binding, axis);
        let (e, home) = match &linear {
            None => (indices::thread_expr(&index, item.span), Some(index)),
            Some(l) => (indices::split_expr(l, &index, item.span), None),
        };
        values.push(indices::new_index_variable(
            el,
            &name,
            Level::Thread,
            e,
            extent,
            home,
        ));
    }
    indices::bind_indices(el, &item.binding, values, extents);
}

/// Lowers the remaining items of a header, or the body.
pub(crate) fn lower_after_header(
    el: &mut Elab<'_>,
    node: &Node,
    rest: &[ParallelItem],
    body: &ast::Block,
) {
    match (rest.split_first(), node.children.first()) {
        (Some((item, rest)), Some(child)) => {
            if let Some(extents) = extents::lower_all(el, item) {
                lower_level(el, item, &extents, child, rest, body);
            }
        }
        _ => {
            el.nests.push(nest::node_cursor(node));
            el.block(body);
            el.nests.pop();
        }
    }
}
