//! Loads and stores as what single threads do.

use super::has_boxes;
use crate::ir::{
    Arrival, BinOp, BufferId, Copy, Engine, Expr, ExprKind, Frame, Function, KernelId, Level, Stmt,
    StmtKind, TensorMap, Tma, TmaMove, TmaOp, View,
};
use crate::source::Span;
use crate::symbolic::Sym;
use std::collections::BTreeMap;

pub fn expand(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    if !has_boxes(&kernel.body) {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    let mut expander = Expander {
        mentions: mentions(&body),
        function,
        maps: Vec::new(),
        loops: 0,
    };
    let body = expander.block(body);
    let maps = expander.maps;
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.body = body;
        kernel.maps = maps;
    }
}

/// How many statements mention each buffer.
fn mentions(body: &[Stmt]) -> BTreeMap<BufferId, usize> {
    struct Count(BTreeMap<BufferId, usize>);
    impl crate::ir::Visit for Count {
        fn view(&mut self, view: &View) {
            *self.0.entry(view.buffer).or_default() += 1;
        }
        fn access(&mut self, access: &crate::ir::Access, _written: bool) {
            *self.0.entry(access.view.buffer).or_default() += 1;
        }
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Cpp { names, .. } = &stmt.kind {
                for name in names {
                    if let crate::ir::CppName::Buffer(id) = name {
                        *self.0.entry(*id).or_default() += 1;
                    }
                }
            }
        }
    }
    let mut count = Count(BTreeMap::new());
    crate::ir::walk_block(body, &mut count);
    count.0
}

struct Expander<'a> {
    function: &'a Function,
    maps: Vec<TensorMap>,
    mentions: BTreeMap<BufferId, usize>,
    loops: usize,
}

