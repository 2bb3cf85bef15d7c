//! Swizzles: layouts of shared buffers that avoid bank conflicts.
//!
//! A program requests a swizzle on a copy or another access, `.swiz<128>`, but it applies to the
//! buffer: every access of its elements uses the same layout. So requests are collected while a
//! function is elaborated, and decided at its end, when it is known which buffers are in one pool:
//! a whole pool has one swizzle, the first that was requested for any part.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, BufferId, CheckCode, LayoutUses, Storage, Swizzle, View};
use crate::sema::checks::{run_time, unsupported};
use crate::sema::memory::packed;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, CopyModifier, CopyStmt};

/// The width in bytes of `.swiz<width>`; without one it is 128.
pub(crate) fn width_of(cx: &mut Cx<'_>, width: Option<&ast::Expr>, at: Span) -> Option<u32> {
    let Some(width) = width else {
        cx.report(
            Diagnostic::new(codes::N0856, at, "`.swiz` without a width is `.swiz<128>`")
                .label("128 bytes"),
        );
        return Some(128);
    };
    let value = constants::constant(width);
    if let Some(bytes @ (32 | 64 | 128)) = value {
        return u32::try_from(bytes).ok();
    }
    let mut d = Diagnostic::new(
        codes::E0852,
        width.span,
        "a swizzle is 32, 64 or 128 bytes wide",
    )
    .label("not a swizzle");
    let by_mode = ["none", "32", "64", "128"];
    let mode = value.and_then(|k| usize::try_from(k).ok());
    if let Some((mode, name)) = mode.and_then(|k| Some((k, by_mode.get(k)?))) {
        d = d.help(format!("mode {mode} is written in bytes here: {name}"));
    }
    cx.report(d);
    None
}

/// The swizzle that a copy requests; `None` after an error.
pub(crate) fn ask(el: &mut Elab<'_>, c: &CopyStmt, dest: &View) -> Option<()> {
    let asked = c
        .modifiers
        .iter()
        .find_map(|(modifier, at)| match modifier {
            CopyModifier::Swizzle(width) => Some((width.as_ref(), *at)),
            _ => None,
        });
    let Some((width, at)) = asked else {
        return Some(());
    };
    // An error in the width was already reported.
    let bytes = match width {
        Some(width) => u32::try_from(constants::constant(width)?).ok()?,
        None => 128,
    };
    ask_of_access(el, dest.buffer, bytes, at)
}

/// Requests this swizzle for a buffer, if the buffer allows it and no other was requested.
pub(crate) fn ask_of_access(el: &mut Elab<'_>, id: BufferId, bytes: u32, at: Span) -> Option<()> {
    let buffer = el.f.buffer(id);
    if buffer.storage != Storage::Shared {
        let (name, place) = match buffer.storage {
            Storage::Local => (buffer.name.clone(), "a thread's own"),
            _ => (buffer.name.clone(), "global"),
        };
        el.cx.report(
            Diagnostic::new(
                codes::E0857,
                at,
                format!("`{name}` is in {place} memory, where rows are stored as they are"),
            )
            .label("only shared memory is swizzled")
            .help("remove it; a tile in shared memory has its swizzle from the copy that fills it"),
        );
        return None;
    }
    packed::refuse(
        el,
        id,
        at,
        "there is no swizzle for",
        "remove it: rows of packed elements are stored as they are",
    )?;
    let bytes = no_wider_than_rows(el, id, bytes, at);
    for part in el.storage.pools.parts(id) {
        check_rows_in_groups(el, part, bytes, at)?;
    }
    el.storage.swizzles.said.push((id, bytes, at));
    Some(())
}

/// The width of a swizzle that is wider than the buffer's rows is that of the rows. Elements are
/// found by the same layout everywhere, so the program computes the same.
fn no_wider_than_rows(el: &mut Elab<'_>, id: BufferId, bytes: u32, at: Span) -> u32 {
    let (_, columns) = rows_and_columns(el, id);
    let buffer = el.f.buffer(id);
    let (name, row) = (buffer.name.clone(), &columns * buffer.elem.size());
    let row = row.as_int().and_then(|row| u32::try_from(row).ok());
    match row {
        Some(row @ (32 | 64)) if row < bytes => {
            let text = format!("rows of `{name}` are {row} bytes: so is their swizzle");
            el.cx.report(
                Diagnostic::new(codes::N0856, at, text)
                    .label(format!("{bytes} bytes do not fit"))
                    .help(format!("`.swiz<{row}>` says the same")),
            );
            row
        }
        _ => bytes,
    }
}

/// The swizzle that was requested for a buffer so far.
pub(crate) fn asked_so_far(el: &Elab<'_>, id: BufferId) -> Option<u32> {
    let root = el.storage.pools.find(id).0;
    let said = el.storage.swizzles.said.iter();
    said.filter(|(other, _, _)| el.storage.pools.find(*other).0 == root)
        .map(|(_, bytes, _)| *bytes)
        .next()
}

