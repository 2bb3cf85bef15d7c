//! `mma` statements and operations on fragments.

use chumsky::prelude::*;

use super::ast::{ElemType, Expr, ExprKind, FragOp, MmaOp, MmaStmt, Name, StmtKind};
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// An `mma` operation with its operands; the name that is bound to it is parsed by the statement.
pub fn mma<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    keyword(Keyword::Mma, Class::Statement)
        .ignore_then(choice((
            fill(e),
            load(e),
            multiply(e),
            store(e),
            scale(e),
            commit(),
            wait_left(e),
            removed(e),
        )))
        .boxed()
}

pub(super) fn made(op: MmaOp, is_async: bool, operands: Vec<Expr>) -> MmaStmt {
    MmaStmt {
        target: None,
        op,
        is_async,
        operands,
        k_tiles: None,
    }
}

/// `.fill[.T] V` and `.fill c, V`
fn fill<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    member("fill", Class::MmaOperation)
        .ignore_then(dotted_elem())
        .then(comma(e.any.clone()))
        .map(|(elem, operands)| made(MmaOp::Fill(elem), false, operands))
        .boxed()
}

fn dotted_elem<'t>() -> Rule<'t, Option<ElemType>> {
    punct(Punct::Dot)
        .ignore_then(elem_word())
        .or_not()
        .map(|elem| elem.map(|(elem, _)| elem))
        .boxed()
}

/// `.load[.frag][.swiz<N>][.async] view[, c]`
fn load<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    enum Part {
        Frag,
        Swizzle(Option<Expr>),
        Async,
    }
    let width = super::copy_modifiers::swizzle_width(e).map(|(width, _)| width);
    let part = choice((
        member("frag", Class::Suffix).map(|_| Part::Frag).boxed(),
        choice((
            member("swiz", Class::Suffix),
            member("swizzle", Class::Suffix),
        ))
        .ignore_then(width.or_not())
        .map(Part::Swizzle)
        .boxed(),
        member("async", Class::Suffix).map(|_| Part::Async).boxed(),
    ));
    let parts = spanned(part)
        .repeated()
        .collect::<Vec<_>>()
        .validate(|parts, _, emitter| {
            let (mut frag, mut swizzle, mut is_async) = (None, None, None);
            for (part, span) in parts {
                let earlier = match part {
                    Part::Frag => frag.replace(span),
                    Part::Async => is_async.replace(span),
                    Part::Swizzle(width) => swizzle.replace((width, span)).map(|(_, span)| span),
                };
                if let Some(first) = earlier {
                    emitter.emit(Fault::known(
                        Diagnostic::new(codes::E0112, span, "this modifier is given twice")
                            .label("again here")
                            .also(first, "first here")
                            .help("keep one of them"),
                    ));
                }
            }
            // Without a width it is 128.
            let swizzle = swizzle.map(|(width, span)| {
                width.unwrap_or_else(|| {
                    let suffix = super::ast::IntSuffix {
                        unsigned: false,
                        long: false,
                    };
                    expr(ExprKind::Int { value: 128, suffix }, span)
                })
            });
            (frag.is_some(), swizzle, is_async.is_some())
        });
    member("load", Class::MmaOperation)
        .ignore_then(parts)
        .then(comma(e.any.clone()))
        .map(|((frag, swizzle, is_async), operands)| {
            made(MmaOp::Load { frag, swizzle }, is_async, operands)
        })
        .boxed()
}

/// `.row.col[.async|.scale|.sp] c, a, b[, …]`
fn multiply<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    let order = || {
        choice((
            member("row", Class::MmaOperation).map(|_| true).boxed(),
            member("col", Class::MmaOperation).map(|_| false).boxed(),
        ))
    };
    let suffix = choice((
        member("async", Class::Suffix)
            .map(|_| (true, false, false))
            .boxed(),
        member("scale", Class::Suffix)
            .map(|_| (false, true, false))
            .boxed(),
        member("sp", Class::Suffix)
            .map(|_| (false, false, true))
            .boxed(),
    ));
    order()
        .then(order())
        .then(suffix.repeated().collect::<Vec<_>>())
        .then(spanned(comma(e.any.clone())))
        .validate(
            |(((a_row, b_row), suffixes), (operands, span)), _, emitter| {
                let is_async = suffixes.iter().any(|(is_async, _, _)| *is_async);
                let scale = suffixes.iter().any(|(_, scale, _)| *scale);
                let sparse = suffixes.iter().any(|(_, _, sparse)| *sparse);
                let (least, most, form) = match (scale, sparse) {
                    (true, _) => (5, 5, "c, a, b, row_scales, scale"),
                    (_, true) => (3, 4, "c, a, b, metadata"),
                    _ => (3, 3, "c, a, b"),
                };
                if operands.len() < least || operands.len() > most {
                    emitter.emit(Fault::known(
                        Diagnostic::new(
                            codes::E0100,
                            span,
                            format!(
                                "this multiply takes {least} operands, not {}",
                                operands.len()
                            ),
                        )
                        .label(format!("expected `{form}`"))
                        .help(format!("write `mma.row.row {form};`")),
                    ));
                }
                made(
                    MmaOp::Multiply {
                        a_row,
                        b_row,
                        scale,
                        sparse,
                    },
                    is_async,
                    operands,
                )
            },
        )
        .boxed()
}

