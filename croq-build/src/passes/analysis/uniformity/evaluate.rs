//! Evaluates an expression for one thread, or for all, if the thread number alone determines its value.

use std::cell::RefCell;

use super::indices::{Active, Indices, List, Number};
use super::ints::Ints;
use super::scope::Scope;
use super::state::{Place, State, element};
use crate::ir::{
    BinOp, Expr, ExprKind, Function, Intrinsic, LocalId, Scalar, UnOp, VarHome, WARP_THREADS,
};
use crate::symbolic::{Atom, Sym, Var};

pub struct Evaluate<'a> {
    pub function: &'a Function,
    pub indices: &'a Indices,
    pub state: &'a State,
    /// The values of variables that were evaluated, because each is evaluated for many threads.
    pub vars: RefCell<Vec<(Var, Option<&'a List>)>>,
    pub locals: RefCell<Vec<(LocalId, Option<&'a List>)>>,
}

impl<'a> Evaluate<'a> {
    /// The values for all threads.
    pub fn list(&self, e: &Expr) -> Option<List> {
        let evaluated = || match self.at_once(e) {
            Some(list) => Some(list.normal()),
            None => self.indices.evaluate(|thread| self.number(e, thread)),
        };
        let ExprKind::Index(sym) = &*e.kind else {
            return evaluated();
        };
        // Where all of its variables have the values of an earlier evaluation.
        let vars = sym.sorted_vars().iter();
        let known = vars.map(|var| self.state.at(Place::Local(self.local_of(*var)?)).known);
        match known.collect() {
            Some(known) => self.indices.remembered((sym.clone(), known), evaluated),
            None => evaluated(),
        }
    }

    fn local_of(&self, var: Var) -> Option<LocalId> {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(local)) => Some(*local),
            _ => None,
        }
    }

    fn list_of_local(&self, local: LocalId) -> Option<&'a List> {
        let find = || {
            let known = self.state.at(Place::Local(local)).known?;
            self.indices.list(known)
        };
        found_once(&self.locals, local, find)
    }

    fn list_of_var(&self, var: Var) -> Option<&'a List> {
        found_once(&self.vars, var, || self.list_of_local(self.local_of(var)?))
    }

    fn known_at(&self, place: Place, thread: usize) -> Option<Number> {
        self.indices.list(self.state.at(place).known?)?.at(thread)
    }

    /// The widest unit in which all active threads have the same value of the expression.
    pub fn scope(&self, active: &Active, e: &Expr) -> Option<Scope> {
        let number = |thread| self.number(e, thread);
        self.indices.scope_of(active, number, || self.at_once(e))
    }

    pub fn scope_of_sym(&self, active: &Active, sym: &Sym) -> Option<Scope> {
        let number = |thread| self.number_of_sym(sym, thread);
        self.indices
            .scope_of(active, number, || self.sym_at_once(sym))
    }

    fn number_of_sym(&self, sym: &Sym, thread: usize) -> Option<Number> {
        self.indices.spend(1)?;
        let value = |var: Var| {
            self.indices.spend(1)?;
            match self.list_of_var(var)?.at(thread)? {
                Number::Int(value) => Some(value),
                Number::Float(_) => None,
            }
        };
        sym.evaluate(&value).map(Number::Int)
    }

    pub fn number(&self, e: &Expr, thread: usize) -> Option<Number> {
        self.indices.spend(1)?;
        match &*e.kind {
            ExprKind::Index(sym) => self.number_of_sym(sym, thread),
            ExprKind::Int(value) if !e.ty.is_float() => Some(Number::Int(*value)),
            ExprKind::Bool(value) => Some(Number::truth(*value)),
            ExprKind::Float(value) => float(*value, e.ty),
            ExprKind::Local(local) => self.list_of_local(*local)?.at(thread),
            ExprKind::Load(access) => self.known_at(element(self.function, access)?, thread),
            ExprKind::Intrinsic(Intrinsic::Thread, _) => {
                i128::try_from(thread).ok().map(Number::Int)
            }
            ExprKind::Intrinsic(Intrinsic::Warp, _) => {
                let thread = i128::try_from(thread).ok()?;
                Some(Number::Int(thread / i128::from(WARP_THREADS)))
            }
            ExprKind::Unary(op, a) => unary(*op, self.number(a, thread)?, e.ty),
            ExprKind::Binary(op, a, b) => binary(*op, e.ty, self.number(a, thread)?, || {
                self.number(b, thread)
            }),
            ExprKind::Select(cond, a, b) => match self.number(cond, thread) {
                Some(cond) if cond.is_true() => self.number(a, thread),
                Some(_) => self.number(b, thread),
                None => {
                    let a = self.number(a, thread)?;
                    (self.number(b, thread)? == a).then_some(a)
                }
            },
            ExprKind::Cast(a) => cast(self.number(a, thread)?, e.ty),
            _ => None,
        }
    }

    fn sym_at_once(&self, sym: &Sym) -> Option<List> {
        self.indices.spend(self.indices.threads())?;
        self.sum(sym).map(Ints::into_list)
    }

    fn sum(&self, sym: &Sym) -> Option<Ints> {
        if sym.is_poison() {
            return None;
        }
        let mut sum = Ints::Same(0);
        for (coef, atoms) in sym.terms() {
            let mut product = Ints::Same(coef);
            for atom in atoms {
                product = product.with(self.atom(atom)?, i64::checked_mul)?;
            }
            sum = sum.with(product, i64::checked_add)?;
        }
        Some(sum)
    }

    fn atom(&self, atom: &Atom) -> Option<Ints> {
        let both =
            |a: &Sym, b: &Sym, op: fn(i64, i64) -> Option<i64>| self.sum(a)?.with(self.sum(b)?, op);
        match atom {
            Atom::Var(var) => self.ints_of_var(*var),
            Atom::Div(a, b) => both(a, b, i64::checked_div),
            Atom::Rem(a, b) => both(a, b, i64::checked_rem),
            Atom::Min(a, b) => both(a, b, |a, b| Some(a.min(b))),
            Atom::Max(a, b) => both(a, b, |a, b| Some(a.max(b))),
        }
    }

    fn ints_of_var(&self, var: Var) -> Option<Ints> {
        self.indices.spend(self.indices.threads())?;
        Ints::of(self.list_of_var(var)?)
    }

    /// The values for all threads at once: those of [`Self::number`] for each of them, at a fraction of
    /// the cost. `None` where a part has no value in some thread: an operand that `&&` or `?:` does not
    /// use there, a quotient by zero, an integer of more than 64 bits. The threads are evaluated one by
    /// one then.
    fn at_once(&self, e: &Expr) -> Option<List> {
        let threads = self.indices.threads();
        self.indices.spend(threads)?;
        let of = |e: &Expr| self.at_once(e);
        match &*e.kind {
            ExprKind::Index(sym) => self.sym_at_once(sym),
            ExprKind::Int(value) if !e.ty.is_float() => Some(List::Same(Number::Int(*value))),
            ExprKind::Bool(value) => Some(List::Same(Number::truth(*value))),
            ExprKind::Float(value) => float(*value, e.ty).map(List::Same),
            ExprKind::Local(local) => self.list_of_local(*local).cloned(),
            ExprKind::Load(access) => {
                let known = self.state.at(element(self.function, access)?).known?;
                self.indices.list(known).cloned()
            }
            ExprKind::Intrinsic(Intrinsic::Thread, _) => Some(List::by_thread(threads, 1)),
            ExprKind::Intrinsic(Intrinsic::Warp, _) => Some(List::by_thread(threads, WARP_THREADS)),
            ExprKind::Unary(op, a) => of(a)?.mapped(|a| unary(*op, a, e.ty)),
            ExprKind::Binary(op, a, b) => {
                let compute = |a, b| binary(*op, e.ty, a, || Some(b));
                of(a)?.zipped(&of(b)?, compute)
            }
            ExprKind::Select(cond, a, b) => {
                let (cond, a, b) = (of(cond)?, of(a)?, of(b)?);
                let chosen = (0..threads).map(|t| match cond.at(t)?.is_true() {
                    true => a.at(t),
                    false => b.at(t),
                });
                List::per_thread(chosen, threads)
            }
            ExprKind::Cast(a) => of(a)?.mapped(|a| cast(a, e.ty)),
            _ => None,
        }
    }
}

