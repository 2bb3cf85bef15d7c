//! An instruction as a statement of another module, which declares what it names.

use std::collections::BTreeMap;
use std::fmt;

use crate::parse::{
    Address, Base, Body, Function, Instruction, Module, Operand, RegisterId, Space, Type,
};

/// Statements, and the registers that they need.
#[derive(Default, Debug)]
pub struct Examples {
    /// How many of each type.
    registers: BTreeMap<Type, usize>,
    statements: Vec<String>,
}

impl Examples {
    pub fn add(&mut self, example: &Example) {
        for (ty, count) in &example.registers {
            let known = self.registers.entry(*ty).or_default();
            *known = (*known).max(*count);
        }
        self.statements.push(example.statement.clone());
    }
}

/// A module with one entry.
impl fmt::Display for Examples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version 9.0\n.target sm_90a\n.address_size 64")?;
        for space in [Space::Global, Space::Const, Space::Shared] {
            writeln!(f, ".{} .align 16 .b8 {}[64];", name(space), variable(space))?;
        }
        writeln!(f, ".func {FUNCTION}(.param .b64 value)\n{{\n\tret;\n}}")?;
        writeln!(
            f,
            ".visible .entry examples(.param .align 16 .b8 {FORMAL}[64])\n{{"
        )?;
        writeln!(f, "\t.local .align 16 .b8 {}[64];", variable(Space::Local))?;
        writeln!(f, "\t.param .b64 {};", variable(Space::Param))?;
        for (ty, count) in &self.registers {
            writeln!(f, "\t.reg .{ty} {}<{count}>;", prefix(*ty))?;
        }
        for statement in &self.statements {
            writeln!(f, "\t{statement}")?;
        }
        writeln!(f, "{LABEL}:\n\tret;\n}}")
    }
}

const FUNCTION: &str = "a_function";
const FORMAL: &str = "formal";
const LABEL: &str = "END";

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Param => "param",
        Space::Const => "const",
    }
}

fn variable(space: Space) -> String {
    format!("in_{}", name(space))
}

fn prefix(ty: Type) -> String {
    format!("%{ty}_")
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Example {
    registers: BTreeMap<Type, usize>,
    statement: String,
}

impl Example {
    /// None for operands that name more than registers, variables, functions and labels.
    pub fn new(instruction: &Instruction, function: &Function, module: &Module) -> Option<Example> {
        let mut writer = Writer {
            body: function.body.as_ref()?,
            formal: function.returns.len() + function.parameters.len(),
            module,
            known: Vec::new(),
            registers: BTreeMap::new(),
        };
        let operands = instruction.operands.iter();
        let operands: Option<Vec<String>> =
            operands.map(|operand| writer.operand(operand)).collect();
        Some(Example {
            statement: format!("{} {};", instruction.mnemonic, operands?.join(", ")),
            registers: writer.registers,
        })
    }
}

struct Writer<'a> {
    body: &'a Body,
    /// So many of its variables are formal parameters.
    formal: usize,
    module: &'a Module,
    /// Registers of the instruction, and their new names.
    known: Vec<(RegisterId, String)>,
    registers: BTreeMap<Type, usize>,
}

impl Writer<'_> {
    fn register(&mut self, register: RegisterId) -> Option<String> {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| *known == register) {
            return Some(name.clone());
        }
        let (_, ty) = self.body.registers.get(register.0 as usize)?;
        let count = self.registers.entry(*ty).or_default();
        let name = format!("{}{count}", prefix(*ty));
        *count += 1;
        self.known.push((register, name.clone()));
        Some(name)
    }

    fn address(&mut self, address: &Address) -> Option<String> {
        let named = |name: &str| {
            let mut variables = self.module.variables.iter();
            let found = variables.find(|variable| variable.name == name);
            found.map_or(FUNCTION.to_owned(), |found| variable(found.space))
        };
        let base = match &address.base {
            Base::Zero => return Some(address.offset.to_string()),
            Base::Register(register) => self.register(*register)?,
            Base::Variable(id) if (id.0 as usize) < self.formal => FORMAL.to_owned(),
            Base::Variable(id) => variable(self.body.variables.get(id.0 as usize)?.space),
            Base::Symbol(name) => named(name),
        };
        Some(match address.offset {
            0 => base,
            offset => format!("{base}+{offset}"),
        })
    }

    fn list(&mut self, operands: &[Operand]) -> Option<String> {
        let operands = operands.iter().map(|operand| self.operand(operand));
        Some(operands.collect::<Option<Vec<String>>>()?.join(", "))
    }

    fn operand(&mut self, operand: &Operand) -> Option<String> {
        Some(match operand {
            Operand::Register(register) => self.register(*register)?,
            Operand::Not(register) => format!("!{}", self.register(*register)?),
            Operand::Integer(bits) => bits.cast_signed().to_string(),
            Operand::Float(bits) => format!("0f{bits:08X}"),
            Operand::Double(bits) => format!("0d{bits:016X}"),
            Operand::Special(name) => format!("%{name}"),
            Operand::Symbol(address) => self.address(address)?,
            Operand::Memory {
                address,
                coordinates,
            } => {
                let address = self.address(address)?;
                match coordinates.as_slice() {
                    [] => format!("[{address}]"),
                    list => format!("[{address}, {{{}}}]", self.list(list)?),
                }
            }
            Operand::Vector(list) => format!("{{{}}}", self.list(list)?),
            Operand::List(list) => format!("({})", self.list(list)?),
            Operand::Pair(first, second) => {
                format!("{}|{}", self.operand(first)?, self.operand(second)?)
            }
            Operand::Sink => "_".to_owned(),
            Operand::Label(_) => LABEL.to_owned(),
            Operand::Targets(_) | Operand::Prototype(_) => return None,
        })
    }
}
