//! The width of a tile's moves, with the guards and the conditions for it.
//!
//! A vector has up to 16 bytes of the innermost axis. Its width is the largest that is *known* to
//! divide the axis' extent, both offsets, and all strides to the next row; buffers themselves are
//! aligned to multiples of 16 bytes (those of a launch to 256, see `croq-sys`; shared ones by
//! [`crate::passes::analysis::shared_memory`]).
//!
//! Conditions that are only known at run time (a symbolic stride; whether the tile is inside the
//! data) are tested once, before the loops, by threads that share a tile: if all hold, vectors are
//! moved without guards, and otherwise the tile is moved by narrower accesses with guards. The
//! conditions are uniform in the unit. There are two versions of the loops; and a third, of guarded
//! vectors, where all rows are aligned if one is, so that tiles at an edge do not delay the others.
//! There is only one version where the gain would be small, or where guards cost almost nothing.

use super::conditions::{at_most_in_sums, is_multiple, remainder};
use super::tile::Tile;
use crate::ir::Expr;
use crate::symbolic::{Ctx, Sym, Truth};

/// The maximum number of bytes of an access.
const WIDEST: u64 = 16;
/// A second version is only generated for vectors of more bytes than this.
const GOOD: u64 = 8;
/// Vectors are not made narrower than this in order to use more threads.
pub(super) const WORD: u64 = 4;

/// One way to move a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Elements per access.
    pub width: u32,
    /// Each vector is compared with the edges of the data.
    pub guarded: bool,
    /// There is a better way for most tiles.
    pub rare: bool,
}

/// The widest vector, in elements, if both sides are contiguous along the innermost axis. A fill of
/// packed elements is of whole bytes.
pub fn widest(tile: &Tile) -> u32 {
    if tile.has_contiguous_rows() && !tile.unpacks {
        elements_in(tile, WIDEST)
    } else if tile.source.is_none() && tile.has_contiguous_dest() && !tile.unpacks {
        tile.elem.per_byte()
    } else {
        1
    }
}

/// Whether every vector is known to have whole bytes, so that no byte is moved by two threads.
pub fn moves_whole_bytes(cx: &Ctx, tile: &Tile) -> bool {
    width(cx, tile, widest(tile)) >= tile.elem.per_byte()
}

fn elements_in(tile: &Tile, bytes: u64) -> u32 {
    u32::try_from(bytes * 8 / tile.elem.bits().next_power_of_two().max(1)).unwrap_or(1)
}

/// Conditions, and the way to move the tile if all of them hold.
pub type Choice = (Vec<Expr>, Way);

/// `fast` if all its conditions hold, otherwise `always`. With `edge`, its conditions are tested
/// first: if they fail it is `always`, and if only those of `fast` fail it is `edge`.
#[derive(Debug)]
pub struct Plan {
    pub fast: Option<Choice>,
    pub edge: Option<Choice>,
    pub always: Way,
}

impl Plan {
    fn one(always: Way) -> Plan {
        Plan {
            fast: None,
            edge: None,
            always,
        }
    }
}

/// Independent of run-time conditions: for one thread that moves a tile for itself.
pub fn known(cx: &Ctx, tile: &Tile) -> Way {
    Way {
        width: width(cx, tile, widest(tile)),
        guarded: true,
        rare: false,
    }
}

