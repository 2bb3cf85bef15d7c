//! Statements as C++: those of both hosts and kernels, and those of kernels. `shim` prints the
//! others.

use super::body::Body;
use super::expr;
use super::loops::Bounds;
use super::place;
use super::scalar;
use super::text::Text;
use super::writer::quoted;
use crate::ir::threads::{MmaOp, Stmt, StmtKind};
use crate::ir::{
    Access, Atom, Atomic, BarrierReason, BarrierScope, BinOp, CheckInfo, CppName, Expr, ExprKind,
    FenceScope, LocalId, Move, MoveMode, PrintPart, Registers, Scalar, Step, StorePair,
    WARPGROUP_THREADS, cpp_text,
};
use crate::sorted::SortedMap;
use crate::source::Span;

/// The maximum length of a line in which a statement follows its condition.
const LONG: usize = 100;

impl Body<'_, '_> {
    pub fn block(&mut self, stmts: &[Stmt]) {
        let mut rest = stmts;
        while let Some((first, others)) = rest.split_first() {
            let together = self.declarations(rest);
            rest = if let StmtKind::Parallel { body, .. } = &first.kind {
                self.parallel(first.span, body, others.is_empty());
                others
            } else if matches!(first.kind, StmtKind::Region { .. }) {
                let regions = self.regions(rest);
                rest.get(regions.max(1)..).unwrap_or_default()
            } else if together > 1 {
                let (declarations, after) = rest.split_at(together);
                self.declare_together(declarations);
                after
            } else {
                self.stmt(first);
                others
            };
        }
    }

    /// A level: its declarations need a block of their own, unless it is the last statement.
    fn parallel(&mut self, span: Span, body: &[Stmt], is_last: bool) {
        if is_last || !declares_names(body) {
            self.writer.comment_on(span);
            return self.block(body);
        }
        self.braced(span, "{", body);
    }

    /// The number of consecutive constants of one type that are declared at one position of the
    /// source.
    fn declarations(&self, stmts: &[Stmt]) -> usize {
        let kind = |stmt: &Stmt| {
            let StmtKind::Let {
                local,
                value: Some(_),
            } = &stmt.kind
            else {
                return None;
            };
            let info = self.names.function.locals.get(local.index())?;
            let plain = !info.mutable
                && self.read.contains(local)
                && !self.names.unproven.locals.contains(local);
            plain.then_some((stmt.span, stmt.span.written(), info.ty))
        };
        let Some(first) = stmts.first().and_then(kind) else {
            return 0;
        };
        stmts.iter().take_while(|s| kind(s) == Some(first)).count()
    }

