//! Declarations: shapes, ituples, scalars, buffers, fragments, events.

use chumsky::prelude::*;

use super::ast::{
    BufferItem, BufferShape, ElemType, EventItem, Expr, ExprKind, Name, ScalarItem, StmtKind,
    Storage,
};
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::rule::*;
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
enum Parsed {
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

/// What follows the name of a scalar.
enum Init {
    None,
    Value(Expr),
    /// `int x[3]`
    Array(Vec<Expr>, Span),
}

fn initialiser<'t>(e: &Exprs<'t>) -> Rule<'t, Init> {
    let array = between(
        Punct::LBracket,
        comma(e.any.clone()).or_not().boxed(),
        Punct::RBracket,
    )
    .then(
        between(Punct::LBracket, comma(e.any.clone()), Punct::RBracket)
            .repeated()
            .collect::<Vec<_>>(),
    )
    .then(
        choice((
            punct(Punct::Eq)
                .ignore_then(e.any.clone())
                .ignored()
                .boxed(),
            between(Punct::LBrace, e.any.clone(), Punct::RBrace)
                .ignored()
                .boxed(),
        ))
        .or_not(),
    )
    .map(|(((first, mut span), more), _)| {
        let mut extents = first.unwrap_or_default();
        for (items, end) in more {
            extents.extend(items);
            span = span.to(end);
        }
        Init::Array(extents, span)
    });
    choice((
        punct(Punct::Eq)
            .ignore_then(e.any.clone())
            .map(Init::Value)
            .boxed(),
        between(Punct::LBrace, e.any.clone(), Punct::RBrace)
            .map(|(value, _)| Init::Value(value))
            .boxed(),
        when(|kind| kind.is(Punct::LBracket), array),
        empty().map(|()| Init::None).boxed(),
    ))
    .boxed()
}

fn scalar_item<'t>(e: &Exprs<'t>) -> Rule<'t, ScalarItem> {
    declared()
        .then(initialiser(e))
        .validate(|(name, init), _, emitter| {
            let init = match init {
                Init::None => None,
                Init::Value(value) => Some(value),
                Init::Array(_, span) => {
                    emitter.emit(c_array("T", &name, "N", span));
                    Some(expr(ExprKind::Error, span))
                }
            };
            ScalarItem { name, init }
        })
        .boxed()
}

fn c_array(ty: &str, name: &Name, extents: &str, span: Span) -> Fault {
    Fault::known(
        Diagnostic::new("E0126", span, "extents are written before the name")
            .label("this is how C writes an array")
            .help(format!("write `local {ty} [{extents}] {};`", name.text)),
    )
}

/// `T a = e, b{e};`, `T [shape] a, b[4]{v};`
fn typed<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    let scalars = comma(declared().then(initialiser(e)).boxed());
    let shape = choice((
        punct(Punct::LBracket)
            .ignore_then(keyword(Keyword::Auto, Class::Expression))
            .then_ignore(punct(Punct::RBracket))
            .map(BufferShape::Auto)
            .boxed(),
        between(Punct::LBracket, comma(e.shape.clone()), Punct::RBracket)
            .map(|(dims, _)| BufferShape::Dims(dims))
            .boxed(),
    ));
    let buffer = when(
        |kind| kind.is(Punct::LBracket),
        shape.then(comma(buffer_item(e))),
    );
    enum After {
        Buffer(BufferShape, Vec<BufferItem>),
        Scalars(Vec<(Name, Init)>),
    }
    elem_word()
        .then(
            choice((
                buffer
                    .map(|(shape, items)| After::Buffer(shape, items))
                    .boxed(),
                pointer()
                    .ignore_then(declared())
                    .map(|name| After::Scalars(vec![(name, Init::None)]))
                    .boxed(),
                scalars.map(After::Scalars).boxed(),
            ))
            .boxed(),
        )
        .map_with(|parsed, e| (parsed, e.state().0.file))
        .validate(|((elem, after), file), _, emitter| match after {
            After::Buffer(shape, items) => Parsed::Buffer { elem, shape, items },
            After::Scalars(items) => {
                let mut lost_name = None;
                let items: Vec<ScalarItem> = items
                    .into_iter()
                    .map(|(name, init)| {
                        let init = match init {
                            Init::None => None,
                            Init::Value(value) => Some(value),
                            Init::Array(extents, span) => {
                                let ty = match elem.0 {
                                    ElemType::Int => "s32",
                                    _ => file.snippet(elem.1),
                                };
                                let extents: Vec<&str> = extents
                                    .iter()
                                    .map(|extent| file.snippet(extent.span))
                                    .collect();
                                emitter.emit(c_array(ty, &name, &extents.join(", "), span));
                                lost_name = Some(name.clone());
                                Some(expr(ExprKind::Error, span))
                            }
                        };
                        ScalarItem { name, init }
                    })
                    .collect();
                match lost_name {
                    Some(name) if items.len() == 1 => Parsed::Lost(name),
                    _ => Parsed::Scalar {
                        ty: Some(elem),
                        items,
                    },
                }
            }
        })
        .boxed()
}

