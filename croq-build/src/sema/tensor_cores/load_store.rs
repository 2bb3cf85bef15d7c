//! `mma.load` and `mma.store`: copies between memory and the registers of a warp.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, MmaOp, Part, Storage, Valid, View};
use crate::sema::checks::run_time;
use crate::sema::memory::{buffers, swizzles, whole};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::tensor_cores::operands::{self, sym};
use crate::sema::tensor_cores::{
    fragments, layouts, memory_tiles, multiply, stored_columns, units, warpgroup,
};
use crate::sema::values::arith;
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
    if let (None, [source, into], true) =
        (&m.target, m.operands.as_slice(), units::is_a_warpgroup(el))
    {
        return warpgroup::load_into(el, source, into, span);
    }
    let (Some(name), [source]) = (&m.target, m.operands.as_slice()) else {
        el.cx.report(
            Diagnostic::new(codes::E0925, span, "a warp loads into a new fragment")
                .label("only a warpgroup loads into one that there is")
                .help("write `a = mma.load view;`"),
        );
        return None;
    };
    let data = memory_tiles::tile_of(el, source, "mma.load")?;
    let shape = memory_tiles::static_extents(el, &data.view, "mma.load")?;
    if let Some(width) = swizzle {
        let bytes = swizzles::width_of(&mut el.cx, Some(width), width.span)?;
        swizzles::ask_of_access(el, data.view.buffer, bytes, width.span)?;
    }
    let shared = el.f.buffer(data.view.buffer).storage == Storage::Shared;
    if units::is_a_warpgroup(el) && shared && !frag {
        warpgroup::name_tile(el, name, data);
        return Some(());
    }
    memory_tiles::lint_edge_of_load(el, &data);
    let view = data.view;
    whole::mark_accessed(&mut el.f, &view, true, false);
    let elem = el.f.buffer(view.buffer).elem;
    let id = fragments::new(el, name, Some(elem), &shape, &[]);
    buffers::check_affordable(el, id, (&buffers::shown(el, id), name.span))?;
    el.fragments.loaded.insert(id, span);
    layouts::require_layout(el, id, name.span);
    layouts::note_use(el, id, name.span);
    let into = Part {
        buffer: id,
        number: Some(Sym::zero()),
        span: name.span,
    };
    operands::emit(el, MmaOp::Load { into, source: view }, span);
    Some(())
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
                Diagnostic::new(codes::E0100, span, format!("this store takes `{form}`"))
                    .label("other operands than that"),
            );
            return None;
        }
    };
    check_order(el, from, dest)?;
    let (named, columns) = stored_columns::stored(el, from)?;
    let id = named.part.buffer;
    let Some(mut shape) = operands::fragment_shape(&el.f, id) else {
        multiply::report_without_shape(el, &named.name, named.span);
        return None;
    };
    if let (Some(columns), [_, extent]) = (&columns, shape.as_mut_slice()) {
        *extent = columns.count;
    }
    if transposed {
        shape.reverse();
    }
    let data = memory_tiles::tile_of_rank(el, dest, shape.len(), "mma.store")?;
    let mut view = data.view;
    cut_destination(el, &mut view, &shape, &data.name)?;
    if !limits.is_empty() {
        lower_mask(el, &mut view, limits, span)?;
    }
    layouts::require_layout(el, id, named.span);
    layouts::note_use(el, id, named.span);
    whole::mark_accessed(&mut el.f, &view, false, true);
    el.storage.stored.entry(view.buffer).or_insert(span);
    if units::is_a_warpgroup(el) && el.f.buffer(view.buffer).storage == Storage::Shared {
        el.storage.swizzles.like(view.buffer, span);
    }
    operands::emit(
        el,
        MmaOp::Store {
            from: named.part,
            columns,
            dest: view,
            transposed,
        },
        span,
    );
    Some(())
}

/// Reports names of memory and of a fragment that are exchanged.
fn check_order(el: &mut Elab<'_>, from: &ast::Expr, dest: &ast::Expr) -> Option<()> {
    let named = |e: &ast::Expr| match &*e.kind {
        ast::ExprKind::Name(name) => match el.names.find(name).map(|b| &b.entity) {
            Some(Entity::Buffer { id, .. }) => {
                Some((name.clone(), el.f.buffer(*id).storage == Storage::Fragment))
            }
            _ => None,
        },
        _ => None,
    };
    let (Some((memory, false)), Some((fragment, true))) = (named(from), named(dest)) else {
        return Some(());
    };
    let text = format!("expected a fragment, `{memory}` is in memory");
    el.cx.report(
        Diagnostic::new(codes::E0928, from.span, text)
            .label("stored into, not stored")
            .also(dest.span, "the fragment")
            .help(format!("write `mma.store {fragment}, {memory};`")),
    );
    None
}

