//! Types and aliases of a `.co` file's host code that its device code does not need. They are
//! omitted, because many are for host functions, which are omitted too, and refer to declarations
//! from headers of these only.

use super::user_macros::UserMacros;
use crate::passes::analysis::uses::identifiers;
use crate::sorted::SortedSet;
use crate::source::{DeviceText, DeviceTextKind, SourceFile};

/// The numbers of the pieces that no other piece of device code needs.
pub(super) fn unneeded(file: &SourceFile, macros: &UserMacros<'_>) -> SortedSet<usize> {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut mentioned: SortedSet<&str> = macros.by_functions().collect();
    for (at, kept) in file.device.iter().enumerate() {
        match declared(kept) {
            Some(name) => open.push((at, name)),
            None => mentioned.extend(identifiers(&kept.text)),
        }
    }
    // Declarations that a needed type mentions are needed as well.
    loop {
        let (needed, rest): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|(_, name)| mentioned.contains(name));
        open = rest;
        if needed.is_empty() {
            return open.iter().map(|(at, _)| *at).collect();
        }
        for kept in needed.iter().filter_map(|(at, _)| file.device.get(*at)) {
            mentioned.extend(identifiers(&kept.text));
        }
    }
}

/// The name of a type or an alias, if the text declares nothing else.
fn declared(kept: &DeviceText) -> Option<&str> {
    if kept.kind != DeviceTextKind::HostKept {
        return None;
    }
    let text = after_template(kept.text.trim_start())?;
    let (first, rest) = word(text)?;
    let (name, rest) = word(rest)?;
    let rest = rest.trim_start();
    let alone = match first {
        "using" => rest.starts_with('=') && !rest.starts_with("=="),
        "struct" | "class" | "union" => {
            let body = rest.starts_with(['{', '<', ';']) || is_base(rest);
            let end = rest.trim_end().trim_end_matches(';').trim_end();
            body && (end.is_empty() || end.ends_with('}'))
        }
        _ => false,
    };
    alone.then_some(name)
}

/// `: public Base {`, not the rest of a qualified name.
fn is_base(rest: &str) -> bool {
    rest.starts_with(':') && !rest.starts_with("::")
}

fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (!word.is_empty()).then_some((word, rest))
}

/// The text behind `template <…>`, if it begins with that.
fn after_template(text: &str) -> Option<&str> {
    let Some(rest) = text.strip_prefix("template") else {
        return Some(text);
    };
    let mut depth = 0usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if depth == 1 => return rest.get(at + 1..).map(str::trim_start),
            '>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_only_the_host_needs_are_left_out() {
        let text = "\
struct Result { std::vector<float> values; };
template <class T> using Policy = library::Policy<T>;
struct Pair { int a, b; };
struct Wide : Pair { int c; };
template <int N, class T = Pair> struct Tile { T data[N]; };
using namespace std;
enum Mode { fast, exact };
struct { int x; } unnamed;
struct Point { int x; } origin;
using Two = Tile<2>;
__device__ int first(Two t) { return t.data[0].a; }
";
        let file = crate::source::load(
            "a.co",
            text,
            &[],
            &mut crate::diagnostics::Diagnostics::new(),
        );
        let macros = UserMacros::of(&file, &[]);
        let unneeded = unneeded(&file, &macros);
        let gone: Vec<&str> = file
            .device
            .iter()
            .enumerate()
            .filter(|(at, _)| unneeded.contains(at))
            .filter_map(|(_, kept)| declared(kept))
            .collect();
        assert_eq!(gone, ["Result", "Policy", "Wide"]);
    }
}
