//! Declarations of variables and formal parameters.

use super::error::Fault;
use super::lexer::Token;
use super::module::Reader;
use super::syntax::{Extent, Initial, Linkage, Variable};
use super::types::{Space, Type};

/// What stands before the names of a declaration.
#[derive(Clone, Copy)]
struct Head {
    align: Option<u64>,
    ty: Type,
    vector: u64,
}

impl Head {
    /// As declared, or that of the type.
    fn alignment(&self) -> u64 {
        let natural = self.ty.bytes() as u64 * self.vector;
        self.align.unwrap_or(natural).max(1)
    }
}

/// One or more variables, after their state space: `.align 8 .b8 a[4], b[8]`.
pub fn variables(
    reader: &mut Reader<'_, '_>,
    space: Space,
    linkage: Linkage,
    list: &mut Vec<Variable>,
) -> Result<(), Fault> {
    let head = head(reader)?;
    loop {
        let line = reader.line();
        let name = reader.word()?.to_owned();
        let extent = extent(reader)?;
        let initial = if reader.takes('=') {
            initial(reader)?
        } else {
            Vec::new()
        };
        list.push(Variable {
            name,
            space,
            linkage,
            align: head.alignment(),
            ty: head.ty,
            vector: head.vector,
            extent,
            initial,
            line,
        });
        if !reader.takes(',') {
            return Ok(());
        }
    }
}

/// `(.param .b64 a, .param .align 8 .b8 b[16])`; nothing without parentheses.
pub fn parameters(reader: &mut Reader<'_, '_>) -> Result<Vec<Variable>, Fault> {
    let mut list = Vec::new();
    if !reader.takes('(') {
        return Ok(list);
    }
    while !reader.takes(')') {
        let line = reader.line();
        if !reader.takes_dot("param") {
            return Err(Fault::new(
                line,
                "a parameter that is not in the `.param` space is not supported",
            ));
        }
        let head = head(reader)?;
        let name = reader.word()?.to_owned();
        let extent = extent(reader)?;
        list.push(Variable {
            name,
            space: Space::Param,
            linkage: Linkage::Internal,
            align: head.alignment(),
            ty: head.ty,
            vector: head.vector,
            extent,
            initial: Vec::new(),
            line,
        });
        if !reader.takes(',') && reader.peek() != Some(Token::Mark(')')) {
            return Err(reader.unexpected("`,` or `)`"));
        }
    }
    Ok(list)
}

/// Attributes, alignment, vector length and type in any order; pointers of parameters say where they
/// point (`.ptr .global .align 16`), which is only a hint.
fn head(reader: &mut Reader<'_, '_>) -> Result<Head, Fault> {
    let (mut align, mut vector, mut pointer) = (None, 1, false);
    let mut ty = None;
    while let Some(Token::Dot(word)) = reader.peek() {
        if let Some(found) = Type::parse(word) {
            ty = Some(found);
        } else {
            match word {
                "v2" => vector = 2,
                "v4" => vector = 4,
                "ptr" => pointer = true,
                "align" => {
                    reader.next();
                    let bytes = at_most(reader, MOST_ALIGN)?;
                    align = if pointer { align } else { Some(bytes) };
                    continue;
                }
                _ if pointer && Space::parse(word).is_some() => {}
                _ => return Err(reader.unexpected("a type")),
            }
        }
        reader.next();
    }
    let Some(ty) = ty else {
        return Err(reader.unexpected("a type"));
    };
    Ok(Head { align, ty, vector })
}

fn extent(reader: &mut Reader<'_, '_>) -> Result<Extent, Fault> {
    let mut extent = Extent::Scalar;
    while reader.takes('[') {
        extent = match (extent, reader.peek()) {
            (_, Some(Token::Mark(']'))) => Extent::Unknown,
            (Extent::Array(outer), _) => {
                let inner = at_most(reader, MOST_BYTES)?;
                Extent::Array(outer.saturating_mul(inner))
            }
            _ => Extent::Array(at_most(reader, MOST_BYTES)?),
        };
        reader.expect(']')?;
        if matches!(extent, Extent::Array(count) if count > MOST_BYTES) {
            return Err(reader.unexpected("a smaller array"));
        }
    }
    Ok(extent)
}

/// More than any device has; so that sums of sizes and addresses never overflow.
const MOST_BYTES: u64 = 1 << 32;
const MOST_ALIGN: u64 = 1 << 20;

fn at_most(reader: &mut Reader<'_, '_>, most: u64) -> Result<u64, Fault> {
    let line = reader.line();
    match reader.integer()? {
        value if value <= most => Ok(value),
        value => Err(Fault::new(line, format!("{value} is too large here"))),
    }
}

/// Nested braces are flattened: the elements are in the order of memory.
fn initial(reader: &mut Reader<'_, '_>) -> Result<Vec<Initial>, Fault> {
    let mut list = Vec::new();
    let mut depth = 0;
    loop {
        if reader.takes('{') {
            depth += 1;
            continue;
        }
        if depth == 0 || !matches!(reader.peek(), Some(Token::Mark('}'))) {
            list.push(element(reader)?);
        }
        while depth > 0 && reader.takes('}') {
            depth -= 1;
        }
        if depth == 0 {
            return Ok(list);
        }
        reader.expect(',')?;
    }
}

fn element(reader: &mut Reader<'_, '_>) -> Result<Initial, Fault> {
    let negative = reader.takes('-');
    let initial = match reader.peek() {
        Some(Token::Integer(value)) if negative => Initial::Bits(value.wrapping_neg()),
        Some(Token::Integer(value)) => Initial::Bits(value),
        Some(Token::Float(bits)) if !negative => Initial::Bits(u64::from(bits)),
        Some(Token::Double(bits)) if !negative => Initial::Bits(bits),
        Some(Token::Word("generic")) if !negative => {
            reader.next();
            reader.expect('(')?;
            let name = reader.word()?.to_owned();
            let inside = offset(reader)?;
            reader.expect(')')?;
            let offset = inside.wrapping_add(offset(reader)?);
            return Ok(Initial::Symbol {
                name,
                offset,
                generic: true,
            });
        }
        Some(Token::Word(name)) if !negative => {
            reader.next();
            return Ok(Initial::Symbol {
                name: name.to_owned(),
                offset: offset(reader)?,
                generic: false,
            });
        }
        _ => return Err(reader.unexpected("an initial value")),
    };
    reader.next();
    Ok(initial)
}

/// `+4`, `-4`, `+-4` or nothing.
pub fn offset(reader: &mut Reader<'_, '_>) -> Result<i64, Fault> {
    let plus = reader.takes('+');
    let minus = reader.takes('-');
    if !plus && !minus {
        return Ok(0);
    }
    let value = reader.integer()?.cast_signed();
    Ok(if minus { value.wrapping_neg() } else { value })
}
