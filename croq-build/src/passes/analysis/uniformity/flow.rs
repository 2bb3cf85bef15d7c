//! The values of a kernel's locals at each point of it, and which conditions decide who comes there.
//!
//! The walk is flow-sensitive. Behind a branch, what was assigned in it depends on its condition; behind a loop,
//! on the conditions that end it. What a loop assigns is joined into what is known at its head, and the kernel is
//! walked again until nothing is added.

use std::collections::BTreeMap;

use super::indices::Indices;
use super::memory::Changes;
use super::scope::{CauseKind, Scope, Uniform};
use super::values::{Place, Values};
use crate::ir::{
    Atomic, BufferId, CppName, Expr, Function, Kernel, LocalId, MmaOp, Role, Stmt, StmtKind,
    Storage, ThreadSet, Transform, View, Visit, walk_block,
};
use crate::passes::analysis::uses::identifiers;
use crate::source::Span;
use crate::symbolic::Sym;

/// Walks of one kernel. One that needs more has its loops taken for anything.
const MOST_WALKS: usize = 24;

/// A condition that decides which threads come to a statement.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The statement, counted in the order of the walk.
    pub id: usize,
    /// The condition.
    pub span: Span,
    pub value: Uniform,
    /// Some threads leave the loop around, or this iteration of it, here.
    pub leaves: Option<Span>,
}

/// The conditions around a statement, outermost first, and the region.
pub struct Around<'w> {
    frames: &'w [Frame],
    loops: &'w [OpenLoop],
    region: Option<&'w Option<ThreadSet>>,
}

impl Around<'_> {
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let skips = self.loops.iter().flat_map(|open| &open.skips);
        self.frames.iter().chain(skips)
    }

    /// Whether it is inside `inthreads`.
    pub fn in_region(&self) -> bool {
        self.region.is_some()
    }

    pub fn set(&self) -> Option<&ThreadSet> {
        self.region?.as_ref()
    }
}

/// Is shown each statement once, when all values are known.
pub trait Watch {
    fn stmt(&mut self, stmt: &Stmt, around: &Around<'_>);
}

/// What all walks have found out about a loop.
#[derive(Clone)]
struct LoopFacts {
    /// What it assigns.
    carried: BTreeMap<Place, Uniform>,
    /// Its condition or its bounds.
    control: Uniform,
    /// Conditions around `break`s, by their numbers.
    leaves: BTreeMap<usize, Frame>,
    /// Of those around `continue`s.
    skips: Uniform,
}

/// A loop around.
struct OpenLoop {
    id: usize,
    /// How many frames are around it.
    frames: usize,
    /// Conditions around the `continue`s so far.
    skips: Vec<Frame>,
}

pub struct Walk<'a> {
    values: Values<'a>,
    log: Vec<(Place, Option<Uniform>)>,
    loops: BTreeMap<usize, LoopFacts>,
    open: Vec<OpenLoop>,
    frames: Vec<Frame>,
    regions: Vec<Option<ThreadSet>>,
    next: usize,
    grown: bool,
    gives_up: bool,
}

pub fn walk(function: &Function, kernel: &Kernel, watch: &mut impl Watch) {
    let mut walk = Walk {
        values: Values {
            function,
            kernel,
            changes: Changes::of(function, kernel),
            indices: Indices::new(kernel.threads.as_int()),
            state: BTreeMap::new(),
        },
        log: Vec::new(),
        loops: BTreeMap::new(),
        open: Vec::new(),
        frames: Vec::new(),
        regions: Vec::new(),
        next: 0,
        grown: true,
        gives_up: false,
    };
    let mut walks = 0;
    while std::mem::take(&mut walk.grown) && !walk.gives_up {
        walks += 1;
        walk.gives_up = walks == MOST_WALKS;
        walk.begin();
        walk.block(&kernel.body, &mut Nobody);
    }
    if walk.gives_up {
        // Once more for what follows the loops.
        walk.begin();
        walk.block(&kernel.body, &mut Nobody);
    }
    walk.begin();
    walk.block(&kernel.body, watch);
}

struct Nobody;

impl Watch for Nobody {
    fn stmt(&mut self, _: &Stmt, _: &Around<'_>) {}
}

impl<'a> Walk<'a> {
    fn begin(&mut self) {
        self.values.state.clear();
        self.log.clear();
        self.next = 0;
    }

    fn set(&mut self, place: Place, value: Uniform) {
        for open in &self.open {
            let Some(facts) = self.loops.get_mut(&open.id) else {
                continue;
            };
            let known = facts.carried.entry(place).or_insert(Uniform::EVERYWHERE);
            let joined = known.meet(value);
            self.grown |= !joined.is_like(*known);
            *known = joined;
        }
        self.put(place, value);
    }

