//! What is computed from the number of the thread alone, computed for each thread of the block.
//!
//! `i / 32` is the same in a warp, and so is `i < 64`, though `i` is not. No rule about expressions finds all of
//! these, and a block has at most 1024 threads, so the values themselves are compared.

use std::collections::BTreeMap;

use super::scope::Scope;
use crate::ir::{
    BinOp, Expr, ExprKind, Function, Intrinsic, LocalId, UnOp, VarHome, WARP_THREADS,
    WARPGROUP_THREADS,
};
use crate::symbolic::{Sym, Var};

/// Of a block of any GPU.
const MOST: usize = 1024;

/// Locals that are functions of the number of the thread, each with its value for every thread.
pub struct Indices {
    threads: usize,
    values: BTreeMap<LocalId, Vec<i128>>,
}

impl Indices {
    /// `threads`: of the block, where it is known.
    pub fn new(threads: Option<i64>) -> Self {
        let threads = threads.and_then(|n| usize::try_from(n).ok());
        Self {
            threads: threads.map_or(MOST, |n| n.clamp(1, MOST)),
            values: BTreeMap::new(),
        }
    }

    pub fn has(&self, local: LocalId) -> bool {
        self.values.contains_key(&local)
    }

    /// Notes an immutable local.
    pub fn add(&mut self, local: LocalId, values: Vec<i128>) {
        self.values.insert(local, values);
    }

    /// The value for every thread.
    pub fn of_expr(&self, function: &Function, e: &Expr) -> Option<Vec<i128>> {
        let of = Of {
            function,
            indices: self,
        };
        (0..self.threads).map(|thread| of.expr(e, thread)).collect()
    }

    /// The widest units in which all threads have the same; `None` where it is not known of each.
    pub fn scope_of_expr(&self, function: &Function, e: &Expr) -> Option<Scope> {
        let of = Of {
            function,
            indices: self,
        };
        scope_of((0..self.threads).map(|thread| of.expr(e, thread)))
    }

    pub fn scope_of_sym(&self, function: &Function, sym: &Sym) -> Option<Scope> {
        let of = Of {
            function,
            indices: self,
        };
        scope_of((0..self.threads).map(|thread| of.sym(sym, thread)))
    }
}

fn scope_of(values: impl Iterator<Item = Option<i128>>) -> Option<Scope> {
    let mut scope = Scope::Grid;
    let mut last = None;
    for (thread, value) in (0u32..).zip(values) {
        let value = value?;
        if last.is_some_and(|last| last != value) {
            // Neighbours that differ are in two units of any size that has a border between them.
            let here = if !thread.is_multiple_of(WARP_THREADS) {
                return Some(Scope::Thread);
            } else if !thread.is_multiple_of(WARPGROUP_THREADS) {
                Scope::Warp
            } else {
                Scope::Warpgroup
            };
            scope = scope.min(here);
        }
        last = Some(value);
    }
    Some(scope)
}

struct Of<'a> {
    function: &'a Function,
    indices: &'a Indices,
}

impl Of<'_> {
    fn local(&self, local: LocalId, thread: usize) -> Option<i128> {
        self.indices.values.get(&local)?.get(thread).copied()
    }

    fn sym(&self, sym: &Sym, thread: usize) -> Option<i128> {
        let value = |var: Var| match self.function.var_home.get(&var) {
            Some(VarHome::Local(local)) => self.local(*local, thread),
            _ => None,
        };
        sym.evaluate(&value)
    }

    fn expr(&self, e: &Expr, thread: usize) -> Option<i128> {
        let number = i128::try_from(thread).ok()?;
        let warp = i128::from(WARP_THREADS);
        match &*e.kind {
            ExprKind::Index(sym) => self.sym(sym, thread),
            ExprKind::Int(value) => Some(*value),
            ExprKind::Bool(value) => Some(i128::from(*value)),
            ExprKind::Local(local) => self.local(*local, thread),
            ExprKind::Intrinsic(Intrinsic::Thread, _) => Some(number),
            ExprKind::Intrinsic(Intrinsic::Warp, _) => Some(number / warp),
            ExprKind::Unary(op, a) => {
                let a = self.expr(a, thread)?;
                match op {
                    UnOp::Neg => a.checked_neg(),
                    UnOp::Not => Some(i128::from(a == 0)),
                    UnOp::BitNot => None,
                }
            }
            ExprKind::Binary(op, a, b) => {
                binary(*op, self.expr(a, thread)?, || self.expr(b, thread))
            }
            ExprKind::Select(cond, a, b) => match self.expr(cond, thread)? {
                0 => self.expr(b, thread),
                _ => self.expr(a, thread),
            },
            ExprKind::Cast(a) if e.ty.is_integer() && a.ty.is_integer() => {
                let value = self.expr(a, thread)?;
                // Small enough for all types of indices: nothing wraps.
                (0..1 << 31).contains(&value).then_some(value)
            }
            _ => None,
        }
    }
}

fn binary(op: BinOp, a: i128, b: impl FnOnce() -> Option<i128>) -> Option<i128> {
    let is = |truth: bool| Some(i128::from(truth));
    match op {
        BinOp::LogicAnd if a == 0 => return Some(0),
        BinOp::LogicOr if a != 0 => return Some(1),
        _ => {}
    }
    let b = b()?;
    match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::Div => a.checked_div(b),
        BinOp::Rem => a.checked_rem(b),
        BinOp::And if a >= 0 && b >= 0 => Some(a & b),
        BinOp::Min => Some(a.min(b)),
        BinOp::Max => Some(a.max(b)),
        BinOp::LogicAnd | BinOp::LogicOr => is(b != 0),
        BinOp::Lt => is(a < b),
        BinOp::Le => is(a <= b),
        BinOp::Gt => is(a > b),
        BinOp::Ge => is(a >= b),
        BinOp::Eq => is(a == b),
        BinOp::Ne => is(a != b),
        BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_with_one_value() {
        let of = |threads: i128, value: fn(i128) -> i128| {
            scope_of((0..threads).map(|t| Some(value(t)))).expect("all are known")
        };
        assert_eq!(of(256, |t| t), Scope::Thread);
        assert_eq!(of(256, |t| t / 32), Scope::Warp);
        assert_eq!(of(256, |t| t / 128), Scope::Warpgroup);
        assert_eq!(of(256, |t| i128::from(t < 64)), Scope::Warp);
        assert_eq!(of(256, |t| i128::from(t < 256)), Scope::Grid);
        assert_eq!(of(64, |t| t / 128), Scope::Grid);
        assert_eq!(of(64, |t| t / 16), Scope::Thread);
    }
}
