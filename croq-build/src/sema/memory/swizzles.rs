//! Swizzles: how shared buffers are laid out in memory, for the banks' sake.
//!
//! A program says so on a copy or on another access, `.swiz<128>`, but it holds for the buffer: every
//! way to its elements goes by the same layout. So what is said is gathered while a function is
//! checked, and decided at its end, when it is known which buffers lie side by side in one pool: all of a
//! pool has one swizzle, the first that was said of any part.

use crate::diagnostics::Diagnostic;
use crate::ir::{
    Access, Arg, BinOp, BufferId, CppName, Expr, ExprKind, MmaOp, Scalar, Stmt, StmtKind, Storage,
    Swizzle, View, Visit, walk_block,
};
use crate::sema::checks::{run_time, unsupported};
use crate::sema::state::elab::Elab;
use crate::sema::values::{constants, integers};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Truth};
use crate::syntax::ast::{self, CopyModifier, CopyStmt};

/// The pattern repeats after so many rows of 128 bytes.
const ROWS: i64 = 8;
/// What trades places, in bytes.
const UNIT: i64 = 16;
/// What a product takes of K at once, in bytes.
const STEP: i64 = 32;

/// The width in bytes of `.swiz<width>`; without one it is 128.
pub(crate) fn width_of(el: &mut Elab<'_>, width: Option<&ast::Expr>, at: Span) -> Option<u32> {
    let Some(width) = width else {
        el.cx.report(
            Diagnostic::new("N0856", at, "`.swiz` without a width is `.swiz<128>`")
                .label("128 bytes"),
        );
        return Some(128);
    };
    let value = constants::constant(el, width);
    if let Some(bytes @ (32 | 64 | 128)) = value {
        return u32::try_from(bytes).ok();
    }
    let mut d = Diagnostic::new("E0852", width.span, "a swizzle is 32, 64 or 128 bytes wide")
        .label("not a swizzle");
    let by_mode = ["none", "32", "64", "128"];
    let mode = value.and_then(|k| usize::try_from(k).ok());
    if let Some((mode, name)) = mode.and_then(|k| Some((k, by_mode.get(k)?))) {
        d = d.help(format!("mode {mode} is written in bytes here: {name}"));
    }
    el.cx.report(d);
    None
}

/// The swizzle that a copy asks for; `None` after an error.
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
    // What is wrong with the width was told before.
    let bytes = match width {
        Some(width) => u32::try_from(constants::constant(el, width)?).ok()?,
        None => 128,
    };
    ask_of_access(el, dest.buffer, bytes, at)
}

/// Gives a buffer this swizzle, if it can have it and none was said before.
pub(crate) fn ask_of_access(el: &mut Elab<'_>, id: BufferId, bytes: u32, at: Span) -> Option<()> {
    let buffer = el.f.buffer(id);
    if buffer.storage != Storage::Shared {
        let (name, place) = match buffer.storage {
            Storage::Local => (buffer.name.clone(), "a thread's own"),
            _ => (buffer.name.clone(), "global"),
        };
        el.cx.report(
            Diagnostic::new(
                "E0857",
                at,
                format!("`{name}` is in {place} memory, where rows are stored as they are"),
            )
            .label("only shared memory is swizzled")
            .help("remove it; a tile in shared memory has its swizzle from the copy that fills it"),
        );
        return None;
    }
    for part in el.storage.pools.parts(id) {
        rows_in_groups(el, part, bytes, at)?;
    }
    el.storage.swizzles.said.push((id, bytes, at));
    Some(())
}

/// The swizzle of a buffer, as far as one was said.
pub(crate) fn asked_so_far(el: &Elab<'_>, id: BufferId) -> Option<u32> {
    let root = el.storage.pools.find(id).0;
    let said = el.storage.swizzles.said.iter();
    said.filter(|(other, _, _)| el.storage.pools.find(*other).0 == root)
        .map(|(_, bytes, _)| *bytes)
        .next()
}

