//! The distribution of a tile's work over the threads that move it together.
//!
//! Adjacent threads take adjacent vectors of the innermost axis. If the thread count and the
//! extents are compatible, a thread computes its place in the tile once, and each of its iterations
//! only adds constants to it; a few threads may be idle for that. Otherwise the vectors are
//! numbered, innermost axis fastest, thread `t` of `T` takes numbers `t`, `t + T`, …, and each
//! iteration divides.

use super::conditions::{all, both, less};
use super::moves::{Pace, Point, Reach, origin, paces_in, point, vector};
use super::tile::Tile;
use super::width::Way;
use crate::ir::build;
use crate::ir::{Expr, Function, LocalId, Role, Stmt, StmtKind, Unroll};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// A loop of at most this many known iterations is unrolled, so that its loads overlap …
const ITERATIONS: i64 = 16;
/// … if the loaded values fit this many bytes of registers.
const BYTES: i64 = 256;
/// For code that is seldom executed.
const RARE_ITERATIONS: i64 = 4;
/// If each iteration has its own coordinates: all of them together do not fit in registers.
const NUMBERED_ITERATIONS: i64 = 4;

/// `threads` threads share the tile; `lane` is the thread's number among them.
pub fn share(
    function: &mut Function,
    tile: &Tile,
    way: Way,
    lane: &Sym,
    threads: &Sym,
) -> Vec<Stmt> {
    let extents = tile.extents_in(&function.cx, way.width);
    let split = threads
        .as_int()
        .and_then(|threads| Split::new(&function.cx, lane, threads, &extents));
    match split {
        Some(split) => split.walk(function, tile, way, lane),
        None => numbered(function, tile, way, lane, threads, &extents),
    }
}

/// The coordinates along one axis that a lane visits.
#[derive(Clone, Debug)]
struct Digit {
    /// The first coordinate, and the distance to the next.
    first: Sym,
    step: i64,
    iterations: Iterations,
}

impl Digit {
    fn is_loop(&self) -> bool {
        !matches!(
            self.iterations,
            Iterations::Exactly(1) | Iterations::Ragged(1)
        )
    }

