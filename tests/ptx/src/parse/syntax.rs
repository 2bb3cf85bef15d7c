//! What a module consists of.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::types::{Space, Type};

#[derive(Clone, Default, Debug)]
pub struct Module {
    /// `.version`, the PTX ISA version: major, minor.
    pub version: (u32, u32),
    /// `.target`, as in `sm_90a`, with its options.
    pub target: Vec<String>,
    /// `.address_size`; 64 unless said.
    pub address_bits: u32,
    /// `.file`: number → path.
    pub files: BTreeMap<u32, String>,
    /// Variables outside of functions.
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    External,
    Weak,
    Common,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    pub linkage: Linkage,
    /// In bytes; the size of an element unless `.align` says otherwise.
    pub align: u64,
    pub ty: Type,
    /// 1, or 2 and 4 for `.v2` and `.v4`.
    pub vector: u64,
    pub extent: Extent,
    pub initial: Vec<Initial>,
    pub line: u32,
}

impl Variable {
    /// In bytes; 0 for an array without an extent.
    pub fn bytes(&self) -> u64 {
        let element = self.ty.bytes() as u64 * self.vector;
        match self.extent {
            Extent::Scalar => element,
            Extent::Array(count) => element.saturating_mul(count),
            Extent::Unknown => 0,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    Scalar,
    /// All dimensions multiplied.
    Array(u64),
    /// `name[]`: the size is decided elsewhere (dynamic shared memory).
    Unknown,
}

/// An element of an initialiser.
#[derive(Clone, PartialEq, Debug)]
pub enum Initial {
    /// The low bits of an integer or the bits of a float of the variable's type.
    Bits(u64),
    /// The address of a symbol; `generic(name)` if so marked.
    Symbol {
        name: String,
        offset: i64,
        generic: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    Entry,
    Device,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub kind: FunctionKind,
    pub linkage: Linkage,
    /// Formal parameters: ids into `body.variables` where there is a body.
    pub returns: Vec<Variable>,
    pub parameters: Vec<Variable>,
    pub limits: Limits,
    /// `.noreturn`
    pub returns_never: bool,
    /// None for a declaration.
    pub body: Option<Body>,
    pub line: u32,
}

/// Performance-tuning directives and cluster dimensions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Limits {
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub min_blocks: Option<u32>,
    pub max_registers: Option<u32>,
    pub cluster: Option<[u32; 3]>,
    pub max_cluster_rank: Option<u32>,
    pub explicit_cluster: bool,
}

/// A register of a function: an index into [`Body::registers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegisterId(pub u32);

/// A variable of a function: an index into [`Body::variables`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u32);

/// A label: the index of the instruction that follows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

#[derive(Clone, Default, Debug)]
pub struct Body {
    /// Of all scopes.
    pub registers: Vec<(String, Type)>,
    /// Return values first, then parameters, then the variables of all scopes.
    pub variables: Vec<Variable>,
    pub instructions: Vec<Instruction>,
    /// Where a label was declared, and its name.
    pub labels: Vec<(Label, String)>,
}

/// An opcode with its modifiers, shared by all instructions of that form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mnemonic {
    pub opcode: String,
    /// Without dots, in their order.
    pub modifiers: Vec<String>,
}

impl Mnemonic {
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|word| word == modifier)
    }

    /// The modifiers that are types, in their order.
    pub fn types(&self) -> impl Iterator<Item = Type> {
        self.modifiers.iter().filter_map(|word| Type::parse(word))
    }
}

impl fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.opcode)?;
        self.modifiers
            .iter()
            .try_for_each(|word| write!(f, ".{word}"))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    pub mnemonic: Arc<Mnemonic>,
    pub guard: Option<Guard>,
    pub operands: Vec<Operand>,
    /// In the PTX text, from 1.
    pub line: u32,
    pub place: Option<Place>,
}

/// `@p` and `@!p`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    pub register: RegisterId,
    pub negated: bool,
}

/// A place in the source, from `.loc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub location: Location,
    /// Where the function that contains it was called, if it was inlined.
    pub inlined_at: Option<Location>,
    /// The end of the chain of inlined calls: a place in the function as it was written.
    pub outermost: Location,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// A key of [`Module::files`].
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Operand {
    Register(RegisterId),
    /// `!p`
    Not(RegisterId),
    /// An integer, as 64 bits of two's complement.
    Integer(u64),
    /// `0f…`: the bits.
    Float(u32),
    /// `0d…` or a decimal float: the bits.
    Double(u64),
    /// `%tid.x`, without the percent sign.
    Special(String),
    /// `name+4` outside of brackets: an address, or a function.
    Symbol(Address),
    /// `[…]`, with the coordinates of a tensor if there are any.
    Memory {
        address: Address,
        coordinates: Vec<Operand>,
    },
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `(a, b)` of a call
    List(Vec<Operand>),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `_`
    Sink,
    Label(Label),
    /// The targets of an indexed branch.
    Targets(Vec<Label>),
    /// A declared prototype or list of callees of an indirect call.
    Prototype(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Address {
    pub base: Base,
    pub offset: i64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Base {
    Register(RegisterId),
    /// Of this function.
    Variable(VariableId),
    /// Of the module: a variable or a function.
    Symbol(String),
    /// A constant address.
    Zero,
}
