//! Device memory that a call allocates and whose first use is a launch that writes all of it: it
//! need not be cleared.
//!
//! The proof is by one statement of the kernel that writes the same box of elements in every
//! instance that reaches it, at a place that the instance's indices determine. Along each axis of
//! the tensor, the place is a number in mixed radix whose digits are indices: `length · a +
//! length · A · b + …` for the extents `A`, `B`, …. The statement writes all elements if
//!
//! * each digit takes all of its values, independently of the others: an index of a `parallel` does,
//!   and that of a loop from 0 by 1 without `break` and `continue`, but not that of a `: cluster`,
//!   which is the remainder of a block's; no digit belongs to two axes;
//! * along each axis, the product of the radices and the length is at least the tensor's extent;
//! * the enclosing indices, digits or not, have a value at all;
//! * each condition around it is `place < bound`, for the place along an axis and a bound of at
//!   least the extent, or is provably true;
//! * in an `inthreads`, at least one thread is known to execute it, and the indices of threads are
//!   no digits;
//! * no thread leaves the kernel early, and no code that is opaque to the compiler could make it.
//!
//! A launch that fails ends the call with an error, which has no result. With
//! [`crate::Checks::Report`] a failed check skips stores, and with fewer checks nothing ensures the
//! conditions of the proof, so both are left out.

use crate::ir::{
    Access, BinOp, BufferId, Copy, Expr, ExprKind, Frame, Function, Intrinsic, Kernel, KernelId,
    Level, LocalId, MmaOp, Role, Stmt, StmtKind, Storage, Transform, View, Visit, any_in,
    walk_block,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

/// Records the buffers, each with the kernel that is launched first.
pub fn find(function: &mut Function) {
    let mut found = Vec::new();
    if !function.reports {
        in_block(function, &function.body, &mut found);
    }
    for (id, buffer) in found {
        if let Some(kernel) = function.kernels.get_mut(id.index()) {
            kernel.facts.whole.push(buffer);
        }
    }
}

/// The allocations among these host statements.
fn in_block(function: &Function, stmts: &[Stmt], found: &mut Vec<(KernelId, BufferId)>) {
    for (at, stmt) in stmts.iter().enumerate() {
        if let StmtKind::Alloc(buffer) = stmt.kind
            && let Some(info) = function.buffers.get(buffer.index())
            && info.storage == Storage::Host
            // A store of a packed element reads those beside it.
            && !info.elem.is_packed()
            && let Some(id) = first_use(function, stmts.get(at + 1..).unwrap_or_default(), buffer)
            && let Some(kernel) = function.kernels.get(id.index())
            && is_written_whole(function, kernel, buffer)
        {
            found.push((id, buffer));
        }
        for block in stmt.kind.blocks() {
            in_block(function, block, found);
        }
    }
}

/// The launch that uses the buffer first, if all paths from here that do not end the call lead to
/// it.
fn first_use(function: &Function, stmts: &[Stmt], buffer: BufferId) -> Option<KernelId> {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Launch(id) => {
                let kernel = function.kernels.get(id.index())?;
                if Uses::of(kernel, buffer).any {
                    return Some(*id);
                }
            }
            StmtKind::Alloc(other) if *other != buffer => {}
            // The host reads elements of a buffer after a `Fetch` only.
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Check { .. }
            | StmtKind::Print { .. }
            | StmtKind::Synchronize => {}
            _ => return None,
        }
    }
    None
}

/// A kernel's uses of a buffer.
struct Uses {
    buffer: BufferId,
    any: bool,
    /// More than stores and copies to it.
    others: bool,
    stores: usize,
    accesses: usize,
}

impl Uses {
    fn of(kernel: &Kernel, buffer: BufferId) -> Self {
        let mut uses = Uses {
            buffer,
            any: false,
            others: false,
            stores: 0,
            accesses: 0,
        };
        walk_block(&kernel.body, &mut uses);
        uses.others |= uses.stores != uses.accesses;
        uses
    }

    fn writes(&mut self, view: &View) {
        self.stores += usize::from(view.buffer == self.buffer);
    }
}

