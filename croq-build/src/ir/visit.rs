//! Walks over statements and everything they mention.

use super::{
    Access, Arg, Engine, Expr, ExprKind, MmaOp, MoveMode, PrintPart, ReturnValue, Step, Stmt,
    StmtKind, TmaOp, Transform, View,
};
use crate::symbolic::Sym;

/// Callbacks of a walk; each defaults to nothing. The walk itself descends.
pub trait Visit {
    fn stmt(&mut self, _stmt: &Stmt) {}
    fn expr(&mut self, _expr: &Expr) {}
    /// Every symbolic expression that is evaluated at run time.
    fn sym(&mut self, _sym: &Sym) {}
    /// A copy's or fill's view, or a pointer argument.
    fn view(&mut self, _view: &View) {}
    /// A load (`written` false) or a store's target.
    fn access(&mut self, _access: &Access, _written: bool) {}
}

pub fn walk_block(stmts: &[Stmt], v: &mut dyn Visit) {
    for stmt in stmts {
        v.stmt(stmt);
        walk_stmt(stmt, v);
    }
}

fn walk_stmt(stmt: &Stmt, v: &mut dyn Visit) {
    match &stmt.kind {
        StmtKind::Let { value, .. } => value.iter().for_each(|e| walk_exprs(e, v)),
        StmtKind::Assign { value, .. } | StmtKind::Eval(value) => walk_exprs(value, v),
        StmtKind::Store { access, value, .. } => {
            walk_access(access, true, v);
            walk_exprs(value, v);
        }
        StmtKind::Atomic(atomic) => {
            walk_access(&atomic.access, true, v);
            atomic.operands().for_each(|e| walk_exprs(e, v));
        }
        StmtKind::For {
            lo, hi, step, body, ..
        } => {
            v.sym(lo);
            v.sym(hi);
            v.sym(step);
            walk_block(body, v);
        }
        StmtKind::While {
            prelude,
            cond,
            body,
        } => {
            walk_block(prelude, v);
            walk_exprs(cond, v);
            walk_block(body, v);
        }
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => {
            walk_exprs(cond, v);
            walk_block(then, v);
            walk_block(otherwise, v);
        }
        StmtKind::Parallel { body, .. } | StmtKind::Once { body, .. } => walk_block(body, v),
        StmtKind::Region {
            pred, among, body, ..
        } => {
            walk_exprs(pred, v);
            if let Some((asked, _)) = among {
                walk_exprs(asked, v);
            }
            walk_block(body, v);
        }
        StmtKind::Copy(copy) => {
            walk_view(&copy.source, v);
            walk_view(&copy.dest, v);
            if let Engine::Tma(tma) = &copy.engine
                && let Some(sym) = tma.event.as_ref().and_then(|e| e.sym())
            {
                v.sym(sym);
            }
            if let Transform::Pad { value, .. } = &copy.transform {
                walk_exprs(value, v);
            }
        }
        StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
            futures.iter().for_each(|w| walk_view(&w.view, v));
        }
        StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => {
            at.sym().into_iter().for_each(|s| v.sym(s))
        }
        StmtKind::Tma(op) => {
            op.for_each_sym(&mut |s| v.sym(s));
            if let TmaOp::Wait { parity, .. } = op {
                walk_exprs(parity, v);
            }
        }
        StmtKind::Move(m) => {
            walk_access(&m.source, false, v);
            walk_access(&m.dest, true, v);
            if let MoveMode::Async { inside: Some(e) } = &m.mode {
                walk_exprs(e, v);
            }
        }
        StmtKind::Mma(op) => walk_mma(op, v),
        StmtKind::Fill { view, value, .. } => {
            walk_view(view, v);
            walk_exprs(value, v);
        }
        StmtKind::Check { cond, values, .. } => {
            walk_exprs(cond, v);
            values.iter().for_each(|e| walk_exprs(e, v));
        }
        StmtKind::Print { parts, .. } => {
            for part in parts {
                if let PrintPart::Value(e) = part {
                    walk_exprs(e, v);
                }
            }
        }
        StmtKind::Return(ReturnValue::Scalar(e)) => walk_exprs(e, v),
        StmtKind::Return(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Yield
        | StmtKind::Barrier { .. }
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

fn walk_mma(op: &MmaOp, v: &mut dyn Visit) {
    for (view, _) in op.views() {
        walk_view(view, v);
    }
    for (access, written) in op.accesses() {
        walk_access(access, written, v);
    }
    for part in op.parts() {
        part.number.iter().for_each(|s| v.sym(s));
    }
    match op {
        MmaOp::Each { value, .. } => walk_exprs(value, v),
        MmaOp::Apply { body, .. } => walk_block(body, v),
        MmaOp::Step(Step::Describe { leading, .. }) => v.sym(leading),
        MmaOp::Product(product) => walk_exprs(&product.accumulate, v),
        MmaOp::Step(Step::Advance { bytes, .. }) => v.sym(bytes),
        MmaOp::Step(Step::Instruction(i)) => walk_exprs(&i.accumulate, v),
        _ => {}
    }
}

/// Visits `expr` and everything below it.
pub fn walk_exprs(expr: &Expr, v: &mut dyn Visit) {
    v.expr(expr);
    match &*expr.kind {
        ExprKind::Index(sym) => v.sym(sym),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => walk_exprs(a, v),
        ExprKind::Binary(_, a, b) => {
            walk_exprs(a, v);
            walk_exprs(b, v);
        }
        ExprKind::Select(a, b, c) => {
            walk_exprs(a, v);
            walk_exprs(b, v);
            walk_exprs(c, v);
        }
        ExprKind::Math(_, args) => args.iter().for_each(|e| walk_exprs(e, v)),
        ExprKind::Load(access) => walk_access(access, false, v),
        ExprKind::Call(call) => call.args.iter().for_each(|a| walk_arg(a, v)),
        ExprKind::Fits(fits) => fits.syms().for_each(|s| v.sym(s)),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Local(_)
        | ExprKind::Param(_)
        | ExprKind::Hardware(_) => {}
    }
}

fn walk_arg(arg: &Arg, v: &mut dyn Visit) {
    match arg {
        Arg::Value(e) => walk_exprs(e, v),
        Arg::Pointer(view) => walk_view(view, v),
        Arg::Cast(_, inner) => walk_arg(inner, v),
        Arg::Null => {}
    }
}

fn walk_access(access: &Access, written: bool, v: &mut dyn Visit) {
    v.access(access, written);
    v.sym(&access.view.offset);
    access.view.strides.iter().for_each(|s| v.sym(s));
    access.indices.iter().for_each(|s| v.sym(s));
}

fn walk_view(view: &View, v: &mut dyn Visit) {
    v.view(view);
    v.sym(&view.offset);
    view.shape
        .iter()
        .chain(&view.strides)
        .for_each(|s| v.sym(s));
    for valid in &view.valid {
        valid.lo.iter().chain(&valid.hi).for_each(|s| v.sym(s));
    }
}
