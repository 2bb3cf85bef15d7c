//! The values of a kernel's locals at each program point, and the conditions that determine which
//! threads reach it.
//!
//! The walk is flow-sensitive. After a branch, a place that was assigned in it depends on its
//! condition; after a loop, on its exit conditions. Assignments in a loop are joined into the
//! values at its head, and the kernel is walked until a fixpoint is reached.

use super::calls::CallArguments;
use super::indices::{Active, Indices, List};
use super::memory::Changes;
use super::merge::Selector;
use super::scope::{CauseKind, Scope, Uniform};
use super::state::{Place, State, element};
use super::values::Values;
use crate::ir::{
    Access, Atomic, AtomicOp, BarrierScope, BufferId, CppName, Expr, ExprKind, Function, Kernel,
    LocalId, MmaOp, Role, Stmt, StmtKind, Storage, ThreadSet, Transform, View, walk_block,
    walk_exprs,
};
use crate::passes::analysis::uses::identifiers;
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;

/// The maximum number of walks of one kernel. If the fixpoint is not reached by then, any value is
/// assumed for assignments in its loops.
const MOST_WALKS: usize = 24;

/// A condition that determines which threads reach a statement.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The number of the statement, in the order of the walk.
    pub id: usize,
    /// The location of the condition.
    pub span: Span,
    pub value: Uniform,
    /// The number of regions around it.
    regions: usize,
    /// A statement by which some threads leave the enclosing loop, or its current iteration.
    pub leaves: Option<Span>,
}

/// The conditions around a statement, outermost first, and the enclosing regions.
pub struct Around<'w> {
    frames: &'w [Frame],
    loops: &'w [OpenLoop],
    regions: &'w [Option<ThreadSet>],
    active: &'w Active,
    values: &'w Values<'w>,
}

impl Around<'_> {
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let skips = self.loops.iter().flat_map(|open| &open.skips);
        self.frames.iter().chain(skips)
    }

    /// Whether it is inside `inthreads`.
    pub fn in_region(&self) -> bool {
        !self.regions.is_empty()
    }

    pub fn set(&self) -> Option<&ThreadSet> {
        self.regions.last()?.as_ref()
    }

    /// The region in which a condition is evaluated, and its threads if they are known.
    pub fn region_of(&self, frame: &Frame) -> Option<Option<&ThreadSet>> {
        let innermost = frame.regions.checked_sub(1)?;
        self.regions.get(innermost).map(Option::as_ref)
    }

    /// The uniformity of a symbolic value here.
    pub fn sym(&self, sym: &Sym) -> Uniform {
        self.values.sym(sym)
    }

    /// The uniformity of a value here.
    pub fn expr(&self, e: &Expr) -> Uniform {
        self.values.expr(e)
    }

    /// The uniformity of the place of an element here.
    pub fn address(&self, access: &Access) -> Uniform {
        self.values.address(access)
    }

    /// Threads that may reach this point; `None`: all.
    pub fn active(&self) -> Option<&[bool]> {
        self.active.as_deref()
    }
}

/// Visits each statement once, after the fixpoint is reached.
pub trait FlowVisitor {
    fn stmt(&mut self, stmt: &Stmt, around: &Around<'_>);
}

/// The facts about a loop from all walks.
#[derive(Clone)]
struct LoopFacts {
    /// The values that it assigns.
    carried: SortedMap<Place, Uniform>,
    /// The uniformity of its condition or its bounds.
    control: Uniform,
    /// Conditions around `break`s, by their numbers.
    leaves: SortedMap<usize, Frame>,
    /// The uniformity of the conditions around `continue`s.
    skips: Uniform,
}

/// An enclosing loop.
struct OpenLoop {
    id: usize,
    /// The number of frames around it.
    frames: usize,
    /// Conditions around the `continue`s so far.
    skips: Vec<Frame>,
}

pub struct Walk<'a> {
    values: Values<'a>,
    log: Vec<(Place, Option<Uniform>)>,
    loops: SortedMap<usize, LoopFacts>,
    open: Vec<OpenLoop>,
    frames: Vec<Frame>,
    regions: Vec<Option<ThreadSet>>,
    next: usize,
    grown: bool,
    limit_reached: bool,
}

