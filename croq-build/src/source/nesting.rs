//! Checks device functions that call device functions of the same file.
//!
//! On the simulated GPU a thread's stack is small and has a fixed size. A compiler limits each
//! function's frame, but not the number of nested frames. A function that provably calls itself,
//! directly or through others, is an error. Calls that cannot be resolved here, such as those of
//! templates and overloads, are checked at run time: every function that calls another of the file
//! begins with `CROQ_ENTER`, which ends the kernel with a report if the next frame would not fit. A
//! function that calls none needs no check, because its caller has made one.

use super::Span;
use super::file::{DeviceText, DeviceTextKind, SourceFile};
use super::raw::{Raw, RawText};
use crate::diagnostics::{Diagnostic, codes};
use crate::sorted::{SortedMap, SortedSet};

/// The text at the beginning of a function that calls others.
const ENTER: &str = " CROQ_ENTER";

/// One call in a function's body.
struct Call<'a> {
    name: &'a str,
    /// The offset in the function's text.
    at: usize,
    /// Whether template arguments are given explicitly.
    explicit: bool,
}

/// The beginning of a function's body, after its brace.
fn body(text: &str) -> Option<usize> {
    let mut walk = RawText::new(text, 0, text.len());
    let mut depth = 0usize;
    let mut last = b' ';
    while let Some(raw) = walk.next_raw() {
        match raw {
            Raw::Byte(b'(' | b'[', _) => depth += 1,
            Raw::Byte(b')' | b']', _) => depth = depth.saturating_sub(1),
            Raw::LineHash(_) => walk.skip_line(),
            // `__device__ int table[2] = {…}` and `table[2]{…}` are not functions.
            Raw::Byte(b'{', at) if depth == 0 => {
                return (!matches!(last, b'=' | b']' | b',')).then_some(at + 1);
            }
            _ => {}
        }
        last = match raw {
            Raw::Byte(b, _) => b,
            _ => b'a',
        };
    }
    None
}

fn is_template(text: &str) -> bool {
    text.trim_start().starts_with("template")
}

/// The calls of functions in `names`, in the text from `start` on.
fn calls<'a>(text: &'a str, start: usize, names: &SortedSet<&str>) -> Vec<Call<'a>> {
    let mut walk = RawText::new(text, start, text.len());
    let mut found: Vec<Call> = Vec::new();
    let mut candidate: Option<(&str, usize)> = None;
    // A name after `.`, `->` or `::` is a member of something else.
    let mut of_other = false;
    while let Some(raw) = walk.next_raw() {
        if let (Some((name, at)), Raw::Byte(b @ (b'(' | b'<'), _)) = (candidate, raw) {
            let explicit = b == b'<';
            found.push(Call { name, at, explicit });
        }
        candidate = match raw {
            Raw::Word(word, at) if !of_other && names.contains(word) => Some((word, at)),
            _ => None,
        };
        of_other = match raw {
            Raw::Byte(b'.', _) => true,
            Raw::Byte(b':', at) => text.as_bytes().get(at.wrapping_sub(1)) == Some(&b':'),
            Raw::Byte(b'>', at) => text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'-'),
            _ => false,
        };
    }
    found
}

fn functions(file: &SourceFile) -> impl Iterator<Item = (&DeviceText, usize)> {
    let device = file.device.iter();
    device
        .filter(|text| text.kind == DeviceTextKind::Device)
        .filter_map(|text| Some((text, body(&text.text)?)))
}

fn names(file: &SourceFile) -> SortedSet<&str> {
    functions(file)
        .flat_map(|(text, _)| text.names.iter().map(String::as_str))
        .collect()
}

/// The device code as it is compiled: with a check of the stack, if it calls others of the file.
pub fn with_stack_check(file: &SourceFile, text: &DeviceText) -> Option<String> {
    if text.kind != DeviceTextKind::Device {
        return None;
    }
    let start = body(&text.text)?;
    let calls_some = !calls(&text.text, start, &names(file)).is_empty();
    let (head, rest) = (text.text.get(..start)?, text.text.get(start..)?);
    calls_some.then(|| format!("{head}{ENTER}{rest}"))
}

