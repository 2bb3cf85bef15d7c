//! Which registers an instruction writes and reads, by its opcode.
//!
//! Of the parsed instruction, so that it also holds for instructions that the machine refuses. Not in
//! the lists: 128-bit registers, the carry flag, and the variables through which calls pass values.

use super::registers::{Assignment, Slot};
use crate::parse::{Address, Base, Instruction, Mnemonic, Operand, RegisterId};

/// Registers of one instruction; each list has no slot twice.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Operands {
    pub written: Box<[Slot]>,
    /// With the guard, and the registers of addresses. An accumulator that the instruction also
    /// writes is here unless its text says that the old value is not used (`scale-d` of `wgmma` may
    /// be a predicate: then it depends on its value).
    pub read: Box<[Slot]>,
    /// `mov.b32 {a, b}, c`: the halves of a register, each in one of 16 bits.
    pub takes_apart: bool,
}

impl Operands {
    pub fn of(instruction: &Instruction, assignment: &Assignment) -> Operands {
        let mut found = Lists {
            assignment,
            written: Vec::new(),
            read: Vec::new(),
        };
        if let Some(guard) = instruction.guard {
            found.reads(guard.register);
        }
        let operands = instruction.operands.as_slice();
        let sources = match operands.split_first() {
            Some((first, rest)) if has_destination(&instruction.mnemonic, first) => {
                found.destination(first);
                if accumulates_in_place(&instruction.mnemonic, rest) {
                    found.source(first);
                }
                rest
            }
            _ => operands,
        };
        sources.iter().for_each(|operand| found.source(operand));
        Operands {
            written: found.written.into(),
            read: found.read.into(),
            takes_apart: takes_apart(instruction),
        }
    }
}

fn takes_apart(instruction: &Instruction) -> bool {
    let mnemonic = &instruction.mnemonic;
    let is_apart = |list: &[Operand]| matches!(list, [Operand::Vector(_), Operand::Register(_)]);
    mnemonic.opcode == "mov" && mnemonic.has("b32") && is_apart(&instruction.operands)
}

/// Whether the first operand is written.
fn has_destination(mnemonic: &Mnemonic, first: &Operand) -> bool {
    match (mnemonic.opcode.as_str(), first) {
        // Stores and asynchronous operations on memory; `mbarrier.arrive` may have no result.
        (_, Operand::Memory { .. }) => false,
        ("bar" | "barrier", _) => mnemonic.has("red"),
        ("wgmma", _) => mnemonic.has("mma_async"),
        (
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "pmevent" | "nanosleep"
            | "setmaxnreg" | "griddepcontrol" | "fence" | "membar" | "cp" | "st" | "red"
            | "stmatrix" | "prefetch" | "prefetchu" | "discard" | "applypriority" | "tensormap"
            | "stackrestore",
            _,
        ) => false,
        _ => true,
    }
}

/// `wgmma.mma_async d, a-desc, b-desc, scale-d, …` and `wgmma.mma_async.sp d, a, b, sp-meta,
/// sp-sel, scale-d, …`; without scale-d, the old value is used.
fn accumulates_in_place(mnemonic: &Mnemonic, rest: &[Operand]) -> bool {
    let scale = if mnemonic.has("sp") { 4 } else { 2 };
    mnemonic.opcode == "wgmma" && rest.get(scale) != Some(&Operand::Integer(0))
}

struct Lists<'a> {
    assignment: &'a Assignment,
    written: Vec<Slot>,
    read: Vec<Slot>,
}

impl Lists<'_> {
    fn reads(&mut self, register: RegisterId) {
        let slot = self.assignment.slot(register);
        add(&mut self.read, slot);
    }

    fn destination(&mut self, operand: &Operand) {
        match operand {
            Operand::Register(register) => {
                let slot = self.assignment.slot(*register);
                add(&mut self.written, slot);
            }
            Operand::Vector(list) => list.iter().for_each(|element| self.destination(element)),
            Operand::Pair(d, p) => {
                self.destination(d);
                self.destination(p);
            }
            _ => {}
        }
    }

    fn source(&mut self, operand: &Operand) {
        match operand {
            Operand::Register(register) | Operand::Not(register) => self.reads(*register),
            Operand::Symbol(address) => self.address(address),
            Operand::Memory {
                address,
                coordinates,
            } => {
                self.address(address);
                coordinates.iter().for_each(|element| self.source(element));
            }
            Operand::Vector(list) | Operand::List(list) => {
                list.iter().for_each(|element| self.source(element));
            }
            Operand::Pair(a, b) => {
                self.source(a);
                self.source(b);
            }
            _ => {}
        }
    }

    fn address(&mut self, address: &Address) {
        if let Base::Register(register) = address.base {
            self.reads(register);
        }
    }
}

