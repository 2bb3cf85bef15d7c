//! The signature of a C++ function, from its header: the number of arguments, and the kinds of
//! template arguments. A header that is not fully understood is left to the C++ compiler.

use super::raw::{Raw, RawText};

/// The properties of a function that calls are checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    /// `None` if the function is not a template.
    pub template: Option<Vec<TemplateParam>>,
    /// The type of the result, if it is one word or several words of a number type.
    pub result: Option<String>,
    /// The number of arguments without a default.
    pub least: usize,
    pub most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateParam {
    Type,
    Value,
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Byte(u8),
}

use Token::{Byte, Word};

impl Signature {
    /// Reads the text before a function's `{` or `;`.
    pub fn read(header: &str) -> Option<Self> {
        let mut walk = RawText::new(header, 0, header.len());
        let mut tokens = Vec::new();
        while let Some(raw) = walk.next_raw() {
            match raw {
                Raw::Word(word, _) => tokens.push(Word(word)),
                Raw::Byte(byte, _) => tokens.push(Byte(byte)),
                Raw::Str(_) => {}
                // Which of its branches is active is not known here.
                Raw::LineHash(_) => return None,
            }
        }
        let mut rest = tokens.as_slice();
        let mut template = None;
        if let Some((Word("template"), after)) = rest.split_first() {
            let (params, after) = list(after, b'<', b'>')?;
            template = Some(
                params
                    .iter()
                    .map(|p| template_param(p))
                    .collect::<Option<_>>()?,
            );
            rest = after;
        }
        let open = rest.iter().position(|token| *token == Byte(b'('))?;
        let (before, from) = rest.split_at_checked(open)?;
        let name = match before.last()? {
            Word(name) if !is_attribute(name) => (*name).to_owned(),
            _ => return None,
        };
        let odd = |token: &Token| matches!(token, Word("template" | "requires" | "operator"));
        if rest.iter().any(odd) {
            return None;
        }
        let (mut params, _) = list(from, b'(', b')')?;
        if matches!(params.as_slice(), [[Word("void")]] | [[]]) {
            params.clear();
        }
        // A lone word may be a macro for several parameters.
        let opaque = |param: &[Token]| match param {
            [] => true,
            [Word(word)] => !is_type(word),
            tokens => tokens.contains(&Byte(b'.')),
        };
        if params.iter().any(|p| opaque(p)) {
            return None;
        }
        let has_default = |param: &[Token]| param.contains(&Byte(b'='));
        let least = params.iter().position(|p| has_default(p));
        Some(Self {
            result: result(before),
            name,
            template,
            least: least.unwrap_or(params.len()),
            most: params.len(),
        })
    }
}

/// The words of a type before a function's name, given with the name: no specifiers, no qualifiers.
/// `None` for a pointer, a reference, a template and the like.
fn result(tokens: &[Token]) -> Option<String> {
    const SPECIFIERS: [&str; 12] = [
        "__co_device__",
        "__device__",
        "__forceinline__",
        "__host__",
        "__inline__",
        "__noinline__",
        "const",
        "constexpr",
        "extern",
        "inline",
        "static",
        "volatile",
    ];
    let (_, before) = tokens.split_last()?;
    let mut words: Vec<&str> = Vec::new();
    let mut joins = false;
    for token in before {
        match token {
            Byte(b':') => joins = true,
            Byte(_) => return None,
            Word(word) if SPECIFIERS.contains(word) => {}
            // The last part of a qualified name.
            Word(word) if joins => {
                words.pop();
                words.push(word);
                joins = false;
            }
            Word(word) => words.push(word),
        }
    }
    (!words.is_empty() && !joins).then(|| words.join(" "))
}

/// The parts of a list in brackets, and the tokens after it.
fn list<'t, 'a>(
    tokens: &'t [Token<'a>],
    open: u8,
    close: u8,
) -> Option<(Vec<&'t [Token<'a>]>, &'t [Token<'a>])> {
    let (first, tokens) = tokens.split_first()?;
    if *first != Byte(open) {
        return None;
    }
    let mut parts = Vec::new();
    let (mut inner, mut start) = (Vec::new(), 0);
    for (at, token) in tokens.iter().enumerate() {
        let Byte(byte) = token else { continue };
        match byte {
            b'(' | b'[' | b'{' | b'<' => inner.push(*byte),
            b',' if inner.is_empty() => {
                parts.push(tokens.get(start..at)?);
                start = at + 1;
            }
            byte if *byte == close && inner.is_empty() => {
                parts.push(tokens.get(start..at)?);
                return Some((parts, tokens.get(at + 1..)?));
            }
            b')' | b']' | b'}' | b'>' => {
                inner.pop().filter(|open| closes(*open, *byte))?;
            }
            _ => {}
        }
    }
    None
}