fn found_once<'a, K: Copy + Eq>(
    found: &RefCell<Vec<(K, Option<&'a List>)>>,
    key: K,
    find: impl FnOnce() -> Option<&'a List>,
) -> Option<&'a List> {
    if let Some((_, list)) = found.borrow().iter().find(|(of, _)| *of == key) {
        return *list;
    }
    let list = find();
    found.borrow_mut().push((key, list));
    list
}

/// A constant or small integer of a float type, if it is exact in an `f64`.
fn float(value: f64, ty: Scalar) -> Option<Number> {
    match ty {
        Scalar::F64 => Some(Number::float(value)),
        Scalar::F32 => Some(Number::float(f64::from(value as f32))),
        _ => None,
    }
}

/// An integer of the type. `None` if it overflows: it is checked at run time then, or wraps.
fn int(value: i128, ty: Scalar) -> Option<Number> {
    let (least, most) = ty.limits()?;
    (least..=most)
        .contains(&value)
        .then_some(Number::Int(value))
}

fn cast(value: Number, ty: Scalar) -> Option<Number> {
    match value {
        Number::Int(value) if ty == Scalar::Bool => Some(Number::truth(value != 0)),
        // Exact in each of these types.
        Number::Int(value) if ty.is_float() && value.unsigned_abs() <= 1 << 24 => {
            float(value as f64, ty)
        }
        Number::Int(value) => int(value, ty),
        Number::Float(bits) if ty.is_float() => float(f64::from_bits(bits), ty),
        Number::Float(_) => None,
    }
}

