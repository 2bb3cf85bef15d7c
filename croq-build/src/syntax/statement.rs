//! Statements, in the order of the grammar.

use chumsky::prelude::*;

use super::ast::{
    AsmOperand, AsmStmt, BinOp, Block, Expr, ExprKind, Name, ParallelAttr, Stmt, StmtKind, Storage,
};
use super::declaration::{self, begins_declaration};
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::movement::{Movement, movement};
use super::rule::*;
use super::{control, parallel, recovery, tensor};
use crate::diagnostics::{self, Diagnostic};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// The statements of a block or a function body, up to its `}`.
pub fn statements<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Stmt>> {
    let mut block = Recursive::declare();
    let block_rule: Rule<'t, Block> = block.clone().boxed();
    let statement: Rule<'t, Vec<Stmt>> = statement(e, block_rule.clone());
    let recovered = statement
        .clone()
        .recover_with(via_parser(recovery::recover(block_rule)))
        .boxed();
    let many = recovered
        .clone()
        .repeated()
        .collect::<Vec<Vec<Stmt>>>()
        .map(|groups| groups.into_iter().flatten().collect::<Vec<Stmt>>())
        .boxed();
    let braced = between(Punct::LBrace, many.clone(), Punct::RBrace)
        .map(|(stmts, span)| Block { stmts, span });
    let single = recovery::body_statement(recovered).map(|stmts| {
        let span = stmts
            .iter()
            .map(|stmt| stmt.span)
            .reduce(Span::to)
            .unwrap_or_default();
        Block { stmts, span }
    });
    block.define(choice((
        when(|kind| kind.is(Punct::LBrace), braced),
        single.boxed(),
    )));
    many
}

