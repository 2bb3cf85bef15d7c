//! Operands of instructions (PTX ISA, "Instruction Operands").

use super::body::Builder;
use super::declaration::offset;
use super::error::Fault;
use super::lexer::Token;
use super::module::Reader;
use super::scope::{Name, Use};
use super::syntax::{Address, Base, Label, Operand};

/// The operand with that index of the instruction that is being read.
pub fn parse(
    reader: &mut Reader<'_, '_>,
    builder: &mut Builder,
    index: usize,
) -> Result<Operand, Fault> {
    let first = single(reader, builder, index)?;
    if reader.takes('|') {
        let second = single(reader, builder, index)?;
        return Ok(Operand::Pair(Box::new(first), Box::new(second)));
    }
    Ok(first)
}

fn single(
    reader: &mut Reader<'_, '_>,
    builder: &mut Builder,
    index: usize,
) -> Result<Operand, Fault> {
    match reader.peek() {
        Some(Token::Mark('{')) => {
            reader.next();
            list(reader, builder, index, '}').map(Operand::Vector)
        }
        Some(Token::Mark('(')) => {
            reader.next();
            list(reader, builder, index, ')').map(Operand::List)
        }
        Some(Token::Mark('[')) => memory(reader, builder, index),
        Some(Token::Mark('!')) => {
            reader.next();
            let line = reader.line();
            let name = reader.word()?;
            match builder.scopes.find(name) {
                Some(Name::Register(register)) => Ok(Operand::Not(*register)),
                _ => Err(Fault::new(line, format!("`{name}` is not a predicate"))),
            }
        }
        Some(Token::Word(name)) => {
            let line = reader.line();
            reader.next();
            named(reader, builder, index, (name, line))
        }
        _ => number(reader),
    }
}

/// Elements up to the closing mark, which may follow at once.
fn list(
    reader: &mut Reader<'_, '_>,
    builder: &mut Builder,
    index: usize,
    end: char,
) -> Result<Vec<Operand>, Fault> {
    let mut elements = Vec::new();
    while !reader.takes(end) {
        if !elements.is_empty() {
            reader.expect(',')?;
        }
        if matches!(reader.peek(), Some(Token::Mark('{' | '(' | '['))) {
            return Err(reader.unexpected("an element"));
        }
        elements.push(single(reader, builder, index)?);
    }
    Ok(elements)
}

fn number(reader: &mut Reader<'_, '_>) -> Result<Operand, Fault> {
    let negative = reader.takes('-');
    let operand = match reader.peek() {
        Some(Token::Integer(value)) if negative => Operand::Integer(value.wrapping_neg()),
        Some(Token::Integer(value)) => Operand::Integer(value),
        Some(Token::Float(bits)) if negative => Operand::Float(bits ^ (1 << 31)),
        Some(Token::Float(bits)) => Operand::Float(bits),
        Some(Token::Double(bits)) if negative => Operand::Double(bits ^ (1 << 63)),
        Some(Token::Double(bits)) => Operand::Double(bits),
        _ => return Err(reader.unexpected("an operand")),
    };
    reader.next();
    Ok(operand)
}

/// A word has been read.
fn named(
    reader: &mut Reader<'_, '_>,
    builder: &mut Builder,
    index: usize,
    (name, line): (&str, u32),
) -> Result<Operand, Fault> {
    if name == "_" {
        return Ok(Operand::Sink);
    }
    match builder.scopes.find(name).cloned() {
        Some(Name::Register(register)) => {
            if let Some(Token::Dot(word)) = reader.peek() {
                let message = format!("the component `.{word}` of a register is not supported");
                return Err(Fault::new(line, message));
            }
            Ok(Operand::Register(register))
        }
        Some(Name::Variable(variable)) => Ok(Operand::Symbol(Address {
            base: Base::Variable(variable),
            offset: offset(reader)?,
        })),
        Some(Name::Targets(names)) => {
            let targets = vec![Label(u32::MAX); names.len()];
            for (target, name) in names.into_iter().enumerate() {
                use_label(builder, index, target, (&name, line));
            }
            Ok(Operand::Targets(targets))
        }
        Some(Name::Prototype) => Ok(Operand::Prototype(name.to_owned())),
        None => unscoped(reader, builder, index, (name, line)),
    }
}

