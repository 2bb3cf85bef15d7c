//! What is done by TMA and by tensor cores.

use super::super::*;
use super::words::*;
use super::{Printer, listed};
use crate::symbolic::Sym;

impl<P: Phase> Printer<'_, P> {
    pub(super) fn tma(&mut self, op: &TmaOp) {
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

    pub(super) fn mma(&mut self, op: &MmaOp<P>) {
        let text = match op {
            MmaOp::FillElements { part, add, value } => {
                let op = if *add { "add " } else { "" };
                format!(
                    "mma fill {} = {op}{}",
                    self.part(P::only(part)),
                    self.expr(value)
                )
            }
            MmaOp::Load { into, source } => {
                format!(
                    "mma load {} = {}",
                    self.part(P::only(into)),
                    self.view(source)
                )
            }
            MmaOp::Multiply { acc, a, b, atom } => {
                let (acc, a, b) = (self.part(P::only(acc)), self.part(a), self.part(b));
                format!("mma multiply {acc} += {a} * {b}, {}", atom_text(*atom))
            }
            MmaOp::WarpgroupMma(mma) => self.warpgroup_mma(P::only(mma).as_ref()),
            MmaOp::CommitAll(_) => "wgmma wait all".to_owned(),
            MmaOp::WaitMma(n) => format!("wgmma wait operation {}", P::only(n)),
            MmaOp::Store {
                from,
                dest,
                transposed,
            } => {
                let transposed = if *transposed { ", transposed" } else { "" };
                format!(
                    "mma store {} = {}{transposed}",
                    self.view(dest),
                    self.part(P::only(from))
                )
            }
            MmaOp::Apply {
                part,
                indices,
                body,
            } => {
                let indices = listed(indices.iter().map(|id| self.local(*id)));
                let part = self.part(P::only(part));
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
                    self.part(P::only(into)),
                    self.part(from)
                )
            }
            MmaOp::AllReduce { part } => format!("mma all-reduce {}", self.part(P::only(part))),
            MmaOp::Convert { into, from } => {
                format!(
                    "mma convert {} = {}",
                    self.part(P::only(into)),
                    self.part(from)
                )
            }
            MmaOp::Instruction { atom, parts } => {
                let [acc, a, b] = &**parts;
                let (acc, a, b) = (self.access(acc), self.access(a), self.access(b));
                format!("mma.sync {acc} += {a} * {b}, {}", atom_text(*atom))
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

    fn warpgroup_mma(&self, mma: &WarpgroupMma) -> String {
        let tile = |t: &Tile| format!("{}{}", self.view(&t.view), k_axis(t.k_last));
        let a = match &mma.a {
            Operand::Registers(part) => self.part(part),
            Operand::Memory(t) => tile(t),
        };
        let (acc, b) = (self.part(&mma.acc), tile(&mma.b));
        let accumulate = self.expr(&mma.accumulate);
        let operation = mma
            .operation
            .map_or_else(String::new, |n| format!(", operation {n}"));
        let order = listed(&mma.order);
        let atom = atom_text(mma.atom);
        format!(
            "wgmma {acc} += {a} * {b}, {atom}, k [{order}], accumulates if {accumulate}{operation}"
        )
    }

    pub(super) fn step(&self, step: &Step) -> String {
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
                let (acc, b, accumulate) = (
                    self.access(&i.acc),
                    described(&i.b),
                    self.expr(&i.accumulate),
                );
                let atom = atom_text(i.atom);
                format!("wgmma.async {acc} += {a} * {b}, {atom}, accumulates if {accumulate}")
            }
        }
    }
}
