//! The launch shim: the C function that a safe Rust wrapper calls.
//!
//! It unpacks the arguments, then executes the function's host statements in order. A step that
//! fails ends the call, and `host` records the failure.

use super::args::{Args, FieldRole, struct_name};
use super::body::Body;
use super::device::element;
use super::expr;
use super::file_meta::FileMeta;
use super::oldest_gpu;
use super::scalar;
use super::scope::Names;
use super::sym;
use super::text::{Binding, Text};
use super::user_text::UserText;
use super::writer::{Writer, quoted};
use crate::ir::threads::{Function, Kernel, Stmt, StmtKind};
use crate::ir::{
    BufferId, DimId, Extent, KernelId, LocalId, ParamId, ParamKind, ReturnValue, Scalar, SignalAt,
    SignalId, Storage, TensorParam, any_stmt,
};
use crate::passes::analysis::captures::captures;
use crate::passes::analysis::local_arena::arena;
use crate::passes::analysis::spin_loops::Spins;
use crate::passes::analysis::unproven::Unproven;
use crate::passes::analysis::uses::Uses;
use crate::passes::awaited;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

pub fn shim<'a>(
    writer: &mut Writer<'a>,
    meta: &FileMeta,
    function: &'a Function,
    user: UserText<'a>,
) {
    let uses = host_uses(function);
    let kernels: Vec<&str> = function.kernels.iter().map(|k| k.name.as_str()).collect();
    let mut reserved = vec!["env", "args", "host"];
    reserved.extend(kernels);
    let mut names = Names::new(function, &reserved);
    let args = Args::of(function);

    writer.new_function();
    writer.own_text();
    writer.line("");
    writer.open(&format!(
        "extern \"C\" CROQ_WEAK croq_u32 CROQ_SHIM({}_{})(const croq_env *env, [[maybe_unused]] {} *args) {{",
        meta.hash,
        function.name,
        struct_name(meta, function)
    ));
    writer.line(&format!("croq::host host(env, {});", quoted(&meta.path)));
    let used = |set: bool| if set { "" } else { "[[maybe_unused]] " };
    for (at, dim) in function.dims.iter().enumerate() {
        let id = DimId(u32::try_from(at).unwrap_or(u32::MAX));
        let name = names.declare_dim(id);
        writer.attribute(dim.span);
        let unused = used(uses.dims.contains(&id));
        writer.line(&format!(
            "{unused}const croq::idx {name} = args->{};",
            args.name(FieldRole::Dim(id))
        ));
    }
    for (at, param) in function.params.iter().enumerate() {
        let id = ParamId(u32::try_from(at).unwrap_or(u32::MAX));
        writer.attribute(param.span);
        match &param.kind {
            ParamKind::Stream => {}
            ParamKind::Scalar { ty, .. } => {
                let name = names.declare_param(id);
                let value = from_field(*ty, &format!("args->{}", args.name(FieldRole::Param(id))));
                let unused = used(uses.params.contains(&id));
                writer.line(&format!(
                    "{unused}const {} {name} = {value};",
                    scalar::cpp(*ty)
                ));
            }
            ParamKind::Tensor(tensor) if uses.buffers.contains(&tensor.buffer) => {
                let Some(buffer) = function.buffers.get(tensor.buffer.index()) else {
                    continue;
                };
                let name = names.declare_buffer(tensor.buffer);
                let elem = element(buffer);
                let count = extent(&names, &args, function, id, tensor);
                let constant = match exchanges(function, tensor.buffer) {
                    true => "",
                    false => "const ",
                };
                writer.line(&format!(
                    "{constant}croq::global<{elem}> {name} = croq::bind<{elem}>(args->{}, {count}, {});",
                    args.name(FieldRole::Param(id)),
                    quoted(&buffer.name)
                ));
                mirror(writer, &mut names, tensor.buffer, &elem, &count);
            }
            ParamKind::Tensor(_) => {}
        }
    }
    signals(writer, &mut names, function);
    let mut body = Body {
        names,
        writer,
        read: uses.locals,
        on_host: true,
        spins: Spins::default(),
        user,
    };
    body.block(&function.body);
    let ends = function
        .body
        .last()
        .is_some_and(|s| matches!(s.kind, StmtKind::Return(_)));
    if !ends {
        body.settle_mirrors(function.span, &[]);
        body.writer.own_text();
        body.writer.line("return host.status();");
    }
    body.writer.close("}");
}

