//! The explanation of each diagnostic code, for `croq explain`.
//!
//! The text of a code is `text/CODE.md`: the error and its reason, a wrong program, the remedy, and
//! the right program. The programs are fenced blocks, and tests compile each of them:
//!
//! - `croq,wrong` gives reports of its code and no others,
//! - `croq,right` gives no report,
//! - `croq,run-time` gives no report, and the generated wrapper makes the check of its code.
//!
//! `,arch=sm_90a` after these (once or more) is a target of the program, in place of the default
//! architectures. A code for which no program alone is an example has a line
//! `<!-- no example: reason -->`.

#[cfg(test)]
mod catalogue;
mod examples;
mod explanation;
mod kind;
#[cfg(test)]
mod tests;

/// Rows of a table: the code, its title, and its text from `text/`. Each becomes a constant.
macro_rules! explanations {
    ($($code:ident: $title:literal,)*) => {
        $(pub const $code: $crate::diagnostics::Code = {
            const EXPLANATION: &super::Explanation = &super::Explanation::new(
                stringify!($code),
                $title,
                include_str!(concat!("text/", stringify!($code), ".md")),
            );
            $crate::diagnostics::Code::new(EXPLANATION)
        };)*

        /// The codes of this topic.
        pub(super) const TABLE: &[$crate::diagnostics::Code] = &[$($code),*];
    };
}

pub(super) mod atomics;
pub(super) mod declarations;
pub(super) mod events;
pub(super) mod files;
pub(super) mod loops;
pub(super) mod mma;
pub(super) mod movement;
pub(super) mod names;
pub(super) mod numbers;
pub(super) mod parallel;
pub(super) mod run_time;
pub(super) mod shapes;
pub(super) mod storage;
pub(super) mod syntax;
pub(super) mod templates;
pub(super) mod tools;

pub use explanation::Explanation;
pub use kind::Kind;

/// All explanations, in the order of the topics.
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
        templates::TABLE,
        tools::TABLE,
        run_time::TABLE,
    ]
    .into_iter()
    .flatten()
    .map(|code| code.explanation())
}

/// Codes of the language's catalogue that croq does not report, and why: the table of
/// `docs/checks.md`.
const UNREPORTED: &str = include_str!("unreported.txt");

/// The rows of [`UNREPORTED`].
fn unreported() -> impl Iterator<Item = (&'static str, &'static str)> {
    UNREPORTED.lines().filter_map(|row| row.split_once(" | "))
}

/// Why croq does not report a code of the language's catalogue.
pub fn why_not_reported(code: &str) -> Option<&'static str> {
    let mut rows = unreported();
    rows.find_map(|(codes, why)| {
        codes
            .split(", ")
            .any(|listed| listed == code)
            .then_some(why)
    })
}

/// The explanation of a code, or `None` if there is no such code.
pub fn explain(code: &str) -> Option<&'static Explanation> {
    all().find(|known| known.code == code)
}