fn statement<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, Vec<Stmt>> {
    let one = |rule: Rule<'t, StmtKind>| -> Rule<'t, Vec<Stmt>> {
        super::rule::statement(rule).map(|stmt| vec![stmt]).boxed()
    };
    let simple = |rule: Rule<'t, StmtKind>| one(rule.then_ignore(semi()).boxed());
    let kw = |keyword: Keyword, rule: Rule<'t, Vec<Stmt>>| when_keyword(keyword, rule);
    let free_block = block.clone().map(StmtKind::Block).boxed();
    choice((
        // The likeliest first: each is entered by its first token alone.
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
                kw(Keyword::Goto, one(control::c_control(block.clone()))),
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
            one(control::c_control(block)),
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

/// Words of C that begin nothing here are left to their own messages.
fn begins_expression(kind: &TokenKind) -> bool {
    match kind {
        TokenKind::Word(text) => !matches!(
            &**text,
            "for"
                | "do"
                | "switch"
                | "const"
                | "constexpr"
                | "static"
                | "unsigned"
                | "signed"
                | "long"
                | "short"
                | "char"
                | "size_t"
                | "struct"
                | "class"
                | "union"
                | "enum"
                | "typedef"
                | "using"
                | "template"
                | "case"
                | "default"
                | "stage"
        ),
        TokenKind::Punct(
            Punct::PlusPlus
            | Punct::MinusMinus
            | Punct::LParen
            | Punct::Amp
            | Punct::Star
            | Punct::Hash,
        ) => true,
        TokenKind::Keyword(Keyword::Select) => true,
        _ => false,
    }
}

/// What follows the operand that a statement begins with.
enum Rest {
    Shape(Expr),
    Assign(Option<BinOp>, Value),
    Nothing,
}

/// The right side of an assignment.
enum Value {
    Expr(Expr),
    Movement(Movement),
    Mma(super::ast::MmaStmt),
    Map {
        source: Expr,
        remap: bool,
        storage: Storage,
        args: Vec<Expr>,
    },
}

/// `x = e, y = f;`, `x : s;`, `x.at(i) += e;`, `f(x);`, `++x;`
fn expression_statement<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Stmt>> {
    let more = punct(Punct::Comma).ignore_then(assignment(e));
    assignment(e)
        .then(more.repeated().collect::<Vec<_>>())
        .then_ignore(semi())
        .map(|(first, more)| std::iter::once(first).chain(more).collect())
        .boxed()
}

fn assignment<'t>(e: &Exprs<'t>) -> Rule<'t, Stmt> {
    let target = choice((
        when(
            |kind| {
                matches!(
                    kind,
                    TokenKind::Punct(
                        Punct::PlusPlus
                            | Punct::MinusMinus
                            | Punct::Amp
                            | Punct::Star
                            | Punct::Hash
                    )
                )
            },
            no_pointers().ignore_then(e.any.clone()),
        ),
        e.operand.clone(),
    ));
    let shape = punct(Punct::Colon)
        .ignore_then(e.shape.clone())
        .map(Rest::Shape);
    let assign = assign_operator()
        .then(value(e))
        .map(|(op, value)| Rest::Assign(op, value));
    let rest = choice((
        shape.boxed(),
        assign.boxed(),
        // Where the statement ends; anything else is told what could have followed.
        empty().map(|()| Rest::Nothing).boxed(),
    ));
    let parsed = target.then(rest).boxed();
    spanned(parsed)
        .validate(|((target, rest), span), _, emitter| {
            let kind = assemble(target, rest, &mut |fault| emitter.emit(fault));
            Stmt { kind, span }
        })
        .boxed()
}

/// `*p = …`
fn no_pointers<'t>() -> Rule<'t, ()> {
    rule(|inp| {
        if let Some(token) = inp.peek_ref()
            && token.kind.is(Punct::Star)
        {
            inp.next_ref();
            inp.emit(Fault::known(
                Diagnostic::new("E0126", token.span, "there are no pointers")
                    .label("not an operator here")
                    .help("an element of a buffer is `x.at(i, j)`"),
            ));
        }
        Ok(())
    })
}

fn assign_operator<'t>() -> Rule<'t, Option<BinOp>> {
    accept(Punct::Eq, |token| {
        let TokenKind::Punct(punct) = token.kind else {
            return None;
        };
        Some(match punct {
            Punct::Eq => (None, None),
            Punct::PlusEq => (Some(BinOp::Add), None),
            Punct::MinusEq => (Some(BinOp::Sub), None),
            Punct::StarEq => (Some(BinOp::Mul), None),
            Punct::SlashEq => (Some(BinOp::Div), None),
            Punct::PercentEq => (Some(BinOp::Rem), None),
            Punct::AmpEq => (Some(BinOp::And), Some(token.span)),
            Punct::PipeEq => (Some(BinOp::Or), Some(token.span)),
            Punct::CaretEq => (Some(BinOp::Xor), Some(token.span)),
            Punct::ShlEq => (Some(BinOp::Shl), Some(token.span)),
            Punct::ShrEq => (Some(BinOp::Shr), Some(token.span)),
            _ => return None,
        })
    })
    .map_with(|found, e| (found, e.state().0.file))
    .validate(|((op, unsupported), file), _, emitter| {
        if let Some(span) = unsupported {
            let text = file.snippet(span);
            let plain = text.trim_end_matches('=');
            emitter.emit(Fault::known(
                Diagnostic::new("E0126", span, format!("there is no operator `{text}`"))
                    .label("not part of the language")
                    .help(format!("write `x = x {plain} e`")),
            ));
        }
        op
    })
    .boxed()
}

fn value<'t>(e: &Exprs<'t>) -> Rule<'t, Value> {
    let map = rule(|inp| {
        let at = position(inp);
        let text = match ahead(inp) {
            [Some(dot), Some(next)] if dot.kind.is(Punct::Dot) => {
                next.kind.word().unwrap_or_default()
            }
            _ => "",
        };
        if text != "map" && text != "remap" {
            return Err(Fault::expected(at, Expected::default()));
        }
        inp.next_ref();
        inp.next_ref();
        Ok(text == "remap")
    })
    .then(between(Punct::Lt, storage_word(), Punct::Gt))
    .then(parens(comma(e.any.clone())));
    let plain = declaration::with_derivation(choice((placeholder(), e.any.clone())).boxed(), e)
        .then(map.or_not())
        .map(|(source, map)| match map {
            None => Value::Expr(source),
            Some(((remap, ((storage, _), _)), (args, _))) => Value::Map {
                source,
                remap,
                storage,
                args,
            },
        });
    choice((
        when(
            |kind| matches!(kind, TokenKind::Keyword(Keyword::Dma | Keyword::Tma)),
            movement(e).map(Value::Movement),
        ),
        when(tensor::begins_mma, tensor::mma(e).map(Value::Mma)),
        plain.boxed(),
    ))
    .boxed()
}

