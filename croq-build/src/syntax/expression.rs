//! Expressions, by the precedence table of the language.
//!
//! There are four kinds of place. Most take any expression. In a *shape* place `s [(0)/2, 1]` derives
//! a shape. Between `<` and `>` no operator below `+` may stand, and between two `|` no `|`.

use chumsky::prelude::*;

use super::ast::{
    BinOp, CallExpr, CallKind, Expr, ExprKind, IntSuffix, Name, TemplateArg, UnaryOp,
};
use super::fault::{Class, Fault};
use super::postfix::{self, Postfix};
use super::rule::*;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// The expression rules that others are built from.
#[derive(Clone)]
pub struct Exprs<'t> {
    /// Any expression.
    pub any: Rule<'t, Expr>,
    /// One that is used as a shape, or for its extents.
    pub shape: Rule<'t, Expr>,
    /// One between `<` and `>`.
    pub angle: Rule<'t, Expr>,
    /// An operand with its subscripts, members and calls, but without operators.
    pub operand: Rule<'t, Expr>,
    /// Any expression, or `_` alone.
    pub tiling: Rule<'t, Expr>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Any,
    Shape,
    Angle,
    Pipe,
}

pub fn expressions<'t>() -> Exprs<'t> {
    let mut any = Recursive::declare();
    let mut shape = Recursive::declare();
    let any_rule: Rule<'t, Expr> = any.clone().boxed();
    let shape_rule: Rule<'t, Expr> = shape.clone().boxed();
    let tiling = tiling_argument(any_rule.clone());

    let mut pipe = Recursive::declare();
    let atom = |list: &Rule<'t, Expr>| {
        atom(
            any_rule.clone(),
            list.clone(),
            pipe.clone().boxed(),
            tiling.clone(),
        )
    };
    let operand = postfix::operand(atom(&any_rule), &any_rule, &tiling, false);
    let shape_operand = postfix::operand(atom(&shape_rule), &any_rule, &tiling, true);

    pipe.define(binary(operand.clone(), Place::Pipe));
    any.define(conditional(
        binary(operand.clone(), Place::Any),
        any_rule.clone(),
    ));
    shape.define(conditional(
        binary(shape_operand, Place::Shape),
        any_rule.clone(),
    ));
    let angle = binary(operand.clone(), Place::Angle);
    Exprs {
        any: any_rule,
        shape: shape_rule,
        angle,
        operand,
        tiling,
    }
}

/// `_` alone among the arguments of a tile operator, or an expression.
fn tiling_argument<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let lone = rule(|inp| {
        if let [Some(token), next] = ahead(inp)
            && token.kind.word() == Some("_")
            && next.is_none_or(|next| {
                matches!(
                    next.kind,
                    TokenKind::Punct(Punct::Comma | Punct::RParen | Punct::Colon)
                )
            })
        {
            inp.next_ref();
            return Ok(expr(ExprKind::Wildcard, token.span));
        }
        Err(Fault::expected(position(inp), Class::Expression))
    });
    choice((lone, any)).boxed()
}

/// `condition ? yes : no`
fn conditional<'t>(condition: Rule<'t, Expr>, any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let question = accept(Class::Operator, |token| {
        token.kind.is(Punct::Question).then_some(())
    });
    let rest = question
        .ignore_then(any.clone())
        .then_ignore(punct(Punct::Colon))
        .then(any);
    condition
        .then(rest.or_not())
        .map(|(condition, rest)| match rest {
            None => condition,
            Some((yes, no)) => {
                let span = condition.span.to(no.span);
                expr(ExprKind::Ternary(condition, yes, no), span)
            }
        })
        .boxed()
}

/// Operators and their operands, by the table of section 2.
///
/// This is Pratt's method over the token stream, one look at each token: chumsky's own combinator
/// tries every operator after every operand, which took most of the time of a parse.
fn binary<'t>(operand: Rule<'t, Expr>, place: Place) -> Rule<'t, Expr> {
    // Fails always, so that an error behind an operand tells that an operator could have followed.
    let no_operator = accept(Class::Operator, |_| None::<()>).or_not();
    rule(move |inp| climb(inp, &operand, place, 0))
        .then_ignore(no_operator)
        .boxed()
}

