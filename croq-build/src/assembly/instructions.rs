//! The instructions that the simulated GPU knows.

use super::arithmetic::{approximated, arithmetic, bits};
use super::instruction::Scope;
use super::movement::{address, atomic, converted, memory, moved, of_warp, selected};
use super::program::{Instruction, Program, Step};
use super::types::PREDICATE;
use super::waiting::waiting;
use crate::sorted::SortedMap;

/// C++ for a text; the error is the first instruction that is not known.
pub fn translated(program: &Program, operands: &[String]) -> Result<String, String> {
    let mut out = Vec::new();
    let mut scopes = vec![SortedMap::new()];
    let mut declared = 0;
    for step in &program.steps {
        match step {
            Step::Open => {
                scopes.push(scopes.last().cloned().unwrap_or_default());
                out.push("{".to_owned());
            }
            Step::Close => {
                scopes.pop();
                out.push("}".to_owned());
            }
            Step::Registers { ty, names } => {
                for name in names {
                    let variable = format!("croq_register_{declared}");
                    declared += 1;
                    out.push(format!("[[maybe_unused]] {} {variable}{{}};", ty.cpp));
                    if let Some(scope) = scopes.last_mut() {
                        scope.insert(name.clone(), variable);
                    }
                }
            }
            Step::Instruction(instruction) => {
                let none = SortedMap::new();
                let scope = Scope {
                    instruction,
                    operands,
                    registers: scopes.last().unwrap_or(&none),
                };
                let text = guarded(&scope, instruction);
                out.push(text.ok_or_else(|| instruction.text.clone())?);
            }
        }
    }
    if scopes.len() != 1 {
        return Err("unmatched brace".to_owned());
    }
    Ok(out.join(" "))
}

fn guarded(scope: &Scope<'_>, instruction: &Instruction) -> Option<String> {
    let statement = statement(scope)?;
    let Some((register, negated)) = &instruction.guard else {
        return Some(statement);
    };
    let condition = scope.value_of(register, PREDICATE)?;
    let not = if *negated { "!" } else { "" };
    Some(format!("if ({not}{condition}) {{ {statement} }}"))
}

/// Whether the first operand of an instruction is the register that it writes.
pub fn writes_first(base: &str) -> bool {
    let known = [
        "add",
        "sub",
        "mul",
        "mad",
        "fma",
        "min",
        "max",
        "div",
        "rem",
        "abs",
        "neg",
        "copysign",
        "dp4a",
        "and",
        "or",
        "xor",
        "not",
        "shl",
        "shr",
        "shf",
        "popc",
        "clz",
        "brev",
        "bfe",
        "bfi",
        "bfind",
        "lop3",
        "prmt",
        "ex2",
        "lg2",
        "sin",
        "cos",
        "tanh",
        "rcp",
        "sqrt",
        "rsqrt",
        "mov",
        "cvt",
        "cvta",
        "setp",
        "selp",
        "shfl",
        "vote",
        "activemask",
        "ld",
        "ldu",
        "atom",
    ];
    known.contains(&base)
}

fn statement(i: &Scope<'_>) -> Option<String> {
    match i.base() {
        "add" | "sub" | "mul" | "mad" | "fma" | "min" | "max" | "div" | "rem" | "abs" | "neg"
        | "copysign" | "dp4a" => arithmetic(i),
        "and" | "or" | "xor" | "not" | "shl" | "shr" | "shf" | "popc" | "clz" | "brev" | "bfe"
        | "bfi" | "bfind" | "lop3" | "prmt" => bits(i),
        "ex2" | "lg2" | "sin" | "cos" | "tanh" | "rcp" | "sqrt" | "rsqrt" => approximated(i),
        "mov" => moved(i),
        "cvt" => converted(i),
        "cvta" => address(i),
        "setp" | "selp" => selected(i),
        "shfl" | "vote" | "activemask" => of_warp(i),
        "ld" | "ldu" | "st" => memory(i),
        "atom" | "red" => atomic(i),
        _ => waiting(i),
    }
}
