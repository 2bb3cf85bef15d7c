//! Prints expressions, views and other parts of statements.

use std::fmt::Write as _;

use super::super::*;
use super::printer::Printer;
use super::words::*;
use crate::symbolic::Sym;

pub(super) fn view<P: Phase>(p: &Printer<'_, P>, view: &View) -> String {
    let mut out = format!("{}{{+{}", p.buffer(view.buffer), p.sym(&view.offset));
    let (shape, strides) = (p.syms(&view.shape), p.syms(&view.strides));
    let _ = write!(out, ", shape [{shape}], strides [{strides}]");
    if view.may_cross() {
        let valid = view.valid.iter().map(|valid| match (&valid.lo, &valid.hi) {
            (None, None) => "_".to_owned(),
            (lo, hi) => {
                let bound = |of: &Option<Sym>| of.as_ref().map_or(String::new(), |s| p.sym(s));
                format!("{}..{}", bound(lo), bound(hi))
            }
        });
        let _ = write!(out, ", valid [{}]", listed(valid));
    }
    out.push('}');
    out
}

/// The access as an address in its buffer, in elements.
pub(super) fn access<P: Phase>(p: &Printer<'_, P>, access: &Access) -> String {
    let buffer = p.buffer(access.view.buffer);
    format!("{buffer}[{}]", p.sym(&access.address()))
}

pub(super) fn expr<P: Phase>(p: &Printer<'_, P>, e: &Expr) -> String {
    let ty = e.ty;
    match &*e.kind {
        ExprKind::Index(sym) => p.sym(sym),
        ExprKind::Int(value) => format!("{value}:{ty}"),
        ExprKind::Float(value) => format!("{value:?}:{ty}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Local(id) => p.local(*id),
        ExprKind::Param(id) => p.param(*id),
        ExprKind::Unary(op, a) => {
            let op = match op {
                UnOp::Neg => "neg",
                UnOp::Not => "not",
                UnOp::BitNot => "bitnot",
            };
            format!("{op}({})", expr(p, a))
        }
        ExprKind::Binary(op, a, b) => {
            let op = format!("{op:?}").to_lowercase();
            format!("{op}:{ty}({}, {})", expr(p, a), expr(p, b))
        }
        ExprKind::Select(c, a, b) => {
            let (c, a, b) = (expr(p, c), expr(p, a), expr(p, b));
            format!("select({c}, {a}, {b})")
        }
        ExprKind::Cast(a) => format!("cast<{ty}>({})", expr(p, a)),
        ExprKind::Math(f, args) => {
            let f = format!("{f:?}").to_lowercase();
            format!("{f}:{ty}({})", exprs(p, args))
        }
        ExprKind::Load(of) => format!("load:{ty} {}", access(p, of)),
        ExprKind::Intrinsic(of, operands) => match operands.as_slice() {
            [] => of.info().name.to_owned(),
            operands => format!("{}:{ty}({})", of.info().name, exprs(p, operands)),
        },
        ExprKind::Call(call) => {
            let args = listed(call.args.iter().map(|of| arg(p, of)));
            let targs = match call.targs.as_slice() {
                [] => String::new(),
                targs => format!("<{}>", listed(targs)),
            };
            format!("call:{ty} {}{targs}({args})", call.callee)
        }
        ExprKind::Fits(Fits::Value(sym)) => format!("fits({})", p.sym(sym)),
        ExprKind::Fits(Fits::Bound { terms, most }) => {
            let terms = terms.iter().map(|(coefficient, factors)| {
                let factors = factors.iter().map(|f| format!(" * |{}|", p.sym(f)));
                format!("{coefficient}{}", factors.collect::<String>())
            });
            format!("fits([{}], {most})", listed(terms))
        }
    }
}

pub(super) fn exprs<P: Phase>(p: &Printer<'_, P>, exprs: &[Expr]) -> String {
    listed(exprs.iter().map(|e| expr(p, e)))
}

pub(super) fn arg<P: Phase>(p: &Printer<'_, P>, of: &Arg) -> String {
    match of {
        Arg::Value(e) => expr(p, e),
        Arg::Pointer(of) => format!("&{}", view(p, of)),
        Arg::Cast(to, inner) => format!("({to}){}", arg(p, inner)),
        Arg::Null => "null".to_owned(),
    }
}

pub(super) fn event_at<P: Phase>(p: &Printer<'_, P>, at: &EventAt) -> String {
    let slot = match &at.slot {
        Slot::At(sym) => format!("[{}]", p.sym(sym)),
        Slot::Order(sym) => format!(".order({})", p.sym(sym)),
        Slot::All => String::new(),
    };
    let cluster = if at.cluster {
        " in each block of the cluster"
    } else {
        ""
    };
    format!("{}{slot}{cluster}", p.event(at.event))
}

pub(super) fn arrival<P: Phase>(p: &Printer<'_, P>, arrival: &Arrival) -> String {
    let (barriers, slot) = (p.buffer(arrival.barriers), p.sym(&arrival.slot));
    format!("{barriers}[{slot}]")
}

pub(super) fn part<P: Phase>(p: &Printer<'_, P>, part: &Part) -> String {
    match &part.number {
        Some(number) => format!("{}#{}", p.buffer(part.buffer), p.sym(number)),
        None => p.buffer(part.buffer),
    }
}
