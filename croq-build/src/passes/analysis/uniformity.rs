//! Uniformity: whether a value is the same in all threads of a set, or in all blocks of a cluster.
//!
//! A local is divergent if a value assigned to it is, or if not all of them execute an assignment:
//! because of a divergent condition, a loop with divergent bounds, or a `break` that not all of
//! them execute. Assignments in a loop affect the values at its head, so the divergent locals are
//! collected until a fixpoint is reached.

mod calls;
mod evaluate;
pub mod flow;
mod indices;
mod ints;
pub mod memory;
mod merge;
pub mod scope;
mod state;
mod values;

use std::cell::Cell;

use crate::ir::{
    Access, BufferId, CppName, Expr, ExprKind, Function, Intrinsic, LocalId, Stmt, StmtKind,
    Storage, ThreadSet, Transform, VarHome, View, Visit, walk_block, walk_exprs,
};
use crate::passes::analysis::uses::identifiers;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;
use calls::CallArguments;
use state::Place;

/// The set of threads or blocks that is compared, and the sources of divergence in it.
pub trait Divergence {
    /// Whether an intrinsic is divergent.
    fn hardware(&self, what: Intrinsic) -> bool;
    /// Whether an index of a `parallel` is divergent; `None`: determined by the assignments to it.
    fn index(&self, function: &Function, local: LocalId) -> Option<bool>;
    /// Whether a read of a buffer, at one address, is divergent; `None`: determined by the writes
    /// to it.
    fn memory(&self, id: BufferId, storage: Storage) -> Option<bool>;
    /// Whether the value of one load, at one address, is divergent.
    fn load(&self, access: &Access, storage: Storage) -> Option<bool> {
        self.memory(access.view.buffer, storage)
    }
    /// The part of the value that can be divergent: terms that are known to be uniform are removed.
    fn divergent_part(&self, function: &Function, sym: &Sym) -> SymUniformity;
    /// Whether members of the set may execute a region for the threads of `set`.
    fn takes_part(&self, _set: Option<&ThreadSet>) -> bool {
        true
    }
    /// The participation in such a region. `differs`: its predicate is
    /// divergent. By default for blocks, of each of which some threads execute it.
    fn region(&self, _set: Option<&ThreadSet>, differs: bool) -> Participation {
        match differs {
            true => Participation::Some,
            false => Participation::All,
        }
    }
    /// The participation in a statement that one thread of a unit executes; by default for blocks.
    fn single_thread(&self) -> Participation {
        Participation::All
    }
}

/// The uniformity of a symbolic value.
pub enum SymUniformity {
    Divergent,
    /// It is divergent if this is.
    Like(Sym),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Participation {
    Some,
    All,
}

/// Why not all members of the set execute the body of a statement.
#[derive(Clone, Copy)]
pub enum Split {
    /// Its condition or its bounds are divergent.
    Condition,
    /// Some members leave the enclosing loop, or its current iteration, here.
    Leaves(Span),
}

pub struct Uniformity<'a, A> {
    function: &'a Function,
    pub domain: A,
    locals: SortedSet<LocalId>,
    buffers: SortedSet<BufferId>,
    grown: bool,
    /// The number of statements and expressions visited.
    visited: Cell<usize>,
}

/// Whether a value is divergent, if no statement has to be visited to know.
pub fn known<A: Divergence>(function: &Function, domain: &A, sym: &Sym) -> Option<bool> {
    let SymUniformity::Like(rest) = domain.divergent_part(function, sym) else {
        return Some(true);
    };
    let mut all = Some(false);
    for local in locals_of(function, &rest) {
        match domain.index(function, local) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => all = None,
        }
    }
    all
}

fn locals_of(function: &Function, sym: &Sym) -> impl Iterator<Item = LocalId> {
    let homes = sym.sorted_vars().iter().map(|v| function.var_home.get(v));
    homes.filter_map(|home| match home {
        Some(VarHome::Local(id)) => Some(*id),
        _ => None,
    })
}

/// The fixpoint for a body.
impl<'a, A: Divergence> Uniformity<'a, A> {
    pub fn of(function: &'a Function, body: &[Stmt], domain: A) -> Self {
        let mut uniformity = Self {
            function,
            domain,
            locals: SortedSet::new(),
            buffers: SortedSet::new(),
            grown: true,
            visited: Cell::new(0),
        };
        while std::mem::take(&mut uniformity.grown) {
            uniformity.block(body, false);
        }
        uniformity
    }

    /// Whether the local is divergent.
    pub fn local(&self, id: LocalId) -> bool {
        let known = self.domain.index(self.function, id);
        known.unwrap_or_else(|| self.locals.contains(&id))
    }

    pub fn sym(&self, sym: &Sym) -> bool {
        let rest = match self.domain.divergent_part(self.function, sym) {
            SymUniformity::Divergent => return true,
            SymUniformity::Like(rest) => rest,
        };
        locals_of(self.function, &rest).any(|id| self.local(id))
    }

    /// The number of statements and expressions that the analysis has visited.
    pub fn visited(&self) -> usize {
        self.visited.get()
    }

    fn visit(&self) {
        self.visited.set(self.visited.get() + 1);
    }

    pub fn expr(&self, e: &Expr) -> bool {
        let mut find = Find {
            uniformity: self,
            found: false,
        };
        walk_exprs(e, &mut find);
        find.found
    }

