//! The uniformity of a single value, given the facts about locals and memory.

use std::cell::RefCell;

use super::evaluate::Evaluate;
use super::indices::{Active, Indices, List};
use super::memory::{Changes, Content, content};
use super::scope::{Cause, CauseKind, Limit, Scope, Uniform};
use super::state::{Place, State, element};
use crate::ir::{
    Access, BinOp, BufferId, Expr, ExprKind, Function, Intrinsic, Kernel, Level, Scalar, VarHome,
    View,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// The facts at one point of the kernel.
pub struct Values<'a> {
    pub function: &'a Function,
    pub kernel: &'a Kernel,
    pub changes: Changes,
    pub indices: Indices,
    pub active: Active,
    pub state: State,
}

/// The class of a subexpression.
enum Part {
    Constant,
    /// A function of thread numbers and constants, with the finest cause of its divergence.
    OfThread(Limit),
    Data(Uniform),
}

impl Part {
    fn cause(&self) -> Option<Cause> {
        match self {
            Part::OfThread(limit) => limit.cause,
            Part::Constant | Part::Data(_) => None,
        }
    }

    fn joined(parts: impl IntoIterator<Item = Part>) -> Option<Part> {
        let mut all = Part::Constant;
        for part in parts {
            all = match (all, part) {
                (_, Part::Data(_)) => return None,
                (Part::OfThread(a), Part::OfThread(b)) => Part::OfThread(a.meet(b)),
                (all, Part::Constant) => all,
                (_, part) => part,
            };
        }
        Some(all)
    }
}

