//! Scalar replacement: an element that a loop updates in each iteration is kept in a variable.
//!
//! `foreach k in K out.at(i, j) += …` means a load and a store of `out` in each iteration. No C++
//! compiler may keep the sum in a register, because `out` may alias the memory that the loop reads.
//! Here they are known to be different: buffers never overlap.
//!
//! An element is promoted if every access to its buffer in the loop is to this element, the loop
//! writes it in each iteration (so the store after the loop writes no element that was not written
//! before) and also reads it, and nothing in the loop makes it visible to other threads: no
//! barrier, no opaque code, no exit from the middle of an iteration. The promotion of a loop that
//! may have no iterations is inside an `if`. Run-time checks of the place are moved in front of the
//! load, with the load; where that is not possible, the element is not promoted.

use super::invariant_checks;
use crate::ir::{
    Access, BinOp, BufferId, Expr, ExprKind, Function, KernelId, LocalId, Scalar, Stmt, StmtKind,
    Storage, View, Visit, change_exprs, walk_block,
};
use crate::passes::analysis::uses::Uses;
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::Var;

/// Including elements of shared memory. This must precede its plan, because the store after a loop
/// extends the live range of the buffer.
pub fn promote(function: &mut Function, id: KernelId) {
    promote_some(function, id, true);
}

/// After copies are expanded, loops around them can be analysed, too.
pub fn promote_around_copies(function: &mut Function, id: KernelId) {
    promote_some(function, id, false);
}

fn promote_some(function: &mut Function, id: KernelId, shared: bool) {
    if function.reports {
        return;
    }
    function.with_kernel_body(id, |function, body| {
        block(function, body, shared);
    });
}

/// Inner loops first: their loads and stores, before and after them, are candidates for the outer
/// loop.
fn block(function: &mut Function, stmts: &mut Vec<Stmt>, shared: bool) {
    let mut at = 0;
    while let Some(stmt) = stmts.get_mut(at) {
        at += 1;
        for inner in stmt.kind.blocks_mut() {
            block(function, inner, shared);
        }
        if let Some(replaced) = promoted_loop(function, stmt, shared) {
            let count = replaced.len();
            stmts.splice(at - 1..at, replaced);
            at += count - 1;
        }
    }
}

/// The replacement of a loop that updates an element.
fn promoted_loop(function: &mut Function, stmt: &mut Stmt, shared: bool) -> Option<Vec<Stmt>> {
    let span = stmt.span;
    let StmtKind::For {
        local,
        lo,
        hi,
        body,
        ..
    } = &mut stmt.kind
    else {
        return None;
    };
    let changing = declared(function, *local, body);
    let mut elements = updated(function, body, &changing);
    elements.retain(|access| match function.buffer(access.view.buffer).storage {
        Storage::Shared => shared,
        // In registers already.
        Storage::Fragment => false,
        _ => true,
    });
    elements.retain(|access| invariant_checks::precede(function, body, access, &changing));
    if elements.is_empty() {
        return None;
    }
    let runs = function.cx.lt(lo, hi).is_yes();
    let (lo, hi) = (lo.clone(), hi.clone());
    let mut before = invariant_checks::take(function, body, &elements, &changing);
    let mut after = Vec::new();
    for access in elements {
        let buffer = access.view.buffer;
        let ty = function.buffer(buffer).elem;
        let promoted = variable(function, buffer, ty, &access);
        let value = Expr::new(ExprKind::Local(promoted), ty, access.span);
        replace_in(body, buffer, &value);
        before.push(Stmt::new(
            StmtKind::Let {
                local: promoted,
                value: Some(Expr::new(ExprKind::Load(access.clone()), ty, access.span)),
            },
            access.span,
        ));
        let at = access.span;
        let store = StmtKind::Store {
            access,
            op: None,
            value,
        };
        after.push(Stmt::new(store, at));
    }
    let around = Stmt::new(std::mem::replace(&mut stmt.kind, StmtKind::Break), span);
    let all = before.into_iter().chain([around]).chain(after).collect();
    if runs {
        return Some(all);
    }
    let cond = ExprKind::Binary(BinOp::Lt, Expr::index(lo, span), Expr::index(hi, span));
    let kind = StmtKind::If {
        cond: Expr::new(cond, Scalar::Bool, span),
        then: all,
        otherwise: Vec::new(),
    };
    Some(vec![Stmt::new(kind, span)])
}

fn variable(function: &mut Function, buffer: BufferId, ty: Scalar, access: &Access) -> LocalId {
    let name = format!("{}_held", function.buffer(buffer).name);
    function.new_local(&name, ty, true, access.span)
}

/// Variables that differ between iterations.
fn declared(function: &Function, variable: LocalId, body: &[Stmt]) -> SortedSet<Var> {
    Uses::of_block(function, body)
        .declared
        .iter()
        .chain([&variable])
        .filter_map(|id| function.locals.get(id.index())?.var)
        .collect()
}

