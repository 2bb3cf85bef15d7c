//! Swizzled tiles in TMA copies.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{Function, Stmt, StmtKind, View, Visit, walk_block};
use crate::symbolic::{Sym, split_index};

/// Checks that swizzled tiles have a shape that TMA supports: whole groups, from the start of the
/// pattern.
pub fn check(func: &Function, diags: &mut Diagnostics) {
    struct Tiles(Vec<(View, View)>);
    impl Visit for Tiles {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Copy(copy) = &stmt.kind
                && !copy.engine.is_threads()
            {
                self.0.push((copy.source.clone(), copy.dest.clone()));
            }
        }
    }
    let mut tiles = Tiles(Vec::new());
    for kernel in &func.kernels {
        walk_block(&kernel.body, &mut tiles);
    }
    for (source, dest) in tiles.0 {
        for view in [source, dest] {
            check_swizzled_box(func, diags, &view);
        }
    }
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
    let begins = Sym::int(swizzle.alignment() / bytes);
    let step = &swizzle.rows * &group;
    let several = cx.lt(&group, width).is_yes();
    let right = cx.divides(&group, &column).is_yes()
        && cx
            .divides(&begins, &buffer.by_groups(cx, &view.offset))
            .is_yes()
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
