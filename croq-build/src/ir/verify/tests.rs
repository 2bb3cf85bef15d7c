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

/// The first statement, in depth-first order, for which `wanted` is true.
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
fn report(wanted: impl Fn(&StmtKind) -> bool, edit: impl FnMut(&mut Stmt)) -> String {
    report_of(TEXT, wanted, edit)
}

fn report_of(
    text: &str,
    wanted: impl Fn(&StmtKind) -> bool,
    mut edit: impl FnMut(&mut Stmt),
) -> String {
    let mut function = testing::function(text);
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

/// Moves a statement into one that a single thread of the block executes.
fn by_one_thread(stmt: &mut Stmt) {
    stmt.kind = StmtKind::SingleThread {
        cond: None,
        level: Level::Block,
        body: vec![stmt.clone()],
    };
}

#[test]
fn a_collective_statement_of_one_thread() {
    let copy = report(is_copy, by_one_thread);
    let reason = "all threads of a unit (Block) execute it, and only one reaches it";
    assert!(copy.ends_with(reason), "{copy}");
    let barrier = report(is_store, |stmt| {
        stmt.kind = StmtKind::Barrier {
            scope: BarrierScope::Block,
            why: BarrierReason::Written,
        };
        by_one_thread(stmt);
    });
    assert!(barrier.ends_with(reason), "{barrier}");
}

#[test]
fn fragments_in_a_part_of_their_unit() {
    let text =
        "__co__ void f(global f16 [16, 16] a, global f16 [16, 16] b, global f32 [16, 16] c) {
      parallel by 1 : block, w by 2 : group {
        mc = mma.fill 0.0f;
        ma = mma.load a;
        mb = mma.load b;
        mma.row.row mc, ma, mb;
        mma.store mc, c;
      }
    }";
    // A thread level that fills a warp would be valid; here the block has two warps.
    let is_level = |kind: &StmtKind| matches!(kind, StmtKind::Parallel { .. });
    let report = report_of(text, is_level, |stmt| {
        if let StmtKind::Parallel { level, .. } = &mut stmt.kind {
            *level = Level::Thread;
        }
    });
    let reason = "fragments of a unit (Warp) are used in a part of one (Thread)";
    assert!(report.ends_with(reason), "{report}");
}

#[test]
fn memory_outside_of_its_block() {
    let is_alloc = |kind: &StmtKind| matches!(kind, StmtKind::Alloc(_));
    let mut row = None;
    let report = report(is_alloc, |stmt| {
        if let StmtKind::Alloc(id) = &stmt.kind {
            row = Some(*id);
        }
        let inner = stmt.clone();
        stmt.kind = build::only_if(Expr::bool(true, stmt.span), vec![inner]);
    });
    let reason = "`row` is used where it is not allocated";
    assert!(report.ends_with(reason), "{report}");
    let mut function = testing::function(TEXT);
    let value = ReturnValue::Buffer(row.expect("a buffer"));
    let stmt = Stmt::new(StmtKind::Return(vec![value]), Span::default());
    function.body.push(stmt);
    let violation = super::function(&function).expect_err("a violation");
    assert_eq!(
        violation.what,
        "`row` is memory of a kernel, used on the host"
    );
}

#[test]
fn a_wait_for_a_copy_that_never_began() {
    let text = "__co__ void f(global f32 [64] x, global f32 [64] y) {
      parallel by 1 : block {
        t = dma.copy.async x => shared;
        wait t;
        parallel i by 64 : thread y.at(i) = t.data.at(i);
      }
    }";
    let report = report_of(text, is_copy, |stmt| {
        if let StmtKind::Copy(copy) = &mut stmt.kind {
            copy.future = None;
        }
    });
    let reason = "no copy `t` has begun where it is waited for or used";
    assert!(report.ends_with(reason), "{report}");
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
    let report_with = |kind: &dyn Fn() -> StmtKind| report(is_store, |stmt| stmt.kind = kind());
    let rotate = report_with(&|| StmtKind::Rotate {
        futures: vec![FutureId(7)],
    });
    assert!(rotate.ends_with("future 7 does not exist"), "{rotate}");
    let trigger = report_with(&|| {
        let slot = Slot::All;
        StmtKind::Trigger(EventAt {
            event: EventId(3),
            slot,
            cluster: false,
            sharing: Sharing::default(),
            span: Span::default(),
        })
    });
    assert!(trigger.ends_with("event 3 does not exist"), "{trigger}");
    let launch = report_with(&|| StmtKind::Launch(KernelId(0)));
    assert!(
        launch.ends_with("a host statement is in a kernel"),
        "{launch}"
    );
    let check = report_with(&|| StmtKind::Check {
        check: CheckId(40),
        cond: Expr::bool(true, Span::default()),
        values: Vec::new(),
    });
    assert!(check.ends_with("check 40 does not exist"), "{check}");
}

#[test]
fn metadata_of_other_instructions() {
    let text = "__co__ void f(f16 [16, 16] a, f16 [8, 32] b, u32 [16, 1] m, f32 [16, 8] & c) {
      parallel by 1 : block parallel w by 1 : group {
        acc = mma.fill.f32 0.0f;
        fa = mma.load a;
        fb = mma.load b;
        e = mma.load m;
        mma.row.row.sp acc, fa, fb, e;
        mma.store acc, c;
      }
    }";
    let is_mma = |kind: &StmtKind| match kind {
        StmtKind::Mma(op) => matches!(**op, MmaOp::Multiply { .. }),
        _ => false,
    };
    let report = |change: &dyn Fn(&mut Option<Part>, &mut Atom)| {
        report_of(text, is_mma, |stmt| {
            if let StmtKind::Mma(op) = &mut stmt.kind
                && let MmaOp::Multiply { metadata, atom, .. } = &mut **op
            {
                change(metadata, atom);
            }
        })
    };
    let reason = "an operand of an MMA has the layout of metadata, or metadata another one";
    let other_k = report(&|_, atom| atom.k = 64);
    assert!(other_k.ends_with(reason), "{other_k}");
    let text_of_a = report(&|metadata, _| {
        if let Some(part) = metadata {
            part.buffer = BufferId(part.buffer.0 - 1);
        }
    });
    assert!(text_of_a.ends_with(reason), "{text_of_a}");
}
