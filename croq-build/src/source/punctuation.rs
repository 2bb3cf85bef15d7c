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

/// The name or kind of a character that cannot be seen, and whether it is a space.
pub fn invisible(c: char) -> Option<(&'static str, bool)> {
    let space = |name| Some((name, true));
    let nothing = |name| Some((name, false));
    match c {
        '\u{00a0}' => space("no-break space"),
        '\u{1680}' => space("ogham space mark"),
        '\u{2000}' | '\u{2002}' => space("en space"),
        '\u{2001}' | '\u{2003}' => space("em space"),
        '\u{2004}' => space("three-per-em space"),
        '\u{2005}' => space("four-per-em space"),
        '\u{2006}' => space("six-per-em space"),
        '\u{2007}' => space("figure space"),
        '\u{2008}' => space("punctuation space"),
        '\u{2009}' => space("thin space"),
        '\u{200a}' => space("hair space"),
        '\u{202f}' => space("narrow no-break space"),
        '\u{205f}' => space("medium mathematical space"),
        '\u{3000}' => space("ideographic space"),
        '\u{0085}' => space("next line"),
        '\u{2028}' => space("line separator"),
        '\u{2029}' => space("paragraph separator"),
        '\u{00ad}' => nothing("soft hyphen"),
        '\u{180e}' => nothing("mongolian vowel separator"),
        '\u{200b}' => nothing("zero width space"),
        '\u{200c}' => nothing("zero width non-joiner"),
        '\u{200d}' => nothing("zero width joiner"),
        '\u{2060}' => nothing("word joiner"),
        '\u{feff}' => nothing("byte order mark"),
        '\u{200e}' | '\u{200f}' | '\u{061c}' => nothing("directional mark"),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => nothing("directional control"),
        '\u{2061}'..='\u{2064}' => nothing("invisible operator"),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => nothing("variation selector"),
        '\u{e0000}'..='\u{e007f}' => nothing("tag character"),
        _ => None,
    }
}

/// The name or kind of a character that only resembles one of the language, and that one.
pub fn look_alike(c: char) -> Option<(&'static str, &'static str)> {
    Some(match c {
        '\u{2212}' => ("minus sign", "-"),
        '\u{2010}' | '\u{2011}' => ("hyphen", "-"),
        '\u{2013}' => ("en dash", "-"),
        '\u{2014}' => ("em dash", "-"),
        '\u{00d7}' => ("multiplication sign", "*"),
        '\u{22c5}' | '\u{00b7}' => ("dot operator", "*"),
        '\u{2217}' => ("asterisk operator", "*"),
        '\u{00f7}' => ("division sign", "/"),
        '\u{2215}' => ("division slash", "/"),
        '\u{201c}' | '\u{201d}' => ("typographic quotation mark", "\""),
        '\u{2264}' => ("less-than or equal to", "<="),
        '\u{2265}' => ("greater-than or equal to", ">="),
        '\u{2260}' => ("not equal to", "!="),
        '\u{21d2}' => ("double arrow", "=>"),
        '\u{037e}' => ("greek question mark", ";"),
        '\u{ff1b}' => ("fullwidth semicolon", ";"),
        '\u{ff1a}' => ("fullwidth colon", ":"),
        '\u{ff0c}' => ("fullwidth comma", ","),
        '\u{ff0e}' => ("fullwidth full stop", "."),
        '\u{ff08}' => ("fullwidth left parenthesis", "("),
        '\u{ff09}' => ("fullwidth right parenthesis", ")"),
        '\u{ff1d}' => ("fullwidth equals sign", "="),
        _ => return letter(c),
    })
}

/// A Cyrillic or Greek letter that looks like a Latin one.
fn letter(c: char) -> Option<(&'static str, &'static str)> {
    const CYRILLIC: (&str, &str) = ("АВЕКМНОРСТУХЅІЈаеорсухѕіј", "ABEKMHOPCTYXSIJaeopcyxsij");
    const GREEK: (&str, &str) = ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον", "ABEZHIKMNOPTYXov");
    let latin = |(letters, latin): (&str, &'static str)| {
        let at = letters.chars().position(|letter| letter == c)?;
        latin.get(at..=at)
    };
    let cyrillic = latin(CYRILLIC).map(|latin| ("a Cyrillic letter", latin));
    cyrillic.or_else(|| latin(GREEK).map(|latin| ("a Greek letter", latin)))
}

#[cfg(test)]
mod tests {
    use super::{invisible, look_alike};

    #[test]
    fn characters_that_resemble_others_are_known_by_their_names() {
        assert_eq!(invisible('\u{a0}'), Some(("no-break space", true)));
        assert_eq!(invisible('\u{200b}'), Some(("zero width space", false)));
        assert_eq!(invisible(' '), None);
        assert_eq!(look_alike('\u{2212}'), Some(("minus sign", "-")));
        assert_eq!(look_alike('\u{445}'), Some(("a Cyrillic letter", "x")));
        assert_eq!(look_alike('\u{458}'), Some(("a Cyrillic letter", "j")));
        assert_eq!(look_alike('\u{3bd}'), Some(("a Greek letter", "v")));
        assert_eq!(look_alike('\u{3a7}'), Some(("a Greek letter", "X")));
        assert_eq!(look_alike('x'), None);
    }
}
