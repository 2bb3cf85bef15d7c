//! The places that calls of the user's C++ may modify: memory passed by pointer, and variables that
//! the function may take by reference.

use super::state::Place;
use crate::ir::{Arg, Expr, ExprKind, Function, Visit};
use crate::symbolic::Sym;

/// Collects these places.
pub struct CallArguments<'a> {
    function: &'a Function,
    pub places: Vec<Place>,
}

impl<'a> CallArguments<'a> {
    pub fn new(function: &'a Function) -> Self {
        Self {
            function,
            places: Vec::new(),
        }
    }

    fn argument(&mut self, arg: &Arg) {
        match arg {
            Arg::Pointer(view) => self.places.push(Place::Array(view.buffer)),
            Arg::Cast(_, inner) => self.argument(inner),
            Arg::Value(value) => match &*value.kind {
                ExprKind::Local(id) => {
                    let local = self.function.locals.get(id.index());
                    if local.is_none_or(|l| l.mutable) {
                        self.places.push(Place::Local(*id));
                    }
                }
                ExprKind::Load(access) => self.places.push(Place::Array(access.view.buffer)),
                _ => {}
            },
            Arg::Null => {}
        }
    }
}

impl Visit for CallArguments<'_> {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Call(call) = &*e.kind {
            call.args.iter().for_each(|arg| self.argument(arg));
        }
    }

    fn sym(&mut self, _: &Sym) {}
}
