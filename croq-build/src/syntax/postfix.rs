//! Postfix operators: members, tile operators, subscripts, calls, `++`.

use chumsky::prelude::*;

use super::ast::{CallKind, Expr, ExprKind, Member, Name, ViewOp};
use super::call::call;
use super::fault::{Class, Fault};
use super::rule::*;
use crate::diagnostics::{self, Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Punct, TokenKind};

#[derive(Debug)]
enum Postfix {
    Member(Member, Span),
    At(Vec<Expr>, Span),
    View(ViewOp, Span),
    Paren(Vec<Expr>, Span),
    Subscript(Vec<Expr>, Span),
    Step(i8, Span),
    /// An unknown member.
    Unknown(Name),
    /// An error that has been reported; there is no value.
    Lost(Span),
}

pub(super) const MEMBERS: [&str; 12] = [
    "span", "data", "mdata", "at", "chunkat", "chunk", "subspan", "modspan", "view", "span_as",
    "sqz", "zfill",
];

pub fn operand<'t>(
    atom: Rule<'t, Expr>,
    any: &Rule<'t, Expr>,
    tiling: &Rule<'t, Expr>,
    shape: bool,
) -> Rule<'t, Expr> {
    let op = choice((
        members(any.clone(), tiling.clone()),
        when(
            |kind| kind.is(Punct::LBracket),
            between(Punct::LBracket, comma(any.clone()), Punct::RBracket)
                .map(|(items, span)| Postfix::Subscript(items, span)),
        ),
        when(
            |kind| kind.is(Punct::LParen),
            parens(
                tiling
                    .clone()
                    .separated_by(punct(Punct::Comma))
                    .collect()
                    .boxed(),
            )
            .map(|(items, span)| Postfix::Paren(items, span)),
        ),
        accept(Class::Operator, |token| match token.kind {
            TokenKind::Punct(Punct::PlusPlus) => Some(Postfix::Step(1, token.span)),
            TokenKind::Punct(Punct::MinusMinus) => Some(Postfix::Step(-1, token.span)),
            _ => None,
        }),
        arrow(),
    ))
    .boxed();
    let op = when(
        |kind| {
            matches!(
                kind,
                TokenKind::Punct(
                    Punct::Dot
                        | Punct::LBracket
                        | Punct::LParen
                        | Punct::PlusPlus
                        | Punct::MinusMinus
                        | Punct::Arrow
                )
            )
        },
        op,
    );
    atom.then(op.repeated().collect::<Vec<_>>())
        .map_with(|(base, ops), e| (base, ops, e.state().0))
        .validate(move |(base, ops, around), _, emitter| {
            ops.into_iter().fold(base, |base, op| {
                apply(base, op, &mut |fault| emitter.emit(fault), around, shape)
            })
        })
        .boxed()
}