fn closes(open: u8, close: u8) -> bool {
    matches!(
        (open, close),
        (b'(', b')') | (b'[', b']') | (b'{', b'}') | (b'<', b'>')
    )
}

fn template_param(param: &[Token]) -> Option<TemplateParam> {
    if param.contains(&Byte(b'.')) {
        return None;
    }
    let (first, rest) = param.split_first()?;
    match first {
        Word("class" | "typename") => Some(TemplateParam::Type),
        Word(word) if is_type(word) && !rest.contains(&Byte(b'(')) => Some(TemplateParam::Value),
        _ => None,
    }
}

fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__attribute__" | "__launch_bounds__" | "__align__" | "alignas" | "decltype" | "noexcept"
    )
}

fn is_type(word: &str) -> bool {
    matches!(
        word,
        "int"
            | "unsigned"
            | "signed"
            | "long"
            | "short"
            | "char"
            | "float"
            | "double"
            | "bool"
            | "auto"
            | "half"
            | "__half"
            | "size_t"
            | "int32_t"
            | "uint32_t"
            | "int64_t"
            | "uint64_t"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use TemplateParam::{Type, Value};

    fn read(header: &str) -> Option<(String, Option<Vec<TemplateParam>>, usize, usize)> {
        let s = Signature::read(header)?;
        Some((s.name, s.template, s.least, s.most))
    }

    fn plain(
        name: &str,
        least: usize,
        most: usize,
    ) -> Option<(String, Option<Vec<TemplateParam>>, usize, usize)> {
        Some((name.to_owned(), None, least, most))
    }

    #[test]
    fn parameters_are_counted() {
        assert_eq!(read("__device__ void f()"), plain("f", 0, 0));
        assert_eq!(read("__device__ int f(void)"), plain("f", 0, 0));
        assert_eq!(
            read("__device__ inline float g(float a, int *b)"),
            plain("g", 2, 2)
        );
        assert_eq!(
            read("__device__ int h(int a, int b = f(1, 2), int c = {3})"),
            plain("h", 1, 3)
        );
        assert_eq!(
            read("__device__ int k(pair<int, int> a, int (*b)(int, int))"),
            plain("k", 2, 2)
        );
        assert_eq!(
            read("__device__ __attribute__((noinline)) int f(int a)"),
            None
        );
        for left_to_cpp in [
            "__device__ int f(int a, ...)",
            "__device__ int f(PARAMS)",
            "__device__ bool operator<(pair a, pair b)",
            "#if A\n__device__ int f(int a)\n#else\nint f()\n#endif",
        ] {
            assert_eq!(read(left_to_cpp), None, "{left_to_cpp}");
        }
    }

    #[test]
    fn results_are_read() {
        let result = |header: &str| Signature::read(header).and_then(|s| s.result);
        for (header, expected) in [
            ("__device__ float f()", Some("float")),
            (
                "static __device__ __forceinline__ const unsigned int f()",
                Some("unsigned int"),
            ),
            ("__device__ choreo::f32 f(int a)", Some("f32")),
            ("__device__ auto f()", Some("auto")),
            ("__device__ float *f()", None),
            ("__device__ pair<int, int> f()", None),
        ] {
            assert_eq!(result(header).as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn template_parameters_have_kinds() {
        let template = |header: &str| read(header).map(|(name, template, ..)| (name, template));
        let some = |kinds: &[TemplateParam]| Some(("f".to_owned(), Some(kinds.to_vec())));
        assert_eq!(
            template("template <int N> __device__ int f(int a)"),
            some(&[Value])
        );
        assert_eq!(
            template(
                "template <class T, typename U = pair<int, int>, unsigned N = 3> __device__ T f(T a)"
            ),
            some(&[Type, Type, Value])
        );
        for left_to_cpp in [
            "template <class... T> __device__ int f(int a)",
            "template <template <class> class Q> __device__ int f(int a)",
            "template <class T, int (*F)(int)> __device__ int f(int a)",
            "template <class T> requires true __device__ T f(T a)",
            "template <Number T> __device__ T f(T a)",
        ] {
            assert_eq!(template(left_to_cpp), None, "{left_to_cpp}");
        }
    }
}