impl Values<'_> {
    fn evaluate(&self) -> Evaluate<'_> {
        Evaluate {
            function: self.function,
            indices: &self.indices,
            state: &self.state,
            vars: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    pub fn expr(&self, e: &Expr) -> Uniform {
        self.resolved(e, self.part(e))
    }

    /// The same, and the value for every thread.
    pub fn assigned(&mut self, e: &Expr) -> Uniform {
        let part = self.part(e);
        let list = match &part {
            Part::Constant => self.evaluate().number(e, 0).map(List::Same),
            Part::OfThread(_) => self.evaluate().list(e),
            Part::Data(value) => return *value,
        };
        match list {
            Some(list) => self.of_list(list, part.cause()),
            None => self.resolved(e, part),
        }
    }

    pub fn of_list(&mut self, list: List, cause: Option<Cause>) -> Uniform {
        let scope = match &list {
            List::Same(_) => Some(Scope::Grid),
            List::PerThread(_) => self.indices.scope(&self.active, |t| list.at(t)),
        };
        let known = self.indices.add(list);
        Uniform::exactly(scope.unwrap_or(Scope::Thread), cause).with(Some(known))
    }

    /// A condition. `wanted`: with its truth for every thread, where thread numbers determine it.
    pub fn condition(&self, cond: &Expr, wanted: bool) -> (Uniform, Option<List>) {
        let part = self.part(cond);
        let truths = match &part {
            Part::OfThread(_) if wanted => self.evaluate().list(cond),
            _ => None,
        };
        let computed = truths.as_ref().and_then(|list| {
            let scope = self.indices.scope(&self.active, |t| list.at(t))?;
            Some(Uniform::exactly(scope, part.cause()))
        });
        let value = computed.unwrap_or_else(|| self.resolved(cond, part));
        let truths = truths.filter(|_| !value.is_everywhere());
        (value, truths)
    }

    fn resolved(&self, e: &Expr, part: Part) -> Uniform {
        let cause = match part {
            Part::Constant => return Uniform::EVERYWHERE,
            Part::OfThread(limit) => limit.cause,
            Part::Data(value) => return value,
        };
        match self.evaluate().scope(&self.active, e) {
            Some(scope) => Uniform::exactly(scope, cause),
            None if self.indices.is_spent() => {
                Uniform::at_least(Scope::Thread, CauseKind::Complex, e.span)
            }
            None => match &*e.kind {
                ExprKind::Index(sym) => self.terms(sym, Uniform::sum_with),
                ExprKind::Local(id) => self.state.at(Place::Local(*id)).with(None),
                ExprKind::Load(access) => self.load(access),
                _ => self.combined(e, self.operands(e)),
            },
        }
    }

    fn part(&self, e: &Expr) -> Part {
        let _ = self.indices.spend(1);
        match &*e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Float(_) => Part::Constant,
            ExprKind::Index(sym) => self.part_of_sym(sym),
            ExprKind::Param(_) => Part::Data(Uniform::EVERYWHERE),
            ExprKind::Local(id) => self.part_of_place(Place::Local(*id)),
            ExprKind::Load(access) => {
                match element(self.function, access).map(|at| self.part_of_place(at)) {
                    Some(Part::OfThread(limit)) => Part::OfThread(limit),
                    _ => Part::Data(self.load(access)),
                }
            }
            ExprKind::Intrinsic(of, operands) => self.hardware(*of, operands, e.span),
            ExprKind::Call(_) => {
                Part::Data(Uniform::at_least(Scope::Thread, CauseKind::Call, e.span))
            }
            ExprKind::Fits(fits) => Part::Data(self.syms(fits.syms()).without_divergence()),
            ExprKind::Unary(..)
            | ExprKind::Cast(_)
            | ExprKind::Binary(..)
            | ExprKind::Select(..)
            | ExprKind::Math(..) => {
                let operands = operands(e);
                let parts: Vec<Part> = operands.iter().map(|o| self.part(o)).collect();
                if let ExprKind::Select(..) = &*e.kind
                    && let [Part::Data(_), a, b] = parts.as_slice()
                    && !matches!((a, b), (Part::Data(_), _) | (_, Part::Data(_)))
                    && self.evaluate().list(e).is_some()
                {
                    // Both alternatives have the same values.
                    return Part::joined(parts.into_iter().skip(1)).unwrap_or(Part::Constant);
                }
                let resolved = |parts: Vec<Part>| {
                    let parts = operands.iter().zip(parts);
                    parts.map(|(o, part)| self.resolved(o, part)).collect()
                };
                match parts.iter().any(|part| matches!(part, Part::Data(_))) {
                    true => Part::Data(self.combined(e, resolved(parts))),
                    false => Part::joined(parts).unwrap_or(Part::Constant),
                }
            }
        }
    }

    fn operands(&self, e: &Expr) -> Vec<Uniform> {
        operands(e).into_iter().map(|o| self.expr(o)).collect()
    }

    /// The result of rules, from the facts about the operands.
    fn combined(&self, e: &Expr, values: Vec<Uniform>) -> Uniform {
        let all = |values: &[Uniform]| {
            values
                .iter()
                .copied()
                .fold(Uniform::EVERYWHERE, Uniform::meet)
        };
        match (&*e.kind, values.as_slice()) {
            (ExprKind::Unary(..), [a]) => a.with(None),
            (ExprKind::Cast(of), [a]) => match is_lossless(of.ty, e.ty) {
                true => a.with(None),
                false => a.without_divergence(),
            },
            (ExprKind::Select(_, a, b), [cond, one, other]) => match are_unequal(a, b) {
                true => cond.with(None),
                false => one.either(*other, *cond),
            },
            (ExprKind::Binary(op, a, b), [one, other]) => match op {
                BinOp::LogicAnd | BinOp::LogicOr => one.meet(*other),
                BinOp::Add | BinOp::Sub => one.sum_with(*other),
                op if op.is_comparison() => one.sum_with(*other),
                BinOp::Mul if self.is_nonzero(b) => one.with(None),
                BinOp::Mul if self.is_nonzero(a) => other.with(None),
                BinOp::Div if e.ty.is_float() && self.is_nonzero(b) => one.with(None),
                _ => all(&values).without_divergence(),
            },
            _ => all(&values).without_divergence(),
        }
    }

    /// Whether the value is uniform and not zero.
    fn is_nonzero(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Int(value) => *value != 0,
            ExprKind::Float(value) => *value != 0.0,
            ExprKind::Index(sym) => match sym.as_int() {
                Some(value) => value != 0,
                None => self.is_of_dimensions(sym),
            },
            ExprKind::Cast(e) => self.is_nonzero(e),
            _ => false,
        }
    }

    /// Whether the value depends only on sizes. It may be taken as nonzero: where a size is 0, the
    /// value is not used.
    fn is_of_dimensions(&self, sym: &Sym) -> bool {
        let home = |var| self.function.var_home.get(&var);
        let mut vars = sym.vars().into_iter();
        vars.all(|var| matches!(home(var), Some(VarHome::Dim(_))))
    }

    fn hardware(&self, of: Intrinsic, operands: &[Expr], span: Span) -> Part {
        let value = match of {
            Intrinsic::Thread | Intrinsic::Warp => {
                let scope = match of {
                    Intrinsic::Warp => Scope::Warp,
                    _ => Scope::Thread,
                };
                let limit = Uniform::within(scope, CauseKind::Hardware, span).limit();
                return Part::OfThread(limit);
            }
            Intrinsic::Kept => {
                let operands = operands.iter().map(|e| self.expr(e));
                return Part::Data(operands.fold(Uniform::EVERYWHERE, Uniform::meet));
            }
            Intrinsic::LaneAcross => {
                let read = Uniform::at_least(Scope::Thread, CauseKind::Hardware, span);
                let operands = operands.iter().map(|e| self.expr(e).without_divergence());
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
        Part::Data(value)
    }

    /// A value that is determined by several others, such as the place of a view.
    pub fn syms<'s>(&self, syms: impl IntoIterator<Item = &'s Sym>) -> Uniform {
        let values = syms.into_iter().map(|s| self.sym(s));
        values.fold(Uniform::EVERYWHERE, Uniform::meet)
    }

    pub fn sym(&self, sym: &Sym) -> Uniform {
        self.resolved_sym(sym, Uniform::sum_with)
    }

    /// The address of an element: each index alone determines the element.
    pub fn address(&self, access: &Access) -> Uniform {
        let syms = access.indices.iter().chain([&access.view.offset]);
        let values = syms.map(|s| self.resolved_sym(s, Uniform::meet));
        values.fold(Uniform::EVERYWHERE, Uniform::meet)
    }

    fn resolved_sym(&self, sym: &Sym, join: fn(Uniform, Uniform) -> Uniform) -> Uniform {
        let computed = self.computed(self.part_of_syms([sym]), sym);
        computed.unwrap_or_else(|| self.terms(sym, join))
    }

    fn part_of_sym(&self, sym: &Sym) -> Part {
        let part = self.part_of_syms([sym]);
        part.unwrap_or_else(|| Part::Data(self.terms(sym, Uniform::sum_with)))
    }

    /// `None`: they contain other terms than constants and thread numbers.
    fn part_of_syms<const N: usize>(&self, syms: [&Sym; N]) -> Option<Part> {
        let vars = syms.into_iter().flat_map(Sym::vars);
        Part::joined(vars.map(|var| self.part_of_var(var)))
    }

    fn computed(&self, part: Option<Part>, sym: &Sym) -> Option<Uniform> {
        match part? {
            Part::Constant => Some(Uniform::EVERYWHERE),
            Part::OfThread(limit) => {
                let scope = self.evaluate().scope_of_sym(&self.active, sym)?;
                Some(Uniform::exactly(scope, limit.cause))
            }
            Part::Data(_) => None,
        }
    }

    fn part_of_var(&self, var: Var) -> Part {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => self.part_of_place(Place::Local(*id)),
            _ => Part::Data(Uniform::EVERYWHERE),
        }
    }

    fn part_of_place(&self, place: Place) -> Part {
        let value = self.state.at(place);
        match value.known {
            Some(_) => Part::OfThread(value.limit()),
            None => Part::Data(value),
        }
    }

    /// The result of rules, from the facts about the terms.
    fn terms(&self, sym: &Sym, join: fn(Uniform, Uniform) -> Uniform) -> Uniform {
        let vars = sym.sorted_vars();
        let rough = vars.iter().map(|var| match self.part_of_var(*var) {
            Part::Data(value) => value,
            _ => Uniform::within(Scope::Thread, CauseKind::Complex, Span::default()),
        });
        if rough
            .fold(Uniform::EVERYWHERE, Uniform::meet)
            .is_everywhere()
        {
            return Uniform::EVERYWHERE;
        }
        // The part that thread numbers alone determine; then the rest term by term.
        let own =
            |_: i64, atoms: &[Atom]| !atoms.is_empty() && atoms.iter().all(|a| self.is_known(a));
        let numbers = sym.part(own);
        let mut value = match numbers.is_zero() {
            true => Uniform::EVERYWHERE,
            false => {
                let computed = self.computed(self.part_of_syms([&numbers]), &numbers);
                computed.unwrap_or_else(|| {
                    Uniform::at_least(Scope::Thread, CauseKind::Complex, Span::default())
                })
            }
        };
        for (_, atoms) in sym.terms().filter(|(coef, atoms)| !own(*coef, atoms)) {
            value = join(value, self.product(atoms, join));
        }
        value
    }

    fn product(&self, atoms: &[Atom], join: fn(Uniform, Uniform) -> Uniform) -> Uniform {
        let is_size = |atom: &&Atom| match atom {
            Atom::Var(var) => self.is_of_dimensions(&Sym::var(*var)),
            Atom::Div(a, b) => self.is_of_dimensions(a) && self.is_of_dimensions(b),
            Atom::Rem(..) | Atom::Min(..) | Atom::Max(..) => false,
        };
        let rest: Vec<&Atom> = atoms.iter().filter(|a| !is_size(a)).collect();
        let values = rest.iter().map(|atom| self.atom(atom, join));
        let all = values.fold(Uniform::EVERYWHERE, Uniform::meet);
        match rest.len() <= 1 {
            true => all,
            false => all.without_divergence(),
        }
    }

    fn atom(&self, atom: &Atom, join: fn(Uniform, Uniform) -> Uniform) -> Uniform {
        match atom {
            Atom::Var(var) => match self.part_of_var(*var) {
                Part::Data(value) => value,
                _ => self.resolved_sym(&Sym::var(*var), join),
            },
            Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                let whole = Sym::atom(atom.clone());
                let computed = self.computed(self.part_of_syms([a, b]), &whole);
                // Quotients of different values may be equal.
                computed.unwrap_or_else(|| self.sym(a).meet(self.sym(b)).without_divergence())
            }
        }
    }

    fn is_known(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(var) => !matches!(self.part_of_var(*var), Part::Data(_)),
            Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                self.part_of_syms([a, b]).is_some()
            }
        }
    }

    fn load(&self, access: &Access) -> Uniform {
        let is_of_device = self.is_of_device(access.view.buffer);
        let content = match element(self.function, access) {
            Some(place) => self.state.at(place),
            None if is_of_device && self.changes.is_common(access) => Uniform::EVERYWHERE,
            None => self.content(access.view.buffer, access.span),
        };
        content.meet(self.address(access))
    }

    fn is_of_device(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage.is_global())
    }

    /// All elements of a view.
    pub fn view(&self, view: &View) -> Uniform {
        let limits = view.valid.iter().flat_map(|v| v.lo.iter().chain(&v.hi));
        let syms = view.shape.iter().chain(&view.strides).chain(limits);
        let place = self.syms(syms.chain([&view.offset]));
        self.content(view.buffer, view.span).meet(place)
    }

    pub fn content(&self, id: BufferId, at: Span) -> Uniform {
        match content(self.function, &self.changes, id) {
            Content::Common => Uniform::EVERYWHERE,
            Content::PerBlock => Uniform::at_least(Scope::Block, CauseKind::PerBlock(id), at),
            Content::Changing => Uniform::at_least(Scope::Thread, CauseKind::Written(id), at),
            Content::Escapes => Uniform::at_least(Scope::Thread, CauseKind::Escapes(id), at),
            Content::Own => self.state.at(Place::Array(id)),
            Content::Fragment => Uniform::within(Scope::Thread, CauseKind::Fragment(id), at),
        }
    }
}

fn operands(e: &Expr) -> Vec<&Expr> {
    match &*e.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => vec![a],
        ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Select(a, b, c) => vec![a, b, c],
        ExprKind::Math(_, operands) => operands.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether the conversion maps different values to different values. Indices are assumed to fit
/// into integers of 32 bits.
fn is_lossless(from: Scalar, to: Scalar) -> bool {
    match (from.is_float(), to.is_float()) {
        (false, true) => to.bytes() >= 4,
        (true, false) => false,
        _ => {
            to != Scalar::Bool
                && (to.bits() >= from.bits() || (from == Scalar::Index && to.bytes() >= 4))
        }
    }
}

fn are_unequal(a: &Expr, b: &Expr) -> bool {
    match (&*a.kind, &*b.kind) {
        (ExprKind::Int(a), ExprKind::Int(b)) => a != b,
        (ExprKind::Bool(a), ExprKind::Bool(b)) => a != b,
        (ExprKind::Float(a), ExprKind::Float(b)) => a != b,
        _ => false,
    }
}
