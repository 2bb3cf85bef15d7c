//! Names in scope, and their entities.

use std::collections::HashMap;

use crate::ir::{BufferId, EventId, Expr, FutureId, LocalId, ParamId, Scalar, SignalId};
use crate::sema::state::value::{Data, IntValue};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// The entity that a name refers to.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// An immutable integer with a symbolic value: a dimension, an integer parameter, a `parallel`
    /// variable, a named expression.
    Int {
        value: IntValue,
        kind: IntKind,
    },
    Tuple {
        values: Vec<IntValue>,
        kind: IntKind,
    },
    /// A `with` range; its current value is in `Elab::ranges`.
    Range(usize),
    RangeTuple(Vec<usize>),
    Shape(Vec<Sym>),
    Scalar {
        local: LocalId,
        mutable: bool,
    },
    ScalarParam {
        param: ParamId,
        ty: Scalar,
    },
    Buffer {
        id: BufferId,
        array: Vec<u64>,
    },
    /// `shared s32 x;`: one word per block.
    Word(BufferId),
    View(Data),
    Future(FutureId),
    Event(EventId),
    /// An event of the host.
    Signal(SignalId),
    /// An event of a single thread, by its number.
    Flag(usize),
    /// An MMA in flight, by its number.
    Operation(usize),
    /// `f = select(…)` of futures: one of them, selected once.
    Chosen(Data),
    Stream(ParamId),
    /// Declared, but in error or not supported: uses of it are not reported.
    Poison,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntKind {
    Dim,
    Param,
    Parallel,
    Named,
}

impl Entity {
    pub fn kind(&self) -> &'static str {
        match self {
            Entity::Int {
                kind: IntKind::Dim, ..
            } => "a symbolic dimension",
            Entity::Int {
                kind: IntKind::Param,
                ..
            } => "an integer parameter",
            Entity::Int {
                kind: IntKind::Parallel,
                ..
            } => "a parallel variable",
            Entity::Int { .. } => "an immutable integer",
            Entity::Tuple {
                kind: IntKind::Parallel,
                ..
            } => "a parallel variable",
            Entity::Tuple { .. } => "an ituple",
            Entity::Range(_) | Entity::RangeTuple(_) => "a range variable",
            Entity::Shape(_) => "a shape (mdspan)",
            Entity::Scalar { .. } | Entity::ScalarParam { .. } => "a scalar",
            Entity::Buffer { .. } => "a buffer",
            Entity::Word(_) => "a shared scalar",
            Entity::View(_) => "a view",
            Entity::Future(_) | Entity::Chosen(_) => "a data future",
            Entity::Event(_) | Entity::Signal(_) | Entity::Flag(_) => "an event",
            Entity::Operation(_) => "an asynchronous MMA",
            Entity::Stream(_) => "a stream",
            Entity::Poison => "an erroneous name",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub name: String,
    /// In the function.
    pub number: usize,
    pub entity: Entity,
    pub span: Span,
    pub used: bool,
    /// Whether it is a parameter: assignments to it do not count as uses.
    pub is_param: bool,
    /// Whether it was declared with a type.
    pub is_typed: bool,
    pub uses: Uses,
}

/// Names in declaration order, and the position of each.
#[derive(Default)]
pub(crate) struct Scope {
    pub bindings: Vec<Binding>,
    pub index: HashMap<String, usize>,
}

#[derive(Default)]
pub(crate) struct Scopes {
    pub stack: Vec<Scope>,
    /// The number of scopes that were ever opened.
    pub opened: usize,
    pub walk: Walk,
    /// Assignments that declared a name that hides an outer one.
    pub hidings: Vec<Hiding>,
    /// The expressions of immutable booleans: see `sema::values::predicates`.
    pub predicates: HashMap<LocalId, Expr>,
    /// Names that the remaining statements of each open list declare.
    pub upcoming: Vec<SortedMap<String, Span>>,
    /// The number of names that were ever declared.
    declared: usize,
    /// Views of data that the host has exchanged since, by their numbers.
    pub stale: SortedSet<usize>,
    /// Names whose scope has ended, for "used after its parallel ended".
    pub ended: HashMap<String, (Span, &'static str)>,
}

impl Scopes {
    pub fn new() -> Self {
        Self {
            stack: vec![Scope::default()],
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self) {
        self.opened += 1;
        self.stack.push(Scope::default());
    }

    /// The number of open scopes.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    pub fn pop(&mut self) -> Vec<Binding> {
        let bindings = self.stack.pop().unwrap_or_default().bindings;
        for b in &bindings {
            self.ended.insert(b.name.clone(), (b.span, b.entity.kind()));
        }
        bindings
    }

    /// Declares a name in the innermost scope; returns the span of an earlier declaration there, if
    /// any.
    pub fn declare(&mut self, name: &ast::Name, entity: Entity, on_host: bool) -> Option<Span> {
        let uses = Uses::new(&self.walk, on_host);
        self.declared += 1;
        let scope = self.stack.last_mut()?;
        let at = scope.bindings.len();
        let earlier = scope.index.insert(name.text.clone(), at);
        scope.bindings.push(Binding {
            name: name.text.clone(),
            number: self.declared,
            entity,
            span: name.span,
            used: false,
            is_param: false,
            is_typed: false,
            uses,
        });
        earlier.and_then(|i| scope.bindings.get(i)).map(|b| b.span)
    }

    pub fn mark_param(&mut self) {
        if let Some(b) = self.stack.last_mut().and_then(|s| s.bindings.last_mut()) {
            b.is_param = true;
        }
    }

    /// Marks the name declared last as declared with a type.
    pub fn mark_typed(&mut self) {
        if let Some(b) = self.stack.last_mut().and_then(|s| s.bindings.last_mut()) {
            b.is_typed = true;
        }
    }

