//! An interpreter of the IR for one thread of a block, run separately: records the thread's
//! accesses, with the barriers that it has passed before each. A load returns the contents of the
//! model's memory, and an arbitrary constant for each element that has none, so all threads take
//! consistent paths.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

use crate::ir::*;
use crate::sorted::SortedMap;
use crate::symbolic::{Atom, Sym, Var};

#[derive(Clone, Copy, Debug)]
pub enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    pub fn int(self) -> i128 {
        match self {
            Value::Int(i) => i,
            Value::Float(f) => f as i128,
        }
    }

    fn float(self) -> f64 {
        match self {
            Value::Int(i) => i as f64,
            Value::Float(f) => f,
        }
    }

    fn truth(self) -> bool {
        self.int() != 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub tid: i128,
    pub buffer: BufferId,
    pub element: i128,
    pub write: bool,
    pub atomic: bool,
    /// The unit that executes the statement together.
    pub unit: Level,
    pub path: Rc<Vec<(usize, u32, Level)>>,
    /// The number of barriers passed: of the block, the warpgroup, the warp.
    pub epochs: [u32; 3],
    /// Loads of the block's first thread for which this thread has waited.
    pub loads: u32,
    /// The enclosing asynchronous region.
    pub region: Option<Region>,
    pub at: u32,
}

/// Hashes the fields that distinguish most events of a thread.
impl Hash for Event {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let small = self.at << 1 | u32::from(self.write);
        let passed = self.epochs.iter().fold(self.loads, |sum, n| sum * 8 + n);
        state.write_u64(u64::from(small) << 32 | u64::from(passed));
        state.write_u64(self.element as u64 ^ u64::from(self.buffer.0) << 48);
    }
}

/// Hashes by multiplying two words: with the standard hasher, hashing would dominate these tests.
#[derive(Default)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

pub type Events = HashSet<Event, BuildHasherDefault<Mixed>>;

/// The state of a thread in an asynchronous region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The first of its threads, which identifies the region.
    pub first: u32,
    /// Barriers among its threads that this thread has passed.
    pub epoch: u32,
    /// Waits for an event after a trigger.
    pub released: u32,
}

pub enum Flow {
    Next,
    Break,
    Continue,
    Exit,
}

pub struct Thread<'a> {
    pub function: &'a Function,
    pub threads: i128,
    pub tid: i128,
    pub values: SortedMap<Var, i128>,
    pub locals: SortedMap<LocalId, Value>,
    pub path: Rc<Vec<(usize, u32, Level)>>,
    pub entered: SortedMap<usize, u32>,
    pub epochs: [u32; 3],
    pub loads: u32,
    /// The threads of the enclosing regions.
    pub sets: Vec<ThreadSet>,
    pub region: Option<Region>,
    /// Whether an event was triggered since the last wait.
    pub triggered: bool,
    pub events: Events,
    pub fuel: u32,
    /// In an atomic operation.
    pub atomic: bool,
    /// The stored values; `None` if they are not needed.
    pub memory: Option<Memory>,
}

/// A loop that depends on memory may not terminate with arbitrary contents.
const MOST_ITERATIONS: u32 = 64;

pub type Memory = SortedMap<(BufferId, i128), Value>;

/// The value of an element that was never written.
pub fn arbitrary(buffer: BufferId, element: i128) -> Value {
    Value::Int((element * 7 + i128::from(buffer.0)) % 5)
}

impl<'a> Thread<'a> {
    /// A thread before its first statement; it stops after `fuel` statements.
    pub fn new(function: &'a Function, threads: i128, tid: i128, fuel: u32) -> Self {
        Self {
            function,
            threads,
            tid,
            values: SortedMap::new(),
            locals: SortedMap::new(),
            path: Rc::default(),
            entered: SortedMap::new(),
            epochs: [0; 3],
            loads: 0,
            sets: Vec::new(),
            region: None,
            triggered: false,
            events: Events::default(),
            fuel,
            atomic: false,
            memory: None,
        }
    }