/// `x = _;`, which the next stage has its own words for.
fn placeholder<'t>() -> Rule<'t, Expr> {
    rule(|inp| match ahead(inp) {
        [Some(token), Some(next)]
            if token.kind.word() == Some("_") && next.kind.is(Punct::Semi) =>
        {
            inp.next_ref();
            Ok(expr(ExprKind::Wildcard, token.span))
        }
        _ => Err(Fault::expected(position(inp), Class::Expression)),
    })
}

fn assemble(target: Expr, rest: Rest, emit: &mut dyn FnMut(Fault)) -> StmtKind {
    let named = match &*target.kind {
        ExprKind::Name(text) => Some(Name {
            text: text.clone(),
            span: target.span,
        }),
        _ => None,
    };
    match rest {
        Rest::Nothing => match *target.kind {
            ExprKind::Increment { by, target, .. } => StmtKind::Increment { target, by },
            ExprKind::Call(_) => tensor::fragment_operation(target),
            // `f(x);` with a name that nothing tells to be a function.
            ExprKind::Element(callee, arg) => match *callee.kind {
                ExprKind::Name(text) => {
                    let callee = Name {
                        text,
                        span: callee.span,
                    };
                    let kind = super::ast::CallKind::Plain;
                    let call = super::ast::CallExpr {
                        kind,
                        callee,
                        targs: Vec::new(),
                        args: vec![arg],
                    };
                    StmtKind::Call(expr(ExprKind::Call(call), target.span))
                }
                _ => useless(target.span, emit),
            },
            ExprKind::Error => StmtKind::Error,
            ExprKind::Name(text) => {
                let mut diagnostic =
                    Diagnostic::new("E0100", target.span, format!("`{text}` alone does nothing"))
                        .label("not a statement");
                let keywords = Keyword::ALL.iter().map(|keyword| keyword.text());
                if let Some(near) = diagnostics::nearest(&text, keywords) {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                }
                emit(Fault::known(diagnostic));
                StmtKind::Error
            }
            _ => useless(target.span, emit),
        },
        Rest::Shape(value) => match named {
            Some(name) => {
                check_declared(&name, emit);
                StmtKind::Mdspan {
                    rank: None,
                    name,
                    value,
                }
            }
            None => {
                emit(Fault::known(
                    Diagnostic::new(
                        "E0100",
                        target.span,
                        "only a name can be declared as a shape",
                    )
                    .label("expected a name")
                    .help("write `name : [a, b];`"),
                ));
                StmtKind::Error
            }
        },
        Rest::Assign(op, value) => {
            if let Some(name) = &named {
                check_declared(name, emit);
            } else if matches!(&*target.kind, ExprKind::Wildcard) {
                return StmtKind::Error;
            }
            assign(target, named, op, value, emit)
        }
    }
}

/// A name on the left may be declared by the assignment. `_` was reported as it was read.
fn check_declared(name: &Name, emit: &mut dyn FnMut(Fault)) {
    if let Some(fault) = unfit(name) {
        emit(fault);
    }
}

fn useless(span: Span, emit: &mut dyn FnMut(Fault)) -> StmtKind {
    emit(Fault::known(
        Diagnostic::new("E0100", span, "this value is not used")
            .label("an expression is no statement")
            .help("assign it: `x = …;`"),
    ));
    StmtKind::Error
}

