//! Sums of neighbouring elements that a thread adds atomically.
//!
//! ```text
//! for j in 0..4 { if (column + j < N) atomic add out[base + j] with f(j) }
//! ```
//!
//! becomes, where `column` is a multiple of 4:
//!
//! ```text
//! if (N % 4 == 0) {
//!   if (column < N) {
//!     for j in 0..4 { sums[j] = f(j) }
//!     add out[base .. base + 4] += sums[0 .. 4]
//!   }
//! } else { the loop }
//! ```
//!
//! GPUs from sm_90 on have an instruction for up to 16 bytes of such sums; each element is added
//! atomically by itself. The order of a thread's relaxed atomic operations on different elements is
//! not observable without a fence, and there is none in such a loop.
//!
//! The first condition depends on extents and arguments alone, and stands in front of all loops
//! around. If the place or the edge of the data is not known to be a multiple, each group of elements
//! has a test of its own.

use super::group::{Extreme, Numbers, branch, element, extreme, registers};
use super::loops::{self, MOST_ITERATIONS};
use super::multiples::{is_multiple, multiples};
use super::survey::{WIDEST, conjuncts};
use super::{MOST_WORK, shows_instances, uses_long_argument, work};
use crate::ir::{
    Atomic, AtomicOp, BinOp, BufferId, Expr, ExprKind, Flow, Function, Intrinsic, KernelId,
    LocalId, Move, MoveMode, ON, Placed, Scalar, Stmt, StmtKind, Unroll, VarHome, Visit,
    VisitorMut, any_expr, any_in, walk_block,
};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

pub fn add_together(function: &mut Function, id: KernelId) {
    loops::change(function, id, block);
}

fn block(function: &mut Function, placed: &[Placed], stmts: &mut Vec<Stmt>) -> bool {
    let mut any = false;
    for mut stmt in std::mem::take(stmts) {
        if let Some(ways) = nest(function, placed, &stmt) {
            any = true;
            stmts.extend(ways);
            continue;
        }
        for inner in stmt.kind.blocks_mut() {
            any |= block(function, placed, inner);
        }
        stmts.push(stmt);
    }
    any
}

/// What a loop becomes that, perhaps inside of others, adds neighbouring elements.
fn nest(function: &mut Function, placed: &[Placed], stmt: &Stmt) -> Option<Vec<Stmt>> {
    if !matches!(stmt.kind, StmtKind::For { .. }) {
        return None;
    }
    let all = std::slice::from_ref(stmt);
    let innermost = innermost(all)?;
    let sums = Sums::of(function, innermost)?;
    if uses_long_argument(function, all) {
        return None;
    }
    let wanted = sums.wanted(function)?;
    let way = sums.way(function, placed, &wanted, innermost)?;
    let multiples = wanted.multiples.iter();
    let multiples = multiples.map(|(sym, by)| is_multiple(function, sym, *by, stmt.span));
    let conditions = on_new_gpus(&sums, function, multiples.collect(), stmt.span);
    let changed = with_innermost(all, way);
    Some(branch(conditions, changed, all.to_vec(), stmt.span))
}

/// The innermost of loops that are alone in their bodies but for names and conditions.
fn innermost(stmts: &[Stmt]) -> Option<&Stmt> {
    let (last, before) = stmts.split_last()?;
    let is_name = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Let { .. });
    if !before.iter().all(is_name) {
        return None;
    }
    match &last.kind {
        StmtKind::For { body, .. } => innermost(body).or(Some(last)),
        StmtKind::If {
            then, otherwise, ..
        } if otherwise.is_empty() => innermost(then),
        _ => None,
    }
}

/// The statements with others in place of that loop.
fn with_innermost(stmts: &[Stmt], others: Vec<Stmt>) -> Vec<Stmt> {
    let Some((last, before)) = stmts.split_last() else {
        return others;
    };
    let mut last = last.clone();
    match &mut last.kind {
        StmtKind::For { body: inner, .. } | StmtKind::If { then: inner, .. }
            if innermost(inner).is_some() =>
        {
            *inner = with_innermost(inner, others);
            [before, &[last]].concat()
        }
        _ => [before, others.as_slice()].concat(),
    }
}