/// The elements of the rows at whose multiples a box of TMA may begin, if the buffer is swizzled.
pub(crate) fn rows_of_box(el: &Elab<'_>, id: BufferId) -> Option<Sym> {
    let bytes = asked_so_far(el, id)?;
    let (rows, columns) = rows_and_columns(el, id);
    let swizzle = Swizzle {
        bytes,
        columns,
        rows,
    };
    let count = swizzle.alignment() / i64::from(bytes);
    Some(&swizzle.columns * count)
}

/// The extents of the buffer as declared: the product of all but the last, and the last.
fn rows_and_columns(el: &Elab<'_>, id: BufferId) -> (Sym, Sym) {
    let id = el.storage.pools.shaped(id);
    let now = el.f.buffer(id).shape.as_slice();
    let shape = el.storage.pools.declared_shape(id).unwrap_or(now);
    match shape.split_last() {
        Some((columns, outer)) => (outer.iter().product(), columns.clone()),
        None => (Sym::one(), Sym::one()),
    }
}

/// Checks that rows are multiples of a swizzle's groups.
fn check_rows_in_groups(el: &mut Elab<'_>, id: BufferId, bytes: u32, at: Span) -> Option<()> {
    let (_, columns) = rows_and_columns(el, id);
    let buffer = el.f.buffer(id);
    let (name, elem, declared) = (buffer.name.clone(), buffer.elem, buffer.span);
    let row = &columns * elem.size();
    let width = Sym::int(i64::from(bytes));
    match el.f.cx.divides(&width, &row) {
        Truth::Yes => return Some(()),
        Truth::Unknown => {
            let rest = el.f.cx.rem(&row, &width);
            run_time::emit_compare(
                el,
                run_time::Check::new(
                    CheckCode::R07,
                    format!(
                        "a swizzle of {bytes} bytes: rows of `{name}` have {{0}} bytes beyond the last group, they must have {{1}}"
                    ),
                    at,
                ),
                BinOp::Eq,
                &rest,
                &Sym::zero(),
            );
            return Some(());
        }
        Truth::No => {}
    }
    let narrower = [64, 32].into_iter().find(|narrower| {
        let divides = |n: i64| el.f.cx.divides(&Sym::int(n), &row).is_yes();
        *narrower < i64::from(bytes) && divides(*narrower)
    });
    let shown = el.f.cx.show(&row);
    let text = format!("rows of `{name}` are {shown} bytes, not a multiple of {bytes}");
    let d = Diagnostic::new(codes::E0853, at, text)
        .label(format!("groups of {bytes} bytes"))
        .also(
            declared,
            format!("{} elements of `{elem}` in a row", el.f.cx.show(&columns)),
        );
    el.cx.report(match narrower {
        Some(n) => d.help(format!("write `.swiz<{n}>`")),
        None => d.help(format!(
            "make rows a multiple of {} elements",
            i64::from(bytes) / elem.size()
        )),
    });
    None
}

/// Decides the swizzle of each buffer. Runs before views are rewritten to those of their pools.
pub(crate) fn decide_all(el: &mut Elab<'_>) {
    for (id, bytes, at) in std::mem::take(&mut el.storage.swizzles.said) {
        let (root, _) = el.storage.pools.find(id);
        let first = el.f.buffer(root).swizzle.as_ref().map(|s| s.bytes);
        match first {
            Some(first) if first != bytes => report_two_widths(el, id, root, first, (bytes, at)),
            Some(_) => {}
            None => decide(el, id, root, bytes, at),
        }
    }
    for (id, at) in std::mem::take(&mut el.storage.swizzles.wanted) {
        let (root, _) = el.storage.pools.find(id);
        if el.f.buffer(root).swizzle.is_none() {
            decide_widest(el, id, root, at);
        }
    }
    for (id, at) in std::mem::take(&mut el.storage.swizzles.liked) {
        let (root, _) = el.storage.pools.find(id);
        let alone = el.storage.pools.parts(root).len() == 1;
        if alone
            && el.f.buffer(root).swizzle.is_none()
            && !is_layout_visible(&el.f, id)
            && let Some(bytes) = widest_that_fits(el, id)
        {
            decide(el, id, root, bytes, at);
        }
    }
}

