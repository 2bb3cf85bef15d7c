//! Statements.

use super::super::*;
use super::Verifier;

impl<'a, P: Phase> Verifier<'a, P> {
    pub(super) fn on_host(&mut self) {
        let host = self.kernel.is_none();
        self.require(host, || "a host statement is in a kernel".to_owned());
    }

    pub(super) fn in_kernel(&mut self) {
        let kernel = self.kernel.is_some();
        self.require(kernel, || "a kernel statement is on the host".to_owned());
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt<P>) {
        match &stmt.kind {
            StmtKind::Let { local, value } => {
                if let Some(value) = value {
                    self.expr(value);
                    if let Some(declared) = self.function.locals.get(local.index()) {
                        self.typed("a local's first value", value.ty, declared.ty);
                    }
                }
                self.declare(*local);
            }
            StmtKind::Assign { local, value } => {
                self.local(*local);
                self.expr(value);
                if let Some(declared) = self.function.locals.get(local.index()) {
                    self.typed("an assigned value", value.ty, declared.ty);
                }
            }
            StmtKind::Store {
                access,
                op: _,
                value,
            } => {
                self.expr(value);
                if let Some(elem) = self.access(access) {
                    self.typed("a stored value", value.ty, elem);
                }
            }
            StmtKind::Atomic(atomic) => {
                self.in_kernel();
                self.access(&atomic.access);
                atomic.operands().for_each(|e| self.expr(e));
                atomic.result.into_iter().for_each(|id| self.declare(id));
            }
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                [lo, hi, step].into_iter().for_each(|s| self.sym(s));
                let before = self.scope.len();
                self.declare(*local);
                self.loops += 1;
                self.open_block(body);
                self.loops -= 1;
                self.leave(before);
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => self.while_loop(prelude, cond, body),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.condition(cond);
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::Break | StmtKind::Continue => {
                let inside = self.loops > 0;
                self.require(inside, || "it is in no loop".to_owned());
            }
            StmtKind::Parallel { level, body } => self.parallel(*level, body),
            StmtKind::SingleThread { body, .. } => {
                self.in_kernel();
                self.block(body);
            }
            StmtKind::Region {
                pred,
                elected_from,
                body,
                ..
            } => {
                self.in_kernel();
                self.condition(pred);
                if let Some((asked, _)) = elected_from {
                    self.condition(asked);
                }
                self.block(body);
            }
            StmtKind::Mma(op) => {
                self.in_kernel();
                self.mma(op);
            }
            StmtKind::Tma(op) => {
                self.in_kernel();
                self.tma(op);
            }
            kind => self.leaf(kind),
        }
    }

    fn while_loop(&mut self, prelude: &'a [Stmt<P>], cond: &'a Expr, body: &'a [Stmt<P>]) {
        let before = self.scope.len();
        self.loops += 1;
        self.open_block(prelude);
        self.condition(cond);
        self.open_block(body);
        self.loops -= 1;
        self.leave(before);
    }

    fn parallel(&mut self, level: Level, body: &'a [Stmt<P>]) {
        self.in_kernel();
        let around = self.level;
        self.require(level >= around, || {
            format!("{level:?} is coarser than {around:?} around it")
        });
        self.level = level;
        self.block(body);
        self.level = around;
    }

