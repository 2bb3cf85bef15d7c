//! Boxes that TMA can move (language 04 section 10).
//!
//! TMA accesses a tensor in device memory through a descriptor that the host creates before the
//! launch, so everything except the position of a tile must be known at that time. It copies whole
//! boxes: positions beyond an end of the tensor become zero in shared memory, and are not written
//! in device memory. It cannot clip a tile at an end inside the tensor.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BOX_ALIGNMENT, BinOp, BufferId, CheckCode, Frame, LONGEST_BOX, View};
use crate::sema::checks::{run_time, unsupported};
use crate::sema::levels::uniformity;
use crate::sema::memory::swizzles;
use crate::sema::memory::whole::dense_strides;
use crate::sema::state::elab::Elab;
use crate::sema::values::shape;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::CopyStmt;

/// The alignment in bytes of addresses, rows and boxes in device memory.
const GLOBAL_BYTES: i64 = 16;

/// The tensor that the global side is a box of, with extents and strides that the host can compute.
pub(crate) fn tensor_of(el: &mut Elab<'_>, global: &View, at: Span) -> Option<Frame> {
    let known = |el: &Elab<'_>, sym: &Sym| {
        sym.sorted_vars()
            .iter()
            .all(|v| uniformity::is_host_known(el, *v))
    };
    let Some(frame) = global.frame.clone() else {
        el.cx.report(
            Diagnostic::new(codes::E0868, at, "this window has strides of its own")
                .label("TMA addresses only whole tensors, as declared")
                .help("use `dma`"),
        );
        return None;
    };
    let base = frame.base(&global.offset);
    let hidden = std::iter::once(&base)
        .chain(&frame.extents)
        .chain(&frame.strides)
        .find(|s| !known(el, s))
        .cloned();
    if let Some(sym) = hidden {
        let shown = el.f.cx.show(&sym);
        el.cx.report(
                Diagnostic::new(
                    codes::E0868,
                    at,
                    "the host can't describe this tensor before the launch",
                )
                .label(format!("`{shown}` is known only inside the kernel"))
                .help("cut the tile from a parameter as it is declared, without `span_as` of a part; or use `dma`"),
            );
        return None;
    }
    let rank = frame.extents.len();
    if rank > 5 {
        el.cx.report(
            Diagnostic::new(
                codes::E0865,
                at,
                format!("`tma` knows tensors of 1 to 5 dimensions, this has {rank}"),
            )
            .label("too many dimensions")
            .help("join dimensions with `span_as`, or use `dma`"),
        );
        return None;
    }
    for extent in &global.shape {
        if !known(el, extent) {
            let shown = el.f.cx.show(extent);
            el.cx.report(
                Diagnostic::new(
                    codes::E0861,
                    at,
                    "the size of a box must be known before the launch",
                )
                .label(format!("`{shown}` is known only inside the kernel"))
                .help("use a constant or a parameter, or copy with `dma`"),
            );
            return None;
        }
    }
    Some(frame)
}

/// What a copy's box covers, along the axes of the view.
pub(crate) struct Covered {
    pub shape: Vec<Sym>,
    /// Axes along which the call checks that the tile is as large as the box.
    pub equal_at_entry: Vec<usize>,
}

impl Covered {
    pub fn whole(view: &View) -> Self {
        Self {
            shape: view.shape.clone(),
            equal_at_entry: Vec::new(),
        }
    }
}

