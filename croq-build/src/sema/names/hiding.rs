//! Assignments in an inner scope to an immutable name of an outer one (W11).
//!
//! Such an assignment declares a new name. Where the program would notice that the outer name kept its
//! value, the author meant to change that one, so the assignment is an error (E0320): when its right
//! side reads the name, when the outer name is read later in its own scope, or when the next iteration
//! of a loop around the assignment reads it. Elsewhere it is a note (N0321), and a warning (W0321)
//! where the outer name was declared with a type or is a parameter.
//!
//! The verdict needs the reads that follow, so assignments are collected while the checker walks the
//! function, each read of a name is compared with those that hide it, and the reports are made at the
//! function's end. "Later" is the order of the walk, which is that of execution but for loops and for
//! the two arms of an `if`, which this module keeps track of.

use super::scope::{Entity, IntKind, Scopes};
use crate::diagnostics::Diagnostic;
use crate::sema::elab::Elab;
use crate::sema::statements::assign;
use crate::source::Span;
use crate::syntax::ast;

/// Where the walk is.
#[derive(Default)]
pub(crate) struct Walk {
    /// Counts reads, loops and conditions.
    clock: u32,
    /// When each open loop began, outermost first.
    loops: Vec<u32>,
    /// The arms of conditions around this place: which condition, and whether it is the first arm.
    arms: Vec<(u32, bool)>,
}

/// What reads of one name have to be compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Loops open where the name was declared.
    loops: usize,
    /// Declared on the host.
    on_host: bool,
    last_read: Option<(u32, Span)>,
    /// Of `Scopes::hidings`: those whose verdict is open.
    hidden_by: Vec<usize>,
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
    name: ast::Name,
    outer: Outer,
    /// The outermost loop around the assignment inside the outer name's scope.
    around: Option<u32>,
    arms: Vec<(u32, bool)>,
    /// The read that makes it an error.
    read: Option<Read>,
}

#[derive(Clone, Copy)]
enum Read {
    Itself(Span),
    NextIteration(Span),
    Later(Span),
}

/// The name that was hidden.
struct Outer {
    span: Span,
    kind: Kind,
    /// A name of the host, hidden inside a kernel, which can't change it.
    of_the_host: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
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
    fn tick(&mut self) -> u32 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }
}

impl Scopes {
    /// A name is used, and what it stands for is read.
    pub fn read(&mut self, name: &str, span: Span) -> Option<&super::scope::Binding> {
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

/// Whether two places are in different arms of one condition.
fn excluded(a: &[(u32, bool)], b: &[(u32, bool)]) -> bool {
    a.iter()
        .zip(b)
        .find(|(a, b)| a != b)
        .is_some_and(|(a, b)| a.0 == b.0)
}

/// `name = value` in an inner scope, where an outer one has an immutable of that name.
pub(crate) fn hide(el: &mut Elab<'_>, name: &ast::Name, entity: &Entity, value: &ast::Expr) {
    let Some((scope, at)) = el.names.place(&name.text) else {
        return assign::define(el, name, value);
    };
    let began = el.names.walk.tick();
    assign::define(el, name, value);

    let walk = &el.names.walk;
    let (around, arms) = (walk.loops.clone(), walk.arms.clone());
    let in_kernel = el.kernel.is_some();
    let index = el.names.hidings.len();
    let binding = el.names.stack.get_mut(scope);
    let Some(binding) = binding.and_then(|s| s.bindings.get_mut(at)) else {
        return;
    };
    let around = around.get(binding.uses.loops).copied();
    let read = match binding.uses.last_read {
        Some((when, span)) if when > began => Some(Read::Itself(span)),
        Some((when, span)) if around.is_some_and(|loop_began| when > loop_began) => {
            Some(Read::NextIteration(span))
        }
        _ => None,
    };
    if read.is_none() {
        binding.uses.hidden_by.push(index);
    }
    let kind = match entity {
        Entity::Int {
            kind: IntKind::Dim, ..
        } => Kind::Dimension,
        Entity::Int {
            kind: IntKind::Param,
            ..
        }
        | Entity::ScalarParam { .. } => Kind::Parameter,
        _ if binding.is_param => Kind::Parameter,
        Entity::Int { .. } | Entity::Scalar { .. } if binding.is_typed => Kind::Typed,
        Entity::Int { .. } | Entity::Scalar { .. } => Kind::Untyped,
        _ => Kind::NoScalar,
    };
    let outer = Outer {
        span: binding.span,
        kind,
        of_the_host: in_kernel && binding.uses.on_host,
    };
    el.names.hidings.push(Hiding {
        name: name.clone(),
        outer,
        around,
        arms,
        read,
    });
}

/// Reports every assignment that hides a name, at the function's end.
pub(crate) fn report_hidings(el: &mut Elab<'_>) {
    for hiding in std::mem::take(&mut el.names.hidings) {
        let d = match hiding.read {
            Some(read) => lost_assignment(&hiding, read),
            None => hidden(&hiding),
        };
        el.cx.report(d);
    }
}

fn lost_assignment(hiding: &Hiding, read: Read) -> Diagnostic {
    let text = &hiding.name.text;
    let (at, what) = match read {
        Read::Itself(at) => (at, "the right side reads the outer one"),
        Read::NextIteration(at) => (at, "the next iteration reads the outer one here"),
        Read::Later(at) => (at, "the outer one, unchanged, is read here"),
    };
    let help = match hiding.outer.kind {
        _ if hiding.outer.of_the_host => format!(
            "a kernel can't change `{text}` of the host: give the new one another name, \
             or return the value through a buffer"
        ),
        Kind::Parameter | Kind::Dimension => {
            format!("give it another name, and `mutable` if it changes: `mutable s = {text};`")
        }
        Kind::Untyped => {
            format!(
                "to change the outer one, declare it `mutable {text} = …`; else give this one another name"
            )
        }
        Kind::Typed => {
            "to change the outer one, write `mutable` in front of its type; else give this one another name".to_string()
        }
        Kind::NoScalar => "give this one another name".to_owned(),
    };
    Diagnostic::new(
        "E0320",
        hiding.name.span,
        format!("`{text}` is immutable: this assignment would declare another `{text}`, for this block only"),
    )
    .label("does not change the outer one")
    .also(hiding.outer.span, "the outer one")
    .also(at, what)
    .help(help)
}

fn hidden(hiding: &Hiding) -> Diagnostic {
    let text = &hiding.name.text;
    let (code, outer) = match hiding.outer.kind {
        Kind::Parameter => ("W0321", "the outer one, a parameter, which keeps its value"),
        Kind::Dimension => (
            "W0321",
            "the outer one, a dimension of a parameter, which keeps its value",
        ),
        Kind::Typed => ("W0321", "the outer one, which keeps its value"),
        Kind::Untyped | Kind::NoScalar => ("N0321", "the outer one, which keeps its value"),
    };
    Diagnostic::new(
        code,
        hiding.name.span,
        format!("this declares a new `{text}` that hides the outer one"),
    )
    .label("a new name, for this block only")
    .also(hiding.outer.span, outer)
    .help("give it another name")
}
