//! Uniformity: values that differ between the units below a block, and values that the host knows.

use crate::ir::{
    BinOp, Expr, ExprKind, Function, Level, LocalId, Role, VarHome, View, WARP_THREADS,
    WARPGROUP_THREADS, any_expr,
};
use crate::sema::state::elab::Elab;
use crate::sorted::SortedSet;
use crate::symbolic::{Atom, Sym, Var};

/// Whether an expression may differ between threads of one block.
pub(crate) fn varies_in_block(el: &Elab<'_>, e: &Expr) -> bool {
    finest(el, e) > Level::Block
}

/// The finest level between whose units an expression may differ; `None` if it is the same in a
/// block.
pub(crate) fn divergence(el: &Elab<'_>, e: &Expr) -> Option<Level> {
    Some(finest(el, e)).filter(|level| *level > Level::Block)
}

/// The same; `Level::Block` if it is the same in a block.
pub(crate) fn finest(el: &Elab<'_>, e: &Expr) -> Level {
    let mut found = Level::Block;
    if el.kernel.is_some() {
        let mut walk = Varies {
            el,
            found: &mut found,
        };
        crate::ir::walk_exprs(e, &mut walk);
    }
    found
}

/// Whether a condition usually holds for several instances: a bound of an index that the caller
/// determines, such as `b # t < N`, or a comparison of data.
pub(crate) fn holds_for_several(function: &Function, cond: &Expr) -> bool {
    let several = |e: &Expr| holds_for_several(function, e);
    let limit = |e: &Expr, least: i64| match &*e.kind {
        ExprKind::Index(n) => match n.as_int() {
            Some(n) => n >= least,
            None => n.vars().iter().all(|v| of_the_caller(function, *v)),
        },
        _ => false,
    };
    let ExprKind::Binary(op, a, b) = &*cond.kind else {
        return false;
    };
    match op {
        BinOp::LogicAnd => several(a) && several(b),
        BinOp::LogicOr => several(a) || several(b),
        BinOp::Lt => limit(b, 2) || loads(a) || loads(b),
        BinOp::Le => limit(b, 1) || loads(a) || loads(b),
        BinOp::Gt => limit(a, 2) || loads(a) || loads(b),
        BinOp::Ge => limit(a, 1) || loads(a) || loads(b),
        BinOp::Ne => loads(a) || loads(b),
        _ => false,
    }
}

fn of_the_caller(function: &Function, var: Var) -> bool {
    matches!(
        function.var_home.get(&var),
        Some(VarHome::Dim(_) | VarHome::Param(_))
    )
}

fn loads(e: &Expr) -> bool {
    any_expr(e, |e| matches!(*e.kind, ExprKind::Load(_)))
}

fn of_local(el: &Elab<'_>, id: LocalId) -> Level {
    match el.f.local(id).role {
        Role::Parallel(level) => level.max(Level::Block),
        Role::Loop | Role::Value => {
            let level = el.build.varying.get(&id).copied();
            level.unwrap_or(Level::Block).max(seen_earlier(el, id))
        }
    }
}

struct Varies<'c, 'a> {
    el: &'c Elab<'a>,
    found: &'c mut Level,
}

impl Varies<'_, '_> {
    fn note(&mut self, level: Level) {
        *self.found = level.max(*self.found);
    }
}

impl crate::ir::Visit for Varies<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Intrinsic(crate::ir::Intrinsic::Thread, _) => self.note(Level::Thread),
            ExprKind::Local(id) => self.note(of_local(self.el, *id)),
            // The result of a C++ function may depend on the calling thread.
            ExprKind::Call(_) if self.el.level() == Some(Level::Thread) => {
                self.note(Level::Thread);
            }
            _ => {}
        }
    }

    /// Each thread has its own memory of these storages.
    fn access(&mut self, access: &crate::ir::Access, _written: bool) {
        let storage = self.el.f.buffer(access.view.buffer).storage;
        if storage.is_private() {
            self.note(Level::Thread);
        }
    }

    fn sym(&mut self, s: &Sym) {
        self.note(of_sym(self.el, s));
    }
}

