//! One instruction: its modifiers, its types, and its operands as C++.

use super::program::{Instruction, Operand};
use super::registers::special;
use super::types::{Kind, Type};
use crate::sorted::SortedMap;

/// An instruction among the operands and registers of its text.
pub struct Scope<'a> {
    pub instruction: &'a Instruction,
    /// C++ expressions for `%0`, `%1`, …
    pub operands: &'a [String],
    /// The C++ variables of the registers that the text declares.
    pub registers: &'a SortedMap<String, String>,
}

impl Scope<'_> {
    pub fn base(&self) -> &str {
        self.instruction.name.first().map_or("", String::as_str)
    }

    /// The parts of the name after the first, other than types.
    pub fn modifiers(&self) -> Vec<&str> {
        self.suffixes()
            .filter(|part| Type::named(part).is_none())
            .collect()
    }

    pub fn types(&self) -> Vec<Type> {
        self.suffixes().filter_map(Type::named).collect()
    }

    fn suffixes(&self) -> impl Iterator<Item = &str> {
        self.instruction.name.iter().skip(1).map(String::as_str)
    }

    /// The only type of the instruction.
    pub fn ty(&self) -> Option<Type> {
        match self.types().as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().contains(&modifier)
    }

    /// Whether all modifiers are among these.
    pub fn only(&self, known: &[&str]) -> Option<()> {
        self.modifiers()
            .iter()
            .all(|m| known.contains(m))
            .then_some(())
    }

    pub fn count(&self) -> usize {
        self.instruction.operands.len()
    }

    pub fn operand(&self, at: usize) -> Option<&Operand> {
        self.instruction.operands.get(at)
    }

    /// An operand as a value of a type.
    pub fn value(&self, at: usize, ty: Type) -> Option<String> {
        self.value_of(self.operand(at)?, ty)
    }

    pub fn value_of(&self, operand: &Operand, ty: Type) -> Option<String> {
        let cpp = ty.cpp;
        let of_bits = |text: String| format!("croq::ptx_as<{cpp}>({text})");
        Some(match operand {
            Operand::Integer(value) => {
                let bits = u64::try_from(*value)
                    .or_else(|_| i64::try_from(*value).map(i64::cast_unsigned));
                let literal = format!("{}ull", bits.ok()?);
                match ty.kind {
                    Kind::Predicate => format!("({literal} != 0)"),
                    Kind::Float => return None,
                    _ => format!("static_cast<{cpp}>({literal})"),
                }
            }
            Operand::Decimal(value) if ty.kind == Kind::Float => {
                format!("static_cast<{cpp}>({value})")
            }
            Operand::Single(bits) if ty.bits == 32 => {
                of_bits(format!("croq::float_from_bits({bits}u)"))
            }
            Operand::Double(bits) if ty.bits == 64 => of_bits(format!("{bits}ull")),
            Operand::Not(inner) if ty.kind == Kind::Predicate => {
                format!("!{}", self.value_of(inner, ty)?)
            }
            other => of_bits(self.variable(other)?),
        })
    }

    /// A register or placeholder; `mov` also takes a special register.
    fn variable(&self, operand: &Operand) -> Option<String> {
        match operand {
            Operand::Special(name) => match self.registers.get(&format!("%{name}")) {
                Some(register) => Some(register.clone()),
                None if self.base() == "mov" => special(name),
                None => None,
            },
            other => self.place(other),
        }
    }

    /// What may be assigned to.
    pub fn place(&self, operand: &Operand) -> Option<String> {
        match operand {
            Operand::Placeholder(number) => self.operands.get(*number).cloned(),
            Operand::Register(name) => self.registers.get(name).cloned(),
            Operand::Special(name) => self.registers.get(&format!("%{name}")).cloned(),
            _ => None,
        }
    }

    /// The statement that gives the first operand a value.
    pub fn set(&self, value: &str) -> Option<String> {
        let place = self.place(self.operand(0)?)?;
        Some(format!("croq::ptx_put({place}, {value});"))
    }

    /// `%0 = function(operands 1 … count as ty)`
    pub fn apply(&self, function: &str, ty: Type, count: usize) -> Option<String> {
        self.with_count(count + 1)?;
        let values: Option<Vec<String>> = (1..=count).map(|at| self.value(at, ty)).collect();
        self.set(&format!(
            "croq::ptx_{function}<{}>({})",
            ty.cpp,
            values?.join(", ")
        ))
    }

    /// The same of floats, with `.ftz` and `.sat`.
    pub fn apply_float(&self, function: &str, ty: Type, count: usize) -> Option<String> {
        self.with_count(count + 1)?;
        let flush = self.has("ftz");
        if flush && ty.bits != 32 {
            return None;
        }
        let values: Option<Vec<String>> = (1..=count)
            .map(|at| {
                let value = self.value(at, ty)?;
                Some(if flush {
                    format!("croq::ptx_flushed({value})")
                } else {
                    value
                })
            })
            .collect();
        let mut result = format!("croq::ptx_{function}<{}>({})", ty.cpp, values?.join(", "));
        if flush {
            result = format!("croq::ptx_flushed({result})");
        }
        if self.has("sat") {
            result = format!("croq::ptx_saturated({result})");
        }
        self.set(&result)
    }

    pub fn with_count(&self, count: usize) -> Option<()> {
        (self.count() == count).then_some(())
    }
}
