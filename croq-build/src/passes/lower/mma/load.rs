//! Loads of fragments: `ldmatrix` where it applies, otherwise each thread loads its own elements.
//!
//! `ldmatrix` loads up to four matrices of 8 rows of 16 bytes at once, in exactly the layout of
//! fragments. It requires shared memory, with rows at multiples of 16 bytes; the rows may run along
//! K, or, for elements of two bytes, across it.

use super::pass::{Lanes, Pass, Tile, element, load_of, mma, register, zero};
use crate::ir::{
    Access, BinOp, Expr, ExprKind, MmaOp, Move, MoveMode, Part, Scalar, Stmt, StmtKind, Storage,
    View,
};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// Bytes of a matrix' row.
const ROW: i64 = 16;
/// Bytes of a register.
const REGISTER: i64 = 4;

/// The number of matrices of a fragment that are loaded at once: vertically (in steps of
/// `layout.rows`), horizontally, and as a pair. Together they are 1, 2 or 4 consecutive registers.
struct Group {
    down: i64,
    horizontal: i64,
    pair: i64,
}

impl Group {
    fn of(tile: &Tile) -> Self {
        let (down, horizontal) = (
            tile.rows / tile.layout.rows,
            tile.columns / tile.layout.columns(),
        );
        let pair = tile.layout.rows / 8;
        let of = |down, horizontal| Group {
            down,
            horizontal,
            pair,
        };
        let room = 4 / pair;
        let most = |n: i64| [4, 2].into_iter().find(|w| *w <= room && n % w == 0);
        match most(horizontal) {
            Some(all) if all == room => of(1, all),
            // There are only two horizontally, so the next registers belong to the tiles below.
            Some(2) if horizontal == 2 && down % 2 == 0 => of(2, 2),
            Some(two) => of(1, two),
            None if horizontal == 1 => of(most(down).unwrap_or(1), 1),
            None => of(1, 1),
        }
    }

    fn count(&self) -> i64 {
        self.down * self.horizontal * self.pair
    }
}

pub fn load(pass: &mut Pass<'_>, into: &Part, source: &View, span: Span) -> Option<Vec<Stmt>> {
    let tile = pass.tile(into)?;
    let bytes = i64::try_from(tile.elem.bytes()).ok()?;
    match rows_across(pass, &tile, source, bytes) {
        Some(across) => {
            let load = |_: &mut Pass, at, memory, count| {
                let op = MmaOp::Matrices {
                    count,
                    transposed: across,
                    registers: Box::new(register(tile.buffer, at, span)),
                    memory: Box::new(memory),
                    stored: false,
                };
                vec![mma(op, span)]
            };
            Some(matrices(pass, &tile, source, across, span, load))
        }
        None => Some(elements_of(pass, &tile, source, span)),
    }
}

/// Whether `ldmatrix` can load it, with rows across K (`true`) or along K (`false`).
pub fn rows_across(pass: &Pass<'_>, tile: &Tile, source: &View, bytes: i64) -> Option<bool> {
    let buffer = pass.function.buffers.get(source.buffer.index())?;
    // Each thread loads whole registers of packed elements, and single elements where a register
    // has only one of the matrix.
    if buffer.elem.is_packed() || tile.layout.width * bytes < REGISTER {
        return None;
    }
    if buffer.storage != Storage::Shared || source.may_cross() || bytes > 4 {
        return None;
    }
    let cx = &pass.function.cx;
    let [down, along] = oriented_axes(tile, &source.strides)?;
    let unit = Sym::int(ROW / bytes);
    let divides = |s: &Sym| cx.divides(&unit, s).is_yes();
    if !divides(&source.offset) {
        return None;
    }
    if along.is_one() && divides(down) {
        return Some(false);
    }
    (bytes == 2 && down.is_one() && divides(along)).then_some(true)
}