    /// The position of the visible name: its scope, and its index in that scope.
    pub fn place(&self, name: &str) -> Option<(usize, usize)> {
        let scopes = self.stack.iter().enumerate().rev();
        scopes
            .filter_map(|(scope, s)| Some((scope, *s.index.get(name)?)))
            .next()
    }

    pub fn find(&self, name: &str) -> Option<&Binding> {
        self.stack
            .iter()
            .rev()
            .find_map(|s| s.bindings.get(*s.index.get(name)?))
    }

    pub fn find_mut(&mut self, name: &str) -> Option<&mut Binding> {
        self.stack.iter_mut().rev().find_map(|s| {
            let at = *s.index.get(name)?;
            s.bindings.get_mut(at)
        })
    }

    /// The entity that the innermost scope itself declares for the name.
    pub fn innermost(&self, name: &str) -> Option<&Entity> {
        let scope = self.stack.last()?;
        let at = *scope.index.get(name)?;
        scope.bindings.get(at).map(|b| &b.entity)
    }

    /// Whether the innermost scope itself declares the name.
    pub fn in_innermost(&self, name: &str) -> bool {
        self.stack
            .last()
            .is_some_and(|s| s.index.contains_key(name))
    }

    pub fn visible(&self) -> impl Iterator<Item = &Binding> {
        self.stack.iter().flat_map(|s| &s.bindings)
    }

    /// The visible name most similar to `name`, if it is similar enough to be a typing error.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        crate::diagnostics::nearest(name, self.visible().map(|b| b.name.as_str()))
    }

    /// Records a read of the name, and returns its binding.
    pub fn read(&mut self, name: &str, span: Span) -> Option<&Binding> {
        let now = self.walk.tick();
        let (scope, at) = self.place(name)?;
        let walk = &self.walk;
        let hidings = &mut self.hidings;
        let binding = self.stack.get_mut(scope)?.bindings.get_mut(at)?;
        binding.used = true;
        let uses = &mut binding.uses;
        uses.last_read = Some((now, span));
        let around = walk.loops.get(uses.loops).copied();
        uses.hidden_by.retain(|index| {
            let Some(hiding) = hidings.get_mut(*index) else {
                return false;
            };
            let same_loop = around.is_some() && around == hiding.around;
            if !same_loop && excluded(&hiding.arms, &walk.arms) {
                return true;
            }
            hiding.read.get_or_insert(Read::Later(span));
            false
        });
        Some(binding)
    }

    pub fn enter_loop(&mut self) {
        let now = self.walk.tick();
        self.walk.loops.push(now);
    }

    pub fn leave_loop(&mut self) {
        self.walk.loops.pop();
    }

    /// A new number for a condition whose arms are entered next.
    pub fn condition(&mut self) -> u32 {
        self.walk.tick()
    }

    pub fn enter_arm(&mut self, condition: u32, first: bool) {
        self.walk.arms.push((condition, first));
    }

    pub fn leave_arm(&mut self) {
        self.walk.arms.pop();
    }
}

/// The position of the walk.
#[derive(Default)]
pub(crate) struct Walk {
    /// Counts reads, loops and conditions.
    pub clock: u32,
    /// The time at which each open loop began, outermost first.
    pub loops: Vec<u32>,
    /// The enclosing arms of conditions: the condition, and whether it is the first arm.
    pub arms: Vec<(u32, bool)>,
}

/// The facts that a read of a name is compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// The number of open loops where the name was declared.
    pub loops: usize,
    /// Whether it was declared on the host.
    pub on_host: bool,
    pub last_read: Option<(u32, Span)>,
    /// Indices into `Scopes::hidings` of those that are not decided yet.
    pub hidden_by: Vec<usize>,
}

impl Uses {
    pub fn new(walk: &Walk, on_host: bool) -> Self {
        Self {
            loops: walk.loops.len(),
            on_host,
            ..Self::default()
        }
    }
}

/// An assignment that declared a name that hides an outer one.
pub(crate) struct Hiding {
    pub name: ast::Name,
    pub outer: Outer,
    /// The outermost loop around the assignment inside the outer name's scope.
    pub around: Option<u32>,
    pub arms: Vec<(u32, bool)>,
    /// The read that makes the assignment an error.
    pub read: Option<Read>,
}

#[derive(Clone, Copy)]
pub(crate) enum Read {
    Itself(Span),
    NextIteration(Span),
    Later(Span),
}

/// The name that is hidden.
pub(crate) struct Outer {
    pub span: Span,
    pub kind: Kind,
    pub is_buffer: bool,
    /// Whether it is a name of the host that is hidden inside a kernel, which cannot change it.
    pub of_the_host: bool,
    /// Whether its value depends on data.
    pub is_data: bool,
}

impl Outer {
    /// Whether the name is mutable if it gets another value.
    pub fn may_change(&self) -> bool {
        self.is_data && self.kind == Kind::Untyped && !self.of_the_host
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parameter,
    Dimension,
    /// Declared with a type or another keyword that determines its kind.
    Typed,
    /// Declared by its first assignment.
    Untyped,
    /// The name of a copy.
    Copy,
    /// Not a scalar, so that `mutable` is not possible.
    NoScalar,
}

impl Walk {
    pub fn tick(&mut self) -> u32 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }
}

/// Whether two positions are in different arms of one condition.
pub(crate) fn excluded(a: &[(u32, bool)], b: &[(u32, bool)]) -> bool {
    a.iter()
        .zip(b)
        .find(|(a, b)| a != b)
        .is_some_and(|(a, b)| a.0 == b.0)
}
