//! `mma.load` and `mma.store`: between memory and the registers of a warp.

use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, MmaOp, Part, Storage, Valid, View};
use crate::sema::asynchronous::futures;
use crate::sema::checks::run_time;
use crate::sema::memory::{access, buffers, data, swizzles, tiles};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::tensor_cores::mma::{self, sym};
use crate::sema::tensor_cores::{fragments, multiply, spread, warpgroup};
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, MmaStmt};

/// `a = mma.load view;`
pub(crate) fn lower_load(
    el: &mut Elab<'_>,
    m: &MmaStmt,
    frag: bool,
    swizzle: Option<&ast::Expr>,
    span: Span,
) -> Option<()> {
    if let (None, [source, into], true) = (
        &m.target,
        m.operands.as_slice(),
        warpgroup::is_a_warpgroup(el),
    ) {
        return warpgroup::load_into(el, source, into, span);
    }
    let (Some(name), [source]) = (&m.target, m.operands.as_slice()) else {
        el.cx.report(
            Diagnostic::new("E0925", span, "a warp loads into a new fragment")
                .label("only a warpgroup loads into one that there is")
                .help("write `a = mma.load view;`"),
        );
        return None;
    };
    let data = tile_of(el, source, "mma.load")?;
    let shape = static_extents(el, &data.view, "mma.load")?;
    if let Some(width) = swizzle {
        let bytes = swizzles::width_of(el, Some(width), width.span)?;
        swizzles::ask_of_access(el, data.view.buffer, bytes, width.span)?;
    }
    let shared = el.f.buffer(data.view.buffer).storage == Storage::Shared;
    if warpgroup::is_a_warpgroup(el) && shared && !frag {
        warpgroup::named_tile(el, name, data);
        return Some(());
    }
    lint_edge_of_load(el, &data);
    lint_rest_of_tile(el, &data);
    let view = data.view;
    access::mark_accessed(el, &view, true, false);
    let elem = el.f.buffer(view.buffer).elem;
    let id = fragments::new(el, name, Some(elem), &shape, &[]);
    buffers::check_affordable(el, id, name.span)?;
    el.fragments.loaded.insert(id, span);
    spread::need(el, id, name.span);
    let into = Part {
        buffer: id,
        number: Some(Sym::zero()),
        span: name.span,
    };
    mma::emit(el, MmaOp::Load { into, source: view }, span);
    Some(())
}

/// A tile that a copy cut off at an edge has what was there before in its rest.
pub(crate) fn lint_rest_of_tile(el: &mut Elab<'_>, data: &Data) {
    let root = el.storage.pools.find(data.view.buffer).0;
    let cut = el.storage.cut_off.iter();
    let found = cut
        .filter(|(id, _)| el.storage.pools.find(**id).0 == root)
        .map(|(id, at)| (*id, *at))
        .next();
    let Some((id, copied)) = found else { return };
    el.storage.cut_off.remove(&id);
    el.cx.report(
        Diagnostic::new(
            "W0834",
            data.span,
            format!(
                "`{}` is multiplied whole, and may be filled only in part",
                data.name
            ),
        )
        .label("beyond the edge of the data it holds what was there before")
        .also(copied, "copied here, without `.zfill`")
        .help("add `.zfill` to the copy: zeros add nothing to a product"),
    );
}

/// The memory that a load or store names.
pub(crate) fn tile_of(el: &mut Elab<'_>, e: &ast::Expr, what: &str) -> Option<Data> {
    let data = match el.expression(e) {
        Value::Data(mut data) => {
            tiles::emit_exists(el, &mut data);
            data::expect_whole(el, data, e.span)?
        }
        Value::Error => return None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    "E0924",
                    e.span,
                    format!("{} takes a tile of memory, this is {kind}", quoted(what)),
                )
                .label("has no shape"),
            );
            return None;
        }
    };
    futures::emit_use(el, &data, e.span);
    let storage = el.f.buffer(data.view.buffer).storage;
    if storage == Storage::Local {
        el.cx.report(
            Diagnostic::new(
                "E0924",
                e.span,
                format!("`{}` is a thread's own memory", data.name),
            )
            .label("a warp's tile is in shared or global memory"),
        );
        return None;
    }
    if data.view.rank() != 2 {
        let shape = shape::show(el, &data.view.shape);
        el.cx.report(
            Diagnostic::new(
                "E0901",
                e.span,
                format!("{} takes a matrix, this has shape {shape}", quoted(what)),
            )
            .label("not of rank 2")
            .help("`.sqz()` drops extents of 1, `.span_as(…)` gives other ones"),
        );
        return None;
    }
    Some(data)
}

pub(crate) fn static_extents(el: &mut Elab<'_>, view: &View, what: &str) -> Option<[i64; 2]> {
    let extents: Vec<i64> = view.shape.iter().filter_map(Sym::as_int).collect();
    if let [rows, columns] = extents[..] {
        return Some([rows, columns]);
    }
    let shape = shape::show(el, &view.shape);
    el.cx.report(
        Diagnostic::new(
            "E0901",
            view.span,
            format!(
                "{} takes a tile of constant extents, this has {shape}",
                quoted(what)
            ),
        )
        .label("known only at run time")
        .help("cut a tile out of it: `x.subspan(16, 16).at(i, j)`"),
    );
    None
}

/// Zeros beyond the edge of the data are right for products; whoever writes `.zfill` knows.
pub(crate) fn lint_edge_of_load(el: &mut Elab<'_>, data: &Data) {
    if !data.view.may_cross() || data.zfill {
        return;
    }
    let known = data
        .view
        .frame
        .as_ref()
        .is_none_or(|frame| frame.extents.iter().all(|extent| extent.as_int().is_some()));
    let (code, label) = if known {
        ("W0936", "its extents are no multiple of the tile's")
    } else {
        ("W0937", "its extents may be no multiple of the tile's")
    };
    el.cx.report(
        Diagnostic::new(
            code,
            data.span,
            format!("the tile may reach beyond `{}`", data.name),
        )
        .label(label)
        .help("what lies outside counts as zero; write `.zfill` behind the tile if that is meant"),
    );
}

