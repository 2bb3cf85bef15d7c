//! Declarations of buffers: their storage, extents and initial values.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, Level, Scalar, StmtKind, Storage};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::{host_kernels, uniformity};
use crate::sema::memory::{arrays, local_sizes, packed, whole};
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::values::{convert, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, BufferShape, ElemType};

/// Limits in bytes, larger than those of current GPUs, for a block's shared memory, a thread's
/// memory, and a fragment.
const MOST_SHARED: i128 = 1 << 20;
const MOST_LOCAL: i128 = 512 << 10;
const MOST_FRAGMENT: i128 = 1 << 20;

pub(crate) fn declare_all(
    el: &mut Elab<'_>,
    storage: Option<&(ast::Storage, Span)>,
    elem: (ElemType, Span),
    shape: &BufferShape,
    items: &[ast::BufferItem],
    span: Span,
) {
    let placed = storage_of(el, storage, span);
    let scalar = convert::element_type(&mut el.cx, elem.0, elem.1);
    let extents = match shape {
        BufferShape::Dims(dims) => shape::lower_storage_shape(el, dims),
        BufferShape::Auto(at) => {
            let remedy = "write the extents, `[x.span]` for those of `x`; `f = dma.copy x => shared;` makes a buffer of that shape";
            unsupported::report_with_remedy(&mut el.cx, *at, "a shape of `[auto]`", Some(remedy));
            None
        }
    };
    for item in items {
        let id = match (placed, scalar, &extents) {
            (Some(storage), Some(elem), Some(shape)) => {
                declare_one(el, storage, elem, shape, item, span)
            }
            _ => None,
        };
        let entity = match id {
            Some((id, array)) => Entity::Buffer { id, array },
            None => Entity::Poison,
        };
        scope::declare(el, &item.name, entity);
    }
}

/// Reports `mutable` in front of a buffer.
pub(crate) fn report_mutable(cx: &mut Cx<'_>, at: Span) {
    cx.report(
        Diagnostic::new(codes::E0305, at, "spanned data can't be declared `mutable`")
            .label("elements can always be written")
            .help("remove the storage specifier"),
    );
}

fn storage_of(
    el: &mut Elab<'_>,
    storage: Option<&(ast::Storage, Span)>,
    span: Span,
) -> Option<Storage> {
    let in_kernel = el.kernel.is_some();
    match (storage, in_kernel) {
        (Some((ast::Storage::Shared, _)), true) => Some(Storage::Shared),
        (Some((ast::Storage::Local, _)), true) => Some(Storage::Local),
        (None | Some((ast::Storage::Global, _)), false) => Some(Storage::Host),
        (word, true) => {
            let at = word.map_or(span, |w| w.1);
            el.cx.report(
                    Diagnostic::new(codes::E0610, at, "device code can declare only `shared` and `local` buffers")
                        .label("needs device memory, which the host allocates")
                        .help("write `shared` or `local` before the type, or declare it before the `parallel`"),
                );
            None
        }
        (Some((_, at)), false) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0611,
                    *at,
                    "`shared` and `local` buffers exist only inside `parallel`",
                )
                .label("this is host code")
                .help("move the declaration into the `parallel`"),
            );
            None
        }
    }
}

/// Checks that the extents are known at the buffer's allocation.
fn check_shape(
    el: &mut Elab<'_>,
    storage: Storage,
    shape: &[Sym],
    item: &ast::BufferItem,
) -> Option<()> {
    if storage == Storage::Local && shape.iter().any(|s| s.as_int().is_none()) {
        let shown = shape::show(&el.f, shape);
        let help = local_sizes::remedy(el, shape, "use `shared`, or a constant size");
        el.cx.report(
            Diagnostic::new(
                codes::E0614,
                item.name.span,
                format!("`local` buffers need static extents, this is {shown}"),
            )
            .label("registers have no run-time size")
            .help(help),
        );
        return None;
    }
    if storage == Storage::Shared {
        let unknown = shape
            .iter()
            .flat_map(Sym::vars)
            .find(|v| !uniformity::is_host_known(el, *v));
        if let Some(v) = unknown {
            let name = el.f.cx.name(v).to_owned();
            el.cx.report(
                Diagnostic::new(
                    codes::E0331,
                    item.name.span,
                    format!("the shape depends on `{name}`, known only inside the kernel"),
                )
                .label("can't be allocated at launch"),
            );
            return None;
        }
    }
    Some(())
}