fn assign(
    target: Expr,
    named: Option<Name>,
    op: Option<BinOp>,
    value: Value,
    emit: &mut dyn FnMut(Fault),
) -> StmtKind {
    let unnamed = |emit: &mut dyn FnMut(Fault), what: &str| {
        emit(Fault::known(
            Diagnostic::new(
                "E0100",
                target.span,
                format!("{what} is bound to a name by `=`"),
            )
            .label("expected a name and `=`")
            .help("write `f = …;`"),
        ));
        StmtKind::Error
    };
    match value {
        Value::Expr(value) => match (named, op, &*value.kind) {
            (Some(name), None, ExprKind::List(_)) => {
                emit(Fault::known(
                    Diagnostic::new("E0312", value.span, "a shape is declared with `:`")
                        .label("this is a shape")
                        .help(format!("write `{} : […];`", name.text)),
                ));
                StmtKind::Mdspan {
                    rank: None,
                    name,
                    value,
                }
            }
            (_, op, _) => StmtKind::Assign { target, op, value },
        },
        Value::Movement(movement) => match (named, op) {
            (Some(name), None) => movement.bind(Some(name), emit),
            _ => unnamed(emit, "a copy"),
        },
        Value::Mma(mma) => match (named, op) {
            (Some(name), None) => StmtKind::Mma(tensor::bind(mma, Some(name))),
            _ => unnamed(emit, "a fragment"),
        },
        Value::Map {
            source,
            remap,
            storage,
            args,
        } => match (named, op) {
            (Some(name), None) => StmtKind::Map {
                name,
                source,
                remap,
                storage,
                args,
            },
            _ => unnamed(emit, "a mapping"),
        },
    }
}

/// `wait a, b[s];`
fn wait<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let phase = rule(|inp| {
        if is_member(inp, |kind| kind.word() == Some("phase")) {
            inp.next_ref();
            let span = inp.next_ref().map_or(Span::default(), |token| token.span);
            inp.emit(Fault::known(
                Diagnostic::new("E0119", span, "there is no `wait.phase` any more")
                    .label("removed")
                    .help("write `wait event;`: the compiler keeps the phase"),
            ));
        }
        Ok(())
    });
    keyword(Keyword::Wait, Class::Statement)
        .ignore_then(phase)
        .ignore_then(comma(e.any.clone()))
        .map(StmtKind::Wait)
        .boxed()
}

/// `trigger[.cluster] e after f;`
fn trigger<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let scope = punct(Punct::Dot)
        .ignore_then(accept(Class::Name, |token| {
            Some((kind_text(&token.kind)?.to_string(), token.span))
        }))
        .validate(|(text, span), _, emitter| {
            if text != "cluster" {
                emitter.emit(Fault::known(
                    Diagnostic::new("E0114", span, format!("a trigger has no scope `{text}`"))
                        .label("unknown scope")
                        .help("write `trigger e;` or `trigger.cluster e;`"),
                ));
            }
            text == "cluster"
        });
    let after = word("after", Class::Suffix).ignore_then(comma(name()));
    keyword(Keyword::Trigger, Class::Statement)
        .ignore_then(scope.or_not())
        .then(comma(e.any.clone()))
        .then(when(|kind| kind.word() == Some("after"), after).or_not())
        .map(|((cluster, events), after)| StmtKind::Trigger {
            cluster: cluster.unwrap_or(false),
            events,
            after: after.unwrap_or_default(),
        })
        .boxed()
}

/// `sync.shared`, `sync.barrier : block`, `sync.fence : group <shared>`
fn sync<'t>() -> Rule<'t, StmtKind> {
    let storage = rule(|inp| {
        let at = position(inp);
        let found = match ahead(inp) {
            [Some(dot), Some(next)] if dot.kind.is(Punct::Dot) => storage_of(&next.kind),
            _ => None,
        };
        let Some(storage) = found else {
            return Err(Fault::expected(at, Class::SyncKind));
        };
        inp.next_ref();
        inp.next_ref();
        Ok(StmtKind::SyncStorage(storage))
    });
    let barrier = member("barrier", Class::SyncKind)
        .then_ignore(punct(Punct::Colon))
        .ignore_then(parallel::bare_level())
        .map(StmtKind::SyncBarrier);
    let scope = between(Punct::Lt, storage_word(), Punct::Gt).map(|((storage, _), _)| storage);
    let fence = member("fence", Class::SyncKind)
        .then_ignore(punct(Punct::Colon))
        .ignore_then(parallel::bare_level())
        .then(scope.or_not())
        .map(|(level, storage)| StmtKind::SyncFence(level, storage));
    keyword(Keyword::Sync, Class::Statement)
        .ignore_then(choice((storage, barrier.boxed(), fence.boxed())))
        .boxed()
}

