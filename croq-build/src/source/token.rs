//! The tokens of a `__co__` function.

use std::fmt;
use std::sync::Arc;

use super::Span;
use crate::diagnostics::Code;

/// One token after macro expansion, with its location in the unexpanded file.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    /// The span of the token itself, or of the macro use that it was expanded from.
    pub span: Span,
    /// Whether it is the first token of its line; error recovery treats it as a possible beginning
    /// of a statement.
    pub starts_line: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// An identifier or a contextual word.
    Word(Arc<str>),
    Keyword(Keyword),
    /// `f32`, `int`, `bool`: an element type in the source.
    Type(ElemType),
    /// Value, `u` suffix, `l`/`ll` suffix.
    Int {
        value: i128,
        unsigned: bool,
        long: bool,
    },
    Float {
        value: f64,
        single: bool,
    },
    Str(Arc<str>),
    /// `group-4`
    Group4,
    Punct(Punct),
    /// Text that is not a token; reported if it reaches a function.
    Bad(Box<BadToken>),
}

/// The reason why a piece of text is not a token, and its replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct BadToken {
    pub code: Code,
    pub message: String,
    pub label: String,
    pub help: Option<String>,
    /// The parser continues with this token; `None` is no token.
    pub stand_in: Option<TokenKind>,
}

impl TokenKind {
    pub fn is(&self, punct: Punct) -> bool {
        matches!(self, TokenKind::Punct(p) if *p == punct)
    }

    pub fn is_keyword(&self, keyword: Keyword) -> bool {
        matches!(self, TokenKind::Keyword(k) if *k == keyword)
    }

