//! Waits for placeholders above their first copy, as in a loop, for the copy of the iteration before.
//!
//! What such a placeholder is bound to is known at the end of the kernel. Until then the `wait` names
//! the memory of a stand-in, which no statement reads or writes; `settled.rs` completes it.

use crate::ir::{FutureId, Level, Scalar, StmtKind, Storage, Waited};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::memory::whole;
use crate::sema::state::asynchronous::EarlyWait;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::Sym;

/// `wait f;`, with nothing copied into `f` above.
pub(crate) fn wait(el: &mut Elab<'_>, id: FutureId, at: Span, span: Span) {
    let Some(name) = futures::get(el, id).map(|f| f.name.clone()) else {
        return;
    };
    let stand_in = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name: &name,
            elem: Scalar::U8,
            storage: Storage::Local,
            shape: vec![Sym::one()],
            copies: Sym::one(),
            span: at,
        },
    );
    el.asynchronous.early_waits.push(EarlyWait {
        future: id,
        stand_in,
        at,
        regions: futures::regions_around(el),
    });
    let waited = Waited {
        future: id,
        view: whole::whole_view(&el.f, stand_in, at),
        level: Level::Block,
        arrival: None,
    };
    let kind = StmtKind::Wait {
        futures: vec![waited],
        pending: None,
    };
    build::emit(el, kind, span);
}
