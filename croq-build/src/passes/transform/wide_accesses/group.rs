//! The statements of a group of neighbouring instances.
//!
//! ```text
//! if (all positions satisfy the conditions && the vectors are aligned) {
//!   xs = x[base .. base + W];
//!   for position in 0 .. W { ys[position] = f(xs[position]) }
//!   y[base .. base + W] = ys;
//! } else {
//!   for position in 0 .. W { if (condition) y[base + position] = f(x[base + position]) }
//! }
//! ```
//!
//! A condition on an integer that grows or falls with the position holds for all positions if it
//! holds for the first and the last; so do run-time checks, which the first way does not repeat.
//! Loops and names that are the same for all positions stay around both ways.

use std::collections::BTreeSet;

use super::survey::{self, Vector, conjuncts};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Buffer, BufferId, Expr, ExprKind, Flow, Function, LocalId, Move, MoveMode, Stmt,
    StmtKind, Storage, Unroll, Valid, VarHome, View, VisitorMut, any_in, any_stmt, declared_locals,
    walk_mut,
};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// A number `0 .. count`.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub local: LocalId,
    pub var: Var,
    pub count: i64,
}

pub struct Group<'a> {
    pub function: &'a mut Function,
    /// The positions in a vector.
    pub position: Numbers,
    /// The vectors of a thread, if it has several.
    pub vector: Option<Numbers>,
    pub written: BTreeSet<BufferId>,
}

