//! Variables and buffers that may hold uninitialised values: buffers that [`unwritten`](super)
//! found, and everything that is computed from their elements anywhere in the kernel. The simulated
//! GPU keeps a mark for each such value; other variables and buffers have no marks.

use crate::ir::threads::{Function, Kernel, MmaOp, Stmt, StmtKind};
use crate::ir::{
    Access, Arg, BufferId, CppName, Expr, ExprKind, LocalId, Step, Threads, VarHome, Visit,
    walk_block,
};
use crate::passes::analysis::uses::identifiers;
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::Sym;

#[derive(Default)]
pub struct Unproven {
    pub buffers: SortedSet<BufferId>,
    pub locals: SortedSet<LocalId>,
    /// Buffers whose address escapes into opaque code: they count as written.
    pub escaping: SortedSet<BufferId>,
    /// Variables that the user's own C++ may mention: values are tested where they are assigned.
    in_cpp: SortedSet<LocalId>,
}

impl Unproven {
    pub fn of(function: &Function, kernel: &Kernel) -> Self {
        let mut found = Escapes {
            function,
            buffers: SortedSet::new(),
            locals: SortedSet::new(),
        };
        walk_block(&kernel.body, &mut found);
        let mut all = Unproven {
            buffers: kernel
                .facts
                .unwritten
                .difference(&found.buffers)
                .copied()
                .collect(),
            locals: SortedSet::new(),
            escaping: kernel
                .facts
                .unwritten
                .intersection(&found.buffers)
                .copied()
                .collect(),
            in_cpp: found.locals,
        };
        if all.buffers.is_empty() {
            return all;
        }
        loop {
            let before = (all.buffers.len(), all.locals.len());
            let mut propagation = Propagation {
                function,
                all: &mut all,
                described: SortedMap::new(),
            };
            walk_block(&kernel.body, &mut propagation);
            if before == (all.buffers.len(), all.locals.len()) {
                return all;
            }
        }
    }

    /// Whether the value of the expression may be uninitialised.
    pub fn expr(&self, function: &Function, e: &Expr) -> bool {
        let any = |e: &Expr| self.expr(function, e);
        match &*e.kind {
            ExprKind::Index(sym) => self.sym(function, sym),
            ExprKind::Local(id) => self.locals.contains(id),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => any(a),
            ExprKind::Binary(_, a, b) => any(a) || any(b),
            ExprKind::Select(a, b, c) => any(a) || any(b) || any(c),
            ExprKind::Math(_, args) => args.iter().any(any),
            ExprKind::Load(access) => self.buffers.contains(&access.view.buffer),
            // Reading the value of another lane does not count as a use; the mark is copied with
            // the value.
            ExprKind::Intrinsic(_, operands) => operands.iter().any(any),
            // Arguments are tested at the call.
            ExprKind::Call(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Param(_)
            | ExprKind::Fits(_) => false,
        }
    }

    fn sym(&self, function: &Function, sym: &Sym) -> bool {
        !self.locals.is_empty()
            && sym.sorted_vars().iter().any(|var| {
                matches!(function.var_home.get(var), Some(VarHome::Local(id)) if self.locals.contains(id))
            })
    }

    /// Whether the buffer can have marks.
    fn has_marks(&self, function: &Function, id: BufferId) -> bool {
        let buffer = function.buffers.get(id.index());
        buffer.is_some_and(|b| !b.storage.is_global()) && !self.escaping.contains(&id)
    }
}

struct Escapes<'a> {
    function: &'a Function,
    buffers: SortedSet<BufferId>,
    locals: SortedSet<LocalId>,
}

impl Escapes<'_> {
    fn argument(&mut self, arg: &Arg) {
        match arg {
            Arg::Pointer(view) => drop(self.buffers.insert(view.buffer)),
            Arg::Cast(_, inner) => self.argument(inner),
            Arg::Value(_) | Arg::Null => {}
        }
    }
}

impl Visit<Threads> for Escapes<'_> {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(call) = &*expr.kind {
            call.args.iter().for_each(|arg| self.argument(arg));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let StmtKind::Cpp { text, names, .. } = &stmt.kind else {
            return;
        };
        let words = identifiers(text);
        for name in names {
            match name {
                CppName::Buffer(id) => {
                    let buffer = self.function.buffers.get(id.index());
                    if buffer.is_some_and(|b| words.contains(b.name.as_str())) {
                        self.buffers.insert(*id);
                    }
                }
                CppName::Local(id) => {
                    let Some(local) = self.function.locals.get(id.index()) else {
                        continue;
                    };
                    let index = format!("__iv_{}", local.name);
                    if words.contains(local.name.as_str()) || words.contains(index.as_str()) {
                        self.locals.insert(*id);
                    }
                }
            }
        }
    }
}

/// One iteration over the kernel: stores and assignments propagate the property.
struct Propagation<'a, 'u> {
    function: &'a Function,
    all: &'u mut Unproven,
    /// The buffers of the MMA descriptors in locals.
    described: SortedMap<LocalId, BufferId>,
}

impl Propagation<'_, '_> {
    fn into_buffer(&mut self, id: BufferId) {
        if self.all.has_marks(self.function, id) {
            self.all.buffers.insert(id);
        }
    }

    fn flows(&mut self, from: &Access, to: &Access) {
        if self.all.buffers.contains(&from.view.buffer) {
            self.into_buffer(to.view.buffer);
        }
    }

    fn mma(&mut self, op: &MmaOp) {
        match op {
            MmaOp::Instruction {
                parts, metadata, ..
            } => {
                let [acc, a, b] = &**parts;
                self.flows(a, acc);
                self.flows(b, acc);
                if let Some(metadata) = metadata {
                    self.flows(&metadata.register, acc);
                }
            }
            MmaOp::Matrices {
                registers,
                memory,
                stored,
                ..
            } => match stored {
                true => self.flows(registers, memory),
                false => self.flows(memory, registers),
            },
            MmaOp::Step(Step::Describe { local, of, .. }) => {
                self.described.insert(*local, of.view.buffer);
            }
            MmaOp::Step(Step::Advance { local, by, .. }) => {
                if let Some(buffer) = self.described.get(by).copied() {
                    self.described.insert(*local, buffer);
                }
            }
            MmaOp::Step(Step::Instruction(i)) => {
                let described = i.described().filter_map(|d| self.described.get(&d.by));
                let mut from: Vec<BufferId> = described.copied().collect();
                from.extend(i.registers_read().map(|access| access.view.buffer));
                if from.iter().any(|id| self.all.buffers.contains(id)) {
                    self.into_buffer(i.acc.view.buffer);
                }
            }
            _ => {}
        }
    }
}

impl Visit<Threads> for Propagation<'_, '_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let {
                local,
                value: Some(value),
            }
            | StmtKind::Assign { local, value }
                if !self.all.in_cpp.contains(local) && self.all.expr(self.function, value) =>
            {
                self.all.locals.insert(*local);
            }
            StmtKind::Store { access, value, .. } if self.all.expr(self.function, value) => {
                self.into_buffer(access.view.buffer);
            }
            StmtKind::StorePair(pair)
                if (pair.values.iter()).any(|value| self.all.expr(self.function, value)) =>
            {
                self.into_buffer(pair.access.view.buffer);
            }
            StmtKind::Move(m) => self.flows(&m.source, &m.dest),
            StmtKind::Mma(op) => self.mma(op),
            _ => {}
        }
    }
}