    /// Whether a side is advanced to the lane's first place, and from there by constants.
    fn starts_at_first(&self, pace: &Pace) -> bool {
        !self.is_loop() || (self.iterations != Iterations::Open && pace.steps_by(self.step))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Iterations {
    Exactly(i64),
    /// In the last iteration some lanes are past the end.
    Ragged(i64),
    /// Until an extent that is only known at run time.
    Open,
}

#[derive(Debug)]
struct Split {
    /// Outermost first, with the extent.
    digits: Vec<(Digit, Sym)>,
    /// Lanes from this number on have no work.
    busy: Option<Sym>,
}

impl Split {
    /// `None` if more than a quarter of the threads would be idle, or an inner extent is unknown.
    fn new(cx: &Ctx, lane: &Sym, threads: i64, extents: &[Sym]) -> Option<Split> {
        let mut digits = Vec::new();
        // The number of lanes that the axes so far distinguish, and that for the remaining axes.
        let (mut below, mut lanes) = (1, threads);
        for (axis, extent) in extents.iter().enumerate().rev() {
            let outermost = axis == 0;
            let known = extent.as_int();
            let taken = match known {
                Some(n) if n < 1 => return None,
                Some(n) => n.min(lanes),
                None if outermost => lanes,
                None => return None,
            };
            let left = lanes / taken;
            let iterations = match known {
                Some(n) if n % taken == 0 => Iterations::Exactly(n / taken),
                Some(n) => Iterations::Ragged(n / taken + 1),
                None => Iterations::Open,
            };
            let idle = match (known, iterations) {
                (Some(n), Iterations::Ragged(iterations)) => n * 4 < iterations * taken * 3,
                _ => left * taken * 4 < lanes * 3,
            };
            if idle && !outermost {
                return None;
            }
            let place = cx.div(lane, &Sym::int(below));
            let first = if taken == 1 {
                Sym::zero()
            } else if outermost || left == 1 {
                place
            } else {
                cx.rem(&place, &Sym::int(taken))
            };
            let digit = Digit {
                first,
                step: taken,
                iterations,
            };
            digits.push((digit, extent.clone()));
            below *= taken;
            lanes = if outermost { 1 } else { left };
        }
        digits.reverse();
        let busy = (below < threads).then(|| Sym::int(below));
        Some(Split { digits, busy })
    }

    fn walk(mut self, function: &mut Function, tile: &Tile, way: Way, lane: &Sym) -> Vec<Stmt> {
        let span = tile.span;
        let paces = paces_in(tile, way.width);
        let mut stmts = self.bind_places(function, span);
        let mut point = origin(tile);
        let cx = &function.cx;
        for ((digit, _), paces) in self.digits.iter().zip(&paces) {
            let sides = [
                (&paces.source, &mut point.source),
                (&paces.dest, &mut point.dest),
            ];
            for (pace, reach) in sides {
                if digit.starts_at_first(pace) {
                    pace.go(cx, reach, &digit.first);
                }
            }
        }
        if self.digits.iter().any(|(d, _)| d.is_loop()) {
            if !tile.source_layout.scattered {
                hoist(function, "from", &mut point.source, span, &mut stmts);
            }
            if !tile.dest_layout.scattered {
                hoist(function, "to", &mut point.dest, span, &mut stmts);
            }
        }

        let mut loops = Vec::new();
        let mut conditions = Vec::new();
        for (axis, ((digit, extent), paces)) in self.digits.iter().zip(&paces).enumerate() {
            let step = Sym::int(digit.step);
            let mut at = digit.first.clone();
            match digit.iterations {
                Iterations::Exactly(1) | Iterations::Ragged(1) => {}
                Iterations::Exactly(iterations) | Iterations::Ragged(iterations) => {
                    let hi = Sym::int(iterations);
                    let (local, iteration) =
                        build::index(function, "step", Role::Loop, Some(&hi), span);
                    at = &(&iteration * &step) + &at;
                    let sides = [
                        (&paces.source, &mut point.source),
                        (&paces.dest, &mut point.dest),
                    ];
                    for (pace, reach) in sides {
                        if digit.starts_at_first(pace) {
                            pace.iteration(&function.cx, reach, &iteration, digit.step);
                        } else {
                            pace.go(&function.cx, reach, &at);
                        }
                    }
                    loops.push(Loop {
                        local,
                        lo: Sym::zero(),
                        hi,
                        step: Sym::one(),
                    });
                }
                Iterations::Open => {
                    let name = format!("e{axis}");
                    let (local, e) = build::index(function, &name, Role::Loop, Some(extent), span);
                    paces.source.go(&function.cx, &mut point.source, &e);
                    paces.dest.go(&function.cx, &mut point.dest, &e);
                    at = e;
                    loops.push(Loop {
                        local,
                        lo: digit.first.clone(),
                        hi: extent.clone(),
                        step,
                    });
                }
            }
            if let Iterations::Ragged(_) = digit.iterations {
                conditions.push(less(&at, extent, span));
            }
            point.at.push(&at * &paces.unit);
        }
        let mut body = vector(tile, function, way, &point);
        if let Some(cond) = all(conditions, span) {
            body = only_if(cond, body, span);
        }
        stmts.extend(nest(loops, body, tile, budget(tile, way)));
        match &self.busy {
            Some(busy) => only_if(less(lane, busy, span), stmts, span),
            None => stmts,
        }
    }

    /// Declares the lane's first coordinates.
    fn bind_places(&mut self, function: &mut Function, span: Span) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for (axis, (digit, _)) in self.digits.iter_mut().enumerate() {
            let bound = Sym::int(digit.step);
            let name = format!("e{axis}");
            digit.first = bind(
                function,
                &name,
                &digit.first,
                Some(&bound),
                span,
                &mut stmts,
            );
        }
        stmts
    }
}

struct Loop {
    local: LocalId,
    lo: Sym,
    hi: Sym,
    step: Sym,
}

impl Loop {
    fn iterations(&self) -> Option<i64> {
        self.hi
            .as_int()
            .filter(|_| self.lo.is_zero() && self.step.is_one())
    }
}

/// The number of iterations to unroll.
fn budget(tile: &Tile, way: Way) -> i64 {
    let bytes = i64::from(way.width) * i64::try_from(tile.elem.bytes()).unwrap_or(1);
    if way.rare {
        RARE_ITERATIONS
    } else if tile.is_async {
        ITERATIONS
    } else {
        ITERATIONS.min(BYTES / bytes.max(1))
    }
}

/// `body` in the loops, outermost first. The inner ones are unrolled.
fn nest(loops: Vec<Loop>, mut body: Vec<Stmt>, tile: &Tile, mut budget: i64) -> Vec<Stmt> {
    for one in loops.into_iter().rev() {
        let unroll = match one.iterations() {
            Some(iterations) if iterations <= budget => {
                budget /= iterations.max(1);
                Some(Unroll::Full)
            }
            Some(_) if budget > 1 => {
                let by = u32::try_from(budget).unwrap_or(1);
                budget = 1;
                Some(Unroll::By(by))
            }
            _ => None,
        };
        let kind = StmtKind::For {
            local: one.local,
            lo: one.lo,
            hi: one.hi,
            step: one.step,
            unroll,
            body,
        };
        body = vec![Stmt::new(kind, tile.span)];
    }
    body
}

/// Vectors by number; thread `t` of `T` takes `t`, `t + T`, ….
fn numbered(
    function: &mut Function,
    tile: &Tile,
    way: Way,
    lane: &Sym,
    threads: &Sym,
    extents: &[Sym],
) -> Vec<Stmt> {
    let span = tile.span;
    let count: Sym = extents.iter().product();
    let once = function.cx.le(&count, threads).is_yes();
    let (Some(n), Some(t), false) = (count.as_int(), threads.as_int(), once) else {
        if once {
            let body = by_number(function, tile, way, lane, extents);
            return only_if(less(lane, &count, span), body, span);
        }
        let (local, e) = build::index(function, "e", Role::Loop, Some(&count), span);
        let one = Loop {
            local,
            lo: lane.clone(),
            hi: count,
            step: threads.clone(),
        };
        let body = by_number(function, tile, way, &e, extents);
        return nest(vec![one], body, tile, NUMBERED_ITERATIONS);
    };
    // A trip count that the C++ compiler can see.
    let iterations = Sym::int(n / t + i64::from(n % t != 0));
    let (local, iteration) = build::index(function, "step", Role::Loop, Some(&iterations), span);
    let number = &(&iteration * threads) + lane;
    let mut body = Vec::new();
    let e = bind(function, "e", &number, Some(&count), span, &mut body);
    let vector = by_number(function, tile, way, &e, extents);
    if n % t == 0 {
        body.extend(vector);
    } else {
        body.extend(only_if(less(&e, &count, span), vector, span));
    }
    let one = Loop {
        local,
        lo: Sym::zero(),
        hi: iterations,
        step: Sym::one(),
    };
    nest(vec![one], body, tile, NUMBERED_ITERATIONS)
}

/// Vector number `e` of the tile, whose `extents` are in vectors.
fn by_number(
    function: &mut Function,
    tile: &Tile,
    way: Way,
    e: &Sym,
    extents: &[Sym],
) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    let mut coordinates = Vec::new();
    let mut rest = e.clone();
    for (axis, extent) in extents.iter().enumerate().rev() {
        let at = if axis == 0 {
            rest.clone()
        } else {
            function.cx.rem(&rest, extent)
        };
        rest = function.cx.div(&rest, extent);
        let name = format!("e{axis}");
        let mut bound = Vec::new();
        coordinates.push(bind(
            function,
            &name,
            &at,
            Some(extent),
            tile.span,
            &mut bound,
        ));
        stmts.splice(0..0, bound);
    }
    coordinates.reverse();
    let point: Point = point(tile, &function.cx, way.width, &coordinates);
    stmts.extend(vector(tile, function, way, &point));
    stmts
}