/// `.data`, `.at(…)`, `.chunkat(…)`, …
fn members<'t>(any: Rule<'t, Expr>, tiling: Rule<'t, Expr>) -> Rule<'t, Postfix> {
    let list = || -> Rule<'t, (Vec<Expr>, Span)> { parens(comma(tiling.clone())) };
    let with_strides = || {
        let strides = punct(Punct::Colon).ignore_then(comma(any.clone())).or_not();
        parens(comma(tiling.clone()).then(strides).boxed())
    };
    let at = || member("at", Class::Member).ignore_then(list()).boxed();
    let plain = accept(Class::Member, |_| None::<Postfix>);
    let simple = |text: &'static str, member_of: Member| {
        member(text, Class::Member)
            .map(move |span| Postfix::Member(member_of, span))
            .boxed()
    };
    let chunkat = member("chunkat", Class::Member)
        .then(list())
        .map(|(start, (items, end))| Postfix::View(ViewOp::Chunkat(items), start.to(end)));
    let chunk = member("chunk", Class::Member).then(list()).then(at()).map(
        |((start, (factors, _)), (at, end))| {
            Postfix::View(ViewOp::Chunk { factors, at }, start.to(end))
        },
    );
    // Two spellings of one operator.
    let step = choice((
        member("step", Class::Member),
        member("stride", Class::Member),
    ));
    let step = step.ignore_then(list()).boxed();
    let subspan = member("subspan", Class::Member)
        .then(with_strides())
        .then(step.or_not())
        .then(at().or_not())
        .map(|(((start, ((extents, strides), end)), step), at)| {
            let (step, end) = step.map_or((Vec::new(), end), |(items, span)| (items, span));
            let (at, end) = at.map_or((None, end), |(items, span)| (Some(items), span));
            let strides = strides.unwrap_or_default();
            Postfix::View(
                ViewOp::Subspan {
                    extents,
                    strides,
                    step,
                    at,
                },
                start.to(end),
            )
        });
    let modspan = member("modspan", Class::Member)
        .then(list())
        .then(at().or_not())
        .map(|((start, (extents, end)), at)| {
            let (at, end) = at.map_or((None, end), |(items, span)| (Some(items), span));
            Postfix::View(ViewOp::Modspan { extents, at }, start.to(end))
        });
    let from = member("from", Class::Member).ignore_then(list()).boxed();
    let view = member("view", Class::Member)
        .then(with_strides())
        .then(from.or_not())
        .map(|((start, ((extents, strides), end)), from)| {
            let (from, end) = from.map_or((None, end), |(items, span)| (Some(items), span));
            let strides = strides.unwrap_or_default();
            Postfix::View(
                ViewOp::Window {
                    extents,
                    strides,
                    from,
                },
                start.to(end),
            )
        });
    let span_as = member("span_as", Class::Member)
        .then(parens(comma(any)))
        .map(|(start, (items, end))| Postfix::View(ViewOp::SpanAs(items), start.to(end)));
    let squeeze = member("sqz", Class::Member)
        .then(punct(Punct::LParen))
        .then(punct(Punct::RParen))
        .map(|((start, _), end)| Postfix::View(ViewOp::Squeeze, start.to(end)));
    let zfill = member("zfill", Class::Member).map(|span| Postfix::View(ViewOp::Zfill, span));
    let elements = member("at", Class::Member)
        .then(list())
        .map(|(start, (items, end))| Postfix::At(items, start.to(end)));
    when(
        |kind| kind.is(Punct::Dot),
        choice((
            elements.boxed(),
            simple("data", Member::Data),
            chunkat.boxed(),
            subspan.boxed(),
            simple("span", Member::Span),
            view.boxed(),
            chunk.boxed(),
            span_as.boxed(),
            zfill.boxed(),
            modspan.boxed(),
            squeeze.boxed(),
            simple("mdata", Member::Mdata),
            unknown_member(),
            plain,
        )),
    )
}

/// An unknown member. `.map` and `.remap` are left to the statements that they form.
fn unknown_member<'t>() -> Rule<'t, Postfix> {
    rule(|inp| {
        let at = position(inp);
        let [Some(_), Some(next)] = ahead(inp) else {
            return Err(Fault::expected(at + 1, Class::Member));
        };
        let Some(text) = kind_text(&next.kind) else {
            return Err(Fault::expected(at + 1, Class::Member));
        };
        if matches!(text, "map" | "remap") || MEMBERS.contains(&text) {
            return Err(Fault::expected(at, Class::Operator));
        }
        inp.next_ref();
        inp.next_ref();
        Ok(Postfix::Unknown(Name {
            text: text.to_string(),
            span: next.span,
        }))
    })
}

/// `x.foo`, `a[0].b`
/// `threadIdx.x`: a name that nothing has, so that the report can say what is meant.
fn is_index_of_cuda(base: &Expr, member: &Name) -> bool {
    let vectors = ["threadIdx", "blockIdx", "blockDim", "gridDim"];
    let axis = matches!(member.text.as_str(), "x" | "y" | "z");
    axis && matches!(&*base.kind, ExprKind::Name(text) if vectors.contains(&text.as_str()))
}

