//! The dictionary, and the cutting of a text into pieces.

use croq_build::source::token::{ElemType, Keyword, Punct};

/// Words that mean something only where they stand, and names of builtins.
const CONTEXTUAL: &[&str] = &[
    "alignas",
    "assert",
    "at",
    "block",
    "cdiv",
    "chunk",
    "chunkat",
    "cluster",
    "const",
    "copy",
    "data",
    "device",
    "from",
    "group",
    "group-4",
    "group_n",
    "int32_t",
    "launch_bounds",
    "maxnreg",
    "mdata",
    "modspan",
    "multicast",
    "pad",
    "println",
    "print",
    "span",
    "span_as",
    "step",
    "stride",
    "subspan",
    "swiz",
    "swizzle",
    "thread",
    "transp",
    "unroll",
    "using",
    "view",
    "warp",
    "zfill",
    "__alignup",
    "__aligndown",
    "__device__",
    "__host__",
    "__shfl_xor_sync",
    "__max",
    "__min",
    "__sqrt",
    "__bitcast",
    "__half2",
    "__cok__",
    "float4",
    "namespace",
    "size_t",
    "static",
    "struct",
    "template",
    "typename",
    "_",
    "#define",
    "#undef",
    "#if",
    "#ifdef",
    "#elif",
    "#else",
    "#endif",
    "#include",
    "#error",
    "#pragma croq intrinsic prefix",
    "defined",
    "\\\n",
    "//",
    "/*",
    "*/",
    "\"",
    "R\"(",
    ")\"",
    "::",
    "...",
    "@",
    "$",
    "`",
    "é",
    "\u{feff}",
    "\0",
];

pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "16",
    "31",
    "32",
    "33",
    "64",
    "128",
    "255",
    "256",
    "1024",
    "1025",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0x7fffffffffffffff",
    "0xffffffffffffffffu",
    "0b1",
    "017",
    "1u",
    "1ll",
    "1.0f",
    "0.0",
    "1e308",
    "1e-400",
    "1e999f",
    ".5",
    "1.",
    "0x",
    "1e",
    "inf",
    "nan",
    "true",
    "'a'",
];

/// Every word of the language.
pub fn words() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = Keyword::ALL.iter().map(|word| word.text()).collect();
    all.extend(ElemType::ALL.iter().map(|word| word.text()));
    all.extend(CONTEXTUAL);
    all
}

pub fn puncts() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = Punct::ALL.iter().map(|punct| punct.text()).collect();
    all.sort_by_key(|text| std::cmp::Reverse(text.len()));
    all
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Number,
    Punct,
    Space,
    Other,
}

pub fn kind(piece: &str) -> Kind {
    match piece.chars().next() {
        Some(c) if c.is_alphabetic() || c == '_' => Kind::Word,
        Some(c) if c.is_ascii_digit() => Kind::Number,
        Some(c) if c.is_whitespace() => Kind::Space,
        Some(c) if c.is_ascii_punctuation() && c != '"' => Kind::Punct,
        _ => Kind::Other,
    }
}

/// Cuts a text; the pieces in a row are the text again.
pub fn split<'a>(text: &'a str, puncts: &[&str]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |f: &dyn Fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
        let length = match kind(rest) {
            Kind::Word => run(&|c| c.is_alphanumeric() || c == '_'),
            Kind::Number => run(&|c| c.is_alphanumeric() || c == '.'),
            // A line's end is a piece of its own.
            Kind::Space if first == '\n' => 1,
            Kind::Space => run(&|c| c.is_whitespace() && c != '\n'),
            Kind::Punct => puncts
                .iter()
                .find(|punct| rest.starts_with(**punct))
                .map_or(first.len_utf8(), |punct| punct.len()),
            Kind::Other => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Where the group that opens at `pieces[open]` ends: the index of its closing bracket.
pub fn closing(pieces: &[&str], open: usize) -> Option<usize> {
    let (opens, closes) = match *pieces.get(open)? {
        "(" => ("(", ")"),
        "[" => ("[", "]"),
        "{" => ("{", "}"),
        _ => return None,
    };
    let mut depth = 0usize;
    for (at, piece) in pieces.iter().enumerate().skip(open) {
        if *piece == opens {
            depth += 1;
        } else if *piece == closes {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}
