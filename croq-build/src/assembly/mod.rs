//! Inline assembly: the text of an `asm` statement, read as PTX.
//!
//! On CUDA the text is emitted unchanged. The simulated GPU has no PTX, so the instructions that
//! this module knows are translated to calls of functions of the device API
//! (`device/sim/assembly.h`), one for each instruction.

mod arithmetic;
mod foreign;
mod instruction;
mod instructions;
mod movement;
mod program;
mod registers;
mod template;
mod types;
mod waiting;

use program::{Operand, Program, Step};

pub use foreign::statements;
pub use template::{Fault, Template};

/// An operand of a statement: a C++ expression, and whether it is a constant (`"n"`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub text: String,
    pub is_constant: bool,
}

/// A C++ expression in parentheses that does the same as the text on the simulated GPU; `operands`
/// are `%0`, `%1`, … The error is the first instruction that is not known.
pub fn translated(template: &Template, operands: &[Value]) -> Result<String, String> {
    let program = Program::parse(template)?;
    let mut bound = String::new();
    let mut names = Vec::new();
    for (at, Value { text, is_constant }) in operands.iter().enumerate() {
        if *is_constant {
            names.push(format!("({text})"));
            continue;
        }
        // Evaluated once, mentioned or not.
        let name = format!("croq_operand_{at}");
        bound.push_str(&format!("[[maybe_unused]] auto &&{name} = {text}; "));
        names.push(name);
    }
    let statements = instructions::translated(&program, &names)?;
    Ok(format!("({{ {bound}{statements} }})"))
}

/// An operand that the text writes although it is an input, and the instruction; the first
/// `outputs` operands are outputs.
pub fn written_input(template: &Template, outputs: usize) -> Option<(usize, String)> {
    let program = Program::parse(template).ok()?;
    program.steps.iter().find_map(|step| match step {
        Step::Instruction(instruction) => {
            let base = instruction.name.first()?;
            let number = match instruction.operands.first()? {
                Operand::Placeholder(number) => *number,
                _ => return None,
            };
            let wrong = number >= outputs && instructions::writes_first(base);
            wrong.then(|| (number, instruction.text.clone()))
        }
        _ => None,
    })
}

/// Whether the text has an instruction that GPUs before sm_90 lack.
pub fn needs_sm_90(template: &Template) -> bool {
    const INSTRUCTIONS: [&str; 14] = [
        "barrier.cluster",
        "cp.async.bulk",
        "cp.reduce.async.bulk",
        "elect.sync",
        "fence.mbarrier_init",
        "fence.proxy.async",
        "getctarank",
        "griddepcontrol",
        "mapa",
        "multimem",
        "red.async",
        "setmaxnreg",
        "st.async",
        "wgmma",
    ];
    program::has_word(template, |word| {
        INSTRUCTIONS.iter().any(|name| word.starts_with(name))
    })
}

/// The same for a text with an instruction that is not known: it ends the call.
pub fn unknown(what: &str, operands: &[Value]) -> String {
    let words: Vec<&str> = what.split_whitespace().collect();
    let mut text = String::from("(");
    for value in operands {
        text.push_str(&format!("static_cast<void>({}), ", value.text));
    }
    text + &format!(
        "croq::unknown_assembly({:?}))",
        format!("assembly:{}", words.join(" "))
    )
}

/// Whether the text has no instruction: blanks and comments only.
pub fn is_empty(template: &Template) -> bool {
    Program::parse(template).is_ok_and(|program| program.steps.is_empty())
}

#[cfg(test)]
mod tests;
