//! An entry with everything that it reaches: decoded functions, and where its variables are.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;

use super::access::Place;
use super::decode::{Form, Refusal};
use super::flow::{self, Next};
use super::liveness::{self, Node};
use super::memory::{Layout, SHARED_START, Window};
use super::operands::Operands;
use super::propagate::{Carries, Transfer};
use super::registers::{Assignment, Slot};
use super::step::{self, Step};
use crate::parse::{
    Address, Base, Body, Extent, Function, FunctionKind, Instruction, Module, Operand, Space,
    Variable,
};

/// Addresses of a module's variables in global and constant memory.
pub type Symbols = HashMap<String, Place>;

pub struct Image {
    /// By name; the entry is one of them.
    pub functions: BTreeMap<String, Code>,
    /// Without dynamic shared memory.
    pub shared: Layout,
    pub dynamic_shared: u64,
    /// The formal parameters of the entry.
    pub parameters: Layout,
}

/// A decoded function.
pub struct Code {
    pub steps: Vec<Decoded>,
    /// Registers that it may read before it writes them.
    pub unwritten: Vec<Slot>,
    /// The number of the first step among those of all functions.
    pub first_site: u32,
    pub assignment: Assignment,
    /// Its part of a lane's local memory.
    pub frame: Layout,
    /// It issues asynchronous products of matrices.
    pub has_products: bool,
    /// Of formal parameters and results in the frame: offset and size.
    pub parameters: Vec<(u64, u64)>,
    pub results: Vec<(u64, u64)>,
}

pub struct Decoded {
    /// A predicate, and whether it is negated.
    pub guard: Option<(usize, bool)>,
    pub step: Step,
    /// Registers that it writes and reads.
    pub operands: Box<Operands>,
    /// Which of the former depend on which of the latter.
    pub transfer: Box<Transfer>,
    pub carries: Carries,
    /// Where lanes that diverge here meet again; none for the end of the function.
    pub meeting: Option<usize>,
    /// Of the function's body; none for the return at its end.
    pub instruction: Option<usize>,
    /// Whether a lane has executed it.
    pub is_executed: AtomicBool,
    /// Of the PTX text.
    pub line: u32,
}

/// The first refusal of each instruction of a function, if there is one.
pub fn refusals<'a>(
    function: &'a Function,
    symbols: &Symbols,
) -> Vec<(&'a Instruction, Option<Refusal>)> {
    let Some(body) = &function.body else {
        return Vec::new();
    };
    let (places, _) = frame_of(function, body);
    let assignment = Assignment::new(&body.registers);
    let find = |base: &Base| find(base, &places, symbols);
    let decode = |instruction| decode(instruction, &assignment, &find).err();
    body.instructions
        .iter()
        .map(|instruction| (instruction, decode(instruction)))
        .collect()
}

impl Image {
    /// # Errors
    ///
    /// The module has no such entry.
    pub fn new(module: &Module, entry: &str, symbols: &Symbols) -> Result<Image, String> {
        let found = module
            .functions
            .iter()
            .find(|function| function.name == entry);
        let entry = found
            .filter(|function| function.kind == FunctionKind::Entry && function.body.is_some())
            .ok_or_else(|| format!("there is no entry `{entry}`"))?;
        let reached = reached(module, entry);
        let mut symbols = symbols.clone();
        let mut shared = Layout::starting_at(SHARED_START);
        let mut local_shared = HashMap::new();
        for function in &reached {
            let Some(body) = &function.body else { continue };
            place_shared(module, body, &mut shared, &mut symbols);
            for (index, variable) in body.variables.iter().enumerate() {
                if variable.space == Space::Shared {
                    let start = shared.add(&variable.name, variable.bytes(), variable.align);
                    local_shared.insert((function.name.as_str(), index), start);
                }
            }
        }
        let dynamic_shared = place_dynamic(module, &shared, &mut symbols);
        let mut parameters = Layout::default();
        for variable in &entry.parameters {
            parameters.add(&variable.name, variable.bytes(), variable.align);
        }
        let mut functions = BTreeMap::new();
        for function in reached {
            let Some(body) = &function.body else { continue };
            let (mut places, frame) = frame_of(function, body);
            for (index, place) in places.iter_mut().enumerate() {
                if let Some(start) = local_shared.get(&(function.name.as_str(), index)) {
                    *place = Some(Place::Fixed(Window::Shared, *start));
                }
            }
            let code = Code::new(function, body, (places, frame), &symbols);
            functions.insert(function.name.clone(), code);
        }
        let mut next = 0;
        for code in functions.values_mut() {
            code.first_site = next;
            next += code.steps.len() as u32;
        }
        Ok(Image {
            functions,
            shared,
            dynamic_shared,
            parameters,
        })
    }
}