/// The elements to promote, each as in its first access.
fn updated(function: &Function, body: &[Stmt], changing: &SortedSet<Var>) -> Vec<Access> {
    let mut survey = Survey {
        function,
        changing,
        places: SortedMap::new(),
        closed: true,
    };
    walk_block(body, &mut survey);
    if !survey.closed {
        return Vec::new();
    }
    // Stores in each iteration, outside of all conditions and inner loops.
    let every_iteration: SortedSet<BufferId> = body
        .iter()
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::Store { access, .. } => Some(access.view.buffer),
            _ => None,
        })
        .collect();
    let places = survey.places.into_iter();
    places
        .filter(|(buffer, _)| every_iteration.contains(buffer))
        .filter_map(|(_, place)| match place {
            Place::One { access, read: true } => Some(*access),
            _ => None,
        })
        .collect()
}

enum Place {
    /// All accesses so far are of this element.
    One {
        access: Box<Access>,
        read: bool,
    },
    Many,
}

struct Survey<'a> {
    function: &'a Function,
    changing: &'a SortedSet<Var>,
    places: SortedMap<BufferId, Place>,
    /// No statement lets other threads or opaque code access memory between two iterations.
    closed: bool,
}

impl Survey<'_> {
    fn mark_many(&mut self, buffer: BufferId) {
        self.places.insert(buffer, Place::Many);
    }

    fn element(&mut self, access: &Access, reads: bool) {
        let address = access.address();
        let varies = address.is_poison()
            || address
                .sorted_vars()
                .iter()
                .any(|v| self.changing.contains(v));
        let buffer = access.view.buffer;
        match self.places.get_mut(&buffer) {
            _ if varies => self.mark_many(buffer),
            None => {
                let access = Box::new(access.clone());
                let place = Place::One {
                    read: reads,
                    access,
                };
                self.places.insert(buffer, place);
            }
            Some(Place::One { access: one, read }) => {
                *read |= reads;
                if !self.function.cx.eq(&one.address(), &address).is_yes() {
                    self.mark_many(buffer);
                }
            }
            Some(Place::Many) => {}
        }
    }
}

impl Visit for Survey<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Store { access, op, .. } => self.element(access, op.is_some()),
            StmtKind::Move(m) => {
                self.mark_many(m.source.view.buffer);
                self.mark_many(m.dest.view.buffer);
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::For { .. }
            | StmtKind::If { .. }
            | StmtKind::Check { .. }
            | StmtKind::Print { .. } => {}
            _ => self.closed = false,
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &*expr.kind {
            ExprKind::Load(access) => self.element(access, true),
            ExprKind::Call(_) => self.closed = false,
            ExprKind::Intrinsic(of, _) if of.info().converges => self.closed = false,
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        self.mark_many(view.buffer);
    }
}

/// Replaces accesses of the buffer by uses of `value`.
fn replace_in(stmts: &mut [Stmt], buffer: BufferId, value: &Expr) {
    let ExprKind::Local(local) = *value.kind else {
        return;
    };
    change_exprs(stmts, &mut |e| {
        if let ExprKind::Load(access) = &*e.kind
            && access.view.buffer == buffer
        {
            *e.kind = ExprKind::Local(local);
        }
    });
    assign(stmts, buffer, local, value);
}

