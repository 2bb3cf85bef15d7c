//! Declarations: shapes, ituples, scalars, buffers, fragments, events.

use chumsky::prelude::*;

use super::ast::{
    BufferItem, BufferShape, ElemType, EventItem, Expr, ExprKind, Name, ScalarItem, StmtKind,
    Storage,
};
use super::derivation::tuple_value;
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::rule::*;
use super::variable::{buffer_item, scalar_item, subscripts, typed};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// `[storage] [mutable]`, and what it may stand before.
#[derive(Clone, Copy, Default)]
struct Prefix {
    storage: Option<(Storage, Span)>,
    mutable: Option<Span>,
}

/// Everything that begins with a storage word, `mutable`, or a type.
pub fn declaration<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let body = |prefix| after_prefix(e, prefix);
    let storage = || storage_word().map(Some);
    let mutable = || keyword(Keyword::Mutable, Class::Type).map(Some);
    // Each combination of prefix words has its own rule, so that no context need be carried.
    choice((
        storage()
            .then(mutable())
            .map(|(storage, mutable)| Prefix { storage, mutable })
            .then(body(true))
            .boxed(),
        storage()
            .map(|storage| Prefix {
                storage,
                mutable: None,
            })
            .then(body(true))
            .boxed(),
        mutable()
            .then(storage().or_not())
            .map(|(mutable, storage)| Prefix {
                storage: storage.flatten(),
                mutable,
            })
            .then(choice((body(true), untyped(e))).boxed())
            .boxed(),
        empty()
            .map(|()| Prefix::default())
            .then(body(false))
            .boxed(),
    ))
    .validate(|(prefix, parsed), _, emitter| {
        parsed.into_kind(prefix, &mut |fault| emitter.emit(fault))
    })
    .boxed()
}

pub fn begins_declaration(kind: &TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Type(_)
            | TokenKind::Keyword(
                Keyword::Global
                    | Keyword::Shared
                    | Keyword::Local
                    | Keyword::Mutable
                    | Keyword::Mdspan
                    | Keyword::Ituple
                    | Keyword::Event
                    | Keyword::Frag
                    | Keyword::Stream
            )
    )
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

