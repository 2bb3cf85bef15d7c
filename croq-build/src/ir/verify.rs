//! The verifier: what every function must satisfy between any two passes. A violation is an error of the
//! compiler, never of the program; the driver reports it as such (E1199).
//!
//! * Ids are in range, and statements of the host and of kernels stand where they belong.
//! * A local is declared before it is used, in a block around the use. Symbolic variables have a home, and one
//!   that lives in a local is subject to the same rule.
//! * A view has as many strides and bounds as axes; an access as many indices as its view has axes.
//! * Conditions are `bool`; both sides of an assignment, a store or an operator have one type.
//! * Levels do not get coarser inside each other; `break` and `continue` stand in a loop.
//! * A copy's future, an event or a fragment belongs to the function, and an event to the kernel that uses it.

use super::*;

/// The first violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kernel; `None` on the host.
    pub kernel: Option<String>,
    pub what: String,
    /// The statement, in the textual form.
    pub stmt: String,
    pub span: Span,
}

/// Checks the whole function.
///
/// # Errors
///
/// With the first violation.
pub fn function(function: &Function) -> Result<(), Violation> {
    let mut verifier = Verifier::new(function);
    verifier.declarations();
    verifier.block(&function.body);
    for at in 0..function.kernels.len() {
        verifier.kernel(KernelId(u32::try_from(at).unwrap_or(u32::MAX)));
    }
    verifier.found.map_or(Ok(()), Err)
}

/// Checks one kernel, after a pass over it.
///
/// # Errors
///
/// With the first violation.
pub fn kernel(function: &Function, id: KernelId) -> Result<(), Violation> {
    let mut verifier = Verifier::new(function);
    verifier.kernel(id);
    verifier.found.map_or(Ok(()), Err)
}

struct Verifier<'a> {
    function: &'a Function,
    /// Which locals are in scope, by id.
    declared: Vec<bool>,
    /// Those that came into scope, in order: what a block declared leaves with it.
    scope: Vec<LocalId>,
    /// All locals that the host declares anywhere: a kernel may use them, as its arguments.
    of_host: Vec<bool>,
    kernel: Option<KernelId>,
    level: Level,
    loops: usize,
    /// The statement that is looked at, from outer to inner.
    current: Vec<&'a Stmt>,
    found: Option<Violation>,
}

/// Locals that statements declare, those inside of others included.
fn declared_in(stmts: &[Stmt], out: &mut [bool]) {
    for stmt in stmts {
        let local = match &stmt.kind {
            StmtKind::Let { local, .. } | StmtKind::For { local, .. } => Some(local),
            _ => None,
        };
        if let Some(declared) = local.and_then(|id| out.get_mut(id.index())) {
            *declared = true;
        }
        stmt.kind.blocks().for_each(|block| declared_in(block, out));
    }
}

impl<'a> Verifier<'a> {
    fn new(function: &'a Function) -> Self {
        let mut of_host = vec![false; function.locals.len()];
        declared_in(&function.body, &mut of_host);
        Self {
            function,
            declared: vec![false; function.locals.len()],
            scope: Vec::new(),
            of_host,
            kernel: None,
            level: Level::Block,
            loops: 0,
            current: Vec::new(),
            found: None,
        }
    }

    fn fail(&mut self, what: impl FnOnce() -> String) {
        if self.found.is_some() {
            return;
        }
        let kernel = self
            .kernel
            .and_then(|id| self.function.kernels.get(id.index()));
        let stmt = self.current.last().map(|stmt| {
            // The head alone: bodies can be long.
            let text = super::fmt::stmt(self.function, stmt);
            text.lines().next().unwrap_or_default().to_owned()
        });
        self.found = Some(Violation {
            kernel: kernel.map(|kernel| kernel.name.clone()),
            what: what(),
            stmt: stmt.unwrap_or_default(),
            span: self.current.last().map_or_else(Span::default, |s| s.span),
        });
    }

    fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what);
        }
    }

    fn declarations(&mut self) {
        let function = self.function;
        let buffers = function.buffers.len();
        for event in &function.events {
            self.require(event.barriers.index() < buffers, || {
                format!("event `{}` has no mbarriers", event.name)
            });
            self.require(event.kernel < function.kernels.len(), || {
                format!("event `{}` is in no kernel", event.name)
            });
        }
        for id in function.fragments.keys() {
            let storage = function.buffers.get(id.index()).map(|b| b.storage);
            self.require(storage == Some(Storage::Fragment), || {
                format!(
                    "buffer {} is described as a fragment and is {storage:?}",
                    id.0
                )
            });
        }
        for (var, home) in &function.var_home {
            let exists = match home {
                VarHome::Dim(id) => id.index() < function.dims.len(),
                VarHome::Param(id) => id.index() < function.params.len(),
                VarHome::Local(id) => id.index() < function.locals.len(),
            };
            let name = function.cx.name(*var);
            self.require(exists, || {
                format!("variable `{name}` lives in {home:?}, which does not exist")
            });
        }
    }

    fn kernel(&mut self, id: KernelId) {
        let Some(kernel) = self.function.kernels.get(id.index()) else {
            return;
        };
        self.kernel = Some(id);
        self.level = Level::Block;
        self.declared.clone_from(&self.of_host);
        for sym in kernel
            .grid
            .iter()
            .chain([&kernel.threads, &kernel.shared_bytes])
        {
            self.sym(sym);
        }
        for placed in &kernel.shared {
            self.buffer(placed.buffer);
            self.sym(&placed.offset);
        }
        for map in &kernel.maps {
            self.buffer(map.buffer);
            let rank = map.extents.len();
            let same = map.strides.len() == rank && map.extent_of_box.len() == rank;
            self.require(same, || "a tensor map's lists differ in length".to_owned());
        }
        self.block(&kernel.body);
        self.kernel = None;
    }

    /// Declarations in it end with it.
    fn block(&mut self, stmts: &'a [Stmt]) {
        let before = self.scope.len();
        self.open_block(stmts);
        self.leave(before);
    }

    /// Takes out of scope what came into it after there were `before`.
    fn leave(&mut self, before: usize) {
        for id in self.scope.drain(before..) {
            if let Some(declared) = self.declared.get_mut(id.index()) {
                *declared = false;
            }
        }
    }

    fn open_block(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            if self.found.is_some() {
                return;
            }
            self.current.push(stmt);
            self.stmt(stmt);
            self.current.pop();
        }
    }

    fn declare(&mut self, id: LocalId) {
        match self.declared.get_mut(id.index()) {
            Some(declared) => {
                if !std::mem::replace(declared, true) {
                    self.scope.push(id);
                }
            }
            None => self.fail(|| format!("local {} does not exist", id.0)),
        }
    }

    fn local(&mut self, id: LocalId) {
        let function = self.function;
        match self.declared.get(id.index()) {
            None => self.fail(|| format!("local {} does not exist", id.0)),
            Some(false) => self.fail(|| {
                let name = function.locals.get(id.index()).map(|l| l.name.as_str());
                format!(
                    "`{}` is used where it is not declared",
                    name.unwrap_or_default()
                )
            }),
            Some(true) => {}
        }
    }

    fn buffer(&mut self, id: BufferId) {
        let exists = id.index() < self.function.buffers.len();
        self.require(exists, || format!("buffer {} does not exist", id.0));
    }

    fn sym(&mut self, sym: &Sym) {
        let function = self.function;
        for var in sym.vars() {
            match function.var_home.get(&var) {
                Some(VarHome::Local(id)) => self.local(*id),
                Some(_) => {}
                None => self.fail(|| {
                    let name = function.cx.name(var);
                    format!("variable `{name}` has no home at run time")
                }),
            }
        }
    }

    fn view(&mut self, view: &View) {
        self.buffer(view.buffer);
        let rank = view.shape.len();
        let (strides, valid) = (view.strides.len(), view.valid.len());
        self.require(strides == rank && valid == rank, || {
            format!("a view of {rank} axes has {strides} strides and {valid} bounds")
        });
        if let Some(frame) = &view.frame {
            let whole = frame.extents.len();
            let same = frame.strides.len() == whole && frame.origin.len() == whole;
            let axes = frame.axes.len() == rank && frame.axes.iter().all(|axis| *axis < whole);
            self.require(same && axes, || {
                format!(
                    "a view of {rank} axes has a frame of {whole} axes, seen along {:?}",
                    frame.axes
                )
            });
        }
        self.sym(&view.offset);
        view.shape
            .iter()
            .chain(&view.strides)
            .for_each(|s| self.sym(s));
        for valid in &view.valid {
            valid.lo.iter().chain(&valid.hi).for_each(|s| self.sym(s));
        }
    }

    fn access(&mut self, access: &Access) -> Option<Scalar> {
        let view = &access.view;
        self.buffer(view.buffer);
        let (indices, rank) = (access.indices.len(), view.strides.len());
        self.require(indices == rank, || {
            format!("an access has {indices} indices into a view of {rank} axes")
        });
        self.sym(&view.offset);
        view.strides
            .iter()
            .chain(&access.indices)
            .for_each(|s| self.sym(s));
        self.function
            .buffers
            .get(view.buffer.index())
            .map(|b| b.elem)
    }

    fn typed(&mut self, what: &str, found: Scalar, wanted: Scalar) {
        self.require(found == wanted, || {
            format!("{what} is {found}, not {wanted}")
        });
    }

    fn condition(&mut self, expr: &Expr) {
        self.expr(expr);
        self.typed("a condition", expr.ty, Scalar::Bool);
    }

    fn expr(&mut self, expr: &Expr) {
        match &*expr.kind {
            ExprKind::Index(sym) => self.sym(sym),
            ExprKind::Local(id) => {
                self.local(*id);
                if let Some(local) = self.function.locals.get(id.index()) {
                    self.typed("a local's value", expr.ty, local.ty);
                }
            }
            ExprKind::Param(id) => {
                let exists = id.index() < self.function.params.len();
                self.require(exists, || format!("parameter {} does not exist", id.0));
            }
            ExprKind::Unary(UnOp::Not, a) => self.condition(a),
            ExprKind::Unary(_, a) => {
                self.expr(a);
                self.typed("an operand", a.ty, expr.ty);
            }
            ExprKind::Cast(a) => self.expr(a),
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                let shifts = matches!(op, BinOp::Shl | BinOp::Shr);
                if !shifts {
                    self.typed("the right operand", b.ty, a.ty);
                }
                let logical = matches!(op, BinOp::LogicAnd | BinOp::LogicOr);
                let result = if op.is_comparison() || logical {
                    Scalar::Bool
                } else {
                    a.ty
                };
                self.typed("the result of an operator", expr.ty, result);
            }
            ExprKind::Select(c, a, b) => {
                self.condition(c);
                self.expr(a);
                self.expr(b);
                self.typed("a selected value", a.ty, expr.ty);
                self.typed("a selected value", b.ty, expr.ty);
            }
            ExprKind::Math(_, args) => args.iter().for_each(|e| self.expr(e)),
            ExprKind::Load(access) => {
                if let Some(elem) = self.access(access) {
                    self.typed("a loaded value", expr.ty, elem);
                }
            }
            ExprKind::Call(call) => call.args.iter().for_each(|arg| self.arg(arg)),
            ExprKind::Fits(fits) => fits.syms().for_each(|s| self.sym(s)),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Hardware(_) => {}
        }
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Value(e) => self.expr(e),
            Arg::Pointer(view) => self.view(view),
            Arg::Cast(_, inner) => self.arg(inner),
            Arg::Null => {}
        }
    }

    fn future(&mut self, id: FutureId) {
        let exists = id.index() < self.function.futures.len();
        self.require(exists, || format!("future {} does not exist", id.0));
    }

    fn event_at(&mut self, at: &EventAt) {
        let function = self.function;
        let Some(event) = function.events.get(at.event.index()) else {
            self.fail(|| format!("event {} does not exist", at.event.0));
            return;
        };
        let here = self.kernel.map(KernelId::index);
        self.require(here == Some(event.kernel), || {
            format!("event `{}` is another kernel's", event.name)
        });
        at.sym().into_iter().for_each(|s| self.sym(s));
    }

    fn part(&mut self, part: &Part) {
        let storage = self
            .function
            .buffers
            .get(part.buffer.index())
            .map(|b| b.storage);
        self.require(storage == Some(Storage::Fragment), || {
            format!(
                "buffer {} is used as a fragment and is {storage:?}",
                part.buffer.0
            )
        });
        part.number.iter().for_each(|s| self.sym(s));
    }

    fn on_host(&mut self) {
        let host = self.kernel.is_none();
        self.require(host, || {
            "a statement of the host stands in a kernel".to_owned()
        });
    }

    fn in_kernel(&mut self) {
        let kernel = self.kernel.is_some();
        self.require(kernel, || {
            "a statement of kernels stands on the host".to_owned()
        });
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
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
            } => {
                let before = self.scope.len();
                self.loops += 1;
                self.open_block(prelude);
                self.condition(cond);
                self.open_block(body);
                self.loops -= 1;
                self.leave(before);
            }
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
                self.require(inside, || "it stands in no loop".to_owned());
            }
            StmtKind::Parallel { level, body } => {
                self.in_kernel();
                let around = self.level;
                self.require(*level >= around, || {
                    format!("{level:?} is coarser than {around:?} around it")
                });
                self.level = *level;
                self.block(body);
                self.level = around;
            }
            StmtKind::Once { body, .. } => {
                self.in_kernel();
                self.block(body);
            }
            StmtKind::Region {
                pred, among, body, ..
            } => {
                self.in_kernel();
                self.condition(pred);
                if let Some((asked, _)) = among {
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

    /// Statements of one line.
    fn leaf(&mut self, kind: &'a StmtKind) {
        match kind {
            StmtKind::Copy(copy) => {
                self.in_kernel();
                self.copy(copy);
            }
            StmtKind::Fill { view, value, .. } => {
                self.view(view);
                self.expr(value);
            }
            StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
                for waited in futures {
                    self.future(waited.future);
                    self.view(&waited.view);
                }
            }
            StmtKind::Rotate { futures } => futures.iter().for_each(|f| self.future(*f)),
            StmtKind::Consult(future) => self.future(*future),
            StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => {
                self.in_kernel();
                self.event_at(at);
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

    fn copy(&mut self, copy: &Copy) {
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

    fn tma(&mut self, op: &TmaOp) {
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

    fn mma(&mut self, op: &'a MmaOp) {
        op.parts().into_iter().for_each(|part| self.part(part));
        op.views().into_iter().for_each(|(view, _)| self.view(view));
        for (access, _) in op.accesses() {
            self.access(access);
        }
        match op {
            MmaOp::Each { value, .. } => self.expr(value),
            MmaOp::Apply { indices, body, .. } => {
                let before = self.scope.len();
                indices.iter().for_each(|id| self.declare(*id));
                self.open_block(body);
                self.leave(before);
            }
            MmaOp::Product(product) => self.condition(&product.accumulate),
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

#[cfg(test)]
mod tests;
