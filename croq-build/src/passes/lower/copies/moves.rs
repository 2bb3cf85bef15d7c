//! The move of one vector.

use super::conditions::all;
use super::layout::Layout;
use super::side::Side;
use super::tile::{Rest, Tile, is_zero};
use super::width::Way;
use crate::ir::build;
use crate::ir::{
    Access, Expr, ExprKind, Function, Move, MoveMode, Role, Stmt, StmtKind, Unroll, Valid, View,
};
use crate::symbolic::{Ctx, Sym};

/// The start of a vector.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its position along each walked axis, in elements.
    pub at: Vec<Sym>,
    pub source: Reach,
    pub dest: Reach,
}

/// A place in a buffer: `offset`, plus products of a number of steps and a stride.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub offset: Sym,
    pub steps: Vec<(Sym, Sym)>,
}

impl Reach {
    pub fn step(&mut self, times: &Sym, stride: Sym) {
        self.steps.push((times.clone(), stride));
    }

    /// As one expression.
    pub fn sum(&self) -> Sym {
        self.steps
            .iter()
            .fold(self.offset.clone(), |sum, (times, stride)| {
                &sum + &(times * stride)
            })
    }

    fn access(&self, function: &Function, view: &View, layout: &Layout, tile: &Tile) -> Access {
        let found;
        let reach = match function.buffers.get(view.buffer.index()) {
            Some(buffer) if layout.scattered => {
                found = Reach {
                    offset: buffer.by_groups(&function.cx, &self.sum()),
                    steps: Vec::new(),
                };
                &found
            }
            _ => self,
        };
        let steps = &reach.steps;
        Access {
            view: View {
                buffer: view.buffer,
                offset: reach.offset.clone(),
                shape: steps.iter().map(|_| Sym::one()).collect(),
                strides: steps.iter().map(|s| s.1.clone()).collect(),
                valid: steps.iter().map(|_| Valid::default()).collect(),
                frame: None,
                span: view.span,
            },
            indices: steps.iter().map(|s| s.0.clone()).collect(),
            span: tile.span,
        }
    }
}

/// The advance of one side along a walked axis, from vector to vector.
#[derive(Clone, Debug)]
pub struct Pace {
    stride: Sym,
    /// The number of vectors in a group, and the distance between groups in elements.
    groups: Option<(i64, Sym)>,
    /// The period of the swizzle.
    period: Option<i64>,
}

impl Pace {
    fn of(side: &Side, layout: &Layout, width: i64) -> Pace {
        Pace {
            stride: &side.stride * width,
            groups: side
                .groups
                .as_ref()
                .map(|g| (g.width / width, g.jump.clone())),
            period: layout.period,
        }
    }

    /// Advances to vector number `c`.
    pub fn go(&self, cx: &Ctx, reach: &mut Reach, c: &Sym) {
        match &self.groups {
            None => reach.step(c, self.stride.clone()),
            Some((vectors, jump)) => {
                let vectors = Sym::int(*vectors);
                reach.step(&cx.div(c, &vectors), jump.clone());
                reach.step(&cx.rem(c, &vectors), self.stride.clone());
            }
        }
    }

    /// Whether multiples of `step` vectors can be added to the start: no such step ends within a
    /// group.
    pub fn steps_by(&self, step: i64) -> bool {
        match &self.groups {
            None => true,
            Some((vectors, _)) => step % vectors == 0,
        }
    }

    /// Advances by `iteration` times `step` vectors.
    pub fn iteration(&self, cx: &Ctx, reach: &mut Reach, iteration: &Sym, step: i64) {
        let stride = match &self.groups {
            None => &self.stride * step,
            Some((vectors, jump)) => jump * (step / vectors),
        };
        // Iterations at the same place of the pattern differ only by a constant.
        match (self.period, stride.as_int()) {
            (Some(period), Some(by)) if 0 < by && by < period && period % by == 0 => {
                let iterations = Sym::int(period / by);
                reach.step(&cx.rem(iteration, &iterations), stride);
                reach.step(&cx.div(iteration, &iterations), Sym::int(period));
            }
            _ => reach.step(iteration, stride),
        }
    }
}

/// A walked axis, in vectors.
#[derive(Clone, Debug)]
pub struct Paces {
    /// The number of elements of a vector along this axis: 1, or the width on the innermost axis.
    pub unit: Sym,
    pub source: Pace,
    pub dest: Pace,
}

/// For each walked axis.
pub fn paces_in(tile: &Tile, width: u32) -> Vec<Paces> {
    let walked: Vec<_> = tile.walked().collect();
    let inner = walked.len().saturating_sub(1);
    walked
        .into_iter()
        .enumerate()
        .map(|(at, axis)| {
            let unit = if at == inner { i64::from(width) } else { 1 };
            Paces {
                source: Pace::of(&axis.source, &tile.source_layout, unit),
                dest: Pace::of(&axis.dest, &tile.dest_layout, unit),
                unit: Sym::int(unit),
            }
        })
        .collect()
}

