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

use super::survey::{self, Positions, Vector, conjuncts};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Buffer, BufferId, Expr, ExprKind, Flow, Function, LocalId, Move, MoveMode, Stmt,
    StmtKind, Storage, Unroll, Valid, VarHome, View, VisitorMut, any_in, any_stmt, declared_locals,
    walk_mut,
};
use crate::sorted::SortedSet;
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
    pub written: SortedSet<BufferId>,
    pub positions: Positions,
}

/// What the statements of all positions become.
struct Ways {
    /// The conditions of the way with vectors.
    conditions: Vec<Expr>,
    /// The statements of a position on this way, and those in front of all.
    each: Vec<Stmt>,
    first: Vec<Stmt>,
    vectors: Vec<Vector>,
    registers: Vec<BufferId>,
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
        let ways = self.ways(stmts, span)?;
        let wide = self.wide(&ways, None, span);
        let narrow = self.every(self.position, Unroll::By(1), stmts.to_vec(), span);
        let one = branch(ways.conditions.clone(), wide, vec![narrow], span);
        let Some(vector) = self.vector else {
            return Some(one);
        };
        let all = ways.conditions.iter();
        let all = all
            .map(|cond| extreme(self.function, cond, vector, Extreme::Hardest))
            .collect::<Option<Vec<Expr>>>()?;
        let wide = self.wide(&ways, Some(vector), span);
        let narrow = self.every(vector, Unroll::By(1), one, span);
        Some(branch(all, wide, vec![narrow], span))
    }

    /// The iterations of a loop; `None` if they have no vectors.
    pub fn iterations(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let span = stmts.first()?.span;
        let ways = self.ways(stmts, span)?;
        let wide = self.wide(&ways, None, span);
        // Registers have no addresses: their numbers are constants.
        let unroll = match survey::indexes_registers(self.function, stmts, self.position.var) {
            true => Unroll::Full,
            false => Unroll::By(1),
        };
        let narrow = self.every(self.position, unroll, stmts.to_vec(), span);
        // Where the condition of all statements holds for no iteration, the loop does nothing.
        let narrow = match self.of_any(stmts) {
            Some(any) => branch(any, vec![narrow], Vec::new(), span),
            None => vec![narrow],
        };
        Some(branch(ways.conditions, wide, narrow, span))
    }

    /// Conditions that together hold if that around all statements holds for one position.
    fn of_any(&self, stmts: &[Stmt]) -> Option<Vec<Expr>> {
        let cond = condition_around(stmts)?;
        let easiest = |cond| extreme(self.function, cond, self.position, Extreme::Easiest);
        conjuncts(cond).into_iter().map(easiest).collect()
    }

    fn ways(&mut self, stmts: &[Stmt], span: Span) -> Option<Ways> {
        let mut conditions = Vec::new();
        let mut each = Vec::new();
        self.flatten(stmts, &mut conditions, &mut each);
        // Vectors are loaded before the positions run, and what remains may check their places.
        if any_stmt(&each, |stmt| matches!(stmt.kind, StmtKind::Check { .. })) {
            return None;
        }
        let Numbers { var, count, .. } = self.position;
        let survey::Accesses {
            mut vectors,
            shared,
        } = survey::accesses(
            self.function,
            &each,
            (var, count),
            &self.written,
            self.positions,
        )?;
        // No way for all positions: each has its own, which is a constant.
        if conditions.iter().any(is_constant) {
            return None;
        }
        self.align(&mut vectors, &mut conditions, span)?;
        // One test instead of one for each iteration is worth while by itself, for registers.
        let some = !vectors.is_empty()
            || (self.are_tested(stmts) && survey::indexes_registers(self.function, stmts, var));
        if !some || !self.suits(&vectors)? || !self.are_known(&conditions, stmts) {
            return None;
        }
        let registers = vectors.iter().map(|v| self.registers(v.buffer, span));
        let registers: Vec<BufferId> = registers.collect();
        let first = self.shared(&mut each, shared);
        Some(Ways {
            conditions,
            each,
            first,
            vectors,
            registers,
        })
    }

    /// Whether there are registers for the vectors.
    fn suits(&self, vectors: &[Vector]) -> Option<bool> {
        let mut all = 0;
        for vector in vectors {
            let bytes = self.function.buffer(vector.buffer).elem.bytes();
            let bytes = i64::try_from(bytes).ok()?;
            let one = bytes.checked_mul(self.position.count)?;
            if self.positions == Positions::Instances && one > survey::WIDEST {
                return None;
            }
            all += one * self.vector.map_or(1, |v| v.count);
        }
        let several = self.vector.is_some() || self.positions == Positions::Iterations;
        Some(!(several && all > survey::MOST_REGISTERS))
    }

    /// Whether the condition around all iterations of a loop depends on their number.
    fn are_tested(&self, stmts: &[Stmt]) -> bool {
        let Some(cond) = condition_around(stmts) else {
            return false;
        };
        self.positions == Positions::Iterations
            && !self.is_common(cond)
            && self.for_all(cond).is_some()
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
            .map(|cond| extreme(self.function, cond, self.position, Extreme::Hardest))
            .collect()
    }

    /// Adds the conditions under which all vectors are aligned. Of the vectors of a loop only those
    /// remain that can be, together. `None` if one never is. The memory of a launch begins at a
    /// multiple of 256 bytes, and a buffer of shared memory at one of 16.
    fn align(
        &self,
        vectors: &mut Vec<Vector>,
        conditions: &mut Vec<Expr>,
        span: Span,
    ) -> Option<()> {
        let cx = &self.function.cx;
        let is_loop = self.positions == Positions::Iterations;
        let mut seen: Vec<(Sym, Sym, i64)> = Vec::new();
        let mut without = SortedSet::new();
        for vector in vectors.iter() {
            let count = survey::at_once(self.function, vector.buffer, self.position.count)?;
            let by = Sym::int(count);
            let divides = cx.divides(&by, &vector.base);
            let contradicts = |(base, _, other): &(Sym, Sym, i64)| {
                let both = Sym::int(count.min(*other));
                is_loop && cx.divides(&both, &(&vector.base - base)).is_no()
            };
            if divides.is_no() || seen.iter().any(contradicts) {
                if !is_loop {
                    return None;
                }
                without.insert((vector.buffer, vector.base.clone()));
                continue;
            }
            let rest = cx.rem(&vector.base, &by);
            if divides.is_yes() || seen.iter().any(|(_, known, _)| *known == rest) {
                continue;
            }
            let zero = Expr::index(Sym::zero(), span);
            let is_aligned = Expr::binary(BinOp::Eq, Expr::index(rest.clone(), span), zero, span);
            conditions.push(is_aligned);
            seen.push((vector.base.clone(), rest, count));
        }
        // Where a vector of a buffer that is written goes, its other accesses stay as well.
        let written = &self.written;
        let goes = |v: &Vector| {
            let of_buffer = without.iter().any(|(id, _)| *id == v.buffer);
            let itself = without
                .iter()
                .any(|(id, base)| *id == v.buffer && *base == v.base);
            itself || (of_buffer && written.contains(&v.buffer))
        };
        vectors.retain(|v| !goes(v));
        Some(())
    }

    /// Whether the conditions mention nothing that the statements declare.
    fn are_known(&self, conditions: &[Expr], stmts: &[Stmt]) -> bool {
        let mut declared = SortedSet::new();
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
    fn wide(&self, ways: &Ways, all: Option<Numbers>, span: Span) -> Vec<Stmt> {
        let Ways {
            each,
            first: declarations,
            vectors,
            registers,
            ..
        } = ways;
        let width = self.position.count;
        let first = all.map_or_else(Sym::zero, |all| Sym::var(all.var) * width);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (vector, own) in vectors.iter().zip(registers) {
            let count = survey::at_once(self.function, vector.buffer, width).unwrap_or(width);
            for part in (0..width).step_by(usize::try_from(count).unwrap_or(1)) {
                let part = Sym::int(part);
                let memory = element(vector.buffer, &vector.base + &part, span);
                let own = element(*own, &first + &part, span);
                if vector.loaded {
                    before.push(moved(own.clone(), memory.clone(), count, span));
                }
                if vector.stored {
                    after.push(moved(memory, own, count, span));
                }
            }
        }
        let mut each = each.clone();
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
        let parts: Vec<Stmt> = match all {
            None => parts.flatten().collect(),
            Some(all) => parts
                .map(|part| self.every(all, Unroll::Full, part, span))
                .collect(),
        };
        [declarations.clone(), parts].concat()
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

    fn registers(&mut self, of: BufferId, span: Span) -> BufferId {
        let vectors = self.vector.map_or(1, |v| v.count);
        registers(
            self.function,
            of,
            "vector",
            self.position.count * vectors,
            span,
        )
    }
}

/// An array of the thread for elements of a buffer, whose name it has with an addition.
pub(super) fn registers(
    function: &mut Function,
    of: BufferId,
    addition: &str,
    count: i64,
    span: Span,
) -> BufferId {
    let buffer = function.buffer(of);
    let name = format!("{}_{addition}", buffer.name);
    let own = Buffer::line(name, buffer.elem, Storage::Local, Sym::int(count), span);
    function.add_buffer(own)
}

/// Of the positions, the one for which a comparison is hardest, or easiest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    Hardest,
    Easiest,
}

