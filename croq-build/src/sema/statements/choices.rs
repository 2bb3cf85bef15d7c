//! Statements that use one of several tensors of different allocations, which `select` chooses. A
//! statement that may declare names is lowered together with the rest of its block.

use crate::ir::{Expr, Stmt as IrStmt, StmtKind};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::memory::choices;
use crate::sema::names::scope;
use crate::sema::state::choices::{Choice, Part, Place};
use crate::sema::state::elab::Elab;
use crate::syntax::ast::{self, Stmt, StmtKind as S};

/// The next choice to be made before a statement.
pub(super) fn next(el: &Elab<'_>, statement: Place) -> Option<Choice> {
    let known = el.earlier.choices.get(&statement)?;
    let made = |c: &Choice| el.choices.made_for(c.of).is_some();
    known
        .iter()
        .find(|c| c.part != Part::Load && !made(c))
        .cloned()
}

/// Whether a choice for the statement concerns no statement behind it.
pub(super) fn ends_with(stmt: &Stmt) -> bool {
    match &stmt.kind {
        S::Assign { target, .. } => matches!(&*target.kind, ast::ExprKind::At(..)),
        S::Copy(copy) => copy.name.is_none(),
        S::Parallel(_) | S::Call(_) => true,
        _ => false,
    }
}

/// Makes a choice and lowers statements by `body`, once for each operand that the number may be of.
pub(super) fn lower(
    el: &mut Elab<'_>,
    choice: &Choice,
    stmt: &Stmt,
    body: &mut dyn FnMut(&mut Elab<'_>),
) {
    let mut body = |el: &mut Elab<'_>| {
        el.choices.scopes += 1;
        scope::reported(el, &mut *body);
        el.choices.scopes -= 1;
    };
    if matches!(stmt.kind, S::While { .. }) {
        let what = "`select` among tensors of different allocations in the condition of a `while`";
        let remedy = "select before the loop, or in its body";
        unsupported::report_with_remedy(&mut el.cx, choice.of.0, what, Some(remedy));
        return choices::choose_first(el, choice, &mut body);
    }
    choices::choose(el, choice, &mut body, join_statements);
}

fn join_statements(el: &mut Elab<'_>, cond: Expr, arms: [((), Vec<IrStmt>); 2]) {
    let [((), then), ((), otherwise)] = arms;
    let span = cond.span;
    let kind = StmtKind::If {
        cond,
        then,
        otherwise,
    };
    build::emit(el, kind, span);
}
