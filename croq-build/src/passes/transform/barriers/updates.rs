//! Updates such as `y.at(e) += v` in which two instances may update the same element, so one update
//! is lost.
//!
//! Only updates that are hardly intended are reported: `e` is computed from data, an index appears
//! in it only in quotients, or two instances with equal `e` are found. Where the program selects
//! the updating instances by a condition, only a range of instances or of values is examined; the
//! simulated GPU checks all other cases.

use super::collect::{Collector, Context};
use super::instances::{EnclosingIndices, is_one_instance};
use super::place::Place;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{BinOp, BufferId, Expr, ExprKind, Function, Role, Stmt, StmtKind, VarHome};
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::{Atom, Var};

/// The maximum number of instances that are enumerated.
const INSTANCES: i64 = 4096;

/// The updates that are examined.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) around: &'a EnclosingIndices,
    pub(super) tracked: &'a [BufferId],
    /// Not all instances make the update.
    pub(super) guarded: bool,
}

pub(super) fn check(
    collector: &mut Collector<'_>,
    body: &[Stmt],
    scope: Scope<'_>,
    context: &Context,
    diags: &mut Diagnostics,
) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Store {
                access,
                op: Some(op),
                ..
            } if scope.tracked.contains(&access.view.buffer) => {
                check_one(collector, stmt, *op, scope, context, diags);
            }
            StmtKind::For { body, .. } => {
                check(collector, body, scope, context, diags);
            }
            StmtKind::Parallel { level, body } => {
                let inner = collector.enter(context, *level, body);
                check(collector, body, scope, &inner, diags);
            }
            // The guard of a level that is split into blocks and threads.
            StmtKind::If { then, .. }
                if declares(collector.function, then, &scope.around.split) =>
            {
                check(collector, then, scope, context, diags);
            }
            StmtKind::If { cond, then, .. } if is_range(cond) => {
                let guarded = Scope {
                    guarded: true,
                    ..scope
                };
                check(collector, then, guarded, context, diags);
            }
            _ => {}
        }
    }
}

/// Comparisons that more than one instance can satisfy, such as `e >= 0 && e < n`.
fn is_range(cond: &Expr) -> bool {
    // `a < n`, with one more value where equality is allowed.
    let several = |n: &Expr, more: i128| constant(n).is_none_or(|n| n + more > 1);
    match &*cond.kind {
        ExprKind::Binary(BinOp::LogicAnd, a, b) => is_range(a) && is_range(b),
        ExprKind::Binary(BinOp::Lt, _, n) | ExprKind::Binary(BinOp::Gt, n, _) => several(n, 0),
        ExprKind::Binary(BinOp::Le, _, n) | ExprKind::Binary(BinOp::Ge, n, _) => several(n, 1),
        _ => false,
    }
}

fn constant(e: &Expr) -> Option<i128> {
    match &*e.kind {
        ExprKind::Index(sym) => sym.as_int().map(i128::from),
        ExprKind::Int(n) => Some(*n),
        ExprKind::Cast(e) => constant(e),
        _ => None,
    }
}

fn declares(function: &Function, stmts: &[Stmt], split: &[Var]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Let { local, .. } => {
            let var = function.locals.get(local.index()).and_then(|l| l.var);
            var.is_some_and(|v| split.contains(&v))
        }
        _ => false,
    })
}

