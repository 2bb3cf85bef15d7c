//! The accesses that statements make.

use super::access::{Entry, Executor, MemAccess, Region, Release};
use super::place::place;
use super::tma::is_multicast_without_event;
use super::vars::Vars;
use crate::ir::{
    Access, Arg, Arrival, BufferId, Call, Copy, CppName, Engine, Expr, ExprKind, FragmentLayout,
    Function, Level, MmaOp, PrintPart, Role, Stmt, StmtKind, ThreadSet, Tma, Transform, Valid,
    View, WARP_THREADS, WARPGROUP_THREADS,
};
use crate::passes::analysis::uses::identifiers;
use crate::symbolic::{Sym, Var};
use std::rc::Rc;

use crate::sorted::SortedSet;

/// The context of a statement.
#[derive(Clone, Debug)]
pub struct Context {
    pub chain: Rc<Vec<Entry>>,
    pub executor: Executor,
    pub set: Option<ThreadSet>,
    pub inner_region: Option<Region>,
}

impl Context {
    /// The context of a kernel's body: every thread executes it.
    pub fn of_kernel() -> Self {
        Self {
            chain: Rc::default(),
            executor: Executor::EachThread,
            set: None,
            inner_region: None,
        }
    }

    pub fn level(&self) -> Level {
        self.chain.last().map_or(Level::Block, |e| e.level)
    }
}

pub struct Collector<'a> {
    pub function: &'a mut Function,
    pub vars: Vars,
    /// Buffers that TMA reads or writes.
    by_tma: SortedSet<BufferId>,
    /// Sources and destinations of loads for all blocks of a cluster.
    clustered: SortedSet<BufferId>,
    instances: u32,
}

impl<'a> Collector<'a> {
    pub fn new(
        function: &'a mut Function,
        vars: Vars,
        by_tma: SortedSet<BufferId>,
        clustered: SortedSet<BufferId>,
    ) -> Self {
        Self {
            function,
            vars,
            by_tma,
            clustered,
            instances: 0,
        }
    }

    /// The context inside a `parallel`.
    pub fn enter(&mut self, context: &Context, level: Level, body: &[Stmt]) -> Context {
        self.instances += 1;
        let digits = body.iter().filter_map(|stmt| {
            let StmtKind::Let { local, .. } = &stmt.kind else {
                return None;
            };
            let local = self.function.locals.get(local.index())?;
            matches!(local.role, Role::Parallel(_)).then_some(self.vars.canonical(local.var?))
        });
        let digits: SortedSet<Var> = digits.collect();
        let mut inner = context.clone();
        Rc::make_mut(&mut inner.chain).push(Entry {
            instance: self.instances,
            level,
            digits,
        });
        inner
    }

    /// The context inside an `inthreads`. `at` distinguishes regions.
    pub fn region(
        context: &Context,
        set: Option<&ThreadSet>,
        is_async: bool,
        at: crate::source::Span,
    ) -> Context {
        Context {
            set: context
                .set
                .clone()
                .or_else(|| set.filter(|_| is_async).cloned()),
            inner_region: Some(Region {
                region: at.start,
                set: set.cloned(),
            }),
            ..context.clone()
        }
    }

    pub fn single_thread(context: &Context, level: Level) -> Context {
        Context {
            executor: Executor::One(level),
            ..context.clone()
        }
    }

    /// One thread of the unit issues the TMA copy.
    pub fn tma_copy(
        &mut self,
        copy: &Copy,
        tma: &Tma,
        context: &Context,
        out: &mut Vec<MemAccess>,
    ) {
        let context = match context.executor {
            _ if is_multicast_without_event(copy) => Self::single_thread(context, Level::Cluster),
            Executor::One(_) => context.clone(),
            _ => Self::single_thread(context, copy.level),
        };
        let first = out.len();
        self.view(&copy.source, false, context.clone(), out);
        self.view(&copy.dest, true, context.clone(), out);
        for access in out.iter_mut().skip(first) {
            access.by_tma = true;
            access.in_flight = !access.write && (copy.future.is_some() || tma.event.is_some());
            access.needs_proxy_fence = false;
        }
        // No thread may still wait for an earlier load that uses the same mbarrier.
        if let Some(arrival) = &tma.arrival {
            self.view(&slot(arrival), true, context, out);
        }
    }

    /// The completion of a load for which this thread has waited.
    pub fn arrived(
        &mut self,
        arrival: &Arrival,
        view: &View,
        level: Level,
        context: &Context,
        out: &mut Vec<MemAccess>,
    ) {
        // Other units than the one that has waited must wait for that one.
        if level != Level::Block {
            let first = out.len();
            self.view(view, true, in_unit(context, level), out);
            for access in out.iter_mut().skip(first) {
                access.by_tma = true;
                access.needs_proxy_fence = false;
                access.ordered_at = Some(level);
            }
        }
        self.view(&slot(arrival), false, context.clone(), out);
    }

