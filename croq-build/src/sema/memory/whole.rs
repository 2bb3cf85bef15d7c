//! Views of whole buffers.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BufferId, Frame, Storage, Valid, View};
use crate::sema::state::cx::{Cx, source_text};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::source::Span;
use crate::symbolic::Sym;

/// Row-major strides of a shape.
pub(crate) fn dense_strides(shape: &[Sym]) -> Vec<Sym> {
    let mut strides = vec![Sym::one(); shape.len()];
    let mut step = Sym::one();
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step.clone();
        step = &step * extent;
    }
    strides
}

pub(crate) fn whole_view(func: &ir::Function, id: BufferId, span: Span) -> View {
    view_of_shape(id, func.buffer(id).shape.clone(), span)
}

/// A view from the first element of a buffer on, dense.
pub(crate) fn view_of_shape(id: BufferId, shape: Vec<Sym>, span: Span) -> View {
    let strides = dense_strides(&shape);
    let valid = vec![Valid::default(); shape.len()];
    let frame = Some(Frame::whole(&shape, &strides));
    View {
        buffer: id,
        frame,
        offset: Sym::zero(),
        shape,
        strides,
        valid,
        span,
    }
}

pub(crate) fn data_of(view: View, name: &str, span: Span) -> Data {
    Data {
        view,
        array: Vec::new(),
        numbers: Vec::new(),
        zfill: false,
        name: name.to_owned(),
        future: None,
        squeezable: false,
        tiled: false,
        first_tile: None,
        span,
    }
}

/// Reports an array of buffers without enough subscripts.
pub(crate) fn expect_whole(el: &mut Elab<'_>, d: Data, span: Span) -> Option<Data> {
    if d.array.is_empty() {
        check_in_memory(el, d.view.buffer, &d.name, span)?;
        return Some(d);
    }
    let missing: String = d.array.iter().map(|_| "[…]").collect();
    let extents: Vec<String> = d.array.iter().map(u64::to_string).collect();
    let written = source_text(&el.cx, span, &d.name);
    let text = format!(
        "`{written}` is an array of {} buffers, not one buffer",
        extents.join(" by ")
    );
    let label = match d.array.len() {
        1 => "needs a subscript".to_owned(),
        more => format!("needs {more} subscripts"),
    };
    el.cx.report(
        Diagnostic::new(codes::E0436, span, text)
            .label(label)
            .help(format!("write `{written}{missing}`")),
    );
    None
}

/// Marks a buffer as accessed by a kernel.
pub(crate) fn mark_accessed(func: &mut ir::Function, view: &View, read: bool, written: bool) {
    if let Some(b) = func.buffers.get_mut(view.buffer.index()) {
        b.read |= read;
        b.written |= written;
    }
}

/// Whether this is a fragment, not an array of fragments.
pub(crate) fn is_fragment(el: &Elab<'_>, d: &Data) -> bool {
    d.array.is_empty() && el.f.buffer(d.view.buffer).storage == Storage::Fragment
}

/// Reports an access of a fragment as memory: its elements have no address.
fn check_in_memory(el: &mut Elab<'_>, id: BufferId, name: &str, at: Span) -> Option<()> {
    if el.f.buffer(id).storage != Storage::Fragment {
        return Some(());
    }
    if el.fragments.failed {
        return None;
    }
    el.cx.report(
        Diagnostic::new(
            codes::E0921,
            at,
            format!("`{name}` is in the registers of a warp"),
        )
        .label("its elements belong to different threads")
        .help(format!(
            "go through them with `apply {{i, j}} in {name}.span …`; or access memory: the tile that \
             an operand was loaded from, or where `mma.store` puts a result"
        )),
    );
    None
}

/// Reports a value that is not data, as an endpoint of a copy.
pub(crate) fn report_not_data(cx: &mut Cx<'_>, v: &Value, at: Span) -> bool {
    if let Value::Data(d) = v {
        let name = d.name.clone();
        cx.report(
            Diagnostic::new(
                codes::E0326,
                at,
                format!("an element is assigned a scalar, `{name}` is spanned data"),
            )
            .label("a whole buffer")
            .help(format!("pick an element: `{name}.at(…)`")),
        );
        return false;
    }
    true
}
