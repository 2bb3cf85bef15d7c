//! Tiles of TMA copies: their boxes, and their swizzles.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Copy, Function, Indivisible, KernelId, LONGEST_BOX, StmtKind, Storage, View, box_pieces,
    path_facts,
};
use crate::symbolic::{Sym, split_index};

/// Checks that swizzled tiles have a shape that TMA supports, whole groups from the start of the
/// pattern, and that tiles that are longer than a box can be divided.
pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    function.with_kernel_body(id, |func, body| {
        path_facts::visit(func, body, &mut |func, stmt| {
            if let StmtKind::Copy(copy) = &stmt.kind
                && !copy.engine.is_threads()
            {
                check_copy(func, diags, copy);
            }
        });
    });
}

fn check_copy(func: &Function, diags: &mut Diagnostics, copy: &Copy) {
    let (source, dest) = (&copy.source, &copy.dest);
    for view in [source, dest] {
        check_swizzled_box(func, diags, view);
    }
    let is_load = func.buffer(dest.buffer).storage == Storage::Shared;
    let (global, shared) = if is_load {
        (source, dest)
    } else {
        (dest, source)
    };
    check_division(func, diags, &source.shape, global, shared);
}

/// Checks that a tile of this shape can be divided into boxes.
fn check_division(
    func: &Function,
    diags: &mut Diagnostics,
    shape: &[Sym],
    global: &View,
    shared: &View,
) {
    let buffer = func.buffer(shared.buffer);
    let mut shape = shape.to_vec();
    if let (Some(swizzle), Some(width)) = (&buffer.swizzle, shape.last_mut()) {
        *width = Sym::int(swizzle.group(buffer.elem));
    }
    let Err(why) = box_pieces(&func.cx, buffer, &shape) else {
        return;
    };
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
    diags.push(
        Diagnostic::new(codes::E0863, global.span, message)
            .label(label)
            .help("use smaller tiles, or `dma`"),
    );
}

fn check_swizzled_box(func: &Function, diags: &mut Diagnostics, view: &View) {
    let buffer = func.buffer(view.buffer);
    let (Some(swizzle), Some(width)) = (buffer.swizzle.clone(), view.shape.last()) else {
        return;
    };
    let (elem, name) = (buffer.elem, buffer.name.clone());
    let bytes = i64::try_from(elem.bytes()).unwrap_or(1);
    let cx = &func.cx;
    let group = Sym::int(swizzle.group(elem));
    if !cx.divides(&group, width).is_yes() || width.as_int().is_none() {
        let shown = func.cx.show(&(width * bytes));
        return diags.push(
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
    let column = cx.simplify(&column);
    let place = cx.simplify(&buffer.by_groups(cx, &view.offset));
    let begins = Sym::int(swizzle.alignment() / bytes);
    let step = &swizzle.rows * &group;
    let several = cx.lt(&group, width).is_yes();
    let right = cx.divides(&group, &column).is_yes()
        && cx.divides(&begins, &place).is_yes()
        && (!several || cx.divides(&begins, &step).is_yes());
    if !right {
        let rows = swizzle.alignment() / i64::from(swizzle.bytes);
        diags.push(
                Diagnostic::new(
                    codes::E0855,
                    view.span,
                    format!("`tma` can't move this tile of `{name}`, which is swizzled"),
                )
                .label("may begin in the middle of the swizzle's pattern")
                .help(format!(
                    "start at a multiple of {rows} rows and of {} bytes in a row, in buffers of such multiples",
                    swizzle.bytes
                )),
            );
    }
}
