//! What differs between those who run one text: threads of a set, or blocks of a cluster.
//!
//! A local differs if what is assigned to it does, or if not all of them come to an assignment: because of
//! a condition that differs, a loop whose bounds do, or a `break` that not all of them reach. What a
//! loop changes reaches back to its beginning, so all of that is gathered until nothing is added.

mod calls;
mod evaluate;
pub mod flow;
mod indices;
pub mod memory;
mod merge;
pub mod scope;
mod state;
mod values;

use std::collections::BTreeSet;

use crate::ir::{
    Access, BufferId, Expr, ExprKind, Function, Intrinsic, LocalId, Stmt, StmtKind, Storage,
    ThreadSet, Transform, VarHome, View, Visit, walk_exprs,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// Who is compared.
pub trait Divergence {
    fn hardware(&self, what: Intrinsic) -> bool;
    /// An index of a `parallel`; `None` is whatever its value says.
    fn index(&self, function: &Function, local: LocalId) -> Option<bool>;
    /// What is read from a buffer, at one address; `None` is whatever was written there.
    fn memory(&self, id: BufferId, storage: Storage) -> Option<bool>;
    /// What one load finds, at one address.
    fn load(&self, access: &Access, storage: Storage) -> Option<bool> {
        self.memory(access.view.buffer, storage)
    }
    /// The same value with what is known to be common taken for one.
    fn common(&self, function: &Function, sym: &Sym) -> Sharing;
    /// Which of them come to a region for these threads. `differs`: its predicate does.
    fn region(&self, set: Option<&ThreadSet>, differs: bool) -> Participation;
    /// Only one thread of a unit does something.
    fn once(&self) -> Participation;
}

/// What a symbolic value comes down to for those who are compared.
pub enum Sharing {
    Differs,
    /// It differs if this does.
    As(Sym),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Participation {
    Nobody,
    Some,
    All,
}

/// Why not all of them come to what a statement has inside.
#[derive(Clone, Copy)]
pub enum Split {
    /// What it asks for differs.
    Asked,
    /// Some leave the loop, or this iteration of it, here.
    Leaves(Span),
}

pub struct Uniformity<'a, A> {
    function: &'a Function,
    pub apart: A,
    locals: BTreeSet<LocalId>,
    buffers: BTreeSet<BufferId>,
    grown: bool,
}

impl<'a, A: Divergence> Uniformity<'a, A> {
    pub fn of(function: &'a Function, body: &[Stmt], apart: A) -> Self {
        let mut uniformity = Self {
            function,
            apart,
            locals: BTreeSet::new(),
            buffers: BTreeSet::new(),
            grown: true,
        };
        while std::mem::take(&mut uniformity.grown) {
            uniformity.block(body, false);
        }
        uniformity
    }

    pub fn local(&self, id: LocalId) -> bool {
        let known = self.apart.index(self.function, id);
        known.unwrap_or_else(|| self.locals.contains(&id))
    }

    pub fn sym(&self, sym: &Sym) -> bool {
        let rest = match self.apart.common(self.function, sym) {
            Sharing::Differs => return true,
            Sharing::As(rest) => rest,
        };
        let vars = rest.vars();
        vars.iter().any(|v| {
            let home = self.function.var_home.get(v);
            matches!(home, Some(VarHome::Local(id)) if self.local(*id))
        })
    }

    pub fn expr(&self, e: &Expr) -> bool {
        let mut find = Find {
            uniformity: self,
            found: false,
        };
        walk_exprs(e, &mut find);
        find.found
    }

    /// Why not all of them come to what is inside `stmt`, whenever they come to itself.
    pub fn split(&self, stmt: &Stmt) -> Option<Split> {
        let leaves = |body: &Vec<Stmt>| self.leaves(body, false).map(Split::Leaves);
        let (asked, body) = match &stmt.kind {
            StmtKind::For {
                lo, hi, step, body, ..
            } => ([lo, hi, step].iter().any(|s| self.sym(s)), Some(body)),
            StmtKind::While { cond, body, .. } => (self.expr(cond), Some(body)),
            StmtKind::If { cond, .. } => (self.expr(cond), None),
            StmtKind::SingleThread { .. } => (self.apart.once() != Participation::All, None),
            StmtKind::Region { set, pred, .. } => {
                let participation = self.apart.region(set.as_ref(), self.expr(pred));
                (participation != Participation::All, None)
            }
            _ => (false, None),
        };
        match asked {
            true => Some(Split::Asked),
            false => body.and_then(leaves),
        }
    }

    /// Where not all of them leave the loop around, or an iteration of it.
    fn leaves(&self, stmts: &[Stmt], split: bool) -> Option<Span> {
        stmts.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => split.then_some(stmt.span),
            StmtKind::For { .. } | StmtKind::While { .. } => None,
            kind => {
                let split = split || self.split(stmt).is_some();
                kind.blocks().find_map(|block| self.leaves(block, split))
            }
        })
    }

    fn add(&mut self, id: LocalId) {
        self.grown |= self.locals.insert(id);
    }

    /// `split`: not all of them come here.
    fn block(&mut self, stmts: &[Stmt], split: bool) {
        for stmt in stmts {
            let inside = split || self.split(stmt).is_some();
            match &stmt.kind {
                StmtKind::Let { local, value } => {
                    if split || value.as_ref().is_some_and(|e| self.expr(e)) {
                        self.add(*local);
                    }
                }
                StmtKind::Assign { local, value } => {
                    if split || self.expr(value) {
                        self.add(*local);
                    }
                }
                // Each finds what the one before it left.
                StmtKind::Atomic(atomic) => {
                    atomic.result.into_iter().for_each(|id| self.add(id));
                }
                StmtKind::For { local, .. } if inside => self.add(*local),
                // What others do by themselves is theirs: each has locals of its own.
                StmtKind::Region { set, pred, .. } => {
                    let differs = self.expr(pred);
                    if self.apart.region(set.as_ref(), differs) == Participation::Nobody {
                        continue;
                    }
                }
                _ => {}
            }
            self.memory(stmt, split);
            for block in stmt.kind.blocks() {
                self.block(block, inside);
            }
        }
    }

    /// What a statement leaves in memory that each has of its own.
    fn memory(&mut self, stmt: &Stmt, split: bool) {
        let (id, differs) = match &stmt.kind {
            StmtKind::Store { access, value, .. } => {
                let place = self.sym(&access.address());
                (access.view.buffer, place || self.expr(value))
            }
            StmtKind::Fill { view, value, .. } => {
                (view.buffer, self.place(view) || self.expr(value))
            }
            StmtKind::Copy(copy) => {
                let read = self.place(&copy.source) || self.contents_diverge(copy.source.buffer);
                let padded = match &copy.transform {
                    Transform::Pad { value, .. } => self.expr(value),
                    Transform::None | Transform::Transpose(_) => false,
                };
                (copy.dest.buffer, read || padded || self.place(&copy.dest))
            }
            StmtKind::Eval(e)
            | StmtKind::Let { value: Some(e), .. }
            | StmtKind::Assign { value: e, .. } => {
                let mut given = Given(Vec::new());
                walk_exprs(e, &mut given);
                for id in given.0 {
                    self.grown |= self.buffers.insert(id);
                }
                return;
            }
            _ => return,
        };
        if split || differs {
            self.grown |= self.buffers.insert(id);
        }
    }

    fn place(&self, view: &View) -> bool {
        let limits = view.valid.iter().flat_map(|v| v.lo.iter().chain(&v.hi));
        let mut syms = view.shape.iter().chain(&view.strides).chain(limits);
        self.sym(&view.offset) || syms.any(|s| self.sym(s))
    }

    /// What is in a buffer.
    fn contents_diverge(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        let known = buffer.map_or(Some(true), |b| self.apart.memory(id, b.storage));
        known.unwrap_or_else(|| self.buffers.contains(&id))
    }

    fn load_differs(&self, access: &Access) -> bool {
        let id = access.view.buffer;
        let buffer = self.function.buffers.get(id.index());
        let known = buffer.map_or(Some(true), |b| self.apart.load(access, b.storage));
        known.unwrap_or_else(|| self.buffers.contains(&id))
    }
}

struct Find<'d, 'a, A> {
    uniformity: &'d Uniformity<'a, A>,
    found: bool,
}

impl<A: Divergence> Visit for Find<'_, '_, A> {
    fn expr(&mut self, e: &Expr) {
        self.found |= match &*e.kind {
            ExprKind::Intrinsic(what, _) => self.uniformity.apart.hardware(*what),
            ExprKind::Local(id) => {
                let local = self.uniformity.function.locals.get(id.index());
                match local.and_then(|l| l.var) {
                    Some(var) => self.uniformity.sym(&Sym::var(var)),
                    None => self.uniformity.local(*id),
                }
            }
            // Nobody knows what it looks at.
            ExprKind::Call(_) => true,
            _ => false,
        };
    }

    fn sym(&mut self, sym: &Sym) {
        self.found |= self.uniformity.sym(sym);
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.found |= self.uniformity.load_differs(access);
    }
}

/// What calls may write to.
struct Given(Vec<BufferId>);

impl Visit for Given {
    fn view(&mut self, view: &View) {
        self.0.push(view.buffer);
    }
}