impl Visit for Uses {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Store {
                access, op: None, ..
            } => self.writes(&access.view),
            StmtKind::Copy(copy) => self.writes(&copy.dest),
            StmtKind::Fill { view, .. } => self.writes(view),
            StmtKind::Mma(op) => {
                if let MmaOp::Store { dest, .. } = &**op {
                    self.writes(dest);
                }
            }
            StmtKind::Cpp { .. } => self.others = true,
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        let used = view.buffer == self.buffer;
        self.any |= used;
        self.accesses += usize::from(used);
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.view(&access.view);
    }
}

fn is_written_whole(function: &Function, kernel: &Kernel, buffer: BufferId) -> bool {
    let opaque = any_in(
        &kernel.body,
        |stmt| {
            matches!(
                stmt.kind,
                StmtKind::Yield | StmtKind::Cpp { .. } | StmtKind::Eval(_)
            )
        },
        |expr| matches!(&*expr.kind, ExprKind::Call(_)),
    );
    if opaque || Uses::of(kernel, buffer).others {
        return false;
    }
    let mut walk = Walk {
        function,
        kernel,
        buffer,
        indices: Vec::new(),
        guards: Vec::new(),
        hardware: Hardware::default(),
        region: Region::None,
        proven: false,
    };
    let runs = kernel.grid.iter().all(|extent| walk.is_positive(extent));
    walk.block(&kernel.body);
    runs && walk.proven
}

/// A variable that takes all values from 0 to below `extent`.
struct Index {
    var: Var,
    extent: Sym,
    /// Whether threads of a block differ in it.
    of_threads: bool,
}

/// The variables for the linear numbers of the block and of the thread in it.
#[derive(Default)]
struct Hardware {
    block: Option<Var>,
    thread: Option<Var>,
}

/// The enclosing `inthreads`.
#[derive(Clone, Copy, PartialEq)]
enum Region {
    None,
    /// At least one thread executes it. The value is the largest aligned unit of which no part is
    /// missing: 128 or 32 threads, or 1.
    Of(u32),
}

struct Walk<'a> {
    function: &'a Function,
    kernel: &'a Kernel,
    buffer: BufferId,
    indices: Vec<Index>,
    /// Conditions `a < b` around the statement.
    guards: Vec<(Sym, Sym)>,
    hardware: Hardware,
    region: Region,
    proven: bool,
}