    fn put(&mut self, place: Place, value: Uniform) {
        let before = match value.is_everywhere() {
            true => self.values.state.remove(&place),
            false => self.values.state.insert(place, value),
        };
        self.log.push((place, before));
    }

    /// Undoes what was set since; what it was.
    fn roll_back(&mut self, mark: usize) -> BTreeMap<Place, Uniform> {
        let mut after = BTreeMap::new();
        while self.log.len() > mark {
            let Some((place, before)) = self.log.pop() else {
                break;
            };
            let now = self.values.at(place);
            after.entry(place).or_insert(now);
            match before {
                Some(before) => drop(self.values.state.insert(place, before)),
                None => drop(self.values.state.remove(&place)),
            }
        }
        after
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn block(&mut self, stmts: &[Stmt], watch: &mut impl Watch) {
        for stmt in stmts {
            let around = Around {
                frames: &self.frames,
                loops: &self.open,
                region: self.regions.last(),
            };
            watch.stmt(stmt, &around);
            self.stmt(stmt, watch);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, watch: &mut impl Watch) {
        match &stmt.kind {
            StmtKind::Let { local, value } => self.declare(*local, value.as_ref()),
            StmtKind::Assign { local, value } => {
                let value = self.values.expr(value);
                self.set(Place::Local(*local), value);
            }
            StmtKind::Store { access, value, .. } => {
                let at = self.values.sym(&access.address());
                let value = self.values.expr(value).meet(at);
                self.store(access.view.buffer, value);
            }
            StmtKind::Atomic(atomic) => self.atomic(atomic, stmt.span),
            StmtKind::Copy(copy) => {
                let padding = match &copy.transform {
                    Transform::Pad { value, .. } => self.values.expr(value),
                    Transform::None | Transform::Transpose(_) => Uniform::EVERYWHERE,
                };
                let value = self.values.view(&copy.source).meet(padding);
                self.fill(&copy.dest, value);
            }
            StmtKind::Fill { view, value, .. } => {
                let value = self.values.expr(value);
                self.fill(view, value);
            }
            StmtKind::Cpp { text, names } => self.text(text, names, stmt.span),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise, watch),
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let id = self.number();
                let control = self.values.syms([lo, hi, step]);
                self.iterate(
                    id,
                    control,
                    stmt.span,
                    |walk, watch| {
                        let first = walk.values.syms([lo, step]);
                        walk.set(Place::Local(*local), first);
                        walk.block(body, watch);
                        Uniform::EVERYWHERE
                    },
                    watch,
                );
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let id = self.number();
                self.iterate(
                    id,
                    Uniform::EVERYWHERE,
                    cond.span,
                    |walk, watch| {
                        walk.block(prelude, watch);
                        let control = walk.values.expr(cond);
                        walk.block(body, watch);
                        control
                    },
                    watch,
                );
            }
            StmtKind::Break | StmtKind::Continue => self.leave(stmt),
            StmtKind::Region {
                pred, set, body, ..
            } => self.region(pred, set.as_ref(), body, watch),
            StmtKind::SingleThread { body, .. } => {
                let id = self.number();
                let only = Uniform::within(Scope::Thread, CauseKind::SingleThread, stmt.span);
                self.under(id, only, stmt.span, body, watch);
            }
            StmtKind::Parallel { body, .. } => self.block(body, watch),
            StmtKind::Mma(op) => self.mma(op, stmt.span, watch),
            _ => {}
        }
        self.calls(stmt);
    }

    fn declare(&mut self, local: LocalId, value: Option<&Expr>) {
        let Some(value) = value else {
            return self.set(Place::Local(local), Uniform::EVERYWHERE);
        };
        let mut uniform = self.values.expr(value);
        let declared = self.values.function.locals.get(local.index());
        if let Some(declared) = declared {
            if let Role::Parallel(_) = declared.role {
                uniform = uniform.because(CauseKind::Index(local), declared.span);
            }
            if !declared.mutable
                && !self.values.indices.has(local)
                && let Some(values) = self.values.of_thread(value)
            {
                self.values.indices.add(local, values);
            }
        }
        self.set(Place::Local(local), uniform);
    }

    /// One element of a thread's own array, which says nothing of the others.
    fn store(&mut self, id: BufferId, value: Uniform) {
        let Some(buffer) = self.values.function.buffers.get(id.index()) else {
            return;
        };
        if buffer.storage != Storage::Local {
            return;
        }
        let place = Place::Array(id);
        let value = match buffer.count.is_one() {
            true => value,
            false => value.meet(self.values.at(place)),
        };
        self.set(place, value);
    }