fn add(list: &mut Vec<Slot>, slot: Option<Slot>) {
    if let Some(slot) = slot
        && !list.contains(&slot)
    {
        list.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::super::registers::{Assignment, Bank, Slot};
    use super::Operands;
    use crate::parse::parse;

    const DECLARED: &str =
        ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b32 %f<40>; .reg .b64 %d<9>;";

    fn operands(statement: &str) -> Operands {
        let text = format!(
            ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .func g;\n.visible .entry k()\n{{ {DECLARED}\n\
             .param .b32 c0; L0: L1:\n BT: .branchtargets L0, L1;\n{statement};\n}}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{statement}: {error}"));
        let body = module.functions.last().unwrap().body.as_ref().unwrap();
        let assignment = Assignment::new(&body.registers);
        Operands::of(&body.instructions[0], &assignment)
    }

    /// What a statement writes and reads, by name.
    fn lists(statement: &str) -> [String; 2] {
        let operands = operands(statement);
        let name = |slot: &Slot| {
            let (letter, count) = match slot.bank {
                Bank::Predicate => ("p", slot.index),
                Bank::B16 => ("h", slot.index),
                Bank::B32 if slot.index >= 40 => ("f", slot.index - 40),
                Bank::B32 => ("r", slot.index),
                Bank::B64 => ("d", slot.index),
            };
            format!("{letter}{count}")
        };
        let all = |list: &[Slot]| list.iter().map(name).collect::<Vec<_>>().join(" ");
        [all(&operands.written), all(&operands.read)]
    }

    /// Statements of each opcode of the census: the text, what it writes, what it reads.
    const STATEMENTS: &[(&str, &str, &str)] = &[
        ("abs.f32 %f1, %f2", "f1", "f2"),
        ("add.s32 %r1, %r2, 5", "r1", "r2"),
        ("@%p1 add.f64 %d1, %d2, %d2", "d1", "p1 d2"),
        ("@!%p1 addc.cc.u32 %r1, %r1, %r2", "r1", "p1 r1 r2"),
        ("and.pred %p1, %p2, %p3", "p1", "p2 p3"),
        ("atom.global.add.u32 %r1, [%d1+4], %r2", "r1", "d1 r2"),
        ("atom.shared.cas.b32 _, [%r9], %r2, %r3", "", "r9 r2 r3"),
        ("bar.sync %r1, 64", "", "r1"),
        ("bar.red.popc.u32 %r1, 0, %p1", "r1", "p1"),
        ("bar.red.or.pred %p2, 0, !%p1", "p2", "p1"),
        ("barrier.cluster.arrive.release", "", ""),
        ("barrier.sync.aligned %r1, %r2", "", "r1 r2"),
        ("bfe.s32 %r1, %r2, %r3, 4", "r1", "r2 r3"),
        ("bfi.b32 %r1, %r2, %r3, 4, %r5", "r1", "r2 r3 r5"),
        ("bfind.shiftamt.u32 %r1, %r2", "r1", "r2"),
        ("@%p3 bra L0", "", "p3"),
        ("brx.idx %r1, BT", "", "r1"),
        ("brev.b32 %r1, %r2", "r1", "r2"),
        ("call.uni (c0), g, (c0)", "", ""),
        ("clz.b32 %r1, %r2", "r1", "r2"),
        ("copysign.f32 %f1, %f2, %f3", "f1", "f2 f3"),
        (
            "cp.async.cg.shared.global [%r1], [%d1], 16, %r2",
            "",
            "r1 d1 r2",
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r3}], [%r4]",
            "",
            "r1 d1 r2 r3 r4",
        ),
        (
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r2}], [%r1]",
            "",
            "d1 r2 r1",
        ),
        ("cp.async.bulk.wait_group.read 0", "", ""),
        (
            "createpolicy.fractional.L2::evict_last.b64 %d1, 0f3F800000",
            "d1",
            "",
        ),
        ("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2", "h1", "f1 f2"),
        ("cvta.to.global.u64 %d1, %d2", "d1", "d2"),
        ("div.u32 %r1, %r2, %r3", "r1", "r2 r3"),
        ("dp2a.lo.s32.s32 %r1, %r2, %r3, %r4", "r1", "r2 r3 r4"),
        ("dp4a.s32.s32 %r1, %r2, %r3, %r1", "r1", "r2 r3 r1"),
        ("elect.sync %r1|%p1, -1", "r1 p1", ""),
        ("elect.sync _|%p1, %r2", "p1", "r2"),
        ("ex2.approx.ftz.f32 %f1, %f2", "f1", "f2"),
        ("fence.proxy.async", "", ""),
        ("fma.rn.f32 %f1, %f2, %f3, %f4", "f1", "f2 f3 f4"),
        ("griddepcontrol.wait", "", ""),
        (
            "ld.global.v4.f32 {%f1, _, %f3, %f4}, [%d1+16]",
            "f1 f3 f4",
            "d1",
        ),
        ("ld.param.u64 %d1, [c0]", "d1", ""),
        (
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r9]",
            "r1 r2 r3 r4",
            "r9",
        ),
        ("lop3.b32 %r1, %r2, %r3, %r4, 0x80", "r1", "r2 r3 r4"),
        (
            "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2",
            "r1 p1",
            "r2 r3 r4 p2",
        ),
        ("mad.lo.s32 %r1, %r2, %r3, %r4", "r1", "r2 r3 r4"),
        ("madc.hi.u32 %r1, %r2, %r3, 0", "r1", "r2 r3"),
        ("mapa.shared::cluster.u32 %r1, %r2, %r3", "r1", "r2 r3"),
        ("match.all.sync.b32 %r1|%p1, %r2, -1", "r1 p1", "r2"),
        ("max.s16 %h1, %h2, %h3", "h1", "h2 h3"),
        ("mbarrier.init.shared.b64 [%r1], %r2", "", "r1 r2"),
        ("mbarrier.arrive.shared.b64 %d1, [%r1]", "d1", "r1"),
        (
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r2",
            "",
            "r1 r2",
        ),
        (
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]",
            "",
            "r1",
        ),
        (
            "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, %r3",
            "p1",
            "r1 r2 r3",
        ),
        (
            "mbarrier.test_wait.shared.b64 %p1, [%r1], %d1",
            "p1",
            "r1 d1",
        ),
        ("membar.gl", "", ""),
        ("min.f32 %f1, %f2, %f2", "f1", "f2"),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}",
            "f1 f2 f3 f4",
            "r1 r2 r3 r4 r5 r6 f1 f2 f3 f4",
        ),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7, %r8, %r9, %r10}, {%r11, %r12}, %r13, 0x0",
            "r1 r2",
            "r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13",
        ),
        ("mov.b64 {%r1, %r2}, %d1", "r1 r2", "d1"),
        ("mov.b64 %d1, {%r1, %r2}", "d1", "r1 r2"),
        ("mov.u32 %r1, %tid.x", "r1", ""),
        ("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2", "r1", "r2"),
        ("mul.wide.u32 %d1, %r1, 4", "d1", "r1"),
        ("nanosleep.u32 %r1", "", "r1"),
        ("neg.f32 %f1, %f2", "f1", "f2"),
        ("not.pred %p1, %p2", "p1", "p2"),
        ("or.b64 %d1, %d2, %d3", "d1", "d2 d3"),
        ("popc.b32 %r1, %r2", "r1", "r2"),
        ("prefetch.global.L2 [%d1]", "", "d1"),
        ("prefetch.tensormap [%d1]", "", "d1"),
        ("prmt.b32 %r1, %r2, %r3, 0x5410", "r1", "r2 r3"),
        ("rcp.rn.f32 %f1, %f2", "f1", "f2"),
        ("red.global.add.f32 [%d1], %f1", "", "d1 f1"),
        ("redux.sync.max.u32 %r1, %r2, %r3", "r1", "r2 r3"),
        ("rem.s32 %r1, %r2, %r3", "r1", "r2 r3"),
        ("@%p1 ret", "", "p1"),
        ("rsqrt.approx.f32 %f1, %f2", "f1", "f2"),
        ("sad.s32 %r1, %r2, %r3, %r4", "r1", "r2 r3 r4"),
        ("selp.b32 %r1, %r2, %r3, %p1", "r1", "r2 r3 p1"),
        ("setmaxnreg.inc.sync.aligned.u32 240", "", ""),
        (
            "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3",
            "p1 p2",
            "r1 r2 p3",
        ),
        ("shf.l.wrap.b32 %r1, %r2, %r3, %r4", "r1", "r2 r3 r4"),
        ("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1", "r1 p1", "r2"),
        ("shl.b32 %r1, %r2, 3", "r1", "r2"),
        ("shr.u64 %d1, %d2, %r1", "d1", "d2 r1"),
        ("sqrt.rn.f32 %f1, %f2", "f1", "f2"),
        ("st.shared.v2.f32 [%r1+8], {%f1, %f2}", "", "r1 f1 f2"),
        (
            "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r2, %r3}",
            "",
            "r1 r2 r3",
        ),
        ("sub.cc.u32 %r1, %r2, %r3", "r1", "r2 r3"),
        ("subc.u32 %r1, %r2, %r3", "r1", "r2 r3"),
        ("trap", "", ""),
        (
            "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4",
            "r1",
            "r2 r3 r4",
        ),
        ("vote.sync.ballot.b32 %r1, !%p1, -1", "r1", "p1"),
        ("wgmma.fence.sync.aligned", "", ""),
        ("wgmma.wait_group.sync.aligned 1", "", ""),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 1, 0, 0",
            "f1 f2 f3 f4",
            "f1 f2 f3 f4 d1 d2",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 0, 1, 1, 0, 0",
            "f1 f2 f3 f4",
            "d1 d2",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %d2, %p1, 1, 1, 0",
            "f1 f2 f3 f4",
            "f1 f2 f3 f4 r1 r2 r3 r4 d2 p1",
        ),
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %r1, 0, 0, 1, 1, 0, 0",
            "f1 f2 f3 f4",
            "d1 d2 r1",
        ),
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %r1, 0, %p1, 1, 1, 0, 0",
            "f1 f2 f3 f4",
            "f1 f2 f3 f4 d1 d2 r1 p1",
        ),
        ("xor.b32 %r1, %r1, %r1", "r1", "r1"),
    ];

    #[test]
    fn registers_of_every_opcode() {
        for (statement, written, read) in STATEMENTS {
            let expected = [*written, *read].map(str::to_owned);
            assert_eq!(lists(statement), expected, "{statement}");
        }
    }

    #[test]
    fn moves_that_take_a_register_apart() {
        let takes_apart = |statement| operands(statement).takes_apart;
        assert!(takes_apart("mov.b32 {%h1, %h2}, %r1"));
        assert!(takes_apart("@%p1 mov.b32 {%h1, _}, %r1"));
        for other in [
            "mov.b32 %r2, %r1",
            "mov.b32 %r1, {%h1, %h2}",
            "mov.b64 {%r1, %r2}, %d1",
            "cvt.f32.f16 %f1, %h1",
        ] {
            assert!(!takes_apart(other), "{other}");
        }
    }

    #[test]
    fn no_opcode_of_the_census_is_missing() {
        let opcode = |statement: &'static str| {
            let mut words = statement.split_whitespace();
            words.find(|word| !word.starts_with('@'))?.split('.').next()
        };
        let tested: Vec<&str> = STATEMENTS
            .iter()
            .filter_map(|(statement, ..)| opcode(statement))
            .collect();
        let census = include_str!("../../census.md").lines();
        for row in census.filter(|line| line.starts_with("| ") && line.contains('`')) {
            let opcode = row.split('|').nth(1).unwrap_or_default().trim();
            assert!(tested.contains(&opcode), "{opcode}");
        }
    }
}