impl Image {
    /// The function and the instruction of a step by its number among those of all functions.
    pub fn site(&self, site: u32) -> Option<(&str, Option<usize>)> {
        let mut functions = self.functions.iter();
        functions.find_map(|(name, code)| {
            let at = site.checked_sub(code.first_site)?;
            let decoded = code.steps.get(at as usize)?;
            Some((name.as_str(), decoded.instruction))
        })
    }
}

/// The entry, and what it calls directly and indirectly.
fn reached<'a>(module: &'a Module, entry: &'a Function) -> Vec<&'a Function> {
    let mut list = vec![entry];
    let mut next = 0;
    while let Some(function) = list.get(next).copied() {
        next += 1;
        let instructions = function.body.iter().flat_map(|body| &body.instructions);
        for operand in instructions.flat_map(|instruction| &instruction.operands) {
            let Operand::Symbol(Address {
                base: Base::Symbol(name),
                ..
            }) = operand
            else {
                continue;
            };
            let callee = module
                .functions
                .iter()
                .find(|function| function.name == *name && function.body.is_some());
            if let Some(callee) = callee
                && !list.iter().any(|known| known.name == callee.name)
            {
                list.push(callee);
            }
        }
    }
    list
}

fn names(body: &Body) -> impl Iterator<Item = &str> {
    let operands = body
        .instructions
        .iter()
        .flat_map(|instruction| &instruction.operands);
    operands.filter_map(|operand| match operand {
        Operand::Symbol(Address {
            base: Base::Symbol(name),
            ..
        })
        | Operand::Memory {
            address:
                Address {
                    base: Base::Symbol(name),
                    ..
                },
            ..
        } => Some(name.as_str()),
        _ => None,
    })
}

/// The shared variables of the module that a function names.
fn place_shared(module: &Module, body: &Body, layout: &mut Layout, symbols: &mut Symbols) {
    for name in names(body) {
        let found = module
            .variables
            .iter()
            .find(|variable| variable.name == name);
        if let Some(variable) = found
            && variable.space == Space::Shared
            && variable.extent != Extent::Unknown
            && !symbols.contains_key(name)
        {
            let start = layout.add(name, variable.bytes(), variable.align);
            symbols.insert(name.to_owned(), Place::Fixed(Window::Shared, start));
        }
    }
}

/// All arrays without an extent begin at the same address, after the others.
fn place_dynamic(module: &Module, layout: &Layout, symbols: &mut Symbols) -> u64 {
    let dynamic = |variable: &&Variable| {
        variable.space == Space::Shared && variable.extent == Extent::Unknown
    };
    let align = module
        .variables
        .iter()
        .filter(dynamic)
        .map(|variable| variable.align)
        .max();
    let start = layout.end().next_multiple_of(align.unwrap_or(16).max(16));
    for variable in module.variables.iter().filter(dynamic) {
        symbols.insert(variable.name.clone(), Place::Fixed(Window::Shared, start));
    }
    start
}

/// Where a function's own variables are, except shared ones.
fn frame_of(function: &Function, body: &Body) -> (Vec<Option<Place>>, Layout) {
    let is_entry = function.kind == FunctionKind::Entry;
    let formal = function.returns.len() + function.parameters.len();
    let (mut frame, mut parameters) = (Layout::default(), Layout::default());
    let mut place = |index: usize, variable: &Variable| {
        let (bytes, align) = (variable.bytes(), variable.align);
        match variable.space {
            Space::Param if is_entry && index < formal => {
                let start = parameters.add(&variable.name, bytes, align);
                Some(Place::Fixed(Window::Param, start))
            }
            Space::Param | Space::Local => {
                let start = frame.add(&variable.name, bytes, align);
                Some(Place::Frame(variable.space, start))
            }
            Space::Shared => Some(Place::Fixed(Window::Shared, SHARED_START)),
            Space::Global | Space::Const => None,
        }
    };
    let variables = body.variables.iter().enumerate();
    let places = variables
        .map(|(index, variable)| place(index, variable))
        .collect();
    (places, frame)
}

