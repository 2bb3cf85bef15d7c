//! Gives quotients and remainders a name where they are first needed, and those that a loop does not
//! change one in front of the loop.
//!
//! Names of the program are not variables: each use of `row = tile % tall;` has the whole expression.
//! A division of 64-bit integers by one that is not constant is a function of a hundred instructions,
//! which neither nvcc nor ptxas moves out of a loop with waits. So each quotient and remainder that a
//! list of statements computes twice becomes a variable of that list, and a loop's invariant ones
//! become variables in front of it.
//!
//! Nothing is divided that the program does not divide: only expressions count that are evaluated
//! whenever their statement is reached, and in front of a loop they are evaluated only if it has an
//! iteration. A loop keeps a division whose operands its body checks.

use super::invariant_checks;
use crate::ir::build;
use crate::ir::{
    BinOp, Expr, ExprKind, Flow, Function, KernelId, ON, Role, Scalar, Stmt, StmtKind, VarHome,
    Visitor, VisitorMut, any_stmt, walk, walk_mut,
};
use crate::passes::analysis::uses::set_in;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

pub fn name(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, in_block);
}

fn in_block(function: &mut Function, block: &mut Vec<Stmt>) {
    let mut at = 0;
    while at < block.len() {
        while let Some((atom, value)) = next(function, block.get(at..).unwrap_or_default()) {
            let Some(rest) = block.get_mut(at..) else {
                break;
            };
            let span = rest.first().map_or(value.span, |s| s.span);
            let named = named(function, &atom, value, span, rest);
            block.insert(at, named);
            at += 1;
        }
        if let Some(stmt) = block.get_mut(at) {
            for inner in stmt.kind.blocks_mut() {
                in_block(function, inner);
            }
        }
        at += 1;
        let (before, rest) = block.split_at_mut(at);
        if let Some((atom, by)) = before.last().and_then(|stmt| declared(function, stmt)) {
            let mut replace = Replace {
                function,
                atom: &atom,
                by,
            };
            let _ = VisitorMut::block(&mut replace, rest);
        }
    }
}

/// Declares a variable for the quotient or remainder, and uses it in `rest`.
fn named(function: &mut Function, atom: &Atom, value: Expr, span: Span, rest: &mut [Stmt]) -> Stmt {
    let name = match atom {
        Atom::Rem(..) => "remainder",
        _ => "quotient",
    };
    let below = match atom {
        Atom::Rem(a, b) => below(function, a, b),
        _ => None,
    };
    let (local, by) = build::index(function, name, Role::Value, below, span);
    let mut replace = Replace { function, atom, by };
    let _ = VisitorMut::block(&mut replace, rest);
    build::declare(local, value)
}

/// The divisor, if the remainder is known to be from zero to below it.
pub(super) fn below<'a>(function: &Function, a: &Sym, b: &'a Sym) -> Option<&'a Sym> {
    let zero = Sym::zero();
    let cx = &function.cx;
    (cx.le(&zero, a).is_yes() && cx.lt(&zero, b).is_yes()).then_some(b)
}

/// The first quotient or remainder that is to be named in front of the first statement, and its value.
fn next(function: &Function, stmts: &[Stmt]) -> Option<(Atom, Expr)> {
    let first = stmts.first()?;
    let span = first.span;
    let whole = |atom: &Atom| Expr::index(Sym::atom(atom.clone()), span);
    let mut here = Divisions::default();
    here.at(first);
    let declared = declared(function, first);
    let here = here.0.into_iter().find(|atom| {
        let has_name = declared.as_ref().is_some_and(|(named, _)| named == atom);
        is_fixed(function, atom) && occurrences(atom, stmts) > 1 && !has_name
    });
    if let Some(atom) = here {
        let value = whole(&atom);
        return Some((atom, value));
    }
    let StmtKind::For {
        local,
        lo,
        hi,
        body,
        ..
    } = &first.kind
    else {
        return None;
    };
    let mut each = Divisions::default();
    for stmt in body {
        each.at(stmt);
        if may_leave(stmt) {
            break;
        }
    }
    if each.0.is_empty() {
        return None;
    }
    let mut changing = set_in(function, body);
    changing.extend(function.local(*local).var);
    let atom = each.0.into_iter().find(|atom| {
        let vars = vars_of(atom);
        is_fixed(function, atom)
            && vars.is_disjoint(&changing)
            && !operands_are_checked(function, body, atom, &vars)
    })?;
    let value = whole(&atom);
    if function.cx.lt(lo, hi).is_yes() {
        return Some((atom, value));
    }
    let [lo, hi] = [lo, hi].map(|limit| Expr::index(limit.clone(), span));
    let runs = Expr::binary(BinOp::Lt, lo, hi, span);
    let none = Expr::index(Sym::zero(), span);
    let value = Expr::new(ExprKind::Select(runs, value, none), Scalar::Index, span);
    Some((atom, value))
}