fn swap_or_rotate<'t>(which: Keyword) -> Rule<'t, StmtKind> {
    let names = choice((
        when(|kind| kind.is(Punct::LParen), parens(comma(name()))),
        spanned(comma(name())),
    ));
    keyword(which, Class::Statement)
        .ignore_then(names)
        .validate(move |(names, span), _, emitter| {
            let count = names.len();
            let fits = if which == Keyword::Swap {
                count == 2
            } else {
                count >= 2
            };
            if !fits {
                let (takes, help) = match which {
                    Keyword::Swap => (
                        "exactly two futures",
                        "write `swap(a, b);`; `rotate(a, b, c)` takes more",
                    ),
                    _ => ("at least two futures", "write `rotate(a, b, c);`"),
                };
                let word = which.text();
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        "E0122",
                        span,
                        format!("`{word}` takes {takes}, not {count}"),
                    )
                    .label(format!("{count} given"))
                    .help(help),
                ));
                return StmtKind::Error;
            }
            match which {
                Keyword::Swap => StmtKind::Swap { names },
                _ => StmtKind::Rotate { names },
            }
        })
        .boxed()
}

fn return_statement<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    keyword(Keyword::Return, Class::Statement)
        .ignore_then(e.any.clone().or_not())
        .map(StmtKind::Return)
        .boxed()
}

/// `__cpp__("text")`
fn cpp<'t>() -> Rule<'t, StmtKind> {
    keyword(Keyword::Cpp, Class::Statement)
        .ignore_then(parens(text()))
        .map(|(text, _)| StmtKind::Cpp(text))
        .boxed()
}

/// `__asm__ volatile ("…" : outs : ins : clobbers)`
fn asm<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let qualifier = rule(|inp| {
        let Some(token) = inp.peek_ref() else {
            return Err(Fault::expected(position(inp), Punct::LParen));
        };
        match kind_text(&token.kind) {
            Some("volatile" | "__volatile__") => {
                inp.next_ref();
                Ok(true)
            }
            Some("goto") => {
                inp.next_ref();
                inp.emit(Fault::known(
                    Diagnostic::new("E0790", token.span, "`asm goto` is not supported")
                        .label("can't jump out of the text")
                        .help("set an output instead, and test it with `if`"),
                ));
                Ok(false)
            }
            _ => Err(Fault::expected(position(inp), Punct::LParen)),
        }
    })
    .repeated()
    .collect::<Vec<bool>>();
    let template = choice((
        text(),
        rule(|inp| {
            let Some(token) = inp.peek_ref() else {
                return Err(Fault::expected(position(inp), Class::Text));
            };
            inp.emit(Fault::known(
                Diagnostic::new("E0121", token.span, "inline assembly begins with its text")
                    .label("expected a string")
                    .help("write `__asm__(\"instruction %0;\" : \"=r\"(x))`"),
            ));
            // Something else stands where the text should.
            if !matches!(token.kind, TokenKind::Punct(_)) {
                inp.next_ref();
            }
            Ok(String::new())
        }),
    ));
    let operand_name = between(Punct::LBracket, name(), Punct::RBracket).map(|(name, _)| name);
    let operand_value = choice((
        parens(e.any.clone()).map(|(value, _)| value).boxed(),
        rule(|inp| {
            let at = position(inp);
            let Some(token) = inp.peek_ref() else {
                return Err(Fault::expected(at, Punct::LParen));
            };
            inp.emit(Fault::known(
                Diagnostic::new(
                    "E0121",
                    token.span,
                    "an operand of inline assembly needs a value",
                )
                .label("expected `(value)` after the constraint")
                .help("write `\"r\"(x)`"),
            ));
            // `"r" x`: the value stands there, without its parentheses.
            if token.kind.word().is_some() {
                inp.next_ref();
            }
            Ok(expr(ExprKind::Error, token.span))
        }),
    ));
    let operand = operand_name
        .or_not()
        .then(text())
        .then(operand_value)
        .map(|((name, constraint), value)| AsmOperand {
            name,
            constraint,
            value,
        })
        .boxed();
    let operands = || {
        operand
            .clone()
            .separated_by(punct(Punct::Comma))
            .collect::<Vec<_>>()
    };
    let clobber = accept(Class::Text, |token| match &token.kind {
        TokenKind::Str(text) => Some(text.to_string()),
        _ => None,
    });
    let clobbers = clobber
        .separated_by(punct(Punct::Comma))
        .collect::<Vec<_>>();
    // `::` leaves the list between out.
    let colon = || punct(Punct::Colon);
    let after_inputs = colon()
        .ignore_then(clobbers.clone())
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed();
    let inputs = operands().then(after_inputs);
    let inputs = choice((
        colon().ignore_then(inputs.clone()).boxed(),
        punct(Punct::ColonColon)
            .ignore_then(clobbers)
            .map(|clobbers| (Vec::new(), clobbers))
            .boxed(),
    ));
    let outputs = operands()
        .then(inputs.or_not().map(Option::unwrap_or_default))
        .boxed();
    let sections = choice((
        colon().ignore_then(outputs).boxed(),
        punct(Punct::ColonColon)
            .ignore_then(
                operands().then(
                    colon()
                        .ignore_then(
                            accept(Class::Text, |token| match &token.kind {
                                TokenKind::Str(text) => Some(text.to_string()),
                                _ => None,
                            })
                            .separated_by(punct(Punct::Comma))
                            .collect::<Vec<_>>(),
                        )
                        .or_not()
                        .map(Option::unwrap_or_default),
                ),
            )
            .map(|inputs| (Vec::new(), inputs))
            .boxed(),
    ))
    .or_not()
    .map(Option::unwrap_or_default);
    keyword(Keyword::Asm, Class::Statement)
        .ignore_then(qualifier)
        .then(parens(template.then(sections).boxed()))
        .map(
            |(qualifiers, ((template, (outputs, (inputs, clobbers))), _))| {
                let volatile = qualifiers.contains(&true);
                StmtKind::Asm(AsmStmt {
                    volatile,
                    template,
                    outputs,
                    inputs,
                    clobbers,
                })
            },
        )
        .boxed()
}

