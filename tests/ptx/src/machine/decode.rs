//! One instruction, as the parts of the machine that execute it look at it: modifiers are taken one
//! by one, operands are asked for with their types, and whatever is left or does not fit refuses the
//! instruction by name.

use std::fmt;

use super::registers::{Assignment, Bank, LANES, Lane, Mask, Registers, Row, Slot};
use crate::parse::{Address, Base, Instruction, Operand, Type};

/// An instruction form that the machine does not execute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub instruction: String,
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not implemented: {}",
            self.instruction, self.reason
        )
    }
}

impl std::error::Error for Refusal {}

/// Gives the address of a variable or function where an operand names one.
pub type Symbols<'a> = &'a dyn Fn(&Address) -> Option<u64>;

/// An instruction and the function that it is in.
#[derive(Clone, Copy)]
pub struct Form<'a> {
    pub instruction: &'a Instruction,
    pub assignment: &'a Assignment,
    pub symbols: Symbols<'a>,
}

impl<'a> Form<'a> {
    pub fn refuse(&self, reason: impl Into<String>) -> Refusal {
        Refusal {
            instruction: self.instruction.mnemonic.to_string(),
            reason: reason.into(),
        }
    }

    pub fn opcode(&self) -> &'a str {
        &self.instruction.mnemonic.opcode
    }

    pub fn words(&self) -> Words<'a> {
        let modifiers = &self.instruction.mnemonic.modifiers;
        Words {
            form: *self,
            left: modifiers.iter().map(String::as_str).collect(),
        }
    }

    pub fn operand(&self, index: usize) -> Result<&'a Operand, Refusal> {
        let found = self.instruction.operands.get(index);
        found.ok_or_else(|| self.refuse(format!("it has no operand {}", index + 1)))
    }

    /// Refuses operands beyond the first `count`.
    pub fn count(&self, count: usize) -> Result<(), Refusal> {
        match self.instruction.operands.len() {
            found if found == count => Ok(()),
            found => Err(self.refuse(format!("it has {found} operands, not {count}"))),
        }
    }

    pub fn slot_of(&self, operand: &Operand) -> Result<Slot, Refusal> {
        match operand {
            Operand::Register(register) => self
                .assignment
                .slot(*register)
                .ok_or_else(|| self.refuse("128-bit registers")),
            other => Err(self.refuse(format!("{} in place of a register", kind(other)))),
        }
    }

    /// A destination of exactly this width.
    pub fn destination<T: Lane>(&self, operand: &Operand) -> Result<usize, Refusal> {
        let slot = self.slot_of(operand)?;
        self.check_bank(slot, T::BANK)?;
        Ok(slot.index)
    }

    fn check_bank(&self, slot: Slot, wanted: Bank) -> Result<(), Refusal> {
        if slot.bank == wanted {
            return Ok(());
        }
        let (found, wanted) = (slot.bank.bits(), wanted.bits());
        Err(self.refuse(format!(
            "a register of {found} bits where {wanted} are expected"
        )))
    }

    pub fn source<T: Lane>(&self, operand: &Operand) -> Result<Source<T>, Refusal> {
        match operand {
            Operand::Register(_) => Ok(Source::Register(self.destination::<T>(operand)?)),
            _ => Ok(Source::Constant(T::of_bits(self.constant::<T>(operand)?))),
        }
    }

    fn constant<T: Lane>(&self, operand: &Operand) -> Result<u64, Refusal> {
        match operand {
            Operand::Integer(value) if !T::IS_FLOAT => Ok(*value),
            Operand::Float(bits) if T::BANK == Bank::B32 => Ok(u64::from(*bits)),
            Operand::Double(bits) if T::BANK == Bank::B64 => Ok(*bits),
            Operand::Symbol(address) if matches!(T::BANK, Bank::B32 | Bank::B64) => {
                let value = (self.symbols)(address).ok_or_else(|| self.refuse(unknown(address)))?;
                let fits = T::BANK == Bank::B64 || u32::try_from(value).is_ok();
                fits.then_some(value)
                    .ok_or_else(|| self.refuse("an address that does not fit 32 bits"))
            }
            other => Err(self.refuse(format!("{} as an operand of its type", kind(other)))),
        }
    }

    /// An operand that must be an integer in the text.
    pub fn immediate(&self, operand: &Operand) -> Result<u64, Refusal> {
        match operand {
            Operand::Integer(value) => Ok(*value),
            other => Err(self.refuse(format!("{} in place of a constant", kind(other)))),
        }
    }

    /// A predicate, perhaps negated, or a constant.
    pub fn predicate(&self, operand: &Operand) -> Result<Predicate, Refusal> {
        match operand {
            Operand::Register(_) => Ok(Predicate {
                index: Some(self.destination::<bool>(operand)?),
                inverted: 0,
            }),
            Operand::Not(register) => {
                let index = self.destination::<bool>(&Operand::Register(*register))?;
                Ok(Predicate {
                    index: Some(index),
                    inverted: Mask::MAX,
                })
            }
            Operand::Integer(value) => Ok(Predicate {
                index: None,
                inverted: if *value == 0 { 0 } else { Mask::MAX },
            }),
            other => Err(self.refuse(format!("{} in place of a predicate", kind(other)))),
        }
    }
}