fn no_such_member(base: &Expr, member: &Name) -> Fault {
    let text = &member.text;
    let on_name = matches!(&*base.kind, ExprKind::Name(_) | ExprKind::Member(..));
    let code = match text.as_str() {
        "apply" | "copy" | "fill" => codes::E0119,
        _ if on_name => codes::E0100,
        _ => codes::E0109,
    };
    let diagnostic = Diagnostic::new(code, member.span, format!("there is no member `.{text}`"))
        .label("unknown member");
    Fault::known(match text.as_str() {
        "shape" | "size" | "shapes" => {
            diagnostic.help("the shape of `x` is `x.span`, its element count `|x|`")
        }
        "step" | "stride" => {
            diagnostic.help(format!("`.{text}` follows `.subspan(…)`, before `.at(…)`"))
        }
        "from" => diagnostic.help("`.from` follows `.view(…)`"),
        "apply" => diagnostic.help("`apply` is a statement: `apply {i, j} in t.span { … }`"),
        "fill" => diagnostic.help("`mma.fill t, value;` fills a fragment"),
        "copy" => diagnostic.help(
            "`copy(to, from);` copies a fragment, `dma.copy from => to;` memory",
        ),
        _ => match diagnostics::nearest(text, MEMBERS) {
            Some(near) => diagnostic.help(format!("did you mean `.{near}`?")),
            None => diagnostic
                .help("there are `.span`, `.data`, `.at(…)` and the tile operators, such as `.chunkat(…)`"),
        },
    })
}

/// `p->x`
fn arrow<'t>() -> Rule<'t, Postfix> {
    rule(|inp| match ahead(inp) {
        [Some(arrow), Some(next)]
            if arrow.kind.is(Punct::Arrow) && kind_text(&next.kind).is_some() =>
        {
            let text = kind_text(&next.kind).unwrap_or_default();
            inp.next_ref();
            inp.next_ref();
            inp.emit(Fault::known(
                Diagnostic::new(codes::E0126, arrow.span, "there is no `->`")
                    .label("not an operator of this language")
                    .help(format!("members are reached with a dot: `.{text}`; a copy is written `source => destination`")),
            ));
            Ok(Postfix::Lost(arrow.span.to(next.span)))
        }
        _ => Err(Fault::expected(position(inp), Class::Operator)),
    })
}

fn apply(
    base: Expr,
    op: Postfix,
    emit: &mut dyn FnMut(Fault),
    around: Around,
    shape: bool,
) -> Expr {
    let at = base.span;
    let is_call = matches!(&*base.kind, ExprKind::Call(_) | ExprKind::Builtin { .. });
    if is_call
        && matches!(
            op,
            Postfix::Unknown(_)
                | Postfix::Member(..)
                | Postfix::At(..)
                | Postfix::View(..)
                | Postfix::Subscript(..)
        )
    {
        emit(Fault::known(
            Diagnostic::new(codes::E0109, at, "the result of a call has no members")
                .label("a name or a subscript belongs before this")
                .help("give the result a name first: `x = …;`"),
        ));
    }
    match op {
        Postfix::Lost(span) => expr(ExprKind::Error, at.to(span)),
        Postfix::Unknown(member) if is_index_of_cuda(&base, &member) => {
            let ExprKind::Name(text) = *base.kind else {
                return expr(ExprKind::Error, at);
            };
            let name = format!("{text}.{}", member.text);
            expr(ExprKind::Name(name), at.to(member.span))
        }
        Postfix::Unknown(member) => {
            if !is_call && !matches!(&*base.kind, ExprKind::Error) {
                emit(no_such_member(&base, &member));
            }
            expr(ExprKind::Error, at.to(member.span))
        }
        _ if matches!(&*base.kind, ExprKind::Error) => {
            let end = match &op {
                Postfix::Member(_, s)
                | Postfix::At(_, s)
                | Postfix::View(_, s)
                | Postfix::Paren(_, s)
                | Postfix::Subscript(_, s)
                | Postfix::Step(_, s)
                | Postfix::Lost(s) => *s,
                Postfix::Unknown(member) => member.span,
            };
            expr(ExprKind::Error, at.to(end))
        }
        Postfix::Member(member, span) => expr(ExprKind::Member(base, member, span), at.to(span)),
        Postfix::At(items, span) => {
            refuse_wildcards(&items, emit);
            expr(ExprKind::At(base, items), at.to(span))
        }
        Postfix::View(op, span) => expr(ExprKind::View(base, op, span), at.to(span)),
        Postfix::Step(by, span) => expr(
            ExprKind::Increment {
                prefix: false,
                by,
                target: base,
            },
            at.to(span),
        ),
        Postfix::Subscript(items, span) => {
            if items.len() > 1 && !shape {
                emit(several_subscripts(&base, &items, span, around));
            }
            expr(ExprKind::Subscript(base, items), at.to(span))
        }
        Postfix::Paren(items, span) => parenthesised(base, items, span, emit, around),
    }
}