fn find(base: &Base, places: &[Option<Place>], symbols: &Symbols) -> Option<Place> {
    match base {
        Base::Variable(id) => places.get(id.0 as usize).copied().flatten(),
        Base::Symbol(name) => symbols.get(name).copied(),
        Base::Register(_) | Base::Zero => None,
    }
}

fn decode(
    instruction: &Instruction,
    assignment: &Assignment,
    places: &dyn Fn(&Base) -> Option<Place>,
) -> Result<Step, Refusal> {
    let address = |address: &Address| match places(&address.base)? {
        Place::Fixed(_, start) => Some(start.wrapping_add_signed(address.offset)),
        Place::Frame(..) => None,
    };
    let form = Form {
        instruction,
        assignment,
        symbols: &address,
    };
    step::decode(&form, places)
}

impl Code {
    fn new(
        function: &Function,
        body: &Body,
        (places, frame): (Vec<Option<Place>>, Layout),
        symbols: &Symbols,
    ) -> Code {
        let assignment = Assignment::new(&body.registers);
        let find = |base: &Base| find(base, &places, symbols);
        let guard = |instruction: &Instruction| {
            let guard = instruction.guard?;
            let slot = assignment.slot(guard.register)?;
            Some((slot.index, guard.negated))
        };
        let decoded = body
            .instructions
            .iter()
            .enumerate()
            .map(|(index, instruction)| {
                let operands = Operands::of(instruction, &assignment);
                Decoded {
                    guard: guard(instruction),
                    step: decode(instruction, &assignment, &find).unwrap_or_else(Step::Refused),
                    transfer: Box::new(Transfer::of(instruction, &assignment, &operands)),
                    operands: Box::new(operands),
                    carries: Carries::of(instruction),
                    meeting: None,
                    instruction: Some(index),
                    is_executed: AtomicBool::new(false),
                    line: instruction.line,
                }
            });
        let end = Decoded {
            guard: None,
            step: Step::Return,
            operands: Box::default(),
            transfer: Box::new(Transfer::Any),
            carries: Carries::default(),
            meeting: None,
            instruction: None,
            is_executed: AtomicBool::new(false),
            line: function.line,
        };
        let mut steps: Vec<Decoded> = decoded.chain([end]).collect();
        let code: Vec<Next> = steps.iter().map(next).collect();
        for (step, meeting) in steps.iter_mut().zip(flow::meeting_points(&code)) {
            step.meeting = meeting;
        }
        let nodes: Vec<Node<'_>> = steps
            .iter()
            .zip(code)
            .map(|(decoded, next)| Node {
                next,
                operands: &decoded.operands,
                is_guarded: decoded.guard.is_some(),
            })
            .collect();
        let unwritten = liveness::live_at_start(&nodes, &assignment);
        let formal = |index: usize, variable: &Variable| match places.get(index) {
            Some(Some(Place::Frame(_, offset))) => (*offset, variable.bytes()),
            _ => (0, 0),
        };
        let results = function.returns.iter().enumerate();
        let results: Vec<_> = results
            .map(|(index, variable)| formal(index, variable))
            .collect();
        let parameters = function.parameters.iter().enumerate();
        let first = results.len();
        let parameters = parameters.map(|(index, variable)| formal(first + index, variable));
        Code {
            parameters: parameters.collect(),
            results,
            has_products: steps.iter().any(is_product),
            steps,
            unwritten,
            first_site: 0,
            frame,
            assignment,
        }
    }
}

fn is_product(decoded: &Decoded) -> bool {
    matches!(&decoded.step, Step::Matrix(matrix) if matrix.is_asynchronous())
}

fn next(decoded: &Decoded) -> Next {
    let falls = decoded.guard.is_some();
    match &decoded.step {
        Step::Branch(target) => Next::Branches {
            targets: vec![*target],
            falls,
        },
        Step::IndexedBranch(_, targets) => Next::Branches {
            targets: targets.clone(),
            falls,
        },
        Step::Return => Next::Returns { falls },
        Step::Exit | Step::Trap if !falls => Next::Ends,
        _ => Next::Falls,
    }
}
