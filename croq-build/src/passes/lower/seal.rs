//! The end of lowering: a function of tiles becomes one of threads, which is the input of `emit`.
//!
//! A statement that no lowering pass has replaced has no representation in the new function; it is
//! reported as an internal error, with the name of the pass that should have replaced it.

use crate::ir::{
    BarrierScope, Engine, ExprKind, Function, Kernel, Level, MmaOp, Stmt, StmtKind, Threads, fmt,
    verify::Violation,
};
use crate::source::Span;

/// A remaining statement, and the pass that should have replaced it.
struct Unlowered {
    pass: &'static str,
    stmt: Box<Stmt>,
}

/// No statement is lost: each one is in the result, or is the error.
///
/// # Errors
///
/// The first statement that is still one of tiles.
pub fn seal(mut function: Function) -> Result<Function<Threads>, Violation> {
    let (body, kernels) = (
        std::mem::take(&mut function.body),
        std::mem::take(&mut function.kernels),
    );
    let body = block(body, false).map_err(|found| violation(&function, None, found))?;
    let mut sealed = Vec::with_capacity(kernels.len());
    for mut kernel in kernels {
        let body = std::mem::take(&mut kernel.body);
        let body =
            block(body, false).map_err(|found| violation(&function, Some(&kernel.name), found))?;
        sealed.push(with_body(kernel, body));
    }
    let Function {
        name,
        span,
        cx,
        var_home,
        params,
        dims,
        results,
        buffers,
        locals,
        kernels: _,
        body: _,
        checks,
        futures,
        events,
        signals,
        fragments,
        reports,
        facts,
    } = function;
    Ok(Function {
        name,
        span,
        cx,
        var_home,
        params,
        dims,
        results,
        buffers,
        locals,
        kernels: sealed,
        body,
        checks,
        futures,
        events,
        signals,
        fragments,
        reports,
        facts,
    })
}

fn with_body(kernel: Kernel, body: Vec<Stmt<Threads>>) -> Kernel<Threads> {
    let Kernel {
        name,
        span,
        grid,
        cluster,
        threads,
        attrs,
        one_thread,
        body: _,
        fastest,
        shared,
        shared_bytes,
        waits,
        asynchronous,
        warpgroups,
        facts,
        maps,
    } = kernel;
    Kernel {
        name,
        span,
        grid,
        cluster,
        threads,
        attrs,
        one_thread,
        body,
        fastest,
        shared,
        shared_bytes,
        waits,
        asynchronous,
        warpgroups,
        facts,
        maps,
    }
}

fn violation(function: &Function, kernel: Option<&str>, found: Unlowered) -> Violation {
    let text = fmt::stmt(function, &found.stmt);
    Violation {
        kernel: kernel.map(str::to_owned),
        what: format!("`{}` has left a statement that it should lower", found.pass),
        stmt: text.lines().next().unwrap_or_default().to_owned(),
        span: found.stmt.span,
    }
}

/// `inside`: in an `inthreads`, where "the block" is some of its threads.
fn block(stmts: Vec<Stmt>, inside: bool) -> Result<Vec<Stmt<Threads>>, Unlowered> {
    stmts.into_iter().map(|stmt| sealed(stmt, inside)).collect()
}

fn sealed(stmt: Stmt, inside: bool) -> Result<Stmt<Threads>, Unlowered> {
    let span = stmt.span;
    let kind = match stmt.kind {
        StmtKind::For {
            local,
            lo,
            hi,
            step,
            unroll,
            body,
        } => StmtKind::For {
            local,
            lo,
            hi,
            step,
            unroll,
            body: block(body, inside)?,
        },
        StmtKind::While {
            prelude,
            cond,
            body,
        } => StmtKind::While {
            prelude: block(prelude, inside)?,
            cond,
            body: block(body, inside)?,
        },
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => StmtKind::If {
            cond,
            then: block(then, inside)?,
            otherwise: block(otherwise, inside)?,
        },
        StmtKind::Parallel { level, body } => StmtKind::Parallel {
            level,
            body: block(body, inside)?,
        },
        StmtKind::SingleThread {
            cond: Some(cond),
            body,
            ..
        } => {
            let body = block(body, inside)?;
            match &*cond.kind {
                // There is only one thread.
                ExprKind::Bool(true) => StmtKind::Parallel {
                    level: Level::Thread,
                    body,
                },
                _ => StmtKind::If {
                    cond,
                    then: body,
                    otherwise: Vec::new(),
                },
            }
        }
        StmtKind::Region {
            pred,
            set,
            elected_from,
            is_async,
            outermost,
            body,
        } => StmtKind::Region {
            pred,
            set,
            elected_from,
            is_async,
            outermost,
            body: block(body, true)?,
        },
        StmtKind::Mma(op) => StmtKind::Mma(Box::new(instruction(*op, span)?)),
        kind => leaf(kind, inside, span)?,
    };
    Ok(Stmt::new(kind, span))
}