/// Whether a check in the body mentions a variable of the quotient or remainder other than in just
/// this quotient or remainder: it may be the check of the divisor.
fn operands_are_checked(
    function: &Function,
    body: &[Stmt],
    atom: &Atom,
    vars: &SortedSet<Var>,
) -> bool {
    any_stmt(body, |stmt| {
        if !matches!(stmt.kind, StmtKind::Check { .. }) {
            return false;
        }
        let mut check = stmt.clone();
        let by = Sym::zero();
        let _ = VisitorMut::stmt(&mut Replace { function, atom, by }, &mut check);
        invariant_checks::are_checked(function, std::slice::from_ref(&check), vars)
    })
}

/// Whether the statement may end the iteration.
fn may_leave(stmt: &Stmt) -> bool {
    any_stmt(std::slice::from_ref(stmt), |stmt| {
        matches!(
            stmt.kind,
            StmtKind::Break | StmtKind::Continue | StmtKind::Yield | StmtKind::Cpp { .. }
        )
    })
}

/// The quotient or remainder to which the statement gives a name, and the name.
pub(super) fn declared(function: &Function, stmt: &Stmt) -> Option<(Atom, Sym)> {
    let StmtKind::Let {
        local,
        value: Some(value),
    } = &stmt.kind
    else {
        return None;
    };
    let ExprKind::Index(value) = &*value.kind else {
        return None;
    };
    let local = function.local(*local);
    let var = local
        .var
        .filter(|_| !local.mutable && local.ty == Scalar::Index)?;
    let mut terms = value.terms();
    let (Some((1, [atom])), None) = (terms.next(), terms.next()) else {
        return None;
    };
    let divides = matches!(atom, Atom::Div(_, by) | Atom::Rem(_, by) if by.as_int().is_none());
    (divides && is_fixed(function, atom)).then(|| (atom.clone(), Sym::var(var)))
}

/// Whether its variables have one value each.
pub(super) fn is_fixed(function: &Function, atom: &Atom) -> bool {
    let is_mutable = |var: &Var| match function.var_home.get(var) {
        Some(VarHome::Local(id)) => function.local(*id).mutable,
        _ => false,
    };
    !vars_of(atom).iter().any(is_mutable)
}

fn vars_of(atom: &Atom) -> SortedSet<Var> {
    let sym = Sym::atom(atom.clone());
    sym.sorted_vars().iter().copied().collect()
}

/// The number of expressions that contain it.
pub(super) fn occurrences(atom: &Atom, stmts: &[Stmt]) -> usize {
    struct Count<'a>(&'a Atom, usize);
    impl Count<'_> {
        fn in_atom(&mut self, other: &Atom) {
            if other == self.0 {
                self.1 += 1;
            } else if let Some((a, b)) = other.operands() {
                self.in_sym(a);
                self.in_sym(b);
            }
        }
        fn in_sym(&mut self, sym: &Sym) {
            for (_, atoms) in sym.terms() {
                atoms.iter().for_each(|atom| self.in_atom(atom));
            }
        }
    }
    impl Visitor for Count<'_> {
        fn stmt(&mut self, stmt: &Stmt) -> Flow {
            match self.1 {
                0 | 1 => walk::stmt(self, stmt),
                _ => Flow::Break(()),
            }
        }
        fn expr(&mut self, expr: &Expr) -> Flow {
            match &*expr.kind {
                ExprKind::Fits(_) => ON,
                _ => walk::expr(self, expr),
            }
        }
        fn sym(&mut self, sym: &Sym) -> Flow {
            self.in_sym(sym);
            ON
        }
        fn note(&mut self, _: &Sym) -> Flow {
            ON
        }
    }
    let mut count = Count(atom, 0);
    let _ = Visitor::block(&mut count, stmts);
    count.1
}

/// The divisions by what is not constant that a statement always evaluates, operands first.
#[derive(Default)]
pub(super) struct Divisions(pub(super) Vec<Atom>);

impl Divisions {
    pub(super) fn at(&mut self, stmt: &Stmt) {
        let _ = match &stmt.kind {
            StmtKind::If { cond, .. } => self.expr(cond),
            StmtKind::For { lo, hi, .. } => {
                self.in_sym(lo);
                self.in_sym(hi);
                ON
            }
            kind if kind.blocks().next().is_some() => ON,
            _ => walk::stmt(self, stmt),
        };
    }

    fn in_atom(&mut self, atom: &Atom) {
        let Some((a, b)) = atom.operands() else {
            return;
        };
        self.in_sym(a);
        self.in_sym(b);
        let divides = matches!(atom, Atom::Div(..) | Atom::Rem(..)) && b.as_int().is_none();
        if divides && !self.0.contains(atom) {
            self.0.push(atom.clone());
        }
    }

