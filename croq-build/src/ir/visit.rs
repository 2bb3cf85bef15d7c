//! Visitors for statements and everything in them.
//!
//! [`Visitor`] reads and [`VisitorMut`] changes; one macro defines both, so that they visit the
//! same items in the same order. By default, each method visits the children of its argument by
//! calling the function of the same name in [`walk`] or [`walk_mut`]. A method that is overridden
//! may call that function before or after its own work, or not at all. [`ControlFlow::Break`] ends
//! the whole walk. [`super::queries`] has queries with closures.

use std::ops::ControlFlow;

use super::{
    Access, Arg, Arrival, Buffer, Engine, EventAt, Expr, ExprKind, Fits, Function, Kernel, MmaOp,
    MoveMode, Operand, Part, Phase, PrintPart, ReturnValue, Sharing, Slot, Source, Step, Stmt,
    StmtKind, Tiles, TmaMove, TmaOp, Transform, View,
};
use crate::symbolic::Sym;

/// Whether a walk continues.
pub type Flow = ControlFlow<()>;

/// The walk continues.
pub const ON: Flow = ControlFlow::Continue(());

macro_rules! visitor {
    ($(#[$doc:meta])* $Visitor:ident, $AsVisitor:ident, $walk:ident, [$($mutable:tt)?], $iter:ident, $only:ident) => {
        $(#[$doc])*
        pub trait $Visitor<P: Phase = Tiles>: $AsVisitor<P> {
            /// A function: its buffers, host statements and kernels.
            fn function(&mut self, function: &$($mutable)? Function<P>) -> Flow {
                $walk::function(self.as_dyn(), function)
            }
            /// A kernel: its grid, number of threads, and statements.
            fn kernel(&mut self, kernel: &$($mutable)? Kernel<P>) -> Flow {
                $walk::kernel(self.as_dyn(), kernel)
            }
            /// A buffer of the function, whose extents are evaluated where it is allocated.
            fn buffer(&mut self, buffer: &$($mutable)? Buffer) -> Flow {
                $walk::buffer(self.as_dyn(), buffer)
            }
            fn block(&mut self, stmts: &$($mutable)? [Stmt<P>]) -> Flow {
                $walk::block(self.as_dyn(), stmts)
            }
            fn stmt(&mut self, stmt: &$($mutable)? Stmt<P>) -> Flow {
                $walk::stmt(self.as_dyn(), stmt)
            }
            /// An expression; by default, visits those below it.
            fn expr(&mut self, expr: &$($mutable)? Expr) -> Flow {
                $walk::expr(self.as_dyn(), expr)
            }
            /// A view: of a copy, a fill, a wait, or a load or store of a fragment.
            fn view(&mut self, view: &$($mutable)? View) -> Flow {
                $walk::view(self.as_dyn(), view)
            }
            /// A pointer argument, through which external C++ accesses the buffer.
            fn pointer(&mut self, view: &$($mutable)? View) -> Flow {
                self.view(view)
            }
            /// An access of one element, and whether it is written; an update counts as a write.
            fn access(&mut self, access: &$($mutable)? Access, _written: bool) -> Flow {
                $walk::access(self.as_dyn(), access)
            }
            /// A symbolic expression that is evaluated at run time.
            fn sym(&mut self, _sym: &$($mutable)? Sym) -> Flow {
                ON
            }
            /// A symbolic expression that only the compiler uses: the frame of a view, the limits
            /// of an access, the mbarrier of a copy.
            fn note(&mut self, sym: &$($mutable)? Sym) -> Flow {
                self.sym(sym)
            }
        }

        /// Any visitor as a trait object: the functions that walk exist once, not for each visitor.
        pub trait $AsVisitor<P: Phase> {
            fn as_dyn(&mut self) -> &mut dyn $Visitor<P>;
        }

        impl<P: Phase, V: $Visitor<P>> $AsVisitor<P> for V {
            fn as_dyn(&mut self) -> &mut dyn $Visitor<P> {
                self
            }
        }

        /// The default implementations of the visitor's methods.
        pub mod $walk {
            use super::*;

            pub fn function<P: Phase>(
                v: &mut dyn $Visitor<P>,
                function: &$($mutable)? Function<P>,
            ) -> Flow {
                for buffer in &$($mutable)? function.buffers {
                    v.buffer(buffer)?;
                }
                v.block(&$($mutable)? function.body)?;
                for kernel in &$($mutable)? function.kernels {
                    v.kernel(kernel)?;
                }
                ON
            }

            pub fn kernel<P: Phase>(
                v: &mut dyn $Visitor<P>,
                kernel: &$($mutable)? Kernel<P>,
            ) -> Flow {
                for extent in &$($mutable)? kernel.grid {
                    v.sym(extent)?;
                }
                v.sym(&$($mutable)? kernel.threads)?;
                v.sym(&$($mutable)? kernel.shared_bytes)?;
                for placed in &$($mutable)? kernel.shared {
                    v.sym(&$($mutable)? placed.offset)?;
                    v.note(&$($mutable)? placed.bytes)?;
                }
                for map in &$($mutable)? kernel.maps {
                    v.sym(&$($mutable)? map.base)?;
                    let sizes = map.extents.$iter().chain(map.strides.$iter());
                    for sym in sizes.chain(map.extent_of_box.$iter()) {
                        v.sym(sym)?;
                    }
                }
                v.block(&$($mutable)? kernel.body)
            }

            pub fn buffer<P: Phase>(
                v: &mut dyn $Visitor<P>,
                buffer: &$($mutable)? Buffer,
            ) -> Flow {
                v.sym(&$($mutable)? buffer.count)?;
                for extent in &$($mutable)? buffer.shape {
                    v.sym(extent)?;
                }
                if let Some(swizzle) = &$($mutable)? buffer.swizzle {
                    v.note(&$($mutable)? swizzle.columns)?;
                    v.note(&$($mutable)? swizzle.rows)?;
                }
                ON
            }

            pub fn block<P: Phase>(
                v: &mut dyn $Visitor<P>,
                stmts: &$($mutable)? [Stmt<P>],
            ) -> Flow {
                for stmt in stmts {
                    v.stmt(stmt)?;
                }
                ON
            }

            pub fn stmt<P: Phase>(
                v: &mut dyn $Visitor<P>,
                stmt: &$($mutable)? Stmt<P>,
            ) -> Flow {
                match &$($mutable)? stmt.kind {
                    StmtKind::Let { value, .. } => {
                        if let Some(value) = value {
                            v.expr(value)?;
                        }
                    }
                    StmtKind::Assign { value, .. } | StmtKind::Eval(value) => v.expr(value)?,
                    StmtKind::Store { access, value, .. } => {
                        v.access(access, true)?;
                        v.expr(value)?;
                    }
                    StmtKind::StorePair(pair) => {
                        v.access(&$($mutable)? pair.access, true)?;
                        for value in &$($mutable)? pair.values {
                            v.expr(value)?;
                        }
                    }
                    StmtKind::Atomic(atomic) => {
                        v.access(&$($mutable)? atomic.access, true)?;
                        if let Some(compare) = &$($mutable)? atomic.compare {
                            v.expr(compare)?;
                        }
                        v.expr(&$($mutable)? atomic.value)?;
                    }
                    StmtKind::For { lo, hi, step, body, .. } => {
                        v.sym(lo)?;
                        v.sym(hi)?;
                        v.sym(step)?;
                        v.block(body)?;
                    }
                    StmtKind::While { prelude, cond, body } => {
                        v.block(prelude)?;
                        v.expr(cond)?;
                        v.block(body)?;
                    }
                    StmtKind::If { cond, then, otherwise } => {
                        v.expr(cond)?;
                        v.block(then)?;
                        v.block(otherwise)?;
                    }
                    StmtKind::Parallel { body, .. } => v.block(body)?,
                    StmtKind::SingleThread { cond, body, .. } => {
                        if let Some(cond) = cond {
                            v.expr(cond)?;
                        }
                        v.block(body)?;
                    }
                    StmtKind::Region { pred, elected_from, body, .. } => {
                        v.expr(pred)?;
                        if let Some((asked, _)) = elected_from {
                            v.expr(asked)?;
                        }
                        v.block(body)?;
                    }
                    StmtKind::Check { cond, values, .. } => {
                        v.expr(cond)?;
                        for value in values {
                            v.expr(value)?;
                        }
                    }
                    StmtKind::Print { parts, .. } => {
                        for part in parts {
                            if let PrintPart::Value(value) = part {
                                v.expr(value)?;
                            }
                        }
                    }
                    StmtKind::Return(values) => {
                        for value in values {
                            if let ReturnValue::Scalar(value) = value {
                                v.expr(value)?;
                            }
                        }
                    }
                    StmtKind::Break
                    | StmtKind::Continue
                    | StmtKind::Yield
                    | StmtKind::Barrier { .. }
                    | StmtKind::Rotate { .. }
                    | StmtKind::UseFuture(_)
                    | StmtKind::CommitCopies
                    | StmtKind::WaitCopies { .. }
                    | StmtKind::Fence(_)
                    | StmtKind::Registers(_)
                    | StmtKind::Cpp { .. }
                    | StmtKind::Alloc(_)
                    | StmtKind::Launch(_)
                    | StmtKind::Exchange(_)
                    | StmtKind::Fetch(_)
                    | StmtKind::AwaitSignal { .. }
                    | StmtKind::Synchronize => {}
                    StmtKind::TriggerSignal(at) => v.sym(&$($mutable)? at.slot)?,
                    _ => tensors(v, stmt)?,
                }
                ON
            }

            /// Statements that copy tiles or use fragments.
            fn tensors<P: Phase>(
                v: &mut dyn $Visitor<P>,
                stmt: &$($mutable)? Stmt<P>,
            ) -> Flow {
                match &$($mutable)? stmt.kind {
                    StmtKind::Copy(copy) => {
                        let copy = P::$only(copy);
                        v.view(&$($mutable)? copy.source)?;
                        v.view(&$($mutable)? copy.dest)?;
                        if let Engine::Tma(tma) = &$($mutable)? copy.engine {
                            if let Some(at) = &$($mutable)? tma.event {
                                event(v, at)?;
                            }
                            if let Some(at) = &$($mutable)? tma.arrival {
                                arrival(v, at)?;
                            }
                        }
                        if let Transform::Pad { low, value } = &$($mutable)? copy.transform {
                            for sym in low {
                                v.sym(sym)?;
                            }
                            v.expr(value)?;
                        }
                    }
                    StmtKind::Fill { view, value, .. } => {
                        v.view(P::$only(view))?;
                        v.expr(value)?;
                    }
                    StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
                        for waited in P::$only(futures) {
                            v.view(&$($mutable)? waited.view)?;
                            if let Some(at) = &$($mutable)? waited.arrival {
                                arrival(v, at)?;
                            }
                        }
                    }
                    StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => event(v, P::$only(at))?,
                    StmtKind::Move(m) => {
                        v.access(&$($mutable)? m.source, false)?;
                        v.access(&$($mutable)? m.dest, true)?;
                        if let MoveMode::Async { inside: Some(inside) } = &$($mutable)? m.mode {
                            v.expr(inside)?;
                        }
                    }
                    StmtKind::Tma(op) => tma(v, op)?,
                    StmtKind::Mma(op) => mma(v, op)?,
                    // Handled by `stmt`; listed by name, so that a new kind must be added to one of
                    // the two.
                    StmtKind::Let { .. }
                    | StmtKind::Assign { .. }
                    | StmtKind::Store { .. }
                    | StmtKind::StorePair(_)
                    | StmtKind::Atomic(_)
                    | StmtKind::For { .. }
                    | StmtKind::While { .. }
                    | StmtKind::If { .. }
                    | StmtKind::Break
                    | StmtKind::Continue
                    | StmtKind::Yield
                    | StmtKind::Parallel { .. }
                    | StmtKind::SingleThread { .. }
                    | StmtKind::Region { .. }
                    | StmtKind::AwaitSignal { .. }
                    | StmtKind::Rotate { .. }
                    | StmtKind::UseFuture(_)
                    | StmtKind::CommitCopies
                    | StmtKind::WaitCopies { .. }
                    | StmtKind::Barrier { .. }
                    | StmtKind::Fence(_)
                    | StmtKind::Registers(_)
                    | StmtKind::Check { .. }
                    | StmtKind::Print { .. }
                    | StmtKind::Eval(_)
                    | StmtKind::Cpp { .. }
                    | StmtKind::Alloc(_)
                    | StmtKind::Launch(_)
                    | StmtKind::TriggerSignal(_)
                    | StmtKind::Exchange(_)
                    | StmtKind::Fetch(_)
                    | StmtKind::Synchronize
                    | StmtKind::Return(_) => {}
                }
                ON
            }

            fn event<P: Phase>(
                v: &mut dyn $Visitor<P>,
                at: &$($mutable)? EventAt,
            ) -> Flow {
                match &$($mutable)? at.slot {
                    Slot::At(sym) | Slot::Order(sym) => v.sym(sym)?,
                    Slot::All => {}
                }
                shared(v, &$($mutable)? at.sharing)
            }

            fn shared<P: Phase>(
                v: &mut dyn $Visitor<P>,
                sharing: &$($mutable)? Sharing,
            ) -> Flow {
                if let Some((_, Some(leader))) = &$($mutable)? sharing.unit {
                    v.expr(leader)?;
                }
                for value in &$($mutable)? sharing.after {
                    v.expr(value)?;
                }
                ON
            }

            fn arrival<P: Phase>(
                v: &mut dyn $Visitor<P>,
                at: &$($mutable)? Arrival,
            ) -> Flow {
                v.note(&$($mutable)? at.slot)?;
                match &$($mutable)? at.bit {
                    Some(bit) => v.note(bit),
                    None => ON,
                }
            }

            fn tma<P: Phase>(v: &mut dyn $Visitor<P>, op: &$($mutable)? TmaOp) -> Flow {
                match op {
                    TmaOp::Initialise { slots, count, .. } => {
                        v.sym(slots)?;
                        v.sym(count)
                    }
                    TmaOp::Arrive { slot, sharing, .. } => {
                        v.sym(slot)?;
                        shared(v, sharing)
                    }
                    TmaOp::Expect { slot, bytes, .. } | TmaOp::Announce { slot, bytes, .. } => {
                        v.sym(slot)?;
                        v.sym(bytes)
                    }
                    TmaOp::Wait { slot, phase, .. } => {
                        v.sym(slot)?;
                        v.expr(phase)
                    }
                    TmaOp::Load { moved: m, slot, .. } => {
                        moved(v, m)?;
                        v.sym(slot)
                    }
                    TmaOp::Store { moved: m } => moved(v, m),
                    TmaOp::Prefetch { .. } | TmaOp::WaitStores { .. } => ON,
                }
            }

            fn moved<P: Phase>(
                v: &mut dyn $Visitor<P>,
                m: &$($mutable)? TmaMove,
            ) -> Flow {
                for coordinate in &$($mutable)? m.coordinates {
                    v.sym(coordinate)?;
                }
                v.sym(&$($mutable)? m.offset)
            }

            fn part<P: Phase>(
                v: &mut dyn $Visitor<P>,
                part: &$($mutable)? Part,
            ) -> Flow {
                match &$($mutable)? part.number {
                    Some(number) => v.sym(number),
                    None => ON,
                }
            }

            fn mma<P: Phase>(
                v: &mut dyn $Visitor<P>,
                op: &$($mutable)? MmaOp<P>,
            ) -> Flow {
                match op {
                    MmaOp::FillElements { part: of, value, .. } => {
                        part(v, P::$only(of))?;
                        v.expr(value)
                    }
                    MmaOp::Apply { part: of, body, .. } => {
                        part(v, P::$only(of))?;
                        v.block(body)
                    }
                    MmaOp::AllReduce { part: of } => part(v, P::$only(of)),
                    MmaOp::Load { into, source } => {
                        v.view(source)?;
                        part(v, P::$only(into))
                    }
                    MmaOp::Store { from, columns, dest, .. } => {
                        v.view(dest)?;
                        if let Some(columns) = columns {
                            v.sym(&$($mutable)? columns.first)?;
                        }
                        part(v, P::$only(from))
                    }
                    MmaOp::Multiply { acc, a, b, metadata, .. } => {
                        part(v, P::$only(acc))?;
                        part(v, a)?;
                        part(v, b)?;
                        match metadata {
                            Some(metadata) => part(v, metadata),
                            None => ON,
                        }
                    }
                    MmaOp::Reduce { into, from, .. } | MmaOp::Convert { into, from } => {
                        part(v, P::$only(into))?;
                        part(v, from)
                    }
                    MmaOp::WarpgroupMma(mma) => {
                        let mma = P::$only(mma);
                        if let Operand::Memory(tile) = &$($mutable)? mma.a {
                            v.view(&$($mutable)? tile.view)?;
                        }
                        v.view(&$($mutable)? mma.b.view)?;
                        part(v, &$($mutable)? mma.acc)?;
                        if let Operand::Registers(registers) = &$($mutable)? mma.a {
                            part(v, registers)?;
                        }
                        if let Some(metadata) = &$($mutable)? mma.metadata {
                            part(v, metadata)?;
                        }
                        v.expr(&$($mutable)? mma.accumulate)
                    }
                    MmaOp::CommitAll(_) | MmaOp::WaitMma(_) => ON,
                    MmaOp::Instruction { parts, metadata, .. } => {
                        let [acc, a, b] = &$($mutable)? **parts;
                        v.access(acc, true)?;
                        v.access(a, false)?;
                        v.access(b, false)?;
                        match metadata {
                            Some(metadata) => {
                                v.access(&$($mutable)? metadata.register, false)
                            }
                            None => ON,
                        }
                    }
                    MmaOp::Matrices { registers, memory, stored, .. } => {
                        v.access(registers, !*stored)?;
                        v.access(memory, *stored)
                    }
                    MmaOp::Step(s) => step(v, s),
                }
            }

            fn step<P: Phase>(v: &mut dyn $Visitor<P>, step: &$($mutable)? Step) -> Flow {
                match step {
                    Step::Describe { of, leading, .. } => {
                        v.access(of, false)?;
                        v.sym(leading)
                    }
                    Step::Advance { bytes, .. } => v.sym(bytes),
                    Step::Instruction(i) => {
                        v.access(&$($mutable)? i.acc, true)?;
                        if let Source::Registers(a) = &$($mutable)? i.a {
                            v.access(a, false)?;
                        }
                        if let Some(metadata) = &$($mutable)? i.metadata {
                            v.access(&$($mutable)? metadata.register, false)?;
                        }
                        v.expr(&$($mutable)? i.accumulate)
                    }
                    Step::Fence { .. } | Step::Commit | Step::Wait { .. } => ON,
                }
            }

            pub fn expr<P: Phase>(
                v: &mut dyn $Visitor<P>,
                expr: &$($mutable)? Expr,
            ) -> Flow {
                match &$($mutable)? *expr.kind {
                    ExprKind::Index(sym) => v.sym(sym),
                    ExprKind::Unary(_, a) | ExprKind::Cast(a) => v.expr(a),
                    ExprKind::Binary(_, a, b) => {
                        v.expr(a)?;
                        v.expr(b)
                    }
                    ExprKind::Select(a, b, c) => {
                        v.expr(a)?;
                        v.expr(b)?;
                        v.expr(c)
                    }
                    ExprKind::Math(_, args) | ExprKind::Intrinsic(_, args) => {
                        for arg in args {
                            v.expr(arg)?;
                        }
                        ON
                    }
                    ExprKind::Load(access) => v.access(access, false),
                    ExprKind::Call(call) => {
                        for arg in &$($mutable)? call.args {
                            argument(v, arg)?;
                        }
                        ON
                    }
                    ExprKind::Fits(Fits::Value(value)) => v.sym(value),
                    ExprKind::Fits(Fits::Bound { terms, .. }) => {
                        for (_, factors) in terms {
                            for factor in factors {
                                v.sym(factor)?;
                            }
                        }
                        ON
                    }
                    ExprKind::Int(_)
                    | ExprKind::Float(_)
                    | ExprKind::Bool(_)
                    | ExprKind::Local(_)
                    | ExprKind::Param(_) => ON,
                }
            }

            fn argument<P: Phase>(
                v: &mut dyn $Visitor<P>,
                arg: &$($mutable)? Arg,
            ) -> Flow {
                match arg {
                    Arg::Value(value) => v.expr(value),
                    Arg::Pointer(view) => v.pointer(view),
                    Arg::Cast(_, inner) => argument(v, inner),
                    Arg::Null => ON,
                }
            }

            pub fn view<P: Phase>(
                v: &mut dyn $Visitor<P>,
                view: &$($mutable)? View,
            ) -> Flow {
                v.sym(&$($mutable)? view.offset)?;
                for sym in view.shape.$iter().chain(view.strides.$iter()) {
                    v.sym(sym)?;
                }
                for valid in &$($mutable)? view.valid {
                    for sym in valid.lo.$iter().chain(valid.hi.$iter()) {
                        v.sym(sym)?;
                    }
                }
                frame(v, view)
            }

            fn frame<P: Phase>(
                v: &mut dyn $Visitor<P>,
                view: &$($mutable)? View,
            ) -> Flow {
                if let Some(frame) = &$($mutable)? view.frame {
                    let sizes = frame.extents.$iter().chain(frame.strides.$iter());
                    for sym in sizes.chain(frame.origin.$iter()) {
                        v.note(sym)?;
                    }
                }
                ON
            }

            pub fn access<P: Phase>(
                v: &mut dyn $Visitor<P>,
                access: &$($mutable)? Access,
            ) -> Flow {
                let view = &$($mutable)? access.view;
                v.sym(&$($mutable)? view.offset)?;
                for sym in view.strides.$iter().chain(access.indices.$iter()) {
                    v.sym(sym)?;
                }
                for sym in &$($mutable)? view.shape {
                    v.note(sym)?;
                }
                for valid in &$($mutable)? view.valid {
                    for sym in valid.lo.$iter().chain(valid.hi.$iter()) {
                        v.note(sym)?;
                    }
                }
                frame(v, view)
            }
        }
    };
}

visitor! {
    /// Reads statements.
    Visitor, AsVisitor, walk, [], iter, only
}
visitor! {
    /// Changes statements in place.
    VisitorMut, AsVisitorMut, walk_mut, [mut], iter_mut, only_mut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::testing;

    /// Names of the variables in all symbolic expressions of a function.
    fn variables(text: &str) -> Vec<String> {
        struct Find<'f>(&'f Function, Vec<String>);
        impl Visitor for Find<'_> {
            fn sym(&mut self, sym: &Sym) -> Flow {
                for var in sym.vars() {
                    self.1.push(self.0.cx.name(var).to_owned());
                }
                ON
            }
        }
        let function = testing::function(text);
        let mut find = Find(&function, Vec::new());
        assert_eq!(find.function(&function), ON);
        find.1
    }

    #[test]
    fn a_function_is_visited_with_its_grids_and_memory() {
        let found = variables(
            "__co__ void f(s32 blocks, s32 threads, s32 extent) {
               f32 [extent] unused;
               parallel by blocks : block, by threads : thread println(extent);
             }",
        );
        for name in ["blocks", "threads", "extent"] {
            assert!(found.iter().any(|n| n == name), "{name}: {found:?}");
        }
    }
}
