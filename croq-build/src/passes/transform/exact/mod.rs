//! Integer expressions of literals, dimensions, scalar parameters, loop and parallel variables are
//! exact: they have their mathematical value, or the call fails (R19).
//!
//! Printed code computes them in plain 64-bit arithmetic, on the host and in kernels. This pass
//! runs last, visits every expression that will be printed, and leaves none that could overflow.
//! Each one is proved to be small, from types, from the declared bounds of variables, and from the
//! sizes of existing tensors, whose elements have been counted before. Otherwise:
//!
//! * On the host, a check before the statement computes it with operations that detect overflow
//!   (`croq::exact`).
//! * In a kernel, an upper bound of its magnitude in terms of values that the host knows ([`size`])
//!   is checked before the launch, so device code has no cost.
//! * Where that could reject a correct program, because the statement may never be executed and the
//!   value of a 64-bit argument alone decides, or where no such bound exists, the check is in the
//!   kernel, before the statement.
//!
//! An integer that is converted to `s32` or `u32` without a cast must fit that type, in any
//! statement ([`needs`]). If the host knows all of its operands, it is computed before the launch;
//! in branches of `?:`, `&&` and `||`, by the kernel.

mod large;
mod need;
mod needs;
mod size;
#[cfg(test)]
pub mod tests;

use crate::diagnostics::Diagnostics;
use crate::ir::{
    BinOp, CheckCode, CheckId, CheckInfo, Expr, ExprKind, Fits, Function, Kernel, LocalId, MmaOp,
    ParamKind, Scalar, Stmt, StmtKind, UnOp, VarHome, declared_locals,
};
use crate::settings::Checks;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

pub use large::{first as first_large, report};
use need::{Narrowed, Need};
use needs::Needs;
use size::{Existing, How, Known, MOST_BLOCKS, Size, Sizes};

/// The number of values that a failure can record.
const MOST_VALUES: usize = 6;

pub fn check(function: &mut Function, checks: Checks, diags: &mut Diagnostics) {
    let mut body = std::mem::take(&mut function.body);
    let mut kernels = std::mem::take(&mut function.kernels);
    let mut host_locals = SortedSet::new();
    declared_locals(&body, &mut host_locals);
    let rows = {
        let mut pass = Pass {
            function,
            host_locals,
            rows: Vec::new(),
            diags,
            checks,
        };
        let before = Before {
            existing: Existing::of_params(pass.function),
            ..Before::default()
        };
        pass.host(&mut body, &mut kernels, &before);
        pass.rows
    };
    function.checks.extend(rows);
    function.body = body;
    function.kernels = kernels;
}

struct Pass<'a> {
    function: &'a Function,
    host_locals: SortedSet<LocalId>,
    /// New rows of the function's table of checks.
    rows: Vec<CheckInfo>,
    diags: &'a mut Diagnostics,
    checks: Checks,
}

/// The facts at a point of the host's code.
#[derive(Clone, Default)]
struct Before {
    existing: Existing,
    known: Known,
    /// Expressions that a check has shown to fit 64 bits or a smaller type.
    fit: SortedSet<(Sym, Option<Scalar>)>,
}

/// A check of a kernel that is made before its launch.
struct Early {
    size: Size,
    need: Need,
}