    pub(super) fn in_sym(&mut self, sym: &Sym) {
        if !sym.is_poison() {
            for (_, atoms) in sym.terms() {
                atoms.iter().for_each(|atom| self.in_atom(atom));
            }
        }
    }
}

impl Visitor for Divisions {
    fn expr(&mut self, expr: &Expr) -> Flow {
        match &*expr.kind {
            // What follows is evaluated only for some values of the first operand.
            ExprKind::Binary(BinOp::LogicAnd | BinOp::LogicOr, first, _)
            | ExprKind::Select(first, _, _) => self.expr(first),
            // By exact integers, before it is known that others suffice.
            ExprKind::Fits(_) => ON,
            _ => walk::expr(self, expr),
        }
    }

    fn sym(&mut self, sym: &Sym) -> Flow {
        self.in_sym(sym);
        ON
    }

    fn note(&mut self, _: &Sym) -> Flow {
        ON
    }
}

pub(super) struct Replace<'a> {
    pub(super) function: &'a Function,
    pub(super) atom: &'a Atom,
    pub(super) by: Sym,
}

impl VisitorMut for Replace<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Flow {
        match &*expr.kind {
            ExprKind::Fits(_) => ON,
            _ => walk_mut::expr(self, expr),
        }
    }

    fn sym(&mut self, sym: &mut Sym) -> Flow {
        *sym = self.function.cx.replaced(sym, self.atom, &self.by);
        ON
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::testing;

    /// The number of named quotients and remainders, of those whose declaration has a condition, and of
    /// divisions that remain in loops.
    fn named(body: &str) -> [usize; 3] {
        let text = format!(
            "__co__ void f(global f32 [R, N] x, global f32 [R, N] y, int m, int n, int c) {{
               parallel p by R : block {{
                 parallel t by 1 : thread {{ {body} }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "named-divisions");
        let mut found = [0; 3];
        any_stmt(&function.kernels[0].body, |stmt| {
            match &stmt.kind {
                StmtKind::Let {
                    local,
                    value: Some(value),
                } if ["quotient", "remainder"].contains(&&*function.local(*local).name) => {
                    found[0] += 1;
                    found[1] += usize::from(matches!(&*value.kind, ExprKind::Select(..)));
                }
                StmtKind::For { body, .. } => {
                    let mut inside = Divisions::default();
                    any_stmt(body, |stmt| {
                        inside.at(stmt);
                        false
                    });
                    found[2] += inside.0.len();
                }
                _ => {}
            }
            false
        });
        found
    }

    const ROW: &str = "r = p / m;";

    #[test]
    fn invariant_divisions_leave_loops() {
        // `n` may be 0, N is not.
        let copy = "y.at(p, k) = __to<f32>(r);";
        assert_eq!(
            named(&format!("{ROW} foreach k in [n] {{ {copy} }}")),
            [1, 1, 0]
        );
        assert_eq!(
            named(&format!("{ROW} foreach k in [N] {{ {copy} }}")),
            [1, 0, 0]
        );
        // Its use as an index is checked in the loop.
        let rows = "y.at(p, k) = x.at(r, k);";
        assert_eq!(
            named(&format!("{ROW} foreach k in [N] {{ {rows} }}")),
            [1, 0, 0]
        );
        // The operands of one are named first.
        let both = format!("{ROW} s = r % c; foreach k in [N] {{ y.at(p, k) = __to<f32>(s); }}");
        assert_eq!(named(&both), [2, 0, 0]);
    }

    #[test]
    fn what_a_loop_may_not_divide_stays() {
        let conditional = "if (k < c) { y.at(p, k) = x.at(r, k); }";
        assert_eq!(
            named(&format!("{ROW} foreach k in [N] {{ {conditional} }}"))[2],
            1
        );
        let after = "if (k == c) break; y.at(p, k) = x.at(r, k);";
        assert_eq!(
            named(&format!("{ROW} foreach k in [N] {{ {after} }}"))[2],
            1
        );
        // The check of the divisor is in the loop.
        let inside = "r = n / (m - p); y.at(p, k) = __to<f32>(r);";
        assert_eq!(named(&format!("foreach k in [N] {{ {inside} }}"))[2], 1);
        // It differs between iterations.
        assert_eq!(
            named("foreach k in [N] { r = (p + k) / m; y.at(p, k) = x.at(r, k); }")[2],
            1
        );
    }

    #[test]
    fn a_list_divides_once() {
        let once = "x.at(p, 0) = __to<f32>(r);";
        assert_eq!(named(&format!("{ROW} {once}")), [0, 0, 0]);
        assert_eq!(
            named(&format!("{ROW} {once} y.at(p, 1) = __to<f32>(r);")),
            [1, 0, 0]
        );
        // Each branch on its own.
        let branches = format!("{ROW} if (p < c) {{ {once} }} else {{ {once} }}");
        assert_eq!(named(&branches), [0, 0, 0]);
    }
}
