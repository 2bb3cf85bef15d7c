//! Skips what a loop over registers does under a condition, where it holds for none of them.
//!
//! `apply {i, j} in s.span { if (64 * t + j > 64 * b + i) s.at(i, j) = -inf; }` hides scores of the
//! last tiles only, but costs a comparison and a selection for each element of every tile. Whether it
//! can hide one at all is a comparison of bounds, `64 * t + 63 > 64 * b`, in front of the loop. Where it
//! does not hold, the loop runs without the statement, or not at all if nothing else is in it.
//!
//! What a loop is divided into by such a condition, monotone in the number of a tile, are the tiles
//! with and without it; the loop itself stays one, because its waits and products would be there twice.

use crate::ir::{
    Access, BinOp, Expr, ExprKind, Function, KernelId, Scalar, Stmt, StmtKind, Storage, UnOp,
    Unroll, any_expr, as_sym, trips,
};
use crate::passes::analysis::uses::set_in;
use crate::passes::transform::dead_code;
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

/// Fewer selections cost no more than the comparison.
const FEWEST_ELEMENTS: i64 = 8;

pub fn skip(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| block(function, body));
}

fn block(function: &Function, stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let Some(guarded) = guarded(function, stmt) {
            *stmt = guarded;
            continue;
        }
        let is_branch = matches!(stmt.kind, StmtKind::If { .. });
        for inner in stmt.kind.blocks_mut() {
            // A branch with just this loop has a test already.
            if !(is_branch && is_one_loop(inner)) {
                block(function, inner);
            }
        }
    }
}

/// Whether there is nothing but a loop, of one thread or of all.
fn is_one_loop(stmts: &[Stmt]) -> bool {
    match stmts {
        [
            Stmt {
                kind: StmtKind::Parallel { body, .. },
                ..
            },
        ] => is_one_loop(body),
        [one] => elements(one).is_some(),
        _ => false,
    }
}

/// The loop behind a test of the conditions in it.
fn guarded(function: &Function, stmt: &Stmt) -> Option<Stmt> {
    if elements(stmt)? < FEWEST_ELEMENTS {
        return None;
    }
    let inside = set_in(function, std::slice::from_ref(stmt));
    let bounds = Bounds { function, inside };
    let mut guards = Vec::new();
    let mut without = stmt.clone();
    let body = innermost(&mut without)?;
    bounds.leave_out(body, &mut guards);
    let span = stmt.span;
    let any = |a, b| Expr::binary(BinOp::LogicOr, a, b, span);
    let cond = guards.into_iter().reduce(any)?;
    dead_code::eliminate_in(function, body);
    let otherwise = match body.is_empty() {
        true => Vec::new(),
        false => vec![without],
    };
    let then = vec![stmt.clone()];
    let kind = StmtKind::If {
        cond,
        then,
        otherwise,
    };
    Some(Stmt::new(kind, span))
}

/// The number of iterations of a nest of unrolled loops.
fn elements(stmt: &Stmt) -> Option<i64> {
    let StmtKind::For {
        lo,
        hi,
        step,
        unroll: Some(Unroll::Full),
        body,
        ..
    } = &stmt.kind
    else {
        return None;
    };
    let count = trips(lo, hi, step)?;
    match body.as_slice() {
        [one] if matches!(one.kind, StmtKind::For { .. }) => count.checked_mul(elements(one)?),
        _ => Some(count),
    }
}

/// The body of the innermost loop of a nest.
fn innermost(stmt: &mut Stmt) -> Option<&mut Vec<Stmt>> {
    let StmtKind::For { body, .. } = &mut stmt.kind else {
        return None;
    };
    match body.as_slice() {
        [one] if matches!(one.kind, StmtKind::For { .. }) => innermost(body.first_mut()?),
        _ => Some(body),
    }
}

/// Finds bounds of integers over all iterations of a loop.
struct Bounds<'a> {
    function: &'a Function,
    /// Variables that have one value for each iteration.
    inside: SortedSet<Var>,
}

