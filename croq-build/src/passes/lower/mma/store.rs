//! Stores of fragments: each thread stores its own elements, two adjacent ones at once where
//! possible; a warpgroup's accumulators of two-byte elements are stored by `stmatrix`, the
//! counterpart of `ldmatrix`, where it applies.

use super::load;
use super::load::{inside, oriented_axes};
use super::pass::{Pass, Tile, element, load_of, mma, register};
use crate::ir::{
    BinOp, Buffer, BufferId, Columns, Expr, ExprKind, MmaOp, Move, MoveMode, Part, Scalar, Stmt,
    StmtKind, Storage, View,
};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

pub fn store(
    pass: &mut Pass<'_>,
    (from, columns): (&Part, Option<&Columns>),
    dest: &View,
    transposed: bool,
    span: Span,
) -> Option<Vec<Stmt>> {
    let mut tile = pass.tile(from)?;
    let mut wide = None;
    if let Some(columns) = columns {
        match part_of(&pass.function.cx, &tile, columns) {
            Some(part) => tile = part,
            None => wide = Some(widened(pass, from, columns, dest, transposed)?),
        }
    }
    let dest = wide.as_ref().unwrap_or(dest);
    // From here on the layout is that of the destination.
    tile.layout.transposed ^= transposed;
    let layout = tile.layout;
    let to = pass.function.buffers.get(dest.buffer.index())?.elem;
    // An architecture with warpgroup MMAs also has `stmatrix`.
    if layout.warps > 1
        && to.bytes() == 2
        && let Some(across) = load::rows_across(pass, &tile, dest, 2)
    {
        return Some(store_matrices(pass, &tile, dest, across, to, span));
    }
    let conditions = pairs(&pass.function.cx, &tile, (dest, to), span)
        // The few elements of a warp are not worth two ways.
        .filter(|conditions| conditions.is_empty() || layout.warps > 1);
    let Some(conditions) = conditions else {
        return Some(store_elements(pass, &tile, dest, false, to, span));
    };
    let both = |a, b| Expr::binary(BinOp::LogicAnd, a, b, span);
    let in_pairs = store_elements(pass, &tile, dest, true, to, span);
    let Some(cond) = conditions.into_iter().reduce(both) else {
        return Some(in_pairs);
    };
    let kind = StmtKind::If {
        cond,
        then: in_pairs,
        otherwise: store_elements(pass, &tile, dest, false, to, span),
    };
    Some(vec![Stmt::new(kind, span)])
}

/// Each thread stores its elements one by one, or those of a pair together.
fn store_elements(
    pass: &mut Pass<'_>,
    tile: &Tile,
    dest: &View,
    pairs: bool,
    to: Scalar,
    span: Span,
) -> Vec<Stmt> {
    let lanes = pass.lanes();
    let layout = tile.layout;
    let row = lanes.row_in(layout.warps, layout.rows);
    let lane_part = layout.oriented([row, &lanes.place * layout.width]);
    let [by_tile, by_column, by_pair] = tile.steps;
    let staged = (pairs && to != tile.elem).then(|| staging(pass, to, layout.width, span));
    let axes = [
        ("i", tile.rows / layout.rows, 1),
        ("half", layout.rows / 8, 1),
        ("j", tile.columns / layout.columns(), 1),
        ("e", if pairs { 1 } else { layout.width }, 1),
    ];
    pass.loops(&axes, span, |pass, indices| {
        let [i, h, j, e] = indices else {
            return Vec::new();
        };
        let down = &(i * layout.below()) + &(h * 8);
        let along = &(j * layout.columns()) + e;
        let known = layout.oriented([down, along]);
        let at = &(&(&tile.first + &(i * by_tile)) + &(j * by_column)) + &(&(h * by_pair) + e);
        let place: Vec<Sym> = known.iter().zip(&lane_part).map(|(a, b)| a + b).collect();
        let inside = inside(&pass.function.cx, dest, &place, span);
        let access = element(dest, &known, &lane_part, span);
        let stored = if pairs {
            store_register(tile, at, access, staged, to, span)
        } else {
            let value = converted(register_of(tile, at, span), to, span);
            let store = StmtKind::Store {
                access,
                op: None,
                value,
            };
            vec![Stmt::new(store, span)]
        };
        match inside {
            None => stored,
            Some(cond) => {
                let kind = StmtKind::If {
                    cond,
                    then: stored,
                    otherwise: Vec::new(),
                };
                vec![Stmt::new(kind, span)]
            }
        }
    })
}

/// The columns as a tile of their own, if they are whole tiles of the layout.
fn part_of(cx: &Ctx, tile: &Tile, columns: &Columns) -> Option<Tile> {
    let layout = tile.layout;
    let [by_tile, by_column, _] = tile.steps;
    // The matrix's columns are rows of a transposed layout; warps share these.
    let (unit, step) = match (layout.transposed, layout.warps) {
        (false, _) => (layout.columns(), by_column),
        (true, 1) => (layout.rows, by_tile),
        (true, _) => return None,
    };
    let whole = cx.divides(&Sym::int(unit), &columns.first).is_yes() && columns.count % unit == 0;
    let number = cx.div(&columns.first, &Sym::int(unit));
    let (rows, extent) = match layout.transposed {
        false => (tile.rows, columns.count),
        true => (columns.count, tile.columns),
    };
    whole.then(|| Tile {
        first: &tile.first + &(&number * step),
        rows,
        columns: extent,
        ..*tile
    })
}