/// An expression whose operators bind at least as tightly as `least`.
fn climb<'t>(
    inp: &mut In<'t, '_>,
    operand: &Rule<'t, Expr>,
    place: Place,
    least: u8,
) -> Result<Expr, Fault> {
    let mut left = match inp
        .peek_ref()
        .and_then(|token| Some((prefix(&token.kind)?, token.span)))
    {
        Some(((level, make), at)) => {
            inp.next_ref();
            let inner = climb(inp, operand, place, level)?;
            let span = at.to(inner.span);
            expr(make(inner), span)
        }
        None => inp.parse(operand)?,
    };
    while let Some(((level, op), at)) = inp
        .peek_ref()
        .and_then(|token| Some((infix(&token.kind, place)?, token.span)))
    {
        if level < least {
            break;
        }
        inp.next_ref();
        // All are left associative: the right side binds more tightly.
        let right = climb(inp, operand, place, level + 1)?;
        let span = left.span.to(at).to(right.span);
        left = expr(ExprKind::Binary(op, at, left, right), span);
    }
    Ok(left)
}

type Prefix = (u8, fn(Expr) -> ExprKind);

fn prefix(kind: &TokenKind) -> Option<Prefix> {
    let TokenKind::Punct(punct) = kind else {
        return None;
    };
    Some(match punct {
        Punct::Minus => (11, |e| ExprKind::Unary(UnaryOp::Neg, e)),
        Punct::Bang => (11, |e| ExprKind::Unary(UnaryOp::Not, e)),
        Punct::PlusPlus => (11, |target| ExprKind::Increment {
            prefix: true,
            by: 1,
            target,
        }),
        Punct::MinusMinus => (11, |target| ExprKind::Increment {
            prefix: true,
            by: -1,
            target,
        }),
        Punct::Hash => (14, ExprKind::Extent),
        Punct::Tilde => (14, |e| ExprKind::Unary(UnaryOp::BitNot, e)),
        Punct::Amp => (14, ExprKind::AddressOf),
        _ => return None,
    })
}

/// The level and meaning of an infix operator, where it may stand.
fn infix(kind: &TokenKind, place: Place) -> Option<(u8, BinOp)> {
    let TokenKind::Punct(punct) = kind else {
        return None;
    };
    let found = match punct {
        Punct::PipePipe => (2, BinOp::LogicOr),
        Punct::AmpAmp => (3, BinOp::LogicAnd),
        Punct::EqEq => (4, BinOp::Eq),
        Punct::Ne => (4, BinOp::Ne),
        Punct::Lt => (5, BinOp::Lt),
        Punct::Le => (5, BinOp::Le),
        Punct::Gt => (5, BinOp::Gt),
        Punct::Ge => (5, BinOp::Ge),
        Punct::Shl => (6, BinOp::Shl),
        Punct::Shr => (6, BinOp::Shr),
        Punct::Plus => (7, BinOp::Add),
        Punct::Minus => (7, BinOp::Sub),
        Punct::Star => (8, BinOp::Mul),
        Punct::Slash => (8, BinOp::Div),
        Punct::Percent => (8, BinOp::Rem),
        Punct::HashPlus => (9, BinOp::BoundAdd),
        Punct::HashMinus => (9, BinOp::BoundSub),
        Punct::HashStar => (10, BinOp::BoundMul),
        Punct::HashSlash => (10, BinOp::BoundDiv),
        Punct::HashPercent => (10, BinOp::BoundRem),
        Punct::Amp => (12, BinOp::And),
        Punct::Caret => (12, BinOp::Xor),
        Punct::Pipe => (12, BinOp::Or),
        Punct::Hash => (13, BinOp::Compose),
        _ => return None,
    };
    let fits = match place {
        Place::Any | Place::Shape => true,
        Place::Angle => found.0 >= 7,
        Place::Pipe => !matches!(punct, Punct::Pipe | Punct::PipePipe),
    };
    fits.then_some(found)
}

/// What an operand begins with.
fn atom<'t>(
    any: Rule<'t, Expr>,
    list: Rule<'t, Expr>,
    pipe: Rule<'t, Expr>,
    tiling: Rule<'t, Expr>,
) -> Rule<'t, Expr> {
    choice((
        named(any.clone()),
        literal(),
        parenthesised(any.clone()),
        braces(any.clone()),
        bracket_list(list),
        count(pipe),
        text_literal(),
        cast(any.clone()),
        select(any.clone()),
        device_call(any, tiling),
        misused_word(),
    ))
    .boxed()
}

fn literal<'t>() -> Rule<'t, Expr> {
    accept(Class::Expression, |token| {
        let kind = match &token.kind {
            TokenKind::Int {
                value,
                unsigned,
                long,
            } => ExprKind::Int {
                value: *value,
                suffix: IntSuffix {
                    unsigned: *unsigned,
                    long: *long,
                },
            },
            TokenKind::Float { value, single } => ExprKind::Float {
                value: *value,
                single: *single,
            },
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Keyword(Keyword::Inf) => ExprKind::Inf,
            TokenKind::Keyword(Keyword::Nullptr) => ExprKind::Nullptr,
            _ => return None,
        };
        Some(expr(kind, token.span))
    })
}

