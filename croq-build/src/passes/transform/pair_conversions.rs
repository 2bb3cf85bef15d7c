//! Two conversions by one instruction.
//!
//! PTX converts two numbers of type `f32` to `f16`, `bf16` or `f8` at once. ptxas finds such pairs for
//! types of 16 bits; for those of 8 bits, one number costs as much as two.

use crate::ir::{
    Access, Expr, ExprKind, Flow, Function, KernelId, LocalId, ON, Scalar, Stmt, StmtKind,
    StorePair, Unroll, VisitorMut, any_expr, any_in, walk_mut,
};
use crate::sorted::SortedMap;
use crate::symbolic::{Sym, Var};

pub fn pair(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, in_block);
}

fn in_block(function: &mut Function, body: &mut Vec<Stmt>) {
    let mut stmts = std::mem::take(body).into_iter().peekable();
    while let Some(mut stmt) = stmts.next() {
        stmt.kind.blocks_mut().for_each(|b| in_block(function, b));
        if let Some(pair) = stmts.peek().and_then(|next| of_two(function, &stmt, next)) {
            stmts.next();
            stmt.kind = pair;
        } else if let Some(pairs) = of_loop(function, &stmt) {
            stmt.kind = pairs;
        }
        body.push(stmt);
    }
}

/// A store to memory of the thread, and the number that it converts.
fn converted<'s>(function: &Function, stmt: &'s Stmt) -> Option<(&'s Access, &'s Expr)> {
    let StmtKind::Store {
        access,
        op: None,
        value,
    } = &stmt.kind
    else {
        return None;
    };
    let ExprKind::Cast(wide) = &*value.kind else {
        return None;
    };
    let buffer = function.buffers.get(access.view.buffer.index())?;
    let narrow = matches!(
        value.ty,
        Scalar::F16 | Scalar::Bf16 | Scalar::F8E4M3 | Scalar::F8E5M2
    );
    let fits = narrow && wide.ty == Scalar::F32 && buffer.elem == value.ty && !buffer.swaps;
    (fits && buffer.storage.is_private() && can_be_earlier(wide)).then_some((access, wide))
}

/// Whether it may be computed earlier, and gives the same value.
fn can_be_earlier(e: &Expr) -> bool {
    !any_expr(e, |e| {
        matches!(
            &*e.kind,
            ExprKind::Intrinsic(..) | ExprKind::Call(_) | ExprKind::Fits(_)
        )
    })
}

/// Whether the second value does not depend on the first store.
fn is_independent(function: &Function, first: &Access, second: &Expr) -> bool {
    let stored = first.address();
    !any_expr(second, |e| {
        let ExprKind::Load(access) = &*e.kind else {
            return false;
        };
        let away = function.cx.simplify(&(&access.address() - &stored));
        access.view.buffer == first.view.buffer && away.as_int().is_none_or(|away| away == 0)
    })
}

fn of_two(function: &Function, first: &Stmt, second: &Stmt) -> Option<StmtKind> {
    let (access, a) = converted(function, first)?;
    let (next, b) = converted(function, second)?;
    let away = function.cx.simplify(&(&next.address() - &access.address()));
    let fits = next.view.buffer == access.view.buffer
        && away.as_int() == Some(1)
        && is_independent(function, access, b);
    let values = [a.clone(), b.clone()];
    fits.then(|| {
        StmtKind::StorePair(Box::new(StorePair {
            access: access.clone(),
            values,
        }))
    })
}

/// A loop over consecutive elements, by steps of two. Before the store there may be
/// variables of one iteration.
fn of_loop(function: &mut Function, stmt: &Stmt) -> Option<StmtKind> {
    let StmtKind::For {
        local,
        lo,
        hi,
        step,
        unroll: unroll @ (None | Some(Unroll::Full)),
        body,
    } = &stmt.kind
    else {
        return None;
    };
    let trips = hi.as_int()?.checked_sub(lo.as_int()?)?;
    let var = function.locals.get(local.index())?.var?;
    if step.as_int() != Some(1) || trips % 2 != 0 || has_name(body, *local) {
        return None;
    }
    let (store, declarations) = body.split_last()?;
    let (access, _) = converted(function, store)?;
    let mut next = Next {
        var,
        own: own_variables(function, access, declarations)?,
        function,
    };
    let mut second = body.clone();
    let _ = next.block(&mut second);
    let last = second.pop()?;
    let pair = of_two(function, store, &last)?;
    let mut body = [declarations, &second].concat();
    body.push(Stmt::new(pair, store.span));
    Some(StmtKind::For {
        local: *local,
        lo: lo.clone(),
        hi: hi.clone(),
        step: Sym::int(2),
        unroll: *unroll,
        body,
    })
}

