//! Statements in an older form, which mean what the newer form means.

use chumsky::prelude::*;

use super::ast::{Block, Expr, ExprKind, FragOp, MmaOp, MmaStmt, Name, Stmt, StmtKind};
use super::copy_modifiers::number_in_parentheses;
use super::declaration;
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::parsed::Prefix;
use super::rule::*;
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// The first words of these statements. They may begin other statements, too.
pub fn begins(kind: &TokenKind) -> bool {
    kind.is_keyword(Keyword::Frag) || matches!(kind.word(), Some("fragment" | "launch_bounds"))
}

pub fn statement<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let declaration = declaration::frag(e).validate(|parsed, _, emitter| {
        parsed.into_kind(Prefix::default(), &mut |fault| emitter.emit(fault))
    });
    choice((
        when(|kind| kind.word() == Some("fragment"), declaration),
        apply(e),
        operation(e, FragOp::Copy),
        operation(e, FragOp::ReduceMax),
        operation(e, FragOp::ReduceSum),
        store(e),
        launch_bounds(e),
    ))
    .then_ignore(semi())
    .boxed()
}

/// `frag.text`
fn on_fragment<'t>(text: &'static str) -> Rule<'t, Span> {
    keyword(Keyword::Frag, Class::Statement)
        .then(member(text, Class::Statement))
        .map(|(frag, text)| frag.to(text))
        .boxed()
}

/// `frag.apply t, [](i, j) { return e; }`, which is `apply {i, j} in t.span { t.at(i, j) = e; }`.
fn apply<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let captures = punct(Punct::LBracket).then(punct(Punct::RBracket));
    let value = keyword(Keyword::Return, Class::Statement)
        .ignore_then(e.any.clone())
        .then_ignore(semi())
        .boxed();
    on_fragment("apply")
        .ignore_then(name())
        .then_ignore(punct(Punct::Comma).then(captures))
        .then(parens(comma(declared())))
        .then(between(Punct::LBrace, value, Punct::RBrace))
        .map(|((frag, (names, _)), (value, span))| {
            let element = element_of(&frag, &names);
            let assigned = StmtKind::Assign {
                target: element,
                op: None,
                value,
            };
            let stmts = vec![Stmt {
                kind: assigned,
                span,
            }];
            let body = Block { stmts, span };
            StmtKind::Apply { names, frag, body }
        })
        .boxed()
}

fn element_of(frag: &Name, indices: &[Name]) -> Expr {
    let of = |name: &Name| expr(ExprKind::Name(name.text.clone()), name.span);
    let at = indices.iter().map(of).collect();
    expr(ExprKind::At(of(frag), at), frag.span)
}

/// `frag.copy to, from`, `frag.reduce_max from, to, axis`; not `frag.copy(to, from)`, which no program
/// had.
fn operation<'t>(e: &Exprs<'t>, op: FragOp) -> Rule<'t, StmtKind> {
    without_parentheses()
        .ignore_then(on_fragment(op.text()))
        .then(comma(e.any.clone()))
        .map(move |(op_span, mut args)| {
            // A reduction names its source first here.
            if op != FragOp::Copy && args.len() >= 2 {
                args.swap(0, 1);
            }
            StmtKind::FragOp { op, op_span, args }
        })
        .boxed()
}

/// `frag.store to, from;`, which is `mma.store from, to;`.
fn store<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    without_parentheses()
        .ignore_then(on_fragment("store"))
        .ignore_then(e.any.clone())
        .then_ignore(punct(Punct::Comma))
        .then(e.any.clone())
        .map(|(to, from)| {
            StmtKind::Mma(MmaStmt {
                target: None,
                op: MmaOp::Store {
                    transposed: false,
                    masked: false,
                },
                is_async: false,
                operands: vec![from, to],
                k_tiles: None,
            })
        })
        .boxed()
}

/// Fails before `frag.text(`.
fn without_parentheses<'t>() -> Rule<'t, ()> {
    rule(|inp| match ahead(inp) {
        [_, _, _, Some(open)] if open.kind.is(Punct::LParen) => {
            Err(Fault::expected(position(inp), Class::Statement))
        }
        _ => Ok(()),
    })
}

/// `launch_bounds(7);` in a kernel: how many blocks a multiprocessor should hold.
fn launch_bounds<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let word = rule(|inp| match ahead(inp) {
        [Some(first)] if first.kind.word() == Some("launch_bounds") => {
            inp.next_ref();
            Ok(())
        }
        _ => Err(Fault::expected(position(inp), Expected::default())),
    });
    word.ignore_then(number_in_parentheses(e))
        .map(|(blocks, _)| StmtKind::LaunchBounds(blocks))
        .boxed()
}