    // Loops rather than iterators: this function dominates the time of these tests without
    // optimisation.
    pub fn sym(&self, sym: &Sym) -> i128 {
        if let Some(constant) = sym.as_int() {
            return i128::from(constant);
        }
        let mut sum = 0;
        for (coefficient, atoms) in sym.terms() {
            let mut product = i128::from(coefficient);
            for atom in atoms {
                product *= match atom {
                    Atom::Var(v) => self.var(*v),
                    Atom::Div(a, b) => self.sym(a).checked_div(self.sym(b)).unwrap_or(0),
                    Atom::Rem(a, b) => self.sym(a).checked_rem(self.sym(b)).unwrap_or(0),
                    Atom::Min(a, b) => self.sym(a).min(self.sym(b)),
                    Atom::Max(a, b) => self.sym(a).max(self.sym(b)),
                };
            }
            sum += product;
        }
        sum
    }

    fn var(&self, var: Var) -> i128 {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => self.locals.get(id).map_or(0, |v| v.int()),
            _ => self.values.get(&var).copied().unwrap_or(0),
        }
    }

    fn note(&mut self, buffer: BufferId, element: i128, write: bool, unit: Level, at: u32) {
        if self.function.buffer(buffer).storage != Storage::Local {
            self.events.insert(Event {
                tid: self.tid,
                buffer,
                element,
                write,
                atomic: self.atomic,
                unit,
                path: Rc::clone(&self.path),
                epochs: self.epochs,
                loads: self.loads,
                region: self.region,
                at,
            });
        }
    }

    fn access(&mut self, access: &Access, write: bool) -> i128 {
        let view = &access.view;
        let mut element = self.sym(&view.offset);
        for (stride, index) in view.strides.iter().zip(&access.indices) {
            element += self.sym(stride) * self.sym(index);
        }
        let at = access.span.start;
        self.note(view.buffer, element, write, Level::Thread, at);
        element
    }

    fn expr(&mut self, e: &Expr) -> Value {
        match &*e.kind {
            ExprKind::Index(sym) => Value::Int(self.sym(sym)),
            ExprKind::Int(v) => Value::Int(*v),
            ExprKind::Float(v) => Value::Float(*v),
            ExprKind::Bool(b) => Value::Int(i128::from(*b)),
            ExprKind::Local(id) => self.locals.get(id).copied().unwrap_or(Value::Int(0)),
            ExprKind::Param(id) => match self.function.param(*id).kind {
                ParamKind::Scalar { var: Some(v), .. } => Value::Int(self.var(v)),
                _ => Value::Int(2),
            },
            ExprKind::Unary(op, a) => {
                let a = self.expr(a);
                match op {
                    UnOp::Neg => match a {
                        Value::Int(i) => Value::Int(-i),
                        Value::Float(f) => Value::Float(-f),
                    },
                    UnOp::Not => Value::Int(i128::from(!a.truth())),
                    UnOp::BitNot => Value::Int(!a.int()),
                }
            }
            ExprKind::Binary(BinOp::LogicAnd, a, b) => {
                let holds = self.expr(a).truth() && self.expr(b).truth();
                Value::Int(i128::from(holds))
            }
            ExprKind::Binary(BinOp::LogicOr, a, b) => {
                let holds = self.expr(a).truth() || self.expr(b).truth();
                Value::Int(i128::from(holds))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                binary(*op, a, b)
            }
            ExprKind::Select(c, a, b) => {
                if self.expr(c).truth() {
                    self.expr(a)
                } else {
                    self.expr(b)
                }
            }
            ExprKind::Cast(a) => {
                let a = self.expr(a);
                if e.ty.is_float() {
                    Value::Float(a.float())
                } else {
                    Value::Int(a.int())
                }
            }
            ExprKind::Math(_, args) => args
                .iter()
                .map(|a| self.expr(a))
                .last()
                .unwrap_or(Value::Int(0)),
            ExprKind::Load(access) => {
                let element = self.access(access, false);
                self.stored(access.view.buffer, element)
            }
            ExprKind::Intrinsic(Intrinsic::Thread, _) => Value::Int(self.tid),
            ExprKind::Intrinsic(Intrinsic::Warp, _) => Value::Int(self.tid / 32),
            ExprKind::Intrinsic(Intrinsic::Elected, _) => {
                Value::Int(i128::from(self.tid % 32 == 0))
            }
            ExprKind::Intrinsic(Intrinsic::Block(_) | Intrinsic::ClusterRank, _) => Value::Int(0),
            ExprKind::Intrinsic(Intrinsic::Kept, operands) => operands
                .iter()
                .map(|operand| self.expr(operand))
                .last()
                .unwrap_or(Value::Int(0)),
            ExprKind::Intrinsic(
                Intrinsic::LaneAcross
                | Intrinsic::HasPtx
                | Intrinsic::AddsVectors
                | Intrinsic::SameInBlock
                | Intrinsic::SameInRegion
                | Intrinsic::SameInWarp,
                operands,
            ) => {
                for operand in operands {
                    self.expr(operand);
                }
                Value::Int(1)
            }
            ExprKind::Fits(_) => Value::Int(1),
            ExprKind::Call(call) => {
                for arg in &call.args {
                    if let Arg::Value(e) = arg {
                        self.expr(e);
                    }
                }
                Value::Int(1)
            }
        }
    }

    fn stored(&self, buffer: BufferId, element: i128) -> Value {
        let stored = self.memory.as_ref().and_then(|m| m.get(&(buffer, element)));
        stored
            .copied()
            .unwrap_or_else(|| arbitrary(buffer, element))
    }

    fn store(&mut self, buffer: BufferId, element: i128, value: Value) {
        if let Some(memory) = &mut self.memory {
            memory.insert((buffer, element), value);
        }
    }

    /// Contiguous elements; an asynchronous move completes immediately. As after an atomic operation,
    /// the value of an element to which another is added is not followed.
    fn moved(&mut self, m: &Move) {
        let inside = match &m.mode {
            MoveMode::Async {
                inside: Some(inside),
            } => self.expr(inside).truth(),
            _ => true,
        };
        let by = i128::from(m.elems);
        for k in 0..m.elems {
            let along = |access: &Access| {
                let mut access = access.clone();
                access.view.offset = &access.view.offset + i64::from(k);
                access
            };
            let (source, dest) = (along(&m.source), along(&m.dest));
            let value = if inside {
                let element = self.access(&source, false);
                assert!(
                    k > 0 || element % by == 0,
                    "{element} is not a multiple of {by}"
                );
                self.stored(source.view.buffer, element)
            } else {
                Value::Int(0)
            };
            self.atomic = matches!(m.mode, MoveMode::Add);
            let element = self.access(&dest, true);
            if !std::mem::take(&mut self.atomic) {
                self.store(dest.view.buffer, element, value);
            }
            assert!(
                k > 0 || element % by == 0,
                "{element} is not a multiple of {by}"
            );
        }
    }

    fn set(&mut self, local: LocalId, value: Value) {
        self.locals.insert(local, value);
    }

    pub fn block(&mut self, stmts: &[Stmt]) -> Flow {
        for stmt in stmts {
            match self.stmt(stmt) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        self.fuel = self.fuel.saturating_sub(1);
        if self.fuel == 0 {
            return Flow::Exit;
        }
        let at = stmt.span.start;
        match &stmt.kind {
            StmtKind::Let { local, value } => {
                let value = value.as_ref().map_or(Value::Int(0), |v| self.expr(v));
                self.set(*local, value);
            }
            StmtKind::Assign { local, value } => {
                let value = self.expr(value);
                self.set(*local, value);
            }
            StmtKind::Store { access, op, value } => {
                let value = self.expr(value);
                if op.is_some() {
                    self.access(access, false);
                }
                let element = self.access(access, true);
                self.store(access.view.buffer, element, value);
            }
            StmtKind::Atomic(atomic) => {
                for operand in atomic.operands() {
                    self.expr(operand);
                }
                self.atomic = true;
                let element = self.access(&atomic.access, true);
                self.atomic = false;
                if let Some(result) = atomic.result {
                    self.set(result, arbitrary(atomic.access.view.buffer, element));
                }
            }
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let (mut i, hi) = (self.sym(lo), self.sym(hi));
                let step = self.sym(step).max(1);
                while i < hi {
                    self.set(*local, Value::Int(i));
                    match self.block(body) {
                        Flow::Break => break,
                        Flow::Exit => return Flow::Exit,
                        _ => {}
                    }
                    i += step;
                }
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                for _ in 0..MOST_ITERATIONS {
                    if let Flow::Exit = self.block(prelude) {
                        return Flow::Exit;
                    }
                    if !self.expr(cond).truth() {
                        break;
                    }
                    match self.block(body) {
                        Flow::Break => break,
                        Flow::Exit => return Flow::Exit,
                        _ => {}
                    }
                }
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let taken = if self.expr(cond).truth() {
                    then
                } else {
                    otherwise
                };
                return self.block(taken);
            }
            StmtKind::Break => return Flow::Break,
            StmtKind::Continue => return Flow::Continue,
            StmtKind::Yield => return Flow::Exit,
            StmtKind::Parallel { level, body } => {
                let id = std::ptr::from_ref(stmt) as usize;
                let count = self.entered.entry(id).or_default();
                *count += 1;
                Rc::make_mut(&mut self.path).push((id, *count, *level));
                let flow = self.block(body);
                Rc::make_mut(&mut self.path).pop();
                return flow;
            }
            StmtKind::SingleThread { level, body, .. } => {
                if self.rank(*level) == 0 {
                    return self.block(body);
                }
            }
            StmtKind::Region {
                pred,
                set,
                is_async,
                body,
                ..
            } => {
                if !self.expr(pred).truth() {
                    return Flow::Next;
                }
                let Some(set) = set else {
                    return self.block(body);
                };
                let around = self.region;
                if *is_async {
                    self.region = set.lowest().map(|first| Region {
                        first,
                        epoch: 0,
                        released: 0,
                    });
                }
                self.sets.push(set.clone());
                let flow = self.block(body);
                self.sets.pop();
                self.region = around;
                return flow;
            }
            StmtKind::Trigger(_) => self.triggered = true,
            StmtKind::WaitEvent(_) => {
                if let Some(region) = &mut self.region {
                    region.released += u32::from(std::mem::take(&mut self.triggered));
                }
            }
            // The data of a load is ordered by its mbarrier, which is not modelled.
            StmtKind::Copy(copy) if !copy.engine.is_threads() => {
                let stores = matches!(&copy.engine, Engine::Tma(tma) if tma.arrival.is_none() && tma.event.is_none());
                if self.rank(copy.level) == 0 {
                    self.access_share(&copy.source, false, Level::Thread, at);
                    if stores {
                        self.access_share(&copy.dest, true, Level::Thread, at);
                    }
                }
                let by_whole_block = copy.level == Level::Block && self.sets.is_empty();
                if !stores && copy.future.is_none() && by_whole_block {
                    self.loads += 1;
                }
            }
            StmtKind::Copy(copy) => {
                self.access_share(&copy.source, false, copy.level, at);
                self.access_share(&copy.dest, true, copy.level, at);
            }
            StmtKind::Move(m) => self.moved(m),
            StmtKind::Fill { view, value, level } => {
                self.expr(value);
                self.access_share(view, true, *level, at);
            }
            StmtKind::Barrier { scope, .. } => match scope {
                BarrierScope::Block if !self.sets.is_empty() => {
                    if let Some(region) = &mut self.region {
                        region.epoch += 1;
                    }
                }
                BarrierScope::Grid | BarrierScope::Cluster | BarrierScope::Block => {
                    self.epochs[0] += 1;
                }
                BarrierScope::Warpgroup
                | BarrierScope::WarpgroupFrom(_)
                | BarrierScope::WarpgroupOf { .. } => self.epochs[1] += 1,
                BarrierScope::Warp => self.epochs[2] += 1,
                _ => {}
            },
            StmtKind::Check { cond, .. } => drop(self.expr(cond)),
            StmtKind::Print { parts, .. } => {
                for part in parts {
                    if let PrintPart::Value(e) = part {
                        self.expr(e);
                    }
                }
            }
            StmtKind::Eval(e) => drop(self.expr(e)),
            _ => {}
        }
        Flow::Next
    }

    fn size(&self, level: Level) -> i128 {
        match (level.threads(), self.sets.last()) {
            (Some(unit), _) => i128::from(unit),
            (None, Some(set)) => i128::from(set.len()),
            (None, None) => self.threads,
        }
    }

    /// This thread's rank in its unit.
    fn rank(&self, level: Level) -> i128 {
        match (level, self.sets.last()) {
            (Level::Block, Some(set)) => {
                let below = |tid: &u32| i128::from(*tid) < self.tid;
                set.threads().filter(below).count() as i128
            }
            _ => self.tid % self.size(level),
        }
    }

    /// This thread's share of a tile, in a deliberately unusual distribution.
    fn access_share(&mut self, view: &View, write: bool, level: Level, at: u32) {
        let shape: Vec<i128> = view.shape.iter().map(|s| self.sym(s)).collect();
        let strides: Vec<i128> = view.strides.iter().map(|s| self.sym(s)).collect();
        let offset = self.sym(&view.offset);
        let bound = |of: &Option<Sym>| of.as_ref().map(|s| self.sym(s));
        let valid: Vec<_> = view
            .valid
            .iter()
            .map(|v| (bound(&v.lo), bound(&v.hi)))
            .collect();
        let (size, rank) = (self.size(level), self.rank(level));
        let count: i128 = shape.iter().product();
        let own: Vec<i128> = (0..size).filter(|e| (e * 5 + 3) % size == rank).collect();
        let mut iteration = 0;
        while iteration < count {
            for e in own.iter().map(|e| iteration + e).filter(|e| *e < count) {
                let (mut rest, mut element, mut inside) = (e, offset, true);
                for (axis, n) in shape.iter().enumerate().rev() {
                    let index = rest % n;
                    rest /= n;
                    element += index * strides[axis];
                    let (lo, hi) = valid.get(axis).copied().unwrap_or_default();
                    inside &= lo.is_none_or(|lo| lo <= index) && hi.is_none_or(|hi| index < hi);
                }
                if inside {
                    self.note(view.buffer, element, write, level, at);
                }
            }
            iteration += size;
        }
    }
}

