//! Buffers that a thread may read before they are written (S7).
//!
//! A walk over the structured code, like a definite-assignment check: a buffer is *full* where
//! every path to that point has written all of its elements. A read of a buffer that is not full
//! makes it one for whose elements the simulated GPU keeps marks; all other buffers have no marks.
//!
//! It runs before all other passes, while copies and fills are still whole tiles. The result is
//! conservative: the simulated GPU decides the remaining cases, so a false positive is harmless.

use crate::ir::{
    Access, Arg, BufferId, Copy, Expr, ExprKind, Function, KernelId, Level, LocalId, MmaOp,
    Operand, Part, Role, Stmt, StmtKind, Storage, Transform, View, retain_stmts,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

/// Records the buffers in the kernel. The `Alloc` of a recorded buffer that is declared in a loop
/// is kept, because each iteration starts with unwritten elements; those of other private buffers
/// are removed.
pub fn find(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let mut walk = Walk {
        function,
        ranges: Vec::new(),
        filled: Vec::new(),
        depth: 0,
        conditional: 0,
        leaves: leaves(&kernel.body),
        some_left: false,
        found: SortedSet::new(),
    };
    walk.block(&kernel.body, &mut State::default());
    let found = walk.found;
    let mut renewed = SortedSet::new();
    declared_in_loops(&kernel.body, false, &mut renewed);
    let private: SortedSet<BufferId> = (0u32..)
        .zip(&function.buffers)
        .filter(|(_, b)| b.storage.is_private())
        .map(|(number, _)| BufferId(number))
        .collect();
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.facts.anew = renewed.intersection(&found).copied().collect();
        retain_stmts(&mut kernel.body, &mut |stmt| match &stmt.kind {
            StmtKind::Alloc(id) => !private.contains(id) || kernel.facts.anew.contains(id),
            _ => true,
        });
        kernel.facts.unwritten = found;
    }
}

fn declared_in_loops(stmts: &[Stmt], inside: bool, all: &mut SortedSet<BufferId>) {
    for stmt in stmts {
        if let (StmtKind::Alloc(id), true) = (&stmt.kind, inside) {
            all.insert(*id);
        }
        let iterations = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
        for block in stmt.kind.blocks() {
            declared_in_loops(block, inside || iterations, all);
        }
    }
}

fn leaves(stmts: &[Stmt]) -> bool {
    let here = |s: &Stmt| matches!(s.kind, StmtKind::Yield) || s.kind.blocks().any(|b| leaves(b));
    stmts.iter().any(here)
}

/// The facts at a program point.
#[derive(Clone, Default)]
struct State {
    full: SortedSet<BufferId>,
    /// Single elements that this thread has written.
    elements: Vec<(BufferId, Sym)>,
}

impl State {
    fn forget(&mut self, id: BufferId) {
        self.full.remove(&id);
        self.elements.retain(|(buffer, _)| *buffer != id);
    }

    /// The facts after two paths join.
    fn meet(&mut self, other: &State) {
        self.full.retain(|id| other.full.contains(id));
        self.elements.retain(|e| other.elements.contains(e));
    }
}

/// An index that takes all values from 0 to below an extent.
struct Range {
    var: Var,
    extent: Sym,
    /// The number of the enclosing loop; 0 for indices of threads, which have all their values at
    /// the same time.
    depth: usize,
    /// Whether threads that share memory have different values of it.
    of_threads: bool,
}

struct Walk<'a> {
    function: &'a Function,
    ranges: Vec<Range>,
    /// The buffers that are full after the loop of this number.
    filled: Vec<(usize, BufferId)>,
    /// The number of enclosing loops.
    depth: usize,
    /// For this many of the first `ranges`, not every thread, or not every iteration, reaches the
    /// statement.
    conditional: usize,
    /// Whether threads may leave early.
    leaves: bool,
    /// Whether some may have left before this statement: then what they would write is missing.
    some_left: bool,
    found: SortedSet<BufferId>,
}

