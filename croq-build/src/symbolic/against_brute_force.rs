//! Compares the prover's answers to random questions over small domains with an evaluation of every
//! assignment.

use std::collections::HashSet;

use proptest::prelude::*;

use super::{Ctx, Sym, Truth, Var};
use crate::sorted::SortedSet;

const VARS: usize = 4;

#[derive(Clone, Debug)]
enum Expr {
    Int(i64),
    Var(usize),
    Binary(Op, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    CeilDiv,
    Min,
    Max,
    AlignUp,
    AlignDown,
}

impl Expr {
    fn eval(&self, at: &[i128]) -> Option<i128> {
        let (op, a, b) = match self {
            Expr::Int(v) => return Some(i128::from(*v)),
            Expr::Var(v) => return at.get(*v).copied(),
            Expr::Binary(op, a, b) => (op, a.eval(at)?, b.eval(at)?),
        };
        match op {
            Op::Add => Some(a + b),
            Op::Sub => Some(a - b),
            Op::Mul => Some(a * b),
            Op::Div => a.checked_div(b),
            Op::Rem => a.checked_rem(b),
            Op::CeilDiv => (a + b - 1).checked_div(b),
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
            Op::AlignUp => (a + b - 1).checked_div(b).map(|q| q * b),
            Op::AlignDown => a.checked_div(b).map(|q| q * b),
        }
    }

    fn build(&self, cx: &Ctx) -> Sym {
        let (op, a, b) = match self {
            Expr::Int(v) => return Sym::int(*v),
            Expr::Var(v) => return Sym::var(Var(*v as u32)),
            Expr::Binary(op, a, b) => (op, a.build(cx), b.build(cx)),
        };
        match op {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => cx.div(&a, &b),
            Op::Rem => cx.rem(&a, &b),
            Op::CeilDiv => cx.cdiv(&a, &b),
            Op::Min => cx.min(&a, &b),
            Op::Max => cx.max(&a, &b),
            Op::AlignUp => cx.align_up(&a, &b),
            Op::AlignDown => cx.align_down(&a, &b),
        }
    }
}

/// An expression over the first `vars` variables.
fn expr(vars: usize, depth: u32) -> BoxedStrategy<Expr> {
    let leaf = if vars == 0 {
        (-4i64..9).prop_map(Expr::Int).boxed()
    } else {
        prop_oneof![
            2 => (-4i64..9).prop_map(Expr::Int),
            5 => (0..vars).prop_map(Expr::Var),
        ]
        .boxed()
    };
    let op = prop_oneof![
        6 => Just(Op::Add),
        4 => Just(Op::Sub),
        5 => Just(Op::Mul),
        5 => Just(Op::Div),
        3 => Just(Op::Rem),
        2 => Just(Op::CeilDiv),
        2 => Just(Op::Min),
        2 => Just(Op::Max),
        1 => Just(Op::AlignUp),
        1 => Just(Op::AlignDown),
    ];
    leaf.prop_recursive(depth, 12, 2, move |inner| {
        (op.clone(), inner.clone(), inner)
            .prop_map(|(op, a, b)| Expr::Binary(op, Box::new(a), Box::new(b)))
    })
    .boxed()
}

#[derive(Clone, Debug)]
struct Bounds {
    lo: Option<Expr>,
    hi: Option<Expr>,
}

/// Bounds: mostly `[0, small]`; sometimes unbounded, sometimes an earlier variable.
fn bounds(earlier: usize) -> BoxedStrategy<Bounds> {
    let lo = prop_oneof![
        5 => (0i64..2).prop_map(|v| Some(Expr::Int(v))),
        2 => (-4i64..3).prop_map(|v| Some(Expr::Int(v))),
        1 => expr(earlier, 1).prop_map(Some),
        1 => Just(None),
    ];
    let hi = prop_oneof![
        4 => (1i64..7).prop_map(|v| Some(Expr::Int(v))),
        4 => expr(earlier, 2).prop_map(Some),
        2 => Just(None),
    ];
    (lo, hi).prop_map(|(lo, hi)| Bounds { lo, hi }).boxed()
}

#[derive(Clone, Debug)]
enum Assumption {
    Le(Expr, Expr),
    Lt(Expr, Expr),
    Eq(Expr, Expr),
    Divides(Expr, Expr),
}

impl Assumption {
    fn holds(&self, at: &[i128]) -> bool {
        let both = |a: &Expr, b: &Expr| a.eval(at).zip(b.eval(at));
        match self {
            Assumption::Le(a, b) => both(a, b).is_some_and(|(a, b)| a <= b),
            Assumption::Lt(a, b) => both(a, b).is_some_and(|(a, b)| a < b),
            Assumption::Eq(a, b) => both(a, b).is_some_and(|(a, b)| a == b),
            Assumption::Divides(d, a) => {
                both(d, a).is_some_and(|(d, a)| a.checked_rem(d) == Some(0))
            }
        }
    }

