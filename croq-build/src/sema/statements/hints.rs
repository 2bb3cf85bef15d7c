//! `: unroll` and `: vectorize` behind a `foreach`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Unroll;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Value;
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, LoopSuffix};

/// What a `foreach` iterates over: the range, the name that it has in the body, its slice, its place.
pub(super) type Iterated<'f> = (usize, Option<&'f ast::Name>, Option<&'f ast::Slice>, Span);

/// Which of these loops is unrolled, `usize::MAX` for all of them, and how far.
pub(super) fn unroll(
    el: &mut Elab<'_>,
    suffixes: &[LoopSuffix],
    loops: &[Iterated<'_>],
) -> Option<(usize, Unroll)> {
    let mut result = None;
    for suffix in suffixes {
        match suffix {
            LoopSuffix::Unroll(None, _) => result = Some((usize::MAX, Unroll::Full)),
            LoopSuffix::Unroll(Some(factor), at) => {
                let n = constants::constant(factor);
                let innermost = loops.len().saturating_sub(1);
                match checked(el, n, extent_of(el, loops), &UNROLL, *at) {
                    Some(n) => result = Some((innermost, Unroll::By(n))),
                    None => continue,
                }
            }
            LoopSuffix::Vectorize(name, lanes, at) => vectorize(el, name, lanes, *at, loops),
        }
    }
    result
}

/// `vectorize(v, L)`: L iterations of the innermost loop at once. Threads are not vectorized: the hint
/// is checked, and changes nothing.
fn vectorize(
    el: &mut Elab<'_>,
    name: &ast::Name,
    lanes: &ast::Expr,
    at: Span,
    loops: &[Iterated<'_>],
) {
    let n = match el.expression(lanes) {
        Value::Error => return,
        Value::Int(int) => int.value.as_int(),
        _ => None,
    };
    let known = checked(el, n, extent_of(el, loops), &VECTORIZE, at);
    if !names_innermost(el, name, loops) || known.is_none() {
        return;
    }
    el.cx.report(
        Diagnostic::new(
            codes::N0569,
            at,
            "`vectorize` has no effect: each thread runs the loop by itself",
        )
        .label("checked, and ignored")
        .help("threads access neighbours by 16 bytes where they can; `unroll` is a hint for them"),
    );
}

/// Whether it names the innermost of these loops; reports what else it names.
fn names_innermost(el: &mut Elab<'_>, name: &ast::Name, loops: &[Iterated<'_>]) -> bool {
    let named = |(range, alias, ..): &Iterated<'_>| match alias {
        Some(alias) => alias.text == name.text,
        None => el.ranges.names.get(*range) == Some(&name.text),
    };
    let Some(found) = loops.iter().position(named) else {
        let text = format!("`{}` is not a variable of this loop", name.text);
        el.cx.report(
            Diagnostic::new(codes::E0547, name.span, text)
                .label("not iterated here")
                .help("`vectorize(v, lanes)` names the innermost variable of its `foreach`"),
        );
        return false;
    };
    if found + 1 == loops.len() {
        return true;
    }
    let text = format!("the loop over `{}` has other loops inside", name.text);
    el.cx.report(
        Diagnostic::new(codes::E0547, name.span, text)
            .label("not the innermost")
            .help("`vectorize(v, lanes)` names the innermost variable of its `foreach`"),
    );
    false
}

/// What reports say of a factor.
struct Words {
    /// "an unroll factor is …"
    wanted: &'static str,
    /// "…, it can't be …"
    done: &'static str,
    help: &'static str,
}

const UNROLL: Words = Words {
    wanted: "an unroll factor is a positive constant",
    done: "unrolled by",
    help: "write `unroll` alone to unroll the whole loop",
};

const VECTORIZE: Words = Words {
    wanted: "the lanes of `vectorize` are a positive constant",
    done: "vectorized by",
    help: "threads are not vectorized: remove the hint",
};

/// The iterations of the innermost loop, if they are known.
fn extent_of(el: &Elab<'_>, loops: &[Iterated<'_>]) -> Option<i64> {
    loops
        .last()
        .and_then(|l| el.ranges.values.get(l.0))
        .and_then(|r| r.bound.as_ref())
        .and_then(Sym::as_int)
}

/// A positive factor that is not larger than the loop; reports another one.
fn checked(
    el: &mut Elab<'_>,
    n: Option<i64>,
    extent: Option<i64>,
    words: &Words,
    at: Span,
) -> Option<u32> {
    let too_large = matches!((n, extent), (Some(n), Some(e)) if n > e);
    let factor = n
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n > 0 && !too_large);
    if factor.is_none() {
        let text = match (n, extent) {
            (Some(n), Some(e)) if too_large => {
                format!("the loop runs {e} times, it can't be {} {n}", words.done)
            }
            _ => words.wanted.to_owned(),
        };
        el.cx.report(
            Diagnostic::new(codes::E0547, at, text)
                .label("not a usable factor")
                .help(words.help),
        );
    }
    factor
}
