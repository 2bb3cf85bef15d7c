//! Names in scope, and what they stand for.

use std::collections::{BTreeMap, HashMap};

use crate::ir::{BufferId, EventId, Expr, FutureId, LocalId, ParamId, Scalar, SignalId};
use crate::sema::state::value::{Data, IntValue};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// An immutable integer that the prover knows: a dimension, an integer parameter, a `parallel`
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
    /// A product in flight, by its number.
    Operation(usize),
    /// `f = select(…)` of futures: one of them, chosen once.
    Chosen(Data),
    Stream(ParamId),
    /// Known, but in error or not lowered yet: whatever uses it stays silent.
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
    pub entity: Entity,
    pub span: Span,
    pub used: bool,
    /// Assignments to it and the like don't count as uses.
    pub is_param: bool,
    /// Declared with a type.
    pub is_typed: bool,
    pub uses: Uses,
}

/// Names in declaration order, and where each is.
#[derive(Default)]
pub(crate) struct Scope {
    pub bindings: Vec<Binding>,
    pub index: HashMap<String, usize>,
}

#[derive(Default)]
pub(crate) struct Scopes {
    pub stack: Vec<Scope>,
    /// How many scopes were ever opened.
    pub opened: usize,
    pub walk: Walk,
    /// Assignments that declared a name which hides an outer one.
    pub hidings: Vec<Hiding>,
    /// What immutable booleans stand for: see `sema::values::predicates`.
    pub predicates: HashMap<LocalId, Expr>,
    /// Names that the statements still to come in each open list declare.
    pub upcoming: Vec<BTreeMap<String, Span>>,
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

    pub fn push(&mut self) {
        self.opened += 1;
        self.stack.push(Scope::default());
    }

    /// How many scopes are open.
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

    /// Declares in the innermost scope; the span of an earlier one there, if any.
    pub fn declare(&mut self, name: &ast::Name, entity: Entity, on_host: bool) -> Option<Span> {
        let uses = Uses::new(&self.walk, on_host);
        let scope = self.stack.last_mut()?;
        let at = scope.bindings.len();
        let earlier = scope.index.insert(name.text.clone(), at);
        scope.bindings.push(Binding {
            name: name.text.clone(),
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

    /// The name declared last has a type.
    pub fn mark_typed(&mut self) {
        if let Some(b) = self.stack.last_mut().and_then(|s| s.bindings.last_mut()) {
            b.is_typed = true;
        }
    }

    /// Where the visible name is: its scope and its place in that.
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

    /// What the innermost scope itself declares of that name.
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

    /// The visible name nearest to `name`, if near enough to be a slip.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        crate::diagnostics::nearest(name, self.visible().map(|b| b.name.as_str()))
    }

    /// A name is used, and what it stands for is read.
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

    /// A number for a condition, whose arms are entered next.
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

/// Where the walk is.
#[derive(Default)]
pub(crate) struct Walk {
    /// Counts reads, loops and conditions.
    pub clock: u32,
    /// When each open loop began, outermost first.
    pub loops: Vec<u32>,
    /// The arms of conditions around this place: which condition, and whether it is the first arm.
    pub arms: Vec<(u32, bool)>,
}

/// What reads of one name have to be compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Loops open where the name was declared.
    pub loops: usize,
    /// Declared on the host.
    pub on_host: bool,
    pub last_read: Option<(u32, Span)>,
    /// Of `Scopes::hidings`: those whose verdict is open.
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

/// An assignment that declared a name which hides an outer one.
pub(crate) struct Hiding {
    pub name: ast::Name,
    pub outer: Outer,
    /// The outermost loop around the assignment inside the outer name's scope.
    pub around: Option<u32>,
    pub arms: Vec<(u32, bool)>,
    /// The read that makes it an error.
    pub read: Option<Read>,
}

#[derive(Clone, Copy)]
pub(crate) enum Read {
    Itself(Span),
    NextIteration(Span),
    Later(Span),
}

/// The name that was hidden.
pub(crate) struct Outer {
    pub span: Span,
    pub kind: Kind,
    /// A name of the host, hidden inside a kernel, which can't change it.
    pub of_the_host: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parameter,
    Dimension,
    /// Declared with a type or another word that says what it is.
    Typed,
    /// Declared by its first assignment.
    Untyped,
    /// Nothing that `mutable` could be written in front of.
    NoScalar,
}

impl Walk {
    pub fn tick(&mut self) -> u32 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }
}

/// Whether two places are in different arms of one condition.
pub(crate) fn excluded(a: &[(u32, bool)], b: &[(u32, bool)]) -> bool {
    a.iter()
        .zip(b)
        .find(|(a, b)| a != b)
        .is_some_and(|(a, b)| a.0 == b.0)
}
