//! Races inside a level: an instance of a `parallel` writes an element of shared memory that
//! another one reads or writes, without a barrier between.
//!
//! The instances of a level are independent, so nothing orders them, and no barrier is inserted
//! between them. Only definite races are reported: both accesses are made by every instance, their
//! addresses differ by a constant, and some pair of instances accesses the same element.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BufferId, Expr, ExprKind, Function, Level, LocalId, Role, Stmt, StmtKind, Storage,
    Visit, walk_exprs,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::{Sym, Var};

/// The maximum number of instances that are enumerated: that of a block.
const INSTANCES: i64 = 1024;

/// An index of a level below the block, and its number of values.
type Index = (Var, LocalId, i64);

/// An access that each instance makes.
struct Seen {
    access: Access,
    writes: bool,
    atomic: bool,
}

pub fn check(func: &Function, diags: &mut Diagnostics) {
    for kernel in &func.kernels {
        find_in(func, diags, &kernel.body, &[]);
    }
}

fn find_in(func: &Function, diags: &mut Diagnostics, stmts: &[Stmt], around: &[Index]) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Parallel { level, body } => {
                let mut indices = around.to_vec();
                indices.extend(indices_of(func, body));
                if *level == Level::Thread {
                    find_between_barriers(func, diags, body, &indices);
                }
                find_in(func, diags, body, &indices);
            }
            kind => {
                for block in kind.blocks() {
                    find_in(func, diags, block, around);
                }
            }
        }
    }
}

fn indices_of(func: &Function, body: &[Stmt]) -> Vec<Index> {
    let lets = body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Let { local, .. } => Some(*local),
        _ => None,
    });
    lets.filter_map(|id| {
        let local = func.local(id);
        let (var, Role::Parallel(level)) = (local.var?, local.role) else {
            return None;
        };
        let (lo, hi) = func.cx.bounds(var);
        let below_block = level > Level::Block && lo.is_some_and(Sym::is_zero);
        Some((var, id, hi?.as_int()? + 1)).filter(|_| below_block)
    })
    .collect()
}

/// The body of a level: checks its accesses in groups between barriers.
fn find_between_barriers(
    func: &Function,
    diags: &mut Diagnostics,
    body: &[Stmt],
    indices: &[Index],
) {
    let mut seen: SortedMap<BufferId, Vec<Seen>> = SortedMap::new();
    let mut reported = SortedSet::new();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic(_) => {}
            // Accesses after a loop, a branch or a barrier are in another group.
            _ => {
                seen.clear();
                continue;
            }
        }
        let mut all = Accesses {
            found: Vec::new(),
            calls: false,
            atomic: false,
        };
        match &stmt.kind {
            StmtKind::Let {
                value: Some(value), ..
            }
            | StmtKind::Assign { value, .. } => walk_exprs(value, &mut all),
            StmtKind::Store { access, op, value } => {
                walk_exprs(value, &mut all);
                if op.is_some() {
                    all.access(access, false);
                }
                all.access(access, true);
            }
            StmtKind::Atomic(atomic) => {
                atomic.operands().for_each(|e| walk_exprs(e, &mut all));
                all.atomic = true;
                all.access(&atomic.access, true);
            }
            _ => {}
        }
        if all.calls {
            seen.clear();
            continue;
        }
        for one in all.found {
            let buffer = one.access.view.buffer;
            if func.buffer(buffer).storage != Storage::Shared {
                continue;
            }
            let others = seen.entry(buffer).or_default();
            for other in others.iter() {
                if (one.writes || other.writes)
                    && !(one.atomic && other.atomic)
                    && let Some((mine, theirs)) = conflicting_instances(&one, other, indices)
                    && reported.insert(buffer)
                {
                    report(func, diags, &one, other, indices, (mine, theirs));
                }
            }
            others.push(one);
        }
    }
}