pub fn walk(function: &Function, kernel: &Kernel, visitor: &mut impl FlowVisitor) {
    let mut walk = Walk {
        values: Values {
            function,
            kernel,
            changes: Changes::of(function, kernel),
            indices: Indices::new(kernel.threads.as_int()),
            active: None,
            state: State::default(),
        },
        log: Vec::new(),
        loops: SortedMap::new(),
        open: Vec::new(),
        frames: Vec::new(),
        regions: Vec::new(),
        next: 0,
        grown: true,
        limit_reached: false,
    };
    let mut walks = 0;
    while std::mem::take(&mut walk.grown) && !walk.limit_reached {
        walks += 1;
        walk.limit_reached = walks == MOST_WALKS;
        walk.begin();
        walk.block(&kernel.body, &mut NoVisitor);
    }
    if walk.limit_reached {
        // Once more, for the code after the loops.
        walk.begin();
        walk.block(&kernel.body, &mut NoVisitor);
    }
    walk.begin();
    walk.block(&kernel.body, visitor);
}

struct NoVisitor;

impl FlowVisitor for NoVisitor {
    fn stmt(&mut self, _: &Stmt, _: &Around<'_>) {}
}

impl<'a> Walk<'a> {
    fn begin(&mut self) {
        self.values.state.clear();
        self.values.indices.begin();
        self.log.clear();
        self.next = 0;
    }

    fn set(&mut self, place: Place, value: Uniform) {
        // The value of another iteration counts as a different value.
        let carried = value.with(None);
        for open in &self.open {
            let Some(facts) = self.loops.get_mut(&open.id) else {
                continue;
            };
            let known = facts.carried.get(&place).copied();
            let joined = known.map_or(carried, |k| k.either(carried, Uniform::EVERYWHERE));
            self.grown |= known.is_none_or(|known| !joined.is_like(known));
            facts.carried.insert(place, joined);
        }
        self.put(place, value);
    }

    fn put(&mut self, place: Place, value: Uniform) {
        let is_missing = matches!(place, Place::Local(_)) && value.known.is_none();
        let value = (!is_missing || !value.is_everywhere()).then_some(value);
        let before = self.values.state.replace(place, value);
        self.log.push((place, before));
    }

