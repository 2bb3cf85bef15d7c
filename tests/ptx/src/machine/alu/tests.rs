//! Each family, with values that are computed in another way: wider integers, exact rational
//! comparisons, or constants of the ISA.

mod bits;
mod floats;
mod integers;
mod others;

use super::super::decode::{Form, Refusal};
use super::super::registers::{Assignment, Bank, Lane, Registers};
use super::decode;
use crate::parse::{Body, Operand, RegisterId, parse};

const HEAD: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n\
    .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n";

fn body(text: &str) -> Body {
    let module = parse(&format!("{HEAD}{text}\n}}\n")).unwrap_or_else(|error| panic!("{error}"));
    module.functions.into_iter().next().unwrap().body.unwrap()
}

/// Registers that a test sets and reads by name: `r1`, or `cc` for the carry.
struct Bench {
    body: Body,
    assignment: Assignment,
    registers: Registers,
}

impl Bench {
    fn new(text: &str) -> Bench {
        let body = body(text);
        let assignment = Assignment::new(&body.registers);
        let registers = Registers::new(&assignment);
        Bench {
            body,
            assignment,
            registers,
        }
    }

    fn register(&self, name: &str) -> RegisterId {
        let found = |(register, _): &(String, _)| register[1..] == *name;
        RegisterId(self.body.registers.iter().position(found).unwrap() as u32)
    }

    /// In every lane.
    fn set(&mut self, name: &str, bits: u64) {
        if name == "cc" {
            self.registers.carry = if bits == 0 { 0 } else { u32::MAX };
            return;
        }
        let slot = self.assignment.slot(self.register(name)).unwrap();
        let (registers, all) = (&mut self.registers, u32::MAX);
        match slot.bank {
            Bank::Predicate => {
                registers.set_predicate(slot.index, all, (bits as u32).wrapping_neg())
            }
            Bank::B16 => u16::put(registers, slot.index, all, &[bits as u16; 32]),
            Bank::B32 => u32::put(registers, slot.index, all, &[bits as u32; 32]),
            Bank::B64 => u64::put(registers, slot.index, all, &[bits; 32]),
        }
    }

    /// Of the last lane.
    fn get(&self, name: &str) -> u64 {
        if name == "cc" {
            return u64::from(self.registers.carry >> 31);
        }
        let slot = self.assignment.slot(self.register(name)).unwrap();
        match slot.bank {
            Bank::Predicate => u64::from(self.registers.predicate(slot.index) >> 31),
            Bank::B16 => u16::row(&self.registers, slot.index)[31].into(),
            Bank::B32 => u32::row(&self.registers, slot.index)[31].into(),
            Bank::B64 => u64::row(&self.registers, slot.index)[31],
        }
    }

    fn run(&mut self) -> Result<(), Refusal> {
        for instruction in &self.body.instructions {
            let form = Form {
                instruction,
                assignment: &self.assignment,
                symbols: &|_| None,
            };
            let step = decode(&form)?.unwrap_or_else(|| panic!("{} is no alu", form.opcode()));
            step(&mut self.registers, u32::MAX);
        }
        Ok(())
    }
}

/// The first operand's register after the instruction.
fn eval(text: &str, inputs: &[(&str, u64)]) -> u64 {
    let mut bench = Bench::new(text);
    for (name, bits) in inputs {
        bench.set(name, *bits);
    }
    bench.run().unwrap_or_else(|refusal| panic!("{refusal}"));
    let last = bench.body.instructions.last().unwrap();
    let Operand::Register(first) = last.operands[0] else {
        panic!("the first operand is no register")
    };
    let name = bench.body.registers[first.0 as usize].0[1..].to_owned();
    bench.get(&name)
}

/// With 16-bit operands `h1`, `h2`, `h3`, and so on.
fn eval_16(text: &str, inputs: &[u64]) -> u64 {
    eval(text, &named(["h1", "h2", "h3"], inputs))
}

fn eval_32(text: &str, inputs: &[u64]) -> u64 {
    eval(text, &named(["r1", "r2", "r3"], inputs))
}

fn eval_64(text: &str, inputs: &[u64]) -> u64 {
    eval(text, &named(["d1", "d2", "d3"], inputs))
}

fn named<'a>(names: [&'a str; 3], inputs: &[u64]) -> Vec<(&'a str, u64)> {
    names.into_iter().zip(inputs.iter().copied()).collect()
}

fn float(text: &str, inputs: &[f32]) -> f32 {
    let bits: Vec<u64> = inputs.iter().map(|value| value.to_bits().into()).collect();
    f32::from_bits(eval_32(text, &bits) as u32)
}

fn double(text: &str, inputs: &[f64]) -> f64 {
    let bits: Vec<u64> = inputs.iter().map(|value| value.to_bits()).collect();
    f64::from_bits(eval_64(text, &bits))
}

fn refusal(text: &str) -> String {
    Bench::new(text).run().unwrap_err().to_string()
}

/// Numbers that look random, and the edges of 64, 32 and 16 bits.
fn samples(count: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut list = vec![
        0,
        1,
        2,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
    ];
    list.extend([i64::MAX as u64, 1 << 63, u64::MAX, 31, 32, 33, 63, 64, 65]);
    while list.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        list.push(state >> (state & 63));
    }
    list
}
