//! The textual form of the IR: one statement a line, for `croq emit --ir` and the golden files.
//!
//! ```text
//! kernel scale_0: grid [cdiv(N, 256), 1, 1], threads 256
//!   let b: int = block.x
//!   parallel thread
//!     let t: int = thread
//!     if lt:bool(256 * b + t, N)
//!       store y[256 * b + t] = mul:f32(gain, load:f32 x[256 * b + t])
//! ```
//!
//! Every name is unique in its function: a second `k` is `k.2`. Symbolic integers are shown as the source would
//! write them, and an access by its address in elements. Operators name the type of their result. A view is
//! `buffer{+offset, shape [..], strides [..], valid [lo..hi, ..]}`, where `_` is an axis that is inside altogether.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};

use super::*;

/// A whole function: declarations, host statements, kernels.
pub fn function(function: &Function) -> String {
    let mut printer = Printer::new(function);
    printer.declarations();
    printer.line(format_args!("host"));
    printer.block(&function.body);
    for kernel in &function.kernels {
        printer.kernel(kernel);
    }
    printer.out
}

/// One of its kernels.
pub fn kernel(function: &Function, id: KernelId) -> String {
    let mut printer = Printer::new(function);
    if let Some(kernel) = function.kernels.get(id.index()) {
        printer.kernel(kernel);
    }
    printer.out
}

/// One statement and what is in it, as messages of [`super::verify`] show it.
pub fn stmt(function: &Function, stmt: &Stmt) -> String {
    let mut printer = Printer::new(function);
    printer.stmt(stmt);
    printer.out
}

struct Printer<'a> {
    function: &'a Function,
    locals: Vec<String>,
    buffers: Vec<String>,
    futures: Vec<String>,
    events: Vec<String>,
    out: String,
    depth: usize,
}

/// Each name once: the second `k` is `k.2`. Nameless things are called by `kind`.
fn unique<'n>(kind: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let names = names.map(|name| {
        let count = seen.entry(name).or_default();
        *count += 1;
        match (name, *count) {
            ("", count) => format!("{kind}.{count}"),
            (name, 1) => name.to_owned(),
            (name, count) => format!("{name}.{count}"),
        }
    });
    names.collect()
}

fn listed<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for item in items {
        if !out.is_empty() {
            out.push_str(", ");
        }
        let _ = write!(out, "{item}");
    }
    out
}

impl<'a> Printer<'a> {
    fn new(function: &'a Function) -> Self {
        Self {
            function,
            locals: unique("local", function.locals.iter().map(|l| l.name.as_str())),
            buffers: unique("buffer", function.buffers.iter().map(|b| b.name.as_str())),
            futures: unique("future", function.futures.iter().map(|f| f.name.as_str())),
            events: unique("event", function.events.iter().map(|e| e.name.as_str())),
            out: String::new(),
            depth: 0,
        }
    }

    fn line(&mut self, text: fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        let _ = writeln!(self.out, "{text}");
    }

    // Names. An id out of range is shown, not followed: a broken function must print as well.

    fn local(&self, id: LocalId) -> String {
        let name = self.locals.get(id.index());
        name.map_or_else(|| format!("<local {}>", id.0), String::clone)
    }

    fn buffer(&self, id: BufferId) -> String {
        let name = self.buffers.get(id.index());
        name.map_or_else(|| format!("<buffer {}>", id.0), String::clone)
    }

    fn future(&self, id: FutureId) -> String {
        let name = self.futures.get(id.index());
        name.map_or_else(|| format!("<future {}>", id.0), String::clone)
    }

    fn event(&self, id: EventId) -> String {
        let name = self.events.get(id.index());
        name.map_or_else(|| format!("<event {}>", id.0), String::clone)
    }

    fn param(&self, id: ParamId) -> String {
        let param = self.function.params.get(id.index());
        param.map_or_else(|| format!("<parameter {}>", id.0), |p| p.name.clone())
    }

    fn signal(&self, id: SignalId) -> String {
        let signal = self.function.signals.get(id.index());
        signal.map_or_else(|| format!("<signal {}>", id.0), |s| s.name.clone())
    }