/// `mma.store c, view;`
pub(crate) fn lower_store(
    el: &mut Elab<'_>,
    m: &MmaStmt,
    transposed: bool,
    masked: bool,
    span: Span,
) -> Option<()> {
    let ([from, dest], limits) = match m.operands.as_slice() {
        [from, dest] if !masked => ([from, dest], &[][..]),
        [from, dest, limits @ ..] if masked && matches!(limits.len(), 1 | 2) => {
            ([from, dest], limits)
        }
        _ => {
            let form = if masked {
                "c, view, rows[, columns]"
            } else {
                "c, view"
            };
            el.cx.report(
                Diagnostic::new("E0100", span, format!("this store takes `{form}`"))
                    .label("other operands than that"),
            );
            return None;
        }
    };
    let named = mma::fragment_of(el, from, false);
    let data = tile_of(el, dest, "mma.store");
    let (named, data) = (named?, data?);
    let id = named.part.buffer;
    let shape = match mma::fragment_shape(el, id).as_deref() {
        Some([rows, columns]) => [*rows, *columns],
        _ => {
            multiply::report_without_shape(el, &named);
            return None;
        }
    };
    let shape = if transposed {
        [shape[1], shape[0]]
    } else {
        shape
    };
    let mut view = data.view;
    stored_part(el, &mut view, shape, &data.name)?;
    if !limits.is_empty() {
        explicit_mask(el, &mut view, limits, span)?;
    }
    spread::need(el, id, named.span);
    access::mark_accessed(el, &view, false, true);
    el.storage.stored.entry(view.buffer).or_insert(span);
    if warpgroup::is_a_warpgroup(el) && el.f.buffer(view.buffer).storage == Storage::Shared {
        el.storage.swizzles.like(view.buffer, span);
    }
    mma::emit(
        el,
        MmaOp::Store {
            from: named.part,
            dest: view,
            transposed,
        },
        span,
    );
    Some(())
}

/// Cuts a destination to the fragment's extents; where it is smaller, the rest is masked.
fn stored_part(el: &mut Elab<'_>, view: &mut View, shape: [i64; 2], name: &str) -> Option<()> {
    let mut smaller = false;
    for (axis, extent) in shape.into_iter().enumerate() {
        let (Some(own), Some(valid)) = (view.shape.get(axis).cloned(), view.valid.get(axis)) else {
            return None;
        };
        let extent = sym(extent);
        let hi = valid.hi.clone();
        if el.f.cx.le(&extent, &own) != Truth::Yes {
            smaller = true;
            let hi = match hi {
                Some(hi) => el.f.cx.min(&hi, &own),
                None => own,
            };
            if let Some(valid) = view.valid.get_mut(axis) {
                valid.hi = Some(hi);
            }
        }
        if let Some(own) = view.shape.get_mut(axis) {
            *own = extent;
        }
    }
    if smaller {
        let shown = format!("[{}, {}]", shape[0], shape[1]);
        el.cx.report(
            Diagnostic::new(
                "W0929",
                view.span,
                format!("`{name}` has no room for all {shown} elements"),
            )
            .label("only those that fit are stored")
            .help("`mma.store.mask c, view, rows, columns` says how many are meant"),
        );
    }
    Some(())
}

/// What a mask lets through is in memory: it takes the place of the limits at the edge of the data.
fn mask_axis(el: &mut Elab<'_>, view: &View, axis: usize, limit: &Sym, span: Span) {
    let (Some(valid), Some(extent)) = (view.valid.get(axis), view.shape.get(axis)) else {
        return;
    };
    let what = if axis == 0 { "rows" } else { "columns" };
    let stored = el.f.cx.min(limit, extent);
    if let Some(hi) = &valid.hi
        && el.f.cx.le(&stored, hi) != Truth::Yes
    {
        let message = format!("the mask lets {{0}} {what} through, the data has {{1}} there");
        run_time::emit_compare(el, "R12", message, BinOp::Le, &stored, hi, span);
    }
    if let Some(lo) = &valid.lo
        && el.f.cx.le(lo, &Sym::zero()) != Truth::Yes
    {
        let message =
            format!("the data has no {what} before {{0}} of the tile, the mask begins at {{1}}");
        run_time::emit_compare(el, "R12", message, BinOp::Le, lo, &Sym::zero(), span);
    }
}

fn explicit_mask(
    el: &mut Elab<'_>,
    view: &mut View,
    limits: &[ast::Expr],
    span: Span,
) -> Option<()> {
    let replaces = view.may_cross();
    for (axis, limit) in limits.iter().enumerate() {
        let value = el.expression(limit);
        let limit = arith::to_sym(el, value, limit.span)?;
        mask_axis(el, view, axis, &limit, span);
        if let Some(valid) = view.valid.get_mut(axis) {
            *valid = Valid {
                lo: None,
                hi: Some(limit),
            };
        }
    }
    if replaces {
        el.cx.report(
            Diagnostic::new(
                "N0930",
                span,
                "the mask takes the place of the one at the edge of the data",
            )
            .label("rows and columns beyond the edge are stored if the mask has them"),
        );
    }
    Some(())
}

/// A statement's name as it is written; a product has none.
fn quoted(what: &str) -> String {
    match what.strip_prefix("mma.") {
        Some(_) => format!("`{what}`"),
        None => what.to_owned(),
    }
}
