//! Prints statements.

use std::fmt::{self, Write as _};

use super::super::*;
use super::expr;
use super::printer::Printer;
use super::tensor;
use super::words::*;

pub(super) fn kernel<P: Phase>(p: &mut Printer<'_, P>, kernel: &Kernel<P>) {
    let (grid, threads) = (p.syms(&kernel.grid), p.sym(&kernel.threads));
    let mut notes = String::new();
    if kernel.is_clustered() {
        let _ = write!(notes, ", cluster [{}]", listed(kernel.cluster));
    }
    if kernel.attrs.cooperative.is_some() {
        notes.push_str(", cooperative");
    }
    if let Some(bounds) = kernel.attrs.launch_bounds {
        let bounds = bounds.map(|b| b.map_or_else(|| "_".to_owned(), |b| b.to_string()));
        let _ = write!(notes, ", launch bounds [{}]", listed(bounds));
    }
    if let Some(most) = kernel.attrs.maxnreg {
        let _ = write!(notes, ", at most {most} registers");
    }
    if kernel.attrs.is_async {
        notes.push_str(", async");
    }
    if let Some(stream) = kernel.attrs.stream {
        let _ = write!(notes, ", stream {}", p.param(stream));
    }
    let name = &kernel.name;
    p.line(format_args!(
        "kernel {name}: grid [{grid}], threads {threads}{notes}"
    ));
    p.depth += 1;
    for placed in &kernel.shared {
        let name = p.buffer(placed.buffer);
        let (offset, bytes) = (p.sym(&placed.offset), p.sym(&placed.bytes));
        let alignment = placed.alignment;
        p.line(format_args!(
            "place {name} at {offset}, {bytes} bytes, aligned to {alignment}"
        ));
    }
    for (at, map) in kernel.maps.iter().enumerate() {
        let (buffer, base) = (p.buffer(map.buffer), p.sym(&map.base));
        let (extents, strides) = (p.syms(&map.extents), p.syms(&map.strides));
        let extent_of_box = p.syms(&map.extent_of_box);
        let (swizzle, promotion) = (map.swizzle, map.promotion);
        p.line(format_args!(
                "map {at}: {buffer}{{+{base}, shape [{extents}], strides [{strides}]}} by [{extent_of_box}], \
                 swizzle {swizzle}, promotion {promotion}"
            ));
    }
    for (list, what) in [
        (&kernel.facts.tracked, "tracked"),
        (&kernel.facts.escaping, "escaping"),
        (&kernel.facts.whole, "writes all of"),
    ] {
        if !list.is_empty() {
            let names = listed(list.iter().map(|id| p.buffer(*id)));
            p.line(format_args!("{what} {names}"));
        }
    }
    p.depth -= 1;
    block(p, &kernel.body);
}

pub(super) fn block<P: Phase>(p: &mut Printer<'_, P>, stmts: &[Stmt<P>]) {
    p.depth += 1;
    for s in stmts {
        stmt(p, s);
    }
    p.depth -= 1;
}

/// Prints `head`, and the body indented below it.
fn nest<P: Phase>(p: &mut Printer<'_, P>, head: fmt::Arguments<'_>, body: &[Stmt<P>]) {
    p.line(head);
    block(p, body);
}