fn unlowered(pass: &'static str, kind: StmtKind, span: Span) -> Unlowered {
    let stmt = Box::new(Stmt::new(kind, span));
    Unlowered { pass, stmt }
}

fn leaf(kind: StmtKind, inside: bool, span: Span) -> Result<StmtKind<Threads>, Unlowered> {
    let pass = match &kind {
        StmtKind::Copy(copy) => match &copy.engine {
            Engine::Tma(_) => "tma",
            Engine::Threads => "copies",
        },
        StmtKind::Fill { .. } | StmtKind::Wait { .. } => "copies",
        StmtKind::Rotate { .. } | StmtKind::UseFuture(_) => "wait-counts",
        StmtKind::WaitTma { .. } | StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => "tma",
        StmtKind::SingleThread { .. }
        | StmtKind::Barrier {
            scope: BarrierScope::WarpgroupFrom(_),
            ..
        } => "thread-conditions",
        StmtKind::Barrier { .. } => "barrier-ids",
        _ => "",
    };
    Ok(match kind {
        StmtKind::Let { local, value } => StmtKind::Let { local, value },
        StmtKind::Assign { local, value } => StmtKind::Assign { local, value },
        StmtKind::Store { access, op, value } => StmtKind::Store { access, op, value },
        StmtKind::StorePair(pair) => StmtKind::StorePair(pair),
        StmtKind::Atomic(atomic) => StmtKind::Atomic(atomic),
        StmtKind::Break => StmtKind::Break,
        StmtKind::Continue => StmtKind::Continue,
        StmtKind::Yield => StmtKind::Yield,
        StmtKind::Tma(op) => StmtKind::Tma(op),
        StmtKind::AwaitSignal { signal, ordinal } => StmtKind::AwaitSignal { signal, ordinal },
        StmtKind::Move(m) => StmtKind::Move(m),
        StmtKind::CommitCopies => StmtKind::CommitCopies,
        StmtKind::WaitCopies { pending } => StmtKind::WaitCopies { pending },
        StmtKind::Barrier { scope, why }
            if !(matches!(
                scope,
                BarrierScope::Warpgroup | BarrierScope::WarpgroupFrom(_)
            ) || inside && scope == BarrierScope::Block) =>
        {
            StmtKind::Barrier { scope, why }
        }
        StmtKind::Fence(scope) => StmtKind::Fence(scope),
        StmtKind::Registers(registers) => StmtKind::Registers(registers),
        StmtKind::Check {
            check,
            cond,
            values,
        } => StmtKind::Check {
            check,
            cond,
            values,
        },
        StmtKind::Print { newline, parts } => StmtKind::Print { newline, parts },
        StmtKind::Eval(value) => StmtKind::Eval(value),
        StmtKind::Cpp {
            text,
            names,
            from_sm_90,
        } => StmtKind::Cpp {
            text,
            names,
            from_sm_90,
        },
        StmtKind::Alloc(id) => StmtKind::Alloc(id),
        StmtKind::Launch(id) => StmtKind::Launch(id),
        StmtKind::TriggerSignal(at) => StmtKind::TriggerSignal(at),
        StmtKind::Fetch(id) => StmtKind::Fetch(id),
        StmtKind::Exchange(ids) => StmtKind::Exchange(ids),
        StmtKind::Synchronize => StmtKind::Synchronize,
        StmtKind::Return(values) => StmtKind::Return(values),
        kind => return Err(unlowered(pass, kind, span)),
    })
}

fn instruction(op: MmaOp, span: Span) -> Result<MmaOp<Threads>, Unlowered> {
    let pass = match &op {
        MmaOp::Apply { .. }
        | MmaOp::Reduce { .. }
        | MmaOp::AllReduce { .. }
        | MmaOp::Convert { .. } => "mma-layouts",
        _ => "mma",
    };
    Ok(match op {
        MmaOp::Instruction {
            atom,
            parts,
            metadata,
        } => MmaOp::Instruction {
            atom,
            parts,
            metadata,
        },
        MmaOp::Matrices {
            count,
            transposed,
            registers,
            memory,
            stored,
        } => MmaOp::Matrices {
            count,
            transposed,
            registers,
            memory,
            stored,
        },
        MmaOp::Step(step) => MmaOp::Step(step),
        op => return Err(unlowered(pass, StmtKind::Mma(Box::new(op)), span)),
    })
}
