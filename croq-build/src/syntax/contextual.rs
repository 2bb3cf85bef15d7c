//! Keywords that a function uses as names.
//!
//! A word is a keyword only where the grammar requires it. A function that declares a name with the
//! spelling of a keyword (`stage = k % 2;`, `shared f32 [N] half;`, `int swap` among its parameters)
//! may use it wherever no rule expects the keyword: `x + half`, but `half y;` and `__to<half>(x)`. A
//! function without such a declaration is not changed, so a keyword in the place of a name is still
//! reported.
//!
//! Words of control flow, and `int`, `bool`, `void`, `auto` and `mutable`, are never names.

use std::borrow::Cow;
use std::collections::HashSet;

use super::neighbours::Neighbours;
use super::tokens::kind_text;
use crate::source::SourceFile;
use crate::source::token::{ElemType, Keyword, Punct, Token, TokenKind};

/// The tokens of a function, in which keywords that are used as names are identifiers.
///
/// `functions` are the names of functions that are keywords: `half(x);` calls one.
pub fn with_names<'t>(
    tokens: Cow<'t, [Token]>,
    file: &SourceFile,
    functions: &HashSet<&str>,
) -> Cow<'t, [Token]> {
    let all = Neighbours {
        tokens: &tokens,
        body: body_of(&tokens),
    };
    let mut names: HashSet<String> = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_word = token.kind.may_be_a_name() || is_reserved(&token.kind);
        if is_word && all.is_declared(at) {
            names.insert(spelling(token, file));
        }
    }
    let of_device = (0..tokens.len()).any(|at| all.is_device_function(at));
    if names.is_empty() && functions.is_empty() && !of_device {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len());
    // `swap(a, b);` of the function `swap` exchanges.
    let own = name_of(&tokens);
    let mut kernel_ends = 0;
    for (at, token) in tokens.iter().enumerate() {
        let mut token = token.clone();
        let used = match token.kind.may_be_a_name() {
            true => !all.is_keyword(at),
            false => is_reserved(&token.kind) && !all.is_declared(at) && all.is_operand(at),
        };
        if at >= kernel_ends && token.kind.is_keyword(Keyword::Parallel) {
            kernel_ends = all.end_of_parallel(at);
        }
        let on_host = at >= kernel_ends && kind_text(&token.kind) != own;
        let called = token.kind.may_be_a_name() && all.is_called(at, on_host);
        let of_device = all.is_device_function(at);
        if used || called || of_device {
            let text = spelling(&token, file);
            let of_file = called && functions.contains(text.as_str());
            if of_device || of_file || used && names.contains(&text) {
                token.kind = TokenKind::Word(text.into());
            }
        }
        out.push(token);
    }
    Cow::Owned(out)
}

/// The functions that have the spelling of a keyword as their names.
pub fn functions_of(file: &SourceFile) -> HashSet<&str> {
    let headers = file.functions.iter().map(|function| &function.tokens);
    let words = headers.filter_map(|tokens| name_of(tokens));
    let is_keyword =
        |word: &&str| Keyword::from_text(word).is_some() || ElemType::from_text(word).is_some();
    words.filter(is_keyword).collect()
}

/// The name of a function.
fn name_of(tokens: &[Token]) -> Option<&str> {
    let open = tokens
        .iter()
        .position(|token| token.kind.is(Punct::LParen))?;
    tokens.get(open.checked_sub(1)?)?.kind.word()
}

/// The index of the brace that opens the body.
fn body_of(tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) if depth == 0 => return at,
            TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The word in the source, which may be an alias of the token's.
fn spelling(token: &Token, file: &SourceFile) -> String {
    match file.macro_at(token.span) {
        None => file.snippet(token.span).to_owned(),
        Some(_) => kind_text(&token.kind).unwrap_or_default().to_owned(),
    }
}

/// A word that is no name anywhere. Its declaration remains an error, its uses are none.
fn is_reserved(kind: &TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(word) => matches!(
            word,
            Keyword::Void
                | Keyword::Mutable
                | Keyword::Parallel
                | Keyword::Foreach
                | Keyword::If
                | Keyword::Else
                | Keyword::While
                | Keyword::Break
                | Keyword::Continue
                | Keyword::Yield
                | Keyword::Return
                | Keyword::Inthreads
                | Keyword::Goto
        ),
        TokenKind::Type(word) => matches!(word, ElemType::Int | ElemType::Bool),
        _ => false,
    }
}
