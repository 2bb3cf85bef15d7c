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

use super::instances::conjuncts;
use super::survey::{self, Vector};
use crate::ir::{
    Access, BinOp, Buffer, BufferId, Expr, ExprKind, Flow, Function, LocalId, Move, MoveMode, Stmt,
    StmtKind, Storage, Unroll, Valid, VarHome, View, VisitorMut, any_in, declared_locals, walk_mut,
};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

pub struct Group<'a> {
    function: &'a mut Function,
    local: LocalId,
    position: Var,
    width: i64,
    written: BTreeSet<BufferId>,
}

impl<'a> Group<'a> {
    pub fn new(
        function: &'a mut Function,
        (local, position): (LocalId, Var),
        width: i64,
        written: BTreeSet<BufferId>,
    ) -> Self {
        Self {
            function,
            local,
            position,
            width,
            written,
        }
    }

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
            position: self.position,
            found: false,
        };
        crate::ir::walk_block(stmts, &mut depends);
        depends.found
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
                let depends = [lo, hi, step].iter().any(|s| s.contains(self.position));
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
            ExprKind::Index(sym) => sym.contains(self.position),
            ExprKind::Load(access) => {
                access.address().contains(self.position)
                    || self.written.contains(&access.view.buffer)
            }
            _ => false,
        })
    }

    /// Both ways.
    fn positions(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let span = stmts.first()?.span;
        let mut conditions = Vec::new();
        let mut each = Vec::new();
        self.flatten(stmts, &mut conditions, &mut each)?;
        let vectors = survey::vectors(
            self.function,
            &each,
            (self.position, self.width),
            &self.written,
        )?;
        for vector in &vectors {
            let bytes = self.function.buffer(vector.buffer).elem.bytes();
            let bytes = i64::try_from(bytes).ok()?.checked_mul(self.width)?;
            if bytes > super::WIDEST {
                return None;
            }
        }
        self.align(&vectors, &mut conditions, span)?;
        if !self.are_known(&conditions, stmts) {
            return None;
        }
        let wide = self.wide(&vectors, each, span);
        let both = |a, b| Expr::binary(BinOp::LogicAnd, a, b, span);
        let Some(cond) = conditions.into_iter().reduce(both) else {
            return Some(wide);
        };
        let narrow = self.every(Some(Unroll::By(1)), stmts.to_vec(), span);
        let kind = StmtKind::If {
            cond,
            then: wide,
            otherwise: vec![narrow],
        };
        Some(vec![Stmt::new(kind, span)])
    }

    /// The statements that each position executes if the conditions hold for all positions.
    fn flatten(
        &self,
        stmts: &[Stmt],
        conditions: &mut Vec<Expr>,
        each: &mut Vec<Stmt>,
    ) -> Option<()> {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } if otherwise.is_empty() => match self.for_all(cond) {
                    Some(all) => {
                        conditions.extend(all);
                        self.flatten(then, conditions, each)?;
                    }
                    None => each.push(stmt.clone()),
                },
                StmtKind::Check { cond, .. } => match self.for_all(cond) {
                    Some(all) => conditions.extend(all),
                    None => each.push(stmt.clone()),
                },
                _ => each.push(stmt.clone()),
            }
        }
        Some(())
    }

    /// Conditions that together are the condition of all positions.
    fn for_all(&self, cond: &Expr) -> Option<Vec<Expr>> {
        conjuncts(cond)
            .into_iter()
            .map(|cond| self.extreme(cond))
            .collect()
    }

    /// The comparison at the position where it is hardest.
    fn extreme(&self, cond: &Expr) -> Option<Expr> {
        let ExprKind::Binary(op, a, b) = &*cond.kind else {
            return None;
        };
        let (ExprKind::Index(low), ExprKind::Index(high)) = (&*a.kind, &*b.kind) else {
            return None;
        };
        let cx = &self.function.cx;
        let rise = |sym: &Sym| Some(sym.linear_in(self.position)?.0);
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
        let at = Sym::int(if last { self.width - 1 } else { 0 });
        let of = |e: &Expr, sym| Expr::index(cx.substituted(sym, self.position, &at), e.span);
        Some(Expr::binary(*op, of(a, low), of(b, high), cond.span))
    }

    /// Adds the conditions under which all vectors are aligned; `None` if one never is. The memory
    /// of a launch begins at a multiple of 256 bytes.
    fn align(&self, vectors: &[Vector], conditions: &mut Vec<Expr>, span: Span) -> Option<()> {
        let cx = &self.function.cx;
        let by = Sym::int(self.width);
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

    fn every(&self, unroll: Option<Unroll>, body: Vec<Stmt>, span: Span) -> Stmt {
        let kind = StmtKind::For {
            local: self.local,
            lo: Sym::zero(),
            hi: Sym::int(self.width),
            step: Sym::one(),
            unroll,
            body,
        };
        Stmt::new(kind, span)
    }

    fn wide(&mut self, vectors: &[Vector], mut each: Vec<Stmt>, span: Span) -> Vec<Stmt> {
        let mut registers = Vec::new();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for vector in vectors {
            let own = self.registers(vector.buffer, span);
            let memory = element(vector.buffer, vector.base.clone(), span);
            let first = element(own, Sym::zero(), span);
            if vector.loaded {
                before.push(self.moved(first.clone(), memory.clone(), span));
            }
            if vector.stored {
                after.push(self.moved(memory, first, span));
            }
            registers.push(own);
        }
        let mut replace = Replace {
            function: self.function,
            position: self.position,
            vectors,
            registers: &registers,
        };
        let _ = replace.block(&mut each);
        before.push(self.every(Some(Unroll::Full), each, span));
        before.extend(after);
        before
    }

    fn moved(&self, dest: Access, source: Access, span: Span) -> Stmt {
        let kind = StmtKind::Move(Move {
            dest,
            source,
            elems: u32::try_from(self.width).unwrap_or(1),
            mode: MoveMode::Plain,
        });
        Stmt::new(kind, span)
    }

    /// An array of the thread for the elements of a vector.
    fn registers(&mut self, of: BufferId, span: Span) -> BufferId {
        let buffer = self.function.buffer(of);
        let count = Sym::int(self.width);
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
    vectors: &'a [Vector],
    registers: &'a [BufferId],
}

impl VisitorMut for Replace<'_> {
    fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
        if let Some(base) = survey::base_of(self.function, access, self.position)
            && let Some(at) = survey::find(self.vectors, access.view.buffer, &base)
            && let Some(own) = self.registers.get(at)
        {
            *access = element(*own, Sym::var(self.position), access.span);
        }
        walk_mut::access::<crate::ir::Tiles, _>(self, access)
    }
}

struct Depends {
    position: Var,
    found: bool,
}

impl crate::ir::Visit for Depends {
    fn sym(&mut self, sym: &Sym) {
        self.found |= sym.contains(self.position);
    }
}
