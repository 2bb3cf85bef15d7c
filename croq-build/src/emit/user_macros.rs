//! The macros of a `.co` file in the generated text: they are defined only around the user's own
//! C++, so generated text need not avoid their names.
//!
//! They are undefined after the file's own text. A macro that a spliced `__cpp__` text mentions is
//! saved by `push_macro` before that and restored around the text, so that definitions under
//! conditions of the preprocessor hold there, too. A macro that the user's C++ does not mention is
//! not printed. A macro that a call names is one that `source` did not expand (a variadic one):
//! it stays defined, because the call is generated text.
//!
//! The macros of an included header are not known. So each identifier of the generated text is
//! undefined after the includes, and all of them are restored around a spliced text.

use super::writer::Writer;
use crate::ir::cpp_names;
use crate::ir::threads::{Function, Stmt, StmtKind};
use crate::ir::{Arg, Call, Expr, ExprKind, Threads, Visit, walk_block};
use crate::passes::analysis::uses::identifiers;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::{DeviceText, SourceFile};

#[derive(Debug, Default)]
pub(super) struct UserMacros<'a> {
    /// For each macro, the identifiers in its definitions.
    words: SortedMap<&'a str, SortedSet<&'a str>>,
    /// The macros that the user's C++ mentions, directly or through other macros.
    needed: SortedSet<&'a str>,
    /// The same for spliced texts.
    spliced: SortedSet<&'a str>,
    /// The same for calls.
    called: SortedSet<&'a str>,
    /// The position of the last conditional or include: definitions before it are all printed, as
    /// it may depend on any macro.
    conditional: Option<u32>,
    /// Whether the file has C++ of the user's besides directives.
    has_text: bool,
    /// Identifiers that a header may have defined, and that generated text uses.
    protected: SortedSet<String>,
    /// The identifiers in calls.
    by_calls: SortedSet<String>,
    /// Those in spliced texts.
    by_text: SortedSet<String>,
}

impl<'a> UserMacros<'a> {
    pub fn of(file: &'a SourceFile, functions: &'a [Function]) -> Self {
        let mut found = Mentioned::default();
        for function in functions {
            walk_block(&function.body, &mut found);
            for kernel in &function.kernels {
                walk_block(&kernel.body, &mut found);
            }
        }
        let mut all = Self {
            has_text: !found.by_text.is_empty(),
            ..Self::default()
        };
        let mut mentioned = SortedSet::new();
        for kept in &file.device {
            for (name, line) in definitions(&kept.text) {
                all.words.entry(name).or_default().extend(identifiers(line));
            }
            match directive(&kept.text) {
                Some((Some(_), _)) => {}
                Some((None, _)) => {
                    all.conditional = Some(kept.span.start);
                    all.has_text |= kept.text.contains("include");
                }
                None => {
                    all.has_text = true;
                    mentioned.extend(identifiers(&kept.text));
                }
            }
        }
        all.by_calls.clone_from(&found.by_calls);
        all.by_text.clone_from(&found.by_text);
        if all.words.is_empty() {
            return all;
        }
        all.called = all.reached(found.by_calls.iter().map(String::as_str));
        all.spliced = all.reached(found.by_text.iter().map(String::as_str));
        all.needed = all.reached(mentioned.into_iter());
        all.needed.extend(all.called.iter().chain(&all.spliced));
        all
    }

    /// The macros among these words, and those that their definitions mention.
    fn reached<'w>(&self, words: impl Iterator<Item = &'w str>) -> SortedSet<&'a str> {
        let macro_of = |word: &str| self.words.get_key_value(word).map(|(name, _)| *name);
        let mut work: Vec<&'a str> = words.filter_map(macro_of).collect();
        let mut reached = SortedSet::new();
        while let Some(name) = work.pop() {
            if reached.insert(name) {
                let words = self.words.get(name).into_iter().flatten();
                work.extend(words.filter_map(|word| macro_of(word)));
            }
        }
        reached
    }

    /// Whether the file has C++ of the user's, or includes some.
    pub fn has_text(&self) -> bool {
        self.has_text
    }

    /// The identifiers in the calls and spliced texts of the file's functions.
    pub fn by_functions(&self) -> impl Iterator<Item = &str> {
        self.by_calls
            .iter()
            .chain(&self.by_text)
            .map(String::as_str)
    }

    /// Whether there are spliced texts.
    fn splices(&self) -> bool {
        !self.by_text.is_empty()
    }

    /// Undefines the identifiers of a generated text before it, except those with the file's hash.
    pub fn protect(&mut self, generated: &str, hash: &str) {
        let plain = without_comments(generated);
        let words = identifiers(&plain).into_iter().chain(OF_CROQS_MACROS);
        let names = words.filter(|word| can_be_undefined(word) && !word.contains(hash));
        self.protected = names
            .filter(|name| !self.words.contains_key(name) && !self.by_calls.contains(*name))
            .map(str::to_owned)
            .collect();
        // A macro of a header may use any macro of the file.
        let own = self.words.keys().copied();
        let own: Vec<&str> = own.filter(|name| !self.called.contains(name)).collect();
        if self.splices() {
            self.needed.extend(&own);
            self.spliced.extend(own);
        }
    }

    /// Whether a text of the file is to be printed.
    pub fn keeps(&self, kept: &DeviceText) -> bool {
        match directive(&kept.text) {
            Some((Some(_), name)) => {
                let before = self.conditional.is_some_and(|at| kept.span.start <= at);
                before || self.needed.contains(name)
            }
            _ => true,
        }
    }

    /// Prints the end of all definitions, after the file's own text.
    pub fn close(&self, writer: &mut Writer<'_>, file: &SourceFile) {
        let printed = file.device.iter().filter(|kept| self.keeps(kept));
        let names: SortedSet<&str> = printed
            .flat_map(|kept| definitions(&kept.text))
            .map(|(name, _)| name)
            .filter(|name| !self.called.contains(name))
            .chain(self.protected())
            .collect();
        for name in names {
            if self.spliced.contains(name) || self.splices() && self.protected.contains(name) {
                writer.line(&format!("#pragma push_macro(\"{name}\")"));
            }
            writer.line(&format!("#undef {name}"));
        }
    }

    fn protected(&self) -> impl Iterator<Item = &str> {
        self.protected.iter().map(String::as_str)
    }

    /// The macros to restore around a spliced text.
    pub fn around(&self, text: &str) -> SortedSet<&str> {
        let mut names: SortedSet<&str> = self.reached(identifiers(text).into_iter());
        names.retain(|name| !self.called.contains(name));
        if !self.protected.is_empty() {
            names.extend(self.protected().chain(self.spliced.iter().copied()));
        }
        names
    }
}