/// `a[i, j]` and `a.span[(1), 2]` outside a shape.
fn several_subscripts(base: &Expr, items: &[Expr], span: Span, around: Around) -> Fault {
    let name = around.file.snippet(base.span);
    let inner: Vec<&str> = items
        .iter()
        .map(|item| around.file.snippet(item.span))
        .collect();
    let of_shape = matches!(
        &*base.kind,
        ExprKind::Member(_, super::ast::Member::Span, _)
    ) || items
        .iter()
        .any(|item| matches!(&*item.kind, ExprKind::Paren(_)));
    Fault::known(if of_shape {
        Diagnostic::new(
            codes::E0106,
            span,
            "a shape is derived only where a shape belongs",
        )
        .label("no shape belongs here")
        .help(format!(
            "name it first: `s : {name} [{}];`",
            inner.join(", ")
        ))
    } else {
        Diagnostic::new(
            codes::E0105,
            span,
            "an array takes one subscript in each pair of brackets",
        )
        .label(format!("{} subscripts", items.len()))
        .help(format!(
            "write `{name}[{}]`; an element of a buffer is `{name}.at({})`",
            inner.join("]["),
            inner.join(", ")
        ))
    })
}

fn refuse_wildcards(items: &[Expr], emit: &mut dyn FnMut(Fault)) {
    for item in items {
        if matches!(&*item.kind, ExprKind::Wildcard) {
            emit(wildcard(item.span));
        }
    }
}

/// `f(a, b)` is a call; `x(1)` selects element 1 of a shape, an ituple or a bounded variable.
fn parenthesised(
    base: Expr,
    mut items: Vec<Expr>,
    span: Span,
    emit: &mut dyn FnMut(Fault),
    around: Around,
) -> Expr {
    refuse_wildcards(&items, emit);
    let whole = base.span.to(span);
    if let ExprKind::Name(text) = &*base.kind {
        let registered = around.function.is_intrinsic(text, base.span);
        let is_call = registered
            || items.len() != 1
            || text.starts_with("__")
            || text.contains("::")
            || matches!(
                text.as_str(),
                "assert" | "print" | "println" | "copy" | "all_reduce_sum"
            );
        if is_call {
            let derives = |item: &Expr| matches!(&*item.kind, ExprKind::Paren(inner) if matches!(&*inner.kind, ExprKind::Int { .. }));
            if !registered
                && !text.starts_with("__")
                && items
                    .iter()
                    .any(|item| derives(item) && around.file.macro_at(item.span).is_none())
            {
                let inner: Vec<&str> = items
                    .iter()
                    .map(|item| around.file.snippet(item.span))
                    .collect();
                let report =
                    Diagnostic::new(codes::E0107, span, "an ituple is derived with braces")
                        .label("parentheses call a function")
                        .help(format!("write `{text} {{{}}}`", inner.join(", ")));
                let written = around.file.snippet(span);
                emit(Fault::known(with_braces(report, written)));
                return expr(ExprKind::Derive(base, items), whole);
            }
            let callee = Name {
                text: text.clone(),
                span: base.span,
            };
            return call(CallKind::Plain, callee, Vec::new(), items, span);
        }
    }
    match (items.pop(), items.is_empty()) {
        (Some(index), true) => expr(ExprKind::Element(base, index), whole),
        _ => {
            emit(Fault::known(
                Diagnostic::new(codes::E0100, span, "one element is picked at a time")
                    .label("expected one index")
                    .help("write `x(0)`"),
            ));
            expr(ExprKind::Error, whole)
        }
    }
}