    pub fn word(&self) -> Option<&str> {
        match self {
            TokenKind::Word(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is a keyword or a type that may be a name where no rule needs it. Words of control
    /// flow, and `int`, `bool`, `void`, `auto` and `mutable`, are never names.
    pub fn may_be_a_name(&self) -> bool {
        match self {
            TokenKind::Keyword(word) => matches!(
                word,
                Keyword::Mdspan
                    | Keyword::Ituple
                    | Keyword::Stream
                    | Keyword::Event
                    | Keyword::Frag
                    | Keyword::Global
                    | Keyword::Shared
                    | Keyword::Local
                    | Keyword::By
                    | Keyword::With
                    | Keyword::In
                    | Keyword::Where
                    | Keyword::Dma
                    | Keyword::Tma
                    | Keyword::Swap
                    | Keyword::Rotate
                    | Keyword::Select
                    | Keyword::Wait
                    | Keyword::Trigger
                    | Keyword::Sync
                    | Keyword::Mma
                    | Keyword::Apply
                    | Keyword::Call
                    | Keyword::Inf
            ),
            TokenKind::Type(ElemType::Int | ElemType::Bool) => false,
            TokenKind::Type(_) => true,
            _ => false,
        }
    }
}

impl fmt::Display for TokenKind {
    /// The token as messages quote it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Word(text) => write!(f, "`{text}`"),
            TokenKind::Keyword(keyword) => write!(f, "`{}`", keyword.text()),
            TokenKind::Type(elem) => write!(f, "`{}`", elem.text()),
            TokenKind::Int { value, .. } => write!(f, "`{value}`"),
            TokenKind::Float { value, .. } => write!(f, "`{value:?}`"),
            TokenKind::Str(_) => write!(f, "a string"),
            TokenKind::Group4 => write!(f, "`group-4`"),
            TokenKind::Punct(punct) => write!(f, "`{}`", punct.text()),
            TokenKind::Bad(_) => write!(f, "unreadable text"),
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal $(| $alias:literal)*,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            pub fn from_text(text: &str) -> Option<$name> {
                match text {
                    $($text $(| $alias)* => Some($name::$variant),)*
                    _ => None,
                }
            }

            pub const fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// Words that cannot be names inside a function. Member words, levels, and the names of
    /// builtins are contextual and are not keywords.
    Keyword {
        Auto = "auto",
        Void = "void",
        Mdspan = "mdspan",
        Ituple = "ituple",
        Stream = "stream",
        Event = "event",
        Frag = "frag",
        Global = "global",
        Shared = "shared",
        Local = "local",
        Mutable = "mutable",
        Parallel = "parallel",
        By = "by",
        With = "with",
        In = "in",
        Where = "where",
        Foreach = "foreach",
        If = "if",
        Else = "else",
        While = "while",
        Break = "break",
        Continue = "continue",
        Yield = "yield",
        Return = "return",
        Inthreads = "inthreads",
        Dma = "dma",
        Tma = "tma",
        Swap = "swap",
        Rotate = "rotate",
        Select = "select",
        Wait = "wait",
        Trigger = "trigger",
        Sync = "sync",
        Mma = "mma",
        Apply = "apply",
        Call = "call",
        True = "true",
        False = "false",
        Inf = "inf",
        Nullptr = "nullptr",
        To = "__to",
        Cpp = "__cpp__",
        Asm = "__asm__" | "asm",
        Goto = "goto",
        Co = "__co__",
    }
}

words! {
    /// Element types of `02-types.md` section 1 and their spellings; `int` and `bool` are scalars
    /// only. Those that croq can store and compute with are the [`Scalar`](crate::ir::Scalar)s of
    /// the same name.
    ElemType {
        F64 = "f64" | "double",
        F32 = "f32" | "float",
        Tf32 = "tf32",
        F16 = "f16" | "half",
        Bf16 = "bf16" | "bfp16",
        F8E4M3 = "f8_e4m3" | "f8",
        F8E5M2 = "f8_e5m2",
        F8Ue4m3 = "f8_ue4m3",
        F8Ue8m0 = "f8_ue8m0",
        F6E3M2 = "f6_e3m2",
        F6E2M3 = "f6_e2m3",
        F4E2M1 = "f4_e2m1",
        S64 = "s64",
        S32 = "s32",
        S16 = "s16",
        S8 = "s8",
        S6 = "s6",
        S4 = "s4",
        S2 = "s2",
        U64 = "u64",
        U32 = "u32",
        U16 = "u16",
        U8 = "u8",
        U6 = "u6",
        U4 = "u4",
        U2 = "u2",
        U1 = "u1",
        Bin1 = "bin1",
        Bool = "bool",
        Int = "int",
    }
}

words! {
    /// Operators and punctuation.
    Punct {
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        PlusPlus = "++",
        MinusMinus = "--",
        Shl = "<<",
        Shr = ">>",
        Amp = "&",
        Pipe = "|",
        Caret = "^",
        Tilde = "~",
        AmpAmp = "&&",
        PipePipe = "||",
        Bang = "!",
        Lt = "<",
        Gt = ">",
        Le = "<=",
        Ge = ">=",
        EqEq = "==",
        Ne = "!=",
        Question = "?",
        QuestionQuestion = "??",
        Colon = ":",
        ColonColon = "::",
        Eq = "=",
        PlusEq = "+=",
        MinusEq = "-=",
        StarEq = "*=",
        SlashEq = "/=",
        PercentEq = "%=",
        // C operators that the language lacks, lexed as one token so that messages can name them.
        AmpEq = "&=",
        PipeEq = "|=",
        CaretEq = "^=",
        ShlEq = "<<=",
        ShrEq = ">>=",
        Arrow = "->",
        Hash = "#",
        HashPlus = "#+",
        HashMinus = "#-",
        HashStar = "#*",
        HashSlash = "#/",
        HashPercent = "#%",
        FatArrow = "=>",
        BothWays = "<->",
        LParen = "(",
        RParen = ")",
        LBracket = "[",
        RBracket = "]",
        LBrace = "{",
        RBrace = "}",
        Comma = ",",
        Semi = ";",
        Dot = ".",
    }
}
