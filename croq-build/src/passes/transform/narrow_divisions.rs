//! Divisions of integers that fit 32 bits.
//!
//! A quotient of 64-bit integers that are not constant is, on a GPU, about twenty instructions if both
//! happen to be small, and a function of seventy beside them if not: most of a kernel that computes
//! from the number of a tile where it lies. Where both are proved to be from 0 to 2^32 - 1, there is
//! only a division of 32 bits; its remainder is the dividend without the quotient's multiple.
//!
//! What is proved: bounds of variables, conditions around the statement, what the host has checked
//! before the launch, and that the extents of tensor maps have 31 bits. A program can help by
//! `assert(tiles < 1 << 31, "…")`.

use std::collections::HashMap;

use super::known;
use super::named_divisions::{Divisions, Replace, below, declared, is_fixed, occurrences};
use crate::ir::build;
use crate::ir::{
    BinOp, Expr, ExprKind, Function, KernelId, LocalId, Role, Scalar, Stmt, StmtKind, VisitorMut,
    as_sym,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym};

const NARROW: Scalar = Scalar::U32;

/// `checked`: a kernel runs only if the host's assertions hold.
pub fn narrow(function: &mut Function, id: KernelId, checked: bool) {
    let extents = known::extents_of_maps(function, id);
    function.with_kernel_body(id, |function, body| {
        let mut pass = Pass {
            function,
            extents,
            id,
            asserted: (!checked).then(Vec::new),
            known: Vec::new(),
            conditions: 0,
            here: 0,
            answers: HashMap::new(),
            quotients: Vec::new(),
        };
        pass.block(body);
    });
}