/// `.store[.async|.transp|.mask] c, view[, rows[, cols]]`
fn store<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    let suffix = choice((
        member("async", Class::Suffix)
            .map(|_| (true, false, false))
            .boxed(),
        member("transp", Class::Suffix)
            .map(|_| (false, true, false))
            .boxed(),
        member("mask", Class::Suffix)
            .map(|_| (false, false, true))
            .boxed(),
        member("direct", Class::Suffix)
            .validate(|span, _, emitter| {
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        codes::E0119,
                        span,
                        "there is no `mma.store.direct` any more",
                    )
                    .label("removed")
                    .help("write `mma.store`"),
                ));
                (false, false, false)
            })
            .boxed(),
    ));
    member("store", Class::MmaOperation)
        .ignore_then(suffix.repeated().collect::<Vec<_>>())
        .then(comma(e.any.clone()))
        .map(|(suffixes, operands)| {
            let is_async = suffixes.iter().any(|(is_async, _, _)| *is_async);
            let transposed = suffixes.iter().any(|(_, transposed, _)| *transposed);
            let masked = suffixes.iter().any(|(_, _, masked)| *masked);
            made(MmaOp::Store { transposed, masked }, is_async, operands)
        })
        .boxed()
}

/// `.scale c, view, s`
fn scale<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    member("scale", Class::MmaOperation)
        .ignore_then(comma(e.any.clone()))
        .map(|operands| made(MmaOp::Scale, false, operands))
        .boxed()
}

fn commit<'t>() -> Rule<'t, MmaStmt> {
    member("commit", Class::MmaOperation)
        .map(|_| made(MmaOp::Commit, false, Vec::new()))
        .boxed()
}

/// `.wait<N>`, which older programs have.
fn wait_left<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    let has_number = rule(|inp| match ahead(inp) {
        [Some(_), Some(_), Some(open)] if open.kind.is(Punct::Lt) => Ok(()),
        _ => Err(Fault::expected(position(inp), Class::MmaOperation)),
    });
    has_number
        .ignore_then(member("wait", Class::MmaOperation))
        .ignore_then(between(Punct::Lt, e.angle.clone(), Punct::Gt))
        .map(|(left, _)| made(MmaOp::Wait, false, vec![left]))
        .boxed()
}

/// `mma.order`, `mma.wait` without a number, descriptors: removed from the language.
fn removed<'t>(e: &Exprs<'t>) -> Rule<'t, MmaStmt> {
    let old = rule(|inp| {
        let text = match ahead(inp) {
            [Some(dot), Some(next)] if dot.kind.is(Punct::Dot) => {
                kind_text(&next.kind).unwrap_or_default()
            }
            _ => "",
        };
        let help = match text {
            "wait" => "write `mma.commit;`, or name the multiply with `.async` and `wait` it",
            "order" => "write `[[schedule(k_tiles(…))]]` before the multiply",
            "desc" | "descriptor" => "descriptors are made by the compiler: pass the view itself",
            "sync" | "arrive" | "fence" => {
                "the compiler orders multiplies itself; `mma.commit;` finishes those before it"
            }
            _ => return Err(Fault::expected(position(inp), Class::MmaOperation)),
        };
        inp.next_ref();
        let span = inp.next_ref().map_or(Span::default(), |token| token.span);
        inp.emit(Fault::known(
            Diagnostic::new(
                codes::E0119,
                span,
                format!("there is no `mma.{text}` any more"),
            )
            .label("removed")
            .help(help),
        ));
        Ok(span)
    });
    let rest = comma(e.any.clone()).or_not().ignored();
    let angled = between(Punct::Lt, comma(e.angle.clone()), Punct::Gt)
        .or_not()
        .ignored();
    old.then_ignore(angled)
        .then_ignore(rest)
        .map(|span| {
            let lost = expr(ExprKind::Error, span);
            made(MmaOp::Commit, false, vec![lost])
        })
        .boxed()
}

/// `reduce_max(dst, src, 1);` and similar ones, from the call as which they were parsed.
pub fn fragment_operation(call: Expr) -> StmtKind {
    if let ExprKind::Call(inner) = &*call.kind {
        let mut all = FragOp::ALL.into_iter();
        if let Some(op) = all.find(|op| op.text() == inner.callee.text) {
            let op_span = inner.callee.span;
            let args = inner.args.clone();
            return StmtKind::FragOp { op, op_span, args };
        }
    }
    StmtKind::Call(call)
}

/// `[[schedule(k_tiles(2, 0, 1))]]` on a multiply.
pub fn schedule(attribute: &Expr) -> Option<Vec<Expr>> {
    let ExprKind::Call(call) = &*attribute.kind else {
        return None;
    };
    (call.callee.text == "k_tiles").then(|| call.args.clone())
}

pub fn bind(mut mma: MmaStmt, name: Option<Name>) -> MmaStmt {
    mma.target = name;
    mma
}

/// `name = mma.…;` The name of a removed operation is declared with an erroneous value.
pub fn bind_to(mma: MmaStmt, name: Name) -> StmtKind {
    match mma.operands.as_slice() {
        [only] if matches!(*only.kind, ExprKind::Error) => super::parsed::lost(name),
        _ => StmtKind::Mma(bind(mma, Some(name))),
    }
}

pub fn begins_mma(kind: &TokenKind) -> bool {
    kind.is_keyword(Keyword::Mma)
}