/// Cuts a destination to the fragment's extents. If the destination is smaller, the rest of the
/// fragment is masked; if it is larger, the elements beyond the fragment are not written.
fn cut_destination(el: &mut Elab<'_>, view: &mut View, shape: &[i64], name: &str) -> Option<()> {
    let mut smaller = Truth::No;
    let mut larger = false;
    for (axis, extent) in shape.iter().copied().enumerate() {
        let (Some(own), Some(valid)) = (view.shape.get(axis).cloned(), view.valid.get(axis)) else {
            return None;
        };
        let extent = sym(extent);
        let hi = valid.hi.clone();
        let fits = el.f.cx.le(&extent, &own);
        if fits != Truth::Yes {
            smaller = match fits {
                Truth::No => Truth::Yes,
                _ if smaller == Truth::No => Truth::Unknown,
                _ => smaller,
            };
            let hi = match hi {
                Some(hi) => el.f.cx.min(&hi, &own),
                None => own,
            };
            if let Some(valid) = view.valid.get_mut(axis) {
                valid.hi = Some(hi);
            }
        } else {
            larger |= el.f.cx.lt(&extent, &own) == Truth::Yes;
        }
        if let Some(own) = view.shape.get_mut(axis) {
            *own = extent;
        }
    }
    let shown = format!("{shape:?}");
    if larger {
        let size: Vec<String> = shape.iter().map(i64::to_string).collect();
        let (size, zeros) = (size.join(", "), vec!["0"; shape.len()].join(", "));
        el.cx.report(
            Diagnostic::new(
                codes::W0929,
                view.span,
                format!("`{name}` is larger than the {shown} elements that are stored"),
            )
            .label("the elements beyond them are not written")
            .help(format!(
                "name the tile that is written: `subspan({size})` with its numbers, or `view({size})` \
                 with its first element, as in `{name}.view({size}).from({zeros})`",
            )),
        );
    }
    if smaller != Truth::No {
        let has = match smaller {
            Truth::Yes => "has",
            _ => "may have",
        };
        el.cx.report(
            Diagnostic::new(
                codes::W0929,
                view.span,
                format!("`{name}` {has} no room for all {shown} elements"),
            )
            .label("only those that fit are stored")
            .help("`mma.store.mask c, view, rows, columns` says how many are meant"),
        );
    }
    Some(())
}

/// Checks that the rows or columns that a mask selects are inside the data: the mask replaces the
/// limits at the edge of the data.
fn emit_mask(el: &mut Elab<'_>, view: &View, axis: usize, limit: &Sym, span: Span) {
    let (Some(valid), Some(extent)) = (view.valid.get(axis), view.shape.get(axis)) else {
        return;
    };
    let what = if axis == 0 { "rows" } else { "columns" };
    let stored = el.f.cx.min(limit, extent);
    if let Some(hi) = &valid.hi
        && el.f.cx.le(&stored, hi) != Truth::Yes
    {
        let message = format!("the mask lets {{0}} {what} through, the data has {{1}} there");
        run_time::emit_compare(
            el,
            run_time::Check::new(CheckCode::R12, message, span),
            BinOp::Le,
            &stored,
            hi,
        );
    }
    if let Some(lo) = &valid.lo
        && el.f.cx.le(lo, &Sym::zero()) != Truth::Yes
    {
        let message =
            format!("the data has no {what} before {{0}} of the tile, the mask begins at {{1}}");
        run_time::emit_compare(
            el,
            run_time::Check::new(CheckCode::R12, message, span),
            BinOp::Le,
            lo,
            &Sym::zero(),
        );
    }
}

fn lower_mask(el: &mut Elab<'_>, view: &mut View, limits: &[ast::Expr], span: Span) -> Option<()> {
    let replaces = view.may_cross();
    let reporting = run_time::is_reporting(el);
    for (axis, limit) in limits.iter().enumerate() {
        let value = el.expression(limit);
        let limit = arith::to_sym(el, value, limit.span)?;
        emit_mask(el, view, axis, &limit, span);
        if let Some(valid) = view.valid.get_mut(axis) {
            *valid = match &valid.hi {
                // A mask that failed its check stores nothing outside of the data.
                Some(hi) if reporting => Valid {
                    lo: valid.lo.clone(),
                    hi: Some(el.f.cx.min(hi, &limit)),
                },
                None if reporting => Valid {
                    lo: valid.lo.clone(),
                    hi: Some(limit),
                },
                _ => Valid {
                    lo: None,
                    hi: Some(limit),
                },
            };
        }
    }
    if replaces {
        el.cx.report(
            Diagnostic::new(
                codes::N0930,
                span,
                "the mask takes the place of the one at the edge of the data",
            )
            .label("rows and columns beyond the edge are stored if the mask has them"),
        );
    }
    Some(())
}
