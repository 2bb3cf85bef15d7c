//! Of one value: over which units it is the same, given what is known of locals and of memory.

use std::collections::BTreeMap;

use super::indices::Indices;
use super::memory::{Changes, Content, content};
use super::scope::{CauseKind, Scope, Uniform};
use crate::ir::{
    Access, BufferId, Expr, ExprKind, Fits, Function, Intrinsic, Kernel, Level, LocalId, VarHome,
    View,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym};

/// What each thread has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Local(LocalId),
    /// A `local` array, all of its elements.
    Array(BufferId),
}

/// What is known at one point of the kernel.
pub struct Values<'a> {
    pub function: &'a Function,
    pub kernel: &'a Kernel,
    pub changes: Changes,
    pub indices: Indices,
    /// Those that are missing are the same everywhere.
    pub state: BTreeMap<Place, Uniform>,
}

/// A part of an expression.
struct Part {
    value: Uniform,
    /// It is made of thread numbers and constants alone, with such a number in it.
    of_thread: bool,
    constant: bool,
}

impl Part {
    fn data(value: Uniform) -> Self {
        Self {
            value,
            of_thread: false,
            constant: false,
        }
    }
}

impl Values<'_> {
    pub fn at(&self, place: Place) -> Uniform {
        self.state
            .get(&place)
            .copied()
            .unwrap_or(Uniform::EVERYWHERE)
    }

    pub fn expr(&self, e: &Expr) -> Uniform {
        self.settled(e, self.part(e))
    }

    /// The value for every thread, where the number of the thread alone determines it.
    pub fn of_thread(&self, e: &Expr) -> Option<Vec<i128>> {
        self.part(e)
            .of_thread
            .then(|| self.indices.of_expr(self.function, e))?
    }

    fn settled(&self, e: &Expr, part: Part) -> Uniform {
        let scope = match part.of_thread && !part.value.is_everywhere() {
            true => self.indices.scope_of_expr(self.function, e),
            false => None,
        };
        scope.map_or(part.value, |scope| part.value.exactly(scope))
    }

    fn part(&self, e: &Expr) -> Part {
        match &*e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Float(_) => Part {
                value: Uniform::EVERYWHERE,
                of_thread: false,
                constant: true,
            },
            ExprKind::Index(sym) => self.part_of_sym(sym),
            ExprKind::Param(_) => Part::data(Uniform::EVERYWHERE),
            ExprKind::Local(id) => Part {
                value: self.at(Place::Local(*id)),
                of_thread: self.indices.has(*id),
                constant: false,
            },
            ExprKind::Unary(_, a) => self.joined(&[a]),
            ExprKind::Cast(a) => self.joined(&[a]),
            ExprKind::Binary(_, a, b) => self.joined(&[a, b]),
            ExprKind::Select(a, b, c) => self.joined(&[a, b, c]),
            ExprKind::Math(_, operands) => self.joined(&operands.iter().collect::<Vec<_>>()),
            ExprKind::Load(access) => Part::data(self.load(access)),
            ExprKind::Intrinsic(of, operands) => self.hardware(*of, operands, e.span),
            ExprKind::Call(_) => {
                Part::data(Uniform::at_least(Scope::Thread, CauseKind::Call, e.span))
            }
            ExprKind::Fits(fits) => Part::data(self.fits(fits)),
        }
    }

    fn fits(&self, fits: &Fits) -> Uniform {
        self.syms(fits.syms())
    }

    fn joined(&self, operands: &[&Expr]) -> Part {
        let parts: Vec<Part> = operands.iter().map(|e| self.part(e)).collect();
        let whole = parts.iter().all(|p| p.of_thread || p.constant);
        if whole {
            let values = parts.iter().map(|p| p.value);
            return Part {
                value: values.fold(Uniform::EVERYWHERE, Uniform::meet),
                of_thread: parts.iter().any(|p| p.of_thread),
                constant: parts.iter().all(|p| p.constant),
            };
        }
        let settled = operands
            .iter()
            .zip(parts)
            .map(|(e, part)| self.settled(e, part));
        Part::data(settled.fold(Uniform::EVERYWHERE, Uniform::meet))
    }

    fn hardware(&self, of: Intrinsic, operands: &[Expr], span: Span) -> Part {
        let value = match of {
            Intrinsic::LaneAcross => {
                let read = Uniform::at_least(Scope::Thread, CauseKind::Hardware, span);
                let operands = operands.iter().map(|e| self.expr(e).perhaps());
                operands.fold(read, Uniform::meet)
            }
            Intrinsic::Block(axis) => {
                let cluster = self.kernel.cluster.get(usize::from(axis));
                match cluster {
                    Some(1) => Uniform::within(Scope::Cluster, CauseKind::Hardware, span),
                    _ => Uniform::within(Scope::Block, CauseKind::Hardware, span),
                }
            }
            of => {
                let level: Level = of.info().level;
                Uniform::within(Scope::of(level), CauseKind::Hardware, span)
            }
        };
        Part {
            value,
            of_thread: matches!(of, Intrinsic::Thread | Intrinsic::Warp),
            constant: false,
        }
    }

    pub fn syms<'s>(&self, syms: impl IntoIterator<Item = &'s Sym>) -> Uniform {
        let values = syms.into_iter().map(|s| self.sym(s));
        values.fold(Uniform::EVERYWHERE, Uniform::meet)
    }

    pub fn sym(&self, sym: &Sym) -> Uniform {
        let part = self.part_of_sym(sym);
        if part.of_thread && !part.value.is_everywhere() {
            let scope = self.indices.scope_of_sym(self.function, sym);
            return scope.map_or(part.value, |scope| part.value.exactly(scope));
        }
        part.value
    }

    fn part_of_sym(&self, sym: &Sym) -> Part {
        let rough = sym
            .vars()
            .into_iter()
            .fold(Uniform::EVERYWHERE, |all, var| all.meet(self.var(var)));
        let of_thread = !sym.vars().is_empty() && self.is_of_thread(sym);
        if rough.is_everywhere() || of_thread {
            return Part {
                value: rough,
                of_thread,
                constant: sym.as_int().is_some(),
            };
        }
        // What thread numbers alone determine, and the rest term by term.
        let own = |_: i64, atoms: &[Atom]| {
            !atoms.is_empty() && atoms.iter().all(|a| self.is_atom_of_thread(a))
        };
        let numbers = sym.part(own);
        let mut value = match numbers.is_zero() {
            true => Uniform::EVERYWHERE,
            false => self.sym(&numbers),
        };
        for (_, atoms) in sym.terms().filter(|(coef, atoms)| !own(*coef, atoms)) {
            for atom in atoms {
                value = value.meet(self.atom(atom));
            }
        }
        Part::data(value)
    }

    fn var(&self, var: crate::symbolic::Var) -> Uniform {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => self.at(Place::Local(*id)),
            _ => Uniform::EVERYWHERE,
        }
    }

    fn atom(&self, atom: &Atom) -> Uniform {
        match atom {
            Atom::Var(var) => match self.function.var_home.get(var) {
                Some(VarHome::Local(id)) if self.indices.has(*id) => self.sym(&Sym::var(*var)),
                _ => self.var(*var),
            },
            // Quotients of thread numbers are the same in wider units.
            Atom::Div(a, b) | Atom::Rem(a, b) => {
                let value = self.sym(a).meet(self.sym(b));
                let of_thread = self.is_of_thread(a) && self.is_of_thread(b);
                if of_thread { value } else { value.perhaps() }
            }
            Atom::Min(a, b) | Atom::Max(a, b) => self.sym(a).meet(self.sym(b)),
        }
    }

    fn is_of_thread(&self, sym: &Sym) -> bool {
        let mut vars = sym.vars().into_iter();
        vars.all(|var| match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => self.indices.has(*id),
            _ => false,
        })
    }

    fn is_atom_of_thread(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(var) => self.is_of_thread(&Sym::var(*var)),
            Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                self.is_of_thread(a) && self.is_of_thread(b)
            }
        }
    }

    fn load(&self, access: &Access) -> Uniform {
        let address = self.sym(&access.address());
        self.content(access.view.buffer, access.span).meet(address)
    }

    /// All elements of a view.
    pub fn view(&self, view: &View) -> Uniform {
        let limits = view.valid.iter().flat_map(|v| v.lo.iter().chain(&v.hi));
        let syms = view.shape.iter().chain(&view.strides).chain(limits);
        let place = self.syms(syms.chain([&view.offset]));
        self.content(view.buffer, view.span).meet(place)
    }

    pub fn content(&self, id: BufferId, at: Span) -> Uniform {
        match content(self.function, self.kernel, &self.changes, id) {
            Content::Common => Uniform::EVERYWHERE,
            Content::PerBlock => Uniform::at_least(Scope::Block, CauseKind::PerBlock(id), at),
            Content::Changing => Uniform::at_least(Scope::Thread, CauseKind::Written(id), at),
            Content::Escapes => Uniform::at_least(Scope::Thread, CauseKind::Escapes(id), at),
            Content::Own => self.at(Place::Array(id)),
            Content::Fragment => Uniform::within(Scope::Thread, CauseKind::Fragment(id), at),
        }
    }
}