fn binary(op: BinOp, a: Value, b: Value) -> Value {
    let truth = |b: bool| Value::Int(i128::from(b));
    if let (Value::Int(x), Value::Int(y)) = (a, b) {
        return match op {
            BinOp::Add => Value::Int(x.wrapping_add(y)),
            BinOp::Sub => Value::Int(x.wrapping_sub(y)),
            BinOp::Mul => Value::Int(x.wrapping_mul(y)),
            BinOp::Div => Value::Int(x.checked_div(y).unwrap_or(0)),
            BinOp::Rem => Value::Int(x.checked_rem(y).unwrap_or(0)),
            BinOp::Shl => Value::Int(x.wrapping_shl(y as u32)),
            BinOp::Shr => Value::Int(x.wrapping_shr(y as u32)),
            BinOp::And => Value::Int(x & y),
            BinOp::Or => Value::Int(x | y),
            BinOp::Xor => Value::Int(x ^ y),
            BinOp::LogicAnd => truth(x != 0 && y != 0),
            BinOp::LogicOr => truth(x != 0 || y != 0),
            BinOp::Lt => truth(x < y),
            BinOp::Le => truth(x <= y),
            BinOp::Gt => truth(x > y),
            BinOp::Ge => truth(x >= y),
            BinOp::Eq => truth(x == y),
            BinOp::Ne => truth(x != y),
            BinOp::Min => Value::Int(x.min(y)),
            BinOp::Max => Value::Int(x.max(y)),
        };
    }
    let (x, y) = (a.float(), b.float());
    match op {
        BinOp::Add => Value::Float(x + y),
        BinOp::Sub => Value::Float(x - y),
        BinOp::Mul => Value::Float(x * y),
        BinOp::Div => Value::Float(x / y),
        BinOp::Lt => truth(x < y),
        BinOp::Le => truth(x <= y),
        BinOp::Gt => truth(x > y),
        BinOp::Ge => truth(x >= y),
        BinOp::Eq => truth(x == y),
        BinOp::Ne => truth(x != y),
        BinOp::Min => Value::Float(x.min(y)),
        _ => Value::Float(x.max(y)),
    }
}