/// `float *p`
pub fn pointer<'t>() -> Rule<'t, ()> {
    rule(|inp| match inp.peek_ref() {
        Some(token) if token.kind.is(Punct::Star) => {
            inp.next_ref();
            inp.emit(Fault::known(
                Diagnostic::new("E0126", token.span, "there are no pointers")
                    .label("not part of a type")
                    .help("a tensor is written `f32 [M, N] x`, one in device memory `global f32 [M, N] x`"),
            ));
            Ok(())
        }
        _ => Err(Fault::expected(position(inp), Class::Name)),
    })
}

fn buffer_item<'t>(e: &Exprs<'t>) -> Rule<'t, BufferItem> {
    declared()
        .then(subscripts(e))
        .then(between(Punct::LBrace, e.any.clone(), Punct::RBrace).or_not())
        .map(|((name, array), init)| BufferItem {
            name,
            array,
            init: init.map(|(value, _)| value),
        })
        .boxed()
}

/// `[4][2]`, perhaps none.
fn subscripts<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Expr>> {
    between(Punct::LBracket, e.any.clone(), Punct::RBracket)
        .map(|(extent, _)| extent)
        .repeated()
        .collect()
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

/// The value of an ituple, or of a name that may become one.
pub fn tuple_value<'t>(e: &Exprs<'t>) -> Rule<'t, Expr> {
    with_derivation(e.shape.clone(), e)
        .map_with(|value, e| (value, e.state().0.file))
        .validate(|(value, file), _, emitter| match &*value.kind {
            ExprKind::List(items) => {
                let inner: Vec<&str> = items.iter().map(|item| file.snippet(item.span)).collect();
                emitter.emit(Fault::known(
                    Diagnostic::new("E0108", value.span, "an ituple is written with braces")
                        .label("brackets hold a shape")
                        .help(format!("write `{{{}}}`", inner.join(", "))),
                ));
                let span = value.span;
                match *value.kind {
                    ExprKind::List(items) => expr(ExprKind::Braces(items), span),
                    kind => expr(kind, span),
                }
            }
            ExprKind::Subscript(base, items)
                if items
                    .iter()
                    .any(|item| matches!(&*item.kind, ExprKind::Paren(_))) =>
            {
                let inner: Vec<&str> = items.iter().map(|item| file.snippet(item.span)).collect();
                emitter.emit(Fault::known(
                    Diagnostic::new("E0107", value.span, "an ituple is derived with braces")
                        .label("brackets derive a shape")
                        .help(format!(
                            "write `{} {{{}}}`",
                            file.snippet(base.span),
                            inner.join(", ")
                        )),
                ));
                let span = value.span;
                match *value.kind {
                    ExprKind::Subscript(base, items) => expr(ExprKind::Derive(base, items), span),
                    kind => expr(kind, span),
                }
            }
            _ => value,
        })
        .boxed()
}

/// An expression, or `t {(0), 5}`.
pub fn with_derivation<'t>(base: Rule<'t, Expr>, e: &Exprs<'t>) -> Rule<'t, Expr> {
    let items = between(Punct::LBrace, comma(e.any.clone()), Punct::RBrace);
    base.then(when(|kind| kind.is(Punct::LBrace), items).or_not())
        .map(|(base, items)| match items {
            None => base,
            Some((items, end)) => {
                let span = base.span.to(end);
                expr(ExprKind::Derive(base, items), span)
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
