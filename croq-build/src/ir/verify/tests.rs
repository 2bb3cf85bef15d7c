//! Functions that are made invalid by hand: the verifier reports the violation, the pass and the
//! statement.

use super::super::*;
use crate::passes::driver;
use crate::sema::testing;
use crate::source::Span;
use crate::symbolic::Sym;

const TEXT: &str = "__co__ f32 [N, 64] f(f32 [N, 64] x, f32 gain) {
  f32 [N, 64] y;
  parallel b by N : block {
    shared f32 [1, 64] row;
    dma.copy x.chunkat(b, _) => row;
    parallel t by 64 : thread {
      mutable f32 sum = 0.0f;
      foreach k in [4] {
        if (k + b < N) { sum = sum + row.at(0, t) * gain; }
      }
      y.at(b, t) = sum;
    }
  }
  return y;
}";

/// The first statement, depth first, for which `wanted` is true.
fn first(
    stmts: &mut [Stmt],
    wanted: &dyn Fn(&StmtKind) -> bool,
    edit: &mut dyn FnMut(&mut Stmt),
) -> bool {
    for stmt in stmts {
        if wanted(&stmt.kind) {
            edit(stmt);
            return true;
        }
        for block in stmt.kind.blocks_mut() {
            if first(block, wanted, edit) {
                return true;
            }
        }
    }
    false
}

/// The driver's report for the function after `edit` of the first such statement in its kernel.
fn report(wanted: impl Fn(&StmtKind) -> bool, mut edit: impl FnMut(&mut Stmt)) -> String {
    let mut function = testing::function(TEXT);
    assert!(
        first(&mut function.kernels[0].body, &wanted, &mut edit),
        "no such statement"
    );
    let violation = super::function(&function).expect_err("a violation");
    let report = driver::report("row-padding", &function, violation);
    assert_eq!(report.code, "E1199");
    assert!(
        report
            .message
            .starts_with("internal error after `row-padding` in f_0: "),
        "{report:#?}"
    );
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.starts_with("statement: ")),
        "{report:#?}"
    );
    report.message
}

fn is_store(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Store { .. })
}

fn is_copy(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Copy(_))
}

#[test]
fn what_sema_makes_is_right() {
    let function = testing::function(TEXT);
    assert_eq!(super::function(&function), Ok(()));
}

#[test]
fn a_local_without_declaration() {
    let is_let = |kind: &StmtKind| matches!(kind, StmtKind::Let { .. });
    let report = report(is_let, |stmt| stmt.kind = StmtKind::Synchronize);
    assert!(
        report.contains("a host statement is in a kernel"),
        "{report}"
    );
    let mut function = testing::function(TEXT);
    retain_stmts(&mut function.kernels[0].body, &mut |stmt| {
        !is_let(&stmt.kind)
    });
    let violation = super::function(&function).unwrap_err();
    assert!(
        violation.what.contains("is used where it is not declared"),
        "{violation:?}"
    );
}

#[test]
fn a_declaration_in_another_block() {
    let mut function = testing::function(TEXT);
    let mut moved = None;
    let is_sum = |kind: &StmtKind| matches!(kind, StmtKind::Let { local, .. } if local.0 > 1);
    first(&mut function.kernels[0].body, &is_sum, &mut |stmt| {
        let inner = stmt.clone();
        let yes = Expr::bool(true, stmt.span);
        stmt.kind = StmtKind::If {
            cond: yes,
            then: vec![inner],
            otherwise: Vec::new(),
        };
        moved = Some(());
    });
    assert!(moved.is_some());
    let violation = super::function(&function).unwrap_err();
    assert!(
        violation.what.contains("is used where it is not declared"),
        "{violation:?}"
    );
}

#[test]
fn a_buffer_that_does_not_exist() {
    let report = report(is_store, |stmt| {
        if let StmtKind::Store { access, .. } = &mut stmt.kind {
            access.view.buffer = BufferId(99);
        }
    });
    assert!(report.ends_with("buffer 99 does not exist"), "{report}");
}

#[test]
fn a_view_with_too_few_strides() {
    let report = report(is_copy, |stmt| {
        if let StmtKind::Copy(copy) = &mut stmt.kind {
            copy.source.strides.pop();
        }
    });
    assert!(report.contains(" strides and "), "{report}");
}

#[test]
fn an_access_with_an_index_too_many() {
    let report = report(is_store, |stmt| {
        if let StmtKind::Store { access, .. } = &mut stmt.kind {
            access.indices.push(Sym::zero());
        }
    });
    assert!(report.contains("indices into a view of"), "{report}");
}

#[test]
fn a_condition_that_is_an_integer() {
    let is_if = |kind: &StmtKind| matches!(kind, StmtKind::If { .. });
    let report = report(is_if, |stmt| {
        let span = stmt.span;
        if let StmtKind::If { cond, .. } = &mut stmt.kind {
            *cond = Expr::index(Sym::one(), span);
        }
    });
    assert!(report.ends_with("a condition is int, not bool"), "{report}");
}

#[test]
fn a_value_of_another_type() {
    let report = report(is_store, |stmt| {
        let span = stmt.span;
        if let StmtKind::Store { value, .. } = &mut stmt.kind {
            *value = Expr::index(Sym::one(), span);
        }
    });
    assert!(
        report.ends_with("a stored value is int, not f32"),
        "{report}"
    );
}

#[test]
fn a_break_outside_of_loops() {
    let report = report(is_store, |stmt| stmt.kind = StmtKind::Break);
    assert!(report.ends_with("it is in no loop"), "{report}");
}

#[test]
fn a_level_inside_a_finer_one() {
    let is_parallel = |kind: &StmtKind| matches!(kind, StmtKind::Parallel { .. });
    let report = report(is_parallel, |stmt| {
        let mut inner = stmt.clone();
        if let StmtKind::Parallel { level, .. } = &mut inner.kind {
            *level = Level::Warp;
        }
        stmt.kind = StmtKind::Parallel {
            level: Level::Thread,
            body: vec![inner],
        };
    });
    assert!(report.contains("is coarser than"), "{report}");
}

#[test]
fn axes_that_are_no_order() {
    let report = report(is_copy, |stmt| {
        if let StmtKind::Copy(copy) = &mut stmt.kind {
            copy.transform = Transform::Transpose(vec![0; copy.source.rank() + 1]);
        }
    });
    assert!(report.contains("are no order of"), "{report}");
}

#[test]
fn a_future_an_event_a_kernel_and_a_check_that_do_not_exist() {
    let report_of = |kind: &dyn Fn() -> StmtKind| report(is_store, |stmt| stmt.kind = kind());
    let rotate = report_of(&|| StmtKind::Rotate {
        futures: vec![FutureId(7)],
    });
    assert!(rotate.ends_with("future 7 does not exist"), "{rotate}");
    let trigger = report_of(&|| {
        let slot = Slot::All;
        StmtKind::Trigger(EventAt {
            event: EventId(3),
            slot,
            cluster: false,
            span: Span::default(),
        })
    });
    assert!(trigger.ends_with("event 3 does not exist"), "{trigger}");
    let launch = report_of(&|| StmtKind::Launch(KernelId(0)));
    assert!(
        launch.ends_with("a host statement is in a kernel"),
        "{launch}"
    );
    let check = report_of(&|| StmtKind::Check {
        check: CheckId(40),
        cond: Expr::bool(true, Span::default()),
        values: Vec::new(),
    });
    assert!(check.ends_with("check 40 does not exist"), "{check}");
}
