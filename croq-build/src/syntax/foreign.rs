//! Statements of C that Croqtile does not have, with their replacements.

use chumsky::prelude::*;

use super::ast::{Block, ExprKind, Stmt, StmtKind};
use super::control::skip_group;
use super::expression::Exprs;
use super::fault::{Expected, Fault};
use super::foreign_types;
use super::recovery;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::steps::step;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// A word that begins a statement in C or in earlier versions, but not in Croqtile.
pub fn begins_like_c(kind: &TokenKind) -> bool {
    const WORDS: [&str; 23] = [
        "stage",
        "for",
        "do",
        "switch",
        "case",
        "default",
        "const",
        "constexpr",
        "static",
        "unsigned",
        "signed",
        "long",
        "short",
        "char",
        "size_t",
        "struct",
        "class",
        "union",
        "enum",
        "typedef",
        "using",
        "template",
        "goto",
    ];
    kind.word().is_some_and(|word| WORDS.contains(&word))
}

/// Loops and jumps of C. Their bodies are parsed to report errors in them.
pub fn c_control<'t>(block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    rule(move |inp| {
        let fail = Err(Fault::expected(position(inp), Expected::default()));
        let [Some(first), second] = ahead(inp) else {
            return fail;
        };
        let Some(text) = kind_text(&first.kind) else {
            return fail;
        };
        let second = second.map(|token| &token.kind);
        let opens = second.is_some_and(|kind| kind.is(Punct::LParen)) && !is_whole_call(inp);
        let is_name = second.is_some_and(|kind| kind.word().is_some());
        let (message, help) = match text {
            "for" if opens || is_name => (
                "there is no `for` loop",
                "write `foreach i in [n] { … }`; from `lo` to before `hi`, `foreach i in [hi - lo]` and `lo + i`",
            ),
            "do" if second.is_some_and(|kind| kind.is(Punct::LBrace)) => {
                ("there is no `do` loop", "write `while (condition) { … }`")
            }
            "switch" if opens => (
                "there is no `switch`",
                "write `if (x == a) { … } else if (x == b) { … }`",
            ),
            "goto" => (
                "there is no `goto`",
                "leave a loop with `break`, a kernel with `yield`",
            ),
            _ => return fail,
        };
        inp.next_ref();
        inp.emit(Fault::known(
            Diagnostic::new(codes::E0126, first.span, message)
                .label("not part of the language")
                .help(help),
        ));
        if opens {
            // The header may contain anything, including `;`.
            skip_group(inp);
        } else if text == "for" {
            skip_to_body(inp);
        }
        match text {
            "goto" => {
                recovery::skip_statement(inp);
            }
            "switch" => skip_group(inp),
            _ => {
                inp.parse(&block)?;
            }
        }
        let after = inp.peek_ref().map(|token| &token.kind);
        if text == "do" && after.is_some_and(|kind| kind.is_keyword(Keyword::While)) {
            recovery::skip_statement(inp);
        }
        Ok(StmtKind::Error)
    })
}

/// Whether the first word of a statement is a name of the user: `class = 3;`, `class(x);`,
/// `class.at(i) = 3;`
fn continues_a_name(text: &str, after: &TokenKind) -> bool {
    let TokenKind::Punct(punct) = after else {
        return false;
    };
    match punct {
        Punct::Colon => !matches!(text, "case" | "default"),
        Punct::Eq
        | Punct::PlusEq
        | Punct::MinusEq
        | Punct::StarEq
        | Punct::SlashEq
        | Punct::PercentEq
        | Punct::AmpEq
        | Punct::PipeEq
        | Punct::CaretEq
        | Punct::ShlEq
        | Punct::ShrEq
        | Punct::Dot
        | Punct::LParen
        | Punct::LBracket
        | Punct::PlusPlus
        | Punct::MinusMinus => text != "auto",
        _ => false,
    }
}

/// Whether the group after the first word ends a statement and has none in it: `switch(x, 3);`
fn is_whole_call(inp: &mut In) -> bool {
    let start = inp.save();
    inp.next_ref();
    let mut depth = 0usize;
    let mut whole = false;
    while let Some(token) = inp.next_ref() {
        step();
        match token.kind {
            TokenKind::Punct(Punct::LParen) => depth += 1,
            TokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => break,
            _ => {}
        }
        if depth == 0 {
            whole = inp.peek_ref().is_some_and(|next| next.kind.is(Punct::Semi));
            break;
        }
    }
    inp.rewind(start);
    whole
}

/// Skips the header of `for i in 0..n {`, which may be anything, up to its body on the same line.
fn skip_to_body(inp: &mut In) {
    while let Some(token) = inp.peek_ref() {
        step();
        let ends = matches!(
            token.kind,
            TokenKind::Punct(Punct::LBrace | Punct::RBrace | Punct::Semi)
        );
        if ends || token.starts_line {
            break;
        }
        inp.next_ref();
    }
}