/// Reports functions that reach themselves by calls that can only refer to them.
pub fn recursion(file: &SourceFile) -> Vec<Diagnostic> {
    let names = names(file);
    let mut count: SortedMap<&str, usize> = SortedMap::new();
    for name in functions(file).flat_map(|(text, _)| &text.names) {
        *count.entry(name).or_default() += 1;
    }
    // There is one function of that name, and it is not a template, so a call by the name is a call
    // of it.
    let plain: SortedMap<&str, (&DeviceText, Vec<Call>)> = functions(file)
        .filter(|(text, _)| !is_template(&text.text))
        .filter_map(|(text, start)| match text.names.as_slice() {
            [name] if count.get(name.as_str()) == Some(&1) => {
                Some((name.as_str(), (text, calls(&text.text, start, &names))))
            }
            _ => None,
        })
        .collect();
    let mut reports = Vec::new();
    let mut reported: SortedSet<&str> = SortedSet::new();
    for (name, (text, own)) in &plain {
        let name = *name;
        if reported.contains(name) {
            continue;
        }
        for call in own.iter().filter(|call| !call.explicit) {
            let Some(way) = way(&plain, call.name, name) else {
                continue;
            };
            reported.extend(&way);
            let (Ok(at), Ok(length)) = (u32::try_from(call.at), u32::try_from(call.name.len()))
            else {
                continue;
            };
            let start = text.span.start.saturating_add(at);
            let span = Span::new(start, start.saturating_add(length));
            let label = match way.len() {
                1 => "calls the function that it is in".to_owned(),
                _ => format!("leads back to `{name}` by way of `{}`", way.join("`, `")),
            };
            reports.push(
                Diagnostic::new(
                    codes::E0795,
                    span,
                    format!(
                        "`{name}` is recursive, and threads of the simulated GPU have small stacks"
                    ),
                )
                .label(label)
                .help("write a loop, with an array of fixed size for what is still to be done"),
            );
            break;
        }
    }
    reports
}

/// The path of calls from `from` to `to`; `to` is the last function.
fn way<'a>(
    plain: &SortedMap<&'a str, (&'a DeviceText, Vec<Call<'a>>)>,
    from: &'a str,
    to: &str,
) -> Option<Vec<&'a str>> {
    let mut before: SortedMap<&str, Option<&str>> = SortedMap::from([(from, None)]);
    let mut next = vec![from];
    while let Some(name) = next.pop() {
        if name == to {
            let mut way = vec![name];
            let mut at = name;
            while let Some(Some(previous)) = before.get(at) {
                way.insert(0, previous);
                at = previous;
            }
            return Some(way);
        }
        let Some((_, calls)) = plain.get(name) else {
            continue;
        };
        for call in calls.iter().filter(|call| !call.explicit) {
            if !before.contains_key(call.name) {
                before.insert(call.name, Some(name));
                next.push(call.name);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostics;
    use crate::source::load;

    fn reports(text: &str) -> Vec<(String, String)> {
        let mut diagnostics = Diagnostics::new();
        let file = load("a.co", text, &[], &mut diagnostics);
        let all = recursion(&file);
        let at = |d: &Diagnostic| file.snippet(d.primary.span).to_owned();
        all.iter().map(|d| (at(d), d.message.clone())).collect()
    }

    fn compiled(text: &str) -> String {
        let mut diagnostics = Diagnostics::new();
        let file = load("a.co", text, &[], &mut diagnostics);
        let all = file.device.iter();
        all.map(|text| with_stack_check(&file, text).unwrap_or_else(|| text.text.clone()))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn directives_before_a_body_are_passed_over() {
        assert_eq!(
            body("__device__ int f(\n#error don't {\nint n) { return n; }"),
            Some(41)
        );
    }

    #[test]
    fn cycles_of_calls_are_found_once() {
        let own =
            reports("__device__ int f(int n) {\n  // f(1)\n  return n < 1 ? 0 : f(n - 1);\n}\n");
        assert_eq!(own.len(), 1, "{own:?}");
        assert_eq!(own[0].0, "f");
        assert!(own[0].1.contains("`f` is recursive"), "{own:?}");
        let two = reports(
            "__device__ int g(int n);\n__device__ int f(int n) { return g(n); }\n\
             __device__ int h(int n) { return f(n); }\n__device__ int k(int n) { return h(f(n)); }\n",
        );
        assert_eq!(two, []);
        let ring = reports(
            "__device__ int f(int n) { return g(n); }\n__device__ int g(int n) { return h(n); }\n\
             __device__ int h(int n) { return f(n); }\n",
        );
        assert_eq!(ring.len(), 1, "{ring:?}");
    }

    #[test]
    fn what_may_be_another_function_is_no_error() {
        for text in [
            "__device__ int f(int a, int b) { return a + b; }\n__device__ int f(int a) { return f(a, 1); }\n",
            "template <int N> __device__ int f() { if constexpr (N == 0) return 0; else return f<N - 1>(); }\n",
            "template <class T, class... R> __device__ T f(T a, R... r) { return a + f(r...); }\n",
            "__device__ int abs(int a) { return std::abs(a); }\n",
            "__device__ int f(box b) { return b.f(1); }\n",
            "__device__ int f[2] = {1, 2};\n",
        ] {
            assert_eq!(reports(text), [], "{text}");
        }
    }

    #[test]
    fn functions_that_call_others_look_at_the_stack() {
        let text = "__device__ int leaf(int a) { return a; }\n\
                    __device__ int f(int a) {\n  return leaf(a); }\n\
                    template <int N> __device__ int g() { return g<N - 1>(); }\n";
        let compiled = compiled(text);
        assert!(compiled.contains("leaf(int a) { return"), "{compiled}");
        assert!(compiled.contains("f(int a) { CROQ_ENTER\n"), "{compiled}");
        assert!(compiled.contains("g() { CROQ_ENTER return"), "{compiled}");
    }
}
