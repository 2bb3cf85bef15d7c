//! Reports copies that can only move single elements of less than a word.
//!
//! Only facts that hold for every call are reported: a stride that is a dimension may be a multiple
//! of the vector width.

use super::tile::Tile;
use super::width::WORD;
use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Copy, Function, Level, Transform};
use crate::symbolic::{Sym, Truth};

/// Smaller tiles are not reported.
const SMALL: i64 = 256;

pub fn report(function: &Function, copy: &Copy, tile: &Tile) -> Option<Diagnostic> {
    let cx = &function.cx;
    let bytes = tile.elem.bytes();
    let in_word = i64::from(tile.elem.per_byte()) * i64::try_from(WORD / bytes.max(1)).ok()?;
    let small = tile.count().as_int().is_some_and(|n| n < SMALL);
    if copy.level == Level::Thread || bytes >= WORD || small {
        return None;
    }
    let reason = if tile.has_contiguous_rows() {
        uneven(function, tile, in_word)?
    } else if matches!(copy.transform, Transform::Transpose(_)) {
        return None;
    } else {
        let apart = tile
            .walked()
            .next_back()
            .map(|inner| [&inner.source.stride, &inner.dest.stride])?;
        let apart = apart.into_iter().find(|s| !s.is_one())?;
        if cx.le(apart, &Sym::one()) == Truth::Unknown {
            return None;
        }
        let apart = cx.show(apart);
        format!("neighbouring elements of the tile are {apart} apart in memory")
    };
    let way = if tile.is_async {
        "this copy moves less than four bytes at a time, and not in the background"
    } else {
        "this copy moves less than four bytes at a time"
    };
    Some(
        Diagnostic::new(codes::W0870, tile.span, way)
            .label(reason)
            .help("tiles whose rows begin and end at multiples of 16 bytes move 16 bytes at once: pad the rows of the data, or choose another tile"),
    )
}

/// A quantity that is certainly not a multiple of `by` elements.
fn uneven(function: &Function, tile: &Tile, by: i64) -> Option<String> {
    let cx = &function.cx;
    let odd = |s: &Sym| cx.divides(&Sym::int(by), s) == Truth::No;
    let shown = |s: &Sym| cx.show(s);
    let mut walked = tile.walked().rev();
    let inner = walked.next()?;
    if odd(&inner.extent) {
        return Some(format!(
            "its rows are {} elements wide",
            shown(&inner.extent)
        ));
    }
    for axis in walked {
        for (side, operand) in [(&axis.source, "source"), (&axis.dest, "destination")] {
            if odd(&side.stride) {
                let apart = shown(&side.stride);
                return Some(format!("rows of its {operand} are {apart} elements apart"));
            }
        }
    }
    let source = tile.source.as_ref().map(|view| (&view.offset, "source"));
    let starts = source
        .into_iter()
        .chain([(&tile.dest.offset, "destination")]);
    for (offset, operand) in starts {
        if odd(offset) {
            return Some(format!("its {operand} begins at element {}", shown(offset)));
        }
    }
    None
}