/// The sums of a loop's iterations.
struct Sums {
    position: Numbers,
    /// The values of names that iterations declare, by what is known in front of the loop.
    names: Vec<(Var, Sym)>,
    /// Checks, conditions around all that follows, and declarations that are the same for all iterations,
    /// in their order.
    around: Vec<Stmt>,
    /// Other declarations, and what they declare.
    values: Vec<Stmt>,
    own: SortedSet<LocalId>,
    added: Vec<Atomic>,
}

/// Under which conditions elements are added together.
#[derive(Default)]
struct Wanted {
    /// What must be multiples of a number; extents and arguments alone.
    multiples: Vec<(Sym, i64)>,
    /// First elements that must be multiples of a number, too.
    places: Vec<(Sym, i64)>,
    /// Some iterations might be beyond an edge where others are not.
    has_edge: bool,
}

impl Sums {
    /// The sums of a loop; `None` if it does anything else, such as to change a variable.
    fn of(function: &Function, stmt: &Stmt) -> Option<Sums> {
        let StmtKind::For {
            local,
            lo,
            hi,
            step,
            unroll: None | Some(Unroll::Full),
            body,
        } = &stmt.kind
        else {
            return None;
        };
        let count = hi.as_int()?;
        let few =
            (2..=MOST_ITERATIONS).contains(&count) && u64::try_from(count).ok()?.is_power_of_two();
        if !lo.is_zero() || !step.is_one() || !few {
            return None;
        }
        let var = function.locals.get(local.index())?.var?;
        let mut sums = Sums {
            position: Numbers {
                local: *local,
                var,
                count,
            },
            names: Vec::new(),
            around: Vec::new(),
            values: Vec::new(),
            own: SortedSet::new(),
            added: Vec::new(),
        };
        sums.flatten(function, body)?;
        let suits = sums.suits(function);
        sums.drop_names(function);
        suits.then_some(sums)
    }

    /// Removes declarations of integers that nothing names any more.
    fn drop_names(&mut self, function: &Function) {
        let mut named = SortedSet::new();
        let mut note = |e: &Expr| {
            if let ExprKind::Local(local) = &*e.kind {
                named.insert(*local);
            }
            false
        };
        any_in(&self.values, |_| false, &mut note);
        for sum in &self.added {
            any_expr(&sum.value, &mut note);
        }
        self.values.retain(|stmt| match &stmt.kind {
            StmtKind::Let { local, .. } => {
                let info = function.locals.get(local.index());
                let var = info.and_then(|info| info.var);
                let is_name = self.names.iter().any(|(name, _)| var == Some(*name));
                !is_name || named.contains(local)
            }
            _ => true,
        });
    }

    fn flatten(&mut self, function: &Function, stmts: &[Stmt]) -> Option<()> {
        let (last, before) = stmts.split_last()?;
        for stmt in before {
            // What follows a sum is another one.
            if !self.added.is_empty() && !matches!(stmt.kind, StmtKind::Atomic(_)) {
                return None;
            }
            let mut stmt = stmt.clone();
            self.rename(function, std::slice::from_mut(&mut stmt));
            match &stmt.kind {
                StmtKind::Let {
                    local,
                    value: Some(value),
                } => {
                    let info = function.locals.get(local.index())?;
                    let name = match (info.var, &*value.kind) {
                        (Some(var), ExprKind::Index(sym)) => Some((var, sym.clone())),
                        _ => None,
                    };
                    if name.is_none() && self.is_common(function, value) {
                        self.around.push(stmt);
                    } else {
                        self.own.insert(*local);
                        self.names.extend(name);
                        self.values.push(stmt);
                    }
                }
                StmtKind::Check { .. } => self.around.push(stmt),
                StmtKind::Atomic(atomic) => self.added.push(atomic.clone()),
                _ => return None,
            }
        }
        let mut last = last.clone();
        self.rename(function, std::slice::from_mut(&mut last));
        match last.kind {
            StmtKind::Atomic(atomic) => self.added.push(atomic),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() && self.added.is_empty() => {
                let empty = StmtKind::If {
                    cond,
                    then: Vec::new(),
                    otherwise,
                };
                self.around.push(Stmt::new(empty, last.span));
                return self.flatten(function, &then);
            }
            _ => return None,
        }
        Some(())
    }