fn unary(op: UnOp, a: Number, ty: Scalar) -> Option<Number> {
    match (op, a) {
        (UnOp::Not, a) => Some(Number::truth(!a.is_true())),
        (UnOp::Neg, Number::Int(a)) => int(a.checked_neg()?, ty),
        (UnOp::BitNot, Number::Int(a)) if ty.is_signed() => int(!a, ty),
        (UnOp::Neg | UnOp::BitNot, _) => None,
    }
}

fn binary(op: BinOp, ty: Scalar, a: Number, b: impl FnOnce() -> Option<Number>) -> Option<Number> {
    match op {
        BinOp::LogicAnd if !a.is_true() => return Some(Number::truth(false)),
        BinOp::LogicOr if a.is_true() => return Some(Number::truth(true)),
        _ => {}
    }
    let (a, b) = match (a, b()?) {
        (Number::Int(a), Number::Int(b)) => (a, b),
        (Number::Float(a), Number::Float(b)) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            return compared(op, a.partial_cmp(&b)?);
        }
        _ => return None,
    };
    let value = match op {
        BinOp::Add => a.checked_add(b)?,
        BinOp::Sub => a.checked_sub(b)?,
        BinOp::Mul => a.checked_mul(b)?,
        BinOp::Div => a.checked_div(b)?,
        BinOp::Rem => a.checked_rem(b)?,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Shl | BinOp::Shr => {
            let by = u32::try_from(b)
                .ok()
                .filter(|b| u64::from(*b) < ty.bits())?;
            match op {
                BinOp::Shl => a.checked_mul(1_i128.checked_shl(by)?)?,
                _ => a >> by,
            }
        }
        BinOp::LogicAnd | BinOp::LogicOr => i128::from(b != 0),
        _ => return compared(op, a.cmp(&b)),
    };
    int(value, ty)
}