/// Extents of the buffer as it was declared: the product of all but the last, and the last.
fn rows_and_columns(el: &Elab<'_>, id: BufferId) -> (Sym, Sym) {
    let now = el.f.buffer(id).shape.as_slice();
    let shape = el.storage.pools.declared_shape(id).unwrap_or(now);
    match shape.split_last() {
        Some((columns, outer)) => (outer.iter().product(), columns.clone()),
        None => (Sym::one(), Sym::one()),
    }
}

/// Whether rows are whole groups of a swizzle.
fn rows_in_groups(el: &mut Elab<'_>, id: BufferId, bytes: u32, at: Span) -> Option<()> {
    let (_, columns) = rows_and_columns(el, id);
    let buffer = el.f.buffer(id);
    let (name, elem, declared) = (buffer.name.clone(), buffer.elem, buffer.span);
    let row = &columns * size(elem);
    let width = Sym::int(i64::from(bytes));
    match el.f.cx.divides(&width, &row) {
        Truth::Yes => return Some(()),
        Truth::Unknown => {
            let rest = el.f.cx.rem(&row, &width);
            run_time::emit_compare(
                el,
                run_time::Check::new(
                    "R07",
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
    let d = Diagnostic::new("E0853", at, text)
        .label(format!("groups of {bytes} bytes"))
        .also(
            declared,
            format!("{} elements of `{elem}` in a row", el.f.cx.show(&columns)),
        );
    el.cx.report(match narrower {
        Some(n) => d.help(format!("write `.swiz<{n}>`")),
        None => d.help(format!(
            "make rows a multiple of {} elements",
            i64::from(bytes) / size(elem)
        )),
    });
    None
}

/// Decides which buffers are swizzled. Before views are rewritten to those of their pools.
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
            widest(el, id, root, at);
        }
    }
    for (id, at) in std::mem::take(&mut el.storage.swizzles.liked) {
        let (root, _) = el.storage.pools.find(id);
        let alone = el.storage.pools.parts(root).len() == 1;
        if alone
            && el.f.buffer(root).swizzle.is_none()
            && !sees_layout(el, id)
            && let Some(bytes) = widest_that_fits(el, id)
        {
            decide(el, id, root, bytes, at);
        }
    }
}

/// Whether something in the program takes the buffer as it lies: text in C++, or the copy engine, which
/// swizzles whole tiles only.
fn sees_layout(el: &Elab<'_>, id: BufferId) -> bool {
    let mut uses = Uses::default();
    for kernel in &el.f.kernels {
        walk_block(&kernel.body, &mut uses);
    }
    let shape = &el.f.buffer(id).shape;
    let raw = uses.raw.iter().any(|(buffer, _)| *buffer == id);
    let cut = uses.moved.iter().filter(|view| view.buffer == id);
    // One of an array is whole, and axes of one element are no matter.
    let tile: Sym = shape.iter().product();
    let long =
        |shape: &[Sym]| -> Vec<Sym> { shape.iter().filter(|e| !e.is_one()).cloned().collect() };
    raw || cut.into_iter().any(|view| {
        let begins = el.f.cx.divides(&tile, &view.offset).is_yes();
        !begins || long(&view.shape) != long(shape)
    })
}

/// The widest swizzle that rows are whole groups of.
fn widest_that_fits(el: &Elab<'_>, id: BufferId) -> Option<u32> {
    let (_, columns) = rows_and_columns(el, id);
    let row = &columns * size(el.f.buffer(id).elem);
    [128, 64, 32].into_iter().find(|bytes| {
        let bytes = Sym::int(i64::from(*bytes));
        el.f.cx.divides(&bytes, &row).is_yes()
    })
}

/// A swizzle that nobody says.
fn widest(el: &mut Elab<'_>, id: BufferId, root: BufferId, at: Span) {
    let (_, columns) = rows_and_columns(el, id);
    let buffer = el.f.buffer(id);
    let (name, declared) = (buffer.name.clone(), buffer.span);
    let row = &columns * size(buffer.elem);
    let Some(bytes) = widest_that_fits(el, id) else {
        let shown = el.f.cx.show(&row);
        el.cx.report(
            Diagnostic::new(
                "E0912",
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
            "N0856",
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
    let of = |el: &Elab<'_>, id| {
        let (rows, columns) = rows_and_columns(el, id);
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
            return unsupported::report(el, at, &what);
        }
        if rows_in_groups(el, part, bytes, at).is_none() {
            return;
        }
    }
    el.storage.swizzle_at.insert(root, at);
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
    let mut d = Diagnostic::new("W0854", at, text).label(format!("{bytes} bytes, has no effect"));
    if let Some(earlier) = el.storage.swizzle_at.get(&root) {
        d = d.also(*earlier, format!("{first} bytes"));
    }
    el.cx.report(d.help(format!(
        "one memory has one swizzle: write `.swiz<{first}>`"
    )));
}

/// What a kernel does with swizzled buffers that the layout has a say in.
pub(crate) fn check_uses(el: &mut Elab<'_>) {
    if el.storage.swizzle_at.is_empty() {
        return;
    }
    let mut uses = Uses::default();
    for kernel in &el.f.kernels {
        walk_block(&kernel.body, &mut uses);
    }
    for view in uses.copied {
        check_pattern_begin(el, &view);
    }
    for access in uses.accessed {
        place_is_known(el, &access);
    }
    for (view, k_last) in uses.multiplied {
        check_operand_begin(el, &view, k_last);
    }
    for (buffer, at) in uses.raw {
        report_seen_raw(el, buffer, at);
    }
}

/// A copy's tile begins where the pattern of a swizzle does.
fn check_pattern_begin(el: &mut Elab<'_>, view: &View) {
    let buffer = el.f.buffer(view.buffer);
    let Some(swizzle) = &buffer.swizzle else {
        return;
    };
    let Some(text) = misplaced(&el.f.cx, swizzle, buffer.elem, &view.offset) else {
        return;
    };
    let name = buffer.name.clone();
    let mut d = Diagnostic::new(
        "E0855",
        view.span,
        format!("a tile of `{name}`, which is swizzled, starts {text}"),
    )
    .label("the pattern does not begin here");
    if let Some(at) = el.storage.swizzle_at.get(&view.buffer) {
        d = d.also(*at, "swizzled by this");
    }
    el.cx.report(d.help(format!(
        "start at a multiple of {ROWS} rows and of {UNIT} bytes in a row"
    )));
}

/// A warpgroup is told of an operand by its first element's address: it must be one at which the
/// pattern begins, or, along K, one of its steps.
fn check_operand_begin(el: &mut Elab<'_>, view: &View, k_last: bool) {
    let buffer = el.f.buffer(view.buffer);
    let Some(swizzle) = &buffer.swizzle else {
        return;
    };
    let cx = &el.f.cx;
    let column = cx.rem(&view.offset, &swizzle.columns);
    let row = cx.div(&view.offset, &swizzle.columns);
    let step = match k_last {
        true => STEP / size(buffer.elem),
        false => swizzle.group(buffer.elem),
    };
    let aligned = cx.divides(&Sym::int(step), &column).is_yes()
        && cx.divides(&Sym::int(ROWS), &row).is_yes()
        && (buffer.grouped().is_none() || cx.divides(&Sym::int(ROWS), &swizzle.rows).is_yes());
    let dense = match view.strides.as_slice() {
        [down, along] => {
            let one_row = view.shape.first().is_some_and(Sym::is_one);
            along.is_one() && (one_row || cx.eq(down, &swizzle.columns).is_yes())
        }
        _ => false,
    };
    let name = buffer.name.clone();
    let (text, label, help) = if !dense {
        (
            format!("rows of this tile are not rows of `{name}`"),
            "strides of its own".to_owned(),
            "multiply a part of the buffer as it is declared".to_owned(),
        )
    } else if !aligned {
        (
            format!("a product can't begin here in `{name}`, which is swizzled"),
            "the pattern may not begin here".to_owned(),
            format!("start at a multiple of {ROWS} rows and of {step} elements in a row"),
        )
    } else {
        return;
    };
    let mut d = Diagnostic::new("E0855", view.span, text).label(label);
    if let Some(at) = el.storage.swizzle_at.get(&view.buffer) {
        d = d.also(*at, "swizzled by this");
    }
    el.cx.report(d.help(help));
}

fn place_is_known(el: &mut Elab<'_>, access: &Access) {
    let buffer = el.f.buffer(access.view.buffer);
    let place = buffer.by_groups(&el.f.cx, &access.address());
    if place.is_poison() {
        integers::report_too_large(el, access.span);
    }
}

/// Text in C++ sees more than one element of the buffer.
fn report_seen_raw(el: &mut Elab<'_>, id: BufferId, at: Span) {
    let (root, _) = el.storage.pools.find(id);
    let buffer = el.f.buffer(root);
    if buffer.swizzle.is_none() {
        return;
    }
    let name = el.f.buffer(id).name.clone();
    let mut d = Diagnostic::new(
        "W0881",
        at,
        format!("`{name}` is swizzled, and C++ sees its memory as it lies"),
    )
    .label("rows are not in order there");
    if let Some(swizzled) = el.storage.swizzle_at.get(&root) {
        d = d.also(*swizzled, "swizzled by this");
    }
    el.cx.report(d.help(format!(
        "pass addresses of single elements, `&{name}.at(…)`, or a buffer without a swizzle"
    )));
}

/// Of all buffers, swizzled or not.
#[derive(Default)]
struct Uses {
    copied: Vec<View>,
    /// By the copy engine.
    moved: Vec<View>,
    accessed: Vec<Access>,
    /// Operands of warpgroups, each with whether K runs along its rows.
    multiplied: Vec<(View, bool)>,
    /// Seen by text in C++.
    raw: Vec<(BufferId, Span)>,
}

impl Visit for Uses {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Copy(copy) => {
                let sides = [copy.source.clone(), copy.dest.clone()];
                if !copy.engine.is_threads() {
                    self.moved.extend(sides.clone());
                }
                self.copied.extend(sides);
            }
            StmtKind::Mma(op) => {
                if let MmaOp::Product(product) = &**op {
                    let tiles = product.tiles();
                    self.multiplied
                        .extend(tiles.map(|t| (t.view.clone(), t.k_last)));
                }
            }
            StmtKind::Cpp { names, .. } => {
                self.raw.extend(names.iter().filter_map(|name| match name {
                    CppName::Buffer(id) => Some((*id, stmt.span)),
                    CppName::Local(_) => None,
                }))
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(call) = &*expr.kind {
            for mut arg in &call.args {
                while let Arg::Cast(_, inner) = arg {
                    arg = inner;
                }
                if let Arg::Pointer(view) = arg
                    && !view.shape.iter().all(Sym::is_one)
                {
                    self.raw.push((view.buffer, view.span));
                }
            }
        }
    }

    fn access(&mut self, access: &Access, _: bool) {
        self.accessed.push(access.clone());
    }
}

fn size(elem: Scalar) -> i64 {
    i64::try_from(elem.bytes()).unwrap_or(1).max(1)
}

/// Where a view starts, if the pattern certainly does not begin there.
fn misplaced(cx: &Ctx, swizzle: &Swizzle, elem: Scalar, offset: &Sym) -> Option<String> {
    let column = cx.rem(offset, &swizzle.columns);
    let unit = Sym::int(UNIT / size(elem));
    if cx.divides(&unit, &column).is_no() {
        let bytes = &column * size(elem);
        return Some(format!("{} bytes into a row", cx.show(&bytes)));
    }
    let row = cx.rem(&cx.div(offset, &swizzle.columns), &swizzle.rows);
    cx.divides(&Sym::int(ROWS), &row)
        .is_no()
        .then(|| format!("at row {}", cx.show(&row)))
}