/// The box of a load.
pub(crate) fn check_box(
    el: &mut Elab<'_>,
    source: &View,
    dest: &View,
    zero_fill: bool,
    frame: &Frame,
    c: &CopyStmt,
) -> Option<Covered> {
    let mut shape = Vec::new();
    let mut equal = Vec::new();
    for (axis, (f, t)) in source.shape.iter().zip(&dest.shape).enumerate() {
        if el.f.cx.eq(f, t) == Truth::Yes {
            shape.push(t.clone());
            continue;
        }
        let (Some(origin), Some(extent)) = (
            frame.axes.get(axis).and_then(|a| frame.origin.get(*a)),
            frame.axes.get(axis).and_then(|a| frame.extents.get(*a)),
        ) else {
            return None;
        };
        if el.f.cx.eq(&(origin + f), extent) == Truth::Yes {
            // Positions beyond the end of the tensor become zero.
            shape.push(t.clone());
        } else if axis == 0 && !zero_fill {
            shape.push(f.clone());
        } else if equal_at_entry(el, (f, t), axis, c) {
            equal.push(axis);
            shape.push(t.clone());
        } else {
            let (from, to) = (
                shape::show(&el.f, &source.shape),
                shape::show(&el.f, &dest.shape),
            );
            el.cx.report(
                Diagnostic::new(
                    codes::E0804,
                    c.head.to(c.source.span),
                    format!("{from} and {to} differ, and `tma` moves whole boxes"),
                )
                .label(format!("axis {axis} ends inside the tensor"))
                .help("give both sides one shape, or use `dma`"),
            );
            return None;
        }
    }
    Some(Covered {
        shape,
        equal_at_entry: equal,
    })
}

/// Extents that may be equal, such as those of `N / cdiv(N, 64)` elements and of 64: each call checks
/// that they are, if it can before the launch.
fn equal_at_entry(el: &mut Elab<'_>, (from, to): (&Sym, &Sym), axis: usize, c: &CopyStmt) -> bool {
    let known = run_time::known_at_entry(&el.f, from) && run_time::known_at_entry(&el.f, to);
    if !known || el.f.cx.eq(from, to) == Truth::No {
        return false;
    }
    let message =
        format!("axis {axis} of the copy: {{0}} elements into {{1}}, and `tma` moves whole boxes");
    let check = run_time::Check::new(CheckCode::R07, message, c.head.to(c.source.span));
    run_time::emit_equal_at_entry(el, check, from, to);
    true
}

/// Checks that a tile may only end where the tensor does: TMA clips at no other end.
pub(crate) fn check_ends(
    el: &mut Elab<'_>,
    global: &View,
    frame: &Frame,
    may_read_on: bool,
    at: Span,
) -> Option<()> {
    if may_read_on {
        return Some(());
    }
    let inside = ends_inside(el, global, frame)?;
    if let Some(axis) = inside {
        el.cx.report(
            Diagnostic::new(
                codes::E0868,
                at,
                format!("axis {axis} of this tile may end inside the tensor"),
            )
            .label("TMA clips only at the ends of the tensor")
            .help("use `dma`, or cut the tile from the tensor itself"),
        );
        return None;
    }
    Some(())
}

/// An axis of the view along which positions that the tensor has may be outside of the tile, if there
/// is one; `None` outside if the view's axes are not the frame's.
///
/// A position outside along an axis that the view has dropped is clipped, too, so the limits that such
/// an axis has left to another one are asked only for positions that are inside along it.
fn ends_inside(el: &mut Elab<'_>, global: &View, frame: &Frame) -> Option<Option<usize>> {
    let cx = &mut el.f.cx;
    cx.push_scope();
    for (axis, (origin, extent)) in frame.origin.iter().zip(&frame.extents).enumerate() {
        if !frame.axes.contains(&axis) {
            cx.assume_le(&Sym::zero(), origin);
            cx.assume_lt(origin, extent);
        }
    }
    let mut found = Some(None);
    for (axis, valid) in global.valid.iter().enumerate() {
        let along = frame.axes.get(axis);
        let ends = along.and_then(|a| Some((frame.origin.get(*a)?, frame.extents.get(*a)?)));
        let (Some((origin, extent)), Some(length)) = (ends, global.shape.get(axis)) else {
            found = None;
            break;
        };
        let last = cx.min(length, &(extent - origin));
        let first = cx.max(&Sym::zero(), &-origin);
        let high = |hi: &Sym| cx.le(&last, hi) == Truth::Yes;
        let low = |lo: &Sym| cx.le(lo, &first) == Truth::Yes;
        if !valid.hi.as_ref().is_none_or(high) || !valid.lo.as_ref().is_none_or(low) {
            found = Some(Some(axis));
            break;
        }
    }
    cx.pop_scope();
    found
}