impl Parsed {
    fn into_kind(self, prefix: Prefix, emit: &mut dyn FnMut(Fault)) -> StmtKind {
        let Prefix { storage, mutable } = prefix;
        let mut refuse = |code: &'static str, what: &str, help: &str| {
            for (span, word) in [
                storage.map(|(_, span)| (span, "a storage word")),
                mutable.map(|span| (span, "`mutable`")),
            ]
            .into_iter()
            .flatten()
            {
                let code = if code.is_empty() {
                    if word == "`mutable`" {
                        "E0305"
                    } else {
                        "E0618"
                    }
                } else {
                    code
                };
                emit(Fault::known(
                    Diagnostic::new(
                        code,
                        span,
                        format!("{what} takes no {}", word.trim_start_matches("a ")),
                    )
                    .label("not allowed here")
                    .help(help.to_string()),
                ));
            }
        };
        match self {
            Parsed::Mdspan {
                start,
                rank,
                name,
                value,
            } => {
                let _ = start;
                refuse("", "a shape", "a shape is a compile-time value: remove it");
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
                    "E0316",
                    "an ituple",
                    "an ituple is a compile-time value: remove it",
                );
                StmtKind::Ituple { rank, name, value }
            }
            Parsed::Stream { start, name } => {
                refuse("", "a stream", "streams are parameters");
                emit(Fault::known(
                    Diagnostic::new("E0100", start, "a stream can't be declared in a function")
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
                refuse("", "a fragment", "fragments live in registers: remove it");
                StmtKind::Frag { elem, shape, items }
            }
            Parsed::Event { count, items } => {
                if let Some(span) = mutable {
                    emit(Fault::known(
                        Diagnostic::new("E0305", span, "an event can't be `mutable`")
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

/// Declares `name` with a value that is already in error.
pub fn lost(name: Name) -> StmtKind {
    let span = name.span;
    StmtKind::Assign {
        target: expr(ExprKind::Name(name.text), span),
        op: None,
        value: expr(ExprKind::Error, span),
    }
}

fn after_prefix<'t>(e: &Exprs<'t>, prefixed: bool) -> Rule<'t, Parsed> {
    let rules = choice((typed(e), mdspan(e), ituple(e), event(e), frag(e), stream())).boxed();
    if prefixed {
        return rules;
    }
    when(begins_declaration, rules)
}

fn untyped<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    comma(scalar_item(e))
        .map(|items| Parsed::Scalar { ty: None, items })
        .boxed()
}

fn stream<'t>() -> Rule<'t, Parsed> {
    keyword(Keyword::Stream, Class::Type)
        .then(declared())
        .map(|(start, name)| Parsed::Stream { start, name })
        .boxed()
}

/// `<N>`
fn rank<'t>(e: &Exprs<'t>) -> Rule<'t, Option<Expr>> {
    between(Punct::Lt, e.angle.clone(), Punct::Gt)
        .map(|(rank, _)| rank)
        .or_not()
        .boxed()
}

/// `mdspan[<N>] s : e;`
fn mdspan<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    let sign = choice((
        punct(Punct::Colon).map(|_| None).boxed(),
        punct(Punct::Eq).map(Some).boxed(),
    ));
    keyword(Keyword::Mdspan, Class::Type)
        .then(rank(e))
        .then(declared())
        .then(sign)
        .then(e.shape.clone())
        .validate(|((((start, rank), name), equals), value), _, emitter| {
            if let Some(span) = equals {
                emitter.emit(Fault::known(
                    Diagnostic::new("E0310", span, "a shape is declared with `:`")
                        .label("`:` belongs here")
                        .help(format!("write `mdspan {} : …;`", name.text)),
                ));
            }
            Parsed::Mdspan {
                start,
                rank,
                name,
                value,
            }
        })
        .boxed()
}

/// `ituple[<N>] t = e;`
fn ituple<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    let sign = choice((
        punct(Punct::Eq).map(|_| None).boxed(),
        punct(Punct::Colon).map(Some).boxed(),
    ));
    let array = between(Punct::LBracket, e.any.clone(), Punct::RBracket).map(|(_, span)| span);
    keyword(Keyword::Ituple, Class::Type)
        .then(rank(e))
        .then(declared())
        .then(array.or_not())
        .then(sign.then(tuple_value(e)).or_not())
        .validate(|((((start, rank), name), array), init), _, emitter| {
            if let Some(span) = array {
                emitter.emit(Fault::known(
                    Diagnostic::new("E0314", span, "there are no arrays of ituples")
                        .label("not allowed here")
                        .help("declare each by its own name"),
                ));
                return Parsed::Lost(name);
            }
            let Some((colon, value)) = init else {
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        "E0315",
                        name.span,
                        format!("the ituple `{}` has no value", name.text),
                    )
                    .label("needs an initialiser")
                    .help(format!("write `ituple {} = {{1, 2}};`", name.text)),
                ));
                return Parsed::Lost(name);
            };
            if let Some(span) = colon {
                emitter.emit(Fault::known(
                    Diagnostic::new("E0311", span, "an ituple is initialised with `=`")
                        .label("`=` belongs here")
                        .help(format!("write `ituple {} = …;`", name.text)),
                ));
            }
            Parsed::Ituple {
                start,
                rank,
                name,
                value,
            }
        })
        .boxed()
}

/// `event[<n>] a, b[4] = ready;`
fn event<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    let ready = punct(Punct::Eq).ignore_then(accept(Class::Expression, |token| {
        Some((kind_text(&token.kind).map(str::to_string), token.span))
    }));
    let item = declared()
        .then(subscripts(e))
        .then(ready.or_not())
        .validate(|((name, array), ready), _, emitter| {
            if let Some((text, span)) = &ready
                && text.as_deref() != Some("ready")
            {
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        "E0115",
                        *span,
                        "an event begins pending or `ready`, nothing else",
                    )
                    .label("not an initial state")
                    .help(format!("write `{} = ready`, or leave it out", name.text)),
                ));
            }
            EventItem {
                name,
                array,
                ready: ready.map(|(_, span)| span),
            }
        })
        .boxed();
    keyword(Keyword::Event, Class::Type)
        .ignore_then(rank(e))
        .then(comma(item))
        .map(|(count, items)| Parsed::Event { count, items })
        .boxed()
}

/// `frag f32 [R, C] a[2]{v};` and `frag[.f32] a[2]{v};`
fn frag<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    let shape =
        between(Punct::LBracket, comma(e.shape.clone()), Punct::RBracket).map(|(dims, _)| dims);
    let shaped = elem_word()
        .then(shape)
        .then(comma(buffer_item(e)))
        .map(|((elem, shape), items)| (Some(elem), Some(shape), items));
    let dotted = punct(Punct::Dot)
        .ignore_then(elem_word())
        .or_not()
        .then(comma(buffer_item(e)))
        .map(|(elem, items)| (elem, None, items));
    keyword(Keyword::Frag, Class::Type)
        .then(choice((
            when(|kind| matches!(kind, TokenKind::Type(_)), shaped),
            dotted.boxed(),
        )))
        .map(|(start, (elem, shape, items))| Parsed::Frag {
            start,
            elem,
            shape,
            items,
        })
        .boxed()
}
