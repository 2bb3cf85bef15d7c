//! Replacements that a tool can apply without asking.

use crate::span::Span;

/// The text to write in place of a part of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub span: Span,
    pub replacement: String,
}

/// A text with some of its suggestions applied.
#[derive(Debug, PartialEq, Eq)]
pub struct Applied {
    pub text: String,
    /// The positions in the list of those that were applied, in the order of the text.
    pub applied: Vec<usize>,
    /// The number of those that overlap with an earlier one.
    pub overlapping: usize,
}

/// Applies suggestions to a text: of two that overlap, the one that begins first. Those that do not
/// fit the text are ignored.
pub fn apply(text: &str, suggestions: &[Suggestion]) -> Applied {
    let mut order: Vec<usize> = (0..suggestions.len()).collect();
    order.sort_by_key(|at| suggestions.get(*at).map(|s| (s.span.start, s.span.end)));
    let mut out = Applied {
        text: String::with_capacity(text.len()),
        applied: Vec::new(),
        overlapping: 0,
    };
    let mut done = 0;
    let mut last: Option<&Suggestion> = None;
    for at in order {
        let Some(suggestion) = suggestions.get(at) else {
            continue;
        };
        if last == Some(suggestion) {
            continue;
        }
        let (start, end) = (suggestion.span.start as usize, suggestion.span.end as usize);
        // Two insertions at one place would depend on their order.
        let same_place = last.is_some_and(|last| last.span.start == suggestion.span.start);
        if start < done || same_place {
            out.overlapping += 1;
            continue;
        }
        let (Some(before), Some(_)) = (text.get(done..start), text.get(start..end)) else {
            continue;
        };
        out.text.push_str(before);
        out.text.push_str(&suggestion.replacement);
        out.applied.push(at);
        done = end;
        last = Some(suggestion);
    }
    out.text.push_str(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(start: u32, end: u32, replacement: &str) -> Suggestion {
        Suggestion {
            span: Span::new(start, end),
            replacement: replacement.to_owned(),
        }
    }

    #[test]
    fn the_first_of_two_that_overlap_is_applied() {
        let all = [
            suggestion(4, 5, "E"),
            suggestion(0, 2, "A"),
            suggestion(1, 3, "B"),
            suggestion(6, 6, "+"),
            suggestion(6, 6, "-"),
            suggestion(4, 5, "E"),
            suggestion(90, 91, "?"),
        ];
        let out = apply("abcdef", &all);
        assert_eq!(out.text, "AcdEf+");
        assert_eq!(out.applied, [1, 0, 3]);
        assert_eq!(out.overlapping, 2);
    }

    #[test]
    fn characters_are_not_divided() {
        for (start, end) in [(2, 3), (1, 2)] {
            let out = apply("aé", &[suggestion(start, end, "x")]);
            assert_eq!(out.text, "aé");
            assert_eq!(out.applied, Vec::<usize>::new());
        }
    }
}
