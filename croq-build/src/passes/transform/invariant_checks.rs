//! Run-time checks in a loop that may prove an access which is moved in front of the loop: they are
//! moved with it.
//!
//! A check proves something about a place only if it mentions a variable of it. If it is in each
//! iteration, has the same outcome in all of them and reads no memory, it can as well precede the
//! loop.

use crate::ir::{
    Access, Expr, ExprKind, Flow, Function, LocalId, ON, ParamId, Stmt, StmtKind, VarHome, Visitor,
    any_stmt, walk,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

/// Whether all checks of the access that the loop's body has can precede the loop. `changing`:
/// variables that differ between iterations.
pub fn precede(
    function: &Function,
    body: &[Stmt],
    access: &Access,
    changing: &SortedSet<Var>,
) -> bool {
    let place = Place::of(function, std::slice::from_ref(access));
    let stays = |stmt: &Stmt| match is_invariant(stmt, changing) {
        true => place.is_mentioned_in(stmt, true),
        // Dimensions are in most checks.
        false => place.is_mentioned_in(stmt, false),
    };
    let is_check = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Check { .. });
    body.iter().all(|stmt| match is_check(stmt) {
        true => is_invariant(stmt, changing) || !stays(stmt),
        false => !any_stmt(std::slice::from_ref(stmt), |stmt| {
            is_check(stmt) && stays(stmt)
        }),
    })
}

/// Takes these checks of the accesses out of the body.
pub fn take(
    function: &Function,
    body: &mut Vec<Stmt>,
    accesses: &[Access],
    changing: &SortedSet<Var>,
) -> Vec<Stmt> {
    let place = Place::of(function, accesses);
    let mut taken = Vec::new();
    body.retain(|stmt| {
        let moves = is_invariant(stmt, changing) && place.is_mentioned_in(stmt, true);
        if moves {
            taken.push(stmt.clone());
        }
        !moves
    });
    taken
}

/// Whether a check of the body mentions one of the variables.
pub fn are_checked(function: &Function, body: &[Stmt], vars: &SortedSet<Var>) -> bool {
    let place = Place::of_vars(function, vars.iter().copied());
    any_stmt(body, |stmt| {
        matches!(stmt.kind, StmtKind::Check { .. }) && place.is_mentioned_in(stmt, true)
    })
}

/// The variables of places.
struct Place {
    vars: SortedSet<Var>,
    dims: SortedSet<Var>,
    locals: SortedSet<LocalId>,
    params: SortedSet<ParamId>,
}

impl Place {
    fn of(function: &Function, accesses: &[Access]) -> Self {
        let addresses: Vec<Sym> = accesses.iter().map(Access::address).collect();
        Self::of_vars(
            function,
            addresses.iter().flat_map(Sym::sorted_vars).copied(),
        )
    }

    fn of_vars(function: &Function, vars: impl IntoIterator<Item = Var>) -> Self {
        let mut place = Place {
            vars: SortedSet::new(),
            dims: SortedSet::new(),
            locals: SortedSet::new(),
            params: SortedSet::new(),
        };
        for var in vars {
            match function.var_home.get(&var) {
                Some(VarHome::Dim(_)) => {
                    place.dims.insert(var);
                    continue;
                }
                Some(VarHome::Local(id)) => drop(place.locals.insert(*id)),
                Some(VarHome::Param(id)) => drop(place.params.insert(*id)),
                None => {}
            }
            place.vars.insert(var);
        }
        place
    }

    fn is_mentioned_in(&self, stmt: &Stmt, by_dims: bool) -> bool {
        let mut find = Mentions {
            place: self,
            by_dims,
            found: false,
        };
        let _ = find.stmt(stmt);
        find.found
    }
}

struct Mentions<'a> {
    place: &'a Place,
    by_dims: bool,
    found: bool,
}

impl Visitor for Mentions<'_> {
    fn sym(&mut self, sym: &Sym) -> Flow {
        let Place { vars, dims, .. } = self.place;
        let is_of = |var| vars.contains(var) || (self.by_dims && dims.contains(var));
        self.found |= sym.sorted_vars().iter().any(is_of);
        ON
    }

    fn expr(&mut self, expr: &Expr) -> Flow {
        self.found |= match &*expr.kind {
            ExprKind::Local(id) => self.place.locals.contains(id),
            ExprKind::Param(id) => self.place.params.contains(id),
            _ => false,
        };
        walk::expr(self, expr)
    }
}

/// Whether the statement is a check with the same outcome in all iterations, wherever it is.
fn is_invariant(stmt: &Stmt, changing: &SortedSet<Var>) -> bool {
    let StmtKind::Check { cond, values, .. } = &stmt.kind else {
        return false;
    };
    std::iter::once(cond)
        .chain(values)
        .all(|e| is_fixed(e, changing))
}

fn is_fixed(e: &Expr, changing: &SortedSet<Var>) -> bool {
    let fixed = |e: &Expr| is_fixed(e, changing);
    match &*e.kind {
        ExprKind::Index(sym) => {
            !sym.is_poison() && sym.sorted_vars().iter().all(|var| !changing.contains(var))
        }
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Float(_) | ExprKind::Param(_) => true,
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => fixed(a),
        ExprKind::Binary(_, a, b) => fixed(a) && fixed(b),
        ExprKind::Select(a, b, c) => fixed(a) && fixed(b) && fixed(c),
        _ => false,
    }
}
