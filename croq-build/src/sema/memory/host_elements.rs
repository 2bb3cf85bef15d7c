//! Elements of device memory that the host reads, writes or returns.

use crate::ir::{self, BufferId, Level, ReturnValue, Scalar, StmtKind, Storage, Valid, View};
use crate::sema::build;
use crate::sema::levels::host_kernels;
use crate::sema::memory::{access, whole};
use crate::sema::state::elab::Elab;
use crate::sema::state::results::ReturnShape;
use crate::sema::values::convert;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// `return sum.at(0);`: a buffer with a copy of the element. The host does not wait.
pub(crate) fn lower_result(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    indices: &[ast::Expr],
    span: Span,
) -> Option<(ReturnShape, ReturnValue)> {
    let access = access::lower_access(el, base, indices, span)?;
    let elem = el.f.buffer(access.view.buffer).elem;
    if convert::refuse_small_scalar(&mut el.cx, elem, span) {
        return None;
    }
    let source = one_row(&access.view, access.address(), Sym::one());
    let id = copied(
        el,
        ("returned", elem),
        Vec::new(),
        (source, Sym::one()),
        span,
    );
    Some((ReturnShape::Element(elem), ReturnValue::Buffer(id)))
}

/// A part of a larger allocation, as a buffer of its own.
pub(crate) fn returned_copy(
    el: &mut Elab<'_>,
    view: View,
    span: Span,
) -> (ReturnShape, ReturnValue) {
    let elem = el.f.buffer(view.buffer).elem;
    let shape = ReturnShape::Tensor(elem, view.shape.clone());
    let id = copy_of(el, view, "returned", span);
    (shape, ReturnValue::Buffer(id))
}

/// A copy of data in a buffer of its own; elements beyond an edge are zero.
pub(crate) fn copy_of(el: &mut Elab<'_>, view: View, name: &str, span: Span) -> BufferId {
    let elem = el.f.buffer(view.buffer).elem;
    let shape = view.shape.clone();
    let dense = view.strides == whole::dense_strides(&shape) && !view.may_cross();
    if dense {
        let count = shape.iter().product::<Sym>();
        let source = one_row(&view, view.offset.clone(), count.clone());
        return copied(el, (name, elem), shape, (source, count), span);
    }
    let id = allocated(el, (name, elem), shape, span);
    let dest = whole::whole_view(&el.f, id, span);
    emit_copy(el, view, dest, span);
    id
}

/// Adjacent elements from `offset` on.
fn one_row(of: &View, offset: Sym, count: Sym) -> View {
    View {
        buffer: of.buffer,
        offset,
        shape: vec![count],
        strides: vec![Sym::one()],
        valid: vec![Valid::default()],
        frame: None,
        span: of.span,
    }
}

/// A new buffer with adjacent elements.
fn copied(
    el: &mut Elab<'_>,
    of: (&str, Scalar),
    shape: Vec<Sym>,
    (source, count): (View, Sym),
    span: Span,
) -> BufferId {
    let id = allocated(el, of, shape, span);
    let whole = whole::whole_view(&el.f, id, span);
    let dest = one_row(&whole, Sym::zero(), count);
    emit_copy(el, source, dest, span);
    id
}

fn allocated(
    el: &mut Elab<'_>,
    (name, elem): (&str, Scalar),
    shape: Vec<Sym>,
    span: Span,
) -> BufferId {
    let new = build::NewBuffer {
        name,
        elem,
        storage: Storage::Host,
        shape,
        copies: Sym::one(),
        span,
    };
    let id = build::new_buffer(&mut el.f, new);
    build::emit(el, StmtKind::Alloc(id), span);
    id
}

fn emit_copy(el: &mut Elab<'_>, source: View, dest: View, span: Span) {
    whole::mark_accessed(&mut el.f, &source, true, false);
    whole::mark_accessed(&mut el.f, &dest, false, true);
    let copy = ir::Copy {
        zero_fill: source.may_cross(),
        source,
        dest,
        transform: ir::Transform::None,
        level: Level::Block,
        future: None,
        engine: ir::Engine::Threads,
    };
    host_kernels::emit_host_kernel(el, StmtKind::Copy(copy), span);
}
