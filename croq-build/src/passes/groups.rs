//! Elements of swizzled buffers whose rows are several groups wide: where they are by groups.
//!
//! Copies and fills are left as they are; they find the groups when they are expanded, where they walk
//! along rows.

use crate::ir::{Access, Change, Function, KernelId, View, change_all};
use crate::symbolic::Sym;

pub fn place(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    let mut body = std::mem::take(&mut kernel.body);
    change_all(&mut body, &mut Places { function });
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.body = body;
    }
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

impl Change for Places<'_> {
    fn access(&mut self, access: &mut Access) {
        if let Some(place) = self.place(&access.view, || access.address()) {
            access.view.offset = place;
            access.view.shape.clear();
            access.view.strides.clear();
            access.view.valid.clear();
            access.view.frame = None;
            access.indices.clear();
        }
    }

    fn pointer(&mut self, view: &mut View) {
        if let Some(place) = self.place(view, || view.offset.clone()) {
            view.offset = place;
        }
    }
}
