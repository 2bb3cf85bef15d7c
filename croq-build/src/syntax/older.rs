//! Statements in an older form, which mean what the newer form means.

use chumsky::prelude::*;

use super::ast::{Block, Expr, ExprKind, FragOp, Name, Stmt, StmtKind};
use super::declaration;
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::parsed::Prefix;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// The first words of these statements. They may begin other statements, too.
pub fn begins(kind: &TokenKind) -> bool {
    kind.is_keyword(Keyword::Frag) || kind.word() == Some("fragment")
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
        .validate(|((frag, (names, _)), (value, span)), _, emitter| {
            if let Some(index) = names.iter().find(|name| name.text == frag.text) {
                emitter.emit(Fault::known(index_of_that_name(&frag, index)));
                return StmtKind::Error;
            }
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

/// In the function the name is that of the index.
fn index_of_that_name(frag: &Name, index: &Name) -> Diagnostic {
    let text = format!(
        "in this function `{}` is an index, not the fragment",
        index.text
    );
    Diagnostic::new(codes::E0203, index.span, text)
        .label("hides the fragment")
        .also(frag.span, "the fragment")
        .help("give the index another name")
}

fn element_of(frag: &Name, indices: &[Name]) -> Expr {
    let of = |name: &Name| expr(ExprKind::Name(name.text.clone()), name.span);
    let at = indices.iter().map(of).collect();
    expr(ExprKind::At(of(frag), at), frag.span)
}

/// `frag.copy to, from`, `frag.reduce_max from, to, axis`; not `frag.copy(to, from)`, which no program
/// had.
fn operation<'t>(e: &Exprs<'t>, op: FragOp) -> Rule<'t, StmtKind> {
    let without_parentheses = rule(|inp| match ahead(inp) {
        [_, _, _, Some(open)] if open.kind.is(Punct::LParen) => {
            Err(Fault::expected(position(inp), Class::Statement))
        }
        _ => Ok(()),
    });
    without_parentheses
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
