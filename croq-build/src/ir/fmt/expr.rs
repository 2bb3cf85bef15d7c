//! Expressions, views and what else stands inside of a statement.

use std::fmt::Write as _;

use super::super::*;
use super::{Printer, listed};
use crate::symbolic::Sym;

impl<P: Phase> Printer<'_, P> {
    pub(super) fn view(&self, view: &View) -> String {
        let mut out = format!("{}{{+{}", self.buffer(view.buffer), self.sym(&view.offset));
        let (shape, strides) = (self.syms(&view.shape), self.syms(&view.strides));
        let _ = write!(out, ", shape [{shape}], strides [{strides}]");
        if view.may_cross() {
            let valid = view.valid.iter().map(|valid| match (&valid.lo, &valid.hi) {
                (None, None) => "_".to_owned(),
                (lo, hi) => {
                    let bound =
                        |of: &Option<Sym>| of.as_ref().map_or(String::new(), |s| self.sym(s));
                    format!("{}..{}", bound(lo), bound(hi))
                }
            });
            let _ = write!(out, ", valid [{}]", listed(valid));
        }
        out.push('}');
        out
    }

    /// By its address in the buffer, in elements.
    pub(super) fn access(&self, access: &Access) -> String {
        let buffer = self.buffer(access.view.buffer);
        format!("{buffer}[{}]", self.sym(&access.address()))
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
        let ty = expr.ty;
        match &*expr.kind {
            ExprKind::Index(sym) => self.sym(sym),
            ExprKind::Int(value) => format!("{value}:{ty}"),
            ExprKind::Float(value) => format!("{value:?}:{ty}"),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Local(id) => self.local(*id),
            ExprKind::Param(id) => self.param(*id),
            ExprKind::Unary(op, a) => {
                let op = match op {
                    UnOp::Neg => "neg",
                    UnOp::Not => "not",
                    UnOp::BitNot => "bitnot",
                };
                format!("{op}({})", self.expr(a))
            }
            ExprKind::Binary(op, a, b) => {
                let op = format!("{op:?}").to_lowercase();
                format!("{op}:{ty}({}, {})", self.expr(a), self.expr(b))
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                format!("select({c}, {a}, {b})")
            }
            ExprKind::Cast(a) => format!("cast<{ty}>({})", self.expr(a)),
            ExprKind::Math(f, args) => {
                let f = format!("{f:?}").to_lowercase();
                format!("{f}:{ty}({})", self.exprs(args))
            }
            ExprKind::Load(access) => format!("load:{ty} {}", self.access(access)),
            ExprKind::Intrinsic(of, operands) => match operands.as_slice() {
                [] => of.info().name.to_owned(),
                operands => format!("{}:{ty}({})", of.info().name, self.exprs(operands)),
            },
            ExprKind::Call(call) => {
                let args = listed(call.args.iter().map(|arg| self.arg(arg)));
                let targs = match call.targs.as_slice() {
                    [] => String::new(),
                    targs => format!("<{}>", listed(targs)),
                };
                format!("call:{ty} {}{targs}({args})", call.callee)
            }
            ExprKind::Fits(Fits::Value(sym)) => format!("fits({})", self.sym(sym)),
            ExprKind::Fits(Fits::Bound { terms, most }) => {
                let terms = terms.iter().map(|(coefficient, factors)| {
                    let factors = factors.iter().map(|f| format!(" * |{}|", self.sym(f)));
                    format!("{coefficient}{}", factors.collect::<String>())
                });
                format!("fits([{}], {most})", listed(terms))
            }
        }
    }

    pub(super) fn exprs(&self, exprs: &[Expr]) -> String {
        listed(exprs.iter().map(|e| self.expr(e)))
    }

    pub(super) fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Value(e) => self.expr(e),
            Arg::Pointer(view) => format!("&{}", self.view(view)),
            Arg::Cast(to, inner) => format!("({to}){}", self.arg(inner)),
            Arg::Null => "null".to_owned(),
        }
    }

    pub(super) fn event_at(&self, at: &EventAt) -> String {
        let slot = match &at.slot {
            Slot::At(sym) => format!("[{}]", self.sym(sym)),
            Slot::Order(sym) => format!(".order({})", self.sym(sym)),
            Slot::All => String::new(),
        };
        let cluster = if at.cluster {
            " in each block of the cluster"
        } else {
            ""
        };
        format!("{}{slot}{cluster}", self.event(at.event))
    }

    pub(super) fn arrival(&self, arrival: &Arrival) -> String {
        let (barriers, slot) = (self.buffer(arrival.barriers), self.sym(&arrival.slot));
        format!("{barriers}[{slot}]")
    }

    pub(super) fn part(&self, part: &Part) -> String {
        match &part.number {
            Some(number) => format!("{}#{}", self.buffer(part.buffer), self.sym(number)),
            None => self.buffer(part.buffer),
        }
    }
}
