//! Every view and expression of a piece of program, to be changed in place.

use super::{
    Access, Arg, Expr, ExprKind, MmaOp, MoveMode, PrintPart, ReturnValue, Step, Stmt, StmtKind,
    TmaOp, Transform, View,
};

/// What happens to each piece.
pub trait Change {
    /// A copy's or fill's.
    fn view(&mut self, _view: &mut View) {}
    fn access(&mut self, access: &mut Access) {
        self.view(&mut access.view);
    }
    /// Of which text outside gets the first element's address.
    fn pointer(&mut self, view: &mut View) {
        self.view(view);
    }
    /// Inner ones first.
    fn expr(&mut self, _expr: &mut Expr) {}
}

/// Calls `change` on each view, those of accesses included.
pub fn change_views(stmts: &mut [Stmt], change: &mut dyn FnMut(&mut View)) {
    struct Views<'a>(&'a mut dyn FnMut(&mut View));
    impl Change for Views<'_> {
        fn view(&mut self, view: &mut View) {
            (self.0)(view);
        }
    }
    change_all(stmts, &mut Views(change));
}

/// Calls `change` on each expression, inner ones first.
pub fn change_exprs(stmts: &mut [Stmt], change: &mut dyn FnMut(&mut Expr)) {
    struct Exprs<'a>(&'a mut dyn FnMut(&mut Expr));
    impl Change for Exprs<'_> {
        fn expr(&mut self, expr: &mut Expr) {
            (self.0)(expr);
        }
    }
    change_all(stmts, &mut Exprs(change));
}

/// Calls `change` on all there is.
pub fn change_all(stmts: &mut [Stmt], change: &mut dyn Change) {
    for stmt in stmts {
        change_stmt(stmt, change);
    }
}

fn change_stmt(stmt: &mut Stmt, change: &mut dyn Change) {
    match &mut stmt.kind {
        StmtKind::Let { value, .. } => {
            if let Some(e) = value {
                change_expr(e, change);
            }
        }
        StmtKind::Assign { value, .. } | StmtKind::Eval(value) => change_expr(value, change),
        StmtKind::Store { access, value, .. } => {
            change.access(access);
            change_expr(value, change);
        }
        StmtKind::Atomic(atomic) => {
            change.access(&mut atomic.access);
            atomic.operands_mut().for_each(|e| change_expr(e, change));
        }
        StmtKind::For { body, .. }
        | StmtKind::Parallel { body, .. }
        | StmtKind::Once { body, .. } => change_all(body, change),
        StmtKind::While {
            prelude,
            cond,
            body,
        } => {
            change_all(prelude, change);
            change_expr(cond, change);
            change_all(body, change);
        }
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => {
            change_expr(cond, change);
            change_all(then, change);
            change_all(otherwise, change);
        }
        StmtKind::Region {
            pred, among, body, ..
        } => {
            change_expr(pred, change);
            if let Some((asked, _)) = among {
                change_expr(asked, change);
            }
            change_all(body, change);
        }
        StmtKind::Copy(copy) => {
            change.view(&mut copy.source);
            change.view(&mut copy.dest);
            if let Transform::Pad { value, .. } = &mut copy.transform {
                change_expr(value, change);
            }
        }
        StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
            futures.iter_mut().for_each(|w| change.view(&mut w.view))
        }
        StmtKind::Move(m) => {
            change.access(&mut m.source);
            change.access(&mut m.dest);
            if let MoveMode::Async { inside: Some(e) } = &mut m.mode {
                change_expr(e, change);
            }
        }
        StmtKind::Mma(op) => {
            for view in op.views_mut() {
                change.view(view);
            }
            for access in op.accesses_mut() {
                change.access(access);
            }
            match &mut **op {
                MmaOp::Each { value, .. } => change_expr(value, change),
                MmaOp::Apply { body, .. } => change_all(body, change),
                MmaOp::Product(product) => change_expr(&mut product.accumulate, change),
                MmaOp::Step(Step::Instruction(i)) => change_expr(&mut i.accumulate, change),
                _ => {}
            }
        }
        StmtKind::Fill { view, value, .. } => {
            change.view(view);
            change_expr(value, change);
        }
        StmtKind::Check { cond, values, .. } => {
            change_expr(cond, change);
            values.iter_mut().for_each(|e| change_expr(e, change));
        }
        StmtKind::Print { parts, .. } => {
            for part in parts {
                if let PrintPart::Value(e) = part {
                    change_expr(e, change);
                }
            }
        }
        StmtKind::Return(ReturnValue::Scalar(e)) => change_expr(e, change),
        StmtKind::Tma(TmaOp::Wait { parity, .. }) => change_expr(parity, change),
        StmtKind::Return(_)
        | StmtKind::Tma(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Yield
        | StmtKind::Barrier { .. }
        | StmtKind::WaitEvent(_)
        | StmtKind::Trigger(_)
        | StmtKind::Rotate { .. }
        | StmtKind::Consult(_)
        | StmtKind::CommitCopies
        | StmtKind::WaitCopies { .. }
        | StmtKind::Fence(_)
        | StmtKind::Registers(_)
        | StmtKind::Cpp { .. }
        | StmtKind::Alloc(_)
        | StmtKind::Launch(_)
        | StmtKind::AwaitSignal { .. }
        | StmtKind::TriggerSignal(_)
        | StmtKind::Synchronize => {}
    }
}

fn change_expr(expr: &mut Expr, change: &mut dyn Change) {
    match &mut *expr.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => change_expr(a, change),
        ExprKind::Binary(_, a, b) => {
            change_expr(a, change);
            change_expr(b, change);
        }
        ExprKind::Select(a, b, c) => {
            change_expr(a, change);
            change_expr(b, change);
            change_expr(c, change);
        }
        ExprKind::Math(_, args) => args.iter_mut().for_each(|e| change_expr(e, change)),
        ExprKind::Load(access) => change.access(access),
        ExprKind::Call(call) => call.args.iter_mut().for_each(|a| change_arg(a, change)),
        ExprKind::Index(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Local(_)
        | ExprKind::Param(_)
        | ExprKind::Hardware(_)
        | ExprKind::Fits(_) => {}
    }
    change.expr(expr);
}

fn change_arg(arg: &mut Arg, change: &mut dyn Change) {
    match arg {
        Arg::Value(e) => change_expr(e, change),
        Arg::Pointer(view) => change.pointer(view),
        Arg::Cast(_, inner) => change_arg(inner, change),
        Arg::Null => {}
    }
}
