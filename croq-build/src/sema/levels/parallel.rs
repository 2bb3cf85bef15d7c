//! `parallel`: launches, and the levels inside them.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, Expr, Intrinsic, Level, Stmt, StmtKind};
use crate::sema::asynchronous::{futures, settled};
use crate::sema::build;
use crate::sema::levels::extents::{self, binding_names};
use crate::sema::levels::{blocks, clusters, launch_attributes, nest, thread_mapping};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::kernel::{Grid, KernelState, Threads, Unit};
use crate::sema::state::nests::Node;
use crate::sema::state::path::Frame;
use crate::sema::state::scopes::Entity;
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, ParallelStmt};

pub(crate) fn lower(el: &mut Elab<'_>, p: &ParallelStmt, span: Span) {
    if el.kernel.is_some() {
        lower_inner(el, p);
        return;
    }
    let mut attrs = launch_attributes::lower_all(&mut el.cx, &p.attrs);
    attrs.is_async = p.is_async.is_some();
    attrs.stream = p.stream.as_ref().and_then(|name| lower_stream(el, name));
    let Some(tree) = nest::assign_levels(&mut el.cx, p) else {
        return lower_poisoned_body(el, p);
    };
    lower_launch(el, p, &tree, attrs, span);
}

/// Elaborates a body whose header is in error, so that independent mistakes in it are also
/// reported.
fn lower_poisoned_body(el: &mut Elab<'_>, p: &ParallelStmt) {
    el.scope(|el| {
        for item in &p.items {
            for name in binding_names(&item.binding) {
                if name.is_wildcard() {
                    continue;
                }
                scope::declare(el, name, Entity::Poison);
            }
        }
    });
    el.results.poisoned = true;
}

/// `parallel … stream s`
fn lower_stream(el: &mut Elab<'_>, name: &ast::Name) -> Option<ir::ParamId> {
    match scope::lookup(el, &name.text, name.span)? {
        Entity::Stream(param) => Some(param),
        Entity::Poison => None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0534,
                    name.span,
                    format!(
                        "a kernel is launched on a stream, `{}` is {kind}",
                        name.text
                    ),
                )
                .label("not a stream")
                .help(format!(
                    "streams are parameters: `__co__ void {}(stream s, …)`",
                    el.cx.file.declared_name_of(&el.f.name)
                )),
            );
            None
        }
    }
}

fn lower_launch(
    el: &mut Elab<'_>,
    p: &ParallelStmt,
    tree: &Node,
    mut attrs: ir::LaunchAttrs,
    span: Span,
) {
    attrs.cooperative = tree.cooperative;
    el.f.cx.push_scope();
    let first_local = el.f.locals.len();
    el.kernel = Some(KernelState {
        threads: Threads::new(p.header),
        grid: Grid::new(tree.cooperative.is_some()),
        level: Level::Block,
        unit: Unit::of(Level::Block),
        first_local,
        first_inner_local: usize::MAX,
        header: p.header,
        yielded: None,
        awaited: SortedMap::new(),
    });
    let mut placeholders = Vec::new();
    let (grid, mut body) = scope::within(el, Frame::Launch, |el| {
        placeholders = futures::declare_placeholders_of_the_host(el);
        build::collect(el, |el| {
            scope::reported(el, |el| lower_outermost(el, p, tree))
        })
    });
    settled::settle(el, &mut body);
    body.splice(0..0, futures::first_statements(el, &placeholders));
    el.f.cx.pop_scope();
    let Some(k) = el.kernel.take() else { return };
    let Some(grid) = grid else {
        el.results.poisoned = true;
        return;
    };
    if let Some(local) = k.threads.id_local {
        let value = Expr::intrinsic(Intrinsic::Thread, span);
        body.insert(
            0,
            Stmt::new(
                StmtKind::Let {
                    local,
                    value: Some(value),
                },
                p.header,
            ),
        );
    }
    let threads = k.threads.count.unwrap_or_else(Sym::one);
    launch_attributes::check_bounds(&mut el.cx, p, &attrs, &threads);
    let kernel = (el.choices.on_host, threads.as_int());
    el.build.kernel_threads.push(kernel);
    let id = ir::KernelId(u32::try_from(el.f.kernels.len()).unwrap_or(u32::MAX));
    let name = build::kernel_name(el);
    el.f.kernels.push(ir::Kernel {
        grid,
        cluster: k.grid.cluster,
        attrs,
        body,
        one_thread: p
            .items
            .first()
            .map(|item| item.span)
            .filter(|_| tree.single && tree.level == Level::Block),
        ..ir::Kernel::new(name, p.header, threads)
    });
    build::emit(el, StmtKind::Launch(id), p.header);
}

/// Lowers the first item of the outermost `parallel`; returns the grid.
fn lower_outermost(el: &mut Elab<'_>, p: &ParallelStmt, tree: &Node) -> Option<[Sym; 3]> {
    let (item, rest) = p.items.split_first()?;
    let extents = extents::lower_all(el, item)?;
    if tree.single && tree.level == Level::Thread {
        return thread_mapping::lower_split(el, p, item, &extents);
    }
    match tree.level {
        Level::Cluster => return clusters::lower(el, p, item, &extents, tree),
        Level::Block => {}
        // The block level is implicit, with one block.
        _ => {
            thread_mapping::lower_level(el, item, &extents, tree, rest, &p.body)?;
            return Some([Sym::one(), Sym::one(), Sym::one()]);
        }
    }
    blocks::lower_blocks(el, item, &extents, tree, rest, &p.body)
}

/// Lowers a `parallel` inside a kernel: the next child of the nest's tree.
fn lower_inner(el: &mut Elab<'_>, p: &ParallelStmt) {
    if el.path.in_region() {
        el.cx.report(
            Diagnostic::new(codes::E0563, p.header, "`parallel` inside `inthreads`")
                .label("only some of the threads reach this"),
        );
        return lower_poisoned_body(el, p);
    }
    let next = el.nests.last_mut().and_then(|c| c.pop());
    let Some(node) = next else {
        if el.fragments.applied.is_some() {
            el.cx.report(
                Diagnostic::new(codes::E0512, p.header, "`parallel` inside `apply`")
                    .label("one thread executes this for each of its elements")
                    .help("move it out of the `apply`; loops are `foreach`"),
            );
        }
        return lower_poisoned_body(el, p);
    };
    launch_attributes::report_of_no_launch(&mut el.cx, p, "an inner level");
    let Some((item, rest)) = p.items.split_first() else {
        return;
    };
    match extents::lower_all(el, item) {
        Some(extents) if node.level == Level::Block => {
            let grid = scope::reported(el, |el| {
                blocks::lower_blocks(el, item, &extents, &node, rest, &p.body)
            });
            if let Some(k) = el.kernel.as_mut() {
                k.grid.extents = grid;
            }
        }
        Some(extents) => {
            thread_mapping::lower_level(el, item, &extents, &node, rest, &p.body);
        }
        None => lower_poisoned_body(el, p),
    }
}
