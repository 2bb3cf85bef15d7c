//! Positions in the user's unexpanded text.

/// A half-open range of byte offsets into one `.co` file, before macro expansion.
///
/// A token that was expanded from a macro has the span of the macro's *use*; the macro is recorded
/// with the tokens.
#[derive(Clone, Copy, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    /// The offset of the first token in the macro's definition, 0 for text outside of macros. Only
    /// comments in generated text use it: comparisons of spans ignore it.
    pub(crate) defined: u32,
}

impl Span {
    pub const fn new(start: u32, end: u32) -> Self {
        Self {
            start,
            end,
            defined: 0,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        let argument = self.start <= other.start && other.end <= self.end;
        let of_macro = self.defined != 0 && (other.defined != 0 || argument);
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            defined: if of_macro { self.defined } else { 0 },
        }
    }

    /// The span of a macro's use, for a token at `offset` in the macro's definition.
    pub(crate) fn defined_at(self, offset: u32) -> Span {
        let defined = offset;
        Span { defined, ..self }
    }

    /// The offset of the text itself: in the macro's definition, if the whole span was expanded
    /// from a macro.
    pub(crate) fn written(self) -> u32 {
        match self.defined {
            0 => self.start,
            offset => offset,
        }
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

impl PartialEq for Span {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}

impl Eq for Span {}

impl std::hash::Hash for Span {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.start, self.end).hash(state);
    }
}

impl PartialOrd for Span {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Span {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.start, self.end).cmp(&(other.start, other.end))
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A value with its source location.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    pub node: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub fn new(node: T, span: Span) -> Self {
        Self { node, span }
    }
}