/// A label, a special register, or a symbol of the module.
fn unscoped(
    reader: &mut Reader<'_, '_>,
    builder: &mut Builder,
    index: usize,
    (name, line): (&str, u32),
) -> Result<Operand, Fault> {
    if let Some(special) = name.strip_prefix('%') {
        let mut special = special.to_owned();
        if let Some(Token::Dot(component)) = reader.peek() {
            reader.next();
            special = format!("{special}.{component}");
        }
        return match is_special(&special) {
            true => Ok(Operand::Special(special)),
            false => Err(Fault::new(line, format!("`%{special}` is not declared"))),
        };
    }
    if name == "WARP_SZ" {
        return Ok(Operand::Integer(32));
    }
    if builder.branches {
        use_label(builder, index, 0, (name, line));
        return Ok(Operand::Label(Label(u32::MAX)));
    }
    Ok(Operand::Symbol(Address {
        base: Base::Symbol(name.to_owned()),
        offset: offset(reader)?,
    }))
}

fn use_label(builder: &mut Builder, operand: usize, target: usize, (name, line): (&str, u32)) {
    builder.scopes.use_label(Use {
        name: name.to_owned(),
        instruction: builder.body.instructions.len(),
        operand,
        target,
        line,
    });
}

/// `[%rd1+4]`, `[name]`, `[%rd1, {%r1, %r2}]`
fn memory(
    reader: &mut Reader<'_, '_>,
    builder: &mut Builder,
    index: usize,
) -> Result<Operand, Fault> {
    reader.expect('[')?;
    let line = reader.line();
    let address = if let Some(Token::Word(name)) = reader.peek() {
        reader.next();
        let base = match builder.scopes.find(name) {
            Some(Name::Register(register)) => Base::Register(*register),
            Some(Name::Variable(variable)) => Base::Variable(*variable),
            None if !name.starts_with('%') => Base::Symbol(name.to_owned()),
            _ => return Err(Fault::new(line, format!("`{name}` is not an address"))),
        };
        Address {
            base,
            offset: offset(reader)?,
        }
    } else {
        let negative = reader.takes('-');
        let value = reader.integer()?.cast_signed();
        Address {
            base: Base::Zero,
            offset: if negative {
                value.wrapping_neg()
            } else {
                value
            },
        }
    };
    let mut coordinates = Vec::new();
    while reader.takes(',') {
        match single(reader, builder, index)? {
            Operand::Vector(list) => coordinates.extend(list),
            other => coordinates.push(other),
        }
    }
    reader.expect(']')?;
    Ok(Operand::Memory {
        address,
        coordinates,
    })
}

/// PTX ISA, "Special Registers".
fn is_special(name: &str) -> bool {
    let (stem, component) = name
        .split_once('.')
        .map_or((name, None), |(a, b)| (a, Some(b)));
    match component {
        Some("x" | "y" | "z" | "w") => matches!(
            stem,
            "tid"
                | "ntid"
                | "ctaid"
                | "nctaid"
                | "clusterid"
                | "nclusterid"
                | "cluster_ctaid"
                | "cluster_nctaid"
        ),
        Some(_) => false,
        None => {
            let families = ["envreg", "pm", "reserved_smem_offset_"];
            let numbered = families.iter().any(|family| name.starts_with(family));
            numbered
                || matches!(
                    name,
                    "laneid"
                        | "warpid"
                        | "nwarpid"
                        | "smid"
                        | "nsmid"
                        | "gridid"
                        | "clock"
                        | "clock_hi"
                        | "clock64"
                        | "lanemask_eq"
                        | "lanemask_le"
                        | "lanemask_lt"
                        | "lanemask_ge"
                        | "lanemask_gt"
                        | "globaltimer"
                        | "globaltimer_lo"
                        | "globaltimer_hi"
                        | "total_smem_size"
                        | "dynamic_smem_size"
                        | "aggr_smem_size"
                        | "cluster_ctarank"
                        | "cluster_nctarank"
                        | "is_explicit_cluster"
                        | "current_graph_exec"
                )
        }
    }
}
