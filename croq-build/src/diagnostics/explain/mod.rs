//! The explanation of each diagnostic code, for `croq explain`.
//!
//! The text of a code is `text/CODE.md`: what is wrong and why, a wrong program, the remedy, and the
//! right program. The programs are fenced blocks, and tests compile each of them:
//!
//! - `croq,wrong` gives reports of its code and no others,
//! - `croq,right` gives no report,
//! - `croq,run-time` gives no report, and the generated wrapper makes the check of its code.
//!
//! `,arch=sm_90a` after these (once or more) says what the program is built for, in place of the
//! default architectures. A code that no program alone can show has a line `<!-- no example: reason -->`.

use std::fmt::Write as _;

#[cfg(test)]
mod catalogue;
mod examples;
#[cfg(test)]
mod tests;

/// Rows of a table: the code, its title, and its text from `text/`.
macro_rules! explanations {
    ($($code:ident: $title:literal,)*) => {
        &[$(Explanation::new(
            stringify!($code),
            $title,
            include_str!(concat!("text/", stringify!($code), ".md")),
        )),*]
    };
}

mod atomics;
mod declarations;
mod events;
mod files;
mod loops;
mod mma;
mod movement;
mod names;
mod numbers;
mod parallel;
mod run_time;
mod shapes;
mod storage;
mod syntax;
mod tools;

/// What the first letter of a code says about its reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `E`: nothing is generated.
    Error,
    /// `W`: the program is compiled, and probably does something else than intended.
    Warning,
    /// `N`: a fact that the author may want to know.
    Note,
    /// `R`: an error of a call, which generated code or the device API finds.
    RunTime,
}

impl Kind {
    /// Of a code.
    pub const fn of(code: &str) -> Option<Self> {
        match code.as_bytes().first() {
            Some(b'E') => Some(Self::Error),
            Some(b'W') => Some(Self::Warning),
            Some(b'N') => Some(Self::Note),
            Some(b'R') => Some(Self::RunTime),
            _ => None,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::RunTime => "error at run time",
        }
    }
}

/// What there is to say about one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub code: &'static str,
    pub kind: Kind,
    /// A phrase that names the construct or the fact.
    pub title: &'static str,
    /// Markdown, as the module describes it.
    pub text: &'static str,
}

impl Explanation {
    const fn new(code: &'static str, title: &'static str, text: &'static str) -> Self {
        let kind = match Kind::of(code) {
            Some(kind) => kind,
            None => Kind::Error,
        };
        Self {
            code,
            kind,
            title,
            text,
        }
    }

    /// For a terminal.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{} ({}): {}\n",
            self.code,
            self.kind.name(),
            self.title
        );
        examples::show(self.kind, self.text, &mut out);
        out
    }
}

/// All of them, in the order of the topics.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    [
        files::TABLE,
        syntax::TABLE,
        names::TABLE,
        declarations::TABLE,
        shapes::TABLE,
        parallel::TABLE,
        loops::TABLE,
        storage::TABLE,
        numbers::TABLE,
        movement::TABLE,
        atomics::TABLE,
        events::TABLE,
        mma::TABLE,
        tools::TABLE,
        run_time::TABLE,
    ]
    .into_iter()
    .flatten()
}

/// The explanation of a code, or `None` when there is no such code.
pub fn explain(code: &str) -> Option<&'static Explanation> {
    all().find(|known| known.code == code)
}