fn text_literal<'t>() -> Rule<'t, Expr> {
    when(
        |kind| matches!(kind, TokenKind::Str(_)),
        spanned(text()).map(|(text, span)| expr(ExprKind::Str(text), span)),
    )
}

/// `a::b::c`, as one name.
pub fn qualified<'t>() -> Rule<'t, Name> {
    let part = accept(Class::Name, |token| {
        let text = match &token.kind {
            TokenKind::Word(text) => text,
            _ => return None,
        };
        Some(Name {
            text: text.to_string(),
            span: token.span,
        })
    });
    let more = punct(Punct::ColonColon).ignore_then(part.clone());
    part.foldl(more.repeated(), |mut whole: Name, part| {
        whole.text.push_str("::");
        whole.text.push_str(&part.text);
        whole.span = whole.span.to(part.span);
        whole
    })
    .boxed()
}

/// A name; a call with template arguments; `print!(…)`; `cdiv(…)` and its like.
fn named<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let args = call_arguments(any.clone());
    let plain_name = rule(|inp| {
        let at = position(inp);
        let Some(token) = inp.peek_ref() else {
            return Err(Fault::expected(at, Class::Expression));
        };
        let Some(text) = token.kind.word() else {
            return Err(Fault::expected(at, Class::Expression));
        };
        inp.next_ref();
        let span = token.span;
        if text == "_" {
            inp.emit(wildcard(span));
            return Ok(expr(ExprKind::Wildcard, span));
        }
        Ok(expr(ExprKind::Name(text.to_string()), span))
    });
    let compile_time = rule(|inp| match ahead(inp) {
        [Some(name), Some(bang)]
            if bang.kind.is(Punct::Bang)
                && matches!(name.kind.word(), Some("print" | "println")) =>
        {
            inp.next_ref();
            inp.next_ref();
            let text = name.kind.word().unwrap_or_default().to_string();
            Ok(Name {
                text,
                span: name.span,
            })
        }
        _ => Err(Fault::expected(position(inp), Class::Expression)),
    })
    .then(args.clone())
    .map(|(callee, (args, close))| call(CallKind::CompileTime, callee, Vec::new(), args, close));
    let builtin = rule(|inp| match ahead(inp) {
        [Some(name), Some(open)]
            if open.kind.is(Punct::LParen)
                && matches!(name.kind.word(), Some("cdiv" | "__alignup" | "__aligndown")) =>
        {
            inp.next_ref();
            let text = name.kind.word().unwrap_or_default().to_string();
            Ok(Name {
                text,
                span: name.span,
            })
        }
        _ => Err(Fault::expected(position(inp), Class::Expression)),
    })
    .then(args.clone())
    .map(|(name, (args, close))| {
        let span = name.span.to(close);
        expr(ExprKind::Builtin { name, args }, span)
    });
    // `fast_sum<4>(x)`: only for a registered intrinsic, as `<` compares everywhere else.
    let with_targs = rule(|inp| {
        let here = position(inp);
        let not = Err(Fault::expected(here, Class::Expression));
        let [Some(first), Some(next)] = ahead(inp) else {
            return not;
        };
        let function = inp.state().0.function;
        let text = first.kind.word().unwrap_or_default();
        let plausible = match next.kind {
            TokenKind::Punct(Punct::Lt) => function.is_intrinsic(text, first.span),
            TokenKind::Punct(Punct::ColonColon) => !text.is_empty(),
            _ => false,
        };
        if plausible { Ok(()) } else { not }
    })
    .ignore_then(qualified())
    .then(template_arguments(any.clone()))
    .then(args.or_not())
    .map(|((callee, targs), args)| match args {
        Some((args, close)) => call(CallKind::Plain, callee, targs, args, close),
        None => {
            let span = callee.span;
            expr(ExprKind::Name(callee.text), span)
        }
    });
    when(
        |kind| matches!(kind, TokenKind::Word(_)),
        choice((
            builtin.boxed(),
            compile_time.boxed(),
            with_targs.boxed(),
            plain_name,
        )),
    )
}

pub fn call(
    kind: CallKind,
    callee: Name,
    targs: Vec<TemplateArg>,
    args: Vec<Expr>,
    close: Span,
) -> Expr {
    let span = callee.span.to(close);
    expr(
        ExprKind::Call(CallExpr {
            kind,
            callee,
            targs,
            args,
        }),
        span,
    )
}