/// The host's events and the kernels: operations on the GPU that must precede a first launch,
/// because they could wait for launches in flight.
fn signals<'a>(writer: &mut Writer<'a>, names: &mut Names<'a>, function: &'a Function) {
    if function.signals.is_empty() {
        return;
    }
    for kernel in &function.kernels {
        let name = &kernel.name;
        writer.attribute(kernel.span);
        writer.line(&format!(
            "CROQ_TRY(host.load<decltype(&{name}), &{name}>());"
        ));
    }
    for (id, signal) in (0..).map(SignalId).zip(&function.signals) {
        let signal_at = SignalAt {
            signal: id,
            slot: Sym::zero(),
        };
        let name = names.declare_signal(signal_at);
        // The maximum length in reports.
        let shown: String = signal
            .name
            .chars()
            .filter(char::is_ascii)
            .take(14)
            .collect();
        let ready = u32::from(signal.ready);
        let arguments = |number: &str| {
            let shown = format!("`{shown}{number}` is waited for {{0}} times, triggered {{1}}");
            format!("host, {}, {ready}", quoted(&format!("event: {shown}")))
        };
        writer.attribute(signal.span);
        match signal.slots {
            None => writer.line(&format!("croq::event {name}({});", arguments(""))),
            Some(slots) => {
                let slots = (0..slots).map(|slot| format!("[{slot}]"));
                let slots: Vec<String> = slots
                    .map(|slot| format!("croq::event({})", arguments(&slot)))
                    .collect();
                writer.line(&format!("croq::event {name}[] = {{{}}};", slots.join(", ")));
            }
        }
    }
}

/// The number of elements of a tensor parameter. A `??` axis counts as one in the IR; its actual
/// extent is an argument.
fn extent(
    names: &Names,
    args: &Args,
    function: &Function,
    param: ParamId,
    tensor: &TensorParam,
) -> String {
    let one = Sym::one();
    let known = function
        .buffers
        .get(tensor.buffer.index())
        .map_or(&one, |b| &b.count);
    let unbounded = tensor
        .extents
        .iter()
        .enumerate()
        .filter(|(_, e)| **e == Extent::Unbounded);
    unbounded
        .map(|(axis, _)| {
            Text::primary(format!(
                "args->{}",
                args.name(FieldRole::Unbounded { param, axis })
            ))
        })
        .fold(sym::sym(names, known), |product, extent| {
            Text::infix(product, "*", extent, Binding::Product)
        })
        .text
}

/// The host's copy of a buffer, if it accesses elements.
fn mirror<'a>(
    writer: &mut Writer<'a>,
    names: &mut Names<'a>,
    id: BufferId,
    elem: &str,
    count: &str,
) {
    let fetches = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Fetch(of) if *of == id);
    if any_stmt(&names.function.body, fetches) {
        let name = names.declare_mirror(id);
        let memory = names.buffer(id);
        writer.line(&format!(
            "croq::mirror<{elem}> {name}(host, {memory}, {count});"
        ));
    }
}

/// Whether the host exchanges the buffer with others.
fn exchanges(function: &Function, id: BufferId) -> bool {
    any_stmt(
        &function.body,
        |stmt| matches!(&stmt.kind, StmtKind::Exchange(ids) if ids.contains(&id)),
    )
}

/// Whether host code prints; such files must include C's own printing.
pub fn prints(function: &Function) -> bool {
    any_stmt(&function.body, |stmt| {
        matches!(stmt.kind, StmtKind::Print { .. })
    })
}

/// The names that the shim uses: in its own statements, and in every argument of every launch.
fn host_uses(function: &Function) -> Uses {
    let mut uses = Uses::of_block(function, &function.body);
    for kernel in &function.kernels {
        let captured = captures(function, kernel);
        uses.buffers.extend(captured.buffers);
        uses.params.extend(captured.params);
        uses.dims.extend(captured.dims);
        uses.locals.extend(captured.locals);
        for map in &kernel.maps {
            uses.buffers.insert(map.buffer);
        }
        for sym in kernel
            .maps
            .iter()
            .flat_map(|m| {
                let lists = m.extents.iter().chain(&m.strides).chain(&m.extent_of_box);
                lists.chain([&m.base])
            })
            .chain(&kernel.grid)
            .chain([&kernel.threads, &kernel.shared_bytes])
        {
            uses.sym(function, sym);
        }
        for at in awaited(kernel).into_keys() {
            uses.sym(function, &at.slot);
        }
    }
    let used: SortedSet<BufferId> = uses.buffers.clone();
    for buffer in used
        .iter()
        .filter_map(|id| function.buffers.get(id.index()))
    {
        uses.sym(function, &buffer.count);
    }
    let shapes = function.results.iter().flat_map(|r| r.shape());
    shapes.for_each(|s| uses.sym(function, s));
    uses
}