    /// Undoes the assignments since `mark`, and returns their values.
    fn roll_back(&mut self, mark: usize) -> SortedMap<Place, Uniform> {
        let mut after = SortedMap::new();
        while self.log.len() > mark {
            let Some((place, before)) = self.log.pop() else {
                break;
            };
            let now = self.values.state.at(place);
            after.entry(place).or_insert(now);
            self.values.state.replace(place, before);
        }
        after
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn block(&mut self, stmts: &[Stmt], visitor: &mut impl FlowVisitor) {
        for stmt in stmts {
            let around = Around {
                frames: &self.frames,
                loops: &self.open,
                regions: &self.regions,
                active: &self.values.active,
                values: &self.values,
            };
            visitor.stmt(stmt, &around);
            self.stmt(stmt, visitor);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, visitor: &mut impl FlowVisitor) {
        match &stmt.kind {
            StmtKind::Let { local, value } => self.declare(*local, value.as_ref()),
            StmtKind::Assign { local, value } => {
                let value = self.values.assigned(value);
                self.set(Place::Local(*local), value);
            }
            // Only the arrays of threads have facts.
            StmtKind::Store { access, .. } if !self.is_array(access.view.buffer) => {}
            StmtKind::Copy(copy) if !self.is_array(copy.dest.buffer) => {}
            StmtKind::Fill { view, .. } if !self.is_array(view.buffer) => {}
            StmtKind::Store { access, value, .. } => {
                let element = element(self.values.function, access);
                let mut value = self.values.assigned(value);
                if element.is_none() {
                    value = value.sum_with(self.values.address(access).without_divergence());
                }
                self.store(access.view.buffer, element, value);
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
            StmtKind::Cpp { text, names, .. } => self.text(text, names, stmt.span),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise, visitor),
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let id = self.number();
                let control = self.values.syms([&(hi - lo), step]);
                self.iterate(
                    id,
                    Some(control),
                    stmt.span,
                    |walk, visitor| {
                        let steps = walk.values.sym(step).without_divergence();
                        let value = walk.values.sym(lo).meet(steps);
                        walk.set(Place::Local(*local), value);
                        walk.block(body, visitor);
                        None
                    },
                    visitor,
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
                    None,
                    cond.span,
                    |walk, visitor| {
                        walk.block(prelude, visitor);
                        let control = walk.values.expr(cond);
                        walk.calls_in(cond);
                        walk.block(body, visitor);
                        Some(control)
                    },
                    visitor,
                );
            }
            StmtKind::Break | StmtKind::Continue => self.leave(stmt),
            StmtKind::Region {
                pred, set, body, ..
            } => self.region(pred, set.as_ref(), body, visitor),
            StmtKind::SingleThread { body, .. } => {
                let id = self.number();
                let only = Uniform::within(Scope::Thread, CauseKind::SingleThread, stmt.span);
                self.under(id, only, stmt.span, body, visitor);
            }
            StmtKind::Parallel { body, .. } => self.block(body, visitor),
            StmtKind::Mma(op) => self.mma(op, stmt.span, visitor),
            _ => {}
        }
        self.calls(stmt);
    }

    fn is_array(&self, id: BufferId) -> bool {
        let buffer = self.values.function.buffers.get(id.index());
        buffer.is_some_and(|buffer| buffer.storage == Storage::Local)
    }

    fn declare(&mut self, local: LocalId, value: Option<&Expr>) {
        let Some(value) = value else {
            return self.set(Place::Local(local), Uniform::EVERYWHERE);
        };
        let mut uniform = self.values.assigned(value);
        let declared = self.values.function.locals.get(local.index());
        if let Some(declared) = declared
            && let Role::Parallel(_) = declared.role
        {
            uniform = uniform.because(CauseKind::Index(local), declared.span);
        }
        self.set(Place::Local(local), uniform);
    }

    /// A store to a thread's own array: to one element, or (`None`) to an unknown element.
    fn store(&mut self, id: BufferId, element: Option<Place>, value: Uniform) {
        let Some(buffer) = self.values.function.buffers.get(id.index()) else {
            return;
        };
        if buffer.storage != Storage::Local {
            return;
        }
        let array = Place::Array(id);
        let before = self.values.state.get(array);
        let joined = before.filter(|_| !buffer.count.is_one());
        let joined = joined.map_or(value, |b| b.either(value, Uniform::EVERYWHERE));
        match element {
            Some(element) => self.set(element, value),
            None => {
                for element in self.values.state.elements(id) {
                    let known = self.values.state.at(element);
                    self.set(element, known.either(value, Uniform::EVERYWHERE));
                }
            }
        }
        self.set(array, joined.with(None));
    }

    fn fill(&mut self, view: &View, value: Uniform) {
        let at = self.values.syms(view.shape.iter().chain([&view.offset]));
        let value = value.sum_with(at.without_divergence());
        let buffer = self.values.function.buffers.get(view.buffer.index());
        let all = view.shape.iter().fold(Sym::one(), |all, n| &all * n);
        if view.offset.is_zero() && buffer.is_some_and(|b| b.count == all) {
            // All previous values are overwritten.
            for element in self.values.state.elements(view.buffer) {
                self.set(element, value);
            }
            if buffer.is_some_and(|b| b.storage == Storage::Local) {
                return self.set(Place::Array(view.buffer), value.with(None));
            }
        }
        self.store(view.buffer, None, value);
    }

    fn atomic(&mut self, atomic: &Atomic, span: Span) {
        let adds = matches!(atomic.op, AtomicOp::Add | AtomicOp::Sub);
        let id = atomic.access.view.buffer;
        let found = match &*atomic.value.kind {
            // Each thread reads the value that the previous one left.
            ExprKind::Int(value) if adds && *value != 0 => {
                Uniform::within(Scope::Thread, CauseKind::Atomic, span)
            }
            _ => Uniform::at_least(Scope::Thread, CauseKind::Written(id), span),
        };
        let found = found.meet(self.values.address(&atomic.access));
        if let Some(result) = atomic.result {
            self.set(Place::Local(result), found);
        }
        self.store(id, None, found.without_divergence());
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
                self.invalidate(place, CauseKind::Text, span);
            }
        }
    }