    fn fill(&mut self, view: &View, value: Uniform) {
        let at = self.values.syms(view.shape.iter().chain([&view.offset]));
        self.store(view.buffer, value.meet(at));
    }

    fn atomic(&mut self, atomic: &Atomic, span: Span) {
        let each = Uniform::within(Scope::Thread, CauseKind::Atomic, span);
        if let Some(result) = atomic.result {
            self.set(Place::Local(result), each);
        }
        self.store(atomic.access.view.buffer, each);
    }

    fn text(&mut self, text: &str, names: &[CppName], span: Span) {
        let words = identifiers(text);
        for name in names {
            let function = self.values.function;
            let (place, spelt) = match name {
                CppName::Local(id) => {
                    let local = function.locals.get(id.index());
                    (Place::Local(*id), local.map(|l| &l.name))
                }
                CppName::Buffer(id) => {
                    let buffer = function.buffers.get(id.index());
                    (Place::Array(*id), buffer.map(|b| &b.name))
                }
            };
            if spelt.is_some_and(|name| words.contains(name.as_str())) {
                self.disturb(place, CauseKind::Text, span);
            }
        }
    }

    fn disturb(&mut self, place: Place, kind: CauseKind, span: Span) {
        if let Place::Array(id) = place
            && self
                .values
                .function
                .buffers
                .get(id.index())
                .is_none_or(|b| b.storage != Storage::Local)
        {
            return;
        }
        let unknown = Uniform::at_least(Scope::Thread, kind, span);
        self.set(place, unknown.meet(self.values.at(place)));
    }

    /// What calls may write to.
    fn calls(&mut self, stmt: &Stmt) {
        if stmt.kind.blocks().next().is_some() {
            return;
        }
        let mut given = Given(Vec::new());
        walk_block(std::slice::from_ref(stmt), &mut given);
        for id in given.0 {
            self.disturb(Place::Array(id), CauseKind::Call, stmt.span);
        }
    }

    fn branch(&mut self, cond: &Expr, then: &[Stmt], otherwise: &[Stmt], watch: &mut impl Watch) {
        let id = self.number();
        let value = self.values.expr(cond);
        let (mark, skips) = (self.log.len(), self.skips());
        let frame = self.enter(id, value, cond.span);
        self.block(then, watch);
        let after_then = self.roll_back(mark);
        let skipped = self.take_skips(skips);
        self.block(otherwise, watch);
        let after_otherwise = self.roll_back(mark);
        self.exit(frame);
        if let Some(open) = self.open.last_mut() {
            open.skips.extend(skipped);
        }
        self.merge(&after_then, &after_otherwise, value);
    }

    fn merge(
        &mut self,
        one: &BTreeMap<Place, Uniform>,
        other: &BTreeMap<Place, Uniform>,
        cond: Uniform,
    ) {
        let of = |walk: &Self, side: &BTreeMap<Place, Uniform>, place: &Place| {
            side.get(place)
                .copied()
                .unwrap_or_else(|| walk.values.at(*place))
        };
        for place in one
            .keys()
            .chain(other.keys().filter(|p| !one.contains_key(p)))
        {
            let value = of(self, one, place).meet(of(self, other, place)).meet(cond);
            self.set(*place, value);
        }
    }

    /// A block that not all threads execute.
    fn under(
        &mut self,
        id: usize,
        value: Uniform,
        span: Span,
        body: &[Stmt],
        watch: &mut impl Watch,
    ) {
        let mark = self.log.len();
        let frame = self.enter(id, value, span);
        self.block(body, watch);
        self.exit(frame);
        let after = self.roll_back(mark);
        self.merge(&after, &BTreeMap::new(), value);
    }

    fn region(
        &mut self,
        pred: &Expr,
        set: Option<&ThreadSet>,
        body: &[Stmt],
        watch: &mut impl Watch,
    ) {
        let id = self.number();
        let value = self.values.expr(pred);
        self.regions.push(set.cloned());
        // The unit inside is that of the threads that come.
        let decides = match set {
            Some(_) => Uniform::EVERYWHERE,
            None => value,
        };
        let mark = self.log.len();
        let frame = self.enter(id, decides, pred.span);
        self.block(body, watch);
        self.exit(frame);
        self.regions.pop();
        let after = self.roll_back(mark);
        self.merge(&after, &BTreeMap::new(), value);
    }

    fn mma(&mut self, op: &MmaOp, span: Span, watch: &mut impl Watch) {
        if let MmaOp::Apply {
            indices,
            body,
            part,
        } = op
        {
            let id = self.number();
            let owned = Uniform::within(Scope::Thread, CauseKind::Fragment(part.buffer), span);
            self.iterate(
                id,
                Uniform::EVERYWHERE,
                span,
                |walk, watch| {
                    for index in indices {
                        walk.set(Place::Local(*index), owned);
                    }
                    walk.block(body, watch);
                    Uniform::EVERYWHERE
                },
                watch,
            );
        }
    }

