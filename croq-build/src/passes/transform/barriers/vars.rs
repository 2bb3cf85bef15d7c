//! The variables of a kernel: the level that computes each of them, and the units in which it is
//! uniform.

use std::collections::HashMap;

use crate::ir::{BinOp, Expr, ExprKind, Function, Intrinsic, Level, Role, Scalar, Stmt, StmtKind};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Atom, Ctx, Sym, Var};

#[derive(Clone, Debug)]
struct Info {
    /// The level of the code that defines it.
    home: Level,
    /// All threads of a unit of that level compute the same value.
    uniform: bool,
    /// An index of a `parallel` at this level: it distinguishes the units.
    digit: Option<Level>,
    /// The linear thread id itself.
    whole: bool,
    /// The value of a parallel index in terms of the linear thread id, where that has a variable.
    meaning: Option<Sym>,
}

/// The relation between the values of a variable in two threads of one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// Equal.
    Fixed,
    /// Distinguishes the threads.
    Digit,
    /// Any value within its bounds, independently for each thread.
    Free,
}

/// The relation between the iterations of a loop.
pub struct Iterations<'a> {
    /// The variables that an iteration sets.
    pub changing: &'a SortedSet<Var>,
    /// The loop's own variable, and its value in the previous iteration.
    pub last: Option<&'a (Var, Sym)>,
    /// The previous iteration, not any earlier one.
    pub only_one_ago: bool,
}

impl Iterations<'_> {
    /// Whether the value may differ in another iteration.
    pub fn change(&self, sym: &Sym) -> bool {
        let mut vars = sym.sorted_vars().iter();
        vars.any(|var| self.changing.contains(var))
    }
}

/// The computation of a parallel index. Two with the same signature always have the same value in a
/// thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Signature {
    Index(Sym),
    Int(i128),
    Intrinsic(Intrinsic),
    Binary(BinOp, Box<Signature>, Box<Signature>),
    Cast(Scalar, Box<Signature>),
    /// Different from every other signature.
    At(Span),
}

#[derive(Debug, Default)]
pub struct Vars {
    info: SortedMap<Var, Info>,
    /// Immutable scalars that are only names of expressions, resolved.
    definitions: SortedMap<Var, Sym>,
    /// The first parallel index with a given definition represents the others.
    canonical: HashMap<Signature, Var>,
    /// The first variable that is the linear thread id.
    thread: Option<Var>,
    /// A second variable with the same bounds: of another thread, or of an earlier iteration.
    twins: SortedMap<Var, Var>,
    earlier: SortedMap<Var, Var>,
    positions: SortedMap<(usize, Sym), Var>,
}

impl Vars {
    pub fn of_block(function: &Function, body: &[Stmt]) -> Vars {
        let mut vars = Vars::default();
        vars.block(function, body, Level::Block);
        vars
    }

    /// Treats each combination of values of these variables as a thread.
    pub fn distinguish(&mut self, vars: &[Var]) {
        for var in vars {
            let info = Info {
                home: Level::Thread,
                uniform: true,
                digit: Some(Level::Thread),
                whole: false,
                meaning: None,
            };
            self.info.insert(*var, info);
        }
    }