    /// All accesses of the statements and their bodies.
    pub fn block(&mut self, stmts: &[Stmt], context: &Context, out: &mut Vec<MemAccess>) {
        for stmt in stmts {
            self.shallow(stmt, context, out);
            match &stmt.kind {
                StmtKind::For { body, .. } => self.block(body, context, out),
                StmtKind::While { prelude, body, .. } => {
                    self.block(prelude, context, out);
                    self.block(body, context, out);
                }
                StmtKind::If {
                    then, otherwise, ..
                } => {
                    self.block(then, context, out);
                    self.block(otherwise, context, out);
                }
                StmtKind::Parallel { level, body } => {
                    let inner = self.enter(context, *level, body);
                    self.block(body, &inner, out);
                }
                StmtKind::SingleThread { level, body, .. } => {
                    self.block(body, &Self::single_thread(context, *level), out)
                }
                StmtKind::Region {
                    set,
                    body,
                    is_async,
                    ..
                } => {
                    let inner = Self::region(context, set.as_ref(), *is_async, stmt.span);
                    self.block(body, &inner, out);
                }
                _ => {}
            }
        }
    }

    /// The accesses of the statement itself, without those of its body.
    pub fn shallow(&mut self, stmt: &Stmt, context: &Context, out: &mut Vec<MemAccess>) {
        match &stmt.kind {
            StmtKind::Let { value: Some(e), .. }
            | StmtKind::Assign { value: e, .. }
            | StmtKind::Eval(e) => {
                self.expr(e, context, out);
            }
            StmtKind::Store { access, op, value } => {
                self.expr(value, context, out);
                if op.is_some() {
                    self.access(access, false, context, out);
                }
                self.access(access, true, context, out);
            }
            StmtKind::Atomic(atomic) => {
                for operand in atomic.operands() {
                    self.expr(operand, context, out);
                }
                self.atomic(&atomic.access, context, out);
            }
            StmtKind::While { cond, .. }
            | StmtKind::If { cond, .. }
            | StmtKind::Region { pred: cond, .. } => {
                self.expr(cond, context, out);
            }
            StmtKind::Copy(copy) => self.copy(copy, context, out),
            // The completion of the copy counts as a write here; the copy determines the executor.
            StmtKind::Wait { futures, .. } => {
                for waited in futures {
                    self.view(&waited.view, true, in_unit(context, waited.level), out);
                }
            }
            // By the lanes of a warp or warpgroup, each of which may access any element.
            StmtKind::Mma(op) => {
                let first = out.len();
                let unit = self.unit(op);
                for (view, write) in op.views() {
                    self.view(view, write, in_unit(context, unit), out);
                }
                if let MmaOp::WarpgroupMma(_) = &**op {
                    out.iter_mut().skip(first).for_each(|t| t.by_tma = true);
                }
            }
            StmtKind::Fill { view, value, level } => {
                self.expr(value, context, out);
                self.view(view, true, in_unit(context, *level), out);
            }
            StmtKind::Check { cond, values, .. } => {
                self.expr(cond, context, out);
                values.iter().for_each(|e| self.expr(e, context, out));
            }
            StmtKind::Print { parts, .. } => {
                for part in parts {
                    if let PrintPart::Value(e) = part {
                        self.expr(e, context, out);
                    }
                }
            }
            StmtKind::Cpp { text, names, .. } => {
                let words = identifiers(text);
                for name in names {
                    let CppName::Buffer(id) = name else { continue };
                    if self
                        .function
                        .buffers
                        .get(id.index())
                        .is_some_and(|b| words.contains(b.name.as_str()))
                    {
                        self.opaque(*id, context, out);
                    }
                }
            }
            _ => {}
        }
    }

    /// The unit whose registers an operation uses.
    fn unit(&self, op: &MmaOp) -> Level {
        let layouts = op.parts().into_iter().filter_map(|part| {
            let fragment = self.function.fragments.get(&part.buffer)?;
            fragment.layout
        });
        let unit = |layout: FragmentLayout| match layout.threads() {
            threads if threads == i64::from(WARP_THREADS) => Level::Warp,
            threads if threads == i64::from(WARPGROUP_THREADS) => Level::Warpgroup,
            // The fragment is dealt out over the threads of the block.
            _ => Level::Block,
        };
        layouts.map(unit).min().unwrap_or(Level::Warp)
    }

    fn copy(&mut self, copy: &Copy, context: &Context, out: &mut Vec<MemAccess>) {
        if let Engine::Tma(tma) = &copy.engine {
            return self.tma_copy(copy, tma, context, out);
        }
        let context = in_unit(context, copy.level);
        if let Transform::Pad { value, .. } = &copy.transform {
            self.expr(value, &context, out);
        }
        self.view(&copy.source, false, context.clone(), out);
        self.view(&copy.dest, true, context, out);
    }

