//! Names and what they stand for.

use std::collections::{BTreeMap, HashMap};

use super::hiding::{Hiding, Uses, Walk};
use crate::diagnostics::Diagnostic;
use crate::ir::{BufferId, EventId, FutureId, LocalId, ParamId, Scalar, SignalId};
use crate::sema::elab::Elab;
use crate::sema::values::value::{Data, IntValue};
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
    /// A product under way, by its number.
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
            Entity::Operation(_) => "a product under way",
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
    index: HashMap<String, usize>,
}

#[derive(Default)]
pub(crate) struct Scopes {
    pub stack: Vec<Scope>,
    pub walk: Walk,
    /// Assignments that declared a name which hides an outer one.
    pub hidings: Vec<Hiding>,
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
}

/// What a name stands for; reports it when it stands for nothing.
pub(crate) fn lookup(el: &mut Elab<'_>, name: &str, span: Span) -> Option<Entity> {
    if let Some(binding) = el.names.read(name, span) {
        return Some(binding.entity.clone());
    }
    let mut d;
    if let Some(declared) = el.names.upcoming.iter().rev().find_map(|s| s.get(name)) {
        d = Diagnostic::new(
            "E0202",
            span,
            format!("`{name}` is used before its declaration"),
        )
        .label("not declared yet")
        .also(*declared, "declared only here")
        .help("move the declaration up");
    } else if let Some((declared, kind)) = el.names.ended.get(name).copied() {
        d = Diagnostic::new(
            "E0211",
            span,
            format!("`{name}` is used after its scope ended"),
        )
        .label("not visible here")
        .also(
            declared,
            format!("{kind}, visible only inside the block it is declared in"),
        );
    } else {
        d = Diagnostic::new("E0201", span, format!("`{name}` is not declared"))
            .label("nothing of this name is visible here");
        if let Some(meant) = crate::sema::statements::call::meant(name) {
            d = d.help(format!("the function is `{meant}` here"));
        } else if !el.cx.diags.is_full()
            && let Some(near) = el.names.nearest(name)
        {
            d = d.help(format!("did you mean `{near}`?"));
        }
    }
    el.cx.report(d);
    None
}

/// A parameter that the function wants for its extents.
fn sizes_used(el: &Elab<'_>, b: &Binding, used: &[&str]) -> bool {
    let Entity::Buffer { id, .. } = &b.entity else {
        return false;
    };
    b.is_param
        && el.f.dims.iter().any(|d| {
            let own = matches!(
                el.f.buffer(*id).storage,
                crate::ir::Storage::Param(p) if p == d.param
            );
            own && used.contains(&d.name.as_str())
        })
}

pub(crate) fn report_unused(el: &mut Elab<'_>, bindings: Vec<Binding>) {
    let dims: Vec<&str> = bindings
        .iter()
        .filter(|b| b.used)
        .map(|b| b.name.as_str())
        .collect();
    for b in &bindings {
        if b.used || b.name.starts_with('_') || sizes_used(el, b, &dims) {
            continue;
        }
        let (code, message) = match (&b.entity, b.is_param) {
            (Entity::Poison | Entity::View(_) | Entity::Future(_) | Entity::Chosen(_), false) => {
                continue;
            }
            (
                Entity::Int {
                    kind: IntKind::Dim | IntKind::Parallel,
                    ..
                },
                _,
            ) => continue,
            (
                Entity::Tuple {
                    kind: IntKind::Parallel,
                    ..
                },
                _,
            ) => continue,
            (Entity::Range(_) | Entity::RangeTuple(_), _) => continue,
            (_, true) => ("W0214", format!("the parameter `{}` is never used", b.name)),
            (Entity::Buffer { .. }, _) => {
                ("W0210", format!("the buffer `{}` is never used", b.name))
            }
            _ => ("W0209", format!("`{}` is never read", b.name)),
        };
        el.cx.report(
            Diagnostic::new(code, b.span, message)
                .label("unused")
                .help(format!("remove it, or call it `_{}`", b.name)),
        );
    }
}

pub(crate) fn declare(el: &mut Elab<'_>, name: &ast::Name, entity: Entity) {
    if name.is_wildcard() {
        el.cx.report(
            Diagnostic::new("E0127", name.span, "`_` can't be the name of a variable")
                .label("a wildcard, not a name")
                .help("`_` is only for tiling arguments: `x.chunkat(p, _)`"),
        );
        return;
    }
    let is_dim = |e: &Entity| {
        matches!(
            e,
            Entity::Int {
                kind: IntKind::Dim,
                ..
            }
        )
    };
    let earlier = el.names.innermost(&name.text);
    // A dimension that is a parameter as well is another mistake, told elsewhere.
    let clash = earlier.is_some_and(|e| {
        let other = if is_dim(e) { &entity } else { e };
        is_dim(e) != is_dim(&entity) && is_parameter(el, other)
    });
    // Which of two was meant is unknown: what uses the name stays silent.
    let entity = if earlier.is_some() {
        Entity::Poison
    } else {
        entity
    };
    let on_host = el.kernel.is_none();
    let first = el.names.declare(name, entity, on_host);
    if let Some(first) = first.filter(|_| !clash) {
        el.cx.report(
            Diagnostic::new(
                "E0302",
                name.span,
                format!("`{}` is declared twice in this scope", name.text),
            )
            .label("declared again here")
            .also(first, "first declared here")
            .help("give one of them another name"),
        );
    }
}

/// What a parameter's name stands for, as far as that was understood.
fn is_parameter(el: &Elab<'_>, entity: &Entity) -> bool {
    match entity {
        Entity::Int { kind, .. } => *kind == IntKind::Param,
        Entity::Buffer { id, .. } => {
            let buffer = el.f.buffers.get(id.index());
            buffer.is_some_and(|b| matches!(b.storage, crate::ir::Storage::Param(_)))
        }
        Entity::ScalarParam { .. } | Entity::Stream(_) | Entity::Poison => true,
        _ => false,
    }
}