    fn rename(&self, function: &Function, stmts: &mut [Stmt]) {
        let names = &self.names;
        let _ = Rename { function, names }.block(stmts);
    }

    /// Whether the sums may be executed after all values are computed, and conditions in front of them.
    fn suits(&self, function: &Function) -> bool {
        let is_sum = |atomic: &Atomic| {
            let buffer = function.buffers.get(atomic.access.view.buffer.index());
            let kept = buffer.is_some_and(|b| b.storage.is_global() && at_once(b.elem).is_some());
            kept && atomic.op == AtomicOp::Add && atomic.result.is_none()
        };
        let buffers: Vec<BufferId> = (self.added.iter())
            .map(|sum| sum.access.view.buffer)
            .collect();
        let values = self.body(&buffers);
        let mut reads = ReadsOf::new(buffers);
        walk_block(&values, &mut reads);
        walk_block(&self.around, &mut reads);
        let places = self.added.iter().map(|sum| sum.access.address());
        let mut places = places.map(|place| Expr::index(place, Span::default()));
        let costly = work(&values).saturating_mul(self.position.count) > MOST_WORK;
        self.added.iter().all(is_sum)
            && !reads.found
            && !any_in(&self.around, |_| false, |e| self.names_own(function, e))
            && !places.any(|place| self.names_own(function, &place))
            && !shows_instances(&values)
            && !shows_instances(&self.around)
            && !costly
    }

    /// Whether an expression itself, without its operands, has what an iteration declares: what has not
    /// been replaced by its value.
    fn names_own(&self, function: &Function, e: &Expr) -> bool {
        let in_sym = |sym: &Sym| {
            let is_own = |var: &Var| {
                let home = function.var_home.get(var);
                matches!(home, Some(VarHome::Local(local)) if self.own.contains(local))
            };
            sym.is_poison() || sym.sorted_vars().iter().any(is_own)
        };
        match &*e.kind {
            ExprKind::Index(sym) => in_sym(sym),
            ExprKind::Load(access) => in_sym(&access.address()),
            ExprKind::Local(local) => self.own.contains(local) || *local == self.position.local,
            _ => false,
        }
    }

    /// Whether it is the same for all iterations.
    fn is_common(&self, function: &Function, e: &Expr) -> bool {
        !any_expr(e, |e| {
            let differs = match &*e.kind {
                ExprKind::Index(sym) => sym.contains(self.position.var),
                ExprKind::Load(access) => access.address().contains(self.position.var),
                _ => false,
            };
            differs || self.names_own(function, e)
        })
    }

    /// The statements of one iteration: its declarations, and stores of what it adds.
    fn body(&self, to: &[BufferId]) -> Vec<Stmt> {
        let stores = self.added.iter().zip(to).map(|(sum, to)| {
            let span = sum.access.span;
            let store = StmtKind::Store {
                access: element(*to, Sym::var(self.position.var), span),
                op: None,
                value: sum.value.clone(),
            };
            Stmt::new(store, span)
        });
        self.values.iter().cloned().chain(stores).collect()
    }