/// Scalars that C lacks are passed as their bits.
fn from_field(ty: Scalar, field: &str) -> String {
    match ty {
        _ if ty.is_narrow_float() => format!("croq::from_bits<{}>({field})", scalar::cpp(ty)),
        Scalar::Bool => format!("{field} != 0"),
        _ => field.to_owned(),
    }
}

/// What the simulated GPU records the accesses for: races are the default.
fn recorded(kernel: &Kernel, id: BufferId) -> &'static str {
    let facts = &kernel.facts;
    match (facts.tracked.contains(&id), facts.whole.contains(&id)) {
        (_, false) => "",
        (true, true) => "<CROQ_RECORDS_RACES | CROQ_RECORDS_UNWRITTEN>",
        (false, true) => "<CROQ_RECORDS_UNWRITTEN>",
    }
}

fn to_field(ty: Scalar, value: &str) -> String {
    if ty.is_narrow_float() {
        format!("({value}).bits")
    } else {
        value.to_owned()
    }
}

impl Body<'_, '_> {
    pub(super) fn alloc(&mut self, span: Span, id: BufferId) {
        let function = self.names.function;
        let Some(buffer) = function.buffers.get(id.index()) else {
            return;
        };
        if !self.on_host {
            // Declared in a loop: marks of earlier iterations do not count.
            let name = self.names.buffer(id).to_owned();
            if self.names.unproven.buffers.contains(&id) {
                let numbers = self.names.numbered().count().clamp(1, 255);
                self.writer.statement(span);
                self.writer.line(&format!("{name}.begin_anew({numbers});"));
            }
            return;
        }
        if !matches!(buffer.storage, Storage::Host) {
            return;
        }
        let count = sym::sym(&self.names, &buffer.count).text;
        let name = self.names.declare_buffer(id);
        let elem = scalar::cpp(buffer.elem);
        let shown = quoted(&buffer.name);
        let kernels = &function.kernels;
        let alloc = match kernels.iter().any(|k| k.facts.whole.contains(&id)) {
            true => "alloc_unwritten",
            false => "alloc",
        };
        self.writer.statement(span);
        self.writer.line(&format!("croq::global<{elem}> {name};"));
        self.writer.attribute(span);
        self.writer.line(&format!(
            "CROQ_TRY(host.{alloc}({name}, {count}, {shown}));"
        ));
        mirror(self.writer, &mut self.names, id, elem, &count);
    }