    fn invalidate(&mut self, place: Place, kind: CauseKind, span: Span) {
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
        match place {
            Place::Array(id) => self.store(id, None, unknown),
            place => self.set(place, unknown),
        }
    }

    /// The places that calls may modify.
    fn calls(&mut self, stmt: &Stmt) {
        if stmt.kind.blocks().next().is_some() {
            return;
        }
        let mut arguments = CallArguments::new(self.values.function);
        walk_block(std::slice::from_ref(stmt), &mut arguments);
        self.invalidate_all(arguments, stmt.span);
    }

    fn calls_in(&mut self, e: &Expr) {
        let mut arguments = CallArguments::new(self.values.function);
        walk_exprs(e, &mut arguments);
        self.invalidate_all(arguments, e.span);
    }

    fn invalidate_all(&mut self, arguments: CallArguments<'_>, span: Span) {
        for place in arguments.places {
            self.invalidate(place, CauseKind::Call, span);
        }
    }

    fn branch(
        &mut self,
        cond: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        visitor: &mut impl FlowVisitor,
    ) {
        let id = self.number();
        let plain = is_plain(then) && is_plain(otherwise);
        let (value, truths) = self.values.condition(cond, !plain);
        self.calls_in(cond);
        let (mark, skips) = (self.log.len(), self.skips());
        let frame = self.enter(id, value, cond.span);
        let outside = self.values.active.clone();
        self.narrow(truths.as_ref(), true);
        self.block(then, visitor);
        self.values.active.clone_from(&outside);
        let after_then = self.roll_back(mark);
        let skipped = self.take_skips(skips);
        self.narrow(truths.as_ref(), false);
        self.block(otherwise, visitor);
        self.values.active = outside;
        let after_otherwise = self.roll_back(mark);
        self.exit(frame);
        if let Some(open) = self.open.last_mut() {
            open.skips.extend(skipped);
        }
        let selector = Selector { value, truths };
        self.merge(&after_then, &after_otherwise, &selector);
    }

    /// Restricts the active threads to those for which the condition has this truth value.
    fn narrow(&mut self, truths: Option<&List>, truth: bool) {
        if let Some(truths) = truths {
            let goes = |t| truths.at(t).is_none_or(|of| of.is_true() == truth);
            let Values {
                indices, active, ..
            } = &mut self.values;
            *active = indices.narrowed(active, goes);
        }
    }

    fn merge(
        &mut self,
        one: &SortedMap<Place, Uniform>,
        other: &SortedMap<Place, Uniform>,
        selector: &Selector,
    ) {
        for (place, value) in selector.join(&mut self.values, one, other) {
            self.set(place, value);
        }
    }

    /// A block that not all threads execute.
    fn under(
        &mut self,
        id: usize,
        value: Uniform,
        span: Span,
        body: &[Stmt],
        visitor: &mut impl FlowVisitor,
    ) {
        let mark = self.log.len();
        let frame = self.enter(id, value, span);
        self.block(body, visitor);
        self.exit(frame);
        let after = self.roll_back(mark);
        self.merge(&after, &SortedMap::new(), &Selector::of(value));
    }

    fn region(
        &mut self,
        pred: &Expr,
        set: Option<&ThreadSet>,
        body: &[Stmt],
        visitor: &mut impl FlowVisitor,
    ) {
        let id = self.number();
        let value = self.values.expr(pred);
        // Only threads of this region execute it, including its predicate.
        self.regions.push(set.cloned());
        // The unit inside consists of the threads that enter.
        let selector = match set {
            Some(_) => Uniform::EVERYWHERE,
            None => value,
        };
        let mark = self.log.len();
        let frame = self.enter(id, selector, pred.span);
        let outside = self.values.active.clone();
        if let Some(set) = set {
            self.values.active = self.values.indices.within(&outside, set);
        }
        self.block(body, visitor);
        self.values.active = outside;
        self.exit(frame);
        self.regions.pop();
        let after = self.roll_back(mark);
        self.merge(&after, &SortedMap::new(), &Selector::of(value));
    }

