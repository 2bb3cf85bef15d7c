//! Copies: `f = dma.copy.async src => dst after g;`

use chumsky::prelude::*;

use super::ast::{CopyDest, CopyOp, CopyStmt, Engine, Expr, ExprKind, Name, StmtKind};
use super::copy_modifiers::{Config, Modifier, check_modifiers, configuration, modifiers};
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// A copy, or `dma.any`, without the name that is bound to it.
#[derive(Clone)]
pub enum Movement {
    Copy(Box<CopyStmt>),
    Any(Engine, Span),
    /// Wrong; the error has been reported.
    Lost,
}

impl Movement {
    pub fn bind(self, name: Option<Name>, emit: &mut dyn FnMut(Fault)) -> StmtKind {
        match (self, name) {
            (Movement::Copy(copy), name) => StmtKind::Copy(CopyStmt { name, ..*copy }),
            (Movement::Any(engine, _), Some(name)) => StmtKind::AnyFuture { name, engine },
            (Movement::Any(_, span), None) => {
                emit(Fault::known(
                    Diagnostic::new(codes::E0100, span, "a placeholder future needs a name")
                        .label("nothing is bound to it")
                        .help("write `f = dma.any;`"),
                ));
                StmtKind::Error
            }
            (Movement::Lost, Some(name)) => super::parsed::lost(name),
            (Movement::Lost, None) => StmtKind::Error,
        }
    }
}

pub fn movement<'t>(e: &Exprs<'t>) -> Rule<'t, Movement> {
    let any = member("any", Class::CopyOperation);
    let dest = choice((
        when(
            |kind| {
                matches!(
                    kind,
                    TokenKind::Keyword(Keyword::Global | Keyword::Shared | Keyword::Local)
                )
            },
            storage_word().map(|(storage, span)| CopyDest::Storage(storage, span)),
        ),
        not_a_storage(),
        e.any.clone().map(CopyDest::View).boxed(),
    ));
    let after = when(
        |kind| kind.word() == Some("after"),
        any_token().ignore_then(name()),
    );
    let copy = operation(e)
        .then(modifiers(e))
        .map_with(|parsed, e| (parsed, cover(e.slice())))
        .then(e.any.clone())
        .then_ignore(punct(Punct::FatArrow))
        .then(dest)
        .then(after.or_not());
    engine()
        .then(choice((
            any.map(|span| (None, span)).boxed(),
            copy.map(|parsed| (Some(parsed), Span::default())).boxed(),
        )))
        .validate(|((engine, start), (copy, any)), _, emitter| {
            let Some((((((op, modifiers), head), source), dest), after)) = copy else {
                return Movement::Any(engine, start.to(any));
            };
            let mut emit = |fault| emitter.emit(fault);
            let (op, modifiers) = configured(op, modifiers);
            let Some(op) = check_operation(engine, op, &mut emit) else {
                return Movement::Lost;
            };
            let (is_async, modifiers) = check_modifiers(modifiers, &mut emit);
            Movement::Copy(Box::new(CopyStmt {
                name: None,
                engine,
                op,
                is_async,
                modifiers,
                source,
                dest,
                after,
                head: start.to(head),
            }))
        })
        .boxed()
}

/// `dma` or `tma`. After a bare `tma` one of its operations is expected.
fn engine<'t>() -> Rule<'t, (Engine, Span)> {
    rule(|inp| {
        let fail = Err(Fault::expected(position(inp), Class::Statement));
        let [Some(token), next] = ahead(inp) else {
            return fail;
        };
        let engine = match token.kind {
            TokenKind::Keyword(Keyword::Dma) => Engine::Dma,
            TokenKind::Keyword(Keyword::Tma) => Engine::Tma,
            _ => return fail,
        };
        inp.next_ref();
        if engine == Engine::Tma && next.is_none_or(|next| !next.kind.is(Punct::Dot)) {
            return Err(Fault::expected(position(inp), Class::TmaOperation));
        }
        Ok((engine, token.span))
    })
}

fn any_token<'t>() -> Rule<'t, Span> {
    accept(Class::Name, |token| Some(token.span))
}

/// `=> frag`: a keyword in the place of a storage or a view.
fn not_a_storage<'t>() -> Rule<'t, CopyDest> {
    rule(|inp| {
        let fail = Err(Fault::expected(position(inp), Class::Storage));
        let [Some(token), next] = ahead(inp) else {
            return fail;
        };
        let ends =
            next.is_none_or(|next| next.kind.is(Punct::Semi) || next.kind.word() == Some("after"));
        let is_word = match &token.kind {
            TokenKind::Keyword(keyword) => !matches!(keyword, Keyword::Select),
            TokenKind::Word(text) => matches!(
                &**text,
                "register" | "registers" | "device" | "host" | "constant"
            ),
            _ => false,
        };
        if !is_word || !ends {
            return fail;
        }
        inp.next_ref();
        inp.emit(Fault::known(
            Diagnostic::new(
                codes::E0123,
                token.span,
                format!("{} is no storage to copy to", token.kind),
            )
            .label("not a storage")
            .help("write `=> global`, `=> shared` or `=> local`, or name a buffer"),
        ));
        Ok(CopyDest::View(expr(ExprKind::Error, token.span)))
    })
}

/// The operation as written, before it is checked against the engine.
struct Operation {
    word: String,
    span: Span,
    config: Config,
}

