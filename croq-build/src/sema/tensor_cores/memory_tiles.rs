//! Memory tiles that fragments are loaded from and stored to.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, Scalar, Storage, View};
use crate::sema::asynchronous::futures;
use crate::sema::memory::{tiles, whole};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, Value};
use crate::sema::values::shape;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// The memory that a load or store refers to.
pub(crate) fn tile_of(el: &mut Elab<'_>, e: &ast::Expr, what: &str) -> Option<Data> {
    tile_of_rank(el, e, 2, what)
}

/// The tile that is loaded into or stored from a fragment of this rank.
pub(crate) fn tile_of_rank(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    rank: usize,
    what: &str,
) -> Option<Data> {
    let data = match el.expression(e) {
        Value::Data(mut data) => {
            tiles::emit_exists(el, &mut data);
            whole::expect_whole(el, data, e.span)?
        }
        Value::Error => return None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0924,
                    e.span,
                    format!("{} takes a tile of memory, this is {kind}", quoted(what)),
                )
                .label("has no shape"),
            );
            return None;
        }
    };
    futures::emit_use(el, &data, e.span);
    let buffer = el.f.buffer(data.view.buffer);
    // Each thread has a copy of the metadata of a sparse MMA, and takes its part of that.
    let metadata = what == "mma.load" && matches!(buffer.elem, Scalar::U16 | Scalar::U32);
    if buffer.storage == Storage::Local && !metadata {
        el.cx.report(
            Diagnostic::new(
                codes::E0924,
                e.span,
                format!("`{}` is a thread's own memory", data.name),
            )
            .label("a warp's tile is in shared or global memory"),
        );
        return None;
    }
    if data.view.rank() != rank {
        let shape = shape::show(&el.f, &data.view.shape);
        let kind = match rank {
            1 => "one dimension for this fragment",
            _ => "a matrix",
        };
        el.cx.report(
            Diagnostic::new(
                codes::E0901,
                e.span,
                format!("{} takes {kind}, this has shape {shape}", quoted(what)),
            )
            .label(format!("not of rank {rank}"))
            .help("`.sqz()` drops extents of 1, `.span_as(…)` gives other ones"),
        );
        return None;
    }
    Some(data)
}

/// The largest extent of an operand or a fragment. More does not fit the shared memory of a block, and
/// products of three extents are still far from the end of 64 bits.
pub(crate) const MOST_EXTENT: i64 = 1 << 20;

pub(crate) fn static_extents(el: &mut Elab<'_>, view: &View, what: &str) -> Option<[i64; 2]> {
    let extents: Vec<i64> = view.shape.iter().filter_map(Sym::as_int).collect();
    let shape = shape::show(&el.f, &view.shape);
    let name = el.f.buffer(view.buffer).name.clone();
    if let [rows, columns] = extents[..] {
        if rows.max(columns) <= MOST_EXTENT {
            return Some([rows, columns]);
        }
        el.cx.report(
            Diagnostic::new(
                codes::E0901,
                view.span,
                format!(
                    "{} takes a tile of extents up to {MOST_EXTENT}, this has {shape}",
                    quoted(what)
                ),
            )
            .label("no GPU has room for it")
            .help(format!(
                "loop over tiles: `{name}.subspan(16, 16).at(i, j)`"
            )),
        );
        return None;
    }
    el.cx.report(
        Diagnostic::new(
            codes::E0901,
            view.span,
            format!(
                "{} takes a tile of constant extents, this has {shape}",
                quoted(what)
            ),
        )
        .label("known only at run time")
        .help(format!(
            "cut a tile out of it: `{name}.subspan(16, 16).at(i, j)`"
        )),
    );
    None
}

/// Warns of a load beyond the edge of the data: it reads zeros, which are right for MMAs. With
/// `.zfill` this is explicit, and not reported.
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
        (codes::W0936, "its extents are no multiple of the tile's")
    } else {
        (codes::W0937, "its extents may be no multiple of the tile's")
    };
    let (code, label) = match misplaced(&el.f, &data.view) {
        Some(why) => (codes::W0937, why),
        None => (code, label.to_owned()),
    };
    el.cx.report(
        Diagnostic::new(
            code,
            data.span,
            format!("the tile may reach beyond `{}`", data.name),
        )
        .label(label)
        .help(
            "what lies outside counts as zero; write `.zfill` after the tile if that is intended",
        ),
    );
}

/// Why a tile reaches outside of its data, if not because its extents are no divisors: where it
/// begins may be negative, or beyond the end.
pub(crate) fn misplaced(func: &ir::Function, view: &View) -> Option<String> {
    for (axis, (valid, extent)) in view.valid.iter().zip(&view.shape).enumerate() {
        let least = valid.lo.as_ref().and_then(|lo| func.cx.range(&-lo).0);
        if let Some(least) = least.filter(|least| *least < 0) {
            return Some(match extent.as_int() {
                Some(n) if n > 0 && least % n == 0 => {
                    format!("the number of the tile on axis {axis} may be {}", least / n)
                }
                _ => format!("the tile may begin at {least} on axis {axis}"),
            });
        }
        let left = valid.hi.as_ref().and_then(|hi| func.cx.range(hi).0);
        if left.is_some_and(|left| left <= 0) {
            return Some(format!("the tile may begin beyond the end of axis {axis}"));
        }
    }
    None
}

/// A statement's name in backquotes; an MMA is described without a name.
fn quoted(what: &str) -> String {
    match what.strip_prefix("mma.") {
        Some(_) => format!("`{what}`"),
        None => what.to_owned(),
    }
}