    fn mma(&mut self, op: &MmaOp, span: Span, visitor: &mut impl FlowVisitor) {
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
                None,
                span,
                |walk, visitor| {
                    for index in indices {
                        walk.set(Place::Local(*index), owned);
                    }
                    walk.block(body, visitor);
                    None
                },
                visitor,
            );
        }
    }

    /// `iteration` walks one iteration and returns the uniformity of the loop condition, if that is
    /// not known before.
    fn iterate<W: FlowVisitor>(
        &mut self,
        id: usize,
        control: Option<Uniform>,
        span: Span,
        iteration: impl FnOnce(&mut Self, &mut W) -> Option<Uniform>,
        visitor: &mut W,
    ) {
        self.loops.entry(id).or_insert_with(|| LoopFacts {
            carried: SortedMap::new(),
            control: Uniform::EVERYWHERE,
            leaves: SortedMap::new(),
            skips: Uniform::EVERYWHERE,
        });
        let Some(facts) = self.controlled(id, control) else {
            return;
        };
        for (place, value) in &facts.carried {
            let before = match place {
                // An array without facts has not been written before the loop.
                Place::Array(_) => self.values.state.get(*place).unwrap_or(*value),
                place => self.values.state.at(*place),
            };
            let known = before.at_head(*value, facts.skips);
            let known = match self.limit_reached {
                true => known.sum_with(Uniform::at_least(Scope::Thread, CauseKind::Complex, span)),
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
        let control = iteration(self, visitor);
        self.frames.truncate(depth);
        self.open.pop();
        let after = self.roll_back(mark);
        let Some(facts) = self.controlled(id, control) else {
            return;
        };
        let leaves = facts.leaves.values().map(|frame| frame.value);
        let ends = leaves.fold(facts.control.meet(facts.skips), Uniform::meet);
        self.merge(&after, &SortedMap::new(), &Selector::of(ends));
    }

    /// The facts about a loop, after this walk's result for its control is joined in.
    fn controlled(&mut self, id: usize, control: Option<Uniform>) -> Option<LoopFacts> {
        let facts = self.loops.get_mut(&id)?;
        if let Some(control) = control {
            let joined = facts.control.widened(control);
            self.grown |= !joined.is_like(facts.control);
            facts.control = joined;
        }
        Some(facts.clone())
    }

    fn leave(&mut self, stmt: &Stmt) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let inside = self.frames.get(open.frames..).unwrap_or_default();
        let Some(facts) = self.loops.get_mut(&open.id) else {
            return;
        };
        // The loop's own condition does not guard this exit.
        let own = open.id;
        let guards = inside.iter().filter(|f| f.id != own && f.leaves.is_none());
        let mut guards: Vec<Frame> = guards
            .map(|frame| Frame {
                leaves: Some(stmt.span),
                ..*frame
            })
            .collect();
        if matches!(stmt.kind, StmtKind::Continue) {
            let guards_of = guards.iter().map(|f| f.value.without_divergence());
            let value = guards_of.fold(facts.skips, Uniform::meet);
            self.grown |= !value.is_like(facts.skips);
            facts.skips = value;
            open.skips.extend(guards);
            return;
        }
        // A thread that has continued with the next iteration does not execute the `break`.
        guards.extend(&open.skips);
        for guard in guards {
            let known = facts.leaves.get(&guard.id).map(|f| f.value);
            let value = known.map_or(guard.value, |known| known.widened(guard.value));
            if known.is_none_or(|known| !known.is_like(value)) {
                self.grown = true;
                facts.leaves.insert(guard.id, Frame { value, ..guard });
            }
        }
    }

    /// Adds a frame for a divergent condition, and returns the previous number of frames.
    fn enter(&mut self, id: usize, value: Uniform, span: Span) -> usize {
        let depth = self.frames.len();
        if !value.is_everywhere() {
            self.frames.push(Frame {
                id,
                span,
                value,
                regions: self.regions.len(),
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

/// Whether no statement in it depends on which threads execute it.
fn is_plain(stmts: &[Stmt]) -> bool {
    let plain = |s: &Stmt| match &s.kind {
        StmtKind::Store { .. } | StmtKind::Check { .. } => true,
        StmtKind::Barrier { scope, .. } => !matches!(
            scope,
            BarrierScope::Named { .. } | BarrierScope::Arrive { .. }
        ),
        _ => false,
    };
    stmts.iter().all(plain)
}