/// `const int n = 4;`, `unsigned x;`, `auto y = 3;`, `stage<2> …`
pub fn c_declaration<'t>() -> Rule<'t, Vec<Stmt>> {
    rule(|inp| {
        let fail = Err(Fault::expected(position(inp), Expected::default()));
        let [Some(first), second] = ahead(inp) else {
            return fail;
        };
        let text = kind_text(&first.kind).unwrap_or_default();
        if second.is_some_and(|token| continues_a_name(text, &token.kind)) {
            return fail;
        }
        let (code, message, help) = match text {
            "const" | "constexpr" | "static" => (
                codes::E0126,
                format!("there is no `{text}`"),
                "leave it out: `int n = 4;` is immutable, `mutable int n = 4;` is not".to_string(),
            ),
            "unsigned" | "signed" | "long" | "short" | "char" | "size_t" => (
                codes::E0126,
                format!("there is no type `{text}`"),
                foreign_types::meant(text)
                    .map_or_else(String::new, |elem| format!("write `{}`", elem.text())),
            ),
            "auto" => (
                codes::E0126,
                "there is no `auto` variable".into(),
                "leave it out: `x = e;` declares `x`".into(),
            ),
            "struct" | "class" | "union" | "enum" | "typedef" | "using" | "template" => (
                codes::E0126,
                format!("`{text}` is not allowed in a `__co__` function"),
                "declare it at file scope, for device code".into(),
            ),
            "case" | "default" => (
                codes::E0126,
                "there is no `switch`".into(),
                "write `if (x == a) { … } else if (x == b) { … }`".into(),
            ),
            "stage" if second.is_some_and(|token| token.kind.is(Punct::Lt)) => (
                codes::E0119,
                "there is no `stage<…>` any more".into(),
                "declare an array of buffers, `shared f16 [M, K] tile[STAGES];`, and index it"
                    .into(),
            ),
            _ => return fail,
        };
        inp.emit(Fault::known(
            Diagnostic::new(code, first.span, message)
                .label(if code == codes::E0119 {
                    "removed"
                } else {
                    "not part of the language"
                })
                .help(help),
        ));
        Ok(recovery::skip_statement(inp))
    })
}

/// `setreg 40;`, `frag.load c, x;`: removed from the language.
pub fn removed<'t>() -> Rule<'t, Vec<Stmt>> {
    rule(|inp| {
        let fail = Err(Fault::expected(position(inp), Expected::default()));
        let [Some(first), Some(second), Some(third), fourth] = ahead(inp) else {
            return fail;
        };
        let is_int = |token: &Token| matches!(token.kind, TokenKind::Int { .. });
        let member = match second.kind.is(Punct::Dot) {
            true => kind_text(&third.kind),
            false => None,
        };
        let (form, help) = match (kind_text(&first.kind).unwrap_or_default(), member) {
            ("setreg", None) if is_int(second) => (
                "setreg",
                format!(
                    "write `call croq::cuda::setreg_dec({0});`, or `setreg_inc({0})` for more than before",
                    second.kind.to_string().trim_matches('`')
                ),
            ),
            ("setreg", Some(way @ ("inc" | "dec"))) if fourth.is_some_and(is_int) => (
                "setreg",
                format!(
                    "write `call croq::cuda::setreg_{way}({});`",
                    fourth
                        .map_or_else(String::new, |n| n.kind.to_string())
                        .trim_matches('`')
                ),
            ),
            ("frag", Some("store")) => ("frag.store", "write `mma.store from, to;`".to_owned()),
            ("frag", Some("load")) => ("frag.load", "write `mma.load`".to_owned()),
            ("frag", Some("fill")) => ("frag.fill", "write `mma.fill`".to_owned()),
            ("frag", Some("copy")) => ("frag.copy", "write `copy(to, from);`".to_owned()),
            ("frag", Some("apply")) => (
                match fourth.is_some_and(|token| token.kind.is(Punct::LParen)) {
                    true => "frag.apply",
                    // Its function may only return a value, in what `older` accepts.
                    false => "frag.apply name, [](…) { statements }",
                },
                "write `apply {i, j} in name.span { … }`".to_owned(),
            ),
            ("frag", Some("all_reduce_sum")) => (
                "frag.all_reduce_sum",
                "write `all_reduce_sum(row);`".to_owned(),
            ),
            ("frag", Some("reduce_min")) => (
                "frag.reduce_min",
                "write `reduce_max(row, matrix, 1);`, of negated values".to_owned(),
            ),
            _ => return fail,
        };
        inp.emit(Fault::known(
            Diagnostic::new(
                codes::E0119,
                first.span,
                format!("there is no statement `{form}`"),
            )
            .label("not part of the language")
            .help(help),
        ));
        recovery::skip_statement(inp);
        Ok(Vec::new())
    })
}

/// The first words of what `removed` reports.
pub fn begins_removed(kind: &TokenKind) -> bool {
    kind.is_keyword(Keyword::Frag) || kind.word() == Some("setreg")
}

/// `parallel = 3;`: an assignment to a keyword.
pub fn keyword_as_target<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Stmt>> {
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