    fn make(&self, cx: &mut Ctx) {
        let built = |a: &Expr, b: &Expr, cx: &Ctx| (a.build(cx), b.build(cx));
        match self {
            Assumption::Le(a, b) => {
                let (a, b) = built(a, b, cx);
                cx.assume_le(&a, &b);
            }
            Assumption::Lt(a, b) => {
                let (a, b) = built(a, b, cx);
                cx.assume_lt(&a, &b);
            }
            Assumption::Eq(a, b) => {
                let (a, b) = built(a, b, cx);
                cx.assume_eq(&a, &b);
            }
            Assumption::Divides(d, a) => {
                let (d, a) = built(d, a, cx);
                cx.assume_divides(&d, &a);
            }
        }
    }
}

fn assumption() -> impl Strategy<Value = Assumption> {
    let pair = || (expr(VARS, 2), expr(VARS, 1));
    prop_oneof![
        pair().prop_map(|(a, b)| Assumption::Le(a, b)),
        pair().prop_map(|(a, b)| Assumption::Lt(a, b)),
        pair().prop_map(|(a, b)| Assumption::Eq(a, b)),
        pair().prop_map(|(a, b)| Assumption::Divides(b, a)),
    ]
}

#[derive(Clone, Debug)]
struct World {
    bounds: Vec<Bounds>,
    outer: Vec<Assumption>,
    inner: Vec<Assumption>,
}

fn world() -> impl Strategy<Value = World> {
    let bounds =
        (bounds(0), bounds(1), bounds(2), bounds(3)).prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    let some = || prop::collection::vec(assumption(), 0..3);
    (bounds, some(), some()).prop_map(|(bounds, outer, inner)| World {
        bounds,
        outer,
        inner,
    })
}

impl World {
    fn build(&self) -> Ctx {
        let mut cx = Ctx::new();
        for (at, bounds) in self.bounds.iter().enumerate() {
            let (lo, hi) = (&bounds.lo, &bounds.hi);
            let lo = lo.as_ref().map(|lo| lo.build(&cx));
            let hi = hi.as_ref().map(|hi| hi.build(&cx));
            cx.new_var(["a", "b", "c", "d"][at], lo, hi);
        }
        self.outer.iter().for_each(|known| known.make(&mut cx));
        cx
    }

