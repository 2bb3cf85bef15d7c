//! Kernels as C++: one function each, which compiles for both targets.
//!
//! A kernel takes the launch's context, then its captures: device memory as handles, scalars by
//! value, which C++ of the program can't change. It begins with the handles of its shared memory and
//! the thread's own arrays.

use super::body::Body;
use super::scalar;
use super::scope::Names;
use super::sym;
use super::user_text::UserText;
use super::writer::Writer;
use crate::ir::threads::{Function, Kernel};
use crate::ir::{Buffer, BufferId, LocalId, Storage};
use crate::passes::analysis::barrier_intervals;
use crate::passes::analysis::captures::{Captures, captures, kernel_uses};
use crate::passes::analysis::local_arena::{Arena, arena};
use crate::passes::analysis::spin_loops::Spins;
use crate::passes::analysis::unproven::Unproven;
use crate::passes::analysis::uses::Uses;
use crate::passes::awaited;
use crate::symbolic::Sym;

/// The maximum number of threads of a block.
const BLOCK_LIMIT: i64 = 1024;

pub fn kernel<'a>(
    writer: &mut Writer<'a>,
    function: &'a Function,
    kernel: &'a Kernel,
    user: UserText<'a>,
) {
    let uses = kernel_uses(function, kernel);
    let captured = captures(function, kernel);
    let mut reserved = vec![kernel.name.as_str()];
    reserved.extend(uses.cpp.iter().map(String::as_str));
    let mut names = Names::new(function, &reserved);
    names.unproven = Unproven::of(function, kernel);
    let phased = barrier_intervals::separated(function, kernel);
    names.context = names.fresh("ctx");
    let together = kernel.attrs.cooperative.is_some();
    if together {
        names.together = names.fresh("together");
    }

    let mut pointers = Vec::new();
    let mut params = vec![if uses.context {
        format!("croq::context {}", names.context)
    } else {
        "croq::context".to_owned()
    }];
    if together {
        let name = &names.together;
        params.push(format!("[[maybe_unused]] croq::grid_barrier {name}"));
    }
    for at in awaited(kernel).into_keys() {
        params.push(format!("croq::awaited {}", names.declare_signal(at)));
    }
    for wanted in super::tma::wanted_names(function, kernel) {
        let name = names.declare_map(&wanted);
        params.push(format!("CROQ_GRID_CONSTANT const croq::tensor_map {name}"));
    }
    params.extend(arguments(
        &mut names,
        kernel,
        &uses,
        &captured,
        &mut pointers,
    ));

    writer.new_function();
    writer.own_text();
    writer.line("");
    writer.attribute(kernel.span);
    writer.open(&format!(
        "{} void {}({}) {{",
        attributes(kernel),
        kernel.name,
        params.join(", ")
    ));
    if crate::ir::needs_sm_90(kernel) {
        writer.line("croq::only_from_sm_90();");
        // With TMA, divisions are a large part of the threads' own work; nonnegative extents make
        // them shifts.
        let dims = captured.dims.iter().map(|id| names.dim(*id));
        let locals = captured.locals.iter().filter(|id| {
            let var = function.locals.get(id.index()).and_then(|local| local.var);
            let least = var.and_then(|var| function.cx.bounds(var).0?.as_int());
            least.is_some_and(|least| least >= 0)
        });
        let extents: Vec<&str> = dims.chain(locals.map(|id| names.local(*id))).collect();
        if !extents.is_empty() {
            writer.line(&format!("croq::extents({});", extents.join(", ")));
        }
    }
    let arena = arena(function, kernel);
    let own = |id: &BufferId| !is_global(function, *id);
    for id in uses.buffers.iter().copied().filter(own) {
        let Some(buffer) = function.buffers.get(id.index()) else {
            continue;
        };
        let name = handle(&mut names, &uses, id, buffer, &mut pointers);
        writer.attribute(buffer.span);
        let is_phased = phased.contains(&id);
        writer.line(&match buffer.storage {
            Storage::Shared | Storage::Mbarriers => {
                shared_memory(&names, kernel, is_phased, (id, buffer), &name)
            }
            _ => local_memory(&names, &arena, (id, buffer), &name),
        });
    }
    for line in pointers {
        writer.line(&line);
    }
    let mut body = Body {
        names,
        writer,
        read: uses.locals,
        on_host: false,
        spins: Spins::of(function, kernel),
        user,
    };
    body.block(&kernel.body);
    body.writer.close("}");
}

fn is_global(function: &Function, id: BufferId) -> bool {
    function
        .buffers
        .get(id.index())
        .is_some_and(|b| b.storage.is_global())
}

/// `const float` for a parameter that no kernel writes.
pub fn element(buffer: &Buffer) -> String {
    let constness = match buffer.storage {
        Storage::Param(_) if !buffer.written => "const ",
        _ => "",
    };
    format!("{constness}{}", scalar::cpp(buffer.elem))
}

