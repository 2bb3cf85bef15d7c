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

#[cfg(test)]
mod catalogue;
mod examples;
mod explanation;
mod kind;
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

pub use explanation::Explanation;
pub use kind::Kind;

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