    pub(super) fn launch(&mut self, span: Span, id: KernelId) {
        let function = self.names.function;
        let Some(kernel) = function.kernels.get(id.index()) else {
            return;
        };
        let captured = captures(function, kernel);
        let name = &kernel.name;
        if let Some(sm) = oldest_gpu::oldest_gpu(function, kernel) {
            self.writer.attribute(span);
            self.writer.line(&format!("CROQ_NEEDS({name}, {sm});"));
        }
        let mapped = kernel.maps.iter().map(|map| map.buffer);
        let memory: Vec<BufferId> = captured.buffers.iter().copied().chain(mapped).collect();
        self.to_device(span, &memory);
        let maps = self.maps(span, kernel);
        let grid: Vec<String> = kernel
            .grid
            .iter()
            .map(|s| sym::sym(&self.names, s).text)
            .collect();
        let mut args = vec![
            name.clone(),
            if kernel.attrs.cooperative.is_some() {
                // Not the number itself: the generated text must not change when lines only move.
                format!("croq::together{{{{{}}}, __LINE__}}", grid.join(", "))
            } else if kernel.is_clustered() {
                let [x, y, z] = kernel.cluster;
                let grid = grid.join(", ");
                format!("croq::clustered{{{{{grid}}}, {{{x}, {y}, {z}}}}}")
            } else {
                format!("croq::grid{{{}}}", grid.join(", "))
            },
            sym::sym(&self.names, &kernel.threads).text,
            sym::sym(&self.names, &kernel.shared_bytes).text,
            mode(function, kernel, self.user),
        ];
        for (at, waits) in awaited(kernel) {
            let (event, count) = (self.host_event(&at), waits.len());
            args.push(format!("{event}.awaited({count}, __LINE__)"));
        }
        let mapped = kernel.maps.iter().map(|map| map.buffer);
        args.extend(maps.into_iter().zip(mapped).map(|(map, id)| {
            // Otherwise the buffer is an argument itself.
            let alone = kernel.facts.records(id) && !captured.buffers.contains(&id);
            match alone {
                true => format!(
                    "croq::contend{}({map}, {})",
                    recorded(kernel, id),
                    self.names.buffer(id)
                ),
                false => map,
            }
        }));
        args.extend(captured.buffers.into_iter().map(|id| {
            let name = self.names.buffer(id);
            match (
                kernel.facts.records(id),
                kernel.facts.escaping.contains(&id),
            ) {
                (true, _) => format!("croq::contend{}({name})", recorded(kernel, id)),
                (_, true) if !kernel.facts.tracked.is_empty() => format!("croq::escaping({name})"),
                _ => name.to_owned(),
            }
        }));
        args.extend(
            captured
                .params
                .into_iter()
                .map(|id: ParamId| self.names.param(id).to_owned()),
        );
        args.extend(
            captured
                .dims
                .into_iter()
                .map(|id| self.names.dim(id).to_owned()),
        );
        args.extend(
            captured
                .locals
                .into_iter()
                .map(|id: LocalId| self.names.local(id).to_owned()),
        );
        if kernel.attrs.stream.is_some() || kernel.attrs.is_async {
            let fields = Args::of(function);
            let stream = kernel.attrs.stream.map_or_else(
                || "nullptr".to_owned(),
                |id| format!("args->{}", fields.name(FieldRole::Param(id))),
            );
            let overlaps = kernel.attrs.is_async;
            self.writer.attribute(span);
            self.writer
                .line(&format!("host.next_on({stream}, {overlaps});"));
        }
        self.writer.statement(span);
        self.writer
            .line(&format!("CROQ_LAUNCH({});", args.join(", ")));
        self.from_device(span, &memory);
    }

    /// What the host has written reaches the device.
    fn to_device(&mut self, span: Span, ids: &[BufferId]) {
        let mirrors: Vec<String> = ids
            .iter()
            .filter_map(|id| Some(self.names.mirror(*id)?.to_owned()))
            .collect();
        for mirror in mirrors {
            self.writer.attribute(span);
            self.writer.line(&format!("CROQ_TRY({mirror}.flush());"));
        }
    }

    /// What the device may have written is copied again before the host reads it.
    fn from_device(&mut self, span: Span, ids: &[BufferId]) {
        let function = self.names.function;
        self.stale(
            span,
            ids.iter().filter(|id| {
                let buffer = function.buffers.get(id.index());
                buffer.is_none_or(|b| b.written)
            }),
        );
    }