impl Walk<'_> {
    fn storage(&self, id: BufferId) -> Option<Storage> {
        let buffer = self.function.buffers.get(id.index())?;
        let counts = matches!(
            buffer.storage,
            Storage::Shared | Storage::Local | Storage::Fragment
        );
        counts.then_some(buffer.storage)
    }

    fn read(&mut self, id: BufferId, state: &State) {
        if self.storage(id).is_some() && !state.full.contains(&id) {
            self.found.insert(id);
        }
    }

    fn load(&mut self, access: &Access, state: &State) {
        let element = (access.view.buffer, access.address());
        if !state.elements.contains(&element) {
            self.read(access.view.buffer, state);
        }
    }

    fn expr(&mut self, e: &Expr, state: &State) {
        struct Loads<'a>(Vec<&'a Access>, Vec<&'a View>);
        fn collect<'a>(e: &'a Expr, all: &mut Loads<'a>) {
            match &*e.kind {
                ExprKind::Unary(_, a) | ExprKind::Cast(a) => collect(a, all),
                ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| collect(e, all)),
                ExprKind::Select(a, b, c) => [a, b, c].into_iter().for_each(|e| collect(e, all)),
                ExprKind::Math(_, args) | ExprKind::Intrinsic(_, args) => {
                    args.iter().for_each(|e| collect(e, all));
                }
                ExprKind::Load(access) => all.0.push(access),
                ExprKind::Call(call) => call.args.iter().for_each(|a| argument(a, all)),
                _ => {}
            }
        }
        fn argument<'a>(arg: &'a Arg, all: &mut Loads<'a>) {
            match arg {
                Arg::Value(e) => collect(e, all),
                Arg::Pointer(view) => all.1.push(view),
                Arg::Cast(_, inner) => argument(inner, all),
                Arg::Null => {}
            }
        }
        let mut all = Loads(Vec::new(), Vec::new());
        collect(e, &mut all);
        for access in all.0 {
            self.load(access, state);
        }
        // Opaque code may read any element.
        for view in all.1 {
            self.read(view.buffer, state);
        }
    }

    /// Whether the view covers its whole buffer, without elements outside of it.
    fn is_whole(&self, view: &View) -> bool {
        let Some(buffer) = self.function.buffers.get(view.buffer.index()) else {
            return false;
        };
        let all: Sym = view.shape.iter().fold(Sym::one(), |n, extent| &n * extent);
        view.offset.is_zero()
            && !view.may_cross()
            && self.function.cx.eq(&all, &buffer.count).is_yes()
            && self.is_dense(view)
    }

    fn is_dense(&self, view: &View) -> bool {
        let mut step = Sym::one();
        for (extent, stride) in view.shape.iter().zip(&view.strides).rev() {
            if !extent.is_one() && *stride != step {
                return false;
            }
            step = &step * extent;
        }
        true
    }

    fn fills(&self, id: BufferId, state: &mut State) {
        let by_all = |storage| storage == Storage::Shared;
        // Under a condition, only code on the same path sees the new state.
        if self
            .storage(id)
            .is_some_and(|storage| !(by_all(storage) && self.some_left))
        {
            state.full.insert(id);
        }
    }

    fn write_view(&self, view: &View, state: &mut State) {
        if self.is_whole(view) {
            self.fills(view.buffer, state);
        }
    }

    fn copy(&mut self, copy: &Copy, state: &mut State) {
        self.read(copy.source.buffer, state);
        if let Transform::Pad { value, .. } = &copy.transform {
            self.expr(value, state);
        }
        let cx = &self.function.cx;
        let source = &copy.source;
        let reaches = |from: &Sym, to: &Sym| cx.le(to, from).is_yes();
        let covers = match &copy.transform {
            Transform::Pad { .. } => true,
            _ if copy.zero_fill || !copy.engine.is_threads() => true,
            Transform::None => {
                !source.may_cross()
                    && source.rank() == copy.dest.rank()
                    && (source.shape.iter().zip(&copy.dest.shape)).all(|(s, d)| reaches(s, d))
            }
            Transform::Transpose(axes) => {
                !source.may_cross()
                    && axes
                        .iter()
                        .zip(&copy.dest.shape)
                        .all(|(axis, d)| source.shape.get(*axis).is_some_and(|s| reaches(s, d)))
            }
        };
        if covers {
            self.write_view(&copy.dest, state);
        }
    }

    /// A store to one element. With indices that take all values, the stores together cover the
    /// buffer.
    fn store(&mut self, access: &Access, state: &mut State) {
        let view = &access.view;
        let Some(storage) = self.storage(view.buffer) else {
            return;
        };
        state.elements.push((view.buffer, access.address()));
        let mut outermost = usize::MAX;
        let mut seen = SortedSet::new();
        for (index, extent) in access.indices.iter().zip(&view.shape) {
            if extent.is_one() {
                continue;
            }
            let range = index.as_var().and_then(|var| {
                let fits = |r: &&Range| {
                    r.var == var
                        && (!r.of_threads || storage == Storage::Shared)
                        && self.function.cx.eq(&r.extent, extent).is_yes()
                };
                let all = self.ranges.get(self.conditional..).unwrap_or_default();
                all.iter().rev().find(fits)
            });
            match range {
                Some(range) if seen.insert(range.var) => {
                    if range.depth > 0 {
                        outermost = outermost.min(range.depth);
                    }
                }
                _ => return,
            }
        }
        if !self.is_whole(view) {
            return;
        }
        if outermost == usize::MAX {
            self.fills(view.buffer, state);
        } else {
            self.filled.push((outermost, view.buffer));
        }
    }

    fn block(&mut self, stmts: &[Stmt], state: &mut State) {
        let before = self.conditional;
        for stmt in stmts {
            self.stmt(stmt, state);
            if stmt.leaves_iteration() {
                self.conditional = self.ranges.len();
            }
        }
        self.conditional = before;
    }

    /// A body that may not be executed.
    fn optional_block(&mut self, body: &[Stmt], state: &State) -> State {
        let before = std::mem::replace(&mut self.conditional, self.ranges.len());
        let mut inside = state.clone();
        self.block(body, &mut inside);
        self.conditional = before;
        inside
    }

    fn stmt(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Let { local, value } => {
                if let Some(value) = value {
                    self.expr(value, state);
                }
                self.range_of_threads(*local);
            }
            StmtKind::Assign { value, .. } | StmtKind::Eval(value) => self.expr(value, state),
            StmtKind::Store { access, op, value } => {
                self.expr(value, state);
                if op.is_some() {
                    self.load(access, state);
                }
                self.store(access, state);
            }
            StmtKind::Atomic(atomic) => {
                atomic.operands().for_each(|e| self.expr(e, state));
                self.load(&atomic.access, state);
            }
            StmtKind::Copy(copy) => self.copy(copy, state),
            StmtKind::Fill { view, value, .. } => {
                self.expr(value, state);
                self.write_view(view, state);
            }
            StmtKind::Alloc(id) => state.forget(*id),
            StmtKind::Mma(op) => self.mma(op, state),
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let var = self.function.locals.get(local.index()).and_then(|l| l.var);
                let range = var.filter(|_| lo.is_zero() && step.is_one());
                self.iterations(body, range.map(|var| (var, hi.clone())), state);
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let mut renewed = SortedSet::new();
                declared_in_loops(std::slice::from_ref(stmt), true, &mut renewed);
                renewed.iter().for_each(|id| state.forget(*id));
                self.some_left |= leaves(prelude) || leaves(body);
                self.block(prelude, state);
                self.expr(cond, state);
                self.optional_block(body, state);
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond, state);
                let mut one = self.optional_block(then, state);
                let other = self.optional_block(otherwise, state);
                one.meet(&other);
                *state = one;
            }
            StmtKind::Parallel { body, .. } => {
                let ranges = self.ranges.len();
                let mut inside = state.clone();
                self.block(body, &mut inside);
                self.ranges.truncate(ranges);
                self.keep_shared(inside, state);
            }
            StmtKind::SingleThread { body, .. } => {
                let inside = self.optional_block(body, state);
                self.keep_shared(inside, state);
            }
            StmtKind::Region { pred, body, .. } => {
                self.expr(pred, state);
                self.optional_block(body, state);
            }
            StmtKind::Check { cond, values, .. } => {
                self.expr(cond, state);
                values.iter().for_each(|e| self.expr(e, state));
            }
            StmtKind::Print { parts, .. } => {
                for part in parts {
                    if let crate::ir::PrintPart::Value(e) = part {
                        self.expr(e, state);
                    }
                }
            }
            StmtKind::Yield => self.some_left = true,
            StmtKind::Cpp { names, .. } => {
                for name in names {
                    if let crate::ir::CppName::Buffer(id) = name {
                        self.read(*id, state);
                    }
                }
            }
            _ => {}
        }
    }

    /// After a statement that not all threads execute, only writes to shared memory count.
    fn keep_shared(&self, inside: State, state: &mut State) {
        let buffers = &self.function.buffers;
        let shared = |id: &BufferId| {
            let buffer = buffers.get(id.index());
            buffer.is_some_and(|b| b.storage == Storage::Shared)
        };
        state.full.extend(inside.full.into_iter().filter(shared));
    }

    /// The body of a `for`, with its variable if that takes all values from 0 on.
    fn iterations(&mut self, body: &[Stmt], range: Option<(Var, Sym)>, state: &mut State) {
        let mut renewed = SortedSet::new();
        declared_in_loops(body, true, &mut renewed);
        renewed.iter().for_each(|id| state.forget(*id));
        self.some_left |= leaves(body);
        self.depth += 1;
        let depth = self.depth;
        let has_iterations = range
            .as_ref()
            .is_some_and(|(_, extent)| self.function.cx.lt(&Sym::zero(), extent).is_yes());
        let all_iterations = range.is_some() && !body.iter().any(Stmt::leaves_iteration);
        let ranges = self.ranges.len();
        if let Some((var, extent)) = range.filter(|_| all_iterations) {
            self.ranges.push(Range {
                var,
                extent,
                depth,
                of_threads: false,
            });
        }
        let before = std::mem::take(&mut self.filled);
        let mut inside = state.clone();
        self.block(body, &mut inside);
        self.ranges.truncate(ranges);
        self.depth -= 1;
        for (at, id) in std::mem::replace(&mut self.filled, before) {
            if at == depth {
                self.fills(id, state);
            } else if all_iterations && has_iterations {
                self.filled.push((at, id));
            }
        }
        if all_iterations && has_iterations {
            // At least one iteration runs, so buffers that each iteration fills are full.
            state.full.extend(inside.full);
        }
    }

    /// An index of threads, which takes all its values at the same time.
    fn range_of_threads(&mut self, local: LocalId) {
        let Some(info) = self.function.locals.get(local.index()) else {
            return;
        };
        let of_threads = !self.leaves
            && matches!(
                info.role,
                Role::Parallel(Level::Warpgroup | Level::Warp | Level::Thread)
            );
        if let (true, Some(var)) = (of_threads, info.var)
            && let (Some(lo), Some(hi)) = self.function.cx.bounds(var)
            && lo.is_zero()
        {
            let extent = hi + &Sym::one();
            self.ranges.push(Range {
                var,
                extent,
                depth: 0,
                of_threads: true,
            });
        }
    }

    fn part(&mut self, part: &Part, state: &State) {
        self.read(part.buffer, state);
    }

    fn write_part(&self, part: &Part, state: &mut State) {
        let count = self.function.fragments.get(&part.buffer).map(|f| f.count);
        if part.number.is_none() || count == Some(1) {
            self.fills(part.buffer, state);
        }
    }

    fn mma(&mut self, op: &MmaOp, state: &mut State) {
        match op {
            MmaOp::FillElements { part, add, value } => {
                self.expr(value, state);
                if *add {
                    self.part(part, state);
                }
                self.write_part(part, state);
            }
            MmaOp::Load { into, source } => {
                self.read(source.buffer, state);
                self.write_part(into, state);
            }
            MmaOp::Multiply {
                acc,
                a,
                b,
                metadata,
                ..
            } => {
                let parts = [a, b].into_iter().chain(metadata).chain([acc]);
                parts.for_each(|p| self.part(p, state));
            }
            MmaOp::WarpgroupMma(mma) => {
                self.expr(&mma.accumulate, state);
                if let Operand::Registers(a) = &mma.a {
                    self.part(a, state);
                }
                if let Some(metadata) = &mma.metadata {
                    self.part(metadata, state);
                }
                for tile in mma.tiles() {
                    self.read(tile.view.buffer, state);
                }
                if matches!(*mma.accumulate.kind, ExprKind::Bool(false)) {
                    self.write_part(&mma.acc, state);
                } else {
                    self.part(&mma.acc, state);
                }
            }
            MmaOp::Store { from, .. } => self.part(from, state),
            MmaOp::Apply {
                part,
                indices,
                body,
            } => {
                let ranges = self.ranges.len();
                let shape = self.function.fragments.get(&part.buffer).map(|f| &f.shape);
                for (local, extent) in indices.iter().zip(shape.into_iter().flatten()) {
                    let info = self.function.locals.get(local.index());
                    if let Some(var) = info.and_then(|l| l.var) {
                        self.ranges.push(Range {
                            var,
                            extent: Sym::int(*extent),
                            depth: 0,
                            of_threads: false,
                        });
                    }
                }
                self.block(body, state);
                self.ranges.truncate(ranges);
            }
            MmaOp::Reduce { into, from, .. } | MmaOp::Convert { into, from } => {
                self.part(from, state);
                self.write_part(into, state);
            }
            MmaOp::AllReduce { part } => self.part(part, state),
            MmaOp::CommitAll(())
            | MmaOp::WaitMma(_)
            | MmaOp::Instruction { .. }
            | MmaOp::Matrices { .. }
            | MmaOp::Step(_) => {}
        }
    }
}
