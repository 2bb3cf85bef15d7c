//! The results of the function.

use crate::ir::{self, Scalar};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, StmtKind as S};

/// The results of the function.
pub(crate) struct Results {
    /// The values of each `return`.
    pub returned: Vec<(Span, Vec<ReturnShape>)>,
    pub declared: ast::RetType,
    /// Whether a `return` is in error.
    pub poisoned: bool,
    /// Buffers that are returned.
    pub buffers: SortedSet<ir::BufferId>,
    /// Of a function whose body is lowered at a call: the values of its `return`.
    pub values: Vec<ir::ReturnValue>,
    pub is_inlined: bool,
    /// What its `return`s assign, where it has several.
    pub leaves: Option<Leaves>,
    /// By result: whether each `return` has an element of a tensor there.
    pub elements: Vec<bool>,
}

impl Results {
    pub fn new(function: &ast::Function) -> Self {
        let mut elements = None;
        gather(&function.body, &mut elements);
        Self {
            returned: Vec::new(),
            declared: function.ret.clone(),
            poisoned: false,
            buffers: SortedSet::new(),
            values: Vec::new(),
            is_inlined: false,
            leaves: None,
            elements: elements.unwrap_or_default(),
        }
    }

    /// Of a function whose body is lowered at a call.
    pub fn inlined(function: &ast::Function) -> Self {
        Self {
            is_inlined: true,
            elements: Vec::new(),
            ..Self::new(function)
        }
    }
}

/// The results of a function whose body is lowered at a call, as a loop that its `return`s leave.
pub(crate) struct Leaves {
    /// Buffers before this one are the caller's.
    pub first: ir::BufferId,
    pub slots: Vec<ir::ReturnValue>,
    /// The declarations of the slots.
    pub declared: Vec<ir::Stmt>,
    /// Where a `return` is in a loop: whether one has been reached.
    pub left: Option<ir::LocalId>,
}

/// The values of a `return`: those of a braced list, or one.
pub(crate) fn listed(value: &ast::Expr) -> &[ast::Expr] {
    match &*value.kind {
        ast::ExprKind::Braces(list) => list,
        _ => std::slice::from_ref(value),
    }
}

/// Which values are elements in all `return`s.
fn gather(stmts: &[ast::Stmt], elements: &mut Option<Vec<bool>>) {
    for stmt in stmts {
        match &stmt.kind {
            S::Return(Some(value)) => {
                let here = listed(value).iter();
                let here = here.map(|e| matches!(&*e.kind, ast::ExprKind::At(..)));
                *elements = Some(match elements.take() {
                    None => here.collect(),
                    Some(before) => before.iter().zip(here).map(|(a, b)| *a && b).collect(),
                });
            }
            kind => kind.blocks().for_each(|b| gather(&b.stmts, elements)),
        }
    }
}

#[derive(Clone, PartialEq)]
pub(crate) enum ReturnShape {
    Scalar(Scalar),
    /// An element of device memory.
    Element(Scalar),
    Tensor(Scalar, Vec<Sym>),
}