impl Bounds<'_> {
    /// Removes statements that change registers under a condition, and notes where one of them might be
    /// needed.
    fn leave_out(&self, stmts: &mut Vec<Stmt>, guards: &mut Vec<Expr>) {
        stmts.retain(|stmt| {
            let guard = self.guard_of(stmt);
            let stays = guard.is_none();
            guards.extend(guard);
            stays
        });
    }

    /// A condition without the loop's variables that holds wherever the statement does something; `None`
    /// if there is none that is known, or if it always holds.
    fn guard_of(&self, stmt: &Stmt) -> Option<Expr> {
        let (cond, wanted) = match &stmt.kind {
            StmtKind::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() && self.are_of_registers(then) => (cond, true),
            StmtKind::Store {
                access,
                op: None,
                value,
            } if self.is_register(access) => {
                let ExprKind::Select(cond, a, b) = &*value.kind else {
                    return None;
                };
                match () {
                    () if self.is_value_of(access, b) && is_fill(a) => (cond, true),
                    () if self.is_value_of(access, a) && is_fill(b) => (cond, false),
                    () => return None,
                }
            }
            _ => return None,
        };
        let calls = any_expr(cond, |e| {
            matches!(&*e.kind, ExprKind::Call(_) | ExprKind::Intrinsic(..))
        });
        match calls {
            true => None,
            false => self.possible(cond, wanted),
        }
    }

    fn are_of_registers(&self, stmts: &[Stmt]) -> bool {
        let of_register = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Store { access, value, .. } => self.is_register(access) && is_fill(value),
            StmtKind::Check { .. } => true,
            _ => false,
        };
        stmts.iter().all(of_register)
    }

    fn is_register(&self, access: &Access) -> bool {
        let storage = self.function.buffer(access.view.buffer).storage;
        matches!(storage, Storage::Fragment | Storage::Local)
    }

    /// Whether the expression is the present value of the element.
    fn is_value_of(&self, access: &Access, value: &Expr) -> bool {
        matches!(&*value.kind, ExprKind::Load(of)
            if of.view.buffer == access.view.buffer && of.address() == access.address())
    }

    /// A condition without the loop's variables that holds if `cond` is `wanted` in an iteration.
    fn possible(&self, cond: &Expr, wanted: bool) -> Option<Expr> {
        match &*cond.kind {
            ExprKind::Unary(UnOp::Not, a) => self.possible(a, !wanted),
            ExprKind::Binary(op @ (BinOp::LogicAnd | BinOp::LogicOr), a, b) => {
                let both = (*op == BinOp::LogicAnd) == wanted;
                let (a, b) = (self.possible(a, wanted), self.possible(b, wanted));
                match (a, b) {
                    (Some(a), Some(b)) if both => {
                        Some(Expr::binary(BinOp::LogicAnd, a, b, cond.span))
                    }
                    (a, b) if both => a.or(b),
                    (a, b) => Some(Expr::binary(BinOp::LogicOr, a?, b?, cond.span)),
                }
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let op = if wanted { *op } else { op.negated()? };
                self.comparison(op, a, b)
            }
            _ => None,
        }
    }

    fn comparison(&self, op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let (left, right) = (self.integer(a)?, self.integer(b)?);
        let (l, r) = (&left.value, &right.value);
        let mut guard = match op {
            BinOp::Lt => self.not_above(&(l + 1), r, a),
            BinOp::Le => self.not_above(l, r, a),
            BinOp::Gt => self.not_above(&(r + 1), l, a),
            BinOp::Ge => self.not_above(r, l, a),
            BinOp::Eq => {
                let (below, above) = (self.not_above(l, r, a), self.not_above(r, l, a));
                match (below, above) {
                    (Some(below), Some(above)) => {
                        Some(Expr::binary(BinOp::LogicAnd, below, above, a.span))
                    }
                    (below, above) => below.or(above),
                }
            }
            _ => None,
        }?;
        for (integer, of) in [(&left, a), (&right, b)] {
            let Some((least, most)) = integer.limits else {
                continue;
            };
            // Beyond its type the number is another one.
            for beyond in [
                self.not_above(&integer.value, &Sym::int(least.checked_sub(1)?), of)?,
                self.not_above(&Sym::int(most.checked_add(1)?), &integer.value, of)?,
            ] {
                if !matches!(*beyond.kind, ExprKind::Bool(false)) {
                    guard = Expr::binary(BinOp::LogicOr, guard, beyond, of.span);
                }
            }
        }
        Some(guard)
    }

    /// Whether `low <= high` is possible; `None` if that is always so, or unknown.
    fn not_above(&self, low: &Sym, high: &Sym, at: &Expr) -> Option<Expr> {
        let cx = &self.function.cx;
        let shared = |v: &Var| self.inside.contains(v) && low.contains(*v) && high.contains(*v);
        let (low, high) = match self.inside.iter().any(shared) {
            true => (Sym::zero(), cx.sup(&(high - low), &self.inside)?),
            false => (cx.inf(low, &self.inside)?, cx.sup(high, &self.inside)?),
        };
        if cx.le(&low, &high).is_yes() {
            return None;
        }
        if cx.lt(&high, &low).is_yes() {
            return Some(Expr::bool(false, at.span));
        }
        let [low, high] = [low, high].map(|e| Expr::index(e, at.span));
        Some(Expr::binary(BinOp::Le, low, high, at.span))
    }

    fn integer(&self, e: &Expr) -> Option<Integer> {
        if let Some(value) = as_sym(self.function, e) {
            let limits = None;
            return Some(Integer { value, limits });
        }
        let ExprKind::Cast(inner) = &*e.kind else {
            return None;
        };
        let limits = match e.ty {
            Scalar::S32 | Scalar::U32 => e.ty.limits()?,
            _ => return None,
        };
        let limits = (i64::try_from(limits.0).ok()?, i64::try_from(limits.1).ok()?);
        let value = as_sym(self.function, inner)?;
        Some(Integer {
            value,
            limits: Some(limits),
        })
    }
}