pub(super) fn stmt<P: Phase>(p: &mut Printer<'_, P>, stmt: &Stmt<P>) {
    match &stmt.kind {
        StmtKind::Let { local, value } => {
            let ty = p.function.locals.get(local.index()).map(|l| l.ty);
            let ty = ty.map_or_else(String::new, |ty| format!(": {ty}"));
            let value = value
                .as_ref()
                .map_or_else(String::new, |v| format!(" = {}", expr::expr(p, v)));
            let name = p.local(*local);
            p.line(format_args!("let {name}{ty}{value}"));
        }
        StmtKind::Assign { local, value } => {
            let (name, value) = (p.local(*local), expr::expr(p, value));
            p.line(format_args!("set {name} = {value}"));
        }
        StmtKind::Store { access, op, value } => {
            let (access, value) = (expr::access(p, access), expr::expr(p, value));
            let op = op.map_or_else(String::new, |op| format!("{op:?}").to_lowercase() + " ");
            p.line(format_args!("store {access} = {op}{value}"));
        }
        StmtKind::StorePair(pair) => {
            let access = expr::access(p, &pair.access);
            let values = listed(pair.values.iter().map(|e| expr::expr(p, e)));
            p.line(format_args!("store pair {access} = {values}"));
        }
        StmtKind::Atomic(atomic) => {
            let access = expr::access(p, &atomic.access);
            let operands = listed(atomic.operands().map(|e| expr::expr(p, e)));
            let result = atomic
                .result
                .map_or_else(String::new, |id| format!(" -> {}", p.local(id)));
            let op = atomic.op.name();
            p.line(format_args!("atomic {op} {access} with {operands}{result}"));
        }
        StmtKind::For {
            local,
            lo,
            hi,
            step,
            unroll,
            body,
        } => {
            let name = p.local(*local);
            let (lo, hi, step) = (p.sym(lo), p.sym(hi), p.sym(step));
            let unroll = match unroll {
                None => String::new(),
                Some(Unroll::Full) => ", unrolled".to_owned(),
                Some(Unroll::By(n)) => format!(", unrolled by {n}"),
            };
            nest(
                p,
                format_args!("for {name} in {lo}..{hi} step {step}{unroll}"),
                body,
            );
        }
        StmtKind::While {
            prelude,
            cond,
            body,
        } => {
            nest(p, format_args!("loop"), prelude);
            let cond = expr::expr(p, cond);
            nest(p, format_args!("while {cond}"), body);
        }
        StmtKind::If {
            cond,
            then,
            otherwise,
        } => {
            let cond = expr::expr(p, cond);
            nest(p, format_args!("if {cond}"), then);
            if !otherwise.is_empty() {
                nest(p, format_args!("else"), otherwise);
            }
        }
        StmtKind::Break => p.line(format_args!("break")),
        StmtKind::Continue => p.line(format_args!("continue")),
        StmtKind::Yield => p.line(format_args!("exit")),
        StmtKind::Parallel { level, body } => {
            let level = level_name(*level);
            nest(p, format_args!("parallel {level}"), body);
        }
        StmtKind::SingleThread { level, cond, body } => {
            let level = level_name(*P::only(level));
            let cond = cond.as_ref().map(|cond| expr::expr(p, cond));
            let cond = cond.map_or_else(String::new, |cond| format!(": {cond}"));
            nest(p, format_args!("one thread of each {level}{cond}"), body);
        }
        StmtKind::Region { .. } => region(p, &stmt.kind),
        StmtKind::Mma(op) => {
            tensor::mma(p, op);
            if let MmaOp::Apply { body, .. } = &**op {
                block(p, body);
            }
        }
        StmtKind::Tma(op) => tensor::tma(p, op),
        kind => leaf(p, kind),
    }
}

fn region<P: Phase>(p: &mut Printer<'_, P>, kind: &StmtKind<P>) {
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
    let pred = expr::expr(p, pred);
    let set = set
        .as_ref()
        .map_or_else(String::new, |s| format!(", {}", set_text(s)));
    let elected_from = elected_from
        .as_ref()
        .map_or_else(String::new, |(asked, of)| {
            format!(
                ", elected of {} where {}",
                set_text(of),
                expr::expr(p, asked)
            )
        });
    let flags = [(*is_async, ", async"), (*outermost, ", outermost")];
    let flags: String = flags
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, f)| *f)
        .collect();
    nest(
        p,
        format_args!("region {pred}{set}{elected_from}{flags}"),
        body,
    );
}

