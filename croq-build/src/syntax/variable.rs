//! Scalars and buffers: the part after their type.

use chumsky::prelude::*;

use super::ast::{BufferItem, BufferShape, ElemType, Expr, ExprKind, Name, ScalarItem};
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::parsed::Parsed;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::token::{Keyword, Punct};
use crate::source::{SourceFile, Span};

/// The part after the name of a scalar.
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

pub fn scalar_item<'t>(e: &Exprs<'t>) -> Rule<'t, ScalarItem> {
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
        Diagnostic::new(codes::E0126, span, "extents are written before the name")
            .label("this is how C writes an array")
            .help(format!(
                "write `{ty} [{extents}] {0};`, and in a kernel `local {ty} [{extents}] {0};`",
                name.text
            )),
    )
}

/// `T a = e, b{e};`, `T [shape] a, b[4]{v};`
pub fn typed<'t>(e: &Exprs<'t>) -> Rule<'t, Parsed> {
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
            let name = inp.peek_ref().and_then(|token| token.kind.word());
            let name = name.unwrap_or("x").to_owned();
            let elem = pointee(inp.state().0.file, token.span.start);
            inp.emit(Fault::known(
                Diagnostic::new(codes::E0126, token.span, "there are no pointers")
                    .label("not part of a type")
                    .help(format!(
                        "a tensor is written `{elem} [N] {name}`, one in device memory `global {elem} [N] {name}`"
                    )),
            ));
            Ok(())
        }
        _ => Err(Fault::expected(position(inp), Class::Name)),
    })
}

/// The element type before the `*` at an offset.
fn pointee(file: &SourceFile, star: u32) -> &'static str {
    let before = file.text.get(..star as usize).unwrap_or_default();
    let before = before.trim_end();
    let word = before
        .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default();
    match word {
        "double" => "f64",
        "half" | "__half" => "f16",
        "int" => "s32",
        _ => ElemType::from_text(word).map_or("f32", |elem| elem.text()),
    }
}

/// `f32 [N] y = f(x);`
fn assigned_buffer(name: &Name, at: Span) -> Fault {
    let text = &name.text;
    Fault::known(
        Diagnostic::new(codes::E0100, at, "a buffer is not declared with `=`")
            .label("expected `,` or `;`")
            .help(format!(
                "`{text}{{value}};` fills the buffer; the result of a function or copy declares \
                 its name without a type: `{text} = …;`"
            )),
    )
}

pub fn buffer_item<'t>(e: &Exprs<'t>) -> Rule<'t, BufferItem> {
    declared()
        .then(subscripts(e))
        .then(
            choice((
                between(Punct::LBrace, e.any.clone(), Punct::RBrace)
                    .map(|(value, _)| (value, None))
                    .boxed(),
                punct(Punct::Eq)
                    .then(e.any.clone())
                    .map(|(equals, value)| (value, Some(equals)))
                    .boxed(),
            ))
            .or_not(),
        )
        .validate(|((name, array), init), _, emitter| {
            let init = init.map(|(value, equals)| match equals {
                None => value,
                Some(span) => {
                    emitter.emit(assigned_buffer(&name, span));
                    expr(ExprKind::Error, span)
                }
            });
            BufferItem { name, array, init }
        })
        .boxed()
}

/// `[4][2]`, possibly none.
pub fn subscripts<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Expr>> {
    between(Punct::LBracket, e.any.clone(), Punct::RBracket)
        .map(|(extent, _)| extent)
        .repeated()
        .collect()
        .boxed()
}