impl Walk<'_> {
    fn is_positive(&self, extent: &Sym) -> bool {
        self.function.cx.lt(&Sym::zero(), extent).is_yes()
    }

    fn at_most(&self, a: &Sym, b: &Sym) -> bool {
        self.function.cx.le(a, b).is_yes()
    }

    fn same(&self, a: &Sym, b: &Sym) -> bool {
        self.function.cx.eq(a, b).is_yes()
    }

    /// The statements, with the indices that they declare in scope.
    fn block(&mut self, stmts: &[Stmt]) {
        let indices = self.indices.len();
        stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.indices.truncate(indices);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { local, value } => self.declaration(*local, value.as_ref()),
            StmtKind::Parallel { body, .. } => self.block(body),
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let whole = lo.is_zero() && step.is_one();
                let leaves = body.iter().any(Stmt::leaves_iteration);
                let local = self.function.locals.get(local.index());
                if let (true, false, Some(var)) = (whole, leaves, local.and_then(|l| l.var)) {
                    let extent = hi.clone();
                    self.indices.push(Index {
                        var,
                        extent,
                        of_threads: false,
                    });
                    self.block(body);
                    self.indices.pop();
                }
            }
            StmtKind::If { cond, then, .. } => self.guarded(cond, then),
            StmtKind::Region {
                set: Some(set),
                body,
                ..
            } if self.region == Region::None && !set.is_empty() => {
                let unit = [128, 32].into_iter().find(|unit| set.is_whole(*unit));
                self.region = Region::Of(unit.unwrap_or(1));
                self.block(body);
                self.region = Region::None;
            }
            StmtKind::Store {
                access, op: None, ..
            } if access.view.buffer == self.buffer => self.store(access),
            StmtKind::Copy(copy) if copy.dest.buffer == self.buffer => {
                if self.copies_all(copy) && self.shares(copy.level) {
                    self.tile(&copy.dest);
                }
            }
            StmtKind::Fill { view, level, .. } if view.buffer == self.buffer => {
                if self.shares(*level) {
                    self.tile(view);
                }
            }
            StmtKind::Mma(op) => match &**op {
                MmaOp::Store { dest, .. } if dest.buffer == self.buffer => {
                    if matches!(self.region, Region::None | Region::Of(128)) {
                        self.tile(dest);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Whether all threads of a unit of the level are there to share the work.
    fn shares(&self, level: Level) -> bool {
        match (self.region, level.threads()) {
            (Region::None, _) => true,
            (Region::Of(whole), Some(unit)) => whole >= unit,
            (Region::Of(_), None) => false,
        }
    }

    fn declaration(&mut self, local: LocalId, value: Option<&Expr>) {
        let Some(info) = self.function.locals.get(local.index()) else {
            return;
        };
        let Some(var) = info.var else {
            return;
        };
        if let Some(ExprKind::Intrinsic(of, _)) = value.map(|value| &*value.kind) {
            match of {
                Intrinsic::Block(0) => self.hardware.block = Some(var),
                Intrinsic::Thread => self.hardware.thread = Some(var),
                _ => {}
            }
        }
        if let (Role::Parallel(level), (Some(lo), Some(hi))) =
            (info.role, self.function.cx.bounds(var))
            && level != Level::Cluster
            && lo.is_zero()
        {
            self.indices.push(Index {
                var,
                extent: hi + &Sym::one(),
                of_threads: level > Level::Block,
            });
        }
    }

    fn guarded(&mut self, cond: &Expr, then: &[Stmt]) {
        let mut guards = Vec::new();
        if !comparisons(cond, &mut guards) {
            return;
        }
        if let [(number, count)] = guards.as_slice()
            && self.guards.is_empty()
            && self.numbers_all(number, count, then)
        {
            // The indices are computed from these numbers, so both cannot be digits.
            let numbers = std::mem::take(&mut self.indices);
            self.block(then);
            self.indices = numbers;
            return;
        }
        let before = self.guards.len();
        self.guards.append(&mut guards);
        self.block(then);
        self.guards.truncate(before);
    }

    /// Whether `number` is that of a thread in the grid, which has at least `count` threads, and the
    /// statements begin with indices that have `count` combinations of values: where a level has
    /// more instances than a block has threads, this is its condition for superfluous threads.
    fn numbers_all(&self, number: &Sym, count: &Sym, then: &[Stmt]) -> bool {
        let Kernel { grid, threads, .. } = self.kernel;
        let (Some(block), Some(thread)) = (self.hardware.block, self.hardware.thread) else {
            return false;
        };
        let mut combinations = Sym::one();
        for stmt in then {
            if let StmtKind::Let { local, .. } = &stmt.kind
                && let Some(info) = self.function.locals.get(local.index())
                && let (Role::Parallel(_), Some(var)) = (info.role, info.var)
                && let (_, Some(hi)) = self.function.cx.bounds(var)
            {
                combinations = &combinations * &(hi + &Sym::one());
            }
        }
        let [x, y, z] = grid;
        let of_grid = &(threads * &Sym::var(block)) + &Sym::var(thread);
        y.is_one()
            && z.is_one()
            && self.indices.iter().all(|i| self.is_positive(&i.extent))
            && self.same(number, &of_grid)
            && self.at_most(count, &(x * threads))
            && self.same(count, &combinations)
    }

    fn store(&mut self, access: &Access) {
        let view = &access.view;
        let Some(frame) = self.frame(view) else {
            return;
        };
        let mut places = frame.origin.clone();
        for (axis, index) in frame.axes.iter().zip(&access.indices) {
            if let Some(place) = places.get_mut(*axis) {
                *place = &*place + index;
            }
        }
        let lengths = vec![Sym::one(); places.len()];
        let steps = places.iter().zip(&frame.strides);
        let address = steps.fold(Sym::zero(), |sum, (place, stride)| &sum + &(place * stride));
        if self.same(&address, &access.address()) {
            self.conclude(&frame.extents, &places, &lengths);
        }
    }

    /// A statement that writes all elements of the view.
    fn tile(&mut self, view: &View) {
        let Some(frame) = self.frame(view) else {
            return;
        };
        let mut lengths = vec![Sym::one(); frame.origin.len()];
        for ((axis, extent), valid) in frame.axes.iter().zip(&view.shape).zip(&view.valid) {
            let (Some(length), Some(origin), Some(of_tensor)) = (
                lengths.get_mut(*axis),
                frame.origin.get(*axis),
                frame.extents.get(*axis),
            ) else {
                return;
            };
            *length = extent.clone();
            // Nothing but the tensor's edge bounds the tile.
            let bounded = valid
                .hi
                .as_ref()
                .is_some_and(|hi| !self.same(hi, &(of_tensor - origin)));
            if valid.lo.is_some() || bounded {
                return;
            }
        }
        self.conclude(&frame.extents, &frame.origin, &lengths);
    }

    /// The view's frame, if it is the whole buffer, row by row.
    fn frame<'v>(&self, view: &'v View) -> Option<&'v Frame> {
        let frame = view.frame.as_ref()?;
        let buffer = self.function.buffers.get(view.buffer.index())?;
        let mut step = Sym::one();
        for (extent, stride) in frame.extents.iter().zip(&frame.strides).rev() {
            if !extent.is_one() && !self.same(stride, &step) {
                return None;
            }
            step = &step * extent;
        }
        let whole = frame.base(&view.offset).is_zero() && self.same(&step, &buffer.count);
        let axes: SortedSet<&usize> = frame.axes.iter().collect();
        (whole && axes.len() == frame.axes.len()).then_some(frame)
    }

    /// Whether the copy writes all elements of its destination that are inside the tensor.
    fn copies_all(&self, copy: &Copy) -> bool {
        let Copy {
            source,
            dest,
            transform,
            zero_fill,
            ..
        } = copy;
        let reaches = |axis: usize, to: &Sym| {
            let from = source.shape.get(axis);
            from.is_some_and(|from| self.at_most(to, from))
        };
        let axes: Vec<usize> = match transform {
            Transform::Pad { .. } => return false,
            Transform::None => (0..dest.rank()).collect(),
            Transform::Transpose(axes) => axes.clone(),
        };
        let shapes = source.rank() == dest.rank()
            && axes.len() == dest.rank()
            && (axes.iter().zip(&dest.shape)).all(|(axis, to)| reaches(*axis, to));
        // Elements beyond the source's edge are beyond that of the destination as well.
        let edges = axes.iter().zip(&dest.valid).all(|(axis, to)| {
            source
                .valid
                .get(*axis)
                .is_some_and(|from| (from.lo.is_none() && from.hi.is_none()) || from == to)
        });
        shapes && (*zero_fill || edges)
    }

    /// Whether boxes of these lengths at these places are all of the tensor.
    fn conclude(&mut self, extents: &[Sym], places: &[Sym], lengths: &[Sym]) {
        let mut digits = SortedSet::new();
        let axes = extents.iter().zip(places).zip(lengths);
        let reached = axes.clone().all(|((extent, place), length)| {
            self.reach(place, length, &mut digits)
                .is_some_and(|reach| self.at_most(extent, &reach))
        });
        // Digits as well: the product of two negative extents may exceed that of the tensor. A region's
        // threads have values of their indices.
        let in_region = self.region != Region::None;
        let mut counted = (self.indices.iter()).filter(|index| !(in_region && index.of_threads));
        let run = counted.all(|index| self.is_positive(&index.extent));
        let guards = self.guards.iter().all(|(a, b)| {
            let of_axis = |((extent, place), length): ((&Sym, &Sym), &Sym)| {
                length.is_one() && self.same(a, place) && self.at_most(extent, b)
            };
            self.function.cx.lt(a, b).is_yes() || axes.clone().any(of_axis)
        });
        self.proven |= reached && run && guards;
    }

    /// The end of the elements that boxes of this length at this place cover, from 0 on without a
    /// gap.
    fn reach(&self, place: &Sym, length: &Sym, digits: &mut SortedSet<Var>) -> Option<Sym> {
        let (mut rest, mut reach) = (place.clone(), length.clone());
        while !rest.is_zero() {
            let digit = self.indices.iter().find_map(|index| {
                let in_part = index.of_threads && self.region != Region::None;
                let taken = digits.contains(&index.var) || in_part;
                let (step, without) = rest.linear_in(index.var).filter(|_| !taken)?;
                self.same(&step, &reach).then_some((index, without))
            });
            let (index, without) = digit?;
            digits.insert(index.var);
            reach = &reach * &index.extent;
            rest = without;
        }
        Some(reach)
    }
}