impl Pass<'_> {
    fn host(&mut self, stmts: &mut Vec<Stmt>, kernels: &mut [Kernel], before: &Before) {
        let all = |_: Var| true;
        let mut before = before.clone();
        let function = self.function;
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in std::mem::take(stmts) {
            let mut needs = Needs::of_stmt(&stmt);
            needs.host(&stmt, function, kernels);
            let sizes = Sizes::new(function, &all);
            let (needs, narrowed) = needs.into_lists();
            for need in needs {
                if self.is_given(&need) || self.is_poison(&need) {
                    continue;
                }
                let small = sizes.are_small(&need, &before.known, &before.existing);
                let key = (need.sym.clone(), need.narrowed);
                if small || self.checks == Checks::None || before.fit.contains(&key) {
                    continue;
                }
                if need.guards.is_empty() {
                    before.fit.insert(key);
                }
                out.push(match need.narrowed {
                    // That it fits 64 bits is a separate need, which precedes this one.
                    Some(_) => self.between(&need),
                    None => {
                        let fits = Fits::Value(need.sym.clone());
                        self.stmt(fits, &need, need.sym.vars())
                    }
                });
            }
            for narrowed in narrowed {
                let small = sizes.is_within(&narrowed, &before.known, &before.existing);
                if !small && self.checks != Checks::None {
                    out.push(self.narrowed_check(&narrowed));
                }
            }
            match &stmt.kind {
                StmtKind::Alloc(id) => before.existing.buffer(function, *id),
                StmtKind::Check { cond, .. } => assume(cond, &mut before.known),
                StmtKind::Launch(id) => {
                    if let Some(kernel) = kernels.get_mut(id.index()) {
                        let early = self.kernel(kernel, &before);
                        out.extend(early);
                    }
                }
                _ => {}
            }
            for block in stmt.kind.blocks_mut() {
                self.host(block, kernels, &before);
            }
            out.push(stmt);
        }
        *stmts = out;
    }

    /// The checks of a kernel's integers that precede its launch; others are inserted in the
    /// kernel.
    fn kernel(&mut self, kernel: &mut Kernel, before: &Before) -> Vec<Stmt> {
        let function = self.function;
        let mut existing = before.existing.clone();
        for extent in &kernel.grid {
            existing.at_most(extent, MOST_BLOCKS);
        }
        existing.at_most(&kernel.threads, 1024.0);
        for placed in &kernel.shared {
            existing.buffer(function, placed.buffer);
        }
        let locals = self.host_locals.clone();
        let is_host = |v: Var| match function.var_home.get(&v) {
            Some(VarHome::Dim(_) | VarHome::Param(_)) => true,
            Some(VarHome::Local(id)) => locals.contains(id),
            None => false,
        };
        let mut walk = Walk {
            sizes: Sizes::new(function, &is_host).within(&kernel.body),
            pass: self,
            existing: &existing,
            early: Vec::new(),
            narrowed: Vec::new(),
            placed: Vec::new(),
        };
        walk.block(&mut kernel.body, &before.known, false, Span::default());
        let mut early = std::mem::take(&mut walk.early);
        let narrowed = std::mem::take(&mut walk.narrowed);
        if self.checks == Checks::None {
            return Vec::new();
        }
        // The largest bounds first: those that they cover need no check.
        early.sort_by(|a, b| {
            let factors = |e: &Early| e.size.factors().count();
            let order = factors(b).cmp(&factors(a));
            order.then(b.size.least().total_cmp(&a.size.least()))
        });
        let mut kept: Vec<Early> = Vec::new();
        for e in early {
            let covered = |k: &Early| k.need.most <= e.need.most && k.size.covers(&e.size);
            if !kept.iter().any(covered) {
                kept.push(e);
            }
        }
        let mut stmts: Vec<Stmt> = kept
            .into_iter()
            .filter_map(|e| {
                let vars = e.size.factors().flat_map(Sym::vars).collect();
                Some(self.stmt(bound(&e.size, e.need.most)?, &e.need, vars))
            })
            .collect();
        stmts.extend(narrowed.iter().map(|need| self.between(need)));
        stmts
    }

    /// Whether nothing is computed: a variable has its value, unless it has bits that an index
    /// lacks.
    fn is_given(&self, need: &Need) -> bool {
        let cx = &self.function.cx;
        let least = match need.narrowed {
            Some(ty) if !ty.is_signed() => 0,
            _ => -i128::from(need.most) - 1,
        };
        let most = i128::from(need.most);
        // Values that the facts allow may show that it does not hold, for less than a search.
        let samples = cx.samples(&need.sym);
        let is_refuted = samples.is_some_and(|(lo, hi)| lo < least || hi > most);
        // Conversions, and coordinates that are clamped.
        let is_conversion = need.narrowed.is_some() || need.most != i64::MAX;
        if is_conversion && !is_refuted && cx.is_between(&need.sym, least, most) {
            return true;
        }
        let var = need.sym.as_var();
        need.most == i64::MAX && var.is_some_and(|v| self.type_of(v) != Some(Scalar::U64))
    }

    /// The element type of a parameter's or a local's value.
    fn type_of(&self, v: Var) -> Option<Scalar> {
        let f = self.function;
        match f.var_home.get(&v)? {
            VarHome::Param(id) => match f.param(*id).kind {
                ParamKind::Scalar { ty, .. } => Some(ty),
                _ => None,
            },
            VarHome::Local(id) => Some(f.local(*id).ty),
            VarHome::Dim(_) => None,
        }
    }

    /// Whether the expression exceeds the compiler's own limits; reports it.
    fn is_poison(&mut self, need: &Need) -> bool {
        let poison = need.sym.is_poison();
        if poison && !self.diags.has_errors() {
            self.diags.push(large::diagnostic(need.span));
        }
        poison
    }

    /// The check that fails unless the needed value fits; a failure shows the values of `vars`.
    fn stmt(&mut self, fits: Fits, need: &Need, vars: SortedSet<Var>) -> Stmt {
        let fits = Expr::new(ExprKind::Fits(fits), Scalar::Bool, need.span);
        self.check(fits, need, vars)
    }

    /// The check that a value which fits 64 bits is within narrower limits.
    fn between(&mut self, need: &Need) -> Stmt {
        let value = Expr::index(need.sym.clone(), need.span);
        self.check(within(&value, need.most), need, need.sym.vars())
    }

    /// The same for a value without a symbolic expression.
    fn narrowed_check(&mut self, narrowed: &Narrowed) -> Stmt {
        let message = format!("the value {{0}} does not fit `{}`", narrowed.ty);
        self.guarded(
            within(&narrowed.expr, narrowed.most),
            (CheckCode::R19, message),
            &narrowed.guards,
            vec![narrowed.expr.clone()],
            narrowed.span,
        )
    }

    fn check(&mut self, fits: Expr, need: &Need, vars: SortedSet<Var>) -> Stmt {
        let cx = &self.function.cx;
        let span = need.span;
        // A failure records signed values.
        let shown = |v: &Var| !matches!(self.type_of(*v), Some(Scalar::U64));
        let vars: Vec<Var> = vars.into_iter().filter(shown).take(MOST_VALUES).collect();
        let shown = vars.iter().enumerate();
        let shown: Vec<String> = shown
            .map(|(at, v)| format!("`{}` = {{{at}}}", cx.name(*v)))
            .collect();
        let mut text = cx.show(&need.sym);
        if text.chars().count() > 80 {
            text = text.chars().take(77).chain("...".chars()).collect();
        }
        let values = if shown.is_empty() {
            String::new()
        } else {
            format!(" with {}", shown.join(", "))
        };
        let message = if need.most == i64::MAX {
            let subject = match &need.buffer {
                Some(buffer) => format!("`{buffer}` has `{text}` bytes, which do"),
                None => format!("`{text}` does"),
            };
            // Without arithmetic the value is one of a `u64`.
            let what = match need.buffer.is_none() && values.is_empty() {
                true => "a signed 64-bit integer (`s64`)",
                false => "64 bits",
            };
            (CheckCode::R19, format!("{subject} not fit {what}{values}"))
        } else if let Some(ty) = need.narrowed {
            (
                CheckCode::R19,
                format!("`{text}` does not fit `{ty}`{values}"),
            )
        } else {
            let most = need.most;
            let of = format!("a TMA coordinate is at most {most}: `{text}` is not");
            (CheckCode::R10, format!("{of}{values}"))
        };
        let value = |v: &Var| Expr::index(Sym::var(*v), span);
        let values = vars.iter().map(value).collect();
        self.guarded(fits, message, &need.guards, values, span)
    }

    /// A check under the condition that these expressions have these values.
    fn guarded(
        &mut self,
        fits: Expr,
        (code, message): (CheckCode, String),
        guards: &[(Expr, bool)],
        values: Vec<Expr>,
        span: Span,
    ) -> Stmt {
        let check = self.row(CheckInfo {
            code,
            message,
            span,
        });
        let cond = guards.iter().rev().fold(fits, |cond, (guard, holds)| {
            let never = if *holds {
                Expr::new(
                    ExprKind::Unary(UnOp::Not, guard.clone()),
                    Scalar::Bool,
                    span,
                )
            } else {
                guard.clone()
            };
            let kind = ExprKind::Binary(BinOp::LogicOr, never, cond);
            Expr::new(kind, Scalar::Bool, span)
        });
        let kind = StmtKind::Check {
            check,
            cond,
            values,
        };
        Stmt::new(kind, span)
    }

    fn row(&mut self, info: CheckInfo) -> CheckId {
        let first = self.function.checks.len();
        let at = self.rows.iter().position(|row| *row == info);
        let at = at.unwrap_or_else(|| {
            self.rows.push(info);
            self.rows.len() - 1
        });
        CheckId(u32::try_from(first + at).unwrap_or(u32::MAX))
    }
}

