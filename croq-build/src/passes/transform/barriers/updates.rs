//! Updates such as `y.at(e) += v` where two instances may find the same element: one update gets lost.
//!
//! Only what is hardly meant is reported: `e` is computed from data, or an index appears in it divided alone. Where the program
//! chooses which instances make the update, by a condition, nothing is said; the simulated GPU looks at those.

use std::collections::BTreeSet;

use super::collect::{Collector, Context};
use super::instances::{Around, is_one_instance};
use super::place::Place;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ir::{BinOp, BufferId, Function, Role, Stmt, StmtKind, VarHome};
use crate::symbolic::{Atom, Var};

pub(super) fn check(
    collector: &mut Collector<'_>,
    body: &[Stmt],
    around: &Around,
    tracked: &[BufferId],
    context: &Context,
    diags: &mut Diagnostics,
) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Store {
                access,
                op: Some(op),
                ..
            } if tracked.contains(&access.view.buffer) => {
                check_one(collector, stmt, *op, around, context, diags);
            }
            StmtKind::For { body, .. } => {
                check(collector, body, around, tracked, context, diags);
            }
            StmtKind::Parallel { level, body } => {
                let inner = collector.enter(context, *level, body);
                check(collector, body, around, tracked, &inner, diags);
            }
            // The guard of a level that is split into blocks and threads.
            StmtKind::If { then, .. } if declares(collector.function, then, &around.split) => {
                check(collector, then, around, tracked, context, diags);
            }
            _ => {}
        }
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
    around: &Around,
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
    if is_one_instance(&mut function.cx, vars, &access, &access, around) {
        return;
    }
    let Some(why) = access.place.as_ref().and_then(|place| why(function, place)) else {
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
            "W0626",
            stmt.span,
            format!("two instances may update the same element of `{name}`"),
        )
        .label(why)
        .help(format!(
            "updates are not atomic, and one of two gets lost: `__atomic_{atomic}({name}.at(…), …)` is atomic"
        )),
    );
}

/// What is suspicious about the element.
fn why(function: &Function, place: &Place) -> Option<String> {
    let mut found = BTreeSet::new();
    for var in place.flat.vars() {
        if let Some(VarHome::Local(id)) = function.var_home.get(&var)
            && let Some(local) = function.locals.get(id.index())
        {
            match local.role {
                Role::Value => return Some("which element it is depends on data".to_owned()),
                Role::Parallel(_) => drop(found.insert(var)),
                Role::Loop => {}
            }
        }
    }
    let alone = |var: &Var| {
        let mut divided = false;
        for (_, atoms) in place.flat.terms() {
            for atom in atoms {
                match atom {
                    Atom::Div(a, _) if a.vars().contains(var) => divided = true,
                    Atom::Var(v) if v == var => return false,
                    Atom::Rem(a, _) if a.vars().contains(var) => return false,
                    _ => {}
                }
            }
        }
        divided
    };
    let var = found.iter().find(|v| alone(v))?;
    let name = function.cx.name(*var);
    Some(format!("several values of `{name}` have the same quotient"))
}