    /// Why not all members that execute `stmt` execute its body.
    pub fn split(&self, stmt: &Stmt) -> Option<Split> {
        let leaves = |body: &Vec<Stmt>| self.leaves(body, false).map(Split::Leaves);
        let (is_divergent, body) = match &stmt.kind {
            StmtKind::For {
                lo, hi, step, body, ..
            } => ([lo, hi, step].iter().any(|s| self.sym(s)), Some(body)),
            StmtKind::While { cond, body, .. } => (self.expr(cond), Some(body)),
            StmtKind::If { cond, .. } => (self.expr(cond), None),
            StmtKind::SingleThread { .. } => {
                (self.domain.single_thread() != Participation::All, None)
            }
            StmtKind::Region { set, pred, .. } => {
                let participation = self.domain.region(set.as_ref(), self.expr(pred));
                (participation != Participation::All, None)
            }
            _ => (false, None),
        };
        match is_divergent {
            true => Some(Split::Condition),
            false => body.and_then(leaves),
        }
    }

    /// A `break` or `continue` that not all members execute.
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

    /// `split`: not all members execute these statements.
    fn block(&mut self, stmts: &[Stmt], split: bool) {
        for stmt in stmts {
            self.visit();
            // A region without members does not affect them: each thread has locals of its own.
            if let StmtKind::Region { set, .. } = &stmt.kind
                && !self.domain.takes_part(set.as_ref())
            {
                continue;
            }
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
                // Each one reads the value that the previous one left.
                StmtKind::Atomic(atomic) => {
                    atomic.result.into_iter().for_each(|id| self.add(id));
                }
                StmtKind::For { local, .. } if inside => self.add(*local),
                _ => {}
            }
            self.memory(stmt, split);
            self.opaque(stmt);
            for block in stmt.kind.blocks() {
                self.block(block, inside);
            }
        }
    }

    /// Records the effect of a statement on private memory.
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
            // What they leave may depend on their order and on all of their operands.
            StmtKind::Atomic(atomic) => (atomic.access.view.buffer, true),
            StmtKind::Mma(op) => {
                let written = op.views().into_iter().find(|(_, written)| *written);
                let Some((view, _)) = written else { return };
                (view.buffer, true)
            }
            _ => return,
        };
        if split || differs {
            self.add_buffer(id);
        }
    }

    fn add_buffer(&mut self, id: BufferId) {
        self.grown |= self.buffers.insert(id);
    }

    /// Records what calls and C++ text in a statement may write.
    fn opaque(&mut self, stmt: &Stmt) {
        let mut arguments = CallArguments::new(self.function);
        match &stmt.kind {
            StmtKind::If { cond, .. }
            | StmtKind::While { cond, .. }
            | StmtKind::Region { pred: cond, .. } => walk_exprs(cond, &mut arguments),
            kind if kind.blocks().next().is_none() => {
                walk_block(std::slice::from_ref(stmt), &mut arguments);
            }
            _ => {}
        }
        for place in arguments.places {
            match place {
                Place::Local(id) => self.add(id),
                Place::Array(id) | Place::Element(id, _) => self.add_buffer(id),
            }
        }
        let StmtKind::Cpp { text, names, .. } = &stmt.kind else {
            return;
        };
        let words = identifiers(text);
        for name in names {
            let function = self.function;
            match name {
                CppName::Local(id) => {
                    let local = function.locals.get(id.index());
                    if local.is_some_and(|l| words.contains(l.name.as_str())) {
                        self.add(*id);
                    }
                }
                CppName::Buffer(id) => {
                    let buffer = function.buffers.get(id.index());
                    if buffer.is_some_and(|b| words.contains(b.name.as_str())) {
                        self.add_buffer(*id);
                    }
                }
            }
        }
    }

    /// Whether the elements that the view selects are divergent.
    fn place(&self, view: &View) -> bool {
        let limits = view.valid.iter().flat_map(|v| v.lo.iter().chain(&v.hi));
        let mut syms = view.shape.iter().chain(&view.strides).chain(limits);
        self.sym(&view.offset) || syms.any(|s| self.sym(s))
    }

    /// Whether the contents of a buffer are divergent.
    fn contents_diverge(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        let known = buffer.map_or(Some(true), |b| self.domain.memory(id, b.storage));
        known.unwrap_or_else(|| self.buffers.contains(&id))
    }

    fn load_differs(&self, access: &Access) -> bool {
        let id = access.view.buffer;
        let buffer = self.function.buffers.get(id.index());
        let known = buffer.map_or(Some(true), |b| self.domain.load(access, b.storage));
        known.unwrap_or_else(|| self.buffers.contains(&id))
    }
}

struct Find<'d, 'a, A> {
    uniformity: &'d Uniformity<'a, A>,
    found: bool,
}

impl<A: Divergence> Visit for Find<'_, '_, A> {
    fn expr(&mut self, e: &Expr) {
        self.uniformity.visit();
        self.found |= match &*e.kind {
            ExprKind::Intrinsic(what, _) => self.uniformity.domain.hardware(*what),
            ExprKind::Local(id) => {
                let local = self.uniformity.function.locals.get(id.index());
                match local.and_then(|l| l.var) {
                    Some(var) => self.uniformity.sym(&Sym::var(var)),
                    None => self.uniformity.local(*id),
                }
            }
            // The memory that a call reads is unknown.
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