impl Expander<'_> {
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            self.stmt(stmt, &mut out);
        }
        out
    }

    fn turns(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        self.loops += 1;
        let body = self.block(body);
        self.loops -= 1;
        body
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Copy(copy) => {
                if let Engine::Tma(tma) = &copy.engine
                    && let Some(kinds) = self.copy(copy, tma, span)
                {
                    out.extend(kinds.into_iter().map(|kind| Stmt::new(kind, span)));
                    return;
                }
            }
            StmtKind::WaitTma { futures } => {
                let arrivals = futures.iter().filter_map(|w| w.arrival.as_ref());
                out.extend(arrivals.map(|a| Stmt::new(wait(self.function, a, span), span)));
                return;
            }
            StmtKind::For { body, .. } => *body = self.turns(std::mem::take(body)),
            StmtKind::Parallel { body, .. }
            | StmtKind::Once { body, .. }
            | StmtKind::Region { body, .. } => *body = self.block(std::mem::take(body)),
            StmtKind::While { prelude, body, .. } => {
                *prelude = self.turns(std::mem::take(prelude));
                *body = self.turns(std::mem::take(body));
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                *then = self.block(std::mem::take(then));
                *otherwise = self.block(std::mem::take(otherwise));
            }
            _ => {}
        }
        out.push(stmt);
    }

    fn copy(&mut self, copy: &Copy, tma: &Tma, span: Span) -> Option<Vec<StmtKind>> {
        let once = |level: Level, ops: Vec<TmaOp>| StmtKind::Once {
            level,
            body: ops
                .into_iter()
                .map(|op| Stmt::new(StmtKind::Tma(op), span))
                .collect(),
        };
        let Some(arrival) = &tma.arrival else {
            let moved = self.moved(&copy.dest, &copy.source, copy.source.shape.clone(), tma)?;
            // Others may come to use what it writes: then it must be there, not only on its way.
            let others = self.mentions.get(&copy.dest.buffer).is_none_or(|n| *n > 1);
            let whole = others || self.loops > 0;
            let mut ops: Vec<TmaOp> = moved
                .into_iter()
                .map(|moved| TmaOp::Store { moved })
                .collect();
            ops.push(TmaOp::WaitStores { whole });
            return Some(vec![once(copy.level, ops)]);
        };
        let shape = self.loaded(copy)?;
        let elem = self.function.buffer(copy.dest.buffer).elem;
        let bytes = i64::try_from(elem.bytes()).unwrap_or(1);
        let bytes = shape.iter().fold(Sym::int(bytes), |p, e| &p * e);
        let (barriers, slot) = (arrival.barriers, arrival.slot.clone());
        let mut ops = vec![TmaOp::Expect {
            barriers,
            slot: slot.clone(),
            bytes,
        }];
        for moved in self.moved(&copy.source, &copy.dest, shape, tma)? {
            ops.push(TmaOp::Load {
                moved,
                barriers,
                slot: slot.clone(),
                hint: tma.hint,
            });
        }
        let mut kinds = vec![flip(self.function, arrival, span), once(copy.level, ops)];
        if copy.future.is_none() {
            kinds.push(wait(self.function, arrival, span));
        }
        Some(kinds)
    }

    /// What a load's box covers: the destination, the end of the tensor included; or a part of it,
    /// when there is less.
    fn loaded(&self, copy: &Copy) -> Option<Vec<Sym>> {
        let frame = copy.source.frame.as_ref()?;
        let cx = &self.function.cx;
        let both = copy.source.shape.iter().zip(&copy.dest.shape).enumerate();
        both.map(|(axis, (from, to))| {
            let along = *frame.axes.get(axis)?;
            let end = frame.origin.get(along)? + from;
            let whole = cx.eq(from, to).is_yes() || cx.eq(&end, frame.extents.get(along)?).is_yes();
            Some(if whole { to.clone() } else { from.clone() })
        })
        .collect()
    }

    /// The boxes of a copy: one, but of swizzled rows that are wider than a group one for each group.
    fn moved(
        &mut self,
        global: &View,
        shared: &View,
        mut shape: Vec<Sym>,
        tma: &Tma,
    ) -> Option<Vec<TmaMove>> {
        let frame = global.frame.as_ref()?;
        let buffer = self.function.buffer(shared.buffer);
        let Some(swizzle) = &buffer.swizzle else {
            return Some(vec![TmaMove {
                map: self.map(global, frame, &shape, 0, tma),
                coordinates: frame.origin.clone(),
                buffer: shared.buffer,
                offset: shared.offset.clone(),
            }]);
        };
        let group = swizzle.group(buffer.elem);
        let width = shape.last_mut()?;
        let groups = width.as_int()?.checked_div(group)?;
        *width = Sym::int(group);
        let first = buffer.by_groups(&self.function.cx, &shared.offset);
        let map = self.map(global, frame, &shape, swizzle.bytes, tma);
        let one = |number: i64| {
            let mut coordinates = frame.origin.clone();
            if let Some(inner) = coordinates.last_mut() {
                *inner = &*inner + number * group;
            }
            TmaMove {
                map,
                coordinates,
                buffer: shared.buffer,
                offset: &first + &(&swizzle.rows * (number * group)),
            }
        };
        Some((0..groups).map(one).collect())
    }

    fn map(
        &mut self,
        global: &View,
        frame: &Frame,
        shape: &[Sym],
        swizzle: u32,
        tma: &Tma,
    ) -> usize {
        let mut extent_of_box = vec![Sym::one(); frame.extents.len()];
        for (along, extent) in frame.axes.iter().zip(shape) {
            if let Some(slot) = extent_of_box.get_mut(*along) {
                *slot = extent.clone();
            }
        }
        let map = TensorMap {
            buffer: global.buffer,
            base: frame.base(&global.offset),
            extents: frame.extents.clone(),
            strides: frame.strides.clone(),
            extent_of_box,
            swizzle,
            promotion: tma.promotion,
        };
        if let Some(at) = self.maps.iter().position(|m| *m == map) {
            return at;
        }
        self.maps.push(map);
        self.maps.len() - 1
    }
}

/// One load more.
fn flip(function: &Function, arrival: &Arrival, span: Span) -> StmtKind {
    let ty = function.local(arrival.phases).ty;
    let op = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), ty, span);
    let mut bit = Expr::new(ExprKind::Int(1), ty, span);
    if let Some(at) = &arrival.bit {
        bit = op(BinOp::Shl, bit, Expr::index(at.clone(), span));
    }
    let phases = Expr::new(ExprKind::Local(arrival.phases), ty, span);
    StmtKind::Assign {
        local: arrival.phases,
        value: op(BinOp::Xor, phases, bit),
    }
}

/// For the last load that has begun.
fn wait(function: &Function, arrival: &Arrival, span: Span) -> StmtKind {
    let ty = function.local(arrival.phases).ty;
    let one = || Expr::new(ExprKind::Int(1), ty, span);
    let op = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), ty, span);
    let mut phases = Expr::new(ExprKind::Local(arrival.phases), ty, span);
    if let Some(at) = &arrival.bit {
        phases = op(BinOp::Shr, phases, Expr::index(at.clone(), span));
        phases = op(BinOp::And, phases, one());
    }
    StmtKind::Tma(TmaOp::Wait {
        barriers: arrival.barriers,
        slot: arrival.slot.clone(),
        parity: op(BinOp::Xor, phases, one()),
    })
}