fn unknown(address: &Address) -> String {
    match &address.base {
        Base::Symbol(name) => format!("the address of `{name}`"),
        _ => "the address of this variable".to_owned(),
    }
}

fn kind(operand: &Operand) -> &'static str {
    match operand {
        Operand::Register(_) => "a register",
        Operand::Not(_) => "a negated predicate",
        Operand::Integer(_) => "an integer",
        Operand::Float(_) | Operand::Double(_) => "a float",
        Operand::Special(_) => "a special register",
        Operand::Symbol(_) => "an address",
        Operand::Memory { .. } => "a memory operand",
        Operand::Vector(_) => "a vector",
        Operand::List(_) => "a list",
        Operand::Pair(..) => "a pair",
        Operand::Sink => "`_`",
        Operand::Label(_) | Operand::Targets(_) => "a label",
        Operand::Prototype(_) => "a prototype",
    }
}

/// The modifiers that are not yet taken.
pub struct Words<'a> {
    form: Form<'a>,
    left: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub fn flag(&mut self, word: &str) -> bool {
        let found = self.left.iter().position(|left| *left == word);
        found.map(|at| self.left.remove(at)).is_some()
    }

    /// The first modifier that is in the list.
    pub fn choice(&mut self, list: &[&str]) -> Option<&'a str> {
        let found = self.left.iter().position(|left| list.contains(left))?;
        Some(self.left.remove(found))
    }

    /// As [`Words::choice`], where the ISA requires one.
    pub fn required(&mut self, list: &[&str]) -> Result<&'a str, Refusal> {
        let missing = format!("one of .{} is missing", list.join(", ."));
        self.choice(list).ok_or_else(|| self.form.refuse(missing))
    }

    pub fn any_type(&mut self) -> Option<Type> {
        let found = self
            .left
            .iter()
            .position(|left| Type::parse(left).is_some())?;
        Type::parse(self.left.remove(found))
    }

    pub fn ty(&mut self) -> Result<Type, Refusal> {
        self.any_type()
            .ok_or_else(|| self.form.refuse("its type is missing"))
    }

    /// Refuses what is left.
    pub fn finish(self) -> Result<(), Refusal> {
        match self.left.first() {
            None => Ok(()),
            Some(word) => Err(self.form.refuse(format!("the modifier `.{word}`"))),
        }
    }
}

/// An operand that is read.
#[derive(Clone, Copy, Debug)]
pub enum Source<T> {
    Register(usize),
    Constant(T),
}

impl<T: Lane> Source<T> {
    pub fn slot(self) -> Option<Slot> {
        match self {
            Source::Register(index) => Some(Slot {
                bank: T::BANK,
                index,
            }),
            Source::Constant(_) => None,
        }
    }

    #[inline]
    pub fn row(self, registers: &Registers) -> Row<T> {
        match self {
            Source::Register(index) => T::row(registers, index),
            Source::Constant(value) => [value; LANES],
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Predicate {
    /// None for a constant, which is `inverted` itself.
    index: Option<usize>,
    inverted: Mask,
}

impl Predicate {
    pub fn slot(self) -> Option<Slot> {
        self.index.map(|index| Slot {
            bank: Bank::Predicate,
            index,
        })
    }

    #[inline]
    pub fn lanes(self, registers: &Registers) -> Mask {
        self.index.map_or(0, |index| registers.predicate(index)) ^ self.inverted
    }
}
