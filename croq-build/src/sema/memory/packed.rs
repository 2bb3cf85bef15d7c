//! Packed elements: the last extent of a buffer is in whole bytes, and what needs the address or
//! the size of an element refuses them.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, BufferId, CheckCode, Scalar};
use crate::sema::checks::run_time::{self, Check};
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};

/// Checks that rows are whole bytes: a multiple of 2, 4 or 8 elements.
pub(crate) fn check_last_extent(
    el: &mut Elab<'_>,
    name: &str,
    elem: Scalar,
    shape: &[Sym],
    span: Span,
) -> Option<()> {
    let Some(last) = shape.last().filter(|_| elem.is_packed()) else {
        return Some(());
    };
    let per_byte = Sym::int(i64::from(elem.per_byte()));
    match el.f.cx.divides(&per_byte, last) {
        Truth::Yes => Some(()),
        Truth::No => {
            let shown = el.f.cx.show(last);
            let text = format!(
                "the last extent of `{name}` is {shown}, not a multiple of {per_byte}",
                per_byte = elem.per_byte()
            );
            el.cx.report(
                Diagnostic::new(codes::E0444, span, text)
                    .label(format!(
                        "a byte has {} elements of `{elem}`",
                        elem.per_byte()
                    ))
                    .help("pad the rows of the data"),
            );
            None
        }
        Truth::Unknown => {
            let rest = el.f.cx.rem(last, &per_byte);
            let message = format!(
                "the last extent of `{name}` must be a multiple of {}, the elements of `{elem}` in a byte: the remainder is {{0}}, not {{1}}",
                elem.per_byte()
            );
            let check = Check::new(CheckCode::R06, message, span);
            run_time::emit_compare(el, check, BinOp::Eq, &rest, &Sym::zero());
            if run_time::known_at_entry(&el.f, last) && !run_time::is_reporting(el) {
                el.f.cx.assume_divides(&per_byte, last);
            }
            Some(())
        }
    }
}

/// Reports a use of a buffer that packed elements do not have; `None` if it has them.
pub(crate) fn refuse(
    el: &mut Elab<'_>,
    id: BufferId,
    at: Span,
    what: &str,
    help: &str,
) -> Option<()> {
    let buffer = el.f.buffer(id);
    if !buffer.elem.is_packed() {
        return Some(());
    }
    let (name, elem) = (buffer.name.clone(), buffer.elem);
    el.cx.report(
        Diagnostic::new(
            codes::E0869,
            at,
            format!("{what} `{name}`, which has elements of `{elem}`"),
        )
        .label(format!("{} elements share a byte", elem.per_byte()))
        .help(help.to_owned()),
    );
    None
}
