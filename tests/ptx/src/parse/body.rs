//! The body of a function.

use std::collections::HashMap;
use std::sync::Arc;

use super::declaration;
use super::error::Fault;
use super::lexer::Token;
use super::module::{Reader, pragma};
use super::operand;
use super::scope::{Name, Scopes, Use};
use super::syntax::{
    Body, Guard, Instruction, Label, Linkage, Location, Mnemonic, Operand, Place, RegisterId,
    Variable, VariableId,
};
use super::types::{Space, Type};

/// What is known while a body is read.
pub struct Builder {
    pub body: Body,
    pub scopes: Scopes,
    /// The instruction that is being read branches: a name that is nothing else is a label.
    pub branches: bool,
    place: Option<Place>,
    /// The caller of each place that was inlined, from the latest `.loc` of that place.
    callers: HashMap<Location, Location>,
    mnemonics: HashMap<Mnemonic, Arc<Mnemonic>>,
}

pub fn parse(
    reader: &mut Reader<'_, '_>,
    returns: &[Variable],
    parameters: &[Variable],
) -> Result<Body, Fault> {
    let mut builder = Builder {
        body: Body::default(),
        scopes: Scopes::new(),
        branches: false,
        place: None,
        callers: HashMap::new(),
        mnemonics: HashMap::new(),
    };
    for variable in returns.iter().chain(parameters) {
        builder.variable(variable.clone())?;
    }
    reader.expect('{')?;
    loop {
        if reader.takes('{') {
            builder.scopes.enter();
        } else if reader.takes('}') {
            match builder.scopes.leave() {
                Some(known) => builder.settle(known),
                None => break,
            }
        } else {
            builder.statement(reader)?;
        }
    }
    let Builder {
        mut body, scopes, ..
    } = builder;
    for (wanted, label) in scopes.finish()? {
        set_label(&mut body, &wanted, label);
    }
    Ok(body)
}

/// In one declaration; nvcc's longest have some thousands.
const MOST_REGISTERS: u32 = 1 << 20;

fn set_label(body: &mut Body, wanted: &Use, label: Label) {
    let instruction = body.instructions.get_mut(wanted.instruction);
    match instruction.and_then(|found| found.operands.get_mut(wanted.operand)) {
        Some(Operand::Label(unknown)) => *unknown = label,
        Some(Operand::Targets(list)) => {
            if let Some(unknown) = list.get_mut(wanted.target) {
                *unknown = label;
            }
        }
        _ => {}
    }
}