/// `[[launch_bounds(…)]] parallel …`, `[[schedule(k_tiles(…))]] mma.row.row …;`
fn attributed<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    let attrs = parallel::attributes(e);
    let on_parallel = when_keyword(
        Keyword::Parallel,
        parallel::parallel(e, block).map(StmtKind::Parallel),
    );
    let bound = name().then_ignore(punct(Punct::Eq)).or_not();
    let bound = rule(|inp| match ahead(inp) {
        [Some(first), _, _] if first.kind.is_keyword(Keyword::Mma) => Ok(()),
        [Some(_), Some(second), Some(third)]
            if second.kind.is(Punct::Eq) && third.kind.is_keyword(Keyword::Mma) =>
        {
            Ok(())
        }
        _ => Err(Fault::expected(position(inp), Expected::default())),
    })
    .ignore_then(bound);
    let on_mma = bound
        .then(tensor::mma(e))
        .then_ignore(semi())
        .map(|(name, mma)| StmtKind::Mma(tensor::bind(mma, name)));
    attrs
        .then(choice((on_parallel, on_mma.boxed(), not_for_attributes())))
        .validate(|(attrs, kind), _, emitter| attach(attrs, kind, &mut |fault| emitter.emit(fault)))
        .boxed()
}

/// Attributes before anything else: the statement follows by itself.
fn not_for_attributes<'t>() -> Rule<'t, StmtKind> {
    empty().map(|()| StmtKind::Error).boxed()
}

