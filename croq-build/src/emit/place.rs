//! Where an access is in memory. In most memory that is where it is counted; elements of swizzled
//! buffers have changed places.

use super::scalar;
use super::scope::Names;
use super::text::{Binding, Text};
use crate::ir::{Access, BufferId, Scalar, Swizzle, Valid, View};
use crate::symbolic::Sym;

impl Names<'_> {
    pub fn place(&self, access: &Access) -> Text {
        let Some((swizzle, elem)) = self.swizzle(access.view.buffer) else {
            return self.address(access);
        };
        let function = format!("croq::swizzle_of<{}, {}>", swizzle.bytes, scalar::cpp(elem));
        // The pattern repeats: what keeps its place in it stays outside, where it costs nothing.
        let (moved, kept) = split(access, swizzle.period(elem));
        match (moved, kept) {
            (None, None) => Text::primary("0"),
            (None, Some(kept)) => self.address(&kept),
            (Some(moved), None) => Text::call(&function, &[self.address(&moved)]),
            (Some(moved), Some(kept)) => Text::infix(
                Text::call(&function, &[self.address(&moved)]),
                "+",
                self.address(&kept),
                Binding::Sum,
            ),
        }
    }

    /// Of the view's first element.
    pub fn place_of_first(&self, view: &View) -> Text {
        self.place(&access_at(view, view.offset.clone()))
    }

    fn swizzle(&self, buffer: BufferId) -> Option<(&Swizzle, Scalar)> {
        let buffer = self.function.buffers.get(buffer.index())?;
        Some((buffer.swizzle.as_ref()?, buffer.elem))
    }
}

fn access_at(view: &View, offset: Sym) -> Access {
    Access {
        view: View {
            buffer: view.buffer,
            offset,
            shape: Vec::new(),
            strides: Vec::new(),
            valid: Vec::new(),
            frame: None,
            span: view.span,
        },
        indices: Vec::new(),
        span: view.span,
    }
}

/// The part of an access that is not a multiple of `period` as it stands, and the part that is.
fn split(access: &Access, period: i64) -> (Option<Access>, Option<Access>) {
    let repeats = |s: &Sym| !s.is_poison() && s.terms().all(|(coef, _)| coef % period == 0);
    let offset = &access.view.offset;
    let mut moved = access_at(&access.view, offset.part(|coef, _| coef % period != 0));
    let mut kept = access_at(&access.view, offset.part(|coef, _| coef % period == 0));
    for (index, stride) in access.indices.iter().zip(&access.view.strides) {
        if index.is_zero() || stride.is_zero() {
            continue;
        }
        let of = if repeats(&(index * stride)) {
            &mut kept
        } else {
            &mut moved
        };
        of.indices.push(index.clone());
        of.view.strides.push(stride.clone());
        of.view.shape.push(Sym::one());
        of.view.valid.push(Valid::default());
    }
    let something = |a: Access| (!a.view.offset.is_zero() || !a.indices.is_empty()).then_some(a);
    (something(moved), something(kept))
}