/// Puts the place so far in a variable, so that iterations add to it.
fn hoist(function: &mut Function, name: &str, reach: &mut Reach, span: Span, out: &mut Vec<Stmt>) {
    let sum = reach.sum();
    if !sum.is_poison() {
        reach.offset = bind(function, name, &sum, None, span, out);
        reach.steps.clear();
    }
}

/// A variable for `value`, unless it is a constant or a variable already.
fn bind(
    function: &mut Function,
    name: &str,
    value: &Sym,
    bound: Option<&Sym>,
    span: Span,
    out: &mut Vec<Stmt>,
) -> Sym {
    if value.as_int().is_some() || value.as_var().is_some() {
        return value.clone();
    }
    let (local, sym) = build::index(function, name, Role::Value, bound, span);
    let value = Some(Expr::index(value.clone(), span));
    out.push(Stmt::new(StmtKind::Let { local, value }, span));
    sym
}

fn only_if(mut cond: Expr, mut then: Vec<Stmt>, span: Span) -> Vec<Stmt> {
    if let [
        Stmt {
            kind:
                StmtKind::If {
                    cond: inner,
                    then: body,
                    otherwise,
                },
            ..
        },
    ] = then.as_mut_slice()
        && otherwise.is_empty()
    {
        cond = both(cond, inner.clone(), span);
        then = std::mem::take(body);
    }
    let kind = StmtKind::If {
        cond,
        then,
        otherwise: Vec::new(),
    };
    vec![Stmt::new(kind, span)]
}