/// Whether a value is that of hidden elements. One that depends on data is that of elements inside of
/// the data, which are most of them.
fn is_fill(value: &Expr) -> bool {
    !any_expr(value, |e| matches!(&*e.kind, ExprKind::Load(_)))
}

/// An operand of a comparison.
struct Integer {
    value: Sym,
    /// The operand has the value if it is between them.
    limits: Option<(i64, i64)>,
}

#[cfg(test)]
mod tests {
    use crate::ir::{Function, StmtKind, any_stmt};
    use crate::sema::testing;

    fn after(params: &str, body: &str) -> Function {
        let text = format!(
            "__device__ int drawn() {{ return 1; }}
             __co__ void f(f16 [M, 16] q, f16 [N, 16] k, f32 [M, N] & o {params}) {{
               parallel b by cdiv(M, 64) : block {{
                 qs = dma.copy.zfill q.subspan(64, 16).at(b, 0) => shared;
                 parallel g by 4 : group
                   foreach t in [cdiv(N, 64)] {{
                     ks = dma.copy.zfill k.subspan(64, 16).at(t, 0) => shared;
                     s = mma.fill.f32 0.0f;
                     frag f32 [16] sums {{0.0f}};
                     fq = mma.load qs.data.chunkat(g, _);
                     fk = mma.load ks.data;
                     mma.row.row s, fq, fk;
                     {body}
                     mma.store s, o.subspan(16, 64).at(4 * b + g, t);
                   }}
               }}
             }}"
        );
        testing::function_after(&text, "skipped-masks")
    }

    /// The tests in front of loops, each with whether something else is done instead.
    fn guards(params: &str, body: &str) -> Vec<(String, bool)> {
        let function = after(params, body);
        let mut found = Vec::new();
        any_stmt(&function.kernels[0].body, |stmt| {
            if let StmtKind::If {
                then, otherwise, ..
            } = &stmt.kind
                && matches!(then.as_slice(), [one] if super::elements(one).is_some())
            {
                let text = crate::ir::fmt::stmt(&function, stmt);
                let first = text.lines().next().unwrap_or_default();
                found.push((first.trim().to_owned(), !otherwise.is_empty()));
            }
            false
        });
        found
    }

    /// The test in front of the loop that hides elements under a condition.
    fn guard_of(cond: &str) -> String {
        let body = format!("apply {{i, j}} in s.span {{ if ({cond}) s.at(i, j) = -inf; }}");
        let found = guards(", int w, s32 [N] hidden", &body);
        assert!(found.iter().all(|(_, otherwise)| !otherwise), "{found:?}");
        let texts = found.into_iter().map(|(guard, _)| guard);
        texts.collect::<Vec<_>>().join("; ")
    }

    const LATER: &str = "64 * t + j > 64 * b + 16 * g + i";

