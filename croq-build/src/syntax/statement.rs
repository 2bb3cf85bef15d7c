//! Statements, in the order of the grammar.

use chumsky::prelude::*;

use super::assignment::expression_statement;
use super::ast::{Block, Stmt, StmtKind};
use super::attribute::attributed;
use super::declaration::{self, begins_declaration};
use super::expression::Exprs;
use super::fault::Class;
use super::foreign::{
    begins_like_c, begins_removed, c_control, c_declaration, keyword_as_target, removed,
};
use super::inline::{asm, cpp};
use super::movement::movement;
use super::rule::*;
use super::synchronisation::{swap_or_rotate, sync, trigger, wait};
use super::{control, older, parallel, recovery, tensor};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// The statements of a block or a function body, up to its `}`.
pub fn statements<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Stmt>> {
    let one: Rule<'t, Vec<Stmt>> = recursive(|one| {
        let block = block(one.boxed());
        statement(e, block.clone()).recover_with(via_parser(recovery::recover(block)))
    })
    .boxed();
    many(one)
}

fn many<'t>(one: Rule<'t, Vec<Stmt>>) -> Rule<'t, Vec<Stmt>> {
    one.repeated()
        .collect::<Vec<Vec<Stmt>>>()
        .map(|groups| groups.into_iter().flatten().collect::<Vec<Stmt>>())
        .boxed()
}

/// `{ statements }`, or a single statement.
fn block<'t>(one: Rule<'t, Vec<Stmt>>) -> Rule<'t, Block> {
    let braced = between(Punct::LBrace, many(one.clone()), Punct::RBrace)
        .map(|(stmts, span)| Block { stmts, span });
    let single = recovery::body_statement(one).map(|stmts| {
        let span = stmts
            .iter()
            .map(|stmt| stmt.span)
            .reduce(Span::to)
            .unwrap_or_default();
        Block { stmts, span }
    });
    choice((when(|kind| kind.is(Punct::LBrace), braced), single.boxed())).boxed()
}

fn statement<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, Vec<Stmt>> {
    let one = |rule: Rule<'t, StmtKind>| -> Rule<'t, Vec<Stmt>> {
        super::rule::statement(rule).map(|stmt| vec![stmt]).boxed()
    };
    let simple = |rule: Rule<'t, StmtKind>| one(rule.then_ignore(semi()).boxed());
    let kw = |keyword: Keyword, rule: Rule<'t, Vec<Stmt>>| when_keyword(keyword, rule);
    let free_block = block.clone().map(StmtKind::Block).boxed();
    let c_statement = choice((c_declaration(), one(c_control(block.clone())))).boxed();
    choice((
        when(older::begins, one(older::statement(e))),
        when(begins_removed, removed()),
        simple(declaration::foreign_typed(e)),
        // Names like any other, unless what follows shows a statement of C or `stage<…>`.
        when(begins_like_c, c_statement),
        // The most frequent alternatives first: each is selected by its first token.
        when(begins_expression, expression_statement(e)),
        when(begins_declaration, simple(declaration::declaration(e))),
        when(
            |kind| matches!(kind, TokenKind::Keyword(Keyword::Dma | Keyword::Tma)),
            simple(
                movement(e)
                    .validate(|movement, _, emitter| {
                        movement.bind(None, &mut |fault| emitter.emit(fault))
                    })
                    .boxed(),
            ),
        ),
        when(
            begins_block,
            choice((
                kw(Keyword::Foreach, one(control::foreach(e, block.clone()))),
                kw(Keyword::If, one(control::condition(e, block.clone()))),
                kw(
                    Keyword::Parallel,
                    one(parallel::parallel(e, block.clone())
                        .map(StmtKind::Parallel)
                        .boxed()),
                ),
                kw(Keyword::With, one(control::with(e, block.clone()))),
                kw(
                    Keyword::Inthreads,
                    one(control::inthreads(e, block.clone())),
                ),
                kw(Keyword::While, one(control::while_loop(e, block.clone()))),
                kw(Keyword::Apply, one(control::apply(block.clone()))),
                kw(Keyword::Else, one(control::stray_else(block.clone()))),
            )),
        ),
        when(
            |kind| matches!(kind, TokenKind::Keyword(_)),
            choice((
                kw(
                    Keyword::Mma,
                    simple(tensor::mma(e).map(StmtKind::Mma).boxed()),
                ),
                kw(Keyword::Wait, simple(wait(e))),
                kw(Keyword::Trigger, simple(trigger(e))),
                kw(Keyword::Sync, simple(sync())),
                kw(Keyword::Swap, simple(swap_or_rotate(Keyword::Swap))),
                kw(Keyword::Rotate, simple(swap_or_rotate(Keyword::Rotate))),
                kw(
                    Keyword::Call,
                    simple(e.any.clone().map(StmtKind::Call).boxed()),
                ),
                kw(Keyword::Return, simple(return_statement(e))),
                kw(
                    Keyword::Break,
                    simple(lone(Keyword::Break, StmtKind::Break)),
                ),
                kw(
                    Keyword::Continue,
                    simple(lone(Keyword::Continue, StmtKind::Continue)),
                ),
                kw(
                    Keyword::Yield,
                    simple(lone(Keyword::Yield, StmtKind::Yield)),
                ),
                kw(Keyword::Cpp, simple(cpp())),
                kw(Keyword::Asm, simple(asm(e))),
                kw(Keyword::Goto, one(c_control(block.clone()))),
            )),
        ),
        choice((
            when(
                |kind| kind.is(Punct::Semi),
                one(punct(Punct::Semi).map(|_| StmtKind::Empty).boxed()),
            ),
            when(|kind| kind.is(Punct::LBrace), one(free_block)),
            when(
                |kind| kind.is(Punct::LBracket),
                one(attributed(e, block.clone())),
            ),
            c_declaration(),
            keyword_as_target(e),
            accept(Class::Statement, |_| None),
        ))
        .boxed(),
    ))
    .boxed()
}

fn lone<'t>(word: Keyword, kind: StmtKind) -> Rule<'t, StmtKind> {
    keyword(word, Class::Statement).to(kind).boxed()
}

fn begins_block(kind: &TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Keyword(
            Keyword::Foreach
                | Keyword::If
                | Keyword::Parallel
                | Keyword::With
                | Keyword::Inthreads
                | Keyword::While
                | Keyword::Apply
                | Keyword::Else
        )
    )
}

fn begins_expression(kind: &TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Word(_)
            | TokenKind::Punct(
                Punct::PlusPlus
                    | Punct::MinusMinus
                    | Punct::LParen
                    | Punct::Amp
                    | Punct::Star
                    | Punct::Hash,
            )
            | TokenKind::Keyword(Keyword::Select)
    )
}

fn return_statement<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    keyword(Keyword::Return, Class::Statement)
        .ignore_then(e.any.clone().or_not())
        .map(StmtKind::Return)
        .boxed()
}
