//! The names that the printed text of a program part refers to.
//!
//! The result is exact: a stride that is multiplied by a zero index is not printed, so it must not
//! become an unused kernel argument.

use crate::ir::{
    Access, Arg, BarrierScope, BufferId, Copy, CppName, DimId, Expr, ExprKind, Function, LocalId,
    MmaOp, ParamId, ParamKind, Phase, ReturnValue, Step, Stmt, StmtKind, TmaOp, VarHome, View,
    Visit, any_stmt, walk_block,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

#[derive(Debug, Default)]
pub struct Uses {
    pub dims: SortedSet<DimId>,
    pub params: SortedSet<ParamId>,
    pub locals: SortedSet<LocalId>,
    pub buffers: SortedSet<BufferId>,
    /// Buffers that spliced C++ text names. It accesses them by pointer.
    pub named_in_text: SortedSet<BufferId>,
    /// Locals that the part itself declares.
    pub declared: SortedSet<LocalId>,
    /// Whether there is a check, a print or a wait with a limit, which need the launch's context.
    pub context: bool,
    /// Whether there is opaque code.
    pub opaque: bool,
    /// Names in calls into C++ and in spliced text that are not the program's own. A variable of
    /// such a name would hide them.
    pub cpp: SortedSet<String>,
}

impl Uses {
    pub fn of_block<P: Phase>(function: &Function<P>, block: &[Stmt<P>]) -> Uses {
        let mut collector = Collector {
            function,
            uses: Uses::default(),
        };
        walk_block(block, &mut collector);
        collector.uses
    }

    pub fn sym<P: Phase>(&mut self, function: &Function<P>, sym: &Sym) {
        for var in sym.sorted_vars() {
            match function.var_home.get(var) {
                Some(VarHome::Dim(id)) => drop(self.dims.insert(*id)),
                Some(VarHome::Param(id)) => drop(self.params.insert(*id)),
                Some(VarHome::Local(id)) => drop(self.locals.insert(*id)),
                None => {}
            }
        }
    }
}

/// The variables that the body declares or assigns.
pub fn set_in(function: &Function, body: &[Stmt]) -> SortedSet<Var> {
    let mut locals = Uses::of_block(function, body).declared;
    any_stmt(body, |stmt| {
        if let StmtKind::Assign { local, .. } = &stmt.kind {
            locals.insert(*local);
        }
        false
    });
    let vars = locals.iter();
    vars.filter_map(|id| function.locals.get(id.index())?.var)
        .collect()
}

/// The identifiers in a piece of C++, including those in comments and strings; excess names are
/// harmless.
pub fn identifiers(text: &str) -> SortedSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .collect()
}

struct Collector<'a, P: Phase> {
    function: &'a Function<P>,
    uses: Uses,
}

