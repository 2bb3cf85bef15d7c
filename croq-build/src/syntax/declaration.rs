//! Declarations: shapes, ituples, scalars, buffers, fragments, events.

use chumsky::prelude::*;

use super::ast::{EventItem, Expr, StmtKind};
use super::control::skip_group;
use super::derivation::tuple_value;
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::foreign_types;
use super::parsed::{Parsed, Prefix};
use super::rule::*;
use super::variable::{buffer_item, scalar_item, subscripts, typed};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// All declarations that begin with a storage keyword, `mutable`, or a type.
pub fn declaration<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let body = |prefix| after_prefix(e, prefix);
    let storage = || storage_word().map(Some);
    let mutable = || keyword(Keyword::Mutable, Class::Type).map(Some);
    // Each combination of prefix words has its own rule, so the rules need no context.
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

/// `i32 n = 4;`, `uint32_t [N] x;`: a declaration with a type of another language.
pub fn foreign_typed<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let begins = rule(|inp| {
        let start = inp.save();
        let tokens = ahead::<5>(inp);
        let mut declares = false;
        if let Some((_, count)) = foreign_types::at_beginning(&tokens) {
            for _ in 0..count {
                inp.next_ref();
            }
            // `i32[0] = v;` assigns to something of this name.
            if inp.peek_ref().is_some_and(|t| t.kind.is(Punct::LBracket)) {
                skip_group(inp);
            }
            let next = inp.peek_ref().map(|token| &token.kind);
            declares = next.is_some_and(|kind| kind.word().is_some() || kind.is(Punct::Star));
        }
        inp.rewind(start);
        match declares {
            true => Ok(()),
            false => Err(Fault::expected(position(inp), Expected::default())),
        }
    });
    let declaration = begins.ignore_then(typed(e)).validate(|parsed, _, emitter| {
        parsed.into_kind(Prefix::default(), &mut |fault| emitter.emit(fault))
    });
    when(
        |kind| {
            kind.word()
                .is_some_and(|word| foreign_types::meant(word).is_some())
        },
        declaration,
    )
}

fn begins_type(kind: &TokenKind) -> bool {
    let foreign = |word: &str| foreign_types::meant(word).is_some();
    matches!(kind, TokenKind::Type(_)) || kind.word().is_some_and(foreign)
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
                    Diagnostic::new(codes::E0310, span, "a shape is declared with `:`")
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
                    Diagnostic::new(codes::E0314, span, "there are no arrays of ituples")
                        .label("not allowed here")
                        .help("declare each by its own name"),
                ));
                return Parsed::Lost(name);
            }
            let Some((colon, value)) = init else {
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        codes::E0315,
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
                    Diagnostic::new(codes::E0311, span, "an ituple is initialised with `=`")
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
                        codes::E0115,
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

/// `frag f32 row;`
fn without_extents(name: Span) -> Fault {
    let text = "a fragment with a type has extents";
    let d = Diagnostic::new(codes::E0100, name, text).label("extents belong in front of the name");
    Fault::known(d.help(
        "write `frag f32 [16] row;`, or `frag.f32 acc;` for the accumulator of an MMA, which has the MMA's",
    ))
}

/// `frag f32 [R, C] a[2]{v};` and `frag[.f32] a[2]{v};`
pub fn frag<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
    let shape =
        between(Punct::LBracket, comma(e.shape.clone()), Punct::RBracket).map(|(dims, _)| dims);
    let no_shape = rule(|inp| match ahead(inp) {
        [Some(name)] if kind_text(&name.kind).is_some() => Ok(name.span),
        _ => Err(Fault::expected(position(inp), Punct::LBracket)),
    });
    let no_shape = no_shape.validate(|at, _, emitter| {
        emitter.emit(without_extents(at));
        Vec::new()
    });
    let shape = choice((shape.boxed(), no_shape.boxed()));
    let shaped = elem_word()
        .then(shape)
        .then(comma(buffer_item(e)))
        .map(|((elem, shape), items)| (Some(elem), Some(shape), items))
        .boxed();
    let dotted = punct(Punct::Dot)
        .ignore_then(elem_word())
        .or_not()
        .then(comma(buffer_item(e)))
        .map(|(elem, items)| (elem, None, items));
    // Older programs have `fragment`, which is a name like any other elsewhere.
    let older = rule(|inp| match ahead(inp) {
        [Some(first), Some(second)]
            if first.kind.word() == Some("fragment")
                && matches!(second.kind, TokenKind::Type(_)) =>
        {
            inp.next_ref();
            Ok(first.span)
        }
        _ => Err(Fault::expected(position(inp), Class::Type)),
    });
    choice((keyword(Keyword::Frag, Class::Type), older))
        .then(choice((when(begins_type, shaped), dotted.boxed())))
        .map(|(start, (elem, shape, items))| match items.first() {
            Some(first) if shape.as_ref().is_some_and(Vec::is_empty) => {
                Parsed::Lost(first.name.clone())
            }
            _ => Parsed::Frag {
                start,
                elem,
                shape,
                items,
            },
        })
        .boxed()
}
