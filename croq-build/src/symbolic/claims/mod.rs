//! Tests with the questions that the compiler asks the prover, one claim per line.

mod conditions;
mod forms;
mod tiles;

use super::Truth::Yes;
use super::{Ctx, Sym, Var};

struct World {
    cx: Ctx,
}

impl World {
    fn new() -> World {
        World { cx: Ctx::new() }
    }

    /// A dimension, at least 1.
    fn dim(&mut self, name: &str) -> Sym {
        Sym::var(self.cx.new_var(name, Some(Sym::one()), None))
    }

    /// A variable in `[0, bound)`.
    fn below(&mut self, name: &str, bound: impl Into<Sym>) -> Sym {
        let hi = bound.into() - 1;
        Sym::var(self.cx.new_var(name, Some(Sym::zero()), Some(hi)))
    }

    fn free(&mut self, name: &str) -> Sym {
        Sym::var(self.cx.new_var(name, None, None))
    }

    fn div(&self, a: &Sym, b: impl Into<Sym>) -> Sym {
        self.cx.div(a, &b.into())
    }

    fn rem(&self, a: &Sym, b: impl Into<Sym>) -> Sym {
        self.cx.rem(a, &b.into())
    }

    fn cdiv(&self, a: &Sym, b: impl Into<Sym>) -> Sym {
        self.cx.cdiv(a, &b.into())
    }

    #[track_caller]
    fn le(&self, a: &Sym, b: impl Into<Sym>, expected: super::Truth) {
        let b = b.into();
        assert_eq!(
            self.cx.le(a, &b),
            expected,
            "{} <= {}",
            self.cx.show(a),
            self.cx.show(&b)
        );
    }

    #[track_caller]
    fn lt(&self, a: &Sym, b: impl Into<Sym>, expected: super::Truth) {
        let b = b.into();
        assert_eq!(
            self.cx.lt(a, &b),
            expected,
            "{} < {}",
            self.cx.show(a),
            self.cx.show(&b)
        );
    }

    #[track_caller]
    fn in_range(&self, a: &Sym, extent: impl Into<Sym>) {
        self.le(&Sym::zero(), a.clone(), Yes);
        self.lt(a, extent, Yes);
    }
}

impl From<&Sym> for Sym {
    fn from(e: &Sym) -> Sym {
        e.clone()
    }
}

fn only(e: &Sym) -> Var {
    e.as_var().expect("a variable")
}