    #[test]
    fn bounds_of_comparisons() {
        let first = "64 * b + 16 * g";
        for (cond, guard) in [
            (LATER, format!("le:bool({first} + 1, 64 * t + 63)")),
            (
                "64 * t + j >= 64 * b + 16 * g + i",
                format!("le:bool({first}, 64 * t + 63)"),
            ),
            (
                "64 * t + j < 64 * b + 16 * g + i",
                format!("le:bool(64 * t + 1, {first} + 15)"),
            ),
            (
                "!(64 * t + j > 64 * b + 16 * g + i)",
                format!("le:bool(64 * t, {first} + 15)"),
            ),
            // An index on both sides; a product of an index.
            ("j - i > w + j", "le:bool(0, -w - 1)".to_owned()),
            ("t * i > 5", "le:bool(6, 15 * t)".to_owned()),
            // Without an index of the loop.
            ("w > 3", "le:bool(4, w)".to_owned()),
            // Beyond 32 bits the conversion has another value.
            (
                "__to<s32>(64 * t + j) > w",
                "logicor:bool(le:bool(w + 1, 64 * t + 63), le:bool(2147483648, 64 * t + 63))"
                    .to_owned(),
            ),
        ] {
            assert_eq!(guard_of(cond), format!("if {guard}"), "{cond}");
        }
    }

    #[test]
    fn parts_of_conditions() {
        let is_w = "logicand:bool(le:bool(64 * t, w), le:bool(w, 64 * t + 63))";
        for (cond, guard) in [
            ("64 * t + j == w", is_w.to_owned()),
            ("!(64 * t + j != w)", is_w.to_owned()),
            (
                "64 * t + j == w && 16 * g + i == 5",
                format!("logicand:bool({is_w}, le:bool(16 * g, 5))"),
            ),
            (
                "64 * t + j == w || 16 * g + i == 5",
                format!("logicor:bool({is_w}, le:bool(16 * g, 5))"),
            ),
            // One that is unknown.
            ("64 * t + j == w && i + j != 5", is_w.to_owned()),
        ] {
            assert_eq!(guard_of(cond), format!("if {guard}"), "{cond}");
        }
    }

    #[test]
    fn loops_stay_as_they_are() {
        for cond in [
            // True in each tile.
            "j > i".to_owned(),
            "64 * t + j != w".to_owned(),
            format!("j > i || {LATER}"),
            // The data decide, or a function that has to be called.
            "hidden.at(0) > 0".to_owned(),
            format!("hidden.at(0) > 0 || {LATER}"),
            format!("(call drawn()) > 0 && {LATER}"),
        ] {
            assert_eq!(guard_of(&cond), "", "{cond}");
        }
        let few = "apply {i} in sums.span { if (64 * t > 64 * b + i) sums.at(i) = 1.0f; }";
        assert_eq!(guards("", few), []);
        // The program has a test.
        let tested = format!(
            "if (64 * t + 63 > 64 * b) {{ apply {{i, j}} in s.span {{ if ({LATER}) s.at(i, j) = -inf; }} }}"
        );
        assert_eq!(guards("", &tested), []);
        let both = format!(
            "apply {{i, j}} in s.span {{ if ({LATER}) s.at(i, j) = -inf; else s.at(i, j) = 1.0f; }}"
        );
        assert_eq!(guards("", &both), []);
    }

    #[test]
    fn values_and_other_statements() {
        let guard = "if le:bool(64 * b + 16 * g + 1, 64 * t + 63)";
        for (body, otherwise) in [
            (format!("s.at(i, j) = {LATER} ? -inf : s.at(i, j);"), false),
            (
                format!("s.at(i, j) = !({LATER}) ? s.at(i, j) : -inf;"),
                false,
            ),
            (
                format!("if ({LATER}) {{ s.at(i, j) = -inf; }} s.at(i, j) += 1.0f;"),
                true,
            ),
            (
                format!("if ({LATER}) s.at(i, j) = -inf; sums.at(i) += s.at(i, j);"),
                true,
            ),
        ] {
            let found = guards("", &format!("apply {{i, j}} in s.span {{ {body} }}"));
            assert_eq!(found, [(guard.to_owned(), otherwise)], "{body}");
        }
        // The value is not the element's own, or is added to it.
        for body in [
            format!("s.at(i, j) = {LATER} ? -inf : sums.at(i);"),
            format!("s.at(i, j) += {LATER} ? 1.0f : s.at(i, j);"),
            format!("s.at(i, j) = {LATER} ? sums.at(i) : s.at(i, j);"),
            format!("if ({LATER}) s.at(i, j) = sums.at(i);"),
        ] {
            let found = guards("", &format!("apply {{i, j}} in s.span {{ {body} }}"));
            assert_eq!(found, [], "{body}");
        }
    }
}
