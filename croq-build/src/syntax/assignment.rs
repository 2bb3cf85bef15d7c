//! Statements that begin with an operand: `x = e;`, `x : s;`, `x.at(i) += e;`, `f(x);`, `++x;`

use chumsky::prelude::*;

use super::ast::{
    BinOp, CallExpr, CallKind, Expr, ExprKind, MmaStmt, Name, Stmt, StmtKind, Storage,
};
use super::derivation::with_derivation;
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::movement::{Movement, movement};
use super::operators::{Place, infix};
use super::rule::*;
use super::tensor;
use crate::diagnostics::{self, Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// The rest of a statement after its first operand.
enum Rest {
    /// An operator and an operand: the value is not used.
    Unused(BinOp, Span),
    Assign(Option<BinOp>, Value),
    Nothing,
}

/// The right side of an assignment.
enum Value {
    Expr(Expr),
    Movement(Movement),
    Mma(MmaStmt),
    Map {
        source: Expr,
        remap: bool,
        storage: Storage,
        args: Vec<Expr>,
    },
}

/// One or more assignments, separated by commas.
pub fn expression_statement<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Stmt>> {
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
    let assign = assign_operator()
        .then(value(e))
        .map(|(op, value)| Rest::Assign(op, value));
    // `x + 1;`: parsed completely, so that the report covers all of it.
    let unused = accept(Expected::default(), |token| {
        infix(&token.kind, Place::Any).map(|(_, op)| (op, token.span))
    })
    .then(e.any.clone())
    .map(|((op, at), _)| Rest::Unused(op, at));
    let rest = choice((
        assign.boxed(),
        unused.boxed(),
        // The end of the statement; any other token is reported with the tokens that could follow.
        empty().map(|()| Rest::Nothing).boxed(),
    ));
    let is_shape = rule(|inp| match ahead(inp) {
        [Some(name), Some(colon)]
            if colon.kind.is(Punct::Colon) && kind_text(&name.kind).is_some() =>
        {
            Ok(())
        }
        _ => Err(Fault::expected(position(inp), Expected::default())),
    });
    let shape = is_shape
        .ignore_then(declared())
        .then_ignore(punct(Punct::Colon))
        .then(e.shape.clone())
        .map(|(name, value)| StmtKind::Mdspan {
            rank: None,
            name,
            value,
        });
    let shape = spanned(shape).map(|(kind, span)| Stmt { kind, span });
    let parsed = target.then(rest).boxed();
    let other = spanned(parsed).validate(|((target, rest), span), _, emitter| {
        let kind = assemble(target, rest, span, &mut |fault| emitter.emit(fault));
        Stmt { kind, span }
    });
    choice((shape.boxed(), other.boxed())).boxed()
}

/// `*p = …`
fn no_pointers<'t>() -> Rule<'t, ()> {
    rule(|inp| {
        if let Some(token) = inp.peek_ref()
            && token.kind.is(Punct::Star)
        {
            inp.next_ref();
            inp.emit(Fault::known(
                Diagnostic::new(codes::E0126, token.span, "there are no pointers")
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
            Punct::Eq => None,
            Punct::PlusEq => Some(BinOp::Add),
            Punct::MinusEq => Some(BinOp::Sub),
            Punct::StarEq => Some(BinOp::Mul),
            Punct::SlashEq => Some(BinOp::Div),
            Punct::PercentEq => Some(BinOp::Rem),
            Punct::AmpEq => Some(BinOp::And),
            Punct::PipeEq => Some(BinOp::Or),
            Punct::CaretEq => Some(BinOp::Xor),
            Punct::ShlEq => Some(BinOp::Shl),
            Punct::ShrEq => Some(BinOp::Shr),
            _ => return None,
        })
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
    let plain = with_derivation(choice((placeholder(), e.any.clone())).boxed(), e)
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

/// `x = _;`, for which the next stage has a separate report.
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

fn assemble(target: Expr, rest: Rest, span: Span, emit: &mut dyn FnMut(Fault)) -> StmtKind {
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
            // `f(x);` with a name that is not known to be a function.
            ExprKind::Element(callee, arg) => match *callee.kind {
                ExprKind::Name(text) => {
                    let callee = Name {
                        text,
                        span: callee.span,
                    };
                    let kind = CallKind::Plain;
                    let call = CallExpr {
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
                let mut diagnostic = Diagnostic::new(
                    codes::E0100,
                    target.span,
                    format!("`{text}` alone does nothing"),
                )
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
        Rest::Unused(op, at) => {
            let diagnostic = Diagnostic::new(codes::E0100, span, "this value is not used");
            emit(Fault::known(match op {
                BinOp::Eq => diagnostic
                    .label("a comparison is no statement")
                    .also(at, "compares")
                    .help("`=` assigns"),
                _ => diagnostic
                    .label("an expression is no statement")
                    .help("assign it: `x = …;`"),
            }));
            StmtKind::Error
        }
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

/// A name on the left may be declared by the assignment. `_` was reported when it was parsed.
fn check_declared(name: &Name, emit: &mut dyn FnMut(Fault)) {
    if let Some(fault) = unfit(name) {
        emit(fault);
    }
}

fn useless(span: Span, emit: &mut dyn FnMut(Fault)) -> StmtKind {
    emit(Fault::known(
        Diagnostic::new(codes::E0100, span, "this value is not used")
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
                codes::E0100,
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
                    Diagnostic::new(codes::E0312, value.span, "a shape is declared with `:`")
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
            (Some(name), None) => tensor::bind_to(mma, name),
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