    /// All assignments, with samples for unbounded ends; each with whether the inner assumptions
    /// hold.
    fn assignments(&self) -> Vec<(Vec<i128>, bool)> {
        let mut all: Vec<Vec<i128>> = vec![Vec::new()];
        for bounds in &self.bounds {
            let mut longer = Vec::new();
            for at in all {
                let end = |e: &Option<Expr>| match e {
                    None => Some(None),
                    Some(e) => e.eval(&at).map(Some),
                };
                let (Some(lo), Some(hi)) = (end(&bounds.lo), end(&bounds.hi)) else {
                    continue;
                };
                let values: Vec<i128> = match (lo, hi) {
                    (Some(lo), Some(hi)) if hi - lo > 12 => (lo..lo + 5)
                        .chain(hi - 4..=hi)
                        .chain([(lo + hi) / 2])
                        .collect(),
                    (Some(lo), Some(hi)) => (lo..=hi).collect(),
                    (Some(lo), None) => (lo..lo + 6).chain([lo + 13, lo + 64]).collect(),
                    (None, Some(hi)) => (hi - 5..=hi).chain([hi - 13, hi - 64]).collect(),
                    (None, None) => (-4..6).chain([-64, 64]).collect(),
                };
                longer.extend(values.into_iter().map(|value| {
                    let mut at = at.clone();
                    at.push(value);
                    at
                }));
            }
            all = longer;
        }
        all.retain(|at| self.outer.iter().all(|known| known.holds(at)));
        all.into_iter()
            .map(|at| {
                let holds = self.inner.iter().all(|known| known.holds(&at));
                (at, holds)
            })
            .collect()
    }
}

fn value(e: &Sym, at: &[i128]) -> Option<i128> {
    e.evaluate(&|v| at.get(v.0 as usize).copied())
}

fn check(
    name: &str,
    answer: Truth,
    facts: impl Iterator<Item = bool>,
) -> Result<(), TestCaseError> {
    for fact in facts {
        match answer {
            Truth::Yes => prop_assert!(fact, "{name}: Yes, but it fails somewhere"),
            Truth::No => prop_assert!(!fact, "{name}: No, but it holds somewhere"),
            Truth::Unknown => {}
        }
    }
    Ok(())
}

fn same_meaning(
    name: &str,
    cx: &Ctx,
    expr: &Expr,
    built: &Sym,
    at: &[i128],
) -> Result<(), TestCaseError> {
    if built.is_poison() {
        return Ok(());
    }
    if let Some(expected) = expr.eval(at) {
        let got = value(built, at);
        prop_assert_eq!(
            got,
            Some(expected),
            "{}: {} at {:?}",
            name,
            cx.show(built),
            at
        );
    }
    Ok(())
}

/// Fewer cases than the default: each asks a dozen questions and tries up to thousands of
/// assignments.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases / 4,
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_hold_for_every_assignment(
        world in world(), a in expr(VARS, 3), b in expr(VARS, 2), drop in prop::collection::btree_set(0..VARS as u32, 0..4),
    ) {
        let mut cx = world.build();
        let all = world.assignments();
        let (x, y) = (a.build(&cx), b.build(&cx));
        for (at, _) in &all {
            same_meaning("constructed", &cx, &a, &x, at)?;
            same_meaning("constructed", &cx, &b, &y, at)?;
        }
        // Answers are kept: each question is also asked before some of the facts are known.
        let ask = |cx: &Ctx| (cx.simplify(&x), cx.range(&x), cx.constant_divisor(&x), cx.le(&x, &y), cx.eq(&x, &y));
        let outside = ask(&cx).0;
        cx.push_scope();
        for known in &world.inner {
            known.make(&mut cx);
            ask(&cx);
        }
        let pairs: Vec<(&[i128], i128, i128)> = all
            .iter()
            .filter(|(_, inner)| *inner)
            .filter_map(|(at, _)| Some((at.as_slice(), a.eval(at)?, b.eval(at)?)))
            .collect();
        let facts = |f: fn(i128, i128) -> bool| pairs.iter().map(move |(_, a, b)| f(*a, *b));
        check("le", cx.le(&x, &y), facts(|a, b| a <= b))?;
        check("lt", cx.lt(&x, &y), facts(|a, b| a < b))?;
        check("eq", cx.eq(&x, &y), facts(|a, b| a == b))?;
        check("ne", cx.ne(&x, &y), facts(|a, b| a != b))?;
        check("divides", cx.divides(&y, &x), pairs.iter().filter(|p| p.2 != 0).map(|(_, a, b)| a % b == 0))?;

        let (lo, hi) = cx.range(&x);
        let divisor = cx.constant_divisor(&x);
        let simple = cx.simplify(&x);
        let drop: SortedSet<Var> = drop.into_iter().map(Var).collect();
        let (sup, inf) = (cx.sup(&x, &drop), cx.inf(&x, &drop));
        for bound in sup.iter().chain(&inf) {
            prop_assert!(bound.vars().is_disjoint(&drop));
        }
        for (at, value_of_a, _) in &pairs {
            prop_assert!(lo.is_none_or(|lo| i128::from(lo) <= *value_of_a), "range {lo:?}");
            prop_assert!(hi.is_none_or(|hi| i128::from(hi) >= *value_of_a), "range {hi:?}");
            prop_assert!(divisor.is_none_or(|d| value_of_a % i128::from(d) == 0), "divisor {divisor:?}");
            same_meaning("simplify", &cx, &a, &simple, at)?;
            if let Some(sup) = sup.as_ref().and_then(|sup| value(sup, at)) {
                prop_assert!(sup >= *value_of_a, "sup {:?} at {:?}", sup, at);
            }
            if let Some(inf) = inf.as_ref().and_then(|inf| value(inf, at)) {
                prop_assert!(inf <= *value_of_a, "inf {:?} at {:?}", inf, at);
            }
        }
        cx.pop_scope();
        prop_assert_eq!(&cx.simplify(&x), &outside);
        for (at, _) in &all {
            same_meaning("simplify, outside", &cx, &a, &outside, at)?;
        }
        check("le, outside", cx.le(&x, &y), all.iter().filter_map(|(at, _)| Some(a.eval(at)? <= b.eval(at)?)))?;
    }

    #[test]
    fn substitution_means_the_same(world in world(), e in expr(VARS, 3), by in expr(VARS, 2), v in 0..VARS) {
        let cx = world.build();
        let var = Var(v as u32);
        let (built, value_of_v) = (e.build(&cx), by.build(&cx));
        let replaced = cx.substituted(&built, var, &value_of_v);
        prop_assume!(!replaced.is_poison());
        let with_little_work = cx.at_another_value(&built, var, &value_of_v);
        let all: HashSet<Vec<i128>> = world.assignments().into_iter().map(|(at, _)| at).collect();
        for at in &all {
            // The value must itself be in the variable's range.
            let Some(new) = by.eval(at) else { continue };
            let mut there = at.clone();
            there[v] = new;
            if let (true, Some(expected)) = (all.contains(&there), e.eval(&there)) {
                for found in [&replaced, &with_little_work] {
                    prop_assert_eq!(value(found, at), Some(expected), "{} at {:?}", cx.show(found), at);
                }
            }
        }
    }
}
