//! Hardware barriers: the threads of each barrier, and its number or lane mask.
//!
//! Outside of `inthreads`, the block uses barrier 0, a warp its own barrier, and each warpgroup a
//! numbered one. Inside, a barrier synchronises the threads of the region: whole warps use a
//! numbered barrier, lanes of one warp (or the same lanes of several warps, for barriers of warps)
//! a mask. Numbers that the program uses explicitly are reserved.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    BarrierReason, BarrierScope, BinOp, Expr, ExprKind, Function, Intrinsic, KernelId, Scalar,
    Stmt, StmtKind, ThreadSet, Visit, WARP_THREADS, WARPGROUP_THREADS, walk_block,
};
use crate::sorted::SortedSet;
use crate::source::Span;

/// The number of numbered barriers; 0 is the block's.
const NUMBERS: u32 = 16;
const WARP: u32 = WARP_THREADS;
const WARPGROUP: u32 = WARPGROUP_THREADS;

pub fn assign(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let threads = kernel.threads.as_int().and_then(|n| u32::try_from(n).ok());
    let at = kernel.span;
    function.with_kernel_body(id, |_, body| {
        let mut reserved = SortedSet::from([0]);
        walk_block(body, &mut Reserved(&mut reserved));
        let mut allocator = Allocator {
            reserved,
            threads,
            warpgroups: threads.map_or(NUMBERS / 2, |n| n.div_ceil(WARPGROUP)),
            first: None,
            known: Vec::new(),
            diags,
            kernel: at,
            exhausted: false,
        };
        allocator.block(body, None, false);
    });
}

/// Collects the numbers that the program uses.
struct Reserved<'a>(&'a mut SortedSet<u32>);

impl Visit for Reserved<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Barrier {
            scope: BarrierScope::Named { id, .. } | BarrierScope::Arrive { id, .. },
            ..
        } = stmt.kind
        {
            self.0.insert(id);
        }
    }
}

struct Allocator<'a> {
    reserved: SortedSet<u32>,
    /// The threads of the block, if their number is known.
    threads: Option<u32>,
    warpgroups: u32,
    /// The number of the first warpgroup's barrier, once one is needed.
    first: Option<u32>,
    known: Vec<(ThreadSet, u32)>,
    diags: &'a mut Diagnostics,
    kernel: Span,
    exhausted: bool,
}

