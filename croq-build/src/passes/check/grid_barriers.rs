//! Barriers of a whole grid: every thread of every block executes each of them, equally often.
//!
//! A barrier waits without end for a thread that does not reach it, so nothing that may differ
//! between two threads of the grid may determine whether it is executed: neither an enclosing
//! condition, nor the number of iterations of a loop, nor an earlier exit. A load of one element of
//! device memory is uniform if no thread of the launch writes the element between the barriers of
//! the grid around the load.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BarrierScope, BufferId, ExprKind, Function, Intrinsic, KernelId, LocalId, Role, Stmt,
    StmtKind, Storage, Visit, walk_block,
};
use crate::passes::analysis::uniformity::memory::Changes;
use crate::passes::analysis::uniformity::{Divergence, Split, SymUniformity, Uniformity};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let Some(attribute) = kernel.attrs.cooperative else {
        return;
    };
    let mut uses = SyncUses::default();
    walk_block(&kernel.body, &mut uses);
    if !uses.barrier {
        if !uses.opaque {
            diags.push(unused_attribute(attribute));
        }
        return;
    }
    let mut walk = Walk {
        uniformity: Uniformity::of(
            function,
            &kernel.body,
            GridThreads(Changes::of(function, kernel)),
        ),
        around: Vec::new(),
        exited: None,
        reported: SortedSet::new(),
        found: Vec::new(),
    };
    walk.block(&kernel.body);
    walk.found.into_iter().for_each(|d| diags.push(d));
}

fn unused_attribute(attribute: Span) -> Diagnostic {
    Diagnostic::new(
        codes::W0589,
        attribute,
        "a cooperative launch in which no block waits for another",
    )
    .label("limits the grid to what a GPU holds at once")
    .help("remove `<cooperative>`, or wait with `sync.barrier : device`")
}

/// The uses of a cooperative launch in a kernel.
#[derive(Default)]
struct SyncUses {
    barrier: bool,
    /// Opaque code, which may synchronise by itself.
    opaque: bool,
}

impl Visit for SyncUses {
    fn stmt(&mut self, stmt: &Stmt) {
        self.barrier |= is_barrier(stmt);
        self.opaque |= matches!(stmt.kind, StmtKind::Cpp { .. });
    }

    fn expr(&mut self, e: &crate::ir::Expr) {
        self.opaque |= matches!(*e.kind, ExprKind::Call(_));
    }
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Barrier {
            scope: BarrierScope::Grid,
            ..
        }
    )
}

/// All threads of a grid.
struct GridThreads(Changes);

impl Divergence for GridThreads {
    fn hardware(&self, _: Intrinsic) -> bool {
        true
    }

    fn index(&self, function: &Function, local: LocalId) -> Option<bool> {
        let local = function.locals.get(local.index())?;
        let bounds = local.var.map(|v| function.cx.bounds(v));
        // It has only one value.
        let single = matches!(bounds, Some((_, Some(hi))) if hi.is_zero());
        (matches!(local.role, Role::Parallel(_)) && single).then_some(false)
    }

    fn memory(&self, id: BufferId, storage: Storage) -> Option<bool> {
        match storage {
            Storage::Mbarriers | Storage::Fragment => Some(true),
            Storage::Shared | Storage::Local => None,
            Storage::Param(_) | Storage::Host => Some(!self.0.is_constant(id)),
        }
    }

    fn load(&self, access: &Access, storage: Storage) -> Option<bool> {
        match storage {
            Storage::Param(_) | Storage::Host => Some(!self.0.is_common(access)),
            _ => self.memory(access.view.buffer, storage),
        }
    }

    fn divergent_part(&self, _: &Function, sym: &Sym) -> SymUniformity {
        SymUniformity::Like(sym.clone())
    }
}

struct Walk<'a> {
    uniformity: Uniformity<'a, GridThreads>,
    /// Enclosing conditions and loops that determine whether threads reach this point, where these
    /// are divergent.
    around: Vec<(Span, Split)>,
    /// The statement at which some threads have exited.
    exited: Option<Span>,
    /// Loops may be walked twice: a thread that exits in one iteration is missing in the next.
    reported: SortedSet<u32>,
    found: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if matches!(stmt.kind, StmtKind::Yield) && !self.around.is_empty() {
                self.exited.get_or_insert(stmt.span);
            }
            if is_barrier(stmt) {
                self.barrier(stmt.span);
                continue;
            }
            let split = self.uniformity.split(stmt).map(|split| (stmt.span, split));
            self.around.extend(split);
            let before = self.exited;
            stmt.kind.blocks().for_each(|block| self.block(block));
            let iterations = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
            if iterations && self.exited != before {
                stmt.kind.blocks().for_each(|block| self.block(block));
            }
            if split.is_some() {
                self.around.pop();
            }
        }
    }

    fn barrier(&mut self, at: Span) {
        let out = "move it out, and let what is around it rest on parameters, or on one element of device memory \
                   that no block writes between the same two barriers: these are the same for all";
        let (why, what, help) = match (self.around.last(), self.exited) {
            (Some((around, Split::Condition)), _) => {
                (head(*around, at), "this may differ between them", out)
            }
            (Some((_, Split::Leaves(leave))), _) => (*leave, "not all of them leave here", out),
            (None, Some(exited)) => (
                exited,
                "some of them are gone for good from here on",
                "let them skip the work instead, and reach the barrier: `if (…) { … }`",
            ),
            (None, None) => return,
        };
        if self.reported.insert(at.start) {
            self.found.push(
                Diagnostic::new(
                    codes::E0588,
                    at,
                    "some threads of the grid may not reach this barrier",
                )
                .label("each waits for all threads of all blocks")
                .also(why, what)
                .help(help),
            );
        }
    }
}

/// The part of a statement before another one inside.
fn head(around: Span, inside: Span) -> Span {
    Span {
        end: inside.start.max(around.start),
        ..around
    }
}
