//! Run-time checks that the threads of a unit agree on a condition.
//!
//! `passes/check/divergence` finds the conditions that are neither proved uniform nor proved
//! divergent in the unit that executes a collective statement under them. Where such a condition is
//! evaluated, for a `while` in each iteration, each thread compares its value with those of the
//! others, and a disagreement aborts the launch (R22).

use crate::ir::{
    Buffer, CheckCode, CheckId, CheckInfo, Expr, ExprKind, Function, Intrinsic, KernelId, Placed,
    Scalar, Stmt, StmtKind, Storage, WARPGROUP_THREADS, build,
};
use crate::passes::check::divergence::Agreement;
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;

/// `wanted`: statements by their numbers in the order of the walk of `analysis::uniformity::flow`.
pub fn insert(function: &mut Function, id: KernelId, wanted: &SortedMap<usize, Agreement>) {
    if wanted.is_empty() {
        return;
    }
    function.with_kernel_body(id, |function, body| {
        let mut insert = Insert {
            function,
            kernel: id,
            wanted,
            next: 0,
            place: None,
        };
        insert.block(body);
    });
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.waits = true;
    }
}

struct Insert<'a> {
    function: &'a mut Function,
    kernel: KernelId,
    wanted: &'a SortedMap<usize, Agreement>,
    next: usize,
    /// The offset of the memory in which integers are compared, once it is allocated.
    place: Option<Sym>,
}

/// An integer for each barrier of a block.
const COMPARED: i64 = 16;

impl Insert<'_> {
    fn block(&mut self, stmts: &mut Vec<Stmt>) {
        for mut stmt in std::mem::take(stmts) {
            let numbered = matches!(
                stmt.kind,
                StmtKind::If { .. }
                    | StmtKind::For { .. }
                    | StmtKind::While { .. }
                    | StmtKind::Region { .. }
                    | StmtKind::SingleThread { .. }
            ) || matches!(&stmt.kind, StmtKind::Mma(op) if op.body().is_some());
            self.next += usize::from(numbered);
            let unit = self.wanted.get(&self.next).copied().filter(|_| numbered);
            if let Some(unit) = unit {
                match &mut stmt.kind {
                    StmtKind::If { cond, .. } => self.condition(unit, cond, stmts),
                    StmtKind::For { lo, hi, step, .. } => {
                        for bound in [&*hi - &*lo, step.clone()] {
                            self.bound(unit, &bound, stmt.span, stmts);
                        }
                    }
                    _ => {}
                }
            }
            for inner in stmt.kind.blocks_mut() {
                self.block(inner);
            }
            if let (Some(unit), StmtKind::While { prelude, cond, .. }) = (unit, &mut stmt.kind) {
                self.condition(unit, cond, prelude);
            }
            stmts.push(stmt);
        }
    }

    fn condition(&mut self, unit: Agreement, cond: &mut Expr, before: &mut Vec<Stmt>) {
        let (declared, value) = build::value(self.function, "decides", cond.clone());
        before.push(declared);
        *cond = value.clone();
        self.agree(unit, value, before);
    }

    fn bound(&mut self, unit: Agreement, bound: &Sym, span: Span, before: &mut Vec<Stmt>) {
        if bound.as_int().is_none() {
            self.agree(unit, Expr::index(bound.clone(), span), before);
        }
    }

    fn agree(&mut self, unit: Agreement, value: Expr, before: &mut Vec<Stmt>) {
        let span = value.span;
        let number = |n: u32| Expr::int(i128::from(n), Scalar::U32, span);
        let place = match (unit, value.ty) {
            (Agreement::Warp | Agreement::Lanes(_), _) | (_, Scalar::Bool) => Sym::zero(),
            _ => self.place(span),
        };
        let place = Expr::index(place, span);
        let (name, of, operands) = match unit {
            Agreement::Block => ("block", Intrinsic::SameInBlock, vec![value, place]),
            // `barrier_ids` inserts the numbers of the barriers.
            Agreement::Warpgroup => {
                let operands = vec![value, number(0), number(WARPGROUP_THREADS), place];
                ("warpgroup", Intrinsic::SameInRegion, operands)
            }
            Agreement::Region(threads) => {
                let operands = vec![value, number(0), number(threads), place];
                ("region", Intrinsic::SameInRegion, operands)
            }
            Agreement::Warp => {
                let operands = vec![value, number(u32::MAX)];
                ("warp", Intrinsic::SameInWarp, operands)
            }
            Agreement::Lanes(mask) => ("region", Intrinsic::SameInWarp, vec![value, number(mask)]),
        };
        let same = Expr::new(ExprKind::Intrinsic(of, operands), Scalar::Bool, span);
        let (declared, same) = build::value(self.function, "same", same);
        let check = CheckId(u32::try_from(self.function.checks.len()).unwrap_or(u32::MAX));
        self.function.checks.push(CheckInfo {
            code: CheckCode::R22,
            message: format!("threads of a {name} disagree about what decides here"),
            span,
        });
        let kind = StmtKind::Check {
            check,
            cond: same,
            values: Vec::new(),
        };
        before.extend([declared, Stmt::new(kind, span)]);
    }

    /// Allocates shared memory after that of the plan.
    fn place(&mut self, span: Span) -> Sym {
        if let Some(place) = &self.place {
            return place.clone();
        }
        let count = Sym::int(COMPARED);
        let buffer = self.function.add_buffer(Buffer::line(
            "compared".to_owned(),
            Scalar::Index,
            Storage::Shared,
            count,
            span,
        ));
        let elem = i64::try_from(Scalar::Index.bytes()).unwrap_or(8);
        let bytes = Sym::int(COMPARED * elem);
        let mut place = Sym::zero();
        if let Some(kernel) = self.function.kernels.get_mut(self.kernel.index()) {
            place = kernel.shared_bytes.clone();
            kernel.shared_bytes = &place + &bytes;
            let last = kernel.shared.iter().map(|p| p.points.1).max().unwrap_or(0);
            kernel.shared.push(Placed {
                buffer,
                offset: place.clone(),
                bytes,
                alignment: elem,
                live: kernel.span,
                points: (0, last),
            });
        }
        self.place = Some(place.clone());
        place
    }
}