/// `( a, b )`, perhaps empty, with the span of the parentheses.
pub fn call_arguments<'t>(any: Rule<'t, Expr>) -> Rule<'t, (Vec<Expr>, Span)> {
    let list = any
        .separated_by(punct(Punct::Comma))
        .collect::<Vec<_>>()
        .boxed();
    parens(list)
}

/// `<…>`, perhaps absent.
pub fn template_arguments<'t>(any: Rule<'t, Expr>) -> Rule<'t, Vec<TemplateArg>> {
    // A type or a qualified name, if nothing but `,` or `>` follows; else an expression.
    let ends = |inp: &mut In<'t, '_>| {
        inp.peek_ref()
            .is_some_and(|token| matches!(token.kind, TokenKind::Punct(Punct::Comma | Punct::Gt)))
    };
    let end = move || {
        rule(move |inp| {
            if ends(inp) {
                Ok(())
            } else {
                Err(Fault::expected(position(inp), Punct::Gt))
            }
        })
    };
    let ty = elem_word()
        .then_ignore(end())
        .map(|(elem, span)| TemplateArg::Type(elem, span));
    let name = qualified().then_ignore(end()).map(TemplateArg::Name);
    let value = binary_in_angles(any).map(TemplateArg::Expr);
    let item = choice((ty.boxed(), name.boxed(), value.boxed())).boxed();
    punct(Punct::Lt)
        .ignore_then(item.separated_by(punct(Punct::Comma)).collect::<Vec<_>>())
        .then_ignore(punct(Punct::Gt))
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed()
}

/// A small expression for template arguments; anything more goes in parentheses.
fn binary_in_angles<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let name = accept(Class::Expression, |token| {
        Some(expr(
            ExprKind::Name(token.kind.word()?.to_string()),
            token.span,
        ))
    });
    let text = text_literal();
    binary(
        choice((literal(), name, text, parenthesised(any))).boxed(),
        Place::Angle,
    )
}

/// `(e)`; `(a, b)` was meant as `{a, b}`.
fn parenthesised<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let group =
        parens(comma(any.clone())).map_with(|(items, span), e| (items, span, e.state().0.file));
    let group = group.validate(|(mut items, span, file), _, emitter| {
        if items.len() == 1
            && let Some(item) = items.pop()
        {
            return expr(ExprKind::Paren(item), span);
        }
        let inner: Vec<&str> = items.iter().map(|item| file.snippet(item.span)).collect();
        emitter.emit(Fault::known(
            Diagnostic::new("E0108", span, "an ituple is written with braces")
                .label("parentheses hold one value")
                .help(format!("write `{{{}}}`", inner.join(", "))),
        ));
        expr(ExprKind::Braces(items), span)
    });
    when(
        |kind| kind.is(Punct::LParen),
        choice((c_cast(any), group.boxed())),
    )
}

/// `(float) x`
fn c_cast<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    rule(|inp| {
        if let [Some(open), Some(ty), Some(close)] = ahead(inp)
            && open.kind.is(Punct::LParen)
            && close.kind.is(Punct::RParen)
            && let TokenKind::Type(word) = ty.kind
        {
            for _ in 0..3 {
                inp.next_ref();
            }
            let span = open.span.to(close.span);
            inp.emit(Fault::known(
                Diagnostic::new("E0126", span, "there are no C casts")
                    .label("a type in parentheses")
                    .help(format!("write `__to<{}>(value)`", word.text())),
            ));
            return Ok(span);
        }
        Err(Fault::expected(position(inp), Class::Expression))
    })
    .then(any.or_not())
    .map(|(span, value)| {
        let end = value.map_or(span, |value| value.span);
        expr(ExprKind::Error, span.to(end))
    })
    .boxed()
}

fn braces<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    between(Punct::LBrace, comma(any), Punct::RBrace)
        .map(|(items, span)| expr(ExprKind::Braces(items), span))
        .boxed()
}

fn bracket_list<'t>(item: Rule<'t, Expr>) -> Rule<'t, Expr> {
    between(Punct::LBracket, comma(item), Punct::RBracket)
        .map_with(|(items, span), e| {
            let file = e.state().0.file;
            (items, span, file)
        })
        .validate(|(items, span, file), _, emitter| {
            // `(0)` picks an element in a derivation and means nothing in a plain list. One that a
            // macro's parentheses made is a number.
            for item in &items {
                if let ExprKind::Paren(inner) = &*item.kind
                    && matches!(&*inner.kind, ExprKind::Int { .. })
                    && file.macro_at(item.span).is_none()
                {
                    emitter.emit(Fault::known(
                        Diagnostic::new(
                            "E0106",
                            item.span,
                            "an element in parentheses needs the shape it is of",
                        )
                        .label("of which shape?")
                        .help(format!(
                            "write `shape [{}, …]`, or drop the parentheses",
                            file.snippet(item.span)
                        )),
                    ));
                }
            }
            expr(ExprKind::List(items), span)
        })
        .boxed()
}

