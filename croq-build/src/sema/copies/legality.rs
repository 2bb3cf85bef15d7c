//! Reports copies that the hardware or croq does not support.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Storage, View};
use crate::sema::asynchronous::wait;
use crate::sema::copies::{sparse, tma};
use crate::sema::levels::cluster_legality;
use crate::sema::memory::swizzles;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::source::Span;
use crate::syntax::ast::{self, CopyModifier, CopyStmt};

pub(crate) fn check_supported(el: &mut Elab<'_>, c: &CopyStmt) -> bool {
    let mut ok = true;
    let tma = c.engine == ast::Engine::Tma;
    if tma && el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new(codes::E0832, c.head, "`tma` moves tiles inside a kernel")
                .label("not on the host")
                .help("use `dma`, or put the copy into a `parallel`"),
        );
        return false;
    }
    if tma {
        ok &= tma::check_available(&mut el.cx, c) && tma::lower_modifiers(el, c).is_some();
    }
    if let Some((at, _)) = &c.is_async {
        ok &= check_async_supported(el, *at);
    }
    if let Some(after) = &c.after {
        wait::lower_after(el, after);
    }
    for (modifier, at) in &c.modifiers {
        match modifier {
            CopyModifier::Zfill => continue,
            CopyModifier::Swizzle(width) => {
                ok &= swizzles::width_of(&mut el.cx, width.as_ref(), *at).is_some();
                continue;
            }
            CopyModifier::Sparse(pattern) => {
                sparse::check(el, c, pattern.as_ref(), *at);
                ok = false;
                continue;
            }
            CopyModifier::Promote(_) | CopyModifier::EvictFirst | CopyModifier::EvictLast
                if tma =>
            {
                continue;
            }
            CopyModifier::Promote(_) => {
                el.cx.report(
                    Diagnostic::new(codes::E0858, *at, "an L2 promotion is only for `tma`")
                        .label("not on `dma`")
                        .help("remove it"),
                );
                ok = false;
                continue;
            }
            CopyModifier::EvictFirst | CopyModifier::EvictLast => {
                tma::report_hint_refused(&mut el.cx, *at, false);
                ok = false;
                continue;
            }
            CopyModifier::Multicast => ok &= cluster_legality::check_multicast(el, tma, *at),
        }
    }
    ok
}

fn check_async_supported(el: &mut Elab<'_>, at: Span) -> bool {
    if el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new(
                codes::E0831,
                at,
                "copies between kernels are never asynchronous",
            )
            .label("not on the host")
            .help("remove `.async`"),
        );
        return false;
    }
    true
}

pub(crate) fn check_storage(el: &mut Elab<'_>, storage: ast::Storage, at: Span) -> Option<()> {
    let in_kernel = el.kernel.is_some();
    let (bad, text, help) = match (storage, in_kernel) {
        (ast::Storage::Global, true) => (
            true,
            "`=> global` makes device memory, which a kernel can't",
            "copy into `shared` or `local`, or into a named buffer",
        ),
        (ast::Storage::Shared | ast::Storage::Local, false) => (
            true,
            "`shared` and `local` memory exist only inside `parallel`",
            "move the copy into a `parallel`",
        ),
        _ => (false, "", ""),
    };
    if bad {
        el.cx.report(
            Diagnostic::new(codes::E0803, at, text)
                .label("not here")
                .help(help),
        );
        return None;
    }
    Some(())
}

pub(crate) fn check_pair(
    el: &mut Elab<'_>,
    source: &Data,
    dest: &View,
    c: &CopyStmt,
) -> Option<()> {
    let (from, to) = (el.f.buffer(source.view.buffer), el.f.buffer(dest.buffer));
    let (from_elem, to_elem) = (from.elem, to.elem);
    if from_elem != to_elem {
        el.cx.report(
                Diagnostic::new(codes::E0801, c.head.to(c.source.span), format!("a copy never converts: the source is `{from_elem}`, the destination `{to_elem}`"))
                    .label(format!("`{from_elem}` => `{to_elem}`"))
                    .help("copy into a buffer of the same element type, and convert element by element"),
            );
        return None;
    }
    if c.engine == ast::Engine::Tma {
        tma::check_storages(&mut el.cx, from.storage, to.storage, c)?;
    } else if let Some((at, _)) = &c.is_async
        && el.kernel.is_some()
        && !(from.storage.is_global() && to.storage == Storage::Shared)
        && !is_done_at_once(from.storage, to.storage)
    {
        let place = |s: Storage| match s {
            Storage::Shared => "shared",
            Storage::Local => "local",
            _ => "global",
        };
        let text = format!(
            "no asynchronous copy goes from {} to {} memory",
            place(from.storage),
            place(to.storage)
        );
        el.cx.report(
            Diagnostic::new(codes::E0831, *at, text)
                .label("only global to shared, and local to global")
                .help("remove `.async`, and the `wait` for it"),
        );
        return None;
    }
    check_named(el, c)
}

/// Of a copy that may be asynchronous: something must be able to wait for it.
fn check_named(el: &mut Elab<'_>, c: &CopyStmt) -> Option<()> {
    if matches!(&c.is_async, Some((_, None))) && c.name.is_none() {
        el.cx.report(
            Diagnostic::new(codes::E0840, c.head, "an asynchronous copy without a name")
                .label("nothing could wait for it")
                .help(format!(
                    "name it: `f = {}.copy.async …;`, later `wait f;`",
                    engine_word(c)
                )),
        );
        return None;
    }
    Some(())
}

/// Whether a copy between these is complete after its statement even with `.async`: a thread's own
/// stores need no waiting.
pub(crate) fn is_done_at_once(from: Storage, to: Storage) -> bool {
    from == Storage::Local && to.is_global()
}

pub(crate) fn ir_storage(storage: ast::Storage) -> Storage {
    match storage {
        ast::Storage::Global => Storage::Host,
        ast::Storage::Shared => Storage::Shared,
        ast::Storage::Local => Storage::Local,
    }
}

fn engine_word(c: &CopyStmt) -> &'static str {
    match c.engine {
        ast::Engine::Dma => "dma",
        ast::Engine::Tma => "tma",
    }
}
