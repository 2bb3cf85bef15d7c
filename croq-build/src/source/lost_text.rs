//! Text at file scope that is no C++, and would be left out in silence: a misspelled `__co__`, a function
//! without it, words that belong to nothing.

use super::Span;
use super::token::ElemType;
use crate::diagnostics::{Diagnostic, codes};

/// The keyword that a word is meant to be.
pub fn keyword_of(word: &str) -> Option<&'static str> {
    let letters = word.trim_matches('_');
    let keyword = match letters.to_ascii_lowercase().as_str() {
        "co" => "__co__",
        "cok" => "__cok__",
        "device" => "__device__",
        _ => return None,
    };
    (letters.len() < word.len() && word != keyword).then_some(keyword)
}

pub fn misspelled(word: &str, keyword: &str, span: Span) -> Diagnostic {
    let what = match keyword {
        "__co__" => "functions of croq begin with `__co__`",
        "__cok__" => "kernels in CUDA stand in `__cok__ { … }`",
        _ => "functions for device code begin with `__device__`",
    };
    Diagnostic::new(codes::E0100, span, format!("unknown word `{word}`"))
        .label(what)
        .help(format!("write `{keyword}`"))
}

/// Where a declaration has the type of a tensor, `f32 [N]`, as only functions of croq do.
pub fn tensor_type(header: &str) -> Option<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    header.match_indices('[').find_map(|(bracket, _)| {
        let before = header.get(..bracket)?.trim_end();
        let start = before.rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
        let (earlier, word) = (before.get(..start)?.trim_end(), before.get(start..)?);
        let begins = earlier.is_empty() || earlier.ends_with(['(', ',']);
        let has_storage = ["global", "shared", "local"]
            .iter()
            .any(|s| earlier.ends_with(s));
        // A parameter of C++ may be an array without a name.
        let is_cpp = ["int", "bool", "float", "double", "half"].contains(&word);
        let may_be_cpp = is_cpp && !earlier.is_empty() && !has_storage;
        let is_type = ElemType::from_text(word).is_some() && !may_be_cpp;
        (is_type && (begins || has_storage)).then_some((start, bracket + 1))
    })
}

pub fn without_keyword(name: &str, header: Span, tensor: Span) -> Diagnostic {
    Diagnostic::new(
        codes::E0100,
        header,
        format!("the function `{name}` has no `__co__`, so it is read as C++"),
    )
    .label("not a function of croq")
    .also(tensor, "not a type of C++")
    .help("write `__co__` in front of it")
}

pub fn belongs_to_nothing(span: Span) -> Diagnostic {
    Diagnostic::new(codes::E0100, span, "this text belongs to no declaration")
        .label("neither C++ nor croq")
        .help("remove it, or make it a comment")
}

#[cfg(test)]
mod tests {
    use super::{keyword_of, tensor_type};

    #[test]
    fn words_that_are_meant_to_be_keywords() {
        for word in [
            "__co_", "_co__", "__co", "co__", "_co_", "__co___", "__Co__",
        ] {
            assert_eq!(keyword_of(word), Some("__co__"), "{word}");
        }
        assert_eq!(keyword_of("_device_"), Some("__device__"));
        assert_eq!(keyword_of("__cok_"), Some("__cok__"));
        for word in [
            "co",
            "device",
            "__co__",
            "__device__",
            "__cok__",
            "co_",
            "__host__",
        ] {
            let known = ["co_"].contains(&word).then_some("__co__");
            assert_eq!(keyword_of(word), known, "{word}");
        }
    }

    #[test]
    fn types_that_are_no_types_of_cpp() {
        for header in [
            "f32 [N] f(",
            "void f(f32[N] x)",
            "void f(int n, global f16 [M, N] x)",
            "f32 [N] f()",
            "float [N] f()",
        ] {
            assert!(tensor_type(header).is_some(), "{header}");
        }
        for header in [
            "float x[4]",
            "void f(float x[4])",
            "f32 x[4]",
            "void f(f32 x[4], int n[2])",
            "void f(size [4])",
            "void f(int [4])",
            "auto f = [f32] (f32 x)",
        ] {
            assert_eq!(tensor_type(header), None, "{header}");
        }
    }
}