/// Whether an expression has the loop variable by its name.
fn has_name(body: &[Stmt], local: LocalId) -> bool {
    let is_it = |e: &Expr| matches!(*e.kind, ExprKind::Local(id) if id == local);
    any_in(body, |_| false, is_it)
}

/// The variables of an iteration, and new ones for the next; `None` if they can't be computed before
/// the store of this one.
fn own_variables(
    function: &mut Function,
    stored: &Access,
    declarations: &[Stmt],
) -> Option<SortedMap<LocalId, LocalId>> {
    let mut own = SortedMap::new();
    for stmt in declarations {
        let StmtKind::Let {
            local,
            value: Some(value),
        } = &stmt.kind
        else {
            return None;
        };
        let reads_it = |e: &Expr| matches!(&*e.kind, ExprKind::Load(access) if access.view.buffer == stored.view.buffer);
        let info = function.locals.get(local.index())?;
        if info.var.is_some() || !can_be_earlier(value) || any_expr(value, reads_it) {
            return None;
        }
        let (name, ty, span) = (info.name.clone(), info.ty, info.span);
        let copy = function.new_local(&name, ty, info.mutable, span);
        own.insert(*local, copy);
    }
    Some(own)
}

/// Makes statements those of the next iteration.
struct Next<'a> {
    function: &'a Function,
    var: Var,
    own: SortedMap<LocalId, LocalId>,
}

impl VisitorMut for Next<'_> {
    fn stmt(&mut self, stmt: &mut Stmt) -> Flow {
        if let StmtKind::Let { local, .. } = &mut stmt.kind
            && let Some(own) = self.own.get(local)
        {
            *local = *own;
        }
        walk_mut::stmt(self, stmt)
    }

    fn expr(&mut self, expr: &mut Expr) -> Flow {
        if let ExprKind::Local(local) = &mut *expr.kind
            && let Some(own) = self.own.get(local)
        {
            *local = *own;
        }
        walk_mut::expr(self, expr)
    }

    fn sym(&mut self, sym: &mut Sym) -> Flow {
        let next = &Sym::var(self.var) + 1;
        *sym = self.function.cx.substituted(sym, self.var, &next);
        ON
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{StmtKind, any_stmt};
    use crate::sema::testing;

    /// The number of pairs that are stored by these statements of a thread.
    fn pairs(body: &str) -> usize {
        let function = testing::function_after(
            &format!(
                "__co__ void f(global f32 [64, 8] x, global f16 [64, 8] y) {{
                   parallel t by 64 : thread {{
                     local f32 [8] wide;
                     local f16 [8] half;
                     foreach i in [8] {{ wide.at(i) = x.at(t, i); half.at(i) = y.at(t, i); }}
                     {body}
                     foreach i in [8] y.at(t, i) = half.at(i);
                   }}
                 }}"
            ),
            "pair-conversions",
        );
        let mut pairs = 0;
        any_stmt(&function.kernels[0].body, |stmt| {
            pairs += usize::from(matches!(stmt.kind, StmtKind::StorePair(_)));
            false
        });
        pairs
    }

    #[test]
    fn neighbours_are_converted_together() {
        for body in [
            "foreach i in [8] half.at(i) = __to<f16>(wide.at(i));",
            "foreach i in [8] half.at(i) = __to<f16>(__max(wide.at(i) * 2.0f, 0.0f));",
            "foreach i in [8] { f32 v = wide.at(i) + 1.0f; half.at(i) = __to<f16>(v * v); }",
            "foreach i in [8] half.at(i) = __to<f16>(__to<f32>(half.at(i)) + 1.0f);",
            "half.at(2) = __to<f16>(wide.at(5)); half.at(3) = __to<f16>(wide.at(1));",
        ] {
            assert_eq!(pairs(body), 1, "{body}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for body in [
            // An odd number of iterations, and elements that are not neighbours.
            "foreach i in [7] half.at(i) = __to<f16>(wide.at(i));",
            "foreach i in [4] half.at(i * 2) = __to<f16>(wide.at(i));",
            "half.at(3) = __to<f16>(wide.at(5)); half.at(2) = __to<f16>(wide.at(1));",
            // The second value depends on the first.
            "foreach i in [6] half.at(i + 1) = __to<f16>(__to<f32>(half.at(i)) + 1.0f);",
            "foreach i in [6] { f32 v = __to<f32>(half.at(i)); half.at(i + 1) = __to<f16>(v); }",
            "half.at(2) = __to<f16>(wide.at(5)); half.at(3) = __to<f16>(__to<f32>(half.at(2)) * 2.0f);",
            // More happens in an iteration.
            "foreach i in [8] { half.at(i) = __to<f16>(wide.at(i)); wide.at(i) = 0.0f; }",
            // Of 64 bits, or not to a float.
            "foreach i in [8] half.at(i) = __to<f16>(__to<f64>(wide.at(i)));",
        ] {
            assert_eq!(pairs(body), 0, "{body}");
        }
    }
}