    /// `None` if elements are no neighbours, or never aligned.
    fn wanted(&self, function: &Function) -> Option<Wanted> {
        let mut wanted = Wanted::default();
        let var = self.position.var;
        for sum in &self.added {
            let address = function.cx.simplify(&sum.access.address());
            let (coefficient, base) = address.linear_in(var)?;
            let width = self.width(function, sum)?;
            if !coefficient.is_one() || function.cx.divides(&Sym::int(width), &base).is_no() {
                return None;
            }
            match multiples(function, &base, width) {
                Some(all) => {
                    let new = all.into_iter().map(|sym| (sym, width));
                    wanted.multiples.extend(new);
                }
                None => wanted.places.push((base, width)),
            }
        }
        wanted.has_edge = !self.conditions().all(|cond| {
            self.is_common(function, cond) || self.holds_for_all_or_none(function, cond, &wanted)
        });
        let mut seen: Vec<(Sym, i64)> = Vec::new();
        for new in std::mem::take(&mut wanted.multiples) {
            if !seen.contains(&new) {
                seen.push(new);
            }
        }
        wanted.multiples = seen;
        Some(wanted)
    }

    /// The elements that one instruction adds.
    fn width(&self, function: &Function, sum: &Atomic) -> Option<i64> {
        let buffer = function.buffers.get(sum.access.view.buffer.index())?;
        Some(at_once(buffer.elem)?.min(self.position.count))
    }

    /// The operands of all conditions and checks.
    fn conditions(&self) -> impl Iterator<Item = &Expr> {
        self.around.iter().flat_map(|stmt| match &stmt.kind {
            StmtKind::If { cond, .. } | StmtKind::Check { cond, .. } => conjuncts(cond),
            _ => Vec::new(),
        })
    }

    /// Whether a comparison of integers that differ by one from iteration to iteration holds for all
    /// of them or for none, where the multiples are such.
    fn holds_for_all_or_none(&self, function: &Function, cond: &Expr, wanted: &Wanted) -> bool {
        let ExprKind::Binary(op, a, b) = &*cond.kind else {
            return false;
        };
        let (ExprKind::Index(a), ExprKind::Index(b)) = (&*a.kind, &*b.kind) else {
            return false;
        };
        // The condition is `left >= 0`.
        let left = match op {
            BinOp::Lt => &(b - a) - 1,
            BinOp::Le => b - a,
            BinOp::Gt => &(a - b) - 1,
            BinOp::Ge => a - b,
            _ => return false,
        };
        let left = function.cx.simplify(&left);
        let Some((rise, first)) = left.linear_in(self.position.var) else {
            return false;
        };
        let first = match rise.as_int() {
            Some(1) => first,
            Some(-1) => &first + 1,
            _ => return false,
        };
        let count = self.position.count;
        let known = |sym: &Sym| {
            let mut all = wanted.multiples.iter();
            all.any(|(known, by)| known == sym && by % count == 0)
        };
        multiples(function, &first, count).is_some_and(|all| all.iter().all(known))
    }