    /// `iteration` is one iteration, and what decides whether there is another.
    fn iterate<W: Watch>(
        &mut self,
        id: usize,
        control: Uniform,
        span: Span,
        iteration: impl FnOnce(&mut Self, &mut W) -> Uniform,
        watch: &mut W,
    ) {
        let facts = self.loops.entry(id).or_insert_with(|| LoopFacts {
            carried: BTreeMap::new(),
            control,
            leaves: BTreeMap::new(),
            skips: Uniform::EVERYWHERE,
        });
        let joined = facts.control.meet(control);
        self.grown |= !joined.is_like(facts.control);
        facts.control = joined;
        let facts = facts.clone();
        for (place, value) in &facts.carried {
            let known = self.values.at(*place).meet(*value).meet(facts.skips);
            let known = match self.gives_up {
                true => known.meet(Uniform::at_least(Scope::Thread, CauseKind::Complex, span)),
                false => known,
            };
            self.put(*place, known);
        }
        let (depth, mark) = (self.frames.len(), self.log.len());
        self.open.push(OpenLoop {
            id,
            frames: depth,
            skips: Vec::new(),
        });
        self.enter(id, facts.control, span);
        self.frames.extend(facts.leaves.values().copied());
        let control = iteration(self, watch);
        self.frames.truncate(depth);
        self.open.pop();
        let after = self.roll_back(mark);
        let Some(facts) = self.loops.get_mut(&id) else {
            return;
        };
        let joined = facts.control.meet(control);
        self.grown |= !joined.is_like(facts.control);
        facts.control = joined;
        let leaves = facts.leaves.values().map(|frame| frame.value);
        let ends = leaves.fold(facts.control.meet(facts.skips), Uniform::meet);
        self.merge(&after, &BTreeMap::new(), ends);
    }

    fn leave(&mut self, stmt: &Stmt) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let inside = self.frames.get(open.frames..).unwrap_or_default();
        let Some(facts) = self.loops.get_mut(&open.id) else {
            return;
        };
        // The condition of the loop itself is no reason to leave it here.
        let own = open.id;
        let guards = inside.iter().filter(|f| f.id != own && f.leaves.is_none());
        let mut guards: Vec<Frame> = guards
            .map(|frame| Frame {
                leaves: Some(stmt.span),
                ..*frame
            })
            .collect();
        if matches!(stmt.kind, StmtKind::Continue) {
            let value = guards.iter().fold(facts.skips, |all, f| all.meet(f.value));
            self.grown |= !value.is_like(facts.skips);
            facts.skips = value;
            open.skips.extend(guards);
            return;
        }
        // Who has gone on to the next iteration does not come to the `break`.
        guards.extend(&open.skips);
        for guard in guards {
            let known = facts.leaves.get(&guard.id).map(|f| f.value);
            let value = known.map_or(guard.value, |known| known.meet(guard.value));
            if known.is_none_or(|known| !known.is_like(value)) {
                self.grown = true;
                facts.leaves.insert(guard.id, Frame { value, ..guard });
            }
        }
    }

    /// How many frames there are.
    fn enter(&mut self, id: usize, value: Uniform, span: Span) -> usize {
        let depth = self.frames.len();
        if !value.is_everywhere() {
            self.frames.push(Frame {
                id,
                span,
                value,
                leaves: None,
            });
        }
        depth
    }

    fn exit(&mut self, depth: usize) {
        self.frames.truncate(depth);
    }

    fn skips(&self) -> usize {
        self.open.last().map_or(0, |open| open.skips.len())
    }

    fn take_skips(&mut self, from: usize) -> Vec<Frame> {
        let open = self.open.last_mut();
        open.map_or_else(Vec::new, |open| {
            open.skips.split_off(from.min(open.skips.len()))
        })
    }
}

/// What calls are given the address of.
struct Given(Vec<BufferId>);

impl Visit for Given {
    fn expr(&mut self, e: &Expr) {
        use crate::ir::{Arg, ExprKind};
        fn pointers(arg: &Arg, out: &mut Vec<BufferId>) {
            match arg {
                Arg::Pointer(view) => out.push(view.buffer),
                Arg::Cast(_, inner) => pointers(inner, out),
                Arg::Value(_) | Arg::Null => {}
            }
        }
        if let ExprKind::Call(call) = &*e.kind {
            call.args.iter().for_each(|arg| pointers(arg, &mut self.0));
        }
    }

    fn sym(&mut self, _: &Sym) {}
}
