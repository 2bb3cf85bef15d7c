//! Wide accesses of element-wise kernels: each thread takes several neighbouring instances.
//!
//! A kernel of one `parallel` over elements accesses as many bytes per instruction as an element
//! has. Where the elements of neighbouring threads are neighbours in memory, one thread can take
//! the instances of several threads, and load and store their elements by accesses of up to 16
//! bytes. A quarter of the blocks then does the same work by fewer instructions, for four bytes an
//! element.
//!
//! The transformation has two steps:
//!
//! * [`instances`]: `W` neighbouring threads of a block become one, and `W` neighbouring blocks one
//!   block, by a substitution in the indices of the kernel. The body is repeated for the positions
//!   `0 .. W` of the group.
//! * [`group`]: the repeated body becomes one of vectors: loads first, then the positions one after
//!   the other, then stores. It runs if all positions do the same and the vectors are aligned;
//!   otherwise the positions run one after the other with accesses of single elements.
//!
//! Results are the same, because the instances are independent: no two of them access one element
//! that one of them writes (`shared-by-instances` has proved that), nothing orders them, and
//! nothing that they do shows the number of the thread. Buffers never overlap. A failed check, an
//! index of which `W` positions are not all inside, is always found on the way without vectors, by
//! the same instance as before.

mod group;
mod instances;
mod loops;
mod multiples;
mod sums;
mod survey;
#[cfg(test)]
mod tests;

use crate::ir::{
    BufferId, Expr, ExprKind, Function, Intrinsic, Kernel, KernelId, Level, MathFn, ParamKind,
    Scalar, Stmt, StmtKind, VarHome, Visit, any_in, walk_block,
};
use crate::passes::transform::exact::first_large;
use crate::symbolic::Sym;
pub use loops::widen_loops;
pub use sums::add_together;
use survey::WIDEST;

/// The least bytes of an access that make a group worthwhile.
const LEAST: i64 = 8;
/// The greatest cost of a group's operations, because all positions are unrolled.
const MOST_WORK: i64 = 1200;
/// The elements of a thread with several vectors, and the cost of their operations. The more
/// elements, the fewer instructions of each are for addresses.
const ELEMENTS: i64 = 16;
const MOST_WORK_OF_ALL: i64 = 640;
/// With fewer groups than this a GPU has too few threads, and the latency of one thread decides.
const FEWEST_GROUPS: i64 = 16 * 1024;

pub fn widen(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let Some((bytes, threads)) = suitable(function, kernel) else {
        return;
    };
    let work = work(&kernel.body).max(1);
    let instances = instances(kernel, threads);
    // Blocks beside each other along one axis only: most blocks of rows would have no second vector.
    let [_, y, z] = &kernel.grid;
    let is_line = y.is_one() && z.is_one();
    let mut width = WIDEST / bytes;
    while width >= 2 && width * bytes >= LEAST {
        let mut vectors = if is_line { ELEMENTS / width } else { 1 }.clamp(1, 4);
        while vectors >= 1 {
            let elements = width * vectors;
            let few = instances.is_some_and(|n| n / elements < FEWEST_GROUPS);
            let most = if vectors > 1 {
                MOST_WORK_OF_ALL
            } else {
                MOST_WORK
            };
            let suits = !few && threads % width == 0 && work.saturating_mul(elements) <= most;
            if suits
                && let Some(changed) = instances::grouped(function, id, (width, vectors), threads)
            {
                if is_large(function, id, &changed.body) {
                    return;
                }
                if let Some(kernel) = function.kernels.get_mut(id.index()) {
                    *kernel = changed;
                }
                return;
            }
            vectors /= 2;
        }
        width /= 2;
    }
}

/// Whether integers exceed the limits of the compiler, in the kernel or in what would take the place of
/// its body. `exact-integers` reports them, also where no text is generated and nothing is widened: the
/// reports must be the same.
fn is_large(function: &Function, id: KernelId, changed: &[Stmt]) -> bool {
    let kernel = function.kernels.get(id.index());
    let bodies = kernel.map(|kernel| kernel.body.as_slice());
    let mut bodies = bodies.into_iter().chain([changed]);
    bodies.any(|body| first_large(body).is_some())
}

/// The number of a launch's instances, if it is known.
fn instances(kernel: &Kernel, threads: i64) -> Option<i64> {
    let blocks: Sym = kernel.grid.iter().product();
    Some(blocks.as_int()?.saturating_mul(threads))
}

