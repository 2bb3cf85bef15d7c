//! Prints the operations of TMA and of tensor cores.

use super::super::*;
use super::expr;
use super::printer::Printer;
use super::words::*;
use crate::symbolic::Sym;

fn arrive<P: Phase>(
    p: &Printer<'_, P>,
    slot: &str,
    blocks: u32,
    only_reads: bool,
    sharing: &Sharing,
) -> String {
    let only_reads = if only_reads {
        ", only reads before"
    } else {
        ""
    };
    let by = match &sharing.unit {
        None => String::new(),
        Some((unit, None)) => format!(", by one thread of each {}", level_name(*unit)),
        Some((unit, Some(leader))) => {
            let leader = expr::expr(p, leader);
            format!(", by one thread of each {} if {leader}", level_name(*unit))
        }
    };
    let after = match sharing.after.is_empty() {
        true => String::new(),
        false => {
            let values = sharing.after.iter().map(|value| expr::expr(p, value));
            format!(", after {}", values.collect::<Vec<_>>().join(" and "))
        }
    };
    format!("mbarrier arrive {slot}, in {blocks} blocks{only_reads}{by}{after}")
}

pub(super) fn tma<P: Phase>(p: &mut Printer<'_, P>, op: &TmaOp) {
    let slot =
        |barriers: &BufferId, slot: &Sym| format!("{}[{}]", p.buffer(*barriers), p.sym(slot));
    let moved = |m: &TmaMove| {
        let (buffer, offset) = (p.buffer(m.buffer), p.sym(&m.offset));
        format!(
            "{buffer}[{offset}], map {} at [{}]",
            m.map,
            p.syms(&m.coordinates)
        )
    };
    let text = match op {
        TmaOp::Initialise {
            barriers,
            slots,
            count,
            again,
        } => {
            let (slots, count) = (p.sym(slots), p.sym(count));
            let again = if *again { " again" } else { "" };
            format!(
                "mbarrier init{again} {}, {slots} slots, {count} arrivals",
                p.buffer(*barriers)
            )
        }
        TmaOp::Arrive {
            barriers,
            slot: at,
            blocks,
            only_reads,
            sharing,
        } => arrive(p, &slot(barriers, at), *blocks, *only_reads, sharing),
        TmaOp::Announce {
            barriers,
            slot: at,
            bytes,
        } => {
            format!(
                "mbarrier expect {}, {} bytes",
                slot(barriers, at),
                p.sym(bytes)
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
                p.sym(bytes)
            )
        }
        TmaOp::Wait {
            barriers,
            slot: at,
            phase,
            by,
            clustered,
        } => {
            let clustered = if *clustered { ", of the cluster" } else { "" };
            let by = match by {
                PhaseBy::Parity => "parity",
                PhaseBy::Next => "next phase, parity",
                PhaseBy::Number => "phase",
            };
            format!(
                "mbarrier wait {}, {by} {}{clustered}",
                slot(barriers, at),
                expr::expr(p, phase)
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
        TmaOp::Prefetch { map } => format!("tma prefetch map {map}"),
        TmaOp::WaitStores { whole: true } => "tma wait stores".to_owned(),
        TmaOp::WaitStores { whole: false } => "tma wait stores, sources read".to_owned(),
    };
    p.line(format_args!("{text}"));
}

fn stored_columns<P: Phase>(p: &Printer<'_, P>, columns: Option<&Columns>) -> String {
    match columns {
        Some(c) => format!(", {} columns from {}", c.count, p.sym(&c.first)),
        None => String::new(),
    }
}

/// Prints the operation without the body of an `apply`.
pub(super) fn mma<P: Phase>(p: &mut Printer<'_, P>, op: &MmaOp<P>) {
    let text = match op {
        MmaOp::FillElements { part, add, value } => {
            let op = if *add { "add " } else { "" };
            format!(
                "mma fill {} = {op}{}",
                expr::part(p, P::only(part)),
                expr::expr(p, value)
            )
        }
        MmaOp::Load { into, source } => {
            format!(
                "mma load {} = {}",
                expr::part(p, P::only(into)),
                expr::view(p, source)
            )
        }
        MmaOp::Multiply {
            acc,
            a,
            b,
            metadata,
            atom,
        } => {
            let parts = [P::only(acc), a, b].map(|x| expr::part(p, x));
            let metadata = metadata.as_ref().map(|m| expr::part(p, m));
            product("mma multiply", parts, metadata, *atom)
        }
        MmaOp::WarpgroupMma(mma) => warpgroup_mma(p, P::only(mma).as_ref()),
        MmaOp::CommitAll(_) => "wgmma wait all".to_owned(),
        MmaOp::WaitMma(n) => format!("wgmma wait operation {}", P::only(n)),
        MmaOp::Store {
            from,
            columns,
            dest,
            transposed,
        } => {
            let transposed = if *transposed { ", transposed" } else { "" };
            let (dest, from) = (expr::view(p, dest), expr::part(p, P::only(from)));
            let columns = stored_columns(p, columns.as_ref());
            format!("mma store {dest} = {from}{columns}{transposed}")
        }
        MmaOp::Apply {
            part,
            indices,
            body: _,
        } => {
            let indices = listed(indices.iter().map(|id| p.local(*id)));
            let part = expr::part(p, P::only(part));
            format!("mma apply {part} by ({indices})")
        }
        MmaOp::Reduce {
            into,
            from,
            largest,
        } => {
            let op = if *largest { "max" } else { "sum" };
            format!(
                "mma reduce {} = {op} of rows of {}",
                expr::part(p, P::only(into)),
                expr::part(p, from)
            )
        }
        MmaOp::AllReduce { part } => format!("mma all-reduce {}", expr::part(p, P::only(part))),
        MmaOp::Convert { into, from } => {
            format!(
                "mma convert {} = {}",
                expr::part(p, P::only(into)),
                expr::part(p, from)
            )
        }
        MmaOp::Instruction {
            atom,
            parts,
            metadata,
        } => {
            let parts = parts.each_ref().map(|x| expr::access(p, x));
            let metadata = metadata.as_deref().map(|m| selected(p, m));
            product("mma.sync", parts, metadata, *atom)
        }
        MmaOp::Matrices {
            count,
            transposed,
            registers,
            memory,
            stored,
        } => {
            let (registers, memory) = (expr::access(p, registers), expr::access(p, memory));
            let transposed = if *transposed { ", transposed" } else { "" };
            match stored {
                true => format!("stmatrix x{count} {memory} = {registers}{transposed}"),
                false => format!("ldmatrix x{count} {registers} = {memory}{transposed}"),
            }
        }
        MmaOp::Step(of) => step(p, of),
    };
    p.line(format_args!("{text}"));
}

fn warpgroup_mma<P: Phase>(p: &Printer<'_, P>, mma: &WarpgroupMma) -> String {
    let tile = |t: &Tile| format!("{}{}", expr::view(p, &t.view), k_axis(t.k_last));
    let a = match &mma.a {
        Operand::Registers(part) => expr::part(p, part),
        Operand::Memory(t) => tile(t),
    };
    let (acc, b) = (expr::part(p, &mma.acc), tile(&mma.b));
    let accumulate = expr::expr(p, &mma.accumulate);
    let operation = mma
        .operation
        .map_or_else(String::new, |n| format!(", operation {n}"));
    let order = listed(&mma.order);
    let atom = atom_text(mma.atom);
    let sparse = sparse(mma.metadata.as_ref().map(|m| expr::part(p, m)));
    format!(
        "wgmma {acc} += {a}{sparse} * {b}, {atom}, k [{order}], accumulates if \
         {accumulate}{operation}"
    )
}

fn product(op: &str, [acc, a, b]: [String; 3], metadata: Option<String>, atom: Atom) -> String {
    let sparse = sparse(metadata);
    format!("{op} {acc} += {a}{sparse} * {b}, {}", atom_text(atom))
}

/// The metadata of a sparse A.
fn sparse(metadata: Option<String>) -> String {
    metadata.map_or_else(String::new, |m| format!(" at {m}"))
}

fn selected<P: Phase>(p: &Printer<'_, P>, metadata: &Selected) -> String {
    let Selected { register, selector } = metadata;
    format!("{} of threads {selector}", expr::access(p, register))
}

pub(super) fn step<P: Phase>(p: &Printer<'_, P>, step: &Step) -> String {
    let registers = |list: &[BufferId]| listed(list.iter().map(|id| p.buffer(*id)));
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
            computed_once,
        } => {
            let (local, of, leading) = (p.local(*local), expr::access(p, of), p.sym(leading));
            format!(
                "descriptor {local} = {of}, swizzle {swizzle}, leading {leading}, stride {stride}{}",
                once(*computed_once)
            )
        }
        Step::Advance {
            local,
            by,
            bytes,
            computed_once,
        } => {
            let (local, by, bytes) = (p.local(*local), p.local(*by), p.sym(bytes));
            format!(
                "descriptor {local} = {by} + {bytes} bytes{}",
                once(*computed_once)
            )
        }
        Step::Instruction(i) => {
            let described = |d: &Described| {
                let by = p.local(d.by);
                format!("{}:{by}+{}{}", d.elem, d.bytes, k_axis(d.k_last))
            };
            let a = match &i.a {
                Source::Registers(a) => expr::access(p, a),
                Source::Memory(d) => described(d),
            };
            let (acc, b, accumulate) = (
                expr::access(p, &i.acc),
                described(&i.b),
                expr::expr(p, &i.accumulate),
            );
            let atom = atom_text(i.atom);
            let sparse = sparse(i.metadata.as_deref().map(|m| selected(p, m)));
            format!("wgmma.async {acc} += {a}{sparse} * {b}, {atom}, accumulates if {accumulate}")
        }
    }
}

fn once(computed_once: bool) -> &'static str {
    if computed_once { ", once" } else { "" }
}