/// Whether the program depends on the layout of the buffer: C++ text that accesses it, or TMA
/// copies of part of it, since TMA swizzles whole tiles only.
fn is_layout_visible(func: &ir::Function, id: BufferId) -> bool {
    let uses = LayoutUses::of(func);
    let shape = &func.buffer(id).shape;
    let raw = uses.raw.iter().any(|(buffer, _)| *buffer == id);
    let cut = uses.moved.iter().filter(|view| view.buffer == id);
    // One element of an array is whole, and axes of extent one do not matter.
    let tile: Sym = shape.iter().product();
    let long =
        |shape: &[Sym]| -> Vec<Sym> { shape.iter().filter(|e| !e.is_one()).cloned().collect() };
    raw || cut.into_iter().any(|view| {
        let begins = func.cx.divides(&tile, &view.offset).is_yes();
        !begins || long(&view.shape) != long(shape)
    })
}

/// The widest swizzle whose groups divide the rows.
fn widest_that_fits(el: &Elab<'_>, id: BufferId) -> Option<u32> {
    let (_, columns) = rows_and_columns(el, id);
    let row = &columns * el.f.buffer(id).elem.size();
    [128, 64, 32].into_iter().find(|bytes| {
        let bytes = Sym::int(i64::from(*bytes));
        el.f.cx.divides(&bytes, &row).is_yes()
    })
}

/// Decides a swizzle that the program does not request.
fn decide_widest(el: &mut Elab<'_>, id: BufferId, root: BufferId, at: Span) {
    let (_, columns) = rows_and_columns(el, id);
    let buffer = el.f.buffer(id);
    let (name, declared) = (buffer.name.clone(), buffer.span);
    let row = &columns * buffer.elem.size();
    let Some(bytes) = widest_that_fits(el, id) else {
        let shown = el.f.cx.show(&row);
        el.cx.report(
            Diagnostic::new(
                codes::E0912,
                at,
                format!("rows of `{name}` are {shown} bytes: it can't be swizzled"),
            )
            .label("a warpgroup multiplies swizzled tiles")
            .also(declared, "declared here")
            .help("make rows a multiple of 32 bytes"),
        );
        return;
    };
    el.cx.report(
        Diagnostic::new(
            codes::N0856,
            at,
            format!("`{name}` is stored with a swizzle of {bytes} bytes"),
        )
        .label("multiplied by a warpgroup")
        .help(format!("copies to it may say so: `.swiz<{bytes}>`")),
    );
    decide(el, id, root, bytes, at);
}

fn decide(el: &mut Elab<'_>, id: BufferId, root: BufferId, bytes: u32, at: Span) {
    let elem = el.f.buffer(root).elem;
    // The tiles of futures are as far apart as their slots.
    let slot = el.storage.pools.slot_of_futures(root).cloned();
    let of = |el: &Elab<'_>, id| {
        let (mut rows, columns) = rows_and_columns(el, id);
        if let Some(slot) = &slot
            && el.f.cx.divides(&columns, slot).is_yes()
            && el.f.cx.lt(&(&rows * &columns), slot).is_yes()
        {
            rows = el.f.cx.div(slot, &columns);
        }
        Swizzle {
            bytes,
            columns,
            rows,
        }
    };
    let swizzle = of(el, id);
    for part in el.storage.pools.parts(root) {
        let other = of(el, part);
        if other == swizzle {
            continue;
        }
        if other.is_grouped(elem) || swizzle.is_grouped(elem) {
            let name = el.f.buffer(part).name.clone();
            let what = format!(
                "a swizzle with rows of several groups where `{name}`, of another shape, is chosen as well"
            );
            return unsupported::report(&mut el.cx, at, &what);
        }
        if check_rows_in_groups(el, part, bytes, at).is_none() {
            return;
        }
    }
    el.storage.swizzled_at.insert(root, at);
    // All groups of the last tile are in its slot.
    if let Some(slot) = slot {
        let count = el.f.cx.align_up(&el.f.buffer(root).count, &slot);
        if let Some(buffer) = el.f.buffers.get_mut(root.index()) {
            buffer.shape = vec![count.clone()];
            buffer.count = count;
        }
    }
    if let Some(buffer) = el.f.buffers.get_mut(root.index()) {
        buffer.swizzle = Some(swizzle);
    }
}

fn report_two_widths(
    el: &mut Elab<'_>,
    id: BufferId,
    root: BufferId,
    first: u32,
    (bytes, at): (u32, Span),
) {
    let name = el.f.buffer(id).name.clone();
    let text = if el.storage.pools.parts(root).len() > 1 {
        format!("`{name}` is chosen among tiles with a swizzle of {first} bytes, and says {bytes}")
    } else {
        format!("`{name}` has two swizzles, of {first} and of {bytes} bytes")
    };
    let mut d =
        Diagnostic::new(codes::W0854, at, text).label(format!("{bytes} bytes, has no effect"));
    if let Some(earlier) = el.storage.swizzled_at.get(&root) {
        d = d.also(*earlier, format!("{first} bytes"));
    }
    el.cx.report(d.help(format!(
        "one memory has one swizzle: write `.swiz<{first}>`"
    )));
}