/// Matrices of a tile and of memory: `body` gets the first element in registers, the row in memory
/// whose address this lane provides, and the number of matrices at once.
pub fn matrices(
    pass: &mut Pass<'_>,
    tile: &Tile,
    source: &View,
    across: bool,
    span: Span,
    body: impl FnOnce(&mut Pass<'_>, Sym, Access, u32) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let group = Group::of(tile);
    let Lanes { lane, warp, .. } = pass.lanes();
    let cx = &pass.function.cx;
    let wide = tile.layout.columns();
    // Lane 8 q + r provides the address of row r of matrix q.
    let (which, row) = (cx.div(&lane, &sym(8)), cx.rem(&lane, &sym(8)));
    let pair = cx.rem(&which, &sym(group.pair));
    let which = cx.div(&which, &sym(group.pair));
    let horizontal = cx.rem(&which, &sym(group.horizontal));
    let which = cx.div(&which, &sym(group.horizontal));
    let below = cx.rem(&which, &sym(group.down));
    let mut down = &(&below * tile.layout.below()) + &(&pair * 8);
    let mut along = &horizontal * wide;
    if across {
        along = &along + &row;
    } else {
        down = &down + &row;
    }
    if tile.layout.warps > 1 {
        down = &down + &(&warp * tile.layout.rows);
    }
    let rows = group.down * tile.layout.below();
    let mut stmts = Vec::new();
    let columns = group.horizontal * wide;
    let down = pass.named("down", down, rows, span, &mut stmts);
    let along = pass.named("along", along, columns, span, &mut stmts);
    let lane_part = tile.layout.oriented([down, along]);
    let [by_tile, by_column, _] = tile.steps;
    let axes = [
        ("i", tile.rows / tile.layout.rows, group.down),
        ("j", tile.columns / wide, group.horizontal),
    ];
    let count = u32::try_from(group.count()).unwrap_or(1);
    stmts.extend(pass.loops(&axes, span, |pass, indices| {
        let [i, j] = indices else {
            return Vec::new();
        };
        let known = tile.layout.oriented([i * tile.layout.below(), j * wide]);
        let at = &(&tile.first + &(i * by_tile)) + &(j * by_column);
        let memory = element(source, &known, &lane_part, span);
        body(pass, at, memory, count)
    }));
    stmts
}

fn elements_of(pass: &mut Pass<'_>, tile: &Tile, source: &View, span: Span) -> Vec<Stmt> {
    let lanes = pass.lanes();
    let layout = tile.layout;
    let width = layout.width;
    let whole = whole_registers(&pass.function.cx, tile, source);
    let row = lanes.row_in(layout.warps, layout.rows);
    let lane_part = layout.oriented([row, &lanes.place * width]);
    let [by_tile, by_column, by_pair] = tile.steps;
    let axes = [
        ("i", tile.rows / layout.rows, 1),
        ("j", tile.columns / layout.columns(), 1),
        ("half", layout.rows / 8, 1),
        ("e", if whole { 1 } else { width }, 1),
    ];
    pass.loops(&axes, span, |pass, indices| {
        let [i, j, h, e] = indices else {
            return Vec::new();
        };
        let down = &(i * layout.below()) + &(h * 8);
        let along = &(j * layout.columns()) + e;
        let known = layout.oriented([down, along]);
        let from = element(source, &known, &lane_part, span);
        let at = &(&(&tile.first + &(i * by_tile)) + &(j * by_column)) + &(&(h * by_pair) + e);
        let into = register(tile.buffer, at, span);
        let place: Vec<Sym> = known.iter().zip(&lane_part).map(|(a, b)| a + b).collect();
        let inside = inside(&pass.function.cx, source, &place, span);
        if whole && width > 1 {
            return vec![by_register(tile, into, from, inside, span)];
        }
        let mut value = load_of(from, tile.elem, span);
        if let Some(inside) = inside {
            let other = zero(tile.elem, span);
            value = Expr::new(ExprKind::Select(inside, value, other), tile.elem, span);
        }
        let store = StmtKind::Store {
            access: into,
            op: None,
            value,
        };
        vec![Stmt::new(store, span)]
    })
}

/// All elements of a register by one access; zeros if they are outside.
fn by_register(
    tile: &Tile,
    into: crate::ir::Access,
    from: crate::ir::Access,
    inside: Option<Expr>,
    span: Span,
) -> Stmt {
    let elems = u32::try_from(tile.layout.width).unwrap_or(1);
    let zeros = (0..tile.layout.width).map(|e| {
        let at = &into.view.offset + e;
        let store = StmtKind::Store {
            access: register(into.view.buffer, at, span),
            op: None,
            value: zero(tile.elem, span),
        };
        Stmt::new(store, span)
    });
    let zeros: Vec<Stmt> = zeros.collect();
    let moved = Stmt::new(
        StmtKind::Move(Move {
            dest: into,
            source: from,
            elems,
            mode: MoveMode::Plain,
        }),
        span,
    );
    match inside {
        None => moved,
        Some(cond) => Stmt::new(
            StmtKind::If {
                cond,
                then: vec![moved],
                otherwise: zeros,
            },
            span,
        ),
    }
}

/// Whether a register's elements are contiguous in memory, aligned to its size, and either all or
/// none inside the data.
fn whole_registers(cx: &Ctx, tile: &Tile, source: &View) -> bool {
    let width = Sym::int(tile.layout.width);
    let divides = |s: &Sym| cx.divides(&width, s).is_yes();
    let Some([down, along]) = oriented_axes(tile, &source.strides) else {
        return false;
    };
    let valid = oriented_axes(tile, &source.valid).map(|[_, along]| along);
    let edge = valid
        .is_none_or(|v| v.lo.as_ref().is_none_or(divides) && v.hi.as_ref().is_none_or(divides));
    along.is_one() && divides(down) && divides(&source.offset) && edge
}

/// The vertical and the horizontal one of a view's two axes, in the orientation of the tile.
pub fn oriented_axes<'a, T>(tile: &Tile, axes: &'a [T]) -> Option<[&'a T; 2]> {
    let [rows, columns] = axes else {
        return None;
    };
    Some(tile.layout.oriented([rows, columns]))
}

/// The condition that a place is inside the data.
pub fn inside(cx: &Ctx, view: &View, place: &[Sym], span: Span) -> Option<Expr> {
    let mut all = Vec::new();
    let compare = |op, a: &Sym, b: &Sym| {
        let [a, b] = [a, b].map(|s| Expr::index(s.clone(), span));
        Expr::new(ExprKind::Binary(op, a, b), Scalar::Bool, span)
    };
    for (at, valid) in place.iter().zip(&view.valid) {
        if let Some(lo) = &valid.lo
            && !cx.le(lo, at).is_yes()
        {
            all.push(compare(BinOp::Le, lo, at));
        }
        if let Some(hi) = &valid.hi
            && !cx.lt(at, hi).is_yes()
        {
            all.push(compare(BinOp::Lt, at, hi));
        }
    }
    let both = |a, b| Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span);
    all.into_iter().reduce(both)
}

fn sym(n: i64) -> Sym {
    Sym::int(n)
}
