//! Declarations as parsed, before their prefix is checked.

use super::ast::{
    BufferItem, BufferShape, ElemType, EventItem, Expr, ExprKind, Name, ScalarItem, StmtKind,
    Storage,
};
use super::fault::Fault;
use super::rule::expr;
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::source::Span;

/// `[storage] [mutable]`.
#[derive(Clone, Copy, Default)]
pub struct Prefix {
    pub storage: Option<(Storage, Span)>,
    pub mutable: Option<Span>,
}

/// A declaration without its prefix.
pub enum Parsed {
    Mdspan {
        start: Span,
        rank: Option<Expr>,
        name: Name,
        value: Expr,
    },
    Ituple {
        start: Span,
        rank: Option<Expr>,
        name: Name,
        value: Expr,
    },
    Stream {
        start: Span,
        name: Name,
    },
    Scalar {
        ty: Option<(ElemType, Span)>,
        items: Vec<ScalarItem>,
    },
    Buffer {
        elem: (ElemType, Span),
        shape: BufferShape,
        items: Vec<BufferItem>,
    },
    Frag {
        start: Span,
        elem: Option<(ElemType, Span)>,
        shape: Option<Vec<Expr>>,
        items: Vec<BufferItem>,
    },
    Event {
        count: Option<Expr>,
        items: Vec<EventItem>,
    },
    /// Wrong and reported, but it declares this name.
    Lost(Name),
}

impl Prefix {
    /// Reports the words of the prefix, by default each with its own code.
    fn refuse(self, code: Option<Code>, what: &str, help: &str, emit: &mut dyn FnMut(Fault)) {
        let storage = self
            .storage
            .map(|(_, span)| (span, codes::E0618, "storage word"));
        let mutable = self.mutable.map(|span| (span, codes::E0305, "`mutable`"));
        for (span, own_code, word) in storage.into_iter().chain(mutable) {
            let code = code.unwrap_or(own_code);
            emit(Fault::known(
                Diagnostic::new(code, span, format!("{what} takes no {word}"))
                    .label("not allowed here")
                    .help(help.to_string()),
            ));
        }
    }
}

impl Parsed {
    pub fn into_kind(self, prefix: Prefix, emit: &mut dyn FnMut(Fault)) -> StmtKind {
        let Prefix { storage, mutable } = prefix;
        let mut refuse = |code, what, help| prefix.refuse(code, what, help, emit);
        match self {
            Parsed::Mdspan {
                start,
                rank,
                name,
                value,
            } => {
                let _ = start;
                refuse(
                    None,
                    "a shape",
                    "a shape is a compile-time value: remove it",
                );
                StmtKind::Mdspan { rank, name, value }
            }
            Parsed::Ituple {
                start,
                rank,
                name,
                value,
            } => {
                let _ = start;
                refuse(
                    Some(codes::E0316),
                    "an ituple",
                    "an ituple is a compile-time value: remove it",
                );
                StmtKind::Ituple { rank, name, value }
            }
            Parsed::Stream { start, name } => {
                refuse(None, "a stream", "streams are parameters");
                emit(Fault::known(
                    Diagnostic::new(
                        codes::E0100,
                        start,
                        "a stream can't be declared in a function",
                    )
                    .label("unexpected here")
                    .help(format!("make it a parameter: `stream {}`", name.text)),
                ));
                lost(name)
            }
            Parsed::Scalar { ty, items } => StmtKind::Scalar {
                storage,
                mutable,
                ty,
                items,
            },
            Parsed::Buffer { elem, shape, items } => StmtKind::Buffer {
                storage,
                mutable,
                elem,
                shape,
                items,
            },
            Parsed::Frag {
                start,
                elem,
                shape,
                items,
            } => {
                let _ = start;
                refuse(None, "a fragment", "fragments live in registers: remove it");
                StmtKind::Frag { elem, shape, items }
            }
            Parsed::Event { count, items } => {
                if let Some(span) = mutable {
                    emit(Fault::known(
                        Diagnostic::new(codes::E0305, span, "an event can't be `mutable`")
                            .label("not allowed here")
                            .help("remove it"),
                    ));
                }
                StmtKind::Event {
                    storage,
                    count,
                    items,
                }
            }
            Parsed::Lost(name) => lost(name),
        }
    }
}

/// Declares `name` with an erroneous value.
pub fn lost(name: Name) -> StmtKind {
    let span = name.span;
    StmtKind::Assign {
        target: expr(ExprKind::Name(name.text), span),
        op: None,
        value: expr(ExprKind::Error, span),
    }
}