    fn var(&self, var: Var) -> String {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => self.local(*id),
            Some(VarHome::Param(id)) => self.param(*id),
            Some(VarHome::Dim(id)) => {
                let dim = self.function.dims.get(id.index());
                dim.map_or_else(|| format!("<dimension {}>", id.0), |d| d.name.clone())
            }
            None => format!("<{}>", self.function.cx.name(var)),
        }
    }

    fn sym(&self, sym: &Sym) -> String {
        sym.show(&|var| self.var(var))
    }

    fn syms(&self, syms: &[Sym]) -> String {
        listed(syms.iter().map(|s| self.sym(s)))
    }

    fn storage(&self, storage: Storage) -> String {
        match storage {
            Storage::Param(id) => format!("parameter {}", self.param(id)),
            Storage::Host => "device".to_owned(),
            Storage::Shared => "shared".to_owned(),
            Storage::Mbarriers => "mbarriers".to_owned(),
            Storage::Local => "local".to_owned(),
            Storage::Fragment => "fragment".to_owned(),
        }
    }

    fn declarations(&mut self) {
        let function = self.function;
        let params = function.params.iter().map(|param| {
            let kind = match &param.kind {
                ParamKind::Scalar { ty, .. } => ty.to_string(),
                ParamKind::Stream => "stream".to_owned(),
                ParamKind::Tensor(tensor) => {
                    let extents = tensor.extents.iter().map(|extent| match extent {
                        Extent::Static(n) => n.to_string(),
                        Extent::Dim { dim, .. } => {
                            let dim = function.dims.get(dim.index());
                            dim.map_or_else(String::new, |d| d.name.clone())
                        }
                        Extent::Unbounded => "??".to_owned(),
                    });
                    let passing = match tensor.passing {
                        Passing::In => "in",
                        Passing::InOut => "inout",
                        Passing::Global => "global",
                    };
                    format!("{passing} {} [{}]", tensor.elem, listed(extents))
                }
            };
            format!("{}: {kind}", param.name)
        });
        let params = listed(params);
        let ret = match &function.ret {
            Return::Void => String::new(),
            Return::Scalar(ty) => format!(" -> {ty}"),
            Return::Tensor { elem, shape } => format!(" -> {elem} [{}]", self.syms(shape)),
        };
        self.line(format_args!("function {}({params}){ret}", function.name));
        self.depth += 1;
        for at in 0..function.buffers.len() {
            self.buffer_declaration(BufferId(u32::try_from(at).unwrap_or(u32::MAX)));
        }
        for (at, event) in function.events.iter().enumerate() {
            let name = self.event(EventId(u32::try_from(at).unwrap_or(u32::MAX)));
            let barriers = self.buffer(event.barriers);
            let mut notes = String::new();
            if event.ready {
                notes.push_str(", ready");
            }
            if let Some((count, _)) = event.count {
                let _ = write!(notes, ", count {count}");
            }
            if event.clustered {
                notes.push_str(", of the cluster");
            }
            let slots = event.slots;
            self.line(format_args!("event {name}[{slots}] in {barriers}{notes}"));
        }
        for signal in &function.signals {
            let ready = if signal.ready { ", ready" } else { "" };
            self.line(format_args!("signal {}{ready}", signal.name));
        }
        self.depth -= 1;
    }

    fn buffer_declaration(&mut self, id: BufferId) {
        let function = self.function;
        let Some(buffer) = function.buffers.get(id.index()) else {
            return;
        };
        let mut notes = String::new();
        if let Some(swizzle) = &buffer.swizzle {
            let (rows, columns) = (self.sym(&swizzle.rows), self.sym(&swizzle.columns));
            let _ = write!(notes, ", swizzle {} of {rows} x {columns}", swizzle.bytes);
        }
        if let Some(fragment) = function.fragments.get(&id) {
            let shape = listed(&fragment.shape);
            let _ = write!(notes, ", {} of [{shape}]", fragment.count);
            if let Some(spread) = fragment.spread {
                let _ = write!(notes, ", {}", layout(spread));
            }
        }
        for (is, note) in [(buffer.read, ", read"), (buffer.written, ", written")] {
            notes.push_str(if is { note } else { "" });
        }
        let (name, elem) = (self.buffer(id), buffer.elem);
        let (shape, count) = (self.syms(&buffer.shape), self.sym(&buffer.count));
        let storage = self.storage(buffer.storage);
        self.line(format_args!(
            "buffer {name}: {elem} [{shape}], {count} elements, {storage}{notes}"
        ));
    }

    fn kernel(&mut self, kernel: &Kernel) {
        let (grid, threads) = (self.syms(&kernel.grid), self.sym(&kernel.threads));
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
            let _ = write!(notes, ", stream {}", self.param(stream));
        }
        let name = &kernel.name;
        self.line(format_args!(
            "kernel {name}: grid [{grid}], threads {threads}{notes}"
        ));
        self.depth += 1;
        for placed in &kernel.shared {
            let name = self.buffer(placed.buffer);
            let (offset, bytes) = (self.sym(&placed.offset), self.sym(&placed.bytes));
            let alignment = placed.alignment;
            self.line(format_args!(
                "place {name} at {offset}, {bytes} bytes, aligned to {alignment}"
            ));
        }
        for (at, map) in kernel.maps.iter().enumerate() {
            let (buffer, base) = (self.buffer(map.buffer), self.sym(&map.base));
            let (extents, strides) = (self.syms(&map.extents), self.syms(&map.strides));
            let extent_of_box = self.syms(&map.extent_of_box);
            let (swizzle, promotion) = (map.swizzle, map.promotion);
            self.line(format_args!(
                "map {at}: {buffer}{{+{base}, shape [{extents}], strides [{strides}]}} by [{extent_of_box}], \
                 swizzle {swizzle}, promotion {promotion}"
            ));
        }
        for (list, what) in [(&kernel.tracked, "tracked"), (&kernel.escaping, "escaping")] {
            if !list.is_empty() {
                let names = listed(list.iter().map(|id| self.buffer(*id)));
                self.line(format_args!("{what} {names}"));
            }
        }
        self.depth -= 1;
        self.block(&kernel.body);
    }

    fn block(&mut self, stmts: &[Stmt]) {
        self.depth += 1;
        for stmt in stmts {
            self.stmt(stmt);
        }
        self.depth -= 1;
    }

    /// `head`, and the body below it.
    fn nest(&mut self, head: fmt::Arguments<'_>, body: &[Stmt]) {
        self.line(head);
        self.block(body);
    }

    fn view(&self, view: &View) -> String {
        let mut out = format!("{}{{+{}", self.buffer(view.buffer), self.sym(&view.offset));
        let (shape, strides) = (self.syms(&view.shape), self.syms(&view.strides));
        let _ = write!(out, ", shape [{shape}], strides [{strides}]");
        if view.may_cross() {
            let valid = view.valid.iter().map(|valid| match (&valid.lo, &valid.hi) {
                (None, None) => "_".to_owned(),
                (lo, hi) => {
                    let bound =
                        |of: &Option<Sym>| of.as_ref().map_or(String::new(), |s| self.sym(s));
                    format!("{}..{}", bound(lo), bound(hi))
                }
            });
            let _ = write!(out, ", valid [{}]", listed(valid));
        }
        out.push('}');
        out
    }

    /// By its address in the buffer, in elements.
    fn access(&self, access: &Access) -> String {
        let buffer = self.buffer(access.view.buffer);
        format!("{buffer}[{}]", self.sym(&access.address()))
    }

    fn expr(&self, expr: &Expr) -> String {
        let ty = expr.ty;
        match &*expr.kind {
            ExprKind::Index(sym) => self.sym(sym),
            ExprKind::Int(value) => format!("{value}:{ty}"),
            ExprKind::Float(value) => format!("{value:?}:{ty}"),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Local(id) => self.local(*id),
            ExprKind::Param(id) => self.param(*id),
            ExprKind::Unary(op, a) => {
                let op = match op {
                    UnOp::Neg => "neg",
                    UnOp::Not => "not",
                    UnOp::BitNot => "bitnot",
                };
                format!("{op}({})", self.expr(a))
            }
            ExprKind::Binary(op, a, b) => {
                let op = format!("{op:?}").to_lowercase();
                format!("{op}:{ty}({}, {})", self.expr(a), self.expr(b))
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                format!("select({c}, {a}, {b})")
            }
            ExprKind::Cast(a) => format!("cast<{ty}>({})", self.expr(a)),
            ExprKind::Math(f, args) => {
                let f = format!("{f:?}").to_lowercase();
                format!("{f}:{ty}({})", self.exprs(args))
            }
            ExprKind::Load(access) => format!("load:{ty} {}", self.access(access)),
            ExprKind::Hardware(Hardware::Thread) => "thread".to_owned(),
            ExprKind::Hardware(Hardware::Warp) => "warp".to_owned(),
            ExprKind::Hardware(Hardware::Elected) => "elected".to_owned(),
            ExprKind::Hardware(Hardware::Block(axis)) => {
                let axis = ["x", "y", "z"].get(usize::from(*axis)).unwrap_or(&"?");
                format!("block.{axis}")
            }
            ExprKind::Call(call) => {
                let args = listed(call.args.iter().map(|arg| self.arg(arg)));
                let targs = match call.targs.as_slice() {
                    [] => String::new(),
                    targs => format!("<{}>", listed(targs)),
                };
                format!("call:{ty} {}{targs}({args})", call.callee)
            }
            ExprKind::Fits(Fits::Value(sym)) => format!("fits({})", self.sym(sym)),
            ExprKind::Fits(Fits::Bound { terms, most }) => {
                let terms = terms.iter().map(|(coefficient, factors)| {
                    let factors = factors.iter().map(|f| format!(" * |{}|", self.sym(f)));
                    format!("{coefficient}{}", factors.collect::<String>())
                });
                format!("fits([{}], {most})", listed(terms))
            }
        }
    }

    fn exprs(&self, exprs: &[Expr]) -> String {
        listed(exprs.iter().map(|e| self.expr(e)))
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Value(e) => self.expr(e),
            Arg::Pointer(view) => format!("&{}", self.view(view)),
            Arg::Cast(to, inner) => format!("({to}){}", self.arg(inner)),
            Arg::Null => "null".to_owned(),
        }
    }

    fn event_at(&self, at: &EventAt) -> String {
        let slot = match &at.slot {
            Slot::At(sym) => format!("[{}]", self.sym(sym)),
            Slot::Order(sym) => format!(".order({})", self.sym(sym)),
            Slot::All => String::new(),
        };
        let cluster = if at.cluster {
            " in each block of the cluster"
        } else {
            ""
        };
        format!("{}{slot}{cluster}", self.event(at.event))
    }

    fn arrival(&self, arrival: &Arrival) -> String {
        let (barriers, slot) = (self.buffer(arrival.barriers), self.sym(&arrival.slot));
        format!("{barriers}[{slot}]")
    }

    fn part(&self, part: &Part) -> String {
        match &part.number {
            Some(number) => format!("{}#{}", self.buffer(part.buffer), self.sym(number)),
            None => self.buffer(part.buffer),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
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
            StmtKind::Once { level, body } => {
                let level = level_name(*level);
                self.nest(format_args!("one thread of each {level}"), body);
            }
            StmtKind::Region {
                pred,
                set,
                among,
                is_async,
                outermost,
                body,
            } => {
                let pred = self.expr(pred);
                let set = set
                    .as_ref()
                    .map_or_else(String::new, |s| format!(", {}", set_text(s)));
                let among = among.as_ref().map_or_else(String::new, |(asked, of)| {
                    format!(", elected of {} where {}", set_text(of), self.expr(asked))
                });
                let flags = [(*is_async, ", async"), (*outermost, ", outermost")];
                let flags: String = flags
                    .iter()
                    .filter(|(is, _)| *is)
                    .map(|(_, f)| *f)
                    .collect();
                self.nest(format_args!("region {pred}{set}{among}{flags}"), body);
            }
            StmtKind::Mma(op) => self.mma(op),
            StmtKind::Tma(op) => self.tma(op),
            kind => self.leaf(kind),
        }
    }

    /// Statements of one line.
    fn leaf(&mut self, kind: &StmtKind) {
        let text = match kind {
            StmtKind::Copy(copy) => self.copy(copy),
            StmtKind::Wait { futures, pending } => {
                let pending =
                    pending.map_or_else(|| "nothing".to_owned(), |n| format!("all but {n}"));
                format!("wait {pending}: {}", self.waited(futures))
            }
            StmtKind::WaitTma { futures } => format!("wait tma: {}", self.waited(futures)),
            StmtKind::WaitEvent(at) => format!("wait event {}", self.event_at(at)),
            StmtKind::Trigger(at) => format!("trigger {}", self.event_at(at)),
            StmtKind::AwaitSignal { signal, turn } => {
                format!("wait signal {}, {turn} more", self.signal(*signal))
            }
            StmtKind::Rotate { futures } => {
                format!("rotate {}", listed(futures.iter().map(|f| self.future(*f))))
            }
            StmtKind::Consult(future) => format!("use {}", self.future(*future)),
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
                let (view, value) = (self.view(view), self.expr(value));
                format!("fill {view} = {value} by {}", level_name(*level))
            }
            StmtKind::Barrier { scope, why } => {
                format!("barrier {} // {}", barrier(*scope), reason(why))
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

    fn copy(&self, copy: &Copy) -> String {
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

    fn waited(&self, futures: &[Waited]) -> String {
        listed(futures.iter().map(|waited| {
            let arrival = waited.arrival.as_ref();
            let arrival = arrival.map_or_else(String::new, |a| format!(" at {}", self.arrival(a)));
            let (name, view) = (self.future(waited.future), self.view(&waited.view));
            format!("{name} = {view} by {}{arrival}", level_name(waited.level))
        }))
    }

    fn tma(&mut self, op: &TmaOp) {
        let slot = |barriers: &BufferId, slot: &Sym| {
            format!("{}[{}]", self.buffer(*barriers), self.sym(slot))
        };
        let moved = |m: &TmaMove| {
            let (buffer, offset) = (self.buffer(m.buffer), self.sym(&m.offset));
            format!(
                "{buffer}[{offset}], map {} at [{}]",
                m.map,
                self.syms(&m.coordinates)
            )
        };
        let text = match op {
            TmaOp::Initialise {
                barriers,
                slots,
                count,
            } => {
                let (slots, count) = (self.sym(slots), self.sym(count));
                format!(
                    "mbarrier init {}, {slots} slots, {count} arrivals",
                    self.buffer(*barriers)
                )
            }
            TmaOp::Arrive {
                barriers,
                slot: at,
                blocks,
            } => {
                format!("mbarrier arrive {}, in {blocks} blocks", slot(barriers, at))
            }
            TmaOp::Announce {
                barriers,
                slot: at,
                bytes,
            } => {
                format!(
                    "mbarrier expect {}, {} bytes",
                    slot(barriers, at),
                    self.sym(bytes)
                )
            }
            TmaOp::Expect {
                barriers,
                slot: at,
                bytes,
            } => {
                format!(
                    "mbarrier arrive {}, expect {} bytes",
                    slot(barriers, at),
                    self.sym(bytes)
                )
            }
            TmaOp::Wait {
                barriers,
                slot: at,
                parity,
                clustered,
            } => {
                let clustered = if *clustered { ", of the cluster" } else { "" };
                format!(
                    "mbarrier wait {}, parity {}{clustered}",
                    slot(barriers, at),
                    self.expr(parity)
                )
            }
            TmaOp::Load {
                moved: m,
                barriers,
                slot: at,
                hint,
                blocks,
            } => {
                let hint = hint.map_or_else(String::new, |h| format!(", {}", cache_hint(h)));
                format!(
                    "tma load {}, completes {}, to {blocks} blocks{hint}",
                    moved(m),
                    slot(barriers, at)
                )
            }
            TmaOp::Store { moved: m } => format!("tma store {}", moved(m)),
            TmaOp::WaitStores { whole: true } => "tma wait stores".to_owned(),
            TmaOp::WaitStores { whole: false } => "tma wait stores, sources read".to_owned(),
        };
        self.line(format_args!("{text}"));
    }

    fn mma(&mut self, op: &MmaOp) {
        let text = match op {
            MmaOp::Each { part, add, value } => {
                let op = if *add { "add " } else { "" };
                format!("mma fill {} = {op}{}", self.part(part), self.expr(value))
            }
            MmaOp::Load { into, source } => {
                format!("mma load {} = {}", self.part(into), self.view(source))
            }
            MmaOp::Multiply { sums, a, b, atom } => {
                let (sums, a, b) = (self.part(sums), self.part(a), self.part(b));
                format!("mma multiply {sums} += {a} * {b}, {}", atom_text(*atom))
            }
            MmaOp::Product(product) => {
                let tile = |t: &Tile| format!("{}{}", self.view(&t.view), k_axis(t.k_last));
                let a = match &product.a {
                    Operand::Registers(part) => self.part(part),
                    Operand::Memory(t) => tile(t),
                };
                let (sums, b) = (self.part(&product.sums), tile(&product.b));
                let accumulate = self.expr(&product.accumulate);
                let operation = product
                    .operation
                    .map_or_else(String::new, |n| format!(", operation {n}"));
                let order = listed(&product.order);
                let atom = atom_text(product.atom);
                format!(
                    "wgmma {sums} += {a} * {b}, {atom}, k [{order}], accumulates if {accumulate}{operation}"
                )
            }
            MmaOp::Finish => "wgmma wait all".to_owned(),
            MmaOp::Await(n) => format!("wgmma wait operation {n}"),
            MmaOp::Store {
                from,
                dest,
                transposed,
            } => {
                let transposed = if *transposed { ", transposed" } else { "" };
                format!(
                    "mma store {} = {}{transposed}",
                    self.view(dest),
                    self.part(from)
                )
            }
            MmaOp::Apply {
                part,
                indices,
                body,
            } => {
                let indices = listed(indices.iter().map(|id| self.local(*id)));
                let part = self.part(part);
                self.nest(format_args!("mma apply {part} by ({indices})"), body);
                return;
            }
            MmaOp::Reduce {
                into,
                from,
                largest,
            } => {
                let op = if *largest { "max" } else { "sum" };
                format!(
                    "mma reduce {} = {op} of rows of {}",
                    self.part(into),
                    self.part(from)
                )
            }
            MmaOp::AllReduce { part } => format!("mma all-reduce {}", self.part(part)),
            MmaOp::Convert { into, from } => {
                format!("mma convert {} = {}", self.part(into), self.part(from))
            }
            MmaOp::Instruction { atom, parts } => {
                let [sums, a, b] = &**parts;
                let (sums, a, b) = (self.access(sums), self.access(a), self.access(b));
                format!("mma.sync {sums} += {a} * {b}, {}", atom_text(*atom))
            }
            MmaOp::Matrices {
                count,
                transposed,
                registers,
                memory,
                stored,
            } => {
                let (registers, memory) = (self.access(registers), self.access(memory));
                let transposed = if *transposed { ", transposed" } else { "" };
                match stored {
                    true => format!("stmatrix x{count} {memory} = {registers}{transposed}"),
                    false => format!("ldmatrix x{count} {registers} = {memory}{transposed}"),
                }
            }
            MmaOp::Step(step) => self.step(step),
        };
        self.line(format_args!("{text}"));
    }

    fn step(&self, step: &Step) -> String {
        let registers = |list: &[BufferId]| listed(list.iter().map(|id| self.buffer(*id)));
        match step {
            Step::Fence { registers: r } => format!("wgmma fence {}", registers(r)),
            Step::Commit => "wgmma commit".to_owned(),
            Step::Wait {
                younger,
                registers: r,
            } => {
                format!("wgmma wait, all but {younger}: {}", registers(r))
            }
            Step::Describe {
                local,
                of,
                swizzle,
                leading,
                stride,
            } => {
                let (local, of, leading) = (self.local(*local), self.access(of), self.sym(leading));
                format!(
                    "descriptor {local} = {of}, swizzle {swizzle}, leading {leading}, stride {stride}"
                )
            }
            Step::Advance { local, by, bytes } => {
                let (local, by, bytes) = (self.local(*local), self.local(*by), self.sym(bytes));
                format!("descriptor {local} = {by} + {bytes} bytes")
            }
            Step::Instruction(i) => {
                let described = |d: &Described| {
                    let by = self.local(d.by);
                    format!("{}:{by}+{}{}", d.elem, d.bytes, k_axis(d.k_last))
                };
                let a = match &i.a {
                    Source::Registers(a) => self.access(a),
                    Source::Memory(d) => described(d),
                };
                let (sums, b, accumulate) = (
                    self.access(&i.sums),
                    described(&i.b),
                    self.expr(&i.accumulate),
                );
                let atom = atom_text(i.atom);
                format!("wgmma.async {sums} += {a} * {b}, {atom}, accumulates if {accumulate}")
            }
        }
    }
}

fn k_axis(last: bool) -> &'static str {
    if last { ", k-major" } else { ", mn-major" }
}

fn atom_text(atom: Atom) -> String {
    let swapped = if atom.swapped { " swapped" } else { "" };
    format!("m{}n{}k{}{swapped}", atom.m, atom.n, atom.k)
}

fn cache_hint(hint: CacheHint) -> &'static str {
    match hint {
        CacheHint::EvictFirst => "evict first",
        CacheHint::EvictLast => "evict last",
    }
}

