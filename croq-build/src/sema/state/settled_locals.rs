//! Mutable scalars that nothing assigns after their declarations.

use crate::ir::{
    Arg, CppName, Expr, ExprKind, LocalId, Stmt, StmtKind, Visit, walk_block, walk_exprs,
};
use crate::sema::state::earlier::Earlier;
use crate::sema::state::elab::Elab;
use crate::sorted::SortedSet;
use crate::source::Span;

/// Records which of the mutables that an `assert` is about stay as they are declared.
pub(crate) fn note(el: &Elab<'_>, found: &mut Earlier) {
    if found.asserted.is_empty() {
        return;
    }
    let mut assigned = Assigned::default();
    for stmts in el.build.sinks.iter().chain([&el.build.entry]) {
        walk_block(stmts, &mut assigned);
    }
    for kernel in &el.f.kernels {
        walk_block(&kernel.body, &mut assigned);
    }
    // A macro of the preprocessor may assign any name.
    let has_macros = ["#define", "#include"].map(|word| el.cx.file.text.contains(word));
    let any = assigned.by_cpp && has_macros.contains(&true);
    let assigned: SortedSet<(Span, &str)> =
        assigned.locals.iter().map(|id| key_of(el, *id)).collect();
    for ((span, name), settled) in found.asserted.iter_mut() {
        let is_assigned = any || assigned.contains(&(*span, name.as_str()));
        // A choice of this walk may have added statements.
        found.incomplete |= is_assigned && *settled == Some(true);
        *settled = Some(!is_assigned && *settled != Some(false));
    }
}

fn key_of<'e>(el: &'e Elab<'_>, id: LocalId) -> (Span, &'e str) {
    let local = el.f.local(id);
    (local.span, local.name.as_str())
}

/// The mutables in a condition that an `assert` is about.
pub(crate) fn note_asserted(el: &mut Elab<'_>, cond: &Expr) {
    let mut mentioned = Mentioned(SortedSet::new());
    walk_exprs(cond, &mut mentioned);
    for id in mentioned.0 {
        let local = el.f.local(id);
        if local.mutable && local.ty.is_integer() {
            let local = local.clone();
            el.earlier.note_asserted(&local);
        }
    }
}

struct Mentioned(SortedSet<LocalId>);

impl Visit for Mentioned {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Local(id) = &*e.kind {
            self.0.insert(*id);
        }
    }
}

/// The locals that get another value than that of their declaration, or that C++ may give one.
#[derive(Default)]
struct Assigned {
    locals: SortedSet<LocalId>,
    /// Whether there is text of C++, or a call of a function of C++.
    by_cpp: bool,
}

impl Assigned {
    /// A function of the user may take a reference.
    fn argument(&mut self, arg: &Arg) {
        match arg {
            Arg::Value(value) => {
                if let ExprKind::Local(local) = &*value.kind {
                    self.locals.insert(*local);
                }
            }
            Arg::Cast(_, arg) => self.argument(arg),
            Arg::Pointer(_) | Arg::Null => {}
        }
    }
}

impl Visit for Assigned {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { local, .. } | StmtKind::Let { local, value: None } => {
                self.locals.insert(*local);
            }
            StmtKind::Atomic(atomic) => self.locals.extend(atomic.result),
            StmtKind::Cpp { names, .. } => {
                self.by_cpp = true;
                self.locals
                    .extend(names.iter().filter_map(|name| match name {
                        CppName::Local(local) => Some(*local),
                        CppName::Buffer(_) => None,
                    }))
            }
            _ => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        let ExprKind::Call(call) = &*e.kind else {
            return;
        };
        self.by_cpp = true;
        for arg in &call.args {
            self.argument(arg);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{CheckCode, StmtKind, any_stmt};
    use crate::sema::testing;

    /// The number of checks of an index in a kernel whose text contains these statements.
    fn checks_of_indices(statements: &str) -> usize {
        let macros = match statements.contains("SET") {
            true => "#define SET_I i = 77;\n#define SET(...) (i = 77)\n",
            false => "",
        };
        let text = format!(
            "__device__ void bump(int& i) {{ i += 100; }}
            {macros}
            __co__ void f(global f32 [N] x, global s32 [K] at) {{
              parallel p by K : thread {{
                s32 i = at.at(p);
                {statements}
                x.at(i) = 1.0f;
              }}
            }}"
        );
        let function = testing::function(&text);
        let mut count = 0;
        for kernel in &function.kernels {
            any_stmt(&kernel.body, |stmt| {
                if let StmtKind::Check { check, .. } = &stmt.kind {
                    let info = function.checks.get(check.index());
                    count += usize::from(info.is_some_and(|c| c.code == CheckCode::R12));
                }
                false
            });
        }
        count
    }

    #[test]
    fn an_assertion_proves_what_stays_as_declared() {
        assert_eq!(checks_of_indices("assert(i >= 0 && i < N, \"\");"), 0);
        assert_eq!(checks_of_indices("assert(i >= 0, \"\");"), 1);
        assert_eq!(checks_of_indices(""), 1);
    }

    #[test]
    fn an_assertion_proves_nothing_of_what_is_assigned() {
        let asserted = "assert(i >= 0 && i < N, \"\");";
        for changed in [
            "i = i + 1;",
            "i += 1;",
            "i++;",
            "if (p > 3) i = 7;",
            "i = __atomic_add(at.at(0), 1);",
            "call bump(i);",
            "call bump(__to<\"int&\">(i));",
            "__cpp__(\"SET_I\");",
            "call SET(p);",
            "__cpp__(\"i = 77;\");",
            "__asm__ volatile (\"mov.u32 %0, %laneid;\" : \"=r\"(i));",
        ] {
            let after = checks_of_indices(&format!("{asserted} {changed}"));
            let before = checks_of_indices(&format!("{changed} {asserted}"));
            assert!(after > 0 && before > 0, "{changed}: {after}, {before}");
        }
    }
}