/// Prints statements that take one line.
pub(super) fn leaf<P: Phase>(p: &mut Printer<'_, P>, kind: &StmtKind<P>) {
    let text = match kind {
        StmtKind::Copy(of) => copy(p, P::only(of)),
        StmtKind::Wait { futures, pending } => {
            let pending = pending.map_or_else(|| "nothing".to_owned(), |n| format!("all but {n}"));
            format!("wait {pending}: {}", waited(p, futures))
        }
        StmtKind::WaitTma { futures } => format!("wait tma: {}", waited(p, futures)),
        StmtKind::WaitEvent(at) => format!("wait event {}", expr::event_at(p, P::only(at))),
        StmtKind::Trigger(at) => format!("trigger {}", expr::event_at(p, P::only(at))),
        StmtKind::AwaitSignal { signal, ordinal } => {
            format!("wait signal {}, {ordinal} more", p.signal(signal))
        }
        StmtKind::Rotate { futures } => {
            format!(
                "rotate {}",
                listed(P::only(futures).iter().map(|f| p.future(*f)))
            )
        }
        StmtKind::UseFuture(future) => format!("use {}", p.future(*P::only(future))),
        StmtKind::Move(m) => {
            let (dest, source) = (expr::access(p, &m.dest), expr::access(p, &m.source));
            let mode = match &m.mode {
                MoveMode::Plain => String::new(),
                MoveMode::Add => ", added".to_owned(),
                MoveMode::Async { inside: None } => ", async".to_owned(),
                MoveMode::Async { inside: Some(e) } => format!(", async, if {}", expr::expr(p, e)),
            };
            format!("move {dest} = {source}, {} elements{mode}", m.elems)
        }
        StmtKind::CommitCopies => "commit copies".to_owned(),
        StmtKind::WaitCopies { pending } => format!("wait copies, all but {pending}"),
        StmtKind::Fill { view, value, level } => {
            let (view, value) = (expr::view(p, P::only(view)), expr::expr(p, value));
            format!("fill {view} = {value} by {}", level_name(*level))
        }
        StmtKind::Barrier { scope, why } => {
            let scope = barrier(*scope, |group| p.local(group));
            format!("barrier {scope} // {why}")
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
            let code = p
                .function
                .checks
                .get(check.index())
                .map_or("?", |c| c.code.text());
            let values = if values.is_empty() {
                String::new()
            } else {
                format!(", shows {}", expr::exprs(p, values))
            };
            format!("check {code} {}{values}", expr::expr(p, cond))
        }
        StmtKind::Print { newline, parts } => {
            let parts = parts.iter().map(|part| match part {
                PrintPart::Text(text) => format!("{text:?}"),
                PrintPart::Value(e) => expr::expr(p, e),
            });
            format!(
                "print{} {}",
                if *newline { "ln" } else { "" },
                listed(parts)
            )
        }
        StmtKind::Eval(e) => format!("eval {}", expr::expr(p, e)),
        StmtKind::Cpp { text, names, .. } => {
            let names = names.iter().map(|name| match name {
                CppName::Local(id) => p.local(*id),
                CppName::Buffer(id) => p.buffer(*id),
            });
            format!("cpp {text:?} sees {}", listed(names))
        }
        StmtKind::Alloc(id) => format!("alloc {}", p.buffer(*id)),
        kind => match of_host(p, kind) {
            Some(text) => text,
            None => return,
        },
    };
    p.line(format_args!("{text}"));
}

/// Statements that only the host has.
fn of_host<P: Phase>(p: &Printer<'_, P>, kind: &StmtKind<P>) -> Option<String> {
    Some(match kind {
        StmtKind::Launch(id) => {
            let kernel = p.function.kernels.get(id.index());
            format!("launch {}", kernel.map_or("<kernel>", |k| k.name.as_str()))
        }
        StmtKind::Fetch(id) => format!("fetch {}", p.buffer(*id)),
        StmtKind::Exchange(ids) => {
            let names: Vec<String> = ids.iter().map(|id| p.buffer(*id)).collect();
            format!("exchange {}", names.join(", "))
        }
        StmtKind::TriggerSignal(at) => format!("trigger signal {}", p.signal(at)),
        StmtKind::Synchronize => "synchronize".to_owned(),
        StmtKind::Return(values) => {
            let value = |value: &ReturnValue| match value {
                ReturnValue::Scalar(e) => expr::expr(p, e),
                ReturnValue::Buffer(id) => p.buffer(*id),
            };
            let values: Vec<String> = values.iter().map(value).collect();
            format!("return {}", values.join(", "))
                .trim_end()
                .to_owned()
        }
        _ => return None,
    })
}

pub(super) fn copy<P: Phase>(p: &Printer<'_, P>, copy: &Copy) -> String {
    let (dest, source) = (expr::view(p, &copy.dest), expr::view(p, &copy.source));
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
                listed(low.iter().map(|s| p.sym(s))),
                expr::expr(p, value)
            );
        }
    }
    if copy.zero_fill {
        out.push_str(", zero filled");
    }
    if let Some(future) = copy.future {
        let _ = write!(out, ", future {}", p.future(future));
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
            let _ = write!(out, ", arrives at {}", expr::arrival(p, arrival));
        }
        if let Some(at) = &tma.event {
            let _ = write!(out, ", completes {}", expr::event_at(p, at));
        }
    }
    out
}

pub(super) fn waited<P: Phase>(p: &Printer<'_, P>, futures: &P::Only<Vec<Waited>>) -> String {
    listed(P::only(futures).iter().map(|waited| {
        let arrival = waited.arrival.as_ref();
        let arrival = arrival.map_or_else(String::new, |a| format!(" at {}", expr::arrival(p, a)));
        let (name, view) = (p.future(waited.future), expr::view(p, &waited.view));
        format!("{name} = {view} by {}{arrival}", level_name(waited.level))
    }))
}