fn id(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Builder {
    fn settle(&mut self, known: Vec<(Use, Label)>) {
        for (wanted, label) in known {
            set_label(&mut self.body, &wanted, label);
        }
    }

    fn statement(&mut self, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
        match (reader.peek(), reader.peek_at(1)) {
            (Some(Token::Dot("reg")), _) => self.registers(reader),
            (Some(Token::Dot("loc")), _) => self.location(reader),
            (Some(Token::Dot("pragma")), _) => pragma(reader),
            (Some(Token::Dot(word)), _) => {
                let Some(space) = Space::parse(word) else {
                    return Err(reader.unexpected("an instruction"));
                };
                reader.next();
                self.variables(reader, space)
            }
            (Some(Token::Word(name)), Some(Token::Mark(':'))) => self.label(reader, name),
            (Some(Token::Word(_) | Token::Mark('@')), _) => self.instruction(reader),
            (Some(Token::Mark(';')), _) => {
                reader.next();
                Ok(())
            }
            _ => Err(reader.unexpected("an instruction")),
        }
    }

    /// `.reg .b32 %r<10>, a, b;`
    fn registers(&mut self, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
        reader.next();
        let line = reader.line();
        let Some(Token::Dot(word)) = reader.next() else {
            return Err(Fault::new(line, "expected the type of registers"));
        };
        let Some(ty) = Type::parse(word) else {
            return Err(Fault::new(
                line,
                format!("registers of type `.{word}` are not supported"),
            ));
        };
        loop {
            let line = reader.line();
            let name = reader.word()?;
            if reader.takes('<') {
                let count = reader.small()?;
                if count > MOST_REGISTERS {
                    return Err(Fault::new(line, format!("{count} registers are too many")));
                }
                for index in 0..count {
                    self.register(&format!("{name}{index}"), ty, line)?;
                }
                reader.expect('>')?;
            } else {
                self.register(name, ty, line)?;
            }
            if !reader.takes(',') {
                return reader.expect(';');
            }
        }
    }

    fn register(&mut self, name: &str, ty: Type, line: u32) -> Result<(), Fault> {
        let register = RegisterId(id(self.body.registers.len()));
        self.body.registers.push((name.to_owned(), ty));
        self.scopes.declare(name, Name::Register(register), line)
    }

    fn variables(&mut self, reader: &mut Reader<'_, '_>, space: Space) -> Result<(), Fault> {
        let mut list = Vec::new();
        declaration::variables(reader, space, Linkage::Internal, &mut list)?;
        list.into_iter()
            .try_for_each(|variable| self.variable(variable))?;
        reader.expect(';')
    }

    fn variable(&mut self, variable: Variable) -> Result<(), Fault> {
        let name = Name::Variable(VariableId(id(self.body.variables.len())));
        self.scopes.declare(&variable.name, name, variable.line)?;
        self.body.variables.push(variable);
        Ok(())
    }

    /// `.loc 1 20 5`, perhaps with `, function_name label, inlined_at 1 30 3`.
    fn location(&mut self, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
        reader.next();
        let location = position(reader)?;
        let mut inlined_at = None;
        while reader.takes(',') {
            match reader.word()? {
                "function_name" => {
                    reader.word()?;
                    declaration::offset(reader)?;
                }
                "inlined_at" => inlined_at = Some(position(reader)?),
                _ => return Err(reader.unexpected("`function_name` or `inlined_at`")),
            }
        }
        match inlined_at {
            Some(caller) => self.callers.insert(location, caller),
            None => self.callers.remove(&location),
        };
        self.place = Some(Place {
            location,
            inlined_at,
            outermost: self.outermost(location),
        });
        Ok(())
    }

    /// Follows inlined calls; a chain that is longer than any sensible one is cut.
    fn outermost(&self, location: Location) -> Location {
        let caller = |location: &Location| self.callers.get(location).copied();
        std::iter::successors(Some(location), caller)
            .take(64)
            .last()
            .unwrap_or(location)
    }

    fn label(&mut self, reader: &mut Reader<'_, '_>, name: &str) -> Result<(), Fault> {
        let line = reader.line();
        reader.next();
        reader.next();
        match reader.peek() {
            Some(Token::Dot("branchtargets")) => {
                reader.next();
                let mut targets = vec![reader.word()?.to_owned()];
                while reader.takes(',') {
                    targets.push(reader.word()?.to_owned());
                }
                reader.expect(';')?;
                self.scopes.declare(name, Name::Targets(targets), line)
            }
            Some(Token::Dot("callprototype" | "calltargets")) => {
                while !reader.takes(';') {
                    if reader.next().is_none() {
                        return Err(reader.unexpected("`;`"));
                    }
                }
                self.scopes.declare(name, Name::Prototype, line)
            }
            _ => {
                let at = Label(id(self.body.instructions.len()));
                self.body.labels.push((at, name.to_owned()));
                self.scopes.declare_label(name, at, line)
            }
        }
    }

    fn instruction(&mut self, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
        let line = reader.line();
        let guard = self.guard(reader)?;
        let mnemonic = self.mnemonic(reader)?;
        self.branches = matches!(mnemonic.opcode.as_str(), "bra" | "brx");
        let mut operands = Vec::new();
        while !reader.takes(';') {
            if !operands.is_empty() {
                reader.expect(',')?;
            }
            let parsed = operand::parse(reader, self, operands.len())?;
            operands.push(parsed);
        }
        self.body.instructions.push(Instruction {
            mnemonic,
            guard,
            operands,
            line,
            place: self.place,
        });
        Ok(())
    }

    fn guard(&mut self, reader: &mut Reader<'_, '_>) -> Result<Option<Guard>, Fault> {
        if !reader.takes('@') {
            return Ok(None);
        }
        let negated = reader.takes('!');
        let line = reader.line();
        let name = reader.word()?;
        match self.scopes.find(name) {
            Some(Name::Register(register)) => Ok(Some(Guard {
                register: *register,
                negated,
            })),
            _ => Err(Fault::new(line, format!("`{name}` is not a predicate"))),
        }
    }

    fn mnemonic(&mut self, reader: &mut Reader<'_, '_>) -> Result<Arc<Mnemonic>, Fault> {
        let opcode = reader.word()?.to_owned();
        let mut modifiers = Vec::new();
        while let Some(Token::Dot(word)) = reader.peek() {
            reader.next();
            modifiers.push(word.to_owned());
        }
        let mnemonic = Mnemonic { opcode, modifiers };
        let shared = self.mnemonics.entry(mnemonic.clone());
        Ok(Arc::clone(shared.or_insert_with(|| Arc::new(mnemonic))))
    }
}

fn position(reader: &mut Reader<'_, '_>) -> Result<Location, Fault> {
    Ok(Location {
        file: reader.small()?,
        line: reader.small()?,
        column: reader.small()?,
    })
}