/// `|e|` and `|s32|`
fn count<'t>(pipe: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let inner = choice((
        elem_word().map(|(elem, _)| ExprKind::SizeOf(elem)).boxed(),
        pipe.map(ExprKind::Count).boxed(),
    ))
    .boxed();
    when(
        |kind| kind.is(Punct::Pipe),
        between(Punct::Pipe, inner, Punct::Pipe).map(|(kind, span)| expr(kind, span)),
    )
}

/// `__to<T>(e)`, `__to<"T*">(e)`
fn cast<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let elem = elem_word()
        .then_ignore(punct(Punct::Gt))
        .then(parens(any.clone()))
        .map(|((elem, _), (value, close))| (ExprKind::Cast(elem, value), close));
    let cpp = text()
        .then_ignore(punct(Punct::Gt))
        .then(parens(any))
        .map(|(ty, (value, close))| (ExprKind::CppCast(ty, value), close));
    when_keyword(
        Keyword::To,
        keyword(Keyword::To, Class::Expression)
            .then_ignore(punct(Punct::Lt))
            .then(choice((elem.boxed(), cpp.boxed())))
            .map(|(start, (kind, close))| expr(kind, start.to(close))),
    )
}

fn select<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    when_keyword(
        Keyword::Select,
        keyword(Keyword::Select, Class::Expression)
            .then(parens(comma(any)))
            .map(|(start, (items, close))| expr(ExprKind::Select(items), start.to(close))),
    )
}

/// `call ns::f<4>(a, b)`
fn device_call<'t>(any: Rule<'t, Expr>, tiling: Rule<'t, Expr>) -> Rule<'t, Expr> {
    when_keyword(
        Keyword::Call,
        keyword(Keyword::Call, Class::Expression)
            .then(qualified())
            .then(template_arguments(any))
            .then(call_arguments(tiling))
            .map(|(((start, callee), targs), (args, close))| {
                let span = start.to(close);
                let kind = CallKind::Device;
                expr(
                    ExprKind::Call(CallExpr {
                        kind,
                        callee,
                        targs,
                        args,
                    }),
                    span,
                )
            }),
    )
}

/// A keyword or a type where a value should be: `x = shared + 1`, `float(x)`.
fn misused_word<'t>() -> Rule<'t, Expr> {
    rule(|inp| {
        let at = position(inp);
        let fail = Err(Fault::expected(at, Class::Expression));
        let [Some(token), next] = ahead(inp) else {
            return fail;
        };
        let next = next.map(|token| &token.kind);
        match &token.kind {
            TokenKind::Type(word) if next.is_some_and(|next| next.is(Punct::LParen)) => {
                inp.next_ref();
                inp.emit(Fault::known(
                    Diagnostic::new("E0126", token.span, "a conversion is written with `__to`")
                        .label("a type is no function")
                        .help(format!("write `__to<{}>(value)`", word.text())),
                ));
                // With its argument it reads as a call, whose value is lost.
                Ok(expr(ExprKind::Error, token.span))
            }
            TokenKind::Keyword(_) | TokenKind::Type(_) => {
                let used_as_value = next.is_some_and(|next| match next {
                    TokenKind::Punct(punct) => !matches!(
                        punct,
                        Punct::LBrace
                            | Punct::LBracket
                            | Punct::LParen
                            | Punct::Dot
                            | Punct::Lt
                            | Punct::Eq
                    ),
                    _ => false,
                });
                if !used_as_value || (token.starts_line && at > 0) {
                    return fail;
                }
                let text = kind_text(&token.kind).unwrap_or_default();
                inp.next_ref();
                inp.emit(keyword_as_name(text, token.span));
                Ok(expr(ExprKind::Name(text.to_string()), token.span))
            }
            _ => fail,
        }
    })
}

/// An operand followed by what [`Postfix`] describes.
pub fn apply_all(
    base: Expr,
    ops: Vec<Postfix>,
    emit: &mut dyn FnMut(Fault),
    around: Around,
    shape: bool,
) -> Expr {
    ops.into_iter().fold(base, |base, op| {
        postfix::apply(base, op, emit, around, shape)
    })
}
