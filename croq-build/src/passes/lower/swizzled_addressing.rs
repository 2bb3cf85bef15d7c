//! Addresses of elements of swizzled buffers whose rows are several groups wide, by groups.
//!
//! Copies and fills remain unchanged; the groups are taken into account when they are lowered,
//! where they walk along rows.

use crate::ir::{Access, Flow, Function, KernelId, ON, View, VisitorMut};
use crate::symbolic::Sym;

pub fn apply(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        let _ = Places { function }.block(body);
    });
}

struct Places<'a> {
    function: &'a Function,
}

impl Places<'_> {
    fn place(&self, view: &View, at: impl FnOnce() -> Sym) -> Option<Sym> {
        let buffer = self.function.buffers.get(view.buffer.index())?;
        buffer.grouped()?;
        Some(buffer.by_groups(&self.function.cx, &at()))
    }
}

impl VisitorMut for Places<'_> {
    fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
        if let Some(place) = self.place(&access.view, || access.address()) {
            access.set_address(place);
        }
        ON
    }

    fn view(&mut self, _view: &mut View) -> Flow {
        ON
    }

    fn pointer(&mut self, view: &mut View) -> Flow {
        if let Some(place) = self.place(view, || view.offset.clone()) {
            view.offset = place;
        }
        ON
    }
}