/// Two different instances, one for each access, that access the same element.
fn conflicting_instances(a: &Seen, b: &Seen, indices: &[Index]) -> Option<(Vec<i64>, Vec<i64>)> {
    let instances = indices
        .iter()
        .try_fold(1i64, |all, (_, _, n)| all.checked_mul(*n))?;
    if !(2..=INSTANCES).contains(&instances) {
        return None;
    }
    let (slopes, rest) = split(&a.access.address(), indices)?;
    let (others, other_rest) = split(&b.access.address(), indices)?;
    let difference = (&rest - &other_rest).as_int()?;
    if difference == 0 && slopes == others {
        return None;
    }
    let value =
        |slopes: &[i64], at: &[i64]| -> i64 { slopes.iter().zip(at).map(|(s, v)| s * v).sum() };
    let all: Vec<Vec<i64>> = (0..instances).map(|n| place(n, indices)).collect();
    let mut first: SortedMap<i64, Vec<&Vec<i64>>> = SortedMap::new();
    for at in &all {
        first.entry(value(&others, at)).or_default().push(at);
    }
    all.iter().find_map(|mine| {
        let theirs = first.get(&(value(&slopes, mine) + difference))?;
        let theirs = theirs.iter().find(|theirs| **theirs != mine)?;
        Some((mine.clone(), (*theirs).clone()))
    })
}

fn report(
    func: &Function,
    diags: &mut Diagnostics,
    one: &Seen,
    other: &Seen,
    indices: &[Index],
    (mine, theirs): (Vec<i64>, Vec<i64>),
) {
    let name = func.buffer(one.access.view.buffer).name.clone();
    let instance = |at: &[i64]| {
        let named = indices.iter().zip(at);
        let texts: Vec<String> = named
            .map(|((_, local, _), v)| format!("{} = {v}", func.local(*local).name))
            .collect();
        texts.join(", ")
    };
    let does = |seen: &Seen| match seen.writes {
        _ if seen.atomic => "updates",
        true => "writes",
        false => "reads",
    };
    let (here, there) = (instance(&mine), instance(&theirs));
    let diagnostic = Diagnostic::new(
        codes::W0882,
        one.access.span,
        format!("instances of this level race for an element of `{name}`"),
    )
    .label(format!("{here} {} it here", does(one)))
    .also(
        other.access.span,
        format!("{there} {} the same element", does(other)),
    )
    .help("instances run in any order: put `sync.shared;` between, or use another buffer");
    diags.push(diagnostic);
}

struct Accesses {
    found: Vec<Seen>,
    calls: bool,
    /// Whether the accesses being collected are atomic.
    atomic: bool,
}

impl Visit for Accesses {
    fn expr(&mut self, expr: &Expr) {
        match &*expr.kind {
            // Only one of the operands is evaluated.
            ExprKind::Select(..) | ExprKind::Call(_) => self.calls = true,
            ExprKind::Binary(op, ..) => {
                use crate::ir::BinOp::{LogicAnd, LogicOr};
                self.calls |= matches!(op, LogicAnd | LogicOr);
            }
            _ => {}
        }
    }

    fn access(&mut self, access: &Access, written: bool) {
        self.found.push(Seen {
            access: access.clone(),
            writes: written,
            atomic: self.atomic,
        });
    }
}

/// The coefficient of each index in the address, and the part that is independent of all indices.
fn split(address: &Sym, indices: &[Index]) -> Option<(Vec<i64>, Sym)> {
    let mut rest = address.clone();
    let mut slopes = Vec::new();
    for (var, _, _) in indices {
        let (slope, without) = rest.linear_in(*var)?;
        slopes.push(slope.as_int()?);
        rest = without;
    }
    Some((slopes, rest))
}

fn place(mut number: i64, indices: &[Index]) -> Vec<i64> {
    let digits = indices.iter().map(|(_, _, n)| {
        let digit = number % n;
        number /= n;
        digit
    });
    digits.collect()
}
