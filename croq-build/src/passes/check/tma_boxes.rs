//! Tiles of TMA copies: their boxes, and their swizzles.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Copy, Function, Indivisible, KernelId, LONGEST_BOX, StmtKind, Storage, View, box_pieces,
};
use crate::passes::check::conditional;
use crate::symbolic::{Sym, split_index};

/// Checks that swizzled tiles have a shape that TMA supports, whole groups from the start of the
/// pattern, and that tiles that are longer than a box can be divided.
pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    conditional::report(function, id, diags, |func, stmt| match &stmt.kind {
        StmtKind::Copy(copy) if !copy.engine.is_threads() => faults(func, copy),
        _ => Vec::new(),
    });
}

fn faults(func: &Function, copy: &Copy) -> Vec<Diagnostic> {
    let (source, dest) = (&copy.source, &copy.dest);
    let is_load = func.buffer(dest.buffer).storage == Storage::Shared;
    let (global, shared) = if is_load {
        (source, dest)
    } else {
        (dest, source)
    };
    let division = indivisible(func, &source.shape, global, shared);
    let swizzled = swizzled_fault(func, shared);
    swizzled.into_iter().chain(division).collect()
}

/// The report of a tile of this shape that cannot be divided into boxes.
fn indivisible(func: &Function, shape: &[Sym], global: &View, shared: &View) -> Option<Diagnostic> {
    let buffer = func.buffer(shared.buffer);
    let mut shape = shape.to_vec();
    if let (Some(swizzle), Some(width)) = (&buffer.swizzle, shape.last_mut()) {
        *width = Sym::int(swizzle.group(buffer.elem));
    }
    let why = box_pieces(&func.cx, buffer, &shape).err()?;
    let label = match why {
        Indivisible::Many(most) => format!("would be more than {most} boxes"),
        Indivisible::Symbolic(axis) => {
            format!("the extent of axis {axis} is known only at run time")
        }
        Indivisible::Unaligned(bytes) => {
            format!("parts do not begin at multiples of {bytes} bytes in shared memory")
        }
    };
    let shown: Vec<String> = shape.iter().map(|extent| func.cx.show(extent)).collect();
    let message = format!(
        "a box has at most {LONGEST_BOX} elements along an axis, and this tile of [{}] cannot be divided",
        shown.join(", ")
    );
    let d = Diagnostic::new(codes::E0863, global.span, message).label(label);
    Some(d.help("use smaller tiles, or `dma`"))
}

fn swizzled_fault(func: &Function, view: &View) -> Option<Diagnostic> {
    let buffer = func.buffer(view.buffer);
    let (swizzle, width) = (buffer.swizzle.as_ref()?, view.shape.last()?);
    let (elem, name) = (buffer.elem, buffer.name.clone());
    let bytes = i64::try_from(elem.bytes()).unwrap_or(1);
    let cx = &func.cx;
    let group = Sym::int(swizzle.group(elem));
    if !cx.divides(&group, width).is_yes() || width.as_int().is_none() {
        let shown = func.cx.show(&(width * bytes));
        return Some(
            Diagnostic::new(
                codes::E0853,
                view.span,
                format!(
                    "`tma` moves rows of `{name}` by groups of {} bytes, these have {shown}",
                    swizzle.bytes
                ),
            )
            .label("not a whole number of groups")
            .help("use a narrower swizzle, or `dma`"),
        );
    }
    let (_, column) = split_index(cx, &view.offset, &swizzle.columns);
    let begins = swizzle.alignment() / bytes;
    let step = &swizzle.rows * &group;
    let several = cx.lt(&group, width).is_yes();
    let right = conditional::divides(cx, swizzle.group(elem), &column)
        && conditional::divides(cx, begins, &buffer.by_groups(cx, &view.offset))
        && (!several || conditional::divides(cx, begins, &step));
    if right {
        return None;
    }
    let rows = swizzle.alignment() / i64::from(swizzle.bytes);
    let message = format!("`tma` can't move this tile of `{name}`, which is swizzled");
    let help = format!(
        "start at a multiple of {rows} rows and of {} bytes in a row, in buffers of such multiples",
        swizzle.bytes
    );
    let d = Diagnostic::new(codes::E0855, view.span, message);
    Some(
        d.label("may begin in the middle of the swizzle's pattern")
            .help(help),
    )
}