fn declare_one(
    el: &mut Elab<'_>,
    storage: Storage,
    elem: Scalar,
    shape: &[Sym],
    item: &ast::BufferItem,
    span: Span,
) -> Option<(ir::BufferId, Vec<u64>)> {
    let mut array = Vec::new();
    for e in &item.array {
        match arrays::array_extent(el, e, "buffer") {
            Some(n) => array.push(n),
            None => return None,
        }
    }
    check_shape(el, storage, shape, item)?;
    packed::check_last_extent(el, &item.name.text, elem, shape, item.name.span)?;
    let copies: u64 = arrays::elements_of(&array);
    let copies = Sym::int(i64::try_from(copies).unwrap_or(i64::MAX));
    let id = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name: &item.name.text,
            elem,
            storage,
            shape: shape.to_vec(),
            copies,
            span: item.name.span,
        },
    );
    check_affordable(el, id, (&shown(el, id), item.name.span))?;
    let bytes = &el.f.buffer(id).count * elem.size();
    if bytes.is_poison() || bytes.as_int().is_some_and(|n| n < 0) {
        let shown = shape::show(&el.f, shape);
        el.cx.report(
            Diagnostic::new(
                codes::E0429,
                item.name.span,
                format!("`{}` has more bytes than 64 bits can count", item.name.text),
            )
            .label(format!("`{elem} {shown}`")),
        );
        return None;
    }
    if matches!(storage, Storage::Host | Storage::Shared | Storage::Local) {
        build::emit(el, StmtKind::Alloc(id), span);
    }
    warn_of_spills(el, id, (&shown(el, id), item.name.span));
    if let Some(init) = &item.init {
        let v = el.expression(init);
        if !matches!(v, Value::Error | Value::Int(_) | Value::Scalar(_)) {
            let kind = v.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0335,
                    init.span,
                    format!("a buffer is initialised with a scalar, this is {kind}"),
                )
                .label("not a scalar"),
            );
            return None;
        }
        let value = convert::convert(el, v, elem, init.span)?;
        let mut view = whole::whole_view(&el.f, id, item.name.span);
        if !array.is_empty() {
            // All buffers of the array at once, as one row.
            view.shape = vec![el.f.buffer(id).count.clone()];
            view.strides = vec![Sym::one()];
            view.valid = vec![ir::Valid::default()];
            view.frame = None;
        }
        let level = if storage == Storage::Local {
            Level::Thread
        } else {
            Level::Block
        };
        whole::mark_accessed(&mut el.f, &view, false, true);
        let fill = StmtKind::Fill { view, value, level };
        if storage == Storage::Host {
            host_kernels::emit_host_kernel(el, fill, span);
        } else {
            build::emit(el, fill, span);
        }
    }
    Some((id, array))
}

/// Rejects a buffer that is too large for any GPU, before anything is unrolled over it. Limits of
/// the targets are checked when memory is assigned.
/// `what` is its name in a report.
pub(crate) fn check_affordable(
    el: &mut Elab<'_>,
    id: ir::BufferId,
    (what, at): (&str, Span),
) -> Option<()> {
    let buffer = el.f.buffer(id);
    let (most, scope) = match buffer.storage {
        Storage::Shared => (MOST_SHARED, "the shared memory of a block"),
        Storage::Local => (MOST_LOCAL, "the memory of a thread"),
        Storage::Fragment => (MOST_FRAGMENT, "the registers of a warpgroup"),
        _ => return Some(()),
    };
    let bytes = buffer.count.as_int().map_or(0, i128::from) * i128::from(buffer.elem.bytes());
    if !buffer.count.is_poison() && bytes <= most {
        return Some(());
    }
    let (code, size) = if buffer.count.is_poison() {
        (codes::E0429, "more bytes than 64 bits can count".to_owned())
    } else {
        (codes::E0613, format!("{bytes} bytes"))
    };
    let text = format!("{what} has {size}: at most {most} fit {scope}");
    el.cx.report(
        Diagnostic::new(code, at, text)
            .label("no GPU has room for it")
            .help("keep a tile of it here, and loop over tiles"),
    );
    None
}

/// A buffer of the program in a report.
pub(crate) fn shown(el: &Elab<'_>, id: ir::BufferId) -> String {
    format!("`{}`", el.f.buffer(id).name)
}

/// Warns of a buffer that is too large for the registers of a thread.
pub(crate) fn warn_of_spills(el: &mut Elab<'_>, id: ir::BufferId, (what, at): (&str, Span)) {
    let b = el.f.buffer(id);
    let (storage, elem) = (b.storage, b.elem);
    let bytes = b
        .count
        .as_int()
        .and_then(|n| u64::try_from(n).ok())
        .and_then(|n| n.checked_mul(elem.bytes()));
    if storage == Storage::Local
        && let Some(bytes) = bytes.filter(|b| *b > 255 * 4)
    {
        el.cx.report(
            Diagnostic::new(
                codes::W0624,
                at,
                format!(
                    "{what} takes {bytes} bytes of every thread: it will not stay in registers"
                ),
            )
            .label("larger than the register file allows")
            .help("use `shared` memory, or a smaller tile"),
        );
    }
}
