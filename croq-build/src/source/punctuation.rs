//! Operators and punctuation, longest first, and characters that only resemble them.

use super::token::Punct;

/// The longest operator that `bytes` starts with, and its length.
pub fn punct_at(bytes: &[u8]) -> Option<(Punct, usize)> {
    use Punct::*;
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let two = |second: u8, yes: Punct, no: Punct| {
        if at(1) == second { (yes, 2) } else { (no, 1) }
    };
    Some(match at(0) {
        b'+' => match at(1) {
            b'+' => (PlusPlus, 2),
            b'=' => (PlusEq, 2),
            _ => (Plus, 1),
        },
        b'-' => match at(1) {
            b'-' => (MinusMinus, 2),
            b'=' => (MinusEq, 2),
            b'>' => (Arrow, 2),
            _ => (Minus, 1),
        },
        b'*' => two(b'=', StarEq, Star),
        b'/' => two(b'=', SlashEq, Slash),
        b'%' => two(b'=', PercentEq, Percent),
        b'<' => match (at(1), at(2)) {
            (b'-', b'>') => (BothWays, 3),
            (b'<', b'=') => (ShlEq, 3),
            (b'<', _) => (Shl, 2),
            (b'=', _) => (Le, 2),
            _ => (Lt, 1),
        },
        b'>' => match (at(1), at(2)) {
            (b'>', b'=') => (ShrEq, 3),
            (b'>', _) => (Shr, 2),
            (b'=', _) => (Ge, 2),
            _ => (Gt, 1),
        },
        b'&' => match at(1) {
            b'&' => (AmpAmp, 2),
            b'=' => (AmpEq, 2),
            _ => (Amp, 1),
        },
        b'|' => match at(1) {
            b'|' => (PipePipe, 2),
            b'=' => (PipeEq, 2),
            _ => (Pipe, 1),
        },
        b'^' => two(b'=', CaretEq, Caret),
        b'~' => (Tilde, 1),
        b'!' => two(b'=', Ne, Bang),
        b'=' => match at(1) {
            b'=' => (EqEq, 2),
            b'>' => (FatArrow, 2),
            _ => (Eq, 1),
        },
        b'?' => two(b'?', QuestionQuestion, Question),
        b':' => two(b':', ColonColon, Colon),
        b'#' => match at(1) {
            b'+' => (HashPlus, 2),
            b'-' => (HashMinus, 2),
            b'*' => (HashStar, 2),
            // `#/*…*/p` and `#//` are a `#` and a comment.
            b'/' if !matches!(at(2), b'/' | b'*') => (HashSlash, 2),
            b'%' => (HashPercent, 2),
            _ => (Hash, 1),
        },
        b'(' => (LParen, 1),
        b')' => (RParen, 1),
        b'[' => (LBracket, 1),
        b']' => (RBracket, 1),
        b'{' => (LBrace, 1),
        b'}' => (RBrace, 1),
        b',' => (Comma, 1),
        b';' => (Semi, 1),
        b'.' => (Dot, 1),
        _ => return None,
    })
}

/// The operator that a typographic character in pasted text replaces.
pub fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "-",
        '\u{00d7}' => "*",
        '\u{00f7}' => "/",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2260}' => "!=",
        '\u{21d2}' => "=>",
        '\u{ff1b}' => ";",
        '\u{ff0c}' => ",",
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        _ => return None,
    })
}