/// The comparison for the number for which it is hardest, or easiest.
pub fn extreme(function: &Function, cond: &Expr, over: Numbers, wanted: Extreme) -> Option<Expr> {
    let ExprKind::Binary(op, a, b) = &*cond.kind else {
        return None;
    };
    let (ExprKind::Index(low), ExprKind::Index(high)) = (&*a.kind, &*b.kind) else {
        return None;
    };
    let cx = &function.cx;
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
    let last = last == (wanted == Extreme::Hardest);
    let at = Sym::int(if last { over.count - 1 } else { 0 });
    let of = |e: &Expr, sym| Expr::index(cx.substituted(sym, over.var, &at), e.span);
    Some(Expr::binary(*op, of(a, low), of(b, high), cond.span))
}

/// The condition around all of the statements.
fn condition_around(stmts: &[Stmt]) -> Option<&Expr> {
    let [only] = stmts else {
        return None;
    };
    match &only.kind {
        StmtKind::If {
            cond, otherwise, ..
        } if otherwise.is_empty() => Some(cond),
        _ => None,
    }
}

fn is_constant(cond: &Expr) -> bool {
    let ExprKind::Binary(_, a, b) = &*cond.kind else {
        return false;
    };
    let is_int = |e: &Expr| matches!(&*e.kind, ExprKind::Index(sym) if sym.as_int().is_some());
    is_int(a) && is_int(b)
}

fn moved(dest: Access, source: Access, count: i64, span: Span) -> Stmt {
    let kind = StmtKind::Move(Move {
        dest,
        source,
        elems: u32::try_from(count).unwrap_or(1),
        mode: MoveMode::Plain,
    });
    Stmt::new(kind, span)
}

/// `if (all conditions) { then } else { otherwise }`
pub fn branch(
    conditions: Vec<Expr>,
    then: Vec<Stmt>,
    otherwise: Vec<Stmt>,
    span: Span,
) -> Vec<Stmt> {
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
pub(super) fn element(buffer: BufferId, at: Sym, span: Span) -> Access {
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
        walk_mut::access::<crate::ir::Tiles>(self, access)
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
