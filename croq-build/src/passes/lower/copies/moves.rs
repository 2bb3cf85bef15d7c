//! The movement of one vector.

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

/// Where a vector begins.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its position along each walked axis, in elements.
    pub at: Vec<Sym>,
    pub source: Reach,
    pub dest: Reach,
}

/// A place in a buffer: `offset` and so many steps of so many elements.
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

/// How one side goes along a walked axis, from vector to vector.
#[derive(Clone, Debug)]
pub struct Pace {
    stride: Sym,
    /// After so many vectors it goes on by so many elements.
    groups: Option<(i64, Sym)>,
    /// Of the swizzle.
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

    /// To vector number `c`.
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

    /// Whether turns of `step` vectors can be added to the first: none ends within a group.
    pub fn turns_by(&self, step: i64) -> bool {
        match &self.groups {
            None => true,
            Some((vectors, _)) => step % vectors == 0,
        }
    }

    /// On by `turn` times `step` vectors.
    pub fn turn(&self, cx: &Ctx, reach: &mut Reach, turn: &Sym, step: i64) {
        let stride = match &self.groups {
            None => &self.stride * step,
            Some((vectors, jump)) => jump * (step / vectors),
        };
        // Turns that reach the same place of the pattern differ by a constant only.
        match (self.period, stride.as_int()) {
            (Some(period), Some(by)) if 0 < by && by < period && period % by == 0 => {
                let turns = Sym::int(period / by);
                reach.step(&cx.rem(turn, &turns), stride);
                reach.step(&cx.div(turn, &turns), Sym::int(period));
            }
            _ => reach.step(turn, stride),
        }
    }
}

/// A walked axis in vectors.
#[derive(Clone, Debug)]
pub struct Paces {
    /// Elements of a vector along this axis: 1, or the width on the innermost axis.
    pub unit: Sym,
    pub source: Pace,
    pub dest: Pace,
}

impl Tile {
    /// Per walked axis.
    pub fn paces_in(&self, width: u32) -> Vec<Paces> {
        let walked: Vec<_> = self.walked().collect();
        let inner = walked.len().saturating_sub(1);
        walked
            .into_iter()
            .enumerate()
            .map(|(at, axis)| {
                let unit = if at == inner { i64::from(width) } else { 1 };
                Paces {
                    source: Pace::of(&axis.source, &self.source_layout, unit),
                    dest: Pace::of(&axis.dest, &self.dest_layout, unit),
                    unit: Sym::int(unit),
                }
            })
            .collect()
    }

    /// The place before any step.
    pub fn origin(&self) -> Point {
        let reach = |offset: &Sym| Reach {
            offset: offset.clone(),
            steps: Vec::new(),
        };
        Point {
            at: Vec::new(),
            source: self
                .source
                .as_ref()
                .map_or_else(Reach::default, |v| reach(&v.offset)),
            dest: reach(&self.dest.offset),
        }
    }

    /// The vector at these coordinates, counted in vectors.
    pub fn point(&self, cx: &Ctx, width: u32, coordinates: &[Sym]) -> Point {
        let mut point = self.origin();
        for (c, paces) in coordinates.iter().zip(self.paces_in(width)) {
            point.at.push(c * &paces.unit);
            paces.source.go(cx, &mut point.source, c);
            paces.dest.go(cx, &mut point.dest, c);
        }
        point
    }

    /// Moves the vector at `point`.
    pub fn vector(&self, function: &mut Function, way: Way, point: &Point) -> Vec<Stmt> {
        let (mut inside_source, mut inside_dest) = (Vec::new(), Vec::new());
        if way.guarded {
            let zero = Sym::zero();
            let mut at = point.at.iter();
            for axis in &self.axes {
                let c = if axis.extent.is_one() {
                    &zero
                } else {
                    at.next().unwrap_or(&zero)
                };
                inside_source.extend(axis.source.conditions(c, self.span));
                inside_dest.extend(axis.dest.conditions(c, self.span));
            }
        }
        let moved = match (&self.source, &self.rest) {
            (None, Rest::Leave) => return Vec::new(),
            (None, Rest::With(value)) => self.filled(function, way, point, value),
            (Some(source), Rest::Leave) => {
                inside_dest.splice(0..0, inside_source);
                self.moved(function, way, point, source, None)
            }
            (Some(source), Rest::With(value)) => match all(inside_source, self.span) {
                None => self.moved(function, way, point, source, None),
                Some(inside) if self.is_async && is_zero(value) => {
                    self.moved(function, way, point, source, Some(inside))
                }
                Some(inside) if way.width == 1 && !self.is_async => {
                    let loaded = self.load(function, point, source);
                    let kind = ExprKind::Select(inside, loaded, value.clone());
                    self.store(function, point, Expr::new(kind, self.elem, self.span))
                }
                Some(inside) => {
                    let kind = StmtKind::If {
                        cond: inside,
                        then: vec![self.moved(function, way, point, source, None)],
                        otherwise: vec![self.filled(function, way, point, value)],
                    };
                    self.stmt(kind)
                }
            },
        };
        vec![match all(inside_dest, self.span) {
            Some(cond) => self.stmt(StmtKind::If {
                cond,
                then: vec![moved],
                otherwise: Vec::new(),
            }),
            None => moved,
        }]
    }

    fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt::new(kind, self.span)
    }

    fn load(&self, function: &Function, point: &Point, source: &View) -> Expr {
        let load = ExprKind::Load(
            point
                .source
                .access(function, source, &self.source_layout, self),
        );
        Expr::new(load, self.elem, self.span)
    }

    fn store(&self, function: &Function, point: &Point, value: Expr) -> Stmt {
        self.stmt(StmtKind::Store {
            access: point
                .dest
                .access(function, &self.dest, &self.dest_layout, self),
            op: None,
            value,
        })
    }

    /// `inside` is for a movement that fills in zeros itself.
    fn moved(
        &self,
        function: &Function,
        way: Way,
        point: &Point,
        source: &View,
        inside: Option<Expr>,
    ) -> Stmt {
        let mode = if self.is_async {
            MoveMode::Async { inside }
        } else if way.width > 1 {
            MoveMode::Plain
        } else {
            return self.store(function, point, self.load(function, point, source));
        };
        self.stmt(StmtKind::Move(Move {
            dest: point
                .dest
                .access(function, &self.dest, &self.dest_layout, self),
            source: point
                .source
                .access(function, source, &self.source_layout, self),
            elems: way.width,
            mode,
        }))
    }

    /// Element by element.
    fn filled(&self, function: &mut Function, way: Way, point: &Point, value: &Expr) -> Stmt {
        if way.width == 1 {
            return self.store(function, point, value.clone());
        }
        let count = Sym::int(i64::from(way.width));
        let (local, k) = build::index(function, "k", Role::Loop, Some(&count), self.span);
        let mut point = point.clone();
        point.dest.step(&k, Sym::one());
        self.stmt(StmtKind::For {
            local,
            lo: Sym::zero(),
            hi: count,
            step: Sym::one(),
            unroll: Some(Unroll::Full),
            body: vec![self.store(function, &point, value.clone())],
        })
    }
}