fn layout(spread: Spread) -> String {
    match spread {
        Spread::Rows { warps } => format!("one value per row over {warps} warps"),
        Spread::Matrix(layout) => {
            let transposed = if layout.transposed {
                ", transposed"
            } else {
                ""
            };
            let Layout {
                rows, width, warps, ..
            } = layout;
            format!("tiles of {rows} rows by {width} elements over {warps} warps{transposed}")
        }
    }
}

fn set_text(set: &ThreadSet) -> String {
    let ranges = set.ranges.iter().map(|(lo, hi)| format!("{lo}..{hi}"));
    format!("threads {}", listed(ranges))
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Cluster => "cluster",
        Level::Block => "block",
        Level::Group4 => "warpgroup",
        Level::Group => "warp",
        Level::Thread => "thread",
    }
}

fn barrier(scope: BarrierScope) -> String {
    match scope {
        BarrierScope::Grid => "grid".to_owned(),
        BarrierScope::Cluster => "cluster".to_owned(),
        BarrierScope::Block => "block".to_owned(),
        BarrierScope::Group4 => "warpgroup".to_owned(),
        BarrierScope::Group => "warp".to_owned(),
        BarrierScope::Named { id, threads } => format!("{id}, {threads} threads"),
        BarrierScope::Arrive { id, threads } => format!("{id}, {threads} threads, arrive only"),
        BarrierScope::Group4From(id) => format!("warpgroup, ids from {id}"),
        BarrierScope::Lanes(mask) => format!("lanes {mask:#010x}"),
    }
}

fn fence(scope: FenceScope) -> &'static str {
    match scope {
        FenceScope::Block => "block",
        FenceScope::Device => "device",
        FenceScope::AsyncProxy => "async proxy, shared",
        FenceScope::AsyncProxyEverywhere => "async proxy",
        FenceScope::MbarrierInit => "mbarrier init",
    }
}

fn reason(why: &BarrierReason) -> String {
    match why {
        BarrierReason::Written => "written in the source".to_owned(),
        BarrierReason::ReadAfterWrite(name) => format!("read after write of {name}"),
        BarrierReason::WriteAfterRead(name) => format!("write after read of {name}"),
        BarrierReason::WriteAfterWrite(name) => format!("write after write of {name}"),
        BarrierReason::MakesRoom { before, then } => format!("{then} takes the memory of {before}"),
        BarrierReason::RegionEnd => "end of a region".to_owned(),
        BarrierReason::Opaque => "opaque C++".to_owned(),
        BarrierReason::Initialised => "mbarriers initialised".to_owned(),
        BarrierReason::NextLoad => "next load".to_owned(),
        BarrierReason::Arrivals => "arrivals from the cluster".to_owned(),
        BarrierReason::Observed(name) => format!("phase of {name} observed by all"),
    }
}