impl<P: Phase> Collector<'_, P> {
    fn sym(&mut self, sym: &Sym) {
        self.uses.sym(self.function, sym);
    }

    fn text(&mut self, text: &str, names: &[CppName]) {
        self.uses.opaque = true;
        let words = identifiers(text);
        for (at, param) in self.function.params.iter().enumerate() {
            if words.contains(param.name.as_str()) && matches!(param.kind, ParamKind::Scalar { .. })
            {
                self.uses
                    .params
                    .insert(ParamId(u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
        for (at, dim) in self.function.dims.iter().enumerate() {
            if words.contains(dim.name.as_str()) {
                self.uses
                    .dims
                    .insert(DimId(u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
        for name in names {
            match name {
                CppName::Local(id) => {
                    let local = self.function.local(*id);
                    if words.contains(local.name.as_str())
                        || words.contains(format!("__iv_{}", local.name).as_str())
                    {
                        self.uses.locals.insert(*id);
                    }
                }
                CppName::Buffer(id) => {
                    if words.contains(self.function.buffer(*id).name.as_str()) {
                        self.uses.buffers.insert(*id);
                        self.uses.named_in_text.insert(*id);
                    }
                }
            }
        }
        // The remaining names belong to C++ or to the text itself.
        let own: SortedSet<&str> = names
            .iter()
            .map(|name| match name {
                CppName::Local(id) => self.function.local(*id).name.as_str(),
                CppName::Buffer(id) => self.function.buffer(*id).name.as_str(),
            })
            .chain(self.function.params.iter().map(|p| p.name.as_str()))
            .chain(self.function.dims.iter().map(|d| d.name.as_str()))
            .collect();
        let foreign = words.into_iter().filter(|word| !own.contains(word));
        self.uses.cpp.extend(foreign.map(str::to_owned));
    }

    fn foreign(&mut self, text: &str) {
        let words = identifiers(text).into_iter().map(str::to_owned);
        self.uses.cpp.extend(words);
    }

    /// The types that an argument is cast to.
    fn casts(&mut self, arg: &Arg) {
        if let Arg::Cast(ty, inner) = arg {
            self.foreign(ty);
            self.casts(inner);
        }
    }
}

impl<P: Phase> Visit<P> for Collector<'_, P> {
    fn stmt(&mut self, stmt: &Stmt<P>) {
        match &stmt.kind {
            StmtKind::Let { local, .. } => drop(self.uses.declared.insert(*local)),
            StmtKind::Atomic(atomic) => self.uses.declared.extend(atomic.result),
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                ..
            } => {
                self.uses.declared.insert(*local);
                self.sym(lo);
                self.sym(hi);
                self.sym(step);
            }
            StmtKind::Copy(copy) => {
                let Copy { source, dest, .. } = P::only(copy);
                for view in [source, dest] {
                    view.shape
                        .iter()
                        .chain(&view.strides)
                        .for_each(|s| self.sym(s));
                }
            }
            StmtKind::Tma(op) => {
                op.for_each_sym(&mut |s| self.sym(s));
                self.uses.buffers.extend(op.buffers());
                self.uses.context |= matches!(op, TmaOp::Wait { .. });
            }
            StmtKind::Mma(op) => {
                for (view, _) in op.views() {
                    view.shape
                        .iter()
                        .chain(&view.strides)
                        .for_each(|s| self.sym(s));
                }
                match &**op {
                    MmaOp::Step(Step::Describe { local, leading, .. }) => {
                        self.uses.declared.insert(*local);
                        self.sym(leading);
                    }
                    MmaOp::Step(Step::Advance {
                        local, by, bytes, ..
                    }) => {
                        self.uses.declared.insert(*local);
                        self.uses.locals.insert(*by);
                        self.sym(bytes);
                    }
                    MmaOp::Step(Step::Instruction(i)) => {
                        self.uses.locals.extend(i.described().map(|d| d.by));
                    }
                    _ => {}
                }
            }
            StmtKind::Check { .. }
            | StmtKind::Print { .. }
            | StmtKind::AwaitSignal { .. }
            | StmtKind::Barrier {
                scope: BarrierScope::Grid,
                ..
            } => self.uses.context = true,
            StmtKind::Barrier {
                scope: BarrierScope::WarpgroupOf { group, .. },
                ..
            } => drop(self.uses.locals.insert(*group)),
            StmtKind::TriggerSignal(at) => self.sym(&at.slot),
            StmtKind::Fetch(id) => drop(self.uses.buffers.insert(*id)),
            StmtKind::Exchange(ids) => self.uses.buffers.extend(ids),
            StmtKind::Cpp { text, names, .. } => self.text(text, names),
            StmtKind::Alloc(buffer) => drop(self.uses.buffers.insert(*buffer)),
            StmtKind::Return(values) => {
                self.uses
                    .buffers
                    .extend(values.iter().filter_map(|value| match value {
                        ReturnValue::Buffer(buffer) => Some(*buffer),
                        ReturnValue::Scalar(_) => None,
                    }));
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &*expr.kind {
            ExprKind::Index(sym) => self.sym(sym),
            ExprKind::Fits(fits) => fits.syms().for_each(|s| self.sym(s)),
            ExprKind::Local(id) => drop(self.uses.locals.insert(*id)),
            ExprKind::Param(id) => drop(self.uses.params.insert(*id)),
            ExprKind::Call(call) => {
                self.uses.opaque = true;
                for text in std::iter::once(&call.callee).chain(&call.targs) {
                    self.foreign(text);
                }
                call.args.iter().for_each(|arg| self.casts(arg));
            }
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        self.uses.buffers.insert(view.buffer);
        self.sym(&view.offset);
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.uses.buffers.insert(access.view.buffer);
        self.sym(&access.view.offset);
        for (index, stride) in access.indices.iter().zip(&access.view.strides) {
            if !index.is_zero() && !stride.is_zero() {
                self.sym(index);
                self.sym(stride);
            }
        }
    }
}
