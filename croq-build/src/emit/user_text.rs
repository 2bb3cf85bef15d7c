//! The user's own C++ of a file, and its loops.

use std::borrow::Cow;

use super::user_macros::UserMacros;
use super::writer::Writer;
use crate::assembly;
use crate::source::DeviceText;

/// The properties of the user's own C++ of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UserText<'a> {
    pub macros: Option<&'a UserMacros<'a>>,
    /// Functions or macros have loops.
    loops: bool,
    /// Macros have loops.
    loops_of_macros: bool,
    /// It reads memory that may change concurrently.
    polls: bool,
    /// It declares `__shared__` memory, which exists once per OS thread: only one block can be
    /// resident.
    shared: bool,
}

impl<'a> UserText<'a> {
    pub fn with_macros(self, macros: &'a UserMacros<'a>) -> Self {
        let macros = Some(macros);
        Self { macros, ..self }
    }

    /// Whether a text of the file is to be printed.
    pub fn keeps(self, kept: &DeviceText) -> bool {
        self.macros.is_none_or(|macros| macros.keeps(kept))
    }

    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut found = Self::default();
        for text in texts {
            let loops = has_loop(text);
            found.loops |= loops;
            found.loops_of_macros |=
                loops && directive(text).is_some_and(|d| d.starts_with("define"));
            found.polls |= polls_memory(text);
            found.shared |= text.contains("__shared__");
        }
        found
    }

    /// Whether a kernel with these pieces of C++ may poll memory in them that other blocks write.
    pub fn may_spin(self, calls: bool, pieces: &[&str]) -> bool {
        let with = |own: bool, of: fn(&str) -> bool| own || pieces.iter().any(|text| of(text));
        (calls || !pieces.is_empty())
            && with(self.loops, has_loop)
            && with(self.polls, polls_memory)
    }

    /// Whether loops in this piece are counted.
    pub fn counts(self, text: &str) -> bool {
        directive(text).is_none() && (self.loops_of_macros || has_loop(text))
    }
}

fn directive(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('#').map(str::trim_start)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

fn has_loop(text: &str) -> bool {
    words(text).any(|word| matches!(word, "while" | "for" | "do" | "goto"))
}

fn polls_memory(text: &str) -> bool {
    let polls = |word: &str| {
        let known = ["volatile", "asm", "__asm__", "__nanosleep"].contains(&word);
        known || word.starts_with("atomic") || word.starts_with("__ld")
    };
    words(text).any(polls)
}

/// The text with `while` replaced by `CROQ_WHILE_DECLARES` where its condition declares a variable:
/// the macro that counts other loops makes an expression of the condition.
fn conditions_that_declare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("while") {
        let (before, from) = rest.split_at(at);
        let after = from.strip_prefix("while").unwrap_or_default();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let whole = !before.ends_with(word) && !after.starts_with(word);
        out.push_str(before);
        let open = after.trim_start().strip_prefix('(');
        let declares = whole && open.is_some_and(declares);
        out.push_str(if declares {
            "CROQ_WHILE_DECLARES"
        } else {
            "while"
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a condition, from after its opening parenthesis, is `type name = …` or `type name{…}`.
fn declares(text: &str) -> bool {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | ')' | ']' | ';' | '"' | '?' | '|' | '!' if depth == 0 => return false,
            '<' => depth += 1,
            '>' => depth -= 1,
            '=' | '{' if depth <= 0 => {
                let next = text.get(at + 1..).unwrap_or_default();
                if c == '=' && next.starts_with('=') {
                    return false;
                }
                let name = text.get(..at).unwrap_or_default().trim_end();
                let kind = name.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
                let before = kind.trim_end_matches(['*', '&', ' ', '\t', '\n']);
                return kind.len() < name.len()
                    && kind.len() > before.len()
                    && before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>');
            }
            _ => {}
        }
    }
    false
}

/// The user's C++ in a function, with the macros that it uses.
pub(super) fn spliced(
    writer: &mut Writer<'_>,
    number: u32,
    text: &str,
    counts: bool,
    user: UserText<'_>,
) {
    let macros = user.macros.map(|m| m.around(text)).unwrap_or_default();
    if macros.is_empty() {
        return user_text(writer, number, text, counts);
    }
    writer.own_text();
    for name in &macros {
        writer.line(&format!("#pragma pop_macro(\"{name}\")"));
    }
    user_text(writer, number, text, counts);
    writer.own_text();
    for name in &macros {
        writer.line(&format!("#pragma push_macro(\"{name}\")"));
        writer.line(&format!("#undef {name}"));
    }
}

/// The text with each `asm` statement beside what does the same on the simulated GPU, on the same lines.
fn for_both_targets(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut written = 0;
    for statement in assembly::statements(text) {
        let before = text.get(written..statement.range.start).unwrap_or_default();
        // `sema` has written it for both.
        if ["CROQ_ASSEMBLY((", "CROQ_ASSEMBLY_FROM_SM_90(("]
            .iter()
            .any(|b| before.ends_with(b))
        {
            continue;
        }
        let cuda = text.get(statement.range.clone()).unwrap_or_default();
        let simulated = statement.simulated();
        out.push_str(before);
        out.push_str(&format!("CROQ_ASSEMBLY(({cuda}), {simulated})"));
        written = statement.range.end;
    }
    if written == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(written..).unwrap_or_default());
    Cow::Owned(out)
}

/// The user's C++ from line `number` on; with `counts` its loops are counted on the simulated GPU.
pub(super) fn user_text(writer: &mut Writer<'_>, number: u32, text: &str, counts: bool) {
    let text = &*for_both_targets(text);
    if !counts {
        return writer.verbatim(number, text);
    }
    writer.own_text();
    writer.line("#include \"croq_loops_counted.h\"");
    writer.verbatim(number, &conditions_that_declare(text));
    writer.own_text();
    writer.line("#include \"croq_loops_plain.h\"");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_declare_are_found() {
        let same = |text: &str| assert_eq!(conditions_that_declare(text), text);
        same("while (x == 3) {}");
        same("while (x = next()) {}");
        same("while (*p = 3) {}");
        same("while (a[i] = 3) {}");
        same("while (a < b) {}");
        same("do {} while (f(x = 3));");
        same("whiles (int x = 3)");
        let declared = |text: &str| {
            let expected = text.replace("while", "CROQ_WHILE_DECLARES");
            assert_eq!(conditions_that_declare(text), expected);
        };
        declared("while (int x = next()) {}");
        declared("while (const node *n = next()) {}");
        declared("while (auto &x = next()) {}");
        declared("while (vec<int, 3> v = next()) {}");
        declared("while(unsigned x{next()}) {}");
    }

    #[test]
    fn loops_of_macros_reach_everything() {
        let user =
            UserText::of(["#define SPIN(x) while (!(x))", "__device__ void f();"].into_iter());
        assert!(user.counts("SPIN(y);") && !user.counts("#define A"));
        assert!(!UserText::of(["int formula;"].into_iter()).counts("int format;"));
        assert!(user.may_spin(true, &["*(volatile int *)p"]));
        assert!(!user.may_spin(true, &["x = 3;"]));
    }
}