fn assign(stmts: &mut [Stmt], buffer: BufferId, local: LocalId, promoted: &Expr) {
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Store { access, op, value } if access.view.buffer == buffer => {
                let value = match op {
                    Some(op) => {
                        let kind = ExprKind::Binary(*op, promoted.clone(), value.clone());
                        Expr::new(kind, promoted.ty, access.span)
                    }
                    None => value.clone(),
                };
                stmt.kind = StmtKind::Assign { local, value };
            }
            kind => {
                for block in kind.blocks_mut() {
                    assign(block, buffer, local, promoted);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::Diagnostics;
    use crate::ir::threads::{Function, Stmt, StmtKind};
    use crate::passes::run;
    use crate::sema::testing;

    /// Loops and stores of the first kernel, with promoted elements as `promote`.
    fn outline(text: &str) -> String {
        let limits = crate::pipeline::Options::default().shared_limits();
        let mut diags = Diagnostics::new();
        let Some(function) = run(testing::function(text), limits, true, &mut diags) else {
            panic!("{:#?}", diags.into_sorted());
        };
        let mut words = Vec::new();
        describe(&function, &function.kernels[0].body, &mut words);
        words.join(" ")
    }

    fn describe(function: &Function, stmts: &[Stmt], words: &mut Vec<String>) {
        let nested = |word: &str, body: &[Stmt], words: &mut Vec<String>| {
            words.push(format!("{word} {{"));
            describe(function, body, words);
            words.push("}".to_owned());
        };
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { local, .. } if function.local(*local).name.ends_with("_held") => {
                    words.push("promote".to_owned());
                }
                StmtKind::Store { .. } => words.push("store".to_owned()),
                StmtKind::Check { .. } => words.push("check".to_owned()),
                StmtKind::Assign { .. } => words.push("assign".to_owned()),
                StmtKind::Barrier { .. } => words.push("barrier".to_owned()),
                StmtKind::For { body, .. } => nested("for", body, words),
                StmtKind::Parallel { body, .. } => describe(function, body, words),
                StmtKind::If { then, .. } => nested("if", then, words),
                _ => {}
            }
        }
    }

    fn of(params: &str, body: &str) -> String {
        outline(&format!(
            "__co__ void f({params}) {{ parallel p by 8 : thread {{ {body} }} }}"
        ))
    }

    const X: &str = "f32 [8, 16] & x, f32 [8] & y, int n";

    #[test]
    fn a_sum_is_promoted() {
        let body = "foreach k in 16 y.at(p) += x.at(p, k);";
        assert_eq!(of(X, body), "promote for { assign } store");
    }

    #[test]
    fn loads_and_stores_of_the_same_element_count_like_updates() {
        let body = "foreach k in 16 { y.at(p) = y.at(p) * 2.0f; if (k > 3) y.at(p) -= 1.0f; }";
        assert_eq!(of(X, body), "promote for { assign if { assign } } store");
    }

    #[test]
    fn nested_loops_promote_at_each_level() {
        let body = "foreach i in 4 { foreach k in 4 y.at(p) += x.at(p, i * 4 + k); }";
        assert_eq!(
            of(X, body),
            "promote for { promote for { assign } assign } store"
        );
    }

    #[test]
    fn a_loop_that_may_not_run_writes_nothing_when_it_does_not() {
        let body = "foreach k in n y.at(p) += 1.0f;";
        assert_eq!(of(X, body), "if { promote for { assign } store }");
    }

    #[test]
    fn a_varying_element_is_not_promoted() {
        let body = "foreach k in 16 x.at(p, k) += 1.0f;";
        assert_eq!(of(X, body), "for { store }");
    }

    #[test]
    fn one_of_two_elements_is_not_promoted() {
        let body = "foreach k in 16 { x.at(p, 0) += 1.0f; x.at(p, k) *= 2.0f; }";
        assert_eq!(of(X, body), "for { store store }");
    }

    #[test]
    fn an_element_of_some_iterations_is_not_promoted() {
        let body = "foreach k in 16 if (k > n) y.at(p) += 1.0f;";
        assert_eq!(of(X, body), "for { if { store } }");
    }

    #[test]
    fn an_element_that_is_only_written_is_not_promoted() {
        let body = "foreach k in 16 y.at(p) = x.at(p, k);";
        assert_eq!(of(X, body), "for { store }");
    }

    #[test]
    fn a_loop_with_early_exit_is_not_promoted() {
        let body = "foreach k in 16 { if (k == n) break; y.at(p) += 1.0f; }";
        assert_eq!(of(X, body), "for { if { } store }");
    }

    #[test]
    fn checks_of_the_element_precede_its_load() {
        let params = "f32 [8, 16] & x, f32 [8] & y, s32 [8] at, int n";
        let of = |body: &str| of(params, body);
        let of_data = "m = at.at(p); foreach k in 16 y.at(m) += x.at(p, k);";
        assert_eq!(of(of_data), "check promote for { assign } store");
        let asserted = "m = at.at(p); foreach k in n { assert(m < 8 && m >= 0, \"m\"); y.at(m) += x.at(p, k % 16); }";
        assert_eq!(of(asserted), "if { check promote for { assign } store }");
        let nested =
            "m = at.at(p); foreach i in 2 { foreach k in 8 y.at(m) += x.at(p, k + 8 * i); }";
        assert_eq!(
            of(nested),
            "check promote for { promote for { assign } assign } store"
        );
        // It differs between iterations.
        let varying = "m = at.at(p); foreach k in 2 { assert(m + k < 8 && m >= 0, \"m\"); y.at(m) += x.at(p, k); }";
        assert_eq!(of(varying), "for { check check store }");
        // Of another element.
        let other = "foreach k in 8 y.at(p) += x.at(p, at.at(k));";
        assert_eq!(of(other), "promote for { check assign } store");
    }

    #[test]
    fn a_loop_with_a_barrier_is_not_promoted() {
        let text = "__co__ void f(f32 [8] & y) { parallel b by 1 : block {
            shared f32 [8] s{0.0f};
            parallel p by 8 : thread { foreach k in 16 { s.at(p) += 1.0f; sync.shared; y.at(p) += s.at((p + 1) % 8); sync.shared; } }
        } }";
        assert!(!outline(text).contains("hold"), "{}", outline(text));
    }
}