/// The place before any step.
pub fn origin(tile: &Tile) -> Point {
    let reach = |offset: &Sym| Reach {
        offset: offset.clone(),
        steps: Vec::new(),
    };
    Point {
        at: Vec::new(),
        source: tile
            .source
            .as_ref()
            .map_or_else(Reach::default, |v| reach(&v.offset)),
        dest: reach(&tile.dest.offset),
    }
}

/// The vector at these coordinates, counted in vectors.
pub fn point(tile: &Tile, cx: &Ctx, width: u32, coordinates: &[Sym]) -> Point {
    let mut point = origin(tile);
    for (c, paces) in coordinates.iter().zip(paces_in(tile, width)) {
        point.at.push(c * &paces.unit);
        paces.source.go(cx, &mut point.source, c);
        paces.dest.go(cx, &mut point.dest, c);
    }
    point
}

/// Moves the vector at `point`.
pub fn vector(tile: &Tile, function: &mut Function, way: Way, point: &Point) -> Vec<Stmt> {
    let (mut inside_source, mut inside_dest) = (Vec::new(), Vec::new());
    if way.guarded {
        let zero = Sym::zero();
        let mut at = point.at.iter();
        for axis in &tile.axes {
            let c = if axis.extent.is_one() {
                &zero
            } else {
                at.next().unwrap_or(&zero)
            };
            inside_source.extend(axis.source.conditions(c, tile.span));
            inside_dest.extend(axis.dest.conditions(c, tile.span));
        }
    }
    let is_async = is_async(tile, way);
    let moved = match (&tile.source, &tile.rest) {
        (None, Rest::Leave) => return Vec::new(),
        (None, Rest::With(value)) => filled(tile, function, way, point, value),
        (Some(source), Rest::Leave) => {
            inside_dest.splice(0..0, inside_source);
            moved(tile, function, way, point, source, None)
        }
        (Some(source), Rest::With(value)) => match all(inside_source, tile.span) {
            None => moved(tile, function, way, point, source, None),
            Some(inside) if is_async && is_zero(value) => {
                moved(tile, function, way, point, source, Some(inside))
            }
            Some(inside) if way.width == 1 && !is_async => {
                let loaded = load(tile, function, point, source);
                let kind = ExprKind::Select(inside, loaded, value.clone());
                store(tile, function, point, Expr::new(kind, tile.elem, tile.span))
            }
            Some(inside) => {
                let kind = StmtKind::If {
                    cond: inside,
                    then: vec![moved(tile, function, way, point, source, None)],
                    otherwise: vec![filled(tile, function, way, point, value)],
                };
                stmt(tile, kind)
            }
        },
    };
    vec![match all(inside_dest, tile.span) {
        Some(cond) => stmt(
            tile,
            StmtKind::If {
                cond,
                then: vec![moved],
                otherwise: Vec::new(),
            },
        ),
        None => moved,
    }]
}

/// There is no asynchronous move of a part of a byte.
fn is_async(tile: &Tile, way: Way) -> bool {
    tile.is_async && way.width >= tile.elem.per_byte()
}

fn stmt(tile: &Tile, kind: StmtKind) -> Stmt {
    Stmt::new(kind, tile.span)
}

fn load(tile: &Tile, function: &Function, point: &Point, source: &View) -> Expr {
    let load = ExprKind::Load(
        point
            .source
            .access(function, source, &tile.source_layout, tile),
    );
    Expr::new(load, tile.elem, tile.span)
}

fn store(tile: &Tile, function: &Function, point: &Point, value: Expr) -> Stmt {
    stmt(
        tile,
        StmtKind::Store {
            access: point
                .dest
                .access(function, &tile.dest, &tile.dest_layout, tile),
            op: None,
            value,
        },
    )
}

/// `inside`: for an asynchronous move that fills in zeros itself.
fn moved(
    tile: &Tile,
    function: &Function,
    way: Way,
    point: &Point,
    source: &View,
    inside: Option<Expr>,
) -> Stmt {
    let mode = if is_async(tile, way) {
        MoveMode::Async { inside }
    } else if way.width > 1 {
        MoveMode::Plain
    } else {
        return store(tile, function, point, load(tile, function, point, source));
    };
    stmt(
        tile,
        StmtKind::Move(Move {
            dest: point
                .dest
                .access(function, &tile.dest, &tile.dest_layout, tile),
            source: point
                .source
                .access(function, source, &tile.source_layout, tile),
            elems: way.width,
            mode,
        }),
    )
}

/// Element by element.
fn filled(tile: &Tile, function: &mut Function, way: Way, point: &Point, value: &Expr) -> Stmt {
    if way.width == 1 {
        return store(tile, function, point, value.clone());
    }
    let count = Sym::int(i64::from(way.width));
    let (local, k) = build::index(function, "k", Role::Loop, Some(&count), tile.span);
    let mut point = point.clone();
    point.dest.step(&k, Sym::one());
    stmt(
        tile,
        StmtKind::For {
            local,
            lo: Sym::zero(),
            hi: count,
            step: Sym::one(),
            unroll: Some(Unroll::Full),
            body: vec![store(tile, function, &point, value.clone())],
        },
    )
}