struct Pass<'a> {
    function: &'a mut Function,
    extents: Vec<Sym>,
    id: KernelId,
    /// What the host has ensured, once it is needed.
    asserted: Option<Vec<Expr>>,
    /// Conditions that hold here.
    known: Vec<Expr>,
    /// How many statements with a condition there were, and the number of the innermost around this
    /// place: where it is the same, the same is known.
    conditions: usize,
    here: usize,
    /// The results of `proves_narrow`, each with the number `here`.
    answers: HashMap<(usize, Atom), bool>,
    /// The narrow quotients that are declared here: dividend, divisor, and the variable.
    quotients: Vec<(Sym, Sym, LocalId)>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Vec<Stmt>) {
        let declared_outside = self.quotients.len();
        let mut at = 0;
        while at < block.len() {
            while let Some(atom) = self.next(block.get(at..).unwrap_or_default()) {
                let Some(rest) = block.get_mut(at..) else {
                    break;
                };
                let declaration = self.declare(&atom, rest);
                block.insert(at, declaration);
                at += 1;
            }
            if let Some(stmt) = block.get_mut(at) {
                self.declaration(stmt);
                let outside = (self.known.len(), self.here);
                if let Some(condition) = known::condition(stmt) {
                    self.known.push(condition.clone());
                    self.conditions += 1;
                    self.here = self.conditions;
                }
                for inner in stmt.kind.blocks_mut() {
                    self.block(inner);
                    // The second block of a branch is the other one.
                    self.known.truncate(outside.0);
                    self.here = outside.1;
                }
                self.known.truncate(outside.0);
                self.here = outside.1;
            }
            at += 1;
        }
        self.quotients.truncate(declared_outside);
    }

    /// The first division of the first statement that becomes narrow, other than the one that it
    /// declares.
    fn next(&mut self, stmts: &[Stmt]) -> Option<Atom> {
        let first = stmts.first()?;
        let mut here = Divisions::default();
        here.at(first);
        let named = declared(self.function, first).map(|(atom, _)| atom);
        for atom in here.0 {
            if !is_fixed(self.function, &atom) || !self.is_narrow(&atom) {
                continue;
            }
            // The quotient first: the remainder follows from it.
            if let Atom::Rem(a, b) = &atom
                && !self.quotients.iter().any(|(x, y, _)| (x, y) == (a, b))
            {
                let quotient = Atom::Div(a.clone(), b.clone());
                if occurrences(&quotient, stmts) > 0 {
                    return Some(quotient);
                }
            }
            if named.as_ref() != Some(&atom) {
                return Some(atom);
            }
        }
        None
    }

    /// Replaces the value of a statement that declares a quotient or a remainder.
    fn declaration(&mut self, stmt: &mut Stmt) {
        let Some((atom, _)) = declared(self.function, stmt) else {
            return;
        };
        if !self.is_narrow(&atom) {
            return;
        }
        let span = stmt.span;
        if let StmtKind::Let { local, value } = &mut stmt.kind {
            let narrow = self.value(&atom, *local, span);
            *value = Some(Expr::new(ExprKind::Cast(narrow), Scalar::Index, span));
        }
    }

    /// Declares a variable for the quotient or remainder, and uses it in `rest`.
    fn declare(&mut self, atom: &Atom, rest: &mut [Stmt]) -> Stmt {
        let span = rest.first().map_or(Span::default(), |stmt| stmt.span);
        let name = match atom {
            Atom::Rem(..) => "remainder",
            _ => "quotient",
        };
        let below = match atom {
            Atom::Rem(a, b) => below(self.function, a, b),
            _ => None,
        };
        let (local, by) = build::index(self.function, name, Role::Value, below, span);
        if let Some(local) = self.function.locals.get_mut(local.index()) {
            local.ty = NARROW;
        }
        let value = self.value(atom, local, span);
        let function = &*self.function;
        let _ = VisitorMut::block(&mut Replace { function, atom, by }, rest);
        build::declare(local, value)
    }

    /// The quotient or remainder, which is the value of `local`.
    fn value(&mut self, atom: &Atom, local: LocalId, span: Span) -> Expr {
        let (op, a, b) = match atom {
            Atom::Rem(a, b) => (BinOp::Rem, a, b),
            Atom::Div(a, b) => (BinOp::Div, a, b),
            _ => return Expr::index(Sym::atom(atom.clone()), span),
        };
        let narrow = |sym: &Sym| match sym.as_int() {
            Some(value) => Expr::int(i128::from(value), NARROW, span),
            None => Expr::new(ExprKind::Cast(Expr::index(sym.clone(), span)), NARROW, span),
        };
        let mut quotients = self.quotients.iter().rev();
        let quotient = quotients.find(|(x, y, _)| (x, y) == (a, b));
        match (op, quotient) {
            (BinOp::Rem, Some((_, _, quotient))) => {
                let ty = self.function.local(*quotient).ty;
                let quotient = Expr::local(*quotient, ty, span);
                let quotient = match ty == NARROW {
                    true => quotient,
                    false => Expr::new(ExprKind::Cast(quotient), NARROW, span),
                };
                let multiple = Expr::binary(BinOp::Mul, quotient, narrow(b), span);
                Expr::binary(BinOp::Sub, narrow(a), multiple, span)
            }
            _ => {
                if op == BinOp::Div {
                    self.quotients.push((a.clone(), b.clone(), local));
                }
                Expr::binary(op, narrow(a), narrow(b), span)
            }
        }
    }

    /// Whether both operands are from 0 to 2^32 - 1 wherever the division is evaluated.
    fn is_narrow(&mut self, atom: &Atom) -> bool {
        let key = (self.here, atom.clone());
        if let Some(answer) = self.answers.get(&key) {
            return *answer;
        }
        let answer = self.proves_narrow(atom);
        self.answers.insert(key, answer);
        answer
    }

    fn proves_narrow(&mut self, atom: &Atom) -> bool {
        let (Atom::Div(a, b) | Atom::Rem(a, b)) = atom else {
            return false;
        };
        let fits = |function: &Function, known: &[Expr]| {
            let is_natural = |n: &Sym| function.cx.le(&Sym::zero(), n).is_yes();
            [a, b]
                .into_iter()
                .all(|n| is_natural(n) && is_small(function, n, known))
        };
        if fits(self.function, &[]) {
            return true;
        }
        self.function.cx.push_scope();
        known::assume_extents(self.function, &self.extents);
        let (function, id) = (&*self.function, self.id);
        let asserted = self
            .asserted
            .get_or_insert_with(|| known::before_launch(function, id));
        for cond in asserted.iter().chain(&self.known) {
            known::assume(self.function, cond);
        }
        let fit = fits(self.function, &self.known);
        self.function.cx.pop_scope();
        fit
    }
}
/// Whether the number is at most 2^32 - 1, possibly because it is below something that is.
fn is_small(function: &Function, number: &Sym, known: &[Expr]) -> bool {
    let most = Sym::int(i64::from(u32::MAX));
    let cx = &function.cx;
    let above = |cond: &Expr| match &*cond.kind {
        ExprKind::Binary(BinOp::Lt | BinOp::Le, a, b) => {
            match (as_sym(function, a)?, as_sym(function, b)?) {
                (a, b) if a == *number => Some(b),
                _ => None,
            }
        }
        _ => None,
    };
    cx.le(number, &most).is_yes()
        || known
            .iter()
            .filter_map(above)
            .any(|limit| cx.le(&limit, &most).is_yes())
}

#[cfg(test)]
mod tests {
    use crate::ir::{BinOp, Expr, ExprKind, Scalar, Visit};
    use crate::sema::testing;

    /// The number of divisions of 32 bits, and of quotients and remainders by what is not constant that
    /// remain.
    #[derive(Default)]
    struct Count {
        narrow: usize,
        wide: usize,
    }

