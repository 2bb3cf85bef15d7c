//! Statements.

use std::fmt::Write as _;

use super::super::*;
use super::words::*;
use super::{Printer, listed};

impl<P: Phase> Printer<'_, P> {
    pub(super) fn stmt(&mut self, stmt: &Stmt<P>) {
        match &stmt.kind {
            StmtKind::Let { local, value } => {
                let ty = self.function.locals.get(local.index()).map(|l| l.ty);
                let ty = ty.map_or_else(String::new, |ty| format!(": {ty}"));
                let value = value
                    .as_ref()
                    .map_or_else(String::new, |v| format!(" = {}", self.expr(v)));
                let name = self.local(*local);
                self.line(format_args!("let {name}{ty}{value}"));
            }
            StmtKind::Assign { local, value } => {
                let (name, value) = (self.local(*local), self.expr(value));
                self.line(format_args!("set {name} = {value}"));
            }
            StmtKind::Store { access, op, value } => {
                let (access, value) = (self.access(access), self.expr(value));
                let op = op.map_or_else(String::new, |op| format!("{op:?}").to_lowercase() + " ");
                self.line(format_args!("store {access} = {op}{value}"));
            }
            StmtKind::Atomic(atomic) => {
                let access = self.access(&atomic.access);
                let operands = listed(atomic.operands().map(|e| self.expr(e)));
                let result = atomic
                    .result
                    .map_or_else(String::new, |id| format!(" -> {}", self.local(id)));
                let op = atomic.op.name();
                self.line(format_args!("atomic {op} {access} with {operands}{result}"));
            }
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll,
                body,
            } => {
                let name = self.local(*local);
                let (lo, hi, step) = (self.sym(lo), self.sym(hi), self.sym(step));
                let unroll = match unroll {
                    None => String::new(),
                    Some(Unroll::Full) => ", unrolled".to_owned(),
                    Some(Unroll::By(n)) => format!(", unrolled by {n}"),
                };
                self.nest(
                    format_args!("for {name} in {lo}..{hi} step {step}{unroll}"),
                    body,
                );
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                self.nest(format_args!("loop"), prelude);
                let cond = self.expr(cond);
                self.nest(format_args!("while {cond}"), body);
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.expr(cond);
                self.nest(format_args!("if {cond}"), then);
                if !otherwise.is_empty() {
                    self.nest(format_args!("else"), otherwise);
                }
            }
            StmtKind::Break => self.line(format_args!("break")),
            StmtKind::Continue => self.line(format_args!("continue")),
            StmtKind::Yield => self.line(format_args!("exit")),
            StmtKind::Parallel { level, body } => {
                let level = level_name(*level);
                self.nest(format_args!("parallel {level}"), body);
            }
            StmtKind::SingleThread { level, body } => {
                let level = level_name(*level);
                self.nest(format_args!("one thread of each {level}"), body);
            }
            StmtKind::Region { .. } => self.region(&stmt.kind),
            StmtKind::Mma(op) => self.mma(op),
            StmtKind::Tma(op) => self.tma(op),
            kind => self.leaf(kind),
        }
    }

    fn region(&mut self, kind: &StmtKind<P>) {
        let StmtKind::Region {
            pred,
            set,
            elected_from,
            is_async,
            outermost,
            body,
        } = kind
        else {
            return;
        };
        let pred = self.expr(pred);
        let set = set
            .as_ref()
            .map_or_else(String::new, |s| format!(", {}", set_text(s)));
        let elected_from = elected_from
            .as_ref()
            .map_or_else(String::new, |(asked, of)| {
                format!(", elected of {} where {}", set_text(of), self.expr(asked))
            });
        let flags = [(*is_async, ", async"), (*outermost, ", outermost")];
        let flags: String = flags
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, f)| *f)
            .collect();
        self.nest(
            format_args!("region {pred}{set}{elected_from}{flags}"),
            body,
        );
    }

    /// Statements of one line.
    pub(super) fn leaf(&mut self, kind: &StmtKind<P>) {
        let text = match kind {
            StmtKind::Copy(copy) => self.copy(P::only(copy)),
            StmtKind::Wait { futures, pending } => {
                let pending =
                    pending.map_or_else(|| "nothing".to_owned(), |n| format!("all but {n}"));
                format!("wait {pending}: {}", self.waited(futures))
            }
            StmtKind::WaitTma { futures } => format!("wait tma: {}", self.waited(futures)),
            StmtKind::WaitEvent(at) => format!("wait event {}", self.event_at(P::only(at))),
            StmtKind::Trigger(at) => format!("trigger {}", self.event_at(P::only(at))),
            StmtKind::AwaitSignal { signal, ordinal } => {
                format!("wait signal {}, {ordinal} more", self.signal(*signal))
            }
            StmtKind::Rotate { futures } => {
                format!(
                    "rotate {}",
                    listed(P::only(futures).iter().map(|f| self.future(*f)))
                )
            }
            StmtKind::UseFuture(future) => format!("use {}", self.future(*P::only(future))),
            StmtKind::Move(m) => {
                let (dest, source) = (self.access(&m.dest), self.access(&m.source));
                let mode = match &m.mode {
                    MoveMode::Plain => String::new(),
                    MoveMode::Async { inside: None } => ", async".to_owned(),
                    MoveMode::Async { inside: Some(e) } => format!(", async, if {}", self.expr(e)),
                };
                format!("move {dest} = {source}, {} elements{mode}", m.elems)
            }
            StmtKind::CommitCopies => "commit copies".to_owned(),
            StmtKind::WaitCopies { pending } => format!("wait copies, all but {pending}"),
            StmtKind::Fill { view, value, level } => {
                let (view, value) = (self.view(P::only(view)), self.expr(value));
                format!("fill {view} = {value} by {}", level_name(*level))
            }
            StmtKind::Barrier { scope, why } => {
                format!("barrier {} // {}", barrier(*scope), why)
            }
            StmtKind::Fence(scope) => format!("fence {}", fence(*scope)),
            StmtKind::Registers(registers) => {
                let change = if registers.more {
                    "increase"
                } else {
                    "decrease"
                };
                format!("registers {change} to {}", registers.per_thread)
            }
            StmtKind::Check {
                check,
                cond,
                values,
            } => {
                let code = self
                    .function
                    .checks
                    .get(check.index())
                    .map_or("?", |c| c.code);
                let values = if values.is_empty() {
                    String::new()
                } else {
                    format!(", shows {}", self.exprs(values))
                };
                format!("check {code} {}{values}", self.expr(cond))
            }
            StmtKind::Print { newline, parts } => {
                let parts = parts.iter().map(|part| match part {
                    PrintPart::Text(text) => format!("{text:?}"),
                    PrintPart::Value(e) => self.expr(e),
                });
                format!(
                    "print{} {}",
                    if *newline { "ln" } else { "" },
                    listed(parts)
                )
            }
            StmtKind::Eval(e) => format!("eval {}", self.expr(e)),
            StmtKind::Cpp { text, names } => {
                let names = names.iter().map(|name| match name {
                    CppName::Local(id) => self.local(*id),
                    CppName::Buffer(id) => self.buffer(*id),
                });
                format!("cpp {text:?} sees {}", listed(names))
            }
            StmtKind::Alloc(id) => format!("alloc {}", self.buffer(*id)),
            StmtKind::Launch(id) => {
                let kernel = self.function.kernels.get(id.index());
                format!("launch {}", kernel.map_or("<kernel>", |k| k.name.as_str()))
            }
            StmtKind::TriggerSignal(id) => format!("trigger signal {}", self.signal(*id)),
            StmtKind::Synchronize => "synchronize".to_owned(),
            StmtKind::Return(ReturnValue::Nothing) => "return".to_owned(),
            StmtKind::Return(ReturnValue::Scalar(e)) => format!("return {}", self.expr(e)),
            StmtKind::Return(ReturnValue::Buffer(id)) => format!("return {}", self.buffer(*id)),
            _ => return,
        };
        self.line(format_args!("{text}"));
    }

    pub(super) fn copy(&self, copy: &Copy) -> String {
        let (dest, source) = (self.view(&copy.dest), self.view(&copy.source));
        let mut out = format!("copy {dest} = {source} by {}", level_name(copy.level));
        match &copy.transform {
            Transform::None => {}
            Transform::Transpose(perm) => {
                let _ = write!(out, ", axes [{}]", listed(perm));
            }
            Transform::Pad { low, value } => {
                let _ = write!(
                    out,
                    ", padded from [{}] with {}",
                    listed(low),
                    self.expr(value)
                );
            }
        }
        if copy.zero_fill {
            out.push_str(", zero filled");
        }
        if let Some(future) = copy.future {
            let _ = write!(out, ", future {}", self.future(future));
        }
        if let Engine::Tma(tma) = &copy.engine {
            let _ = write!(out, ", tma, promotion {}", tma.promotion);
            if tma.blocks > 1 {
                let _ = write!(out, ", for {} blocks", tma.blocks);
            }
            if let Some(hint) = tma.hint {
                let _ = write!(out, ", {}", cache_hint(hint));
            }
            if let Some(arrival) = &tma.arrival {
                let _ = write!(out, ", arrives at {}", self.arrival(arrival));
            }
            if let Some(at) = &tma.event {
                let _ = write!(out, ", completes {}", self.event_at(at));
            }
        }
        out
    }

    pub(super) fn waited(&self, futures: &P::Only<Vec<Waited>>) -> String {
        listed(P::only(futures).iter().map(|waited| {
            let arrival = waited.arrival.as_ref();
            let arrival = arrival.map_or_else(String::new, |a| format!(" at {}", self.arrival(a)));
            let (name, view) = (self.future(waited.future), self.view(&waited.view));
            format!("{name} = {view} by {}{arrival}", level_name(waited.level))
        }))
    }
}
