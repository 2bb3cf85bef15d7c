//! Coordinates of boxes, which have 32 bits, while positions of tiles have 64.
//!
//! Whether a position fits is proved or checked by [`crate::passes::transform::exact`]. With
//! [`crate::Checks::Report`] a tile whose number failed its check is moved all the same, and has to
//! be outside: there a position that may not fit is clamped. A call begins only if no extent of its
//! tensors is above 2^31 − 1 (R10), and a box has at most 256 positions along an axis, so a box at the
//! largest or the smallest coordinate has no element of the tensor.

use crate::ir::{Flow, Function, KernelId, Stmt, StmtKind, TmaOp, VisitorMut, walk_mut};
use crate::symbolic::{Ctx, Sym};

pub fn clamp(function: &mut Function, id: KernelId) {
    let maps = function.kernels.get(id.index()).map(|kernel| &kernel.maps);
    let extents: Vec<Sym> = (maps.into_iter().flatten())
        .flat_map(|map| map.extents.iter().cloned())
        .collect();
    if !function.reports || extents.is_empty() {
        return;
    }
    let [least, most] = [i32::MIN, i32::MAX].map(|limit| Sym::int(i64::from(limit)));
    function.with_kernel_body(id, |function, body| {
        // The kernel starts only after its maps have been made.
        function.cx.push_scope();
        for extent in &extents {
            function.cx.assume_le(extent, &most);
        }
        let cx = &function.cx;
        let _ = Clamp { cx, least, most }.block(body);
        function.cx.pop_scope();
    });
}

struct Clamp<'a> {
    cx: &'a Ctx,
    least: Sym,
    most: Sym,
}

impl VisitorMut for Clamp<'_> {
    fn stmt(&mut self, stmt: &mut Stmt) -> Flow {
        if let StmtKind::Tma(TmaOp::Load { moved, .. } | TmaOp::Store { moved }) = &mut stmt.kind {
            for at in &mut moved.coordinates {
                *at = self.cx.max(&self.cx.min(at, &self.most), &self.least);
            }
        }
        walk_mut::stmt(self, stmt)
    }
}