fn arguments(
    names: &mut Names,
    kernel: &Kernel,
    uses: &Uses,
    captured: &Captures,
    pointers: &mut Vec<String>,
) -> Vec<String> {
    let function = names.function;
    let mut params = Vec::new();
    for id in &captured.buffers {
        let Some(buffer) = function.buffers.get(id.index()) else {
            continue;
        };
        let name = handle(names, uses, *id, buffer, pointers);
        // The simulated GPU checks accesses by different threads.
        let class = if kernel.facts.records(*id) {
            "contended"
        } else {
            "global"
        };
        params.push(format!("croq::{class}<{}> {name}", element(buffer)));
    }
    let mut scalars = Vec::new();
    for id in &captured.params {
        let ty = function
            .params
            .get(id.index())
            .and_then(scalar::of_param)
            .map_or("croq::idx", scalar::cpp);
        scalars.push(format!("{ty} {}", names.declare_param(*id)));
    }
    for id in &captured.dims {
        scalars.push(format!("croq::idx {}", names.declare_dim(*id)));
    }
    for id in &captured.locals {
        scalars.push(format!(
            "{} {}",
            local_type(function, *id),
            names.declare_local(*id)
        ));
    }
    // Accesses are proved by their values.
    let constness = if uses.opaque { "const " } else { "" };
    params.extend(scalars.into_iter().map(|s| format!("{constness}{s}")));
    params
}

fn local_type(function: &Function, id: LocalId) -> &'static str {
    function
        .locals
        .get(id.index())
        .map_or("croq::idx", |l| scalar::cpp(l.ty))
}

/// Declares a buffer's handle. If the user's C++ mentions the buffer, the name is that of a
/// pointer, and the handle gets another one.
fn handle(
    names: &mut Names,
    uses: &Uses,
    id: BufferId,
    buffer: &Buffer,
    pointers: &mut Vec<String>,
) -> String {
    if !uses.named_in_text.contains(&id) {
        return names.declare_buffer(id);
    }
    let pointer = names.declare_pointer(id, &buffer.name);
    let name = names.declare_buffer_as(id, &format!("{}_handle", buffer.name));
    pointers.push(format!(
        "[[maybe_unused]] {} *const {pointer} = {name}.data();",
        element(buffer)
    ));
    name
}

/// The number of a shared buffer among those with marks, from 1 on.
fn number(names: &Names, id: BufferId) -> Option<usize> {
    names
        .numbered()
        .position(|other| other == id)
        .map(|at| at + 1)
}

fn shared_memory(
    names: &Names,
    kernel: &Kernel,
    is_phased: bool,
    (id, buffer): (BufferId, &Buffer),
    name: &str,
) -> String {
    let elem = scalar::cpp(buffer.elem);
    let shown = super::writer::quoted(&buffer.name);
    let zero = Sym::zero();
    let offset = kernel
        .shared
        .iter()
        .find(|placed| placed.buffer == id)
        .map_or(&zero, |placed| &placed.offset);
    let (offset, count) = (
        sym::sym(names, offset).text,
        sym::sym(names, &buffer.count).text,
    );
    if buffer.storage == Storage::Mbarriers {
        return format!(
            "const croq::mbarriers {name} = croq::mbarriers_at({offset}, {count}, {shown});"
        );
    }
    // If asynchronous operations write the memory, the simulated GPU checks every access.
    let handle = if kernel.asynchronous {
        "watched"
    } else {
        "shared"
    };
    let mut how: Vec<String> = Vec::new();
    how.extend(is_phased.then(|| "croq::phased".to_owned()));
    how.extend(number(names, id).map(|number| format!("croq::marked_by({number})")));
    let how = match how.is_empty() {
        true => String::new(),
        false => format!(", {}", how.join(" | ")),
    };
    let constant = if kernel.facts.anew.contains(&id) {
        ""
    } else {
        "const "
    };
    format!(
        "{constant}croq::{handle}<{elem}> {name} = croq::{handle}_at<{elem}>({offset}, {count}, {shown}{how});"
    )
}

fn local_memory(
    names: &Names,
    arena: &Arena,
    (id, buffer): (BufferId, &Buffer),
    name: &str,
) -> String {
    let elem = scalar::cpp(buffer.elem);
    let shown = super::writer::quoted(&buffer.name);
    // sema allows only static sizes here.
    let count = buffer.count.as_int().unwrap_or(1).max(1);
    let kind = match buffer.storage {
        Storage::Fragment => "fragment",
        _ => "local",
    };
    let unproven = &names.unproven;
    let (tracked, of_name) = match (
        unproven.escaping.contains(&id),
        unproven.buffers.contains(&id),
    ) {
        (true, _) => ("tracked_", format!("({shown}, true)")),
        (_, true) => ("tracked_", format!("({shown})")),
        _ => ("", String::new()),
    };
    match arena.offsets.get(&id) {
        Some(offset) => {
            format!("croq::{tracked}{kind}_at<{elem}, {count}, {offset}> {name}{of_name};")
        }
        None => format!("croq::{tracked}{kind}<{elem}, {count}> {name}{of_name};"),
    }
}

/// `CROQ_KERNEL(threads, minimum blocks per multiprocessor, …)`.
fn attributes(kernel: &Kernel) -> String {
    let threads = kernel
        .threads
        .as_int()
        .unwrap_or(BLOCK_LIMIT)
        .clamp(1, BLOCK_LIMIT);
    let [t, b, c] = kernel.attrs.launch_bounds.unwrap_or_default();
    let threads = t.map_or(threads, |t| threads.max(i64::from(t)));
    let mut bounds = vec![threads.to_string()];
    if b.is_some() || c.is_some() {
        bounds.push(b.unwrap_or(1).to_string());
    }
    bounds.extend(c.map(|c| c.to_string()));
    let bounds = bounds.join(", ");
    match kernel.attrs.maxnreg {
        Some(registers) => format!("CROQ_KERNEL_WITH_REGISTERS({registers}, {bounds})"),
        None => format!("CROQ_KERNEL({bounds})"),
    }
}
