//! The movement of one vector.

use super::conditions::all;
use super::tile::{Rest, Tile};
use super::width::Way;
use crate::ir::{
    Access, Expr, ExprKind, Function, Move, MoveMode, Role, Stmt, StmtKind, Unroll, Valid, View,
};
use crate::passes::fresh;
use crate::symbolic::Sym;

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

    fn access(&self, view: &View, tile: &Tile) -> Access {
        Access {
            view: View {
                buffer: view.buffer,
                offset: self.offset.clone(),
                shape: self.steps.iter().map(|_| Sym::one()).collect(),
                strides: self.steps.iter().map(|s| s.1.clone()).collect(),
                valid: self.steps.iter().map(|_| Valid::default()).collect(),
                frame: None,
                span: view.span,
            },
            indices: self.steps.iter().map(|s| s.0.clone()).collect(),
            span: tile.span,
        }
    }
}

/// How many elements lie between neighbouring vectors along a walked axis.
#[derive(Clone, Debug)]
pub struct Strides {
    /// 1, or the width on the innermost axis.
    pub unit: Sym,
    pub source: Sym,
    pub dest: Sym,
}

impl Tile {
    /// Per walked axis.
    pub fn strides_in(&self, width: u32) -> Vec<Strides> {
        let walked: Vec<_> = self.walked().collect();
        let inner = walked.len().saturating_sub(1);
        walked
            .into_iter()
            .enumerate()
            .map(|(at, axis)| {
                let unit = Sym::int(if at == inner { i64::from(width) } else { 1 });
                Strides {
                    source: &axis.source.stride * &unit,
                    dest: &axis.dest.stride * &unit,
                    unit,
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
    pub fn point(&self, width: u32, coordinates: &[Sym]) -> Point {
        let mut point = self.origin();
        for (c, strides) in coordinates.iter().zip(self.strides_in(width)) {
            point.at.push(c * &strides.unit);
            point.source.step(c, strides.source);
            point.dest.step(c, strides.dest);
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
                self.moved(way, point, source, None)
            }
            (Some(source), Rest::With(value)) => match all(inside_source, self.span) {
                None => self.moved(way, point, source, None),
                Some(inside) if self.is_async && is_zero(value) => {
                    self.moved(way, point, source, Some(inside))
                }
                Some(inside) if way.width == 1 && !self.is_async => {
                    let loaded = self.load(point, source);
                    let kind = ExprKind::Select(inside, loaded, value.clone());
                    self.store(point, Expr::new(kind, self.elem, self.span))
                }
                Some(inside) => {
                    let kind = StmtKind::If {
                        cond: inside,
                        then: vec![self.moved(way, point, source, None)],
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

    fn load(&self, point: &Point, source: &View) -> Expr {
        let load = ExprKind::Load(point.source.access(source, self));
        Expr::new(load, self.elem, self.span)
    }

    fn store(&self, point: &Point, value: Expr) -> Stmt {
        self.stmt(StmtKind::Store {
            access: point.dest.access(&self.dest, self),
            op: None,
            value,
        })
    }

    /// `inside` is for a movement that fills in zeros itself.
    fn moved(&self, way: Way, point: &Point, source: &View, inside: Option<Expr>) -> Stmt {
        let mode = if self.is_async {
            MoveMode::Async { inside }
        } else if way.width > 1 {
            MoveMode::Plain
        } else {
            return self.store(point, self.load(point, source));
        };
        self.stmt(StmtKind::Move(Move {
            dest: point.dest.access(&self.dest, self),
            source: point.source.access(source, self),
            elems: way.width,
            mode,
        }))
    }

    /// Element by element.
    fn filled(&self, function: &mut Function, way: Way, point: &Point, value: &Expr) -> Stmt {
        if way.width == 1 {
            return self.store(point, value.clone());
        }
        let count = Sym::int(i64::from(way.width));
        let (local, k) = fresh::index(function, "k", Role::Loop, Some(&count), self.span);
        let mut point = point.clone();
        point.dest.step(&k, Sym::one());
        self.stmt(StmtKind::For {
            local,
            lo: Sym::zero(),
            hi: count,
            step: Sym::one(),
            unroll: Some(Unroll::Full),
            body: vec![self.store(&point, value.clone())],
        })
    }
}

fn is_zero(value: &Expr) -> bool {
    match &*value.kind {
        ExprKind::Int(value) => *value == 0,
        // Not the negative one, whose bits are others.
        ExprKind::Float(value) => value.to_bits() == 0,
        ExprKind::Bool(value) => !value,
        _ => false,
    }
}