    /// The statements of all iterations.
    fn way(
        &self,
        function: &mut Function,
        placed: &[Placed],
        wanted: &Wanted,
        stmt: &Stmt,
    ) -> Option<Vec<Stmt>> {
        let span = stmt.span;
        let tested = wanted.has_edge || !wanted.places.is_empty();
        let declares = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Let { .. });
        if tested && self.around.iter().any(declares) {
            return None;
        }
        let mut conditions = Vec::new();
        for cond in self.conditions().filter(|_| tested) {
            conditions.push(match self.is_common(function, cond) {
                true => cond.clone(),
                false => extreme(function, cond, self.position, Extreme::Hardest)?,
            });
        }
        for (place, by) in &wanted.places {
            conditions.push(is_multiple(function, place, *by, span));
        }
        let inner = self.together(function, placed, wanted, span);
        if tested {
            let conditions = on_new_gpus(self, function, conditions, span);
            return Some(branch(conditions, inner, vec![stmt.clone()], span));
        }
        let mut stmts = inner;
        for stmt in self.around.iter().rev() {
            let mut stmt = stmt.clone();
            self.at(function, 0, std::slice::from_mut(&mut stmt));
            match &mut stmt.kind {
                StmtKind::If { then, .. } => {
                    *then = stmts;
                    stmts = vec![stmt];
                }
                _ => stmts.insert(0, stmt),
            }
        }
        Some(stmts)
    }

    /// The statements of one iteration, by its number.
    fn at(&self, function: &Function, number: i64, stmts: &mut [Stmt]) {
        let names = &[(self.position.var, Sym::int(number))];
        let _ = Rename { function, names }.block(stmts);
    }

    /// All iterations on the way on which these are multiples.
    fn together(
        &self,
        function: &mut Function,
        placed: &[Placed],
        wanted: &Wanted,
        span: Span,
    ) -> Vec<Stmt> {
        let count = self.position.count;
        let registers: Vec<BufferId> = (self.added.iter())
            .map(|sum| registers(function, sum.access.view.buffer, "sums", count, span))
            .collect();
        let mut each = Stmt::new(
            StmtKind::For {
                local: self.position.local,
                lo: Sym::zero(),
                hi: Sym::int(count),
                step: Sym::one(),
                unroll: None,
                body: self.body(&registers),
            },
            span,
        );
        function.cx.push_scope();
        for (sym, by) in wanted.multiples.iter().chain(&wanted.places) {
            function.cx.assume_divides(&Sym::int(*by), sym);
        }
        let vectors = loops::vectors(function, placed, &each);
        function.cx.pop_scope();
        let mut stmts = vectors.unwrap_or_else(|| {
            if let StmtKind::For { unroll, .. } = &mut each.kind {
                *unroll = Some(Unroll::Full);
            }
            vec![each]
        });
        for (sum, own) in self.added.iter().zip(registers) {
            let width = self.width(function, sum).unwrap_or(1);
            for part in (0..count).step_by(usize::try_from(width).unwrap_or(1)) {
                let kind = StmtKind::Move(Move {
                    dest: sum.access.clone(),
                    source: element(own, Sym::int(part), span),
                    elems: u32::try_from(width).unwrap_or(1),
                    mode: MoveMode::Add,
                });
                let mut moved = [Stmt::new(kind, span)];
                self.at(function, part, &mut moved);
                stmts.extend(moved);
            }
        }
        stmts
    }
}

/// The elements of a type that one instruction adds.
fn at_once(elem: Scalar) -> Option<i64> {
    match elem {
        Scalar::F32 | Scalar::F16 => Some(WIDEST / i64::try_from(elem.bytes()).ok()?),
        _ => None,
    }
}

/// On GPUs without the instruction, the compiler of the device removes the way on which it is. The
/// simulated GPU does not go there with values that may be unwritten: its reports name the element that
/// was read, and not a register.
fn on_new_gpus(sums: &Sums, function: &Function, conditions: Vec<Expr>, span: Span) -> Vec<Expr> {
    let unwritten = function.kernels.iter();
    let unwritten = unwritten.flat_map(|kernel| &kernel.facts.unwritten);
    let mut reads = ReadsOf::new(unwritten.copied().collect());
    walk_block(&sums.values, &mut reads);
    for sum in &sums.added {
        any_expr(&sum.value, |e| {
            reads.expr(e);
            false
        });
    }
    let simulated = reads
        .found
        .then(|| Expr::intrinsic(Intrinsic::HasPtx, span));
    let known = simulated.is_none() && conditions.is_empty();
    let has = (!known).then(|| Expr::intrinsic(Intrinsic::AddsVectors, span));
    let first = simulated.into_iter().chain(has);
    first.chain(conditions).collect()
}

/// Replaces variables.
struct Rename<'a> {
    function: &'a Function,
    names: &'a [(Var, Sym)],
}

impl VisitorMut for Rename<'_> {
    fn sym(&mut self, sym: &mut Sym) -> Flow {
        for (var, value) in self.names {
            *sym = self.function.cx.substituted(sym, *var, value);
        }
        ON
    }
}

/// Whether one of these buffers is read.
struct ReadsOf {
    buffers: Vec<BufferId>,
    found: bool,
}

impl ReadsOf {
    fn new(buffers: Vec<BufferId>) -> Self {
        let found = false;
        ReadsOf { buffers, found }
    }
}

impl Visit for ReadsOf {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Load(access) = &*e.kind {
            self.found |= self.buffers.contains(&access.view.buffer);
        }
    }
}