fn attach(attrs: Vec<ParallelAttr>, kind: StmtKind, emit: &mut dyn FnMut(Fault)) -> StmtKind {
    match kind {
        StmtKind::Parallel(mut parallel) => {
            parallel.attrs = super::parallel::fit_attributes(
                attrs,
                &["launch_bounds", "maxnreg"],
                "`parallel`",
                emit,
            );
            StmtKind::Parallel(parallel)
        }
        StmtKind::Mma(mut mma) => {
            for attr in super::parallel::fit_attributes(attrs, &["schedule"], "`mma`", emit) {
                let order = match attr.args.as_slice() {
                    [only] => tensor::schedule(only),
                    _ => None,
                };
                let Some(order) = order else {
                    emit(Fault::known(
                        Diagnostic::new("E0116", attr.span, "`schedule` needs `k_tiles`")
                            .label("no order is given")
                            .help("write `[[schedule(k_tiles(1, 0))]]`"),
                    ));
                    continue;
                };
                for entry in &order {
                    if let ExprKind::Unary(super::ast::UnaryOp::Neg, _) = &*entry.kind {
                        emit(Fault::known(
                            Diagnostic::new(
                                "E0117",
                                entry.span,
                                "an entry of `k_tiles` is negative",
                            )
                            .label("tiles count from 0")
                            .help("write a permutation of 0, 1, 2, …"),
                        ));
                    }
                }
                mma.k_tiles = Some(order);
            }
            StmtKind::Mma(mma)
        }
        other => {
            super::parallel::fit_attributes(attrs, &[], "this statement", emit);
            other
        }
    }
}

/// `const int n = 4;`, `unsigned x;`, `auto y = 3;`, `stage<2> …`
fn c_declaration<'t>() -> Rule<'t, Vec<Stmt>> {
    rule(|inp| {
        let fail = Err(Fault::expected(position(inp), Expected::default()));
        let [Some(first), second] = ahead(inp) else {
            return fail;
        };
        let text = kind_text(&first.kind).unwrap_or_default();
        let (code, message, help) = match text {
            "const" | "constexpr" | "static" => (
                "E0126",
                format!("there is no `{text}`"),
                "leave it out: `int n = 4;` is immutable, `mutable int n = 4;` is not".to_string(),
            ),
            "unsigned" | "size_t" => (
                "E0126",
                format!("there is no type `{text}`"),
                "write `u32` or `u64`".into(),
            ),
            "signed" | "long" | "short" | "char" => (
                "E0126",
                format!("there is no type `{text}`"),
                "write `s64`, `s32`, `s16` or `s8`".into(),
            ),
            "auto" => (
                "E0126",
                "there is no `auto` variable".into(),
                "leave it out: `x = e;` declares `x`".into(),
            ),
            "struct" | "class" | "union" | "enum" | "typedef" | "using" | "template" => (
                "E0126",
                format!("`{text}` can't stand in a DSL function"),
                "declare it at file scope, for device code".into(),
            ),
            "case" | "default" => (
                "E0126",
                "there is no `switch`".into(),
                "write `if (x == a) { … } else if (x == b) { … }`".into(),
            ),
            "stage" if second.is_some_and(|token| token.kind.is(Punct::Lt)) => (
                "E0119",
                "there is no `stage<…>` any more".into(),
                "declare an array of buffers, `shared f16 [M, K] tile[STAGES];`, and index it"
                    .into(),
            ),
            "stage" => return fail,
            _ => return fail,
        };
        inp.emit(Fault::known(
            Diagnostic::new(code, first.span, message)
                .label(if code == "E0119" {
                    "removed"
                } else {
                    "not part of the language"
                })
                .help(help),
        ));
        Ok(recovery::skip_statement(inp))
    })
}

/// `parallel = 3;`: a keyword that is assigned to.
fn keyword_as_target<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Stmt>> {
    let target = rule(|inp| {
        let fail = Err(Fault::expected(position(inp), Expected::default()));
        let [Some(first), Some(second)] = ahead(inp) else {
            return fail;
        };
        if !matches!(first.kind, TokenKind::Keyword(_)) || !second.kind.is(Punct::Eq) {
            return fail;
        }
        let text = kind_text(&first.kind).unwrap_or_default();
        inp.next_ref();
        inp.next_ref();
        inp.emit(keyword_as_name(text, first.span));
        Ok(expr(ExprKind::Name(text.to_string()), first.span))
    });
    spanned(target.then(e.any.clone()).then_ignore(semi()))
        .map(|((target, value), span)| {
            vec![Stmt {
                kind: StmtKind::Assign {
                    target,
                    op: None,
                    value,
                },
                span,
            }]
        })
        .boxed()
}
