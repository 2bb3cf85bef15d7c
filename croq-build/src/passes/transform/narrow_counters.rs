//! Loop variables of 32 bits in kernels that copy by TMA.
//!
//! Coordinates of TMA have 32 bits, and no extent of a tensor map is larger, so the numbers of tiles
//! fit, too. In uniform registers, where ptxas keeps such loop variables, each addition and each
//! comparison of 64 bits is two instructions, between those of the tensor cores.

use super::known;
use crate::ir::{
    CppName, Expr, ExprKind, Flow, Function, KernelId, LocalId, Scalar, Stmt, StmtKind, Visitor,
    VisitorMut, walk, walk_mut,
};
use crate::symbolic::Sym;

const MOST: i64 = i32::MAX as i64;
const LEAST: i64 = i32::MIN as i64;

pub fn narrow(function: &mut Function, id: KernelId) {
    let extents = known::extents_of_maps(function, id);
    if extents.is_empty() {
        return;
    }
    function.with_kernel_body(id, |function, body| {
        function.cx.push_scope();
        known::assume_extents(function, &extents);
        let mut find = Find {
            function,
            narrow: Vec::new(),
            named: Vec::new(),
        };
        let _ = find.block(body);
        let Find { narrow, named, .. } = find;
        function.cx.pop_scope();
        for local in narrow.into_iter().filter(|local| !named.contains(local)) {
            change(function, local, body);
        }
    });
}

struct Find<'a> {
    function: &'a Function,
    narrow: Vec<LocalId>,
    /// C++ of the program keeps the type that it knows.
    named: Vec<LocalId>,
}

impl Visitor for Find<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        if let StmtKind::For {
            local,
            lo,
            hi,
            step,
            unroll: None,
            ..
        } = &stmt.kind
        {
            let cx = &self.function.cx;
            let is_known = hi.as_int().is_some();
            let fits = |last: &Sym| cx.le(last, &Sym::int(MOST)).is_yes();
            let rises = cx.le(&Sym::zero(), lo).is_yes() && cx.le(&Sym::one(), step).is_yes();
            // The comparison is of 32 bits: a bound far below zero would be another number.
            let bounded = cx.le(&Sym::int(LEAST), hi).is_yes();
            if !is_known && rises && bounded && fits(lo) && fits(&(&(hi + step) - 1)) {
                self.narrow.push(*local);
            }
        }
        if let StmtKind::Cpp { names, .. } = &stmt.kind {
            let locals = names.iter().filter_map(|name| match name {
                CppName::Local(id) => Some(*id),
                CppName::Buffer(_) => None,
            });
            self.named.extend(locals);
        }
        walk::stmt(self, stmt)
    }
}

fn change(function: &mut Function, local: LocalId, body: &mut [Stmt]) {
    let Some(local_info) = function.locals.get_mut(local.index()) else {
        return;
    };
    let Some(var) = local_info.var else {
        return;
    };
    local_info.ty = Scalar::S32;
    let value = Sym::var(var);
    let _ = Widen { local, value }.block(body);
}

/// Where the loop variable is used by its name, its value is an index, as before.
struct Widen {
    local: LocalId,
    value: Sym,
}

impl VisitorMut for Widen {
    fn expr(&mut self, expr: &mut Expr) -> Flow {
        if matches!(*expr.kind, ExprKind::Local(id) if id == self.local) {
            *expr = Expr::index(self.value.clone(), expr.span);
        }
        walk_mut::expr(self, expr)
    }
}