    pub fn expr(&mut self, e: &Expr, context: &Context, out: &mut Vec<MemAccess>) {
        match &*e.kind {
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expr(a, context, out),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, context, out);
                self.expr(b, context, out);
            }
            ExprKind::Select(a, b, c) => [a, b, c]
                .into_iter()
                .for_each(|e| self.expr(e, context, out)),
            ExprKind::Math(_, args) | ExprKind::Intrinsic(_, args) => {
                args.iter().for_each(|e| self.expr(e, context, out))
            }
            ExprKind::Load(access) => self.access(access, false, context, out),
            ExprKind::Call(Call { args, .. }) => {
                args.iter().for_each(|a| self.arg(a, context, out))
            }
            _ => {}
        }
    }

    fn arg(&mut self, arg: &Arg, context: &Context, out: &mut Vec<MemAccess>) {
        match arg {
            Arg::Value(e) => self.expr(e, context, out),
            Arg::Pointer(view) => self.opaque(view.buffer, context, out),
            Arg::Cast(_, inner) => self.arg(inner, context, out),
            Arg::Null => {}
        }
    }

    /// A buffer that is private to each thread needs no barrier.
    fn is_private(&self, id: BufferId) -> bool {
        self.function
            .buffers
            .get(id.index())
            .is_none_or(|b| b.storage.is_private())
    }

    fn access(
        &mut self,
        access: &Access,
        write: bool,
        context: &Context,
        out: &mut Vec<MemAccess>,
    ) {
        if self.is_private(access.view.buffer) {
            return;
        }
        self.add(&access.view, Some(&access.indices), write, context, out);
    }

    fn atomic(&mut self, access: &Access, context: &Context, out: &mut Vec<MemAccess>) {
        let mut accesses = Vec::new();
        self.access(access, true, context, &mut accesses);
        for mut access in accesses {
            access.atomic = true;
            if !out.contains(&access) {
                out.push(access);
            }
        }
    }

    pub(super) fn view(
        &mut self,
        view: &View,
        write: bool,
        context: Context,
        out: &mut Vec<MemAccess>,
    ) {
        if self.is_private(view.buffer) {
            return;
        }
        self.add(view, None, write, &context, out);
    }

    fn add(
        &mut self,
        view: &View,
        indices: Option<&[crate::symbolic::Sym]>,
        write: bool,
        context: &Context,
        out: &mut Vec<MemAccess>,
    ) {
        let Some(buffer) = self.function.buffers.get(view.buffer.index()) else {
            return;
        };
        let needs_proxy_fence = write && self.by_tma.contains(&view.buffer);
        let place = place(&mut self.function.cx, &mut self.vars, buffer, view, indices);
        let access = MemAccess {
            buffer: view.buffer,
            write,
            place: Some(Rc::new(place)),
            executor: context.executor,
            chain: context.chain.clone(),
            set: context.set.clone(),
            inner_region: context.inner_region.clone(),
            opaque: false,
            atomic: false,
            by_tma: false,
            in_flight: false,
            needs_proxy_fence,
            clustered: self.clustered.contains(&view.buffer),
            ordered_at: None,
            fenced: None,
            released: Release::None,
        };
        if !out.contains(&access) {
            out.push(access);
        }
    }

    fn opaque(&mut self, id: BufferId, context: &Context, out: &mut Vec<MemAccess>) {
        if self.is_private(id) {
            return;
        }
        for write in [false, true] {
            out.push(MemAccess {
                buffer: id,
                write,
                place: None,
                executor: context.executor,
                chain: context.chain.clone(),
                set: context.set.clone(),
                inner_region: context.inner_region.clone(),
                opaque: true,
                atomic: false,
                by_tma: false,
                in_flight: false,
                needs_proxy_fence: write && self.by_tma.contains(&id),
                clustered: self.clustered.contains(&id),
                ordered_at: None,
                fenced: None,
                released: Release::None,
            });
        }
    }
}

/// The context of a statement whose work the unit's threads share, unless each thread executes it
/// for itself.
pub(super) fn in_unit(context: &Context, level: Level) -> Context {
    let executor = match (context.executor, level) {
        // Only one thread executes it, so that thread does all of the work.
        (one @ Executor::One(_), _) => one,
        (_, Level::Thread) => Executor::EachThread,
        (_, level) => Executor::Unit(level),
    };
    Context {
        executor,
        ..context.clone()
    }
}

/// An mbarrier, as an element of its array.
fn slot(arrival: &Arrival) -> View {
    View {
        buffer: arrival.barriers,
        offset: arrival.slot.clone(),
        shape: vec![Sym::one()],
        strides: vec![Sym::one()],
        valid: vec![Valid::default()],
        frame: None,
        span: crate::source::Span::default(),
    }
}