impl Group<'_> {
    /// The statements of all positions; `None` if their accesses are no vectors.
    pub fn statements(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let names = stmts.iter().take_while(|stmt| self.is_common_name(stmt));
        let (names, rest) = stmts.split_at(names.count());
        let mut all = names.to_vec();
        let inner = match rest {
            [only] => self.common(only)?,
            _ => None,
        };
        match inner {
            Some(around) => all.push(around),
            None => all.extend(self.positions(rest)?),
        }
        Some(all)
    }

    /// A constant that all positions share.
    fn is_common_name(&self, stmt: &Stmt) -> bool {
        let StmtKind::Let {
            local,
            value: Some(_),
        } = &stmt.kind
        else {
            return false;
        };
        let mutable = self
            .function
            .locals
            .get(local.index())
            .is_none_or(|l| l.mutable);
        !mutable && !self.depends(std::slice::from_ref(stmt)) && !self.loads_results(stmt)
    }

    fn loads_results(&self, stmt: &Stmt) -> bool {
        let loads = |e: &Expr| match &*e.kind {
            ExprKind::Load(access) => self.written.contains(&access.view.buffer),
            _ => false,
        };
        any_in(std::slice::from_ref(stmt), |_| false, loads)
    }

    /// Whether an expression of the statements, or a name that each position has for itself,
    /// depends on the position.
    fn depends(&self, stmts: &[Stmt]) -> bool {
        let mut depends = Depends {
            group: self,
            found: false,
        };
        crate::ir::walk_block(stmts, &mut depends);
        depends.found
    }

    /// Whether it differs between the instances of the thread.
    fn differs(&self, sym: &Sym) -> bool {
        let numbers = self.vector.iter().chain([&self.position]);
        numbers.into_iter().any(|n| sym.contains(n.var))
    }

    /// A loop or a branch that all positions take together, around their statements: the outer
    /// `None` if these are no vectors, the inner one if there is no such statement.
    #[expect(clippy::option_option, reason = "a failure, and no such statement")]
    fn common(&mut self, stmt: &Stmt) -> Option<Option<Stmt>> {
        let kind = match &stmt.kind {
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll,
                body,
            } => {
                let depends = [lo, hi, step].iter().any(|s| self.differs(s));
                if depends || body.iter().any(Stmt::leaves_iteration) {
                    return Some(None);
                }
                StmtKind::For {
                    local: *local,
                    lo: lo.clone(),
                    hi: hi.clone(),
                    step: step.clone(),
                    unroll: *unroll,
                    body: self.statements(body)?,
                }
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() && self.is_common(cond) => StmtKind::If {
                cond: cond.clone(),
                then: self.statements(then)?,
                otherwise: Vec::new(),
            },
            _ => return Some(None),
        };
        Some(Some(Stmt::new(kind, stmt.span)))
    }

    fn is_common(&self, cond: &Expr) -> bool {
        !crate::ir::any_expr(cond, |e| match &*e.kind {
            ExprKind::Index(sym) => self.differs(sym),
            ExprKind::Load(access) => {
                self.differs(&access.address()) || self.written.contains(&access.view.buffer)
            }
            _ => false,
        })
    }

    /// All ways.
    fn positions(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let span = stmts.first()?.span;
        let mut conditions = Vec::new();
        let mut each = Vec::new();
        self.flatten(stmts, &mut conditions, &mut each);
        // Vectors are loaded before the positions run, and what remains may check their places.
        if any_stmt(&each, |stmt| matches!(stmt.kind, StmtKind::Check { .. })) {
            return None;
        }
        let Numbers { var, count, .. } = self.position;
        let survey::Accesses { vectors, shared } =
            survey::accesses(self.function, &each, (var, count), &self.written)?;
        let mut registers = Vec::new();
        let mut bytes = 0;
        for vector in &vectors {
            let one = self.function.buffer(vector.buffer).elem.bytes();
            let one = i64::try_from(one).ok()?.checked_mul(count)?;
            bytes += one * self.vector.map_or(1, |v| v.count);
            if one > survey::WIDEST {
                return None;
            }
        }
        if self.vector.is_some() && bytes > survey::MOST_REGISTERS {
            return None;
        }
        self.align(&vectors, &mut conditions, span)?;
        if !self.are_known(&conditions, stmts) {
            return None;
        }
        for vector in &vectors {
            registers.push(self.registers(vector.buffer, span));
        }
        let first = self.shared(&mut each, shared);
        let wide = self.wide(&vectors, &registers, each.clone(), None, span);
        let narrow = self.every(self.position, Unroll::By(1), stmts.to_vec(), span);
        let with_first = |wide| [first.clone(), wide].concat();
        let one = branch(conditions.clone(), with_first(wide), vec![narrow], span);
        let Some(vector) = self.vector else {
            return Some(one);
        };
        let all = conditions
            .iter()
            .map(|cond| self.extreme(cond, vector))
            .collect::<Option<Vec<Expr>>>()?;
        let wide = self.wide(&vectors, &registers, each, Some(vector), span);
        let narrow = self.every(vector, Unroll::By(1), one, span);
        Some(branch(all, with_first(wide), vec![narrow], span))
    }

    /// The statements that each position executes if the conditions hold for all positions.
    fn flatten(&self, stmts: &[Stmt], conditions: &mut Vec<Expr>, each: &mut Vec<Stmt>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } if otherwise.is_empty() => match self.for_all(cond) {
                    Some(all) => {
                        add(conditions, all);
                        self.flatten(then, conditions, each);
                    }
                    None => each.push(stmt.clone()),
                },
                StmtKind::Check { cond, .. } => match self.for_all(cond) {
                    Some(all) => add(conditions, all),
                    None => each.push(stmt.clone()),
                },
                _ => each.push(stmt.clone()),
            }
        }
    }

    /// Conditions that together are the condition of all positions.
    fn for_all(&self, cond: &Expr) -> Option<Vec<Expr>> {
        conjuncts(cond)
            .into_iter()
            .map(|cond| self.extreme(cond, self.position))
            .collect()
    }

    /// The comparison for the number for which it is hardest.
    fn extreme(&self, cond: &Expr, over: Numbers) -> Option<Expr> {
        let ExprKind::Binary(op, a, b) = &*cond.kind else {
            return None;
        };
        let (ExprKind::Index(low), ExprKind::Index(high)) = (&*a.kind, &*b.kind) else {
            return None;
        };
        let cx = &self.function.cx;
        if !low.contains(over.var) && !high.contains(over.var) {
            return Some(cond.clone());
        }
        let rise = |sym: &Sym| Some(sym.linear_in(over.var)?.0);
        let rise = rise(high)? - rise(low)?;
        // `high - low` at the first or at the last position.
        let (falls, rises) = (
            cx.le(&rise, &Sym::zero()).is_yes(),
            cx.le(&Sym::zero(), &rise).is_yes(),
        );
        let last = match op {
            BinOp::Lt | BinOp::Le if falls => true,
            BinOp::Lt | BinOp::Le if rises => false,
            BinOp::Gt | BinOp::Ge if rises => true,
            BinOp::Gt | BinOp::Ge if falls => false,
            _ => return None,
        };
        let at = Sym::int(if last { over.count - 1 } else { 0 });
        let of = |e: &Expr, sym| Expr::index(cx.substituted(sym, over.var, &at), e.span);
        Some(Expr::binary(*op, of(a, low), of(b, high), cond.span))
    }

    /// Adds the conditions under which all vectors are aligned; `None` if one never is. The memory
    /// of a launch begins at a multiple of 256 bytes.
    fn align(&self, vectors: &[Vector], conditions: &mut Vec<Expr>, span: Span) -> Option<()> {
        let cx = &self.function.cx;
        let by = Sym::int(self.position.count);
        let mut seen: Vec<Sym> = Vec::new();
        for vector in vectors {
            let divides = cx.divides(&by, &vector.base);
            if divides.is_no() {
                return None;
            }
            let rest = cx.rem(&vector.base, &by);
            if divides.is_yes() || seen.contains(&rest) {
                continue;
            }
            let zero = Expr::index(Sym::zero(), span);
            let is_aligned = Expr::binary(BinOp::Eq, Expr::index(rest.clone(), span), zero, span);
            conditions.push(is_aligned);
            seen.push(rest);
        }
        Some(())
    }

    /// Whether the conditions mention nothing that the statements declare.
    fn are_known(&self, conditions: &[Expr], stmts: &[Stmt]) -> bool {
        let mut declared = BTreeSet::new();
        declared_locals(stmts, &mut declared);
        let known = |e: &Expr| match &*e.kind {
            ExprKind::Index(sym) => {
                !sym.is_poison()
                    && sym.sorted_vars().iter().all(|var| {
                        let home = self.function.var_home.get(var);
                        !matches!(home, Some(VarHome::Local(id)) if declared.contains(id))
                    })
            }
            _ => true,
        };
        conditions
            .iter()
            .all(|cond| !crate::ir::any_expr(cond, |e| !known(e)))
    }

    fn every(&self, of: Numbers, unroll: Unroll, body: Vec<Stmt>, span: Span) -> Stmt {
        let kind = StmtKind::For {
            local: of.local,
            lo: Sym::zero(),
            hi: Sym::int(of.count),
            step: Sym::one(),
            unroll: Some(unroll),
            body,
        };
        Stmt::new(kind, span)
    }

    /// The way of vectors, of one or of all that the thread has.
    fn wide(
        &self,
        vectors: &[Vector],
        registers: &[BufferId],
        mut each: Vec<Stmt>,
        all: Option<Numbers>,
        span: Span,
    ) -> Vec<Stmt> {
        let width = self.position.count;
        let first = all.map_or_else(Sym::zero, |all| Sym::var(all.var) * width);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (vector, own) in vectors.iter().zip(registers) {
            let memory = element(vector.buffer, vector.base.clone(), span);
            let first = element(*own, first.clone(), span);
            if vector.loaded {
                before.push(self.moved(first.clone(), memory.clone(), span));
            }
            if vector.stored {
                after.push(self.moved(memory, first, span));
            }
        }
        let mut replace = Replace {
            function: self.function,
            position: self.position.var,
            at: &first + &Sym::var(self.position.var),
            vectors,
            registers,
        };
        let _ = replace.block(&mut each);
        let each = vec![self.every(self.position, Unroll::Full, each, span)];
        let parts = [before, each, after]
            .into_iter()
            .filter(|part| !part.is_empty());
        match all {
            None => parts.flatten().collect(),
            Some(all) => parts
                .map(|part| self.every(all, Unroll::Full, part, span))
                .collect(),
        }
    }

    /// Loads elements that all positions share only once. The declarations are returned.
    fn shared(&mut self, each: &mut [Stmt], shared: Vec<Access>) -> Vec<Stmt> {
        let mut declarations = Vec::new();
        for access in shared {
            if self.differs(&access.address()) {
                continue;
            }
            let (name, ty) = {
                let buffer = self.function.buffer(access.view.buffer);
                (format!("{}_value", buffer.name), buffer.elem)
            };
            let load = Expr::new(ExprKind::Load(access.clone()), ty, access.span);
            let (declaration, value) = build::value(self.function, &name, load);
            let function = &*self.function;
            crate::ir::change_exprs(each, &mut |e| {
                if let ExprKind::Load(other) = &*e.kind
                    && survey::is_same(function, other, &access)
                {
                    *e = value.clone();
                }
            });
            declarations.push(declaration);
        }
        declarations
    }

    fn moved(&self, dest: Access, source: Access, span: Span) -> Stmt {
        let kind = StmtKind::Move(Move {
            dest,
            source,
            elems: u32::try_from(self.position.count).unwrap_or(1),
            mode: MoveMode::Plain,
        });
        Stmt::new(kind, span)
    }

    /// An array of the thread for the elements of its vectors.
    fn registers(&mut self, of: BufferId, span: Span) -> BufferId {
        let buffer = self.function.buffer(of);
        let vectors = self.vector.map_or(1, |v| v.count);
        let count = Sym::int(self.position.count * vectors);
        let own = Buffer {
            name: format!("{}_vector", buffer.name),
            elem: buffer.elem,
            storage: Storage::Local,
            shape: vec![count.clone()],
            count,
            span,
            read: true,
            written: true,
            swizzle: None,
            swaps: false,
        };
        self.function.add_buffer(own)
    }
}