fn operation<'t>(e: &Exprs<'t>) -> Rule<'t, Operation> {
    const OPS: [&str; 5] = ["copy", "load", "pad", "transp", "store"];
    let word = rule(|inp| {
        let at = position(inp);
        if is_member(inp, |kind| {
            kind.word().is_some_and(|text| OPS.contains(&text))
        }) {
            inp.next_ref();
            if let Some(token) = inp.next_ref() {
                return Ok((
                    token.kind.word().unwrap_or_default().to_string(),
                    token.span,
                ));
            }
        }
        Err(Fault::expected(at, Class::CopyOperation))
    });
    let config = choice((configuration(e), empty().map(|()| Config::None).boxed()));
    word.then(config)
        .map(|((word, span), config)| Operation { word, span, config })
        .boxed()
}

fn check_operation(engine: Engine, op: Operation, emit: &mut dyn FnMut(Fault)) -> Option<CopyOp> {
    let Operation { word, span, config } = op;
    let mut wants_none = |config: &Config| {
        if let Config::List(_, at) | Config::Pad(_, _, at) = config {
            emit(Fault::known(
                Diagnostic::new(
                    codes::E0837,
                    *at,
                    format!("`.{word}` takes no configuration"),
                )
                .label("unexpected here")
                .help("only `.transp<…>` and `.pad<…>` have one"),
            ));
        }
    };
    if engine == Engine::Tma && matches!(word.as_str(), "transp" | "pad") {
        emit(Fault::known(
            Diagnostic::new(
                codes::E0110,
                span,
                format!("`.{word}` is an operation of `dma` only"),
            )
            .label(format!("`tma` has no `.{word}`"))
            .help(format!("write `dma.{word}`: TMA does not transform tiles")),
        ));
        return None;
    }
    match word.as_str() {
        "copy" => {
            wants_none(&config);
            Some(CopyOp::Copy)
        }
        "load" => {
            wants_none(&config);
            if engine == Engine::Dma {
                emit(Fault::known(
                    Diagnostic::new(codes::E0110, span, "`.load` is an operation of `tma` only")
                        .label("`dma` has no `.load`")
                        .help("write `dma.copy`")
                        .suggest(span, "copy"),
                ));
                return Some(CopyOp::Copy);
            }
            Some(CopyOp::Load)
        }
        "store" => {
            emit(Fault::known(
                Diagnostic::new(
                    codes::E0119,
                    span,
                    "there is no `.store` operation any more",
                )
                .label("removed")
                .help(match engine {
                    Engine::Tma => "write `tma.copy source => destination`",
                    Engine::Dma => "write `dma.copy source => destination`",
                })
                .suggest(span, "copy"),
            ));
            Some(CopyOp::Copy)
        }
        "transp" => match config {
            Config::List(items, _) => Some(CopyOp::Transp(listed(items))),
            Config::None => Some(CopyOp::Transp(Vec::new())),
            Config::Pad(_, _, at) => {
                emit(Fault::known(
                    Diagnostic::new(codes::E0837, at, "`.transp` takes a list of dimensions")
                        .label("not a list of dimensions")
                        .help("write `.transp<1, 0>`"),
                ));
                None
            }
        },
        _ => padding(config, span, emit),
    }
}

/// `<{1, 0}>` is `<1, 0>`.
fn listed(mut items: Vec<Expr>) -> Vec<Expr> {
    match items.as_mut_slice() {
        [one] => match &mut *one.kind {
            ExprKind::Braces(inner) => std::mem::take(inner),
            _ => items,
        },
        _ => items,
    }
}

fn padding(config: Config, span: Span, emit: &mut dyn FnMut(Fault)) -> Option<CopyOp> {
    let form = "write `.pad<{low, …}, {high, …}, {0, …}, value>`";
    match config {
        Config::Pad(lists, value, at) => {
            let mut lists = lists.into_iter();
            let (low, high, mid, more) = (lists.next(), lists.next(), lists.next(), lists.next());
            if let (Some(low), Some(high), Some(mid), None) = (low, high, mid, more) {
                return Some(CopyOp::Pad {
                    low,
                    high,
                    mid,
                    value,
                });
            }
            emit(Fault::known(
                Diagnostic::new(codes::E0837, at, "`.pad` takes three lists and a value")
                    .label("not three lists")
                    .help(form),
            ));
            None
        }
        Config::None => {
            emit(Fault::known(
                Diagnostic::new(codes::E0837, span, "`.pad` needs its configuration")
                    .label("how much on each side?")
                    .help(form),
            ));
            None
        }
        Config::List(_, at) => {
            emit(Fault::known(
                Diagnostic::new(codes::E0837, at, "`.pad` takes three lists and a value")
                    .label("not three lists")
                    .help(form),
            ));
            None
        }
    }
}

/// `dma.transp.async<1, 0>` and `dma.pad.async<…>`: the configuration behind `.async` is the operation's.
fn configured(mut op: Operation, mut modifiers: Vec<Modifier>) -> (Operation, Vec<Modifier>) {
    let takes = |config: &Config| match op.word.as_str() {
        "pad" => matches!(config, Config::Pad(..)),
        "transp" => match config {
            Config::List(items, _) => match items.as_slice() {
                [one] => matches!(&*one.kind, ExprKind::Braces(_)),
                _ => true,
            },
            _ => false,
        },
        _ => false,
    };
    if !matches!(op.config, Config::None) {
        return (op, modifiers);
    }
    let moved = modifiers.iter_mut().find_map(|modifier| match modifier {
        Modifier::Async(_, config) if takes(config) => {
            Some(std::mem::replace(config, Config::None))
        }
        _ => None,
    });
    op.config = moved.unwrap_or(Config::None);
    (op, modifiers)
}
