//! Uniformity: values that differ between the units below a block, and values that the host knows.

use crate::ir::{Expr, ExprKind, Level, Role, VarHome, View};
use crate::sema::state::elab::Elab;
use crate::symbolic::Sym;

/// Whether an expression may differ between threads of one block.
pub(crate) fn varies_in_block(el: &Elab<'_>, e: &Expr) -> bool {
    if el.kernel.is_none() {
        return false;
    }
    let mut varies = false;
    let mut walk = Varies {
        el,
        found: &mut varies,
    };
    crate::ir::walk_exprs(e, &mut walk);
    varies
}

fn local_varies(el: &Elab<'_>, id: crate::ir::LocalId) -> bool {
    match el.f.local(id).role {
        Role::Parallel(level) => level > Level::Block,
        Role::Loop | Role::Value => el.build.varying.contains(&id),
    }
}

struct Varies<'c, 'a> {
    el: &'c Elab<'a>,
    found: &'c mut bool,
}

impl crate::ir::Visit for Varies<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Intrinsic(crate::ir::Intrinsic::Thread, _) => *self.found = true,
            ExprKind::Local(id) => *self.found |= local_varies(self.el, *id),
            // The result of a C++ function may depend on the calling thread.
            ExprKind::Call(_) if self.el.level() == Some(Level::Thread) => *self.found = true,
            _ => {}
        }
    }

    /// Each thread has its own memory of these storages.
    fn access(&mut self, access: &crate::ir::Access, _written: bool) {
        let storage = self.el.f.buffer(access.view.buffer).storage;
        *self.found |= storage.is_private();
    }

    fn sym(&mut self, s: &Sym) {
        *self.found |= s.vars().iter().any(|v| is_unit_variable(self.el, *v));
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

/// Whether a view differs between units below the block.
pub(crate) fn differs_between_units(el: &Elab<'_>, view: &View) -> bool {
    let Some(level) = el.level() else {
        return false;
    };
    if level == Level::Block {
        return false;
    }
    let depends = |s: &Sym| s.vars().iter().any(|v| is_unit_variable(el, *v));
    depends(&view.offset)
        || view.shape.iter().any(&depends)
        || view
            .valid
            .iter()
            .any(|v| v.lo.iter().chain(&v.hi).any(&depends))
}

/// Whether a variable's value may differ between the units below the block.
pub(crate) fn is_unit_variable(el: &Elab<'_>, v: crate::symbolic::Var) -> bool {
    match el.f.var_home.get(&v) {
        Some(VarHome::Local(id)) => local_varies(el, *id),
        _ => false,
    }
}
