//! Statements in an older form, which mean what the newer form means.

use chumsky::prelude::*;

use super::ast::{Block, Expr, ExprKind, FragOp, MmaOp, Name, Stmt, StmtKind};
use super::declaration;
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::parsed::Prefix;
use super::rule::*;
use super::tensor;
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
        computed(e),
        moved(e),
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
    on_fragment("apply")
        .ignore_then(name())
        .then(function(e))
        .validate(|(frag, function), _, emitter| {
            let applied = function.applied(frag.clone(), &frag);
            applied.unwrap_or_else(|hidden| {
                emitter.emit(Fault::known(*hidden));
                StmtKind::Error
            })
        })
        .boxed()
}

/// `frag.copy to, from, [](i) { return e; }` and the same of `frag.load` and `frag.store`: each element of
/// `to` gets what the function returns. A store goes through the elements of its fragment.
fn computed<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let statement = |word: &'static str, to_memory: bool| {
        on_fragment(word)
            .ignore_then(name())
            .then_ignore(punct(Punct::Comma))
            .then(name())
            .then(function(e))
            .validate(move |((to, from), function), _, emitter| {
                let frag = if to_memory { from } else { to.clone() };
                let applied = function.applied(frag, &to);
                applied.unwrap_or_else(|hidden| {
                    emitter.emit(Fault::known(*hidden));
                    StmtKind::Error
                })
            })
            .boxed()
    };
    choice((
        statement("copy", false),
        statement("load", false),
        statement("store", true),
    ))
    .boxed()
}

/// `frag.store to, from`, which is `mma.store from, to`, and `frag.load to, from`, which is
/// `mma.load from, to`.
fn moved<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let statement = |word: &'static str, op: MmaOp| {
        on_fragment(word)
            .ignore_then(e.any.clone())
            .then_ignore(punct(Punct::Comma))
            .then(e.any.clone())
            // The destination is first here, and last there.
            .map(move |(to, from)| StmtKind::Mma(tensor::made(op.clone(), false, vec![from, to])))
            .boxed()
    };
    let store = MmaOp::Store {
        transposed: false,
        masked: false,
    };
    let load = MmaOp::Load {
        frag: false,
        swizzle: None,
    };
    choice((statement("store", store), statement("load", load))).boxed()
}

/// `, [](i, j) { return e; }`
struct Function {
    names: Vec<Name>,
    value: Expr,
    span: Span,
}

impl Function {
    /// Applied to each element of a fragment: what it returns is assigned to that element of `to`.
    fn applied(self, frag: Name, to: &Name) -> Result<StmtKind, Box<Diagnostic>> {
        let (names, span) = (self.names, self.span);
        if let Some(index) = names.iter().find(|name| name.text == to.text) {
            return Err(Box::new(index_of_that_name(to, index)));
        }
        let assigned = StmtKind::Assign {
            target: element_of(to, &names),
            op: None,
            value: self.value,
        };
        let stmts = vec![Stmt {
            kind: assigned,
            span,
        }];
        let body = Block { stmts, span };
        Ok(StmtKind::Apply { names, frag, body })
    }
}

fn function<'t>(e: &Exprs<'t>) -> Rule<'t, Function> {
    let captures = punct(Punct::LBracket).then(punct(Punct::RBracket));
    let value = keyword(Keyword::Return, Class::Statement)
        .ignore_then(e.any.clone())
        .then_ignore(semi())
        .boxed();
    punct(Punct::Comma)
        .then(captures)
        .ignore_then(parens(comma(declared())))
        .then(between(Punct::LBrace, value, Punct::RBrace))
        .map(|((names, _), (value, span))| Function { names, value, span })
        .boxed()
}

/// In the function the name is that of the index.
fn index_of_that_name(frag: &Name, index: &Name) -> Diagnostic {
    let text = format!(
        "in this function `{}` is an index, not the tile of that name",
        index.text
    );
    Diagnostic::new(codes::E0203, index.span, text)
        .label("hides the tile")
        .also(frag.span, "the tile")
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
