//! The accesses of a group: which of them are vectors.

use std::collections::BTreeSet;

use crate::ir::{
    Access, BinOp, BufferId, Expr, ExprKind, Flow, Function, Intrinsic, ON, Stmt, StmtKind,
    VarHome, Visit, Visitor, any_expr, declared_locals, walk, walk_block,
};
use crate::symbolic::{Sym, Var};

/// The widest access in bytes, and the most bytes of registers for several vectors.
pub const WIDEST: i64 = 16;
pub const MOST_REGISTERS: i64 = 192;

/// Elements `base .. base + W` of a buffer, one for each position.
#[derive(Clone, Debug)]
pub struct Vector {
    pub buffer: BufferId,
    pub base: Sym,
    /// The first access is a load, so the elements must be there before the positions run.
    pub loaded: bool,
    /// Every position stores its element.
    pub stored: bool,
}

/// The accesses of a position.
#[derive(Debug, Default)]
pub struct Accesses {
    pub vectors: Vec<Vector>,
    /// Elements that all positions load.
    pub shared: Vec<Access>,
}

/// The position among the vectors that an access selects.
pub fn find(vectors: &[Vector], buffer: BufferId, base: &Sym) -> Option<usize> {
    vectors
        .iter()
        .position(|v| v.buffer == buffer && v.base == *base)
}

/// Whether both access the same element.
pub fn is_same(function: &Function, a: &Access, b: &Access) -> bool {
    a.view.buffer == b.view.buffer && function.cx.eq(&a.address(), &b.address()).is_yes()
}

/// The first element of the access, if it is that of position 0 and each position has the next one.
pub fn base_of(function: &Function, access: &Access, position: Var) -> Option<Sym> {
    let (coefficient, base) = split(function, access, position)?;
    coefficient.is_one().then_some(base)
}

fn split(function: &Function, access: &Access, position: Var) -> Option<(Sym, Sym)> {
    let address = function.cx.simplify(&access.address());
    if address.is_poison() {
        return None;
    }
    address.linear_in(position)
}

/// The accesses of the statements that each position executes; `None` if one does not fit.
pub fn accesses(
    function: &Function,
    stmts: &[Stmt],
    (position, width): (Var, i64),
    written: &BTreeSet<BufferId>,
) -> Option<Accesses> {
    let mut declared = BTreeSet::new();
    declared_locals(stmts, &mut declared);
    let mut survey = Survey {
        function,
        position,
        width: Sym::int(width),
        written,
        found: Accesses::default(),
        conditions: 0,
        fits: true,
    };
    let _ = survey.block(stmts);
    let Survey {
        mut found, fits, ..
    } = survey;
    let is_known = |base: &Sym| {
        base.sorted_vars().iter().all(|var| {
            let home = function.var_home.get(var);
            !matches!(home, Some(VarHome::Local(id)) if declared.contains(id))
        })
    };
    let complete = |v: &Vector| (v.stored || !written.contains(&v.buffer)) && is_known(&v.base);
    found.shared.retain(|access| is_known(&access.address()));
    let stores = found.vectors.iter().any(|v| v.stored);
    (fits && stores && found.vectors.iter().all(complete)).then_some(found)
}

struct Survey<'a> {
    function: &'a Function,
    position: Var,
    width: Sym,
    written: &'a BTreeSet<BufferId>,
    found: Accesses,
    /// The number of conditions and loops around.
    conditions: usize,
    fits: bool,
}

impl Survey<'_> {
    fn touch(&mut self, access: &Access, writes: bool) {
        let buffer = access.view.buffer;
        let written = self.written.contains(&buffer);
        let Some((coefficient, base)) = split(self.function, access, self.position) else {
            self.fits = false;
            return;
        };
        if coefficient.is_zero() {
            // All positions load one element.
            self.fits &= !written;
            let mut known = self.found.shared.iter();
            let is_new = !known.any(|other| is_same(self.function, other, access));
            if self.conditions == 0 && is_new {
                self.found.shared.push(access.clone());
            }
            return;
        }
        if !coefficient.is_one() {
            self.fits = false;
            return;
        }
        let each = self.conditions == 0;
        if let Some(at) = find(&self.found.vectors, buffer, &base) {
            if let Some(vector) = self.found.vectors.get_mut(at) {
                vector.stored |= writes && each;
            }
            return;
        }
        // Two vectors of a buffer that is written have no element in common.
        let cx = &self.function.cx;
        let apart = |other: &Vector| {
            let distance = &base - &other.base;
            cx.le(&self.width, &distance).is_yes() || cx.le(&self.width, &-distance).is_yes()
        };
        let mut others = self.found.vectors.iter().filter(|v| v.buffer == buffer);
        self.fits &= each && (!written || others.all(apart));
        self.found.vectors.push(Vector {
            buffer,
            base,
            loaded: !writes,
            stored: writes,
        });
    }

    fn under(&mut self, walk: impl FnOnce(&mut Self) -> Flow) -> Flow {
        self.conditions += 1;
        let flow = walk(self);
        self.conditions -= 1;
        flow
    }
}