fn compared(op: BinOp, order: std::cmp::Ordering) -> Option<Number> {
    let truth = match op {
        BinOp::Lt => order.is_lt(),
        BinOp::Le => order.is_le(),
        BinOp::Gt => order.is_gt(),
        BinOp::Ge => order.is_ge(),
        BinOp::Eq => order.is_eq(),
        BinOp::Ne => order.is_ne(),
        _ => return None,
    };
    Some(Number::truth(truth))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::scope::Uniform;
    use super::super::state::{Place, State};
    use super::*;
    use crate::sema::testing;
    use crate::source::Span;

    const THREADS: usize = 96;

    /// A kernel whose thread index is `t`, and that local.
    fn function_of_threads() -> (Function, LocalId) {
        let function = testing::function(
            "__co__ void f(global s32 [96] x) { parallel b by 1 : block, t by 96 : thread x.at(t) = 1; }",
        );
        let at = function.locals.iter().position(|local| local.name == "t");
        let id = LocalId(u32::try_from(at.expect("the index")).expect("small"));
        (function, id)
    }

    #[test]
    fn values_are_those_of_each_thread() {
        let (function, local) = function_of_threads();
        let var = function.local(local).var.expect("an integer");
        let (mut indices, mut state) = (Indices::new(Some(THREADS as i64)), State::default());
        let known = indices.add(List::by_thread(THREADS, 1));
        state.replace(
            Place::Local(local),
            Some(Uniform::EVERYWHERE.with(Some(known))),
        );
        let evaluate = Evaluate {
            function: &function,
            indices: &indices,
            state: &state,
            vars: RefCell::default(),
            locals: RefCell::default(),
        };
        let (cx, span) = (&function.cx, Span::default());
        let (t, warp) = (Sym::var(var), Sym::int(32));
        let index = |sym: &Sym| Expr::index(sym.clone(), span);
        let int = |value| Expr::int(value, Scalar::Index, span);
        let binary = |op, a: &Expr, b: &Expr| Expr::binary(op, a.clone(), b.clone(), span);
        let sum = &(&t * 3) - &(&(&t * &t) * 7) + 5;
        let syms = [
            sum,
            cx.div(&t, &warp),
            cx.rem(&t, &warp),
            cx.div(&t, &warp) - cx.div(&(&t + 96), &Sym::int(96)),
            Sym::atom(Atom::Min(t.clone(), warp.clone())),
            Sym::atom(Atom::Max(t.clone(), warp.clone())),
            &t * i64::MAX,
            Sym::atom(Atom::Div(warp, t.clone())),
        ];
        let low = binary(BinOp::Lt, &index(&t), &int(40));
        let quotient = binary(BinOp::Div, &int(40), &index(&t));
        let mut all: Vec<Expr> = syms.iter().map(index).collect();
        all.extend([
            binary(
                BinOp::Add,
                &index(&t),
                &Expr::local(local, Scalar::Index, span),
            ),
            binary(
                BinOp::Sub,
                &index(&t),
                &Expr::intrinsic(Intrinsic::Thread, span),
            ),
            Expr::intrinsic(Intrinsic::Warp, span),
            Expr::new(
                ExprKind::Select(low.clone(), int(3), index(&t)),
                Scalar::Index,
                span,
            ),
            Expr::new(ExprKind::Cast(index(&(&t * 4))), Scalar::U8, span),
            // One side has no value in a thread that does not use it.
            binary(
                BinOp::LogicAnd,
                &binary(BinOp::Gt, &index(&t), &int(0)),
                &quotient,
            ),
            quotient,
            low,
        ]);
        let mut at_once = 0;
        for e in all {
            let each = indices.evaluate(|thread| evaluate.number(&e, thread));
            let together = evaluate.at_once(&e).map(List::normal);
            assert!(
                together.is_none() || together == each,
                "{e:?}: {together:?} {each:?}"
            );
            assert_eq!(evaluate.list(&e), each, "{e:?}");
            at_once += usize::from(together.is_some());
        }
        // All but the integers beyond 64 bits and those of a quotient by zero.
        assert_eq!(at_once, 11);
    }
}