fn check_one(
    collector: &mut Collector<'_>,
    stmt: &Stmt,
    op: BinOp,
    scope: Scope<'_>,
    context: &Context,
    diags: &mut Diagnostics,
) {
    let StmtKind::Store { access, .. } = &stmt.kind else {
        return;
    };
    let mut accesses = Vec::new();
    collector.shallow(stmt, context, &mut accesses);
    let buffer = access.view.buffer;
    let Some(access) = accesses.into_iter().find(|t| t.buffer == buffer && t.write) else {
        return;
    };
    let Collector { function, vars, .. } = collector;
    if is_one_instance(&mut function.cx, vars, &access, &access, scope.around) {
        return;
    }
    let found = access.place.as_ref().and_then(|place| match scope.guarded {
        true => selected_by_data(function, place),
        false => selected_by_data(function, place)
            .or_else(|| divided(function, place))
            .or_else(|| collision(function, place)),
    });
    let Some(why) = found else {
        return;
    };
    let Some(buffer) = function.buffers.get(buffer.index()) else {
        return;
    };
    let name = &buffer.name;
    let atomic = match op {
        BinOp::Add => "add",
        BinOp::Sub => "sub",
        BinOp::And => "and",
        BinOp::Or => "or",
        BinOp::Xor => "xor",
        _ => "cas",
    };
    diags.push(
        Diagnostic::new(
            codes::W0626,
            stmt.span,
            format!("two instances may update the same element of `{name}`"),
        )
        .label(why)
        .help(format!(
            "updates are not atomic, and one of two gets lost: `__atomic_{atomic}({name}.at(…), …)` is atomic"
        )),
    );
}

/// The role of the local that an index or a value refers to.
fn role(function: &Function, var: Var) -> Option<Role> {
    match function.var_home.get(&var)? {
        VarHome::Local(id) => function.locals.get(id.index()).map(|l| l.role),
        _ => None,
    }
}

fn selected_by_data(function: &Function, place: &Place) -> Option<String> {
    let mut vars = place.flat.vars().into_iter();
    vars.any(|var| matches!(role(function, var), Some(Role::Value)))
        .then(|| "which element it is depends on data".to_owned())
}

/// An index that appears only in quotients.
fn divided(function: &Function, place: &Place) -> Option<String> {
    let is_only_divided = |var: &Var| {
        let mut divided = false;
        for (_, atoms) in place.flat.terms() {
            for atom in atoms {
                match atom {
                    Atom::Div(a, _) if a.contains(*var) => divided = true,
                    Atom::Var(v) if v == var => return false,
                    Atom::Rem(a, _) if a.contains(*var) => return false,
                    _ => {}
                }
            }
        }
        divided
    };
    let found: SortedSet<Var> = (place.flat.vars().into_iter())
        .filter(|var| matches!(role(function, *var), Some(Role::Parallel(_))))
        .collect();
    let var = found.into_iter().find(is_only_divided)?;
    let name = function.cx.name(var);
    Some(format!("several values of `{name}` have the same quotient"))
}

/// Two instances with the same element, found by enumeration.
fn collision(function: &Function, place: &Place) -> Option<String> {
    // Each index with its first value and its number of values; a loop is in its first iteration.
    let mut indices: Vec<(Var, i64, i64)> = Vec::new();
    let mut fixed: SortedMap<Var, i64> = SortedMap::new();
    let vars: SortedSet<Var> = place.flat.vars().into_iter().collect();
    for var in vars {
        let (lo, hi) = function.cx.bounds(var);
        let lo = lo?.as_int()?;
        match role(function, var)? {
            Role::Parallel(_) => indices.push((var, lo, hi?.as_int()? - lo + 1)),
            Role::Loop => drop(fixed.insert(var, lo)),
            Role::Value => return None,
        }
    }
    let instances = indices
        .iter()
        .try_fold(1i64, |all, (_, _, n)| all.checked_mul(*n))?;
    if indices.is_empty() || instances > INSTANCES {
        return None;
    }
    let values = |instance: i64| {
        let mut rest = instance;
        let mut values = fixed.clone();
        for (var, lo, n) in &indices {
            values.insert(*var, lo + rest % n);
            rest /= n;
        }
        values
    };
    let mut seen: SortedMap<i128, i64> = SortedMap::new();
    for instance in 0..instances {
        let at = values(instance);
        let element = (place.flat).evaluate(&|var| at.get(&var).map(|n| i128::from(*n)))?;
        if let Some(first) = seen.insert(element, instance) {
            let shown = |instance: i64| {
                let values = values(instance);
                let parts = indices.iter().map(|(var, ..)| {
                    let value = values.get(var).copied().unwrap_or_default();
                    format!("`{} = {value}`", function.cx.name(*var))
                });
                parts.collect::<Vec<_>>().join(", ")
            };
            return Some(format!(
                "the same for {} and {}",
                shown(first),
                shown(instance)
            ));
        }
    }
    None
}