/// `if (all conditions) { then } else { otherwise }`
fn branch(conditions: Vec<Expr>, then: Vec<Stmt>, otherwise: Vec<Stmt>, span: Span) -> Vec<Stmt> {
    let both = |a, b| Expr::binary(BinOp::LogicAnd, a, b, span);
    let Some(cond) = conditions.into_iter().reduce(both) else {
        return then;
    };
    let kind = StmtKind::If {
        cond,
        then,
        otherwise,
    };
    vec![Stmt::new(kind, span)]
}

/// Adds comparisons that are not among the conditions yet.
fn add(conditions: &mut Vec<Expr>, all: Vec<Expr>) {
    let sides = |e: &Expr| match &*e.kind {
        ExprKind::Binary(op, a, b) => match (&*a.kind, &*b.kind) {
            (ExprKind::Index(a), ExprKind::Index(b)) => Some((*op, a.clone(), b.clone())),
            _ => None,
        },
        _ => None,
    };
    for cond in all {
        let mut known = conditions.iter();
        if !known.any(|other| sides(other).is_some() && sides(other) == sides(&cond)) {
            conditions.push(cond);
        }
    }
}

/// Element `at` of the buffer.
fn element(buffer: BufferId, at: Sym, span: Span) -> Access {
    let view = View {
        buffer,
        offset: at,
        shape: vec![Sym::one()],
        strides: vec![Sym::one()],
        valid: vec![Valid::default()],
        frame: None,
        span,
    };
    Access {
        view,
        indices: vec![Sym::zero()],
        span,
    }
}

/// Accesses of vectors become accesses of their registers.
struct Replace<'a> {
    function: &'a Function,
    position: Var,
    /// The element of the registers.
    at: Sym,
    vectors: &'a [Vector],
    registers: &'a [BufferId],
}

impl VisitorMut for Replace<'_> {
    fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
        if let Some(base) = survey::base_of(self.function, access, self.position)
            && let Some(at) = survey::find(self.vectors, access.view.buffer, &base)
            && let Some(own) = self.registers.get(at)
        {
            *access = element(*own, self.at.clone(), access.span);
        }
        walk_mut::access::<crate::ir::Tiles, _>(self, access)
    }
}

struct Depends<'a> {
    group: &'a Group<'a>,
    found: bool,
}

impl crate::ir::Visit for Depends<'_> {
    fn sym(&mut self, sym: &Sym) {
        self.found |= self.group.differs(sym);
    }
}