/// The size of the largest element that an address with thread numbers selects, and the number of
/// threads; `None` if something may show or order the instances.
fn suitable(function: &Function, kernel: &Kernel) -> Option<(i64, i64)> {
    let attrs = &kernel.attrs;
    let facts = &kernel.facts;
    let plain = !kernel.is_clustered()
        && attrs.cooperative.is_none()
        && attrs.launch_bounds.is_none()
        && attrs.maxnreg.is_none()
        && kernel.one_thread.is_none()
        && kernel.shared.is_empty()
        && kernel.maps.is_empty()
        && facts.tracked.is_empty()
        && facts.escaping.is_empty()
        && !facts.ordered;
    let threads = kernel.threads.as_int()?;
    let (last, before) = kernel.body.split_last()?;
    let StmtKind::Parallel {
        level: Level::Thread,
        body,
    } = &last.kind
    else {
        return None;
    };
    let names = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Let { value: Some(_), .. });
    let shows = shows_instances(body) || shows_instances(before);
    if !plain || !before.iter().all(names) || shows || uses_long_argument(function, &kernel.body) {
        return None;
    }
    let mut buffers = Buffers {
        function,
        bytes: Vec::new(),
        suit: true,
    };
    walk_block(&kernel.body, &mut buffers);
    // The largest elements decide; those that all instances of a group share do not matter.
    let shared = survey::constant_in_threads(function, &kernel.body);
    let sizes = buffers.bytes.iter();
    let varying = sizes.filter(|(id, _)| !shared.contains(id));
    let most = varying.map(|(_, bytes)| *bytes).max()?;
    buffers.suit.then_some((most, threads))
}

/// Whether an integer argument of 64 bits is used. The host checks integers that all instances
/// compute from it, which it could not tell of those on several ways.
fn uses_long_argument(function: &Function, body: &[Stmt]) -> bool {
    struct Uses<'a>(&'a Function, bool);
    impl Visit for Uses<'_> {
        fn sym(&mut self, sym: &Sym) {
            self.1 |= sym.sorted_vars().iter().any(|var| {
                let Some(VarHome::Param(id)) = self.0.var_home.get(var) else {
                    return false;
                };
                matches!(self.0.param(*id).kind, ParamKind::Scalar { ty, .. } if ty.bytes() > 4)
            });
        }
    }
    let mut uses = Uses(function, false);
    walk_block(body, &mut uses);
    uses.1
}

/// Statements and expressions that show which thread executes them, order threads, or have an
/// effect besides stores.
fn shows_instances(body: &[Stmt]) -> bool {
    let stmt = |stmt: &Stmt| {
        !matches!(
            stmt.kind,
            StmtKind::Let { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Store { .. }
                | StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Check { .. }
                | StmtKind::Break
                | StmtKind::Continue
        )
    };
    let expr = |e: &Expr| match &*e.kind {
        ExprKind::Call(_) => true,
        ExprKind::Intrinsic(of, _) => !matches!(of, Intrinsic::Thread | Intrinsic::Block(_)),
        _ => false,
    };
    any_in(body, stmt, expr)
}

/// The buffers of a kernel, with the sizes of their elements.
struct Buffers<'a> {
    function: &'a Function,
    bytes: Vec<(BufferId, i64)>,
    suit: bool,
}

impl Visit for Buffers<'_> {
    fn access(&mut self, access: &crate::ir::Access, _written: bool) {
        let id = access.view.buffer;
        let Some(buffer) = self.function.buffers.get(id.index()) else {
            self.suit = false;
            return;
        };
        // The byte of a `bool` is tested at each load.
        let whole = !buffer.elem.is_packed() && buffer.elem != Scalar::Bool;
        self.suit &= buffer.storage.is_global() && whole;
        let bytes = i64::try_from(buffer.elem.bytes()).unwrap_or(WIDEST);
        self.bytes.push((id, bytes));
    }
}

/// The cost of one instance's operations, roughly in instructions.
fn work(body: &[Stmt]) -> i64 {
    struct Cost(i64);
    impl Visit for Cost {
        fn stmt(&mut self, _stmt: &Stmt) {
            self.0 += 1;
        }
        fn expr(&mut self, e: &Expr) {
            self.0 += match &*e.kind {
                ExprKind::Math(MathFn::Sin | MathFn::Cos | MathFn::Tan | MathFn::Pow, _) => 400,
                ExprKind::Math(..) => 20,
                _ => 1,
            };
        }
    }
    let mut cost = Cost(0);
    walk_block(body, &mut cost);
    cost.0
}