    impl Visit for Count {
        fn expr(&mut self, e: &Expr) {
            let divides = matches!(*e.kind, ExprKind::Binary(BinOp::Div | BinOp::Rem, ..));
            self.narrow += usize::from(divides && e.ty == Scalar::U32);
        }
        fn sym(&mut self, sym: &crate::symbolic::Sym) {
            let mut here = super::Divisions::default();
            here.in_sym(sym);
            self.wide += here.0.len();
        }
    }

    /// `host` is before the launch; each thread executes `body` for a tile, `n` is an argument of 32
    /// bits and `m` of 64.
    fn divisions(host: &str, body: &str) -> (usize, usize) {
        let text = format!(
            "__co__ void f(global s32 [8, 64] x, global s32 [N, K] y, s32 n, s64 m) {{
               int wide = cdiv(N, 256);
               {host}
               parallel q by 66 : block parallel t by 32 : thread {{
                 foreach turn in [cdiv(wide * 5, 66)] {{
                   tile = turn * 66 + q;
                   {body}
                 }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "narrow-divisions");
        let mut count = Count::default();
        crate::ir::walk_block(&function.kernels[0].body, &mut count);
        (count.narrow, count.wide)
    }

    const FEW: &str = "assert(wide < 1 << 28, \"few tiles\");";
    const SUM: &str = "x.at(0, t) = __to<s32>(tile / wide);";
    const BOTH: &str = "x.at(0, t) = __to<s32>(tile / wide * 3 + tile % wide);";

    #[test]
    fn assertions_and_conditions_bound_operands() {
        let inside = |body: &str| format!("if (tile < wide * 5) {{ {body} }}");
        assert_eq!(divisions(FEW, &inside(SUM)), (1, 0));
        // The remainder follows from the quotient, wherever it is.
        assert_eq!(divisions(FEW, &inside(BOTH)), (1, 0));
        let apart = "x.at(0, t) = __to<s32>(tile % wide); x.at(1, t) = __to<s32>(tile / wide);";
        assert_eq!(divisions(FEW, &inside(apart)), (1, 0));
        // Without the assertion, a tensor of 2^40 rows has too many.
        assert_eq!(divisions("", &inside(SUM)).0, 0);
        assert_eq!(
            divisions("assert(wide < 1 << 33, \"\");", &inside(SUM)).0,
            0
        );
        // `wide * 5` fits, the number of the last tile of a loop may not.
        let most = "assert(wide < 858993460, \"\");";
        assert_eq!(divisions(most, &inside(SUM)), (1, 0));
        assert_eq!(divisions(most, SUM).0, 0);
        // What is proved in a branch is not known in the other one, nor behind it.
        let other = SUM.replace("at(0, t)", "at(1, t)");
        for (first, then) in [("", "else"), ("x.at(2, t) = 1;", "")] {
            let body = format!("{first} if (tile < wide * 5) {{ {SUM} }} {then} {{ {other} }}");
            assert_eq!(divisions(most, &body), (1, 1), "{body}");
        }
        // Of the other branch nothing is known.
        assert_eq!(
            divisions(
                most,
                &format!("if (tile < wide * 5) {{ x.at(1, t) = 0; }} else {{ {SUM} }}")
            )
            .0,
            0
        );
    }

    #[test]
    fn negative_numbers_stay_wide() {
        let by = |by: &str| divisions(FEW, &format!("x.at(0, t) = __to<s32>(tile / {by});"));
        assert_eq!(by("wide"), (1, 0));
        assert_eq!(by("(wide - 7)").0, 0);
        assert_eq!(by("n").0, 0);
        assert_eq!(by("__max(n, 1)"), (1, 0));
        assert_eq!(by("__max(m, 1)").0, 0);
        let of = |of: &str| divisions(FEW, &format!("x.at(0, t) = __to<s32>(({of}) % wide);"));
        assert_eq!(of("tile + 3"), (1, 0));
        assert_eq!(of("tile - 3").0, 0);
    }

    #[test]
    fn conditions_of_the_host_bound_operands() {
        let text = "
            __co__ void f(global s32 [64] x, global s32 [N, K] y) {
              int wide = cdiv(N, 256);
              if (wide < 1 << 28) {
                parallel q by 64 : block parallel t by 1 : thread { x.at(q) = __to<s32>(q / wide); }
              } else {
                parallel q by 64 : block parallel t by 1 : thread { x.at(q) = __to<s32>(q / wide); }
              }
              parallel q by 64 : block parallel t by 1 : thread { x.at(q) = __to<s32>(q / wide); }
            }";
        let function = testing::function_after(text, "narrow-divisions");
        let narrow = function.kernels.iter().map(|kernel| {
            let mut count = Count::default();
            crate::ir::walk_block(&kernel.body, &mut count);
            count.narrow
        });
        assert_eq!(narrow.collect::<Vec<_>>(), [1, 0, 0]);
    }
}