    /// Statements of one line.
    pub(super) fn leaf(&mut self, kind: &'a StmtKind<P>) {
        match kind {
            StmtKind::Copy(copy) => {
                self.in_kernel();
                self.copy(P::only(copy));
            }
            StmtKind::Fill { view, value, .. } => {
                self.view(P::only(view));
                self.expr(value);
            }
            StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
                for waited in P::only(futures) {
                    self.future(waited.future);
                    self.view(&waited.view);
                }
            }
            StmtKind::Rotate { futures } => P::only(futures).iter().for_each(|f| self.future(*f)),
            StmtKind::UseFuture(future) => self.future(*P::only(future)),
            StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => {
                self.in_kernel();
                self.event_at(P::only(at));
            }
            StmtKind::Move(m) => {
                self.in_kernel();
                let from = self.access(&m.source);
                let to = self.access(&m.dest);
                if let (Some(from), Some(to)) = (from, to) {
                    self.typed("what is moved", from, to);
                }
                if let MoveMode::Async { inside: Some(e) } = &m.mode {
                    self.condition(e);
                }
            }
            StmtKind::Check {
                check,
                cond,
                values,
            } => {
                let exists = check.index() < self.function.checks.len();
                self.require(exists, || format!("check {} does not exist", check.0));
                self.condition(cond);
                values.iter().for_each(|e| self.expr(e));
            }
            StmtKind::Print { parts, .. } => {
                for part in parts {
                    if let PrintPart::Value(e) = part {
                        self.expr(e);
                    }
                }
            }
            StmtKind::Eval(e) => self.expr(e),
            StmtKind::Cpp { names, .. } => {
                for name in names {
                    match name {
                        CppName::Local(id) => self.local(*id),
                        CppName::Buffer(id) => self.buffer(*id),
                    }
                }
            }
            StmtKind::Alloc(id) => self.buffer(*id),
            StmtKind::Launch(id) => {
                self.on_host();
                let exists = id.index() < self.function.kernels.len();
                self.require(exists, || format!("kernel {} does not exist", id.0));
            }
            StmtKind::TriggerSignal(id) | StmtKind::AwaitSignal { signal: id, .. } => {
                let exists = id.index() < self.function.signals.len();
                self.require(exists, || format!("signal {} does not exist", id.0));
            }
            StmtKind::Synchronize => self.on_host(),
            StmtKind::Return(value) => {
                self.on_host();
                match value {
                    ReturnValue::Nothing => {}
                    ReturnValue::Scalar(e) => self.expr(e),
                    ReturnValue::Buffer(id) => self.buffer(*id),
                }
            }
            StmtKind::CommitCopies
            | StmtKind::WaitCopies { .. }
            | StmtKind::Barrier { .. }
            | StmtKind::Fence(_)
            | StmtKind::Registers(_)
            | StmtKind::Yield => self.in_kernel(),
            _ => {}
        }
    }

    pub(super) fn copy(&mut self, copy: &Copy) {
        self.view(&copy.source);
        self.view(&copy.dest);
        let rank = copy.source.rank();
        match &copy.transform {
            Transform::None => {}
            Transform::Transpose(perm) => {
                let mut axes = perm.clone();
                axes.sort_unstable();
                let whole = axes.iter().copied().eq(0..rank);
                self.require(whole, || format!("axes {perm:?} are no order of {rank}"));
            }
            Transform::Pad { low, value } => {
                self.require(low.len() == rank, || {
                    format!("{} paddings for {rank} axes", low.len())
                });
                self.expr(value);
            }
        }
        copy.future.into_iter().for_each(|f| self.future(f));
        if let Engine::Tma(tma) = &copy.engine {
            if let Some(arrival) = &tma.arrival {
                self.buffer(arrival.barriers);
                self.sym(&arrival.slot);
            }
            if let Some(at) = &tma.event {
                self.event_at(at);
            }
        }
    }

    pub(super) fn tma(&mut self, op: &TmaOp) {
        op.buffers().into_iter().for_each(|id| self.buffer(id));
        op.for_each_sym(&mut |s| self.sym(s));
        if let TmaOp::Wait { parity, .. } = op {
            self.expr(parity);
        }
        let maps = self
            .kernel
            .and_then(|id| self.function.kernels.get(id.index()));
        let maps = maps.map_or(0, |kernel| kernel.maps.len());
        if let Some(map) = op.map() {
            self.require(map < maps, || format!("tensor map {map} does not exist"));
        }
    }

    pub(super) fn mma(&mut self, op: &'a MmaOp<P>) {
        op.parts().into_iter().for_each(|part| self.part(part));
        op.views().into_iter().for_each(|(view, _)| self.view(view));
        for (access, _) in op.accesses() {
            self.access(access);
        }
        match op {
            MmaOp::FillElements { value, .. } => self.expr(value),
            MmaOp::Apply { indices, body, .. } => {
                let before = self.scope.len();
                indices.iter().for_each(|id| self.declare(*id));
                self.open_block(body);
                self.leave(before);
            }
            MmaOp::WarpgroupMma(mma) => self.condition(&P::only(mma).accumulate),
            MmaOp::Step(Step::Describe { local, leading, .. }) => {
                self.sym(leading);
                self.declare(*local);
            }
            MmaOp::Step(Step::Advance { local, by, bytes }) => {
                self.local(*by);
                self.sym(bytes);
                self.declare(*local);
            }
            MmaOp::Step(Step::Instruction(i)) => {
                i.described().for_each(|d| self.local(d.by));
                self.condition(&i.accumulate);
            }
            _ => {}
        }
    }
}