/// Whether a value is in the range of the signed type with this largest value; for an unsigned
/// type, the negative range has the same size: a negative integer wraps there.
fn within(value: &Expr, most: i64) -> Expr {
    let span = value.span;
    let compare = |op, limit: i64| {
        let limit = Expr::index(Sym::int(limit), span);
        Expr::new(
            ExprKind::Binary(op, value.clone(), limit),
            Scalar::Bool,
            span,
        )
    };
    let (low, high) = (compare(BinOp::Ge, -most - 1), compare(BinOp::Le, most));
    let both = ExprKind::Binary(BinOp::LogicAnd, low, high);
    Expr::new(both, Scalar::Bool, span)
}

fn bound(size: &Size, most: i64) -> Option<Fits> {
    Some(Fits::Bound {
        terms: size.terms()?,
        most,
    })
}

/// A walk through a kernel.
struct Walk<'p, 'a> {
    sizes: Sizes<'p>,
    pass: &'p mut Pass<'a>,
    existing: &'p Existing,
    early: Vec<Early>,
    /// Values that are converted to a smaller type and that the host can compute completely before
    /// the launch.
    narrowed: Vec<Need>,
    /// The bounds that checks in the kernel, around and before this point, have established.
    placed: Vec<(Size, i64)>,
}

impl Walk<'_, '_> {
    /// `maybe`: a launch may complete without any thread that reaches these statements. `level`:
    /// the span of the level of which this is the body; some thread passes its guard.
    fn block(&mut self, stmts: &mut Vec<Stmt>, known: &Known, maybe: bool, level: Span) {
        let mut known = known.clone();
        let mut maybe = maybe;
        let placed = self.placed.len();
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in std::mem::take(stmts) {
            let span = stmt.span;
            let (needs, narrowed) = Needs::of_stmt(&stmt).into_lists();
            let needs = needs.into_iter();
            let mut in_place: Vec<Stmt> = needs
                .filter_map(|need| self.need(need, &known, maybe))
                .collect();
            for narrowed in narrowed {
                let is_small = self.sizes.is_within(&narrowed, &known, self.existing);
                if !is_small && matches!(self.pass.checks, Checks::All | Checks::Report) {
                    in_place.push(self.pass.narrowed_check(&narrowed));
                }
            }
            match &mut stmt.kind {
                StmtKind::While { prelude, .. } => prelude.extend(in_place),
                _ => out.extend(in_place),
            }
            match &mut stmt.kind {
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    // In a macro a condition of the program has the same span, too.
                    let is_level = span == level && span.written() == level.written();
                    let guard = otherwise.is_empty() && is_level;
                    let mut inside = known.clone();
                    assume(cond, &mut inside);
                    self.block(then, &inside, maybe || !guard, Span::default());
                    self.block(otherwise, &known, true, Span::default());
                    maybe |= leaves(then) || leaves(otherwise);
                }
                StmtKind::For { lo, hi, body, .. } => {
                    let runs = self.sizes.function.cx.lt(lo, hi).is_yes();
                    self.block(body, &known, maybe || !runs, Span::default());
                }
                StmtKind::While { prelude, body, .. } => {
                    self.block(prelude, &known, maybe, Span::default());
                    self.block(body, &known, true, Span::default());
                }
                StmtKind::Parallel { body, .. } => self.block(body, &known, maybe, span),
                StmtKind::SingleThread { body, .. } => {
                    self.block(body, &known, maybe, Span::default())
                }
                StmtKind::Region { body, .. } => self.block(body, &known, true, Span::default()),
                StmtKind::Mma(op) => {
                    if let MmaOp::Apply { body, .. } = &mut **op {
                        self.block(body, &known, maybe, Span::default());
                    }
                }
                // With `Checks::Report` most are only recorded, and the thread goes on.
                StmtKind::Check { check, cond, .. } if self.pass.function.stops(*check) => {
                    assume(cond, &mut known);
                }
                _ => {}
            }
            out.push(stmt);
        }
        self.placed.truncate(placed);
        *stmts = out;
    }

    fn is_of_host(&self, sym: &Sym) -> bool {
        sym.sorted_vars().iter().copied().all(self.sizes.is_host)
    }

    /// For a host-computable value that is converted to a smaller type: the check is made before
    /// the launch, or, in a branch of an expression that does not depend on extents alone, in
    /// place.
    fn narrowed_of_host(&mut self, mut need: Need) -> Option<Stmt> {
        if need.guards.is_empty() || !self.sizes.has_scalar(&need.sym) {
            need.guards.clear();
            let same = |n: &Need| n.sym == need.sym && n.narrowed == need.narrowed;
            if !self.narrowed.iter().any(same) {
                self.narrowed.push(need);
            }
            return None;
        }
        matches!(self.pass.checks, Checks::All | Checks::Report).then(|| self.pass.between(&need))
    }

    /// Ensures that an expression fits: by a proof, by a check before the launch, or by the
    /// returned check at this point.
    fn need(&mut self, need: Need, known: &Known, maybe: bool) -> Option<Stmt> {
        if self.pass.is_given(&need) || self.pass.is_poison(&need) {
            return None;
        }
        if self.sizes.are_small(&need, known, self.existing) {
            return None;
        }
        if need.narrowed.is_some() && self.is_of_host(&need.sym) && divides_safely(&need.sym) {
            return self.narrowed_of_host(need);
        }
        // A bound that no call can satisfy is useless.
        let size = self.sizes.of_need(&need, known, How::Computable);
        let size = size.filter(|size| size.least() <= need.most as f64);
        let maybe = maybe || !need.guards.is_empty();
        match size {
            Some(size) if !maybe || !size.factors().any(|f| self.sizes.is_wide(f)) => {
                let known = |e: &Early| e.need.most <= need.most && e.size.covers(&size);
                if !self.early.iter().any(known) {
                    // Conditions of the kernel itself do not apply before it.
                    let mut need = need;
                    need.guards.clear();
                    self.early.push(Early { size, need });
                }
                None
            }
            _ if !matches!(self.pass.checks, Checks::All | Checks::Report) => None,
            Some(size) => {
                let covered = |(s, most): &(Size, i64)| *most <= need.most && s.covers(&size);
                if self.placed.iter().any(covered) {
                    return None;
                }
                if need.guards.is_empty() {
                    self.placed.push((size.clone(), need.most));
                }
                let vars = size.factors().flat_map(Sym::vars).collect();
                Some(self.pass.stmt(bound(&size, need.most)?, &need, vars))
            }
            None if need.most < i64::MAX => Some(self.pass.between(&need)),
            None => {
                let fits = Fits::Value(need.sym.clone());
                Some(self.pass.stmt(fits, &need, need.sym.vars()))
            }
        }
    }
}