pub(crate) fn check_extents(
    el: &mut Elab<'_>,
    shape: &[Sym],
    frame: &Frame,
    bytes: i64,
    swizzled: bool,
    at: Span,
) -> Option<()> {
    for (axis, extent) in shape.iter().enumerate() {
        // Swizzled rows are copied group by group, and `tma-boxes` divides other axes.
        if swizzled && axis + 1 == shape.len() || extent.as_int().is_some() {
            continue;
        }
        let shown = el.f.cx.show(extent);
        match el.f.cx.le(extent, &Sym::int(LONGEST_BOX)) {
            Truth::Yes => {}
            Truth::No => {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0863,
                        at,
                        format!("a box has at most {LONGEST_BOX} elements along an axis, this has {shown}"),
                    )
                    .label(format!("axis {axis}: {shown} elements"))
                    .help("give the axis a constant extent, for which there may be several boxes; or use `dma`"),
                );
                return None;
            }
            Truth::Unknown => run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R10,
                    format!(
                        "`tma` moves boxes of at most {{1}} elements along an axis, `{shown}` is {{0}}"
                    ),
                    at,
                ),
                BinOp::Le,
                extent,
                &Sym::int(LONGEST_BOX),
            ),
        }
    }
    // The innermost axis of the tensor, if the tile includes it.
    let innermost = frame.extents.len().checked_sub(1)?;
    let inner = frame
        .axes
        .iter()
        .position(|a| *a == innermost)
        .and_then(|axis| shape.get(axis).cloned())
        .unwrap_or_else(Sym::one);
    let inner = &inner * bytes;
    match multiple_of_16(&el.f, &inner) {
        Truth::Yes => {}
        Truth::No => {
            let shown = el.f.cx.show(&inner);
            el.cx.report(
                    Diagnostic::new(
                        codes::E0864,
                        at,
                        format!("the rows of a box are multiples of {GLOBAL_BYTES} bytes, these have {shown}"),
                    )
                    .label(format!("{shown} bytes"))
                    .help("use wider tiles, or `dma`"),
                );
            return None;
        }
        Truth::Unknown => check_multiple(
            el,
            format!(
                "`tma` moves rows of multiples of {GLOBAL_BYTES} bytes, the rows of this box have {{0}}"
            ),
            &inner,
            at,
        ),
    }
    Some(())
}

pub(crate) fn check_tensor(
    el: &mut Elab<'_>,
    global: &View,
    frame: &Frame,
    bytes: i64,
    at: Span,
) -> Option<()> {
    let name = el.f.buffer(global.buffer).name.clone();
    let base = &frame.base(&global.offset) * bytes;
    let outer = frame.strides.len().saturating_sub(1);
    let strides = frame.strides.iter().take(outer).map(|s| s * bytes);
    let steps: Vec<(Option<usize>, Sym)> = std::iter::once((None, base))
        .chain(strides.enumerate().map(|(axis, s)| (Some(axis), s)))
        .collect();
    for (axis, step) in steps {
        let shown = el.f.cx.show(&step);
        let what = match axis {
            None => format!("`tma` reads and writes from multiples of {GLOBAL_BYTES} bytes on"),
            Some(axis) => format!(
                "`tma` needs steps of multiples of {GLOBAL_BYTES} bytes along axis {axis} of `{name}`"
            ),
        };
        match multiple_of_16(&el.f, &step) {
            Truth::Yes => {}
            Truth::No => {
                el.cx.report(
                    Diagnostic::new(codes::E0866, at, format!("{what}, this is {shown}"))
                        .label(format!("{shown} bytes"))
                        .help("use `dma`, or make the rows longer"),
                );
                return None;
            }
            Truth::Unknown => check_multiple(el, format!("{what}, this is {{0}}"), &step, at),
        }
    }
    Some(())
}

fn multiple_of_16(func: &ir::Function, bytes: &Sym) -> Truth {
    func.cx.divides(&Sym::int(GLOBAL_BYTES), bytes)
}