    fn declare_together(&mut self, stmts: &[Stmt]) {
        let mut line = String::new();
        let mut span = Span::default();
        for stmt in stmts {
            let StmtKind::Let {
                local,
                value: Some(value),
            } = &stmt.kind
            else {
                continue;
            };
            let value = self.expr(value);
            let name = self.names.declare_local(*local);
            if line.is_empty() {
                span = stmt.span;
                let ty = self.names.function.locals.get(local.index()).map(|l| l.ty);
                let ty = scalar::cpp(ty.unwrap_or(Scalar::Index));
                line = format!("const {ty} {name} = {value}");
            } else {
                line.push_str(&format!(", {name} = {value}"));
            }
        }
        line.push(';');
        let order = stmts.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Let { local, .. } => self.order(*local),
            _ => None,
        });
        line.extend(order);
        self.line(span, &line);
    }

    /// A comment for an index that the compiler made the fastest of its level.
    fn order(&self, local: LocalId) -> Option<String> {
        let mut kernels = self.names.function.kernels.iter();
        let is_fastest = kernels.any(|k| k.fastest.contains(&local));
        is_fastest.then(|| format!("  // {} is the fastest", self.names.local(local)))
    }

    /// The text of a statement that is one line of C++, if it is from the same source line as the
    /// text before it.
    fn one_line(&self, stmts: &[Stmt], after: Span) -> Option<String> {
        let [stmt] = stmts else { return None };
        let lines = |span| (self.writer.line_of(span), self.writer.written_on(span));
        if lines(stmt.span) != lines(after) {
            return None;
        }
        match &stmt.kind {
            StmtKind::Store { access, op, value } => Some(self.store(access, *op, value)),
            StmtKind::Atomic(atomic) if atomic.result.is_none() => Some(self.call_of(atomic)),
            StmtKind::Move(m) => Some(self.moved(m)),
            StmtKind::Assign { local, value } => Some(self.assign(*local, value)),
            StmtKind::Break => Some("break;".to_owned()),
            StmtKind::Continue => Some("continue;".to_owned()),
            StmtKind::Yield => Some("return;".to_owned()),
            _ => None,
        }
    }

    fn assign(&self, local: LocalId, value: &Expr) -> String {
        if let Some(update) = self.update(local, value) {
            return update;
        }
        let value = self.for_local(local, value);
        format!("{} = {value};", self.names.local(local))
    }

    /// `sum += …`, if C++ computes that in the variable's own type.
    fn update(&self, local: LocalId, value: &Expr) -> Option<String> {
        let ExprKind::Binary(op, a, b) = &*value.kind else {
            return None;
        };
        let is_own = matches!(&*a.kind, ExprKind::Local(id) if *id == local) && b.ty == value.ty;
        let op = match (op, value.ty) {
            (BinOp::Add, Scalar::F32 | Scalar::F64 | Scalar::U32 | Scalar::U64) => "+=",
            (BinOp::Sub, Scalar::F32 | Scalar::F64 | Scalar::U32 | Scalar::U64) => "-=",
            (BinOp::Mul, Scalar::F32 | Scalar::F64 | Scalar::U32 | Scalar::U64) => "*=",
            (BinOp::Xor, Scalar::U32 | Scalar::U64) => "^=",
            _ => return None,
        };
        let function = self.names.function;
        let unproven = &self.names.unproven;
        let plain = is_own && !unproven.locals.contains(&local) && !unproven.expr(function, value);
        let name = self.names.local(local);
        plain.then(|| format!("{name} {op} {};", self.expr(b)))
    }

    /// The statements of a nested C++ block, with a scope of their own.
    pub(super) fn nested(&mut self, stmts: &[Stmt]) {
        self.names.enter(stmts);
        self.block(stmts);
        self.names.leave();
    }

    pub(super) fn line(&mut self, span: Span, text: &str) {
        self.writer.statement(span);
        self.writer.line(text);
    }

    pub(super) fn braced(&mut self, span: Span, header: &str, body: &[Stmt]) {
        self.writer.statement(span);
        self.writer.open(header);
        self.nested(body);
        self.writer.close("}");
    }

    fn expr(&self, e: &Expr) -> String {
        expr::expr(&self.names, e).text
    }

    fn condition(&self, e: &Expr) -> String {
        expr::used(&self.names, e, "condition").text
    }

    /// The value assigned to a variable, which may have no mark.
    fn for_local(&self, local: LocalId, value: &Expr) -> String {
        match self.names.unproven.expr(self.names.function, value)
            && !self.names.unproven.locals.contains(&local)
        {
            true => expr::used(&self.names, value, "call").text,
            false => expr::whole(&self.names, value).text,
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Let { local, value } => self.declare(span, *local, value.as_ref()),
            StmtKind::Assign { local, value } => {
                let text = self.assign(*local, value);
                self.line(span, &text);
            }
            StmtKind::Store { access, op, value } => {
                let text = self.store(access, *op, value);
                self.line(span, &text);
            }
            StmtKind::StorePair(pair) => {
                let text = self.store_pair(pair);
                self.line(span, &text);
            }
            StmtKind::Atomic(atomic) => {
                let text = self.atomic(atomic);
                self.line(span, &text);
            }
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll,
                body,
            } => {
                let bounds = Bounds { lo, hi, step };
                self.names.enter(std::slice::from_ref(stmt));
                self.counted_for(span, *local, &bounds, *unroll, body);
                self.names.leave();
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                self.names.enter(std::slice::from_ref(stmt));
                self.counted_while(span, prelude, cond, body);
                self.names.leave();
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => self.branch(span, cond, then, otherwise),
            StmtKind::Break => self.line(span, "break;"),
            StmtKind::Continue => self.line(span, "continue;"),
            StmtKind::Yield => self.line(span, "return;"),
            StmtKind::Parallel { body, .. } => self.parallel(span, body, false),
            StmtKind::SingleThread { level: never, .. } => match *never {},
            StmtKind::Region { .. } => {
                self.regions(std::slice::from_ref(stmt));
            }
            StmtKind::Barrier { scope, why } => self.barrier(span, *scope, why),
            StmtKind::Registers(Registers { per_thread, more }) => {
                let way = if *more { "up" } else { "down" };
                self.line(
                    span,
                    &format!("croq::set_max_registers_{way}<{per_thread}>();"),
                );
            }
            StmtKind::Fence(scope) => self.fence(span, *scope),
            StmtKind::Tma(op) => self.tma(span, op),
            StmtKind::Check {
                check,
                cond,
                values,
            } => {
                let info = self.names.function.checks.get(check.index());
                let ends = info.is_some_and(CheckInfo::ends_launch);
                let row = check.0.to_string();
                self.check(
                    span,
                    if ends { "require" } else { "check" },
                    &row,
                    cond,
                    values,
                );
            }
            StmtKind::Print { newline, parts } => self.print(span, *newline, parts),
            StmtKind::Eval(e) => self.evaluate(span, e),
            StmtKind::Cpp { text, names, .. } => self.spliced(span, text, names),
            StmtKind::Alloc(buffer) => self.alloc(span, *buffer),
            StmtKind::Launch(kernel) => self.launch(span, *kernel),
            StmtKind::AwaitSignal { signal, ordinal } => {
                let (ctx, event) = (&self.names.context, self.names.signal(signal));
                let text = format!("croq::await({ctx}, {event}, {ordinal});");
                self.line(span, &text);
            }
            StmtKind::TriggerSignal(at) => {
                let event = self.host_event(at);
                self.line(span, &format!("CROQ_TRY({event}.trigger());"));
            }
            StmtKind::Fetch(id) => {
                let mirror = self.names.mirror(*id).unwrap_or("undeclared_mirror");
                let line = format!("CROQ_TRY({mirror}.fetch());");
                self.line(span, &line);
            }
            StmtKind::Exchange(ids) => self.exchange(span, ids),
            StmtKind::Synchronize => self.line(span, "CROQ_TRY(host.synchronize());"),
            StmtKind::Return(value) => self.give_back(span, value),
            StmtKind::Move(m) => {
                let text = self.moved(m);
                self.line(span, &text);
            }
            StmtKind::Mma(op) => {
                let text = self.mma(op);
                self.line(span, &text);
            }
            StmtKind::CommitCopies => self.line(span, "croq::cp_async_commit();"),
            StmtKind::WaitCopies { pending } => {
                self.line(span, &format!("croq::cp_async_wait<{pending}>();"))
            }
            StmtKind::Copy(never)
            | StmtKind::Fill { view: never, .. }
            | StmtKind::Wait { futures: never, .. }
            | StmtKind::WaitTma { futures: never }
            | StmtKind::WaitEvent(never)
            | StmtKind::Trigger(never)
            | StmtKind::Rotate { futures: never }
            | StmtKind::UseFuture(never) => match *never {},
        }
    }

    fn branch(&mut self, span: Span, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let cond = self.condition(cond);
        if let (Some(text), []) = (self.one_line(then, span), otherwise) {
            let line = format!("if ({cond}) {text}");
            if line.len() <= LONG {
                return self.line(span, &line);
            }
        }
        self.writer.statement(span);
        self.writer.open(&format!("if ({cond}) {{"));
        self.nested(then);
        if !otherwise.is_empty() {
            self.writer.reopen("} else {");
            self.nested(otherwise);
        }
        self.writer.close("}");
    }

    fn fence(&mut self, span: Span, scope: FenceScope) {
        let line = match scope {
            FenceScope::Block => return self.line(span, "croq::fence_block();"),
            FenceScope::Device => return self.line(span, "croq::fence_device();"),
            FenceScope::AsyncProxy => "croq::fence_proxy_async();",
            FenceScope::AsyncProxyEverywhere => "croq::fence_proxy_async_everywhere();",
            FenceScope::MbarrierInit => "croq::fence_mbarrier_init();",
        };
        self.writer.attribute(span);
        self.writer.line(line);
    }

    fn evaluate(&mut self, span: Span, e: &Expr) {
        let text = match &*e.kind {
            ExprKind::Call(_) => format!("{};", expr::whole(&self.names, e).text),
            _ if self.names.unproven.expr(self.names.function, e) => {
                format!("(void)croq::trusted({});", self.expr(e))
            }
            _ => format!("(void)({});", self.expr(e)),
        };
        self.line(span, &text);
    }

    fn declare(&mut self, span: Span, local: LocalId, value: Option<&Expr>) {
        // The value may still refer to an outer variable of the same name.
        let value = value.map(|v| self.for_local(local, v));
        let function = self.names.function;
        let Some(info) = function.locals.get(local.index()) else {
            return;
        };
        let name = self.names.declare_local(local);
        let unused = if self.read.contains(&local) {
            ""
        } else {
            "[[maybe_unused]] "
        };
        let constness = if info.mutable { "" } else { "const " };
        let ty = match self.names.unproven.locals.contains(&local) {
            true => format!("croq::tracked<{}>", scalar::cpp(info.ty)),
            false => scalar::cpp(info.ty).to_owned(),
        };
        let order = self.order(local).unwrap_or_default();
        let text = match value {
            Some(value) => format!("{unused}{constness}{ty} {name} = {value};{order}"),
            None => format!("{unused}{ty} {name}{{}};"),
        };
        self.line(span, &text);
    }

    fn moved(&self, m: &Move) -> String {
        let place = |access: &Access| {
            let buffer = self.names.buffer(access.view.buffer);
            format!("{buffer}, {}", place::place(&self.names, access).text)
        };
        let (name, inside) = match &m.mode {
            MoveMode::Plain => ("copy", None),
            MoveMode::Add => ("add_all", None),
            MoveMode::Async { inside: None } => ("cp_async", None),
            MoveMode::Async { inside: Some(e) } => ("cp_async_zfill", Some(self.condition(e))),
        };
        let inside = inside.map_or_else(String::new, |e| format!(", {e}"));
        format!(
            "croq::{name}<{}>({}, {}{inside});",
            m.elems,
            place(&m.dest),
            place(&m.source)
        )
    }

    /// An MMA instruction, or an operation on fragments.
    fn mma(&mut self, op: &MmaOp) -> String {
        let place = |access: &Access| {
            let buffer = self.names.buffer(access.view.buffer);
            format!("{buffer}, {}", place::place(&self.names, access).text)
        };
        match op {
            MmaOp::Instruction {
                atom,
                parts,
                metadata,
            } => {
                let Atom { m, n, k, .. } = atom;
                let parts = parts.each_ref().map(place).join(", ");
                match metadata {
                    None => format!("croq::mma<{m}, {n}, {k}>({parts});"),
                    Some(metadata) => {
                        let (selector, metadata) = (metadata.selector, place(&metadata.register));
                        format!("croq::mma_sp<{m}, {n}, {k}, {selector}>({parts}, {metadata});")
                    }
                }
            }
            MmaOp::Matrices {
                count,
                transposed,
                registers,
                memory,
                stored,
            } => {
                let transposed = if *transposed { ", true" } else { "" };
                if *stored {
                    let (memory, registers) = (place(memory), place(registers));
                    return format!("croq::stmatrix<{count}{transposed}>({memory}, {registers});");
                }
                let (first, steps) = place::place_and_steps(&self.names, memory);
                let memory = self.names.buffer(memory.view.buffer);
                let steps = steps.map_or_else(String::new, |s| format!(", {}", s.text));
                format!(
                    "croq::ldmatrix<{count}{transposed}>({}, {memory}, {}{steps});",
                    place(registers),
                    first.text
                )
            }
            MmaOp::Step(step) => self.step(step),
            MmaOp::FillElements { part: never, .. }
            | MmaOp::Load { into: never, .. }
            | MmaOp::Multiply { acc: never, .. }
            | MmaOp::WarpgroupMma(never)
            | MmaOp::CommitAll(never)
            | MmaOp::WaitMma(never)
            | MmaOp::Store { from: never, .. }
            | MmaOp::Apply { part: never, .. }
            | MmaOp::Reduce { into: never, .. }
            | MmaOp::AllReduce { part: never }
            | MmaOp::Convert { into: never, .. } => match *never {},
        }
    }

    fn store(&self, access: &Access, op: Option<BinOp>, value: &Expr) -> String {
        let buffer = self.names.accessed(access.view.buffer);
        let address = place::place(&self.names, access).text;
        let method = match op.filter(|_| !self.on_host) {
            None if op.is_none() && !self.on_host && self.swaps(access) => "swap",
            Some(BinOp::Add) => "add",
            Some(BinOp::Sub) => "sub",
            Some(BinOp::Mul) => "mul",
            Some(BinOp::Div) => "div",
            Some(BinOp::Rem) => "rem",
            Some(BinOp::Shl) => "shl",
            Some(BinOp::Shr) => "shr",
            Some(BinOp::And) => "bit_and",
            Some(BinOp::Or) => "bit_or",
            Some(BinOp::Xor) => "bit_xor",
            _ => {
                // No method of its own: the address has no effects, so it may be evaluated twice.
                let load = Expr::new(ExprKind::Load(access.clone()), value.ty, access.span);
                let whole = match op {
                    Some(op) => {
                        let kind = ExprKind::Binary(op, load, value.clone());
                        Expr::new(kind, value.ty, access.span)
                    }
                    None => value.clone(),
                };
                return format!(
                    "{buffer}.store({address}, {});",
                    self.for_buffer(access, &whole)
                );
            }
        };
        let value = self.for_buffer(access, value);
        format!("{buffer}.{method}({address}, {value});")
    }

    fn store_pair(&self, pair: &StorePair) -> String {
        let (id, function) = (pair.access.view.buffer, self.names.function);
        let elem = function.buffers.get(id.index()).map(|buffer| buffer.elem);
        let [first, second] = (pair.values.each_ref()).map(|v| self.for_buffer(&pair.access, v));
        let address = place::place(&self.names, &pair.access).text;
        let operands = [address, first, second].map(|operand| match operand.contains('<') {
            // A comma of template arguments does not end the argument of a macro.
            true => format!("({operand})"),
            false => operand,
        });
        format!(
            "CROQ_STORE_PAIR({}, {}, {});",
            scalar::cpp(elem.unwrap_or(Scalar::F32)),
            self.names.accessed(id),
            operands.join(", ")
        )
    }

    fn swaps(&self, access: &Access) -> bool {
        let buffer = self.names.function.buffers.get(access.view.buffer.index());
        buffer.is_some_and(|b| b.swaps)
    }

    /// A value stored in memory, which may have no marks.
    fn for_buffer(&self, access: &Access, value: &Expr) -> String {
        let (id, unproven) = (access.view.buffer, &self.names.unproven);
        let function = self.names.function;
        if unproven.buffers.contains(&id) || !unproven.expr(function, value) {
            return self.expr(value);
        }
        match function.buffers.get(id.index()) {
            Some(buffer) if buffer.storage.is_global() => {
                expr::used(&self.names, value, "memory").text
            }
            _ => format!("croq::trusted({})", self.expr(value)),
        }
    }

    fn call_of(&self, atomic: &Atomic) -> String {
        let buffer = self.names.buffer(atomic.access.view.buffer);
        let mut args = vec![place::place(&self.names, &atomic.access).text];
        args.extend(
            atomic
                .operands()
                .map(|e| expr::used(&self.names, e, "atomic").text),
        );
        let op = atomic.op.name();
        format!("{buffer}.atomic_{op}({});", args.join(", "))
    }

    fn atomic(&mut self, atomic: &Atomic) -> String {
        let call = self.call_of(atomic);
        let Some(result) = atomic.result else {
            return call;
        };
        let ty = self.names.function.local(result).ty;
        let name = self.names.declare_local(result);
        format!("const {} {name} = {call}", scalar::cpp(ty))
    }

    fn barrier(&mut self, span: Span, scope: BarrierScope, why: &BarrierReason) {
        let call = match scope {
            BarrierScope::Grid => format!(
                "croq::barrier_grid({}, {});",
                self.names.context, self.names.together
            ),
            BarrierScope::Cluster => "croq::barrier_cluster();".to_owned(),
            BarrierScope::Block => "croq::barrier();".to_owned(),
            BarrierScope::WarpgroupOf { first, group } => format!(
                "croq::barrier_named(unsigned({first} + {}), {WARPGROUP_THREADS});",
                self.names.local(group)
            ),
            // Already lowered: `seal` rejects them.
            BarrierScope::Warpgroup | BarrierScope::WarpgroupFrom(_) => String::new(),
            BarrierScope::Warp => "croq::barrier_warp();".to_owned(),
            BarrierScope::Named { id, threads } => {
                format!("croq::barrier_named({id}, {threads});")
            }
            BarrierScope::Arrive { id, threads } => {
                format!("croq::barrier_arrive({id}, {threads});")
            }
            BarrierScope::Lanes(mask) => format!("croq::barrier_warp({mask:#010x}u);"),
        };
        let reason = match why {
            BarrierReason::Written => String::new(),
            why => format!("  // {why}"),
        };
        // Not a comment of its source line, which is that of the next statement.
        self.writer.attribute(span);
        self.writer.line(&format!("{call}{reason}"));
    }

    fn check(&mut self, span: Span, kind: &str, row: &str, cond: &Expr, values: &[Expr]) {
        let used = |e: &Expr| expr::used(&self.names, e, "check").text;
        let cond = used(cond);
        let mut args: Vec<String> = values.iter().map(used).collect();
        let text = if self.on_host {
            args.splice(0..0, [cond, row.to_owned()]);
            format!("CROQ_REQUIRE({});", args.join(", "))
        } else {
            let context = self.names.context.clone();
            args.splice(0..0, [context, cond, row.to_owned()]);
            format!("croq::{kind}({});", args.join(", "))
        };
        self.line(span, &text);
    }

    fn print(&mut self, span: Span, newline: bool, parts: &[PrintPart]) {
        let mut args: Vec<Text> = Vec::new();
        if !self.on_host {
            args.push(Text::primary(self.names.context.clone()));
        }
        for part in parts {
            args.push(match part {
                PrintPart::Text(text) => Text::primary(quoted(text)),
                PrintPart::Value(e) => expr::used(&self.names, e, "print"),
            });
        }
        if newline {
            args.push(Text::primary(quoted("\n")));
        }
        let function = if self.on_host {
            "host.print"
        } else {
            "croq::print"
        };
        let call = Text::call(function, &args);
        self.line(span, &format!("{};", call.text));
    }

    /// The user's own C++, whose names are replaced by those of the generated text.
    fn spliced(&mut self, span: Span, text: &str, names: &[CppName]) {
        let mut spelt: SortedMap<&str, &str> = self.names.renamed().collect();
        let function = self.names.function;
        for name in names {
            let (wanted, meant) = match name {
                CppName::Local(id) => {
                    let local = function.locals.get(id.index());
                    (local.map(|l| &l.name), Some(self.names.local(*id)))
                }
                CppName::Buffer(id) => {
                    let buffer = function.buffers.get(id.index());
                    (buffer.map(|b| &b.name), self.names.pointer_of(*id))
                }
            };
            if let (Some(wanted), Some(meant)) = (wanted, meant) {
                spelt.insert(wanted, meant);
            }
        }
        let meaning = |word: &str| {
            spelt
                .get(word)
                .filter(|s| **s != word)
                .map(|s| (*s).to_owned())
        };
        let text = cpp_text::with_words(text, meaning).into_owned();
        self.writer.statement(span);
        let number = self.writer.line_of(span);
        self.user_text(number, &text);
    }

    fn user_text(&mut self, number: u32, text: &str) {
        let counts = !self.on_host && self.user.counts(text);
        super::user_text::spliced(self.writer, number, text, counts, self.user);
    }
}

/// Whether C++ of the statements declares names outside of inner blocks.
fn declares_names(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Let { .. } | StmtKind::Cpp { .. } | StmtKind::Alloc(_) | StmtKind::Launch(_) => {
            true
        }
        StmtKind::Atomic(atomic) => atomic.result.is_some(),
        StmtKind::Mma(op) => matches!(
            **op,
            MmaOp::Step(Step::Describe { .. } | Step::Advance { .. })
        ),
        StmtKind::Parallel { body, .. } => declares_names(body),
        _ => false,
    })
}
