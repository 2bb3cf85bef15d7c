//! Which elements of device memory are one instance's own, and which two of a launch may touch.
//!
//! Blocks run in any order, and so do the instances of a level; inside a block the barriers of this pass order what one statement
//! writes and another one touches. So two accesses of an element, one of them a store, may race if they are made in
//! different blocks, or by different instances of a level that both stand in. `digits` proves for most buffers that they are not:
//! that the element determines the indices of all levels around both accesses. The simulated GPU looks at the accesses of the others.

use std::collections::BTreeSet;

use super::access::{Executor, MemAccess};
use super::collect::{Collector, Context};
use super::instances::{Around, is_one_instance};
use super::vars::Vars;
use crate::diagnostics::Diagnostics;
use crate::ir::{
    BarrierScope, BufferId, Expr, ExprKind, FenceScope, Function, Intrinsic, KernelId, Level, Role,
    Stmt, StmtKind, Visit, any_expr, walk_block,
};
use crate::symbolic::Ctx;

/// More accesses of one buffer are not gone through.
const MOST: usize = 64;

/// What a launch does with device memory that it writes.
#[derive(Debug, Default)]
pub struct Shared {
    /// Two instances may touch an element.
    pub buffers: Vec<BufferId>,
    /// Text that the compiler can't see into has the address.
    pub escaping: Vec<BufferId>,
    /// Something may order accesses that are not a block's barriers.
    pub synchronises: bool,
}

pub fn shared_by_instances(
    function: &mut Function,
    id: KernelId,
    diags: &mut Diagnostics,
) -> Shared {
    let shared = function.with_kernel_body(id, |function, body| of_body(function, body, diags));
    shared.unwrap_or_default()
}

fn of_body(function: &mut Function, body: &[Stmt], diags: &mut Diagnostics) -> Shared {
    let mut seen = Seen {
        function,
        around: Around::default(),
        fences: false,
        meets: false,
        opaque: false,
    };
    walk_block(body, &mut seen);
    let Seen {
        around,
        fences,
        meets,
        opaque,
        ..
    } = seen;
    let mut vars = Vars::default();
    vars.distinguish(&around.blocks);
    vars.distinguish(&around.clusters);
    vars.block(function, body, Level::Block);
    let mut collector = Collector::new(function, vars, BTreeSet::new(), BTreeSet::new());
    let context = Context {
        chain: Vec::new(),
        executor: Executor::EachThread,
        set: None,
        inner_region: None,
    };
    let mut accesses = Vec::new();
    collector.block(body, &context, &mut accesses);
    let Collector { function, vars, .. } = &mut collector;
    accesses.retain(|t| function.buffer_is_global(t.buffer));

    let written: BTreeSet<BufferId> = accesses
        .iter()
        .filter(|t| t.write)
        .map(|t| t.buffer)
        .collect();
    let of = |id: BufferId| accesses.iter().filter(move |t| t.buffer == id);
    let mut shared = Shared::default();
    let mut only_atomic = Vec::new();
    for id in written {
        if of(id).any(|t| t.opaque) {
            shared.escaping.push(id);
        } else if of(id).all(|t| t.atomic) {
            only_atomic.push(id);
        } else if !are_own(&mut function.cx, vars, &of(id).collect::<Vec<_>>(), &around) {
            shared.buffers.push(id);
        }
    }
    super::updates::check(
        &mut collector,
        body,
        super::updates::Scope {
            around: &around,
            tracked: &shared.buffers,
            guarded: false,
        },
        &context,
        diags,
    );
    // What orders other accesses is looked at, too.
    if !shared.buffers.is_empty() {
        if fences || opaque {
            shared.buffers.extend(only_atomic);
            shared.buffers.sort();
        }
        shared.synchronises = fences || meets || opaque;
    }
    shared
}

/// Whether no element is touched by two instances, one of which stores to it. What an asynchronous copy of the copy
/// engine reads may be stored to before that is over, by whichever instance.
fn are_own(cx: &mut Ctx, vars: &mut Vars, all: &[&MemAccess], around: &Around) -> bool {
    if all.len() > MOST || all.iter().any(|access| access.in_flight) {
        return false;
    }
    all.iter().enumerate().all(|(at, a)| {
        all.iter().skip(at).all(|b| {
            let harmless = !(a.write || b.write) || (a.atomic && b.atomic);
            harmless || is_one_instance(cx, vars, a, b, around)
        })
    })
}

/// The indices of a kernel's blocks, and what may order accesses.
struct Seen<'a> {
    function: &'a Function,
    around: Around,
    fences: bool,
    meets: bool,
    opaque: bool,
}

impl Visit for Seen<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let {
                local,
                value: Some(value),
            } => {
                let Some(local) = self.function.locals.get(local.index()) else {
                    return;
                };
                match (local.var, local.role) {
                    (Some(var), Role::Parallel(Level::Block)) => self.around.blocks.push(var),
                    (Some(var), Role::Parallel(Level::Cluster)) => self.around.clusters.push(var),
                    (Some(var), Role::Parallel(Level::Thread)) if !is_of_hardware(value) => {
                        self.around.split.push(var)
                    }
                    _ => {}
                }
            }
            StmtKind::Fence(FenceScope::Device) => self.fences = true,
            StmtKind::Cpp { .. } => self.opaque = true,
            StmtKind::Region { .. }
            | StmtKind::Trigger(_)
            | StmtKind::WaitEvent(_)
            | StmtKind::Mma(_) => self.meets = true,
            StmtKind::Barrier { scope, .. } => {
                let whole = [
                    BarrierScope::Block,
                    BarrierScope::Cluster,
                    BarrierScope::Grid,
                ];
                self.meets |= !whole.contains(scope);
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.opaque |= matches!(&*expr.kind, ExprKind::Call(_));
    }
}

/// Whether an index comes from the number of a thread or block itself.
fn is_of_hardware(value: &Expr) -> bool {
    any_expr(value, |expr| match &*expr.kind {
        ExprKind::Intrinsic(of, _) => {
            matches!(
                of,
                Intrinsic::Block(_) | Intrinsic::Thread | Intrinsic::Warp
            )
        }
        _ => false,
    })
}
