//! The accesses of a group: which of them are vectors.

use crate::ir::{
    Access, BinOp, BufferId, Expr, ExprKind, Flow, Function, Intrinsic, ON, Scalar, Stmt, StmtKind,
    Storage, VarHome, Visit, Visitor, any_expr, declared_locals, walk, walk_block,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

/// The widest access in bytes, and the most bytes of registers for several vectors.
pub const WIDEST: i64 = 16;
pub const MOST_REGISTERS: i64 = 192;
/// The bytes that the iterations of a loop access in one buffer.
const LEAST_OF_LOOP: i64 = 4;
const MOST_OF_LOOP: i64 = 64;

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

/// What the positions are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Positions {
    /// Instances of a kernel.
    Instances,
    /// Iterations of a thread's loop, in order. Accesses that form no vector stay as they are.
    Iterations,
}

/// The elements that one instruction moves of a vector.
pub fn at_once(function: &Function, buffer: BufferId, width: i64) -> Option<i64> {
    let bytes = i64::try_from(function.buffers.get(buffer.index())?.elem.bytes()).ok()?;
    Some(width.min(WIDEST / bytes.max(1)).max(1))
}

/// Whether elements of the buffer can be moved by vectors of a loop with so many iterations.
fn has_vectors(function: &Function, buffer: BufferId, width: i64) -> bool {
    let Some(buffer) = function.buffers.get(buffer.index()) else {
        return false;
    };
    // The byte of a `bool` is tested at each load.
    let whole = !buffer.elem.is_packed() && buffer.elem != Scalar::Bool;
    let memory = buffer.storage.is_global() || buffer.storage == Storage::Shared;
    let bytes = i64::try_from(buffer.elem.bytes()).map_or(0, |bytes| bytes * width);
    // A swizzle moves 16 bytes as a whole.
    let fits = (LEAST_OF_LOOP..=MOST_OF_LOOP).contains(&bytes);
    whole && memory && fits
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
    written: &SortedSet<BufferId>,
    positions: Positions,
) -> Option<Accesses> {
    let mut declared = SortedSet::new();
    declared_locals(stmts, &mut declared);
    let mut survey = Survey {
        function,
        position,
        width,
        written,
        positions,
        found: Accesses::default(),
        without: SortedSet::new(),
        conditions: 0,
        fits: true,
    };
    let _ = survey.block(stmts);
    let Survey {
        mut found,
        mut without,
        fits,
        ..
    } = survey;
    let is_known = |base: &Sym| {
        base.sorted_vars().iter().all(|var| {
            let home = function.var_home.get(var);
            !matches!(home, Some(VarHome::Local(id)) if declared.contains(id))
        })
    };
    let complete = |v: &Vector| (v.stored || !written.contains(&v.buffer)) && is_known(&v.base);
    found.shared.retain(|access| is_known(&access.address()));
    if positions == Positions::Iterations {
        let incomplete = found.vectors.iter().filter(|v| !complete(v));
        without.extend(
            incomplete
                .map(|v| v.buffer)
                .filter(|id| written.contains(id)),
        );
        let stays = |v: &Vector| complete(v) && !without.contains(&v.buffer);
        found.vectors.retain(stays);
        return Some(found);
    }
    let stores = found.vectors.iter().any(|v| v.stored);
    (fits && stores && found.vectors.iter().all(complete)).then_some(found)
}

struct Survey<'a> {
    function: &'a Function,
    position: Var,
    width: i64,
    written: &'a SortedSet<BufferId>,
    positions: Positions,
    found: Accesses,
    /// Buffers that are written, but not by vectors alone.
    without: SortedSet<BufferId>,
    /// The number of conditions and loops around.
    conditions: usize,
    fits: bool,
}

impl Survey<'_> {
    fn touch(&mut self, access: &Access, writes: bool) {
        let buffer = access.view.buffer;
        let written = self.written.contains(&buffer);
        if self.positions == Positions::Iterations
            && !has_vectors(self.function, buffer, self.width)
        {
            self.without.insert(buffer);
            return;
        }
        let Some((coefficient, base)) = split(self.function, access, self.position) else {
            self.is_no_vector(buffer);
            return;
        };
        if coefficient.is_zero() {
            // All positions load one element.
            if written {
                self.is_no_vector(buffer);
                return;
            }
            let mut known = self.found.shared.iter();
            let is_new = !known.any(|other| is_same(self.function, other, access));
            if self.conditions == 0 && is_new {
                self.found.shared.push(access.clone());
            }
            return;
        }
        if !coefficient.is_one() {
            self.is_no_vector(buffer);
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
        let width = Sym::int(self.width);
        let apart = |other: &Vector| {
            let distance = &base - &other.base;
            cx.le(&width, &distance).is_yes() || cx.le(&width, &-distance).is_yes()
        };
        let mut others = self.found.vectors.iter().filter(|v| v.buffer == buffer);
        if !each || (written && !others.all(apart)) {
            self.is_no_vector(buffer);
            return;
        }
        self.found.vectors.push(Vector {
            buffer,
            base,
            loaded: !writes,
            stored: writes,
        });
    }

    fn is_no_vector(&mut self, buffer: BufferId) {
        match self.positions {
            Positions::Instances => self.fits = false,
            Positions::Iterations if self.written.contains(&buffer) => {
                self.without.insert(buffer);
            }
            Positions::Iterations => {}
        }
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
pub fn constant_in_threads(function: &Function, body: &[Stmt]) -> SortedSet<BufferId> {
    let mut places = Places {
        function,
        varying: SortedSet::new(),
        constant: SortedSet::new(),
        others: SortedSet::new(),
    };
    walk_block(body, &mut places);
    (places.constant.difference(&places.others))
        .copied()
        .collect()
}

struct Places<'a> {
    function: &'a Function,
    /// Variables that depend on the number of the thread.
    varying: SortedSet<Var>,
    constant: SortedSet<BufferId>,
    others: SortedSet<BufferId>,
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

/// Whether the number selects elements of an array of the thread.
pub fn indexes_registers(function: &Function, stmts: &[Stmt], number: Var) -> bool {
    struct Places<'a>(&'a Function, Var, bool);
    impl Visit for Places<'_> {
        fn access(&mut self, access: &Access, _written: bool) {
            let buffer = self.0.buffers.get(access.view.buffer.index());
            let own = buffer.is_some_and(|b| b.storage == Storage::Local);
            self.2 |= own && access.address().contains(self.1);
        }
    }
    let mut places = Places(function, number, false);
    walk_block(stmts, &mut places);
    places.2
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
pub fn written(body: &[Stmt]) -> SortedSet<BufferId> {
    struct Written(SortedSet<BufferId>);
    impl Visit for Written {
        fn access(&mut self, access: &Access, written: bool) {
            if written {
                self.0.insert(access.view.buffer);
            }
        }
    }
    let mut found = Written(SortedSet::new());
    walk_block(body, &mut found);
    found.0
}