/// The conjuncts `a < b` of a condition; false if it has others.
fn comparisons(cond: &Expr, all: &mut Vec<(Sym, Sym)>) -> bool {
    match &*cond.kind {
        ExprKind::Binary(BinOp::LogicAnd, a, b) => comparisons(a, all) && comparisons(b, all),
        ExprKind::Binary(BinOp::Lt, a, b) => match (&*a.kind, &*b.kind) {
            (ExprKind::Index(a), ExprKind::Index(b)) => {
                all.push((a.clone(), b.clone()));
                true
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::sema::testing;

    /// The names of the buffers that need not be cleared.
    fn whole(text: &str) -> Vec<String> {
        let mut function = testing::function(text);
        find(&mut function);
        let whole = function.kernels.iter().flat_map(|k| &k.facts.whole);
        whole.map(|id| function.buffer(*id).name.clone()).collect()
    }

    /// A function with the result `y`, and inputs of the same shape and of another.
    fn of(body: &str) -> String {
        format!(
            "__co__ f32 [M, N] f(f32 [M, N] x, s32 [N] at, s32 n) {{ f32 [M, N] y; {body} return y; }}"
        )
    }

    #[track_caller]
    fn holds(body: &str) {
        assert_eq!(whole(&of(body)), ["y"], "{body}");
    }

    #[track_caller]
    fn fails(body: &str) {
        assert!(!whole(&of(body)).contains(&"y".to_owned()), "{body}");
    }

    /// Blocks of 128 threads, which compute all columns of a row.
    fn of_rows(body: &str) -> String {
        format!("parallel i by M : block {{ parallel t by 128 : thread {{ {body} }} }}")
    }

    #[test]
    fn elements_at_indices_that_take_all_values() {
        holds("parallel {j, i} by [N, M] y.at(i, j) = -x.at(i, j);");
        holds(&of_rows(
            "foreach k in cdiv(N, 128) if (k # t < N) y.at(i, k # t) = 1.0f;",
        ));
        holds(&of_rows(
            "foreach k in cdiv(N, 128) { j = k # t; if (j < N && i < M) y.at(i, j) = 1.0f; }",
        ));
        holds(
            "parallel {b, i} by [cdiv(N, 64), M] : block parallel t by 64 : thread
               if (b # t < N) y.at(i, b # t) = 1.0f;",
        );
        // An inner loop that always has iterations.
        holds("parallel {j, i} by [N, M] foreach k in 3 y.at(i, j) = x.at(i, j) * k;");
        // What is written again may be read.
        holds(
            "parallel {j, i} by [N, M] y.at(i, j) = 0.0f;
             parallel {j, i} by [N, M] y.at(i, j) += 1.0f;",
        );
    }

    #[test]
    fn tiles_that_cover_the_tensor() {
        let tiles = |rows: &str, copy: &str| {
            format!(
                "parallel {{i, j}} by [cdiv(M, {rows}), cdiv(N, 32)] : block {{
                   parallel t by 128 : thread {{}}
                   s = {copy}.copy x.subspan(16, 32).at(i, j) => shared;
                   {copy}.copy s.data => y.subspan(16, 32).at(i, j);
                 }}"
            )
        };
        holds(&tiles("16", "tma"));
        fails(&tiles("17", "tma"));
        fails(&tiles("32", "tma"));
        let of_16 = "__co__ f32 [M, N] f(f16 [M, 16] a, f16 [N, 16] b) {
             f32 [M, N] y;
             parallel {j, i} by [cdiv(N, 8), cdiv(M, 16)] : block parallel w by 1 : group {
               acc = mma.fill.f32 0.0f;
               l = mma.load a.subspan(16, 16).at(i, 0);
               r = mma.load b.subspan(8, 16).at(j, 0);
               mma.row.row acc, l, r;
               mma.store acc, y.subspan(16, 8).at(i, j);
             }
             return y;
           }";
        assert_eq!(whole(of_16), ["y"]);
        let short = of_16.replace("cdiv(N, 8), cdiv", "N / 8, cdiv");
        assert_eq!(whole(&short), [""; 0]);
    }

    #[test]
    fn what_some_instance_leaves_out() {
        // One element, one row, one column.
        fails("parallel {j, i} by [N, M] if (i * N + j < M * N - 1) y.at(i, j) = 1.0f;");
        fails("parallel {j, i} by [N, M] if (i < M - 1) y.at(i, j) = 1.0f;");
        fails("parallel {j, i} by [N, M] if (0 < j) y.at(i, j) = 1.0f;");
        fails(&of_rows(
            "foreach k in N / 128 if (k # t < N) y.at(i, k # t) = 1.0f;",
        ));
        // Conditions on data and on parameters.
        fails("parallel {j, i} by [N, M] if (x.at(i, j) > 0.0f) y.at(i, j) = 1.0f;");
        fails("parallel {j, i} by [N, M] if (n > 0) y.at(i, j) = 1.0f;");
        fails("parallel {j, i} by [N, M] if (j < n) y.at(i, j) = 1.0f;");
        // The same number twice.
        fails("parallel {i, j} by [M, M] if (i < N) y.at(i, i) = 1.0f;");
        // The place in a cluster follows from the number of the block.
        let of_cluster = |body: &str| {
            format!(
                "__co__ f32 [8, 2] f() {{
                   f32 [8, 2] y;
                   parallel c by 2 : cluster, i by 8 : block, t by 32 : thread {body}
                   return y;
                 }}"
            )
        };
        assert_eq!(whole(&of_cluster("y.at(i, c) = 1.0f;")), [""; 0]);
        assert_eq!(
            whole(&of_cluster("foreach k in 2 y.at(i, k) = 1.0f;")),
            ["y"]
        );
    }

    #[test]
    fn what_may_run_never_or_not_in_all_threads() {
        fails("parallel {j, i} by [N, M] foreach k in n y.at(i, j) = 1.0f;");
        fails("parallel {j, i} by [N, M] foreach k in N / 2 y.at(i, j) = 1.0f;");
        fails(&of_rows(
            "foreach k in cdiv(N, 128) { if (k == 1) break; if (k # t < N) y.at(i, k # t) = 1.0f; }",
        ));
        fails(&of_rows(
            "inthreads (t < 64) { foreach k in cdiv(N, 128) if (k # t < N) y.at(i, k # t) = 1.0f; }",
        ));
        fails("if (n > 0) { parallel {j, i} by [N, M] y.at(i, j) = 1.0f; }");
        fails("foreach k in n { parallel {j, i} by [N, M] y.at(i, j) = 1.0f; }");
        // The product of two negative extents is positive.
        fails(
            "assert(n * n >= N, \"squares\");
             parallel i by M foreach a in n foreach k in n if (k + a * n < N) y.at(i, k + a * n) = 1.0f;",
        );
        holds(
            "assert(n * n >= N, \"squares\"); assert(n > 0, \"n\");
             parallel i by M foreach a in n foreach k in n if (k + a * n < N) y.at(i, k + a * n) = 1.0f;",
        );
    }

    #[test]
    fn what_is_read_or_has_another_place() {
        fails("parallel {j, i} by [N, M] y.at(i, j) += 1.0f;");
        fails("parallel {j, i} by [N, M] atomic.add y.at(i, j), 1.0f;");
        fails("parallel {j, i} by [N, M] y.at(i, at.at(j)) = 1.0f;");
        fails("parallel {j, i} by [N, M] { y.at(i, j) = 1.0f; y.at(i, 0) = y.at(i, j); }");
        fails("parallel {j, i} by [N, M] { call g(&y.at(0, 0)); y.at(i, j) = 1.0f; }");
        // The first launch reads it.
        fails(
            "f32 [M, N] z; parallel {j, i} by [N, M] z.at(i, j) = y.at(i, j);
             parallel {j, i} by [N, M] y.at(i, j) = z.at(i, j);",
        );
    }

    #[test]
    fn failed_checks_that_are_skipped() {
        let text = of("parallel {j, i} by [N, M] y.at(i, j) = -x.at(i, j);");
        let mut function = testing::function(&text);
        function.reports = true;
        find(&mut function);
        assert!(function.kernels.iter().all(|k| k.facts.whole.is_empty()));
    }
}