/// Whether the variable is known when the kernel is launched.
pub(crate) fn is_host_known(el: &Elab<'_>, v: crate::symbolic::Var) -> bool {
    match el.f.var_home.get(&v) {
        Some(VarHome::Dim(_) | VarHome::Param(_)) => true,
        Some(VarHome::Local(id)) => el
            .kernel
            .as_ref()
            .is_none_or(|k| id.index() < k.first_local),
        None => false,
    }
}

/// The level between whose units a mutable local differs after some later assignment, which an
/// earlier walk has seen.
fn seen_earlier(el: &Elab<'_>, id: LocalId) -> Level {
    let local = el.f.local(id);
    let level = match local.mutable {
        true => el.earlier.varies(local),
        false => None,
    };
    level.unwrap_or(Level::Block)
}

/// Records the reads of mutable locals in an expression. Returns the finest level between whose
/// units those may differ.
pub(crate) fn note_reads(el: &mut Elab<'_>, e: &Expr) -> Level {
    let mut locals = Mutables {
        el,
        found: SortedSet::new(),
    };
    crate::ir::walk_exprs(e, &mut locals);
    let found = locals.found;
    let mut finest = Level::Block;
    for id in found {
        let level = of_scalar(el, id);
        el.build.reads.push((id, level));
        finest = finest.max(level);
    }
    finest
}

/// The finest level between whose units a local may differ, as far as the walk is.
pub(crate) fn of_scalar(el: &Elab<'_>, id: LocalId) -> Level {
    let uneven = el.build.uneven.get(&id).copied();
    of_local(el, id).max(uneven.unwrap_or(Level::Block))
}

struct Mutables<'c, 'a> {
    el: &'c Elab<'a>,
    found: SortedSet<LocalId>,
}

impl crate::ir::Visit for Mutables<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Local(id) = &*e.kind
            && (self.el.f.local(*id).mutable || self.el.build.uneven.contains_key(id))
        {
            self.found.insert(*id);
        }
    }
}

/// The finest level between whose units a view differs, at most that of the statement;
/// `Level::Block` if it is the same in a block.
pub(crate) fn of_view(el: &Elab<'_>, view: &View) -> Level {
    let Some(level) = el.level() else {
        return Level::Block;
    };
    let limits = view.valid.iter().flat_map(|v| v.lo.iter().chain(&v.hi));
    let syms = view.shape.iter().chain([&view.offset]).chain(limits);
    let finest = syms.map(|s| of_sym(el, s)).max();
    finest.unwrap_or(Level::Block).min(level.max(Level::Block))
}

pub(crate) fn of_sym(el: &Elab<'_>, s: &Sym) -> Level {
    let atoms = s.terms().flat_map(|(_, atoms)| atoms);
    let levels = atoms.map(|atom| of_atom(el, atom));
    levels.max().unwrap_or(Level::Block)
}

fn of_atom(el: &Elab<'_>, atom: &Atom) -> Level {
    match atom {
        Atom::Var(v) => of_variable(el, *v),
        Atom::Div(thread, by) if is_thread_id(el, thread) => match by.as_int() {
            Some(n) if n % i64::from(WARPGROUP_THREADS) == 0 => Level::Warpgroup,
            Some(n) if n % i64::from(WARP_THREADS) == 0 => Level::Warp,
            _ => Level::Thread,
        },
        Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
            of_sym(el, a).max(of_sym(el, b))
        }
    }
}

/// Whether an integer is the number of a thread in its block.
fn is_thread_id(el: &Elab<'_>, s: &Sym) -> bool {
    let id = el.kernel.as_ref().and_then(|k| k.threads.id);
    id.is_some() && s.as_var() == id
}

fn of_variable(el: &Elab<'_>, v: crate::symbolic::Var) -> Level {
    match el.f.var_home.get(&v) {
        Some(VarHome::Local(id)) => of_local(el, *id),
        _ => Level::Block,
    }
}

/// Whether a variable's value may differ between the units below the block.
pub(crate) fn is_unit_variable(el: &Elab<'_>, v: crate::symbolic::Var) -> bool {
    of_variable(el, v) > Level::Block
}