/// Whether each division is by a constant: the checks of other divisors for zero follow later, in
/// the kernel.
fn divides_safely(sym: &Sym) -> bool {
    let mut atoms = sym.terms().flat_map(|(_, factors)| factors);
    atoms.all(|atom| match atom {
        Atom::Var(_) => true,
        Atom::Div(a, b) | Atom::Rem(a, b) => {
            b.as_int().is_some_and(|by| by != 0) && divides_safely(a)
        }
        Atom::Min(a, b) | Atom::Max(a, b) => divides_safely(a) && divides_safely(b),
    })
}

/// Whether a thread may leave the block around these statements.
fn leaves(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        matches!(
            stmt.kind,
            StmtKind::Break | StmtKind::Continue | StmtKind::Yield
        ) || stmt.kind.blocks().any(|block| leaves(block))
    })
}

/// Records the bounds that a true condition implies for single variables.
fn assume(cond: &Expr, known: &mut Known) {
    let ExprKind::Binary(op, a, b) = &*cond.kind else {
        return;
    };
    if *op == BinOp::LogicAnd {
        assume(a, known);
        assume(b, known);
        return;
    }
    let (ExprKind::Index(x), ExprKind::Index(y)) = (&*a.kind, &*b.kind) else {
        return;
    };
    let (below, above, less) = match op {
        BinOp::Lt => (x, y, 1),
        BinOp::Le => (x, y, 0),
        BinOp::Gt => (y, x, 1),
        BinOp::Ge => (y, x, 0),
        _ => return,
    };
    if let Some(v) = below.as_var() {
        known.bounds.entry(v).or_default().1 = Some(above - less);
    }
    if let Some(v) = above.as_var() {
        known.bounds.entry(v).or_default().0 = Some(below + less);
    }
}