/// For `threads` threads that share a tile.
pub fn plan(cx: &mut Ctx, tile: &Tile, threads: &Sym) -> Plan {
    let count = tile.count();
    let widest = narrowed_for_threads(tile, widest(tile), &count, threads);
    let mut always = Way {
        width: width(cx, tile, widest),
        guarded: true,
        rare: false,
    };
    if cx.lt(&count, threads).is_yes() {
        return Plan::one(always);
    }
    let inside = tile.inside(cx);
    let guarded = inside.is_none();
    let edges = inside.unwrap_or_default();
    let span = tile.span;
    let mut conditions: Vec<Expr> = edges
        .iter()
        .map(|(a, b)| at_most_in_sums(cx, a, b, span))
        .collect();
    let wanted = if edges.is_empty() && bytes_of(tile, always.width) >= GOOD {
        always.width
    } else {
        widest
    };
    let (wide, divisors) = possible_width(cx, tile, guarded, wanted, always.width);
    let iterations = &Sym::int(i64::from(wide)) * threads;
    let one_iteration = cx.le(&count, &iterations).is_yes();
    let way = |guarded| Way {
        width: wide,
        guarded,
        rare: false,
    };
    let cheap = tile.guards_are_cheap();
    if !conditions.is_empty() && (cheap || !divisors.is_empty()) {
        let (with_guards, same) = possible_width(cx, tile, true, wide, always.width);
        if with_guards == wide && same.len() == divisors.len() {
            if divisors.is_empty() {
                return Plan::one(always);
            }
            always.rare = true;
            let mut edge = way(true);
            if one_iteration || cheap {
                return Plan {
                    fast: Some((divisors, edge)),
                    edge: None,
                    always,
                };
            }
            edge.rare = true;
            return Plan {
                fast: Some((conditions, way(false))),
                edge: Some((divisors, edge)),
                always,
            };
        }
    }
    conditions.extend(divisors);
    if conditions.is_empty() || (one_iteration && wide == always.width) {
        return Plan::one(always);
    }
    always.rare = true;
    Plan {
        fast: Some((conditions, way(guarded))),
        edge: None,
        always,
    }
}

fn bytes_of(tile: &Tile, width: u32) -> u64 {
    u64::from(width).div_ceil(u64::from(tile.elem.per_byte())) * tile.elem.bytes()
}

/// A narrower width, if a wide one would leave threads without work.
fn narrowed_for_threads(tile: &Tile, mut width: u32, count: &Sym, threads: &Sym) -> u32 {
    let (Some(count), Some(threads)) = (count.as_int(), threads.as_int()) else {
        return width;
    };
    // Threads that only start an asynchronous move have no other work.
    let narrow = |width: u32| tile.is_async || bytes_of(tile, width) <= WORD;
    while width > 1 && count / i64::from(width) < threads && !narrow(width) {
        width /= 2;
    }
    width
}

/// The widest vector that is known to fit.
fn width(cx: &Ctx, tile: &Tile, widest: u32) -> u32 {
    let fits = |width: u32| {
        let by = Sym::int(i64::from(width));
        tile.aligned(true)
            .iter()
            .all(|s| cx.divides(&by, s).is_yes())
    };
    halves(tile, widest).find(|w| fits(*w)).unwrap_or(1)
}

/// The widest vector that may fit, with its conditions; `known` if none is wider.
fn possible_width(
    cx: &mut Ctx,
    tile: &Tile,
    guarded: bool,
    widest: u32,
    known: u32,
) -> (u32, Vec<Expr>) {
    for width in halves(tile, widest).take_while(|w| *w > known) {
        let by = Sym::int(i64::from(width));
        let mut conditions = Vec::new();
        cx.push_scope();
        let possible = tile.aligned(guarded).iter().all(|s| {
            match cx.divides(&by, s) {
                Truth::Yes => return true,
                Truth::No => return false,
                Truth::Unknown => {}
            }
            let rest = remainder(cx, s, &by);
            if rest.is_poison() {
                return false;
            }
            if !rest.is_zero() {
                conditions.push(is_multiple(cx, &rest, &by, tile.span));
                cx.assume_divides(&by, s);
            }
            true
        });
        cx.pop_scope();
        if possible {
            return (width, conditions);
        }
    }
    (known, Vec::new())
}

/// The widths to try: vectors of more than one element, and of whole bytes.
fn halves(tile: &Tile, widest: u32) -> impl Iterator<Item = u32> + use<> {
    let least = tile.elem.per_byte().max(2);
    std::iter::successors(Some(widest), |w| Some(w / 2)).take_while(move |w| *w >= least)
}