impl Visitor for Survey<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Store { access, op, value } => {
                self.expr(value)?;
                if op.is_some() {
                    self.touch(access, false);
                }
                self.touch(access, true);
                ON
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond)?;
                self.under(|survey| {
                    survey.block(then)?;
                    survey.block(otherwise)
                })
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                self.under(|survey| walk::stmt(survey, stmt))
            }
            _ => walk::stmt(self, stmt),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Flow {
        match &*expr.kind {
            ExprKind::Load(access) => {
                self.touch(access, false);
                ON
            }
            ExprKind::Select(cond, a, b) => {
                self.expr(cond)?;
                self.under(|survey| {
                    survey.expr(a)?;
                    survey.expr(b)
                })
            }
            ExprKind::Binary(BinOp::LogicAnd | BinOp::LogicOr, a, b) => {
                self.expr(a)?;
                self.under(|survey| survey.expr(b))
            }
            _ => walk::expr(self, expr),
        }
    }
}

/// The buffers that a kernel accesses at places that do not depend on the number of the thread.
pub fn constant_in_threads(function: &Function, body: &[Stmt]) -> BTreeSet<BufferId> {
    let mut places = Places {
        function,
        varying: BTreeSet::new(),
        constant: BTreeSet::new(),
        others: BTreeSet::new(),
    };
    walk_block(body, &mut places);
    &places.constant - &places.others
}

struct Places<'a> {
    function: &'a Function,
    /// Variables that depend on the number of the thread.
    varying: BTreeSet<Var>,
    constant: BTreeSet<BufferId>,
    others: BTreeSet<BufferId>,
}

impl Places<'_> {
    fn varies(&self, sym: &Sym) -> bool {
        sym.is_poison() || sym.sorted_vars().iter().any(|v| self.varying.contains(v))
    }
}

impl Visit for Places<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        let (local, varies) = match &stmt.kind {
            StmtKind::Let {
                local,
                value: Some(value),
            } => {
                let varies = any_expr(value, |e| match &*e.kind {
                    ExprKind::Intrinsic(of, _) => *of == Intrinsic::Thread,
                    ExprKind::Index(sym) => self.varies(sym),
                    ExprKind::Local(_) | ExprKind::Load(_) => true,
                    _ => false,
                });
                (*local, varies)
            }
            StmtKind::For {
                local, lo, step, ..
            } => (*local, self.varies(lo) || self.varies(step)),
            _ => return,
        };
        let var = self.function.locals.get(local.index()).and_then(|l| l.var);
        self.varying.extend(var.filter(|_| varies));
    }

    fn access(&mut self, access: &Access, _written: bool) {
        let places = match self.varies(&access.address()) {
            true => &mut self.others,
            false => &mut self.constant,
        };
        places.insert(access.view.buffer);
    }
}

/// The operands of `&&`.
pub fn conjuncts(cond: &Expr) -> Vec<&Expr> {
    match &*cond.kind {
        ExprKind::Binary(BinOp::LogicAnd, a, b) => {
            let mut all = conjuncts(a);
            all.extend(conjuncts(b));
            all
        }
        _ => vec![cond],
    }
}

/// The buffers that the statements write.
pub fn written(body: &[Stmt]) -> BTreeSet<BufferId> {
    struct Written(BTreeSet<BufferId>);
    impl Visit for Written {
        fn access(&mut self, access: &Access, written: bool) {
            if written {
                self.0.insert(access.view.buffer);
            }
        }
    }
    let mut found = Written(BTreeSet::new());
    walk_block(body, &mut found);
    found.0
}