fn check_multiple(el: &mut Elab<'_>, message: String, bytes: &Sym, at: Span) {
    let rest = el.f.cx.rem(bytes, &Sym::int(GLOBAL_BYTES));
    let cond = run_time::compare(BinOp::Eq, &rest, &Sym::zero(), at);
    run_time::emit_check(
        el,
        run_time::Check::new(CheckCode::R10, message, at),
        cond,
        std::slice::from_ref(bytes),
        &[bytes],
    );
    if run_time::known_at_entry(&el.f, bytes) {
        el.f.cx.assume_divides(&Sym::int(GLOBAL_BYTES), bytes);
    }
}

/// The number of elements in a row of a buffer, as declared.
fn row_of(el: &Elab<'_>, id: BufferId) -> Option<Sym> {
    let now = el.f.buffer(id).shape.as_slice();
    el.storage
        .pools
        .declared_shape(id)
        .unwrap_or(now)
        .last()
        .cloned()
}

/// Checks that the phases of exchanged tiles fit the bits of one variable per thread.
pub(crate) fn check_rings(el: &mut Elab<'_>) {
    let mut many = None;
    for future in el.asynchronous.futures.iter().filter(|f| f.by_tma) {
        let Some(handle) = &future.handle else {
            continue;
        };
        let Some(pool) = handle.pool else { continue };
        let count = &el.f.buffer(el.storage.pools.find(pool).0).count;
        let tiles = el.f.cx.cdiv(count, &handle.tile);
        if !el.f.cx.le(&tiles, &Sym::int(64)).is_yes() {
            many = many.or(Some(future.span));
        }
    }
    if let Some(at) = many {
        unsupported::report(
            &mut el.cx,
            at,
            "an exchange of more than 64 tiles of a block",
        );
    }
}

/// The axes of the tensor along which the position of a stored tile may be negative, or the reason why
/// TMA cannot store it. The corner of a box may have negative coordinates when it is loaded, but not
/// when it is stored (CUDA C++ programming guide, "Using TMA to transfer multi-dimensional arrays").
/// A position that is a multiple of the box's extent is no obstacle: where it is negative, all of
/// the box is outside, and nothing is stored.
pub(crate) fn negative_axes(
    el: &Elab<'_>,
    frame: &Frame,
    shape: &[Sym],
) -> Result<Vec<usize>, String> {
    let mut axes = Vec::new();
    for (axis, origin) in frame.origin.iter().enumerate() {
        if el.f.cx.le(&Sym::zero(), origin) == Truth::Yes {
            continue;
        }
        let along = frame.axes.iter().position(|a| *a == axis);
        let extent = along.and_then(|along| shape.get(along).cloned());
        let extent = extent.unwrap_or_else(Sym::one);
        if el.f.cx.divides(&extent, origin) != Truth::Yes {
            let shown = el.f.cx.show(origin);
            return Err(format!(
                "begins at `{shown}` in axis {axis}, and a box that begins before the tensor cannot be stored"
            ));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// The reason why TMA cannot access a tile of shared memory, if there is one.
pub(crate) fn why_out_of_reach(el: &Elab<'_>, shared: &View, bytes: i64) -> Option<String> {
    if shared.may_cross() {
        return Some("may cross the edge of its buffer".to_owned());
    }
    let mut shape = shared.shape.clone();
    let swizzled = swizzles::asked_so_far(el, shared.buffer).is_some();
    // In swizzled memory the rows of a group are contiguous, whatever their length.
    if swizzled && let (Some(width), Some(row)) = (shape.last_mut(), row_of(el, shared.buffer)) {
        *width = row;
    }
    let dense = dense_strides(&shape);
    let apart = shared
        .shape
        .iter()
        .zip(shared.strides.iter().zip(&dense))
        .any(|(n, (have, want))| !n.is_one() && el.f.cx.eq(have, want) != Truth::Yes);
    if apart {
        return Some("its rows are not contiguous".to_owned());
    }
    if swizzled {
        // `late::tma_boxes` checks its position.
        return None;
    }
    let unit = Sym::int(BOX_ALIGNMENT);
    let offset = &shared.offset * bytes;
    if el.f.cx.divides(&unit, &offset) != Truth::Yes {
        return Some(format!(
            "does not begin at a multiple of {BOX_ALIGNMENT} bytes"
        ));
    }
    None
}