    pub(super) fn block(&mut self, function: &Function, stmts: &[Stmt], level: Level) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { local, value } => {
                    let Some(info) = function.locals.get(local.index()) else {
                        continue;
                    };
                    if let (Some(var), Some(value)) = (info.var, value) {
                        self.define(function, var, info.role, value, level);
                    }
                }
                StmtKind::For {
                    local,
                    lo,
                    hi,
                    step,
                    body,
                    ..
                } => {
                    if let Some(var) = function.locals.get(local.index()).and_then(|l| l.var) {
                        let uniform = [lo, hi, step]
                            .iter()
                            .all(|s| self.is_fixed(&self.resolve(&function.cx, s), level));
                        self.info.insert(
                            var,
                            Info {
                                home: level,
                                uniform,
                                digit: None,
                                whole: false,
                                meaning: None,
                            },
                        );
                    }
                    self.block(function, body, level);
                }
                StmtKind::While { prelude, body, .. } => {
                    self.block(function, prelude, level);
                    self.block(function, body, level);
                }
                StmtKind::If {
                    then, otherwise, ..
                } => {
                    self.block(function, then, level);
                    self.block(function, otherwise, level);
                }
                StmtKind::Parallel { level, body } => self.block(function, body, *level),
                StmtKind::SingleThread { body, .. } | StmtKind::Region { body, .. } => {
                    self.block(function, body, level);
                }
                _ => {}
            }
        }
    }

    fn define(&mut self, function: &Function, var: Var, role: Role, value: &Expr, level: Level) {
        if matches!(role, Role::Parallel(Level::Cluster | Level::Block)) {
            return;
        }
        let whole = matches!(&*value.kind, ExprKind::Intrinsic(Intrinsic::Thread, _));
        let digit_level = match role {
            Role::Parallel(own) => Some(own),
            _ => whole.then_some(Level::Thread),
        };
        if let Some(own) = digit_level {
            let info = Info {
                home: own,
                uniform: true,
                digit: Some(own),
                whole,
                meaning: self.in_threads(function, value),
            };
            self.info.insert(var, info);
            let signature = self.signature(&function.cx, value);
            let first = *self.canonical.entry(signature).or_insert(var);
            if first != var {
                self.definitions.insert(var, Sym::var(first));
            } else if whole {
                self.thread.get_or_insert(var);
            }
            return;
        }
        if let Some(sym) = as_sym(function, value) {
            let sym = self.resolve(&function.cx, &sym);
            self.definitions.insert(var, sym);
            return;
        }
        let uniform = self.is_uniform(function, value, level);
        self.info.insert(
            var,
            Info {
                home: level,
                uniform,
                digit: None,
                whole: false,
                meaning: None,
            },
        );
    }

    /// A parallel index as an expression in the linear thread id.
    fn in_threads(&self, function: &Function, e: &Expr) -> Option<Sym> {
        match &*e.kind {
            ExprKind::Intrinsic(Intrinsic::Thread, _) => self.thread.map(Sym::var),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.in_threads(function, a)?, as_sym(function, b)?);
                match op {
                    BinOp::Div => Some(function.cx.div(&a, &b)),
                    BinOp::Rem => Some(function.cx.rem(&a, &b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub fn meaning(&self, var: Var) -> Option<&Sym> {
        self.info.get(&var)?.meaning.as_ref()
    }

    fn signature(&self, cx: &Ctx, e: &Expr) -> Signature {
        let of = |e: &Expr| Box::new(self.signature(cx, e));
        match &*e.kind {
            ExprKind::Index(sym) => Signature::Index(self.resolve(cx, sym)),
            ExprKind::Int(value) => Signature::Int(*value),
            ExprKind::Intrinsic(what, operands) if operands.is_empty() => {
                Signature::Intrinsic(*what)
            }
            ExprKind::Binary(op, a, b) => Signature::Binary(*op, of(a), of(b)),
            ExprKind::Cast(a) => Signature::Cast(e.ty, of(a)),
            _ => Signature::At(e.span),
        }
    }

    /// Replaces every name of an expression by the expression.
    pub fn resolve(&self, cx: &Ctx, sym: &Sym) -> Sym {
        let mut out = sym.clone();
        for var in sym.sorted_vars() {
            if let Some(definition) = self.definitions.get(var) {
                out = cx.substituted(&out, *var, definition);
            }
        }
        out
    }

    pub fn canonical(&self, var: Var) -> Var {
        self.definitions
            .get(&var)
            .and_then(Sym::as_var)
            .unwrap_or(var)
    }

    /// The relation between its values in two threads of one unit of level `unit`.
    pub fn behaviour(&self, var: Var, unit: Level) -> Behaviour {
        match self.info.get(&var) {
            None => Behaviour::Fixed,
            Some(Info {
                digit: Some(level), ..
            }) if *level > unit => Behaviour::Digit,
            Some(Info { digit: Some(_), .. }) => Behaviour::Fixed,
            Some(info) if info.uniform && unit >= info.home => Behaviour::Fixed,
            Some(_) => Behaviour::Free,
        }
    }

    pub fn is_fixed(&self, sym: &Sym, unit: Level) -> bool {
        sym.sorted_vars()
            .iter()
            .all(|v| self.behaviour(*v, unit) == Behaviour::Fixed)
    }

    pub fn is_fixed_atom(&self, atom: &Atom, unit: Level) -> bool {
        let of = |sym: &Sym| self.is_fixed(sym, unit);
        match atom {
            Atom::Var(var) => self.behaviour(*var, unit) == Behaviour::Fixed,
            Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => of(a) && of(b),
        }
    }

    /// Whether the variable is the linear thread id.
    pub fn is_whole(&self, var: Var) -> bool {
        self.info.get(&var).is_some_and(|i| i.whole)
    }

    /// Whether the variable is local to the kernel and not an index of a `parallel`.
    pub fn is_ordinary(&self, var: Var) -> bool {
        self.info.get(&var).is_some_and(|i| i.digit.is_none())
    }

    /// Whether all threads of each unit of level `unit` compute the same value.
    pub fn is_uniform(&self, function: &Function, e: &Expr, unit: Level) -> bool {
        let all = |list: &[&Expr]| list.iter().all(|e| self.is_uniform(function, e, unit));
        match &*e.kind {
            ExprKind::Index(sym) => self.is_fixed(&self.resolve(&function.cx, sym), unit),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Param(_) => true,
            ExprKind::Local(id) => function
                .locals
                .get(id.index())
                .and_then(|l| l.var)
                .is_some_and(|v| self.is_fixed(&self.resolve(&function.cx, &Sym::var(v)), unit)),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => all(&[a]),
            ExprKind::Binary(_, a, b) => all(&[a, b]),
            ExprKind::Select(a, b, c) => all(&[a, b, c]),
            ExprKind::Math(_, args) => args.iter().all(|a| all(&[a])),
            ExprKind::Load(access) => {
                let own = function.buffers.get(access.view.buffer.index());
                own.is_some_and(|b| !b.storage.is_private())
                    && self.is_fixed(&self.resolve(&function.cx, &access.view.offset), unit)
                    && access
                        .indices
                        .iter()
                        .all(|i| self.is_fixed(&self.resolve(&function.cx, i), unit))
            }
            ExprKind::Intrinsic(of, _) => !of.differs_in_block(),
            ExprKind::Call(_) | ExprKind::Fits(_) => false,
        }
    }

    /// `sym` in another thread of the unit.
    pub fn in_other_thread(&mut self, cx: &mut Ctx, sym: &Sym, unit: Level) -> Sym {
        let varying: Vec<Var> = sym
            .vars()
            .into_iter()
            .filter(|v| self.behaviour(*v, unit) != Behaviour::Fixed)
            .collect();
        let mut out = sym.clone();
        for var in varying {
            let twin = match self.twins.get(&var) {
                Some(twin) => *twin,
                None => {
                    let twin = copy_of(cx, var, None);
                    self.twins.insert(var, twin);
                    twin
                }
            };
            out = cx.substituted(&out, var, &Sym::var(twin));
        }
        out
    }

    /// The value of `sym` in an earlier iteration of a loop that sets `changing`.
    pub fn in_earlier_iteration(&mut self, cx: &mut Ctx, sym: &Sym, loop_: &Iterations<'_>) -> Sym {
        let mut out = sym.clone();
        let changing = sym.sorted_vars().iter();
        for var in changing.filter(|var| loop_.changing.contains(var)) {
            let last = loop_.last.filter(|(v, _)| v == var).map(|(_, last)| last);
            let then = match last {
                Some(last) if loop_.only_one_ago => last.clone(),
                _ => Sym::var(self.earlier_value(cx, *var, last)),
            };
            out = cx.at_another_value(&out, *var, &then);
        }
        out
    }

    fn earlier_value(&mut self, cx: &mut Ctx, var: Var, at_most: Option<&Sym>) -> Var {
        if let Some(earlier) = self.earlier.get(&var) {
            return *earlier;
        }
        let earlier = copy_of(cx, var, at_most);
        if let Some(info) = self.info.get(&var).cloned() {
            self.info.insert(earlier, info);
        }
        self.earlier.insert(var, earlier);
        earlier
    }

    /// A variable for any position of an axis with `extent` positions.
    pub fn position(&mut self, cx: &mut Ctx, axis: usize, extent: &Sym) -> Sym {
        if extent.is_one() {
            return Sym::zero();
        }
        let key = (axis, extent.clone());
        if let Some(var) = self.positions.get(&key) {
            return Sym::var(*var);
        }
        let var = cx.new_var("position", Some(Sym::zero()), Some(extent - 1));
        self.info.insert(
            var,
            Info {
                home: Level::Thread,
                uniform: false,
                digit: None,
                whole: false,
                meaning: None,
            },
        );
        self.positions.insert(key, var);
        Sym::var(var)
    }
}

fn copy_of(cx: &mut Ctx, var: Var, at_most: Option<&Sym>) -> Var {
    let (lo, hi) = cx.bounds(var);
    let (lo, hi) = (lo.cloned(), at_most.or(hi).cloned());
    let name = cx.name(var).to_owned();
    cx.new_var(&name, lo, hi)
}

/// The symbolic value of an index expression.
fn as_sym(function: &Function, e: &Expr) -> Option<Sym> {
    match &*e.kind {
        ExprKind::Index(sym) => Some(sym.clone()),
        ExprKind::Int(value) => i64::try_from(*value).ok().map(Sym::int),
        ExprKind::Local(id) => function.locals.get(id.index())?.var.map(Sym::var),
        ExprKind::Param(id) => match function.params.get(id.index())?.kind {
            crate::ir::ParamKind::Scalar { var, .. } => var.map(Sym::var),
            _ => None,
        },
        ExprKind::Cast(a) if e.ty == crate::ir::Scalar::Index && a.ty.is_integer() => {
            as_sym(function, a)
        }
        ExprKind::Binary(op, a, b) if e.ty == crate::ir::Scalar::Index => {
            let (a, b, cx) = (as_sym(function, a)?, as_sym(function, b)?, &function.cx);
            match op {
                BinOp::Add => Some(&a + &b),
                BinOp::Sub => Some(&a - &b),
                BinOp::Mul => Some(&a * &b),
                BinOp::Div => Some(cx.div(&a, &b)),
                BinOp::Rem => Some(cx.rem(&a, &b)),
                BinOp::Min => Some(cx.min(&a, &b)),
                BinOp::Max => Some(cx.max(&a, &b)),
                _ => None,
            }
        }
        _ => None,
    }
}