impl Allocator<'_> {
    /// `set`: the threads of the enclosing region, if they are known. `inside`: there is such a
    /// region.
    fn block(&mut self, stmts: &mut Vec<Stmt>, set: Option<&ThreadSet>, inside: bool) {
        // A single thread needs no barrier.
        if set.is_some_and(|s| s.len() == 1) {
            stmts.retain(|stmt| match &stmt.kind {
                StmtKind::Barrier { scope, .. } => matches!(
                    scope,
                    BarrierScope::Named { .. } | BarrierScope::Arrive { .. }
                ),
                _ => true,
            });
        }
        for stmt in stmts {
            let span = stmt.span;
            match &mut stmt.kind {
                StmtKind::Barrier { scope, why } => {
                    *scope = match (*scope, set) {
                        (BarrierScope::Block, Some(set)) => self.of_region(set, why, span),
                        (BarrierScope::Block, None) if inside => {
                            self.unknown(span);
                            BarrierScope::Block
                        }
                        (BarrierScope::Warpgroup, Some(set)) if !set.is_whole(WARPGROUP) => {
                            if set.is_in_one(WARPGROUP) {
                                self.of_region(set, why, span)
                            } else {
                                self.refuse(set, why, span);
                                BarrierScope::Block
                            }
                        }
                        // A block that is a part of one warpgroup uses the block's barrier.
                        (BarrierScope::Warpgroup, None)
                            if !inside && self.threads.is_some_and(|n| n <= WARPGROUP) =>
                        {
                            BarrierScope::Block
                        }
                        (BarrierScope::Warpgroup, _) => {
                            if !inside {
                                self.whole_warpgroups(span);
                            }
                            BarrierScope::WarpgroupFrom(self.warpgroups(span))
                        }
                        (BarrierScope::Warp, Some(set)) if !set.is_whole(WARP) => {
                            match same_lanes(set) {
                                Some(mask) => BarrierScope::Lanes(mask),
                                None => {
                                    self.refuse(set, why, span);
                                    BarrierScope::Warp
                                }
                            }
                        }
                        (other, _) => other,
                    };
                }
                StmtKind::Region { set, body, .. } => self.block(body, set.as_ref(), true),
                StmtKind::Let {
                    value: Some(value), ..
                } => self.comparison(value, set),
                kind => {
                    for block in kind.blocks_mut() {
                        self.block(block, set, inside);
                    }
                }
            }
        }
    }

    fn of_region(&mut self, set: &ThreadSet, why: &BarrierReason, span: Span) -> BarrierScope {
        if set.is_whole(WARP) {
            if set.len() == WARP {
                return BarrierScope::Warp;
            }
            let (id, threads) = (self.number_of(set, span), set.len());
            return BarrierScope::Named { id, threads };
        }
        match same_lanes(set) {
            Some(mask) if set.is_in_one(WARP) => BarrierScope::Lanes(mask),
            _ => {
                self.refuse(set, why, span);
                BarrierScope::Warp
            }
        }
    }

    fn number_of(&mut self, set: &ThreadSet, span: Span) -> u32 {
        let known = self.known.iter().find(|(s, _)| s == set).map(|k| k.1);
        known.unwrap_or_else(|| {
            let id = self.free(1, span);
            self.known.push((set.clone(), id));
            id
        })
    }

    /// Threads compare a value at the barrier of their region or warpgroup.
    fn comparison(&mut self, value: &mut Expr, set: Option<&ThreadSet>) {
        let span = value.span;
        let ExprKind::Intrinsic(Intrinsic::SameInRegion, operands) = &mut *value.kind else {
            return;
        };
        let [_, id, threads, _] = operands.as_mut_slice() else {
            return;
        };
        let region = set.filter(|set| match *threads.kind {
            ExprKind::Int(threads) => threads == i128::from(set.len()),
            _ => false,
        });
        let number = |n: u32| Expr::int(i128::from(n), Scalar::U32, span);
        *id = match region {
            Some(set) => number(self.number_of(set, span)),
            None => {
                let first = number(self.warpgroups(span));
                let thread = Expr::intrinsic(Intrinsic::Thread, span);
                let thread = Expr::new(ExprKind::Cast(thread), Scalar::U32, span);
                let binary = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), Scalar::U32, span);
                let warpgroup = binary(BinOp::Div, thread, number(WARPGROUP));
                binary(BinOp::Add, first, warpgroup)
            }
        };
    }

    /// A barrier of a warpgroup waits for 128 threads.
    fn whole_warpgroups(&mut self, span: Span) {
        let Some(threads) = self.threads.filter(|n| n % WARPGROUP != 0) else {
            return;
        };
        let rest = threads % WARPGROUP;
        let text = format!("the last {rest} of {threads} threads are no whole warpgroup");
        self.diags.push(
            Diagnostic::new(codes::E0585, span, text)
                .label(format!("they would wait for {} others", WARPGROUP - rest))
                .also(self.kernel, "in this kernel")
                .help("use a multiple of 128 threads, or a barrier of warps or of the block"),
        );
    }

    fn warpgroups(&mut self, span: Span) -> u32 {
        if let Some(first) = self.first {
            return first;
        }
        let first = self.free(self.warpgroups, span);
        self.first = Some(first);
        first
    }

    /// The first of `many` consecutive free numbers.
    fn free(&mut self, many: u32, span: Span) -> u32 {
        let free = |first: &u32| (*first..first + many).all(|id| !self.reserved.contains(&id));
        match (1..=NUMBERS.saturating_sub(many)).find(free) {
            Some(first) => {
                self.reserved.extend(first..first + many);
                first
            }
            None => {
                if !std::mem::replace(&mut self.exhausted, true) {
                    self.diags.push(
                        Diagnostic::new(
                            codes::E0585,
                            span,
                            format!("no barrier is left for these threads: a block has {NUMBERS}"),
                        )
                        .label("waits for the others of its region")
                        .also(self.kernel, "in this kernel")
                        .help("let fewer different sets of threads copy together, or name fewer barriers"),
                    );
                }
                1
            }
        }
    }

    fn refuse(&mut self, set: &ThreadSet, why: &BarrierReason, span: Span) {
        let buffer = match why {
            BarrierReason::ReadAfterWrite(name)
            | BarrierReason::WriteAfterRead(name)
            | BarrierReason::WriteAfterWrite(name) => format!(" about `{name}`"),
            BarrierReason::Observed(name) => format!(" after they waited for `{name}`"),
            _ => String::new(),
        };
        self.diags.push(
            Diagnostic::new(
                codes::E0565,
                span,
                format!(
                    "{} threads must synchronise here{buffer}, and the hardware has no barrier for this set of threads",
                    set.len()
                ),
            )
            .label("parts of several warps")
            .help("choose whole warps (multiples of 32 threads), or lanes of a single one"),
        );
    }

    fn unknown(&mut self, span: Span) {
        self.diags.push(
            Diagnostic::new(
                codes::E0565,
                span,
                "threads must synchronise here, and the set of threads is known only at run time",
            )
            .label("inside `inthreads`")
            .help("compare variables of inner `parallel`s with constants"),
        );
    }
}

/// The lanes, if they are the same in each participating warp.
pub fn same_lanes(set: &ThreadSet) -> Option<u32> {
    let mut masks: Vec<(u32, u32)> = Vec::new();
    for tid in set.threads() {
        let (warp, lane) = (tid / WARP, 1 << (tid % WARP));
        match masks.last_mut() {
            Some((last, mask)) if *last == warp => *mask |= lane,
            _ => masks.push((warp, lane)),
        }
    }
    let first = masks.first()?.1;
    masks
        .iter()
        .all(|(_, mask)| *mask == first)
        .then_some(first)
}
