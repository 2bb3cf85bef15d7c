//! `parallel`: launches, index variables, thread counts.

use std::collections::BTreeMap;

use super::levels::{Node, level_name};
use super::scope::{Entity, IntKind};
use super::value::{IntValue, Value};
use super::{Checker, KernelState, ThreadIndex};
use crate::diagnostics::Diagnostic;
use crate::ir::{self, BinOp, Expr, ExprKind, Hardware, Level, Role, Scalar, Stmt, StmtKind};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Binding, ParallelBound, ParallelItem, ParallelStmt};

/// Threads per block when a single level is split into blocks and threads.
const SPLIT_THREADS: i64 = 256;

impl Checker<'_> {
    pub(super) fn parallel(&mut self, p: &ParallelStmt, span: Span) {
        if self.kernel.is_some() {
            self.inner(p);
            return;
        }
        let attrs = self.attributes(p);
        let Some(tree) = self.levels(p) else {
            return self.poisoned_body(p);
        };
        self.launch(p, &tree, attrs, span);
    }

    /// Walks a body whose header is in error, so that independent mistakes in it still show.
    fn poisoned_body(&mut self, p: &ParallelStmt) {
        self.scopes.push();
        for item in &p.items {
            for name in binding_names(&item.binding) {
                self.declare(name, Entity::Poison);
            }
        }
        self.poison_returns = true;
        self.scopes.pop();
    }

    fn attributes(&mut self, p: &ParallelStmt) -> ir::LaunchAttrs {
        let mut attrs = ir::LaunchAttrs {
            is_async: p.is_async.is_some(),
            ..Default::default()
        };
        if let Some(name) = &p.stream {
            attrs.stream = self.bound_stream(name);
        }
        for attr in &p.attrs {
            match attr.name.text.as_str() {
                "launch_bounds" => {
                    let numbers: Vec<Option<u32>> = attr
                        .args
                        .iter()
                        .map(|e| match &*e.kind {
                            ast::ExprKind::Wildcard => Some(0),
                            _ => self.const_int(e).and_then(|n| u32::try_from(n).ok()),
                        })
                        .collect();
                    let rest_positive = numbers.iter().skip(1).all(|n| n.is_some_and(|n| n > 0));
                    if numbers.is_empty()
                        || numbers.len() > 3
                        || numbers.iter().any(Option::is_none)
                        || !rest_positive
                    {
                        self.report(
                            Diagnostic::new("E0530", attr.span, "`launch_bounds` takes one to three constants: threads, blocks, cluster")
                                .label("not valid launch bounds")
                                .help("`launch_bounds(0, 2)` computes the threads and asks for 2 blocks"),
                        );
                        continue;
                    }
                    let at = |i: usize| numbers.get(i).copied().flatten().filter(|n| *n > 0);
                    attrs.launch_bounds = Some([at(0), at(1), at(2)]);
                }
                "maxnreg" => {
                    let n = attr
                        .args
                        .first()
                        .and_then(|e| self.const_int(e))
                        .and_then(|n| u32::try_from(n).ok());
                    match n.filter(|n| *n > 0 && attr.args.len() == 1) {
                        Some(n) => attrs.maxnreg = Some(n),
                        None => self.report(
                            Diagnostic::new(
                                "E0531",
                                attr.span,
                                "`maxnreg` takes one positive constant",
                            )
                            .label("not a register count")
                            .help("write `[[maxnreg(128)]]`"),
                        ),
                    }
                }
                _ => {}
            }
        }
        attrs
    }

    /// `parallel … stream s`
    fn bound_stream(&mut self, name: &ast::Name) -> Option<ir::ParamId> {
        match self.lookup(&name.text, name.span)? {
            Entity::Stream(param) => Some(param),
            Entity::Poison => None,
            other => {
                let kind = other.kind();
                self.report(
                    Diagnostic::new(
                        "E0534",
                        name.span,
                        format!(
                            "a kernel is launched on a stream, `{}` is {kind}",
                            name.text
                        ),
                    )
                    .label("not a stream")
                    .help(format!(
                        "streams are parameters: `__co__ void {}(stream s, …)`",
                        self.f.name
                    )),
                );
                None
            }
        }
    }

    fn launch(&mut self, p: &ParallelStmt, tree: &Node, attrs: ir::LaunchAttrs, span: Span) {
        self.scopes.push();
        self.f.cx.push_scope();
        let first_local = self.f.locals.len();
        self.kernel = Some(KernelState {
            threads: None,
            threads_at: p.header,
            level: Level::Block,
            cluster: [1; 3],
            places: [None; 3],
            grid: None,
            blocks: [None; 3],
            tid: None,
            tid_local: None,
            first_local,
            first_inner_local: usize::MAX,
            homes: BTreeMap::new(),
            regions: 0,
            sets: Vec::new(),
            regions_at: Vec::new(),
            divergent: 0,
            header: p.header,
            yielded: None,
        });
        let outer_loops = std::mem::take(&mut self.loops);
        let outer_conditions = std::mem::take(&mut self.conditional);
        let uncertain = self.uncertain;
        let (grid, mut body) = self.collect(|s| s.outermost(p, tree));
        self.uncertain = uncertain;
        self.loops = outer_loops;
        self.conditional = outer_conditions;
        self.f.cx.pop_scope();
        let ended = self.scopes.pop();
        self.report_unused(ended);
        let Some(k) = self.kernel.take() else { return };
        let Some(grid) = grid else {
            self.poison_returns = true;
            return;
        };
        if let Some(local) = k.tid_local {
            let value = Expr::new(ExprKind::Hardware(Hardware::Thread), Scalar::Index, span);
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
        let threads = k.threads.unwrap_or_else(Sym::one);
        let bounds = p.attrs.iter().find(|a| a.name.text == "launch_bounds");
        if let Some(at) = bounds.map(|a| a.span) {
            self.bounds_attr(&attrs, &threads, at, p.header);
        }
        let id = ir::KernelId(u32::try_from(self.f.kernels.len()).unwrap_or(u32::MAX));
        self.f.kernels.push(ir::Kernel {
            name: format!("{}_{}", self.f.name, id.0),
            span: p.header,
            grid,
            cluster: k.cluster,
            threads,
            attrs,
            body,
            fastest: Vec::new(),
            shared: Vec::new(),
            shared_bytes: Sym::zero(),
            waits: false,
            ordered: false,
            asynchronous: false,
            warpgroups: false,
            one_thread: p
                .items
                .first()
                .map(|item| item.span)
                .filter(|_| tree.single && tree.level == Level::Block),
            maps: Vec::new(),
        });
        self.emit(StmtKind::Launch(id), p.header);
    }

    fn bounds_attr(&mut self, attrs: &ir::LaunchAttrs, threads: &Sym, at: Span, header: Span) {
        let declared = attrs.launch_bounds.and_then(|b| b[0]);
        if let (Some(t), Some(n)) = (declared, threads.as_int())
            && i64::from(t) < n
        {
            self.report(
                Diagnostic::new(
                    "E0530",
                    at,
                    format!("`launch_bounds` promises {t} threads, the block has {n}"),
                )
                .label(format!("only {t} threads"))
                .also(header, format!("{n} threads"))
                .help(format!(
                    "write `launch_bounds({n})`, or `_` to have it computed"
                )),
            );
        }
    }

    /// The first item of the outermost `parallel`; returns the grid.
    fn outermost(&mut self, p: &ParallelStmt, tree: &Node) -> Option<[Sym; 3]> {
        let (item, rest) = p.items.split_first()?;
        let extents = self.bounds(item)?;
        if tree.single && tree.level == Level::Thread {
            return self.split(p, item, &extents);
        }
        match tree.level {
            Level::Cluster => return self.cluster(p, item, &extents, tree),
            Level::Block => {}
            // Block level is filled in with one block.
            _ => {
                self.level_body(item, &extents, tree, rest, &p.body)?;
                return Some([Sym::one(), Sym::one(), Sym::one()]);
            }
        }
        self.blocks(item, &extents, tree, rest, &p.body)
    }

    /// The blocks of a kernel; returns the grid.
    pub(super) fn blocks(
        &mut self,
        item: &ParallelItem,
        extents: &[Sym],
        tree: &Node,
        rest: &[ParallelItem],
        body: &ast::Block,
    ) -> Option<[Sym; 3]> {
        if tree.children.is_empty() && tree.explicit && !super::levels::uses_shared(&body.stmts) {
            self.report(
                Diagnostic::new(
                    "W0523",
                    item.span,
                    "a block with no inner `parallel` runs one thread",
                )
                .label("one thread per block")
                .help("add an inner `parallel … : thread`, or write `: thread` here"),
            );
        }
        let mut grid = [Sym::one(), Sym::one(), Sym::one()];
        let mut values = Vec::new();
        for (axis, extent) in extents.iter().enumerate() {
            self.grid_limit(axis, extent, item.span);
            if let Some(g) = grid.get_mut(axis) {
                *g = extent.clone();
            }
            let name = part_name(&item.binding, axis);
            let e = block_index(axis, item.span);
            let value = self.index_variable(&name, Level::Block, e, extent, None, item.span);
            if let Some(slot) = self.kernel.as_mut().and_then(|k| k.blocks.get_mut(axis)) {
                *slot = value.as_var();
            }
            values.push(value);
        }
        self.whole_clusters(&grid, item.span)?;
        self.first_of_clusters();
        self.bind_indices(&item.binding, values, extents);
        self.after_header(tree, rest, body);
        Some(grid)
    }

    fn grid_limit(&mut self, axis: usize, extent: &Sym, at: Span) {
        let limit = if axis == 0 {
            i64::from(i32::MAX)
        } else {
            65535
        };
        let name = ["x", "y", "z"].get(axis).copied().unwrap_or("z");
        match self.f.cx.le(extent, &Sym::int(limit)) {
            Truth::Yes => {}
            Truth::No => {
                let shown = self.show(extent);
                self.report(
                    Diagnostic::new(
                        "E0522",
                        at,
                        format!("{shown} blocks along {name}: at most {limit} fit"),
                    )
                    .label(format!("sub-level {axis} is the grid's {name}"))
                    .help("put the largest count first"),
                );
            }
            Truth::Unknown => {
                let message = format!("{{0}} blocks along {name}, at most {{1}} fit");
                self.check_compare("R05", message, BinOp::Le, extent, &Sym::int(limit), at);
            }
        }
    }

    /// The rest of a header's items, or the body.
    fn after_header(&mut self, node: &Node, rest: &[ParallelItem], body: &ast::Block) {
        match (rest.split_first(), node.children.first()) {
            (Some((item, rest)), Some(child)) => {
                if let Some(extents) = self.bounds(item) {
                    self.level_body(item, &extents, child, rest, body);
                }
            }
            _ => {
                self.children.push(node_cursor(node));
                self.block(body);
                self.children.pop();
            }
        }
    }

    /// A `parallel` inside a kernel: the next child of the nest's tree.
    fn inner(&mut self, p: &ParallelStmt) {
        if self.kernel.as_ref().is_some_and(|k| k.regions > 0) {
            self.report(
                Diagnostic::new("E0563", p.header, "`parallel` inside `inthreads`")
                    .label("only part of the threads come here"),
            );
            return self.poisoned_body(p);
        }
        let next = self.children.last_mut().and_then(|c| c.pop());
        let Some(node) = next else {
            return self.poisoned_body(p);
        };
        if !p.attrs.is_empty() || p.is_async.is_some() || p.stream.is_some() {
            let at = p
                .attrs
                .first()
                .map(|a| a.span)
                .or(p.is_async)
                .unwrap_or(p.header);
            let code = if p.is_async.is_some() {
                "E0532"
            } else if p.stream.is_some() {
                "E0533"
            } else {
                "E0530"
            };
            self.report(
                Diagnostic::new(code, at, "this belongs on the outermost `parallel`")
                    .label("an inner level")
                    .help("move it to the `parallel` that starts the kernel"),
            );
        }
        if self.conditional > 0 && self.kernel.as_ref().is_some_and(|k| k.divergent > 0) {
            self.cooperative(p.header, "an inner `parallel`");
        }
        let Some((item, rest)) = p.items.split_first() else {
            return;
        };
        match self.bounds(item) {
            Some(extents) if node.level == Level::Block => {
                self.scopes.push();
                let grid = self.blocks(item, &extents, &node, rest, &p.body);
                let ended = self.scopes.pop();
                self.report_unused(ended);
                if let Some(k) = self.kernel.as_mut() {
                    k.grid = grid;
                }
            }
            Some(extents) => {
                self.apart_from_loops(|s| s.level_body(item, &extents, &node, rest, &p.body));
            }
            None => self.poisoned_body(p),
        }
    }

    /// A level below the block: binds its indices from the linear thread id, runs its body.
    fn level_body(
        &mut self,
        item: &ParallelItem,
        extents: &[Sym],
        node: &Node,
        rest: &[ParallelItem],
        body: &ast::Block,
    ) -> Option<()> {
        let parent = self.level()?;
        let product = extents.iter().fold(Sym::one(), |p, e| &p * e);
        let mut divisor = match node.level {
            Level::Group4 => Sym::int(128),
            Level::Group => Sym::int(32),
            _ => Sym::one(),
        };
        if node.merged {
            divisor = self.merged_inner(node, rest, body)?;
        }
        let total = &product * &divisor;
        let inside_unit = match parent {
            Level::Group4 => Some(128),
            Level::Group => Some(32),
            _ => None,
        };
        if let Some(unit) = inside_unit {
            self.unit_total(&total, unit, parent, item.span)?;
        } else if !self.merging {
            self.block_total(&total, item.span)?;
        }
        let whole_block = inside_unit.is_none() && !self.merging;
        let saved = self.enter(node.level);
        let merging = std::mem::replace(&mut self.merging, node.merged);
        self.scopes.push();
        let ((), stmts) = self.collect(|s| {
            let mut values = Vec::new();
            let digits = s.digits(extents, divisor, whole_block);
            for (axis, (extent, index)) in extents.iter().zip(digits).enumerate() {
                let name = part_name(&item.binding, axis);
                let e = thread_expr(&index, item.span);
                values.push(s.index_variable(&name, node.level, e, extent, Some(index), item.span));
            }
            s.bind_indices(&item.binding, values, extents);
            s.after_header(node, rest, body);
        });
        let ended = self.scopes.pop();
        self.report_unused(ended);
        self.merging = merging;
        self.leave(saved);
        self.emit(
            StmtKind::Parallel {
                level: node.level,
                body: stmts,
            },
            item.span,
        );
        Some(())
    }

    /// Threads of the inner of two merged thread levels.
    fn merged_inner(
        &mut self,
        node: &Node,
        rest: &[ParallelItem],
        body: &ast::Block,
    ) -> Option<Sym> {
        let item = match rest.first() {
            Some(item) => item,
            None => first_inner(&body.stmts)?.items.first()?,
        };
        let _ = node;
        let mark = self.diags.mark();
        let extents = self.bounds(item);
        self.diags.rollback(mark);
        match extents {
            Some(e) => Some(e.iter().fold(Sym::one(), |p, x| &p * x)),
            None => {
                self.report(
                    Diagnostic::new(
                        "E0509",
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

    fn unit_total(&mut self, total: &Sym, unit: i64, parent: Level, at: Span) -> Option<()> {
        let name = level_name(parent);
        match self.f.cx.eq(total, &Sym::int(unit)) {
            Truth::Yes => Some(()),
            Truth::No => {
                let shown = self.show(total);
                self.report(
                    Diagnostic::new(
                        "E0515",
                        at,
                        format!("a `{name}` has exactly {unit} threads, this asks for {shown}"),
                    )
                    .label(format!("{shown} threads"))
                    .help(format!(
                        "make the product {unit}, or drop the `{name}` level"
                    )),
                );
                None
            }
            Truth::Unknown => {
                let message = format!("a `{name}` has {{1}} threads, this asks for {{0}}");
                self.check_compare("R05", message, BinOp::Eq, total, &Sym::int(unit), at);
                Some(())
            }
        }
    }

    /// Fixes the block's thread count, or compares with what a sibling fixed.
    fn block_total(&mut self, total: &Sym, at: Span) -> Option<()> {
        let shown = self.show(total);
        let known = self
            .kernel
            .as_ref()
            .and_then(|k| k.threads.clone().map(|t| (t, k.threads_at)));
        if let Some((threads, first)) = known {
            match self.f.cx.eq(&threads, total) {
                Truth::Yes => {}
                Truth::No => {
                    let other = self.show(&threads);
                    self.report(
                        Diagnostic::new("E0518", at, format!("this needs {shown} threads per block, an earlier one {other}"))
                            .label(format!("{shown} threads"))
                            .also(first, format!("{other} threads"))
                            .help("inner `parallel`s of one block share its threads: make the totals equal"),
                    );
                    return None;
                }
                Truth::Unknown => {
                    let message =
                        "inner `parallel`s of one block need {0} and {1} threads".to_owned();
                    self.check_compare("R05", message, BinOp::Eq, total, &threads, at);
                }
            }
            return Some(());
        }
        match self.f.cx.le(total, &Sym::int(1024)) {
            Truth::Yes => {}
            Truth::No => {
                self.report(
                    Diagnostic::new(
                        "E0516",
                        at,
                        format!("{shown} threads in one block: at most 1024 fit"),
                    )
                    .label(format!("{shown} threads"))
                    .help("spread the work over more blocks: `parallel … : block` outside"),
                );
                return None;
            }
            Truth::Unknown => self.check_compare(
                "R05",
                "{0} threads in one block, at most {1} fit".into(),
                BinOp::Le,
                total,
                &Sym::int(1024),
                at,
            ),
        }
        if let Some(k) = self.kernel.as_mut() {
            k.threads = Some(total.clone());
            k.threads_at = at;
        }
        Some(())
    }

    pub(super) fn enter(&mut self, level: Level) -> (Level, usize) {
        let locals = self.f.locals.len();
        match self.kernel.as_mut() {
            Some(k) => {
                let saved = (k.level, k.first_inner_local);
                k.level = level;
                k.first_inner_local = k.first_inner_local.min(locals);
                saved
            }
            None => (level, usize::MAX),
        }
    }

    pub(super) fn leave(&mut self, saved: (Level, usize)) {
        if let Some(k) = self.kernel.as_mut() {
            k.level = saved.0;
            // Locals of the part just left are out of scope; later ones are uniform again.
            k.first_inner_local = saved.1;
        }
    }

    /// A single level of threads over any number of instances.
    fn split(
        &mut self,
        p: &ParallelStmt,
        item: &ParallelItem,
        extents: &[Sym],
    ) -> Option<[Sym; 3]> {
        let total = extents.iter().fold(Sym::one(), |p, e| &p * e);
        let small = total.as_int().is_some_and(|n| n <= 1024);
        let threads = if small {
            total.clone()
        } else {
            Sym::int(SPLIT_THREADS)
        };
        let blocks = if small {
            Sym::one()
        } else {
            self.f.cx.cdiv(&total, &threads)
        };
        self.grid_limit(0, &blocks, item.span);
        if let Some(k) = self.kernel.as_mut() {
            k.threads = Some(threads.clone());
        }
        let saved = self.enter(Level::Thread);
        self.children.push(Vec::new());
        self.scopes.push();
        let (result, stmts) = self.collect(|s| {
            if small {
                s.split_indices(item, extents, None);
                s.block(&p.body);
                return;
            }
            let block = block_index(0, item.span);
            let bvar = s.index_variable("block", Level::Block, block, &blocks, None, item.span);
            let t = Expr::new(
                ExprKind::Hardware(Hardware::Thread),
                Scalar::Index,
                item.span,
            );
            let index = ThreadIndex {
                divisor: Sym::one(),
                modulus: None,
            };
            let tvar = s.index_variable("lane", Level::Thread, t, &threads, Some(index), item.span);
            let linear = &(&bvar * &threads) + &tvar;
            let guard = super::checks::compare(BinOp::Lt, &linear, &total, item.span);
            let skip = s.decided(&guard) == Some(true);
            s.f.cx.push_scope();
            if !skip {
                s.f.cx.assume_lt(&linear, &total);
            }
            let ((), inner) = s.collect(|s| {
                s.split_indices(item, extents, Some(linear.clone()));
                s.block(&p.body);
            });
            s.f.cx.pop_scope();
            if skip {
                if let Some(sink) = s.sinks.last_mut() {
                    sink.extend(inner);
                }
            } else {
                s.emit(
                    StmtKind::If {
                        cond: guard,
                        then: inner,
                        otherwise: Vec::new(),
                    },
                    item.span,
                );
            }
        });
        let () = result;
        let ended = self.scopes.pop();
        self.report_unused(ended);
        self.children.pop();
        self.leave(saved);
        self.emit(
            StmtKind::Parallel {
                level: Level::Thread,
                body: stmts,
            },
            item.span,
        );
        Some([blocks, Sym::one(), Sym::one()])
    }

    /// Indices of a split level, from the linear instance number.
    fn split_indices(&mut self, item: &ParallelItem, extents: &[Sym], linear: Option<Sym>) {
        let mut values = Vec::new();
        let digits = self.digits(extents, Sym::one(), true);
        for (axis, (extent, index)) in extents.iter().zip(digits).enumerate() {
            let name = part_name(&item.binding, axis);
            let (e, home) = match &linear {
                None => (thread_expr(&index, item.span), Some(index)),
                Some(l) => (split_expr(l, &index, item.span), None),
            };
            values.push(self.index_variable(&name, Level::Thread, e, extent, home, item.span));
        }
        self.bind_indices(&item.binding, values, extents);
    }

    /// How the indices of a level follow from the thread's number, in units of `unit` threads. `open`:
    /// there are no more threads, so that the slowest is the quotient alone.
    fn digits(&self, extents: &[Sym], unit: Sym, open: bool) -> Vec<ThreadIndex> {
        let mut step = unit;
        let slowest = extents.len().saturating_sub(1);
        let mut digit = |(at, extent): (usize, &Sym)| {
            let modulus = (!open || at != slowest).then(|| extent.clone());
            let divisor = step.clone();
            step = &step * extent;
            ThreadIndex { divisor, modulus }
        };
        if self.options.last_is_fastest {
            let mut digits: Vec<ThreadIndex> =
                extents.iter().rev().enumerate().map(&mut digit).collect();
            digits.reverse();
            return digits;
        }
        extents.iter().enumerate().map(&mut digit).collect()
    }

    /// Declares an index variable's local, and returns it as a symbolic integer.
    pub(super) fn index_variable(
        &mut self,
        name: &str,
        level: Level,
        value: Expr,
        extent: &Sym,
        home: Option<ThreadIndex>,
        at: Span,
    ) -> Sym {
        let local = self.new_local(name, Scalar::Index, false, Role::Parallel(level), at);
        let var = self.local_var(local, Some(Sym::zero()), Some(extent - 1));
        if let (Some(home), Some(k)) = (home, self.kernel.as_mut()) {
            k.homes.insert(var, home);
        }
        self.emit(
            StmtKind::Let {
                local,
                value: Some(value),
            },
            at,
        );
        Sym::var(var)
    }

    pub(super) fn bind_indices(&mut self, binding: &Binding, values: Vec<Sym>, extents: &[Sym]) {
        let ints: Vec<IntValue> = values
            .into_iter()
            .zip(extents)
            .map(|(v, e)| IntValue::bounded(v, e.clone()))
            .collect();
        let kind = IntKind::Parallel;
        match binding {
            Binding::None => {}
            Binding::One(name) => {
                if let Some(value) = ints.into_iter().next() {
                    self.declare(name, Entity::Int { value, kind });
                }
            }
            Binding::Tuple { whole, parts } => {
                for (name, value) in parts.iter().zip(&ints) {
                    self.declare(
                        name,
                        Entity::Int {
                            value: value.clone(),
                            kind,
                        },
                    );
                }
                if let Some(name) = whole {
                    self.declare(name, Entity::Tuple { values: ints, kind });
                }
            }
        }
    }

    /// The extents of one item; checked against its names.
    pub(super) fn bounds(&mut self, item: &ParallelItem) -> Option<Vec<Sym>> {
        let names = binding_names(&item.binding);
        for (i, name) in names.iter().enumerate() {
            if names.iter().take(i).any(|n| n.text == name.text) {
                self.report(
                    Diagnostic::new(
                        "E0501",
                        name.span,
                        format!("`{}` is bound twice in one header", name.text),
                    )
                    .label("again"),
                );
                return None;
            }
        }
        let (exprs, list_at): (Vec<&ast::Expr>, Option<Span>) = match &item.bound {
            ParallelBound::Single(e) => (vec![e], None),
            ParallelBound::List(list, at) => (list.iter().collect(), Some(*at)),
        };
        let mut extents = Vec::new();
        for e in exprs {
            self.bound(e, list_at.is_some(), &mut extents)?;
        }
        let parts = match &item.binding {
            Binding::Tuple { parts, .. } => parts.len(),
            Binding::One(_) | Binding::None => 1,
        };
        let at = list_at.unwrap_or(item.span);
        if extents.len() != parts {
            let single = !matches!(item.binding, Binding::Tuple { .. });
            let d = if single && extents.len() > 1 {
                let braces: Vec<&str> = ["a", "b", "c"]
                    .into_iter()
                    .take(extents.len().min(3))
                    .collect();
                Diagnostic::new(
                    "E0502",
                    at,
                    format!("one name for {} bounds", extents.len()),
                )
                .label("several bounds")
                .help(format!("write `parallel {{{}}} by […]`", braces.join(", ")))
            } else if parts > extents.len() {
                Diagnostic::new(
                    "E0505",
                    at,
                    format!(
                        "{parts} names, but {} bound{}",
                        extents.len(),
                        if extents.len() == 1 { "" } else { "s" }
                    ),
                )
                .label("a bound is missing")
            } else {
                Diagnostic::new(
                    "E0506",
                    at,
                    format!("{parts} names for {} bounds", extents.len()),
                )
                .label("a name is missing")
            };
            self.report(d);
            return None;
        }
        if parts > 3 {
            self.report(
                Diagnostic::new(
                    "E0504",
                    item.span,
                    format!("{parts} sub-levels: at most three fit one level"),
                )
                .label("too many")
                .help("fold two of them into one, or loop with `foreach`"),
            );
            return None;
        }
        Some(extents)
    }

    fn bound(&mut self, e: &ast::Expr, in_list: bool, out: &mut Vec<Sym>) -> Option<()> {
        let values = match self.expr(e) {
            Value::Int(i) => vec![i.value],
            Value::Shape(s) if in_list => s,
            Value::Tuple(t) if in_list || t.len() == 1 => t.into_iter().map(|i| i.value).collect(),
            Value::Error => return None,
            Value::Scalar(s) if s.ty.is_integer() => {
                self.not_host(e);
                return None;
            }
            other => {
                let kind = other.kind();
                self.report(
                    Diagnostic::new(
                        "E0503",
                        e.span,
                        format!("a bound is an integer or a bracket list, this is {kind}"),
                    )
                    .label("not a bound")
                    .help("write `by [a, b]`"),
                );
                return None;
            }
        };
        for v in values {
            if v.vars().iter().any(|x| !self.host_known(*x)) {
                self.not_host(e);
                return None;
            }
            match self.f.cx.le(&Sym::one(), &v) {
                Truth::Yes => {}
                Truth::No => {
                    let shown = self.show(&v);
                    self.report(
                        Diagnostic::new(
                            "E0507",
                            e.span,
                            format!("a `parallel` needs a positive bound, this is {shown}"),
                        )
                        .label(shown),
                    );
                    return None;
                }
                Truth::Unknown => {
                    let shown = self.show(&v);
                    self.check_compare(
                        "R05",
                        format!("the bound `{shown}` must be at least {{0}}, it is {{1}}"),
                        BinOp::Le,
                        &Sym::one(),
                        &v,
                        e.span,
                    );
                }
            }
            out.push(v);
        }
        Some(())
    }

    fn not_host(&mut self, e: &ast::Expr) {
        self.report(
            Diagnostic::new("E0508", e.span, "a `parallel` bound must be known on the host")
                .label("known only inside the kernel, or mutable")
                .help("launch dimensions come from constants, dimensions and parameters; loop with `foreach` over run-time counts"),
        );
    }
}

fn binding_names(binding: &Binding) -> Vec<&ast::Name> {
    match binding {
        Binding::None => Vec::new(),
        Binding::One(n) => vec![n],
        Binding::Tuple { whole, parts } => whole.iter().chain(parts).collect(),
    }
}

pub(super) fn part_name(binding: &Binding, axis: usize) -> String {
    match binding {
        Binding::None => "instance".into(),
        Binding::One(n) => n.text.clone(),
        Binding::Tuple { parts, .. } => parts
            .get(axis)
            .map_or_else(|| "index".into(), |n| n.text.clone()),
    }
}

pub(super) fn block_index(axis: usize, at: Span) -> Expr {
    let axis = u8::try_from(axis).unwrap_or(0);
    Expr::new(ExprKind::Hardware(Hardware::Block(axis)), Scalar::Index, at)
}

pub(super) fn index_op(op: BinOp, a: Expr, b: Sym, at: Span) -> Expr {
    Expr::new(
        ExprKind::Binary(op, a, Expr::index(b, at)),
        Scalar::Index,
        at,
    )
}

fn divided(mut e: Expr, index: &ThreadIndex, at: Span) -> Expr {
    if !index.divisor.is_one() {
        e = index_op(BinOp::Div, e, index.divisor.clone(), at);
    }
    if let Some(m) = &index.modulus {
        e = index_op(BinOp::Rem, e, m.clone(), at);
    }
    e
}

fn thread_expr(index: &ThreadIndex, at: Span) -> Expr {
    divided(
        Expr::new(ExprKind::Hardware(Hardware::Thread), Scalar::Index, at),
        index,
        at,
    )
}

fn split_expr(linear: &Sym, index: &ThreadIndex, at: Span) -> Expr {
    divided(Expr::index(linear.clone(), at), index, at)
}

/// The children of a node, last first, to be taken in source order.
pub(super) fn node_cursor(node: &Node) -> Vec<Node> {
    node.children.iter().rev().cloned().collect()
}

fn first_inner(stmts: &[ast::Stmt]) -> Option<&ParallelStmt> {
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
