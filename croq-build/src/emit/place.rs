//! Addresses of accesses. For swizzled buffers, the offset is permuted.

use super::scalar;
use super::scope::Names;
use super::sym;
use super::text::{Binding, Text};
use crate::ir::{Access, BufferId, Scalar, Swizzle, Valid, View};
use crate::symbolic::Sym;

pub fn place(names: &Names<'_>, access: &Access) -> Text {
    let Some((swizzle, elem)) = swizzle(names, access.view.buffer) else {
        return sym::address(names, access);
    };
    let function = format!("croq::swizzle_of<{}, {}>", swizzle.bytes, scalar::cpp(elem));
    // The pattern repeats: the multiple of its period stays outside of the computation, where it
    // costs nothing.
    let (moved, kept) = split(access, swizzle.period(elem));
    let swizzled = |moved: &Access| match row_and_column(names, moved, elem) {
        Some((row, column)) => Text::call(
            &function,
            &[sym::sym(names, &row), sym::sym(names, &column)],
        ),
        None => Text::call(&function, &[sym::address(names, moved)]),
    };
    match (moved, kept) {
        (None, None) => Text::primary("0"),
        (None, Some(kept)) => sym::address(names, &kept),
        (Some(moved), None) => swizzled(&moved),
        (Some(moved), Some(kept)) => Text::infix(
            swizzled(&moved),
            "+",
            sym::address(names, &kept),
            Binding::Sum,
        ),
    }
}

/// The row of 128 bytes of a swizzled buffer and the column in it, if the row is nonzero and the
/// column is not constant and provably stays within the row.
fn row_and_column(names: &Names<'_>, access: &Access, elem: Scalar) -> Option<(Sym, Sym)> {
    let length = 128 / i64::try_from(elem.bytes()).ok()?;
    let axes = access.indices.iter().zip(&access.view.strides);
    let at = axes.fold(access.view.offset.clone(), |at, (index, stride)| {
        &at + &(index * stride)
    });
    let row = at.part(|coef, _| coef % length == 0);
    let column = &at - &row;
    let cx = &names.function.cx;
    let stays = !column.is_poison()
        && cx.lt(&column, &Sym::int(length)).is_yes()
        && cx.le(&Sym::zero(), &column).is_yes();
    (stays && !row.is_zero() && column.as_int().is_none()).then_some((row, column))
}

/// The same in two parts: the second is constant after unrolling and does not change the pattern,
/// so that a matrix instruction can use it as its own offset.
pub fn place_and_steps(names: &Names<'_>, access: &Access) -> (Text, Option<Text>) {
    let buffer = access.view.buffer;
    let period = swizzle(names, buffer).map_or(1, |(s, elem)| s.period(elem));
    let steps = access
        .view
        .offset
        .part(|coef, atoms| coef % period == 0 && atoms.iter().all(|atom| names.is_unrolled(atom)));
    if steps.is_poison() || steps.is_zero() {
        return (place(names, access), None);
    }
    let mut first = access.clone();
    first.view.offset = &first.view.offset - &steps;
    (place(names, &first), Some(sym::sym(names, &steps)))
}

/// The place of the view's first element.
pub fn place_of_first(names: &Names<'_>, view: &View) -> Text {
    place(names, &access_at(view, view.offset.clone()))
}

fn swizzle<'a>(names: &'a Names<'_>, buffer: BufferId) -> Option<(&'a Swizzle, Scalar)> {
    let buffer = names.function.buffers.get(buffer.index())?;
    Some((buffer.swizzle.as_ref()?, buffer.elem))
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

/// The part of an access that is not syntactically a multiple of `period`, and the part that is.
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
