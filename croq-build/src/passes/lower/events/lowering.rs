//! Waits and arrivals as operations on mbarriers.

use crate::ir::build;
use crate::ir::{
    BinOp, BufferId, EventAt, Expr, ExprKind, Function, Kernel, PhaseBy, Scalar, Slot, StmtKind,
    TmaOp,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// The mbarrier of a statement.
///
/// `None` for all slots of an event, which `events` has replaced by loops over single ones.
pub fn place(function: &Function, at: &EventAt) -> Option<(BufferId, Sym)> {
    let event = function.event(at.event);
    let slot = match &at.slot {
        Slot::At(slot) => slot.clone(),
        Slot::Order(order) => function.cx.rem(order, &Sym::int(i64::from(event.slots))),
        Slot::All => return None,
    };
    Some((event.barriers, slot))
}

/// `None` if `events` has not counted the arrivals.
pub fn arrive(function: &Function, at: &EventAt) -> Option<StmtKind> {
    let (barriers, slot) = place(function, at)?;
    let event = function.event(at.event);
    let kernel = function.kernels.get(event.kernel);
    let blocks = kernel
        .filter(|_| at.cluster)
        .map_or(1, Kernel::cluster_size);
    Some(StmtKind::Tma(TmaOp::Arrive {
        barriers,
        slot,
        blocks,
        only_reads: event.only_reads,
        sharing: at.sharing.clone(),
    }))
}

/// `None` if `events` has not given the threads phase bits.
pub fn wait(function: &Function, at: &EventAt, span: Span) -> Option<Vec<StmtKind>> {
    let event = function.event(at.event);
    let (barriers, slot) = place(function, at)?;
    let op = |op, a: Expr, b| {
        let ty = a.ty;
        Expr::new(ExprKind::Binary(op, a, b), ty, span)
    };
    let int = |n, ty| Expr::new(ExprKind::Int(n), ty, span);
    let number = match (&at.slot, event.phases) {
        (Slot::Order(order), _) => {
            let generation = function.cx.div(order, &Sym::int(i64::from(event.slots)));
            let generation = Expr::index(generation, span);
            // Generation 0 of an event that is ready comes before the first phase.
            match event.ready {
                true => op(BinOp::Sub, generation, int(1, Scalar::Index)),
                false => generation,
            }
        }
        (_, Some(local)) => {
            let ty = function.local(local).ty;
            let bits = Expr::new(ExprKind::Local(local), ty, span);
            let (parity, flip) = if event.phase_bits() == 1 {
                (bits.clone(), int(1, ty))
            } else {
                (
                    build::bit_of(bits.clone(), &slot, span),
                    build::bit(ty, &slot, span),
                )
            };
            let value = op(BinOp::Xor, bits, flip);
            return Some(vec![
                StmtKind::Tma(TmaOp::Wait {
                    barriers,
                    slot,
                    phase: parity,
                    by: PhaseBy::Next,
                    clustered: event.clustered && !event.only_reads,
                }),
                StmtKind::Assign { local, value },
            ]);
        }
        (_, None) => return None,
    };
    Some(vec![StmtKind::Tma(TmaOp::Wait {
        barriers,
        slot,
        phase: number,
        by: PhaseBy::Number,
        clustered: event.clustered && !event.only_reads,
    })])
}