/// A view of the fragment's shape of which the columns alone, in the place of `dest`, are valid.
pub fn widened(
    pass: &Pass<'_>,
    from: &Part,
    columns: &Columns,
    dest: &View,
    transposed: bool,
) -> Option<View> {
    let axis = usize::from(!transposed);
    let extent = pass.function.fragments.get(&from.buffer)?.shape.last()?;
    let mut view = dest.clone();
    let first = &columns.first;
    view.offset = &view.offset - &(first * view.strides.get(axis)?);
    *view.shape.get_mut(axis)? = Sym::int(*extent);
    let valid = view.valid.get_mut(axis)?;
    let count = Sym::int(columns.count);
    let end = match &valid.hi {
        Some(hi) => pass.function.cx.min(hi, &count),
        None => count,
    };
    valid.hi = Some(first + &end);
    valid.lo = Some(match &valid.lo {
        Some(lo) => first + &pass.function.cx.max(lo, &Sym::zero()),
        None => first.clone(),
    });
    Some(view)
}

fn store_matrices(
    pass: &mut Pass<'_>,
    tile: &Tile,
    dest: &View,
    across: bool,
    to: Scalar,
    span: Span,
) -> Vec<Stmt> {
    let store = |pass: &mut Pass, at: Sym, memory, count: u32| {
        let elements = i64::from(count) * tile.layout.width;
        let mut stmts = Vec::new();
        let mut from = register(tile.buffer, at.clone(), span);
        if to != tile.elem {
            let stage = staging(pass, to, elements, span);
            stmts = convert_into(stage, tile, &at, elements, to, span);
            from = register(stage, Sym::zero(), span);
        }
        let op = MmaOp::Matrices {
            count,
            transposed: across,
            registers: Box::new(from),
            memory: Box::new(memory),
            stored: true,
        };
        stmts.push(mma(op, span));
        stmts
    };
    load::matrices(pass, tile, dest, across, span, store)
}

/// Registers for the conversion of elements before they are stored.
fn staging(pass: &mut Pass<'_>, elem: Scalar, count: i64, span: Span) -> BufferId {
    let count = Sym::int(count);
    pass.function.add_buffer(Buffer::line(
        "pair".to_owned(),
        elem,
        Storage::Fragment,
        count,
        span,
    ))
}

fn register_of(tile: &Tile, at: Sym, span: Span) -> Expr {
    load_of(register(tile.buffer, at, span), tile.elem, span)
}

fn converted(value: Expr, to: Scalar, span: Span) -> Expr {
    if value.ty == to {
        return value;
    }
    Expr::new(ExprKind::Cast(value), to, span)
}

/// Converts `elements` elements from `at` on into registers of another type.
fn convert_into(
    into: BufferId,
    tile: &Tile,
    at: &Sym,
    elements: i64,
    to: Scalar,
    span: Span,
) -> Vec<Stmt> {
    let one = |e| {
        let store = StmtKind::Store {
            access: register(into, Sym::int(e), span),
            op: None,
            value: converted(register_of(tile, at + e, span), to, span),
        };
        Stmt::new(store, span)
    };
    (0..elements).map(one).collect()
}

/// Stores adjacent elements of a register as adjacent elements of memory.
fn store_register(
    tile: &Tile,
    at: Sym,
    dest: crate::ir::Access,
    staged: Option<BufferId>,
    to: Scalar,
    span: Span,
) -> Vec<Stmt> {
    let width = tile.layout.width;
    let mut stmts = Vec::new();
    let source = match staged {
        None => register(tile.buffer, at, span),
        Some(pair) => {
            stmts = convert_into(pair, tile, &at, width, to, span);
            register(pair, Sym::zero(), span)
        }
    };
    let moved = Move {
        dest,
        source,
        elems: u32::try_from(width).unwrap_or(1),
        mode: MoveMode::Plain,
    };
    stmts.push(Stmt::new(StmtKind::Move(moved), span));
    stmts
}

/// If the elements of a pair are contiguous in memory, the conditions under which all pairs are aligned
/// to their size, and have both elements inside the data or none.
fn pairs(cx: &Ctx, tile: &Tile, (dest, to): (&View, Scalar), span: Span) -> Option<Vec<Expr>> {
    let [down, along] = oriented_axes(tile, &dest.strides)?;
    let [_, edge] = oriented_axes(tile, &dest.valid)?;
    // A fragment has each element in a register of its own.
    if tile.layout.width <= 1 || !along.is_one() || to.is_packed() {
        return None;
    }
    let width = Sym::int(tile.layout.width);
    let multiples = [
        Some(down),
        Some(&dest.offset),
        edge.lo.as_ref(),
        edge.hi.as_ref(),
    ];
    let mut rests: Vec<Sym> = Vec::new();
    for multiple in multiples.into_iter().flatten() {
        let divides = cx.divides(&width, multiple);
        let rest = cx.rem(multiple, &width);
        if divides.is_no() {
            return None;
        }
        if !divides.is_yes() && !rests.contains(&rest) {
            rests.push(rest);
        }
    }
    let is_zero = |rest| {
        let (rest, zero) = (Expr::index(rest, span), Expr::index(Sym::zero(), span));
        Expr::binary(BinOp::Eq, rest, zero, span)
    };
    Some(rests.into_iter().map(is_zero).collect())
}
