//! Device memory on which instances of a kernel may race.
//!
//! Blocks run in any order, and so do the instances of a level; inside a block the barriers of this
//! pass order conflicting accesses. So two accesses to an element, one of them a store, may race if
//! they are made in different blocks, or by different instances of an enclosing level. For most
//! buffers, `injectivity` proves that they are not: the element determines the indices of all
//! levels around both accesses. The simulated GPU tracks accesses to the other buffers.

use super::access::MemAccess;
use super::collect::{Collector, Context};
use super::instances::{EnclosingIndices, is_one_instance};
use super::vars::Vars;
use crate::diagnostics::Diagnostics;
use crate::ir::{
    BarrierScope, BufferId, Expr, ExprKind, FenceScope, Function, Intrinsic, KernelId, Level, Role,
    Stmt, StmtKind, Visit, any_expr, walk_block,
};
use crate::sorted::SortedSet;
use crate::symbolic::Ctx;

/// The maximum number of accesses to one buffer that are compared.
const MOST: usize = 64;

/// The device memory that a launch writes.
#[derive(Debug, Default)]
pub struct Shared {
    /// Buffers of which two instances may access the same element.
    pub buffers: Vec<BufferId>,
    /// Buffers whose address is available to opaque code.
    pub escaping: Vec<BufferId>,
    /// Accesses may be ordered by anything but a block's barriers.
    pub synchronises: bool,
}

/// Finds that memory, and reports updates that are lost. Without `for_text`, only the reports are
/// complete, and buffers that opaque code may access.
pub fn shared_by_instances(
    function: &mut Function,
    id: KernelId,
    for_text: bool,
    diags: &mut Diagnostics,
) -> Shared {
    let shared = function.with_kernel_body(id, |function, body| {
        of_body(function, body, for_text, diags)
    });
    shared.unwrap_or_default()
}

/// The indices of a kernel's blocks.
pub(super) fn indices_around(function: &Function, body: &[Stmt]) -> EnclosingIndices {
    Seen::of(function, body).around
}

/// The accesses of a kernel's statements, in which the indices of different blocks differ.
pub(super) fn accesses_of_blocks<'f>(
    function: &'f mut Function,
    around: &EnclosingIndices,
    body: &[Stmt],
) -> (Collector<'f>, Vec<MemAccess>) {
    let mut vars = Vars::default();
    vars.distinguish(&around.blocks);
    vars.distinguish(&around.clusters);
    vars.block(function, body, Level::Block);
    let mut collector = Collector::new(function, vars, SortedSet::new(), SortedSet::new());
    let mut accesses = Vec::new();
    collector.block(body, &Context::of_kernel(), &mut accesses);
    (collector, accesses)
}

fn of_body(
    function: &mut Function,
    body: &[Stmt],
    for_text: bool,
    diags: &mut Diagnostics,
) -> Shared {
    let Seen {
        around,
        fences,
        other_sync,
        opaque,
        updates,
        ..
    } = Seen::of(function, body);
    if !(for_text || opaque || updates) {
        return Shared::default();
    }
    let (mut collector, mut accesses) = accesses_of_blocks(function, &around, body);
    let Collector { function, vars, .. } = &mut collector;
    accesses.retain(|t| function.buffer_is_global(t.buffer));

    let written: SortedSet<BufferId> = accesses
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
        } else if !are_disjoint(&mut function.cx, vars, &of(id).collect::<Vec<_>>(), &around) {
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
        &Context::of_kernel(),
        diags,
    );
    // Atomic operations order other accesses, so they are tracked, too.
    if !shared.buffers.is_empty() {
        if fences || opaque {
            shared.buffers.extend(only_atomic);
            shared.buffers.sort();
        }
        shared.synchronises = fences || other_sync || opaque;
    }
    shared
}

/// Whether no element that one instance stores to is accessed by another one. The source of an
/// asynchronous TMA copy may be overwritten while the copy is in flight, by any instance.
fn are_disjoint(
    cx: &mut Ctx,
    vars: &mut Vars,
    all: &[&MemAccess],
    around: &EnclosingIndices,
) -> bool {
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

/// The indices of a kernel's blocks, and the statements that may order accesses.
struct Seen<'a> {
    function: &'a Function,
    around: EnclosingIndices,
    fences: bool,
    other_sync: bool,
    opaque: bool,
    /// There are stores such as `y.at(e) += v`.
    updates: bool,
}

impl<'a> Seen<'a> {
    fn of(function: &'a Function, body: &[Stmt]) -> Self {
        let mut seen = Self {
            function,
            around: EnclosingIndices::default(),
            fences: false,
            other_sync: false,
            opaque: false,
            updates: false,
        };
        walk_block(body, &mut seen);
        seen
    }
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
            StmtKind::Store { op: Some(_), .. } => self.updates = true,
            StmtKind::Region { .. }
            | StmtKind::Trigger(_)
            | StmtKind::WaitEvent(_)
            | StmtKind::Mma(_) => self.other_sync = true,
            StmtKind::Barrier { scope, .. } => {
                let whole = [
                    BarrierScope::Block,
                    BarrierScope::Cluster,
                    BarrierScope::Grid,
                ];
                self.other_sync |= !whole.contains(scope);
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.opaque |= matches!(&*expr.kind, ExprKind::Call(_));
    }
}

/// Whether an index is computed from the number of the thread or block.
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