/// The identifiers that croq's own macros expand to where generated text uses them.
pub const OF_CROQS_MACROS: [&str; 10] = [
    "always_inline",
    "check",
    "croq",
    "host",
    "launch",
    "needs",
    "status",
    "steps",
    "unroll",
    "weak",
];

/// Whether `#undef` may be applied to a word: not to keywords, compilers' names, and croq's macros.
fn can_be_undefined(word: &str) -> bool {
    let begins_a_name = word.starts_with(|c: char| c.is_alphabetic());
    let is_operator = word == "defined" || cpp_names::is_keyword(word);
    begins_a_name && !word.starts_with("CROQ_") && !is_operator
}

/// C++ text without its comments and literals.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        // Generated literals are within a line.
        let mut outside = true;
        for part in line.split('"') {
            if outside {
                match part.split_once("//") {
                    Some((before, _)) => {
                        out.push_str(before);
                        break;
                    }
                    None => out.push_str(part),
                }
                outside = false;
            } else if !part.ends_with('\\') {
                outside = true;
            }
        }
        out.push('\n');
    }
    out
}

/// The directive of a preprocessor line: for `#define` and `#undef` the word and the name.
fn directive(text: &str) -> Option<(Option<&str>, &str)> {
    let rest = text.trim_start().strip_prefix('#')?.trim_start();
    let defining = ["define", "undef"].into_iter().find_map(|word| {
        let rest = rest.strip_prefix(word)?;
        rest.starts_with([' ', '\t']).then_some((word, rest))
    });
    match defining {
        Some((word, rest)) => Some((Some(word), first_word(rest))),
        None => Some((None, "")),
    }
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The macros that a text defines, each with its definition.
fn definitions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let line = rest.get(..logical_line(rest)).unwrap_or(rest);
            rest = rest.get(line.len()..).unwrap_or_default();
            if let Some((Some("define"), name)) = directive(line) {
                return Some((name, line));
            }
        }
        None
    })
}

/// The length of the first line with those that a backslash joins to it.
fn logical_line(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            break;
        }
    }
    end
}

/// The identifiers in spliced texts and in calls.
#[derive(Default)]
struct Mentioned {
    by_text: SortedSet<String>,
    by_calls: SortedSet<String>,
}

impl Mentioned {
    fn call(&mut self, call: &Call) {
        let mut add = |text: &str| {
            let words = identifiers(text).into_iter().map(str::to_owned);
            self.by_calls.extend(words);
        };
        add(&call.callee);
        call.targs.iter().for_each(|text| add(text));
        for mut arg in &call.args {
            while let Arg::Cast(ty, inner) = arg {
                add(ty);
                arg = inner;
            }
        }
    }
}

impl Visit<Threads> for Mentioned {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Cpp { text, .. } = &stmt.kind {
            let words = identifiers(text).into_iter().map(str::to_owned);
            self.by_text.extend(words);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(call) = &*expr.kind {
            self.call(call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_with_their_names() {
        let text = "#define A 1\n# define  B(x) \\\n  x + A\nint y;\n#undef A\n#defined C";
        let found: Vec<_> = definitions(text).collect();
        assert_eq!(
            found,
            [
                ("A", "#define A 1\n"),
                ("B", "# define  B(x) \\\n  x + A\n")
            ]
        );
        assert_eq!(directive("#undef A"), Some((Some("undef"), "A")));
        assert_eq!(directive("#ifdef A"), Some((None, "")));
        assert_eq!(directive("int A;"), None);
    }
}