    fn stale<'i>(&mut self, span: Span, ids: impl Iterator<Item = &'i BufferId>) {
        let mirrors: Vec<String> = ids
            .filter_map(|id| Some(self.names.mirror(*id)?.to_owned()))
            .collect();
        for mirror in mirrors {
            self.writer.attribute(span);
            self.writer.line(&format!("{mirror}.stale();"));
        }
    }

    /// What callers see of what the host has written.
    fn settle_mirrors(&mut self, span: Span, values: &[ReturnValue]) {
        let params = self.names.function.params.iter();
        let mut ids: SortedSet<BufferId> = params
            .filter_map(|param| match &param.kind {
                ParamKind::Tensor(tensor) => Some(tensor.buffer),
                _ => None,
            })
            .collect();
        ids.extend(values.iter().filter_map(|value| match value {
            ReturnValue::Buffer(id) => Some(*id),
            ReturnValue::Scalar(_) => None,
        }));
        let ids: Vec<BufferId> = ids.into_iter().collect();
        self.to_device(span, &ids);
    }

    /// Handles that take each other's memory.
    pub(super) fn exchange(&mut self, span: Span, ids: &[BufferId]) {
        let names: Vec<String> = ids
            .iter()
            .map(|id| self.names.buffer(*id).to_owned())
            .collect();
        self.to_device(span, ids);
        self.line(span, &format!("croq::exchange({});", names.join(", ")));
        self.stale(span, ids.iter());
    }

    /// An event of the host, by its number if there are several.
    pub(super) fn host_event(&self, at: &SignalAt) -> String {
        let first = SignalAt {
            slot: Sym::zero(),
            ..at.clone()
        };
        let name = self.names.signal(&first);
        match self.names.function.signal(at.signal).slots {
            Some(_) => format!("{name}[{}]", sym::sym(&self.names, &at.slot).text),
            None => name.to_owned(),
        }
    }

    pub(super) fn give_back(&mut self, span: Span, values: &[ReturnValue]) {
        let function = self.names.function;
        let args = Args::of(function);
        self.writer.statement(span);
        self.settle_mirrors(span, values);
        for (of, value) in values.iter().enumerate() {
            // A parameter may have the plain name.
            let result = args.name(FieldRole::Result(of));
            let id = match value {
                ReturnValue::Scalar(e) => {
                    let value = to_field(e.ty, &expr::expr(&self.names, e).text);
                    self.writer.line(&format!("args->{result} = {value};"));
                    continue;
                }
                ReturnValue::Buffer(id) => *id,
            };
            let data = format!("{}.data()", self.names.buffer(id));
            // The caller only reads a returned parameter.
            let constant = function
                .buffers
                .get(id.index())
                .is_some_and(|b| element(b).starts_with("const "));
            self.writer.line(&if constant {
                format!("args->{result} = const_cast<void *>(static_cast<const void *>({data}));")
            } else {
                format!("args->{result} = {data};")
            });
            let shape = function.results.get(of).map_or(&[][..], |r| r.shape());
            let shape_field = args.result_shape(of);
            for (axis, extent) in shape.iter().enumerate() {
                let extent = sym::sym(&self.names, extent).text;
                self.writer.attribute(span);
                self.writer
                    .line(&format!("args->{shape_field}[{axis}] = {extent};"));
            }
        }
        self.writer.attribute(span);
        self.writer.line("return host.status();");
    }
}

/// The launch mode of the kernel's blocks on the simulated GPU.
fn mode(function: &Function, kernel: &Kernel, user: UserText<'_>) -> String {
    let spins = Spins::of(function, kernel);
    let of_blocks = spins.global || foreign_loops(function, kernel, user);
    let mode = if !kernel.maps.is_empty() || kernel.warpgroups {
        "croq::async_proxy"
    } else if kernel.asynchronous {
        "croq::asynchronous"
    } else if of_blocks {
        ""
    } else if kernel.waits || spins.any {
        "croq::waits"
    } else {
        "croq::plain"
    };
    let unproven = Unproven::of(function, kernel);
    let shared = |id: &BufferId| {
        let buffer = function.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage == Storage::Shared)
    };
    let marks = unproven.buffers.iter().any(shared);
    let bytes = arena(function, kernel).bytes;
    let arena = format!("croq::arena<{bytes}>");
    let modes = [
        (mode, !mode.is_empty()),
        ("croq::spins", of_blocks),
        ("croq::ordered", kernel.facts.ordered),
        ("croq::with_marks", marks),
        (arena.as_str(), bytes > 0),
    ];
    let mut modes: Vec<&str> = modes.into_iter().filter(|m| m.1).map(|m| m.0).collect();
    if of_blocks || kernel.facts.ordered || marks {
        modes.retain(|mode| *mode != "croq::plain");
    }
    modes.join(" | ")
}

/// Whether the kernel may wait for other blocks in the user's C++.
fn foreign_loops(function: &Function, kernel: &Kernel, user: UserText<'_>) -> bool {
    fn collect<'a>(block: &'a [Stmt], pieces: &mut Vec<&'a str>) {
        for stmt in block {
            if let StmtKind::Cpp { text, .. } = &stmt.kind {
                pieces.push(text);
            }
            stmt.kind.blocks().for_each(|block| collect(block, pieces));
        }
    }
    let mut pieces = Vec::new();
    collect(&kernel.body, &mut pieces);
    let uses = Uses::of_block(function, &kernel.body);
    user.may_spin(uses.opaque, &pieces)
}
