//! Directives outside of functions (PTX ISA, "Directives"), and the reading of tokens.

use super::body;
use super::declaration;
use super::error::{Fault, ParseError};
use super::lexer::{self, Spanned, Token};
use super::syntax::{Function, FunctionKind, Limits, Linkage, Module};
use super::types::Space;

pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = lexer::lex(text).map_err(|fault| fault.in_text(text))?;
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
    };
    let mut module = Module {
        address_bits: 64,
        ..Module::default()
    };
    while reader.peek().is_some() {
        directive(&mut reader, &mut module).map_err(|fault| fault.in_text(text))?;
    }
    Ok(module)
}

/// The tokens, and how far they are read.
pub struct Reader<'t, 'a> {
    tokens: &'t [Spanned<'a>],
    at: usize,
}

impl<'a> Reader<'_, 'a> {
    pub fn peek(&self) -> Option<Token<'a>> {
        self.peek_at(0)
    }

    pub fn peek_at(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens
            .get(self.at + ahead)
            .map(|spanned| spanned.token)
    }

    /// Of the next token, or of the last at the end.
    pub fn line(&self) -> u32 {
        let next = self.tokens.get(self.at).or(self.tokens.last());
        next.map_or(1, |spanned| spanned.line)
    }

    pub fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub fn takes(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    pub fn takes_dot(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(Token::Dot(word));
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, mark: char) -> Result<(), Fault> {
        if self.takes(mark) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{mark}`")))
    }

    pub fn word(&mut self) -> Result<&'a str, Fault> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    pub fn integer(&mut self) -> Result<u64, Fault> {
        match self.peek() {
            Some(Token::Integer(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.unexpected("an integer")),
        }
    }

    pub fn small(&mut self) -> Result<u32, Fault> {
        let line = self.line();
        let value = self.integer()?;
        u32::try_from(value).map_err(|_| Fault::new(line, format!("{value} is too large here")))
    }

    pub fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            None => "the text ends".to_owned(),
            Some(Token::Word(word)) => format!("`{word}` is here"),
            Some(Token::Dot(word)) => format!("`.{word}` is here"),
            Some(Token::Mark(mark)) => format!("`{mark}` is here"),
            Some(Token::Text(_)) => "a string is here".to_owned(),
            Some(Token::Integer(_) | Token::Float(_) | Token::Double(_)) => {
                "a number is here".to_owned()
            }
        };
        Fault::new(self.line(), format!("expected {wanted}, but {found}"))
    }

    /// Skips braces with all that they contain; the opening one is next.
    pub fn skip_braces(&mut self) -> Result<(), Fault> {
        self.expect('{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some(Token::Mark('{')) => depth += 1,
                Some(Token::Mark('}')) => depth -= 1,
                Some(_) => {}
                None => return Err(self.unexpected("`}`")),
            }
        }
        Ok(())
    }
}

fn directive(reader: &mut Reader<'_, '_>, module: &mut Module) -> Result<(), Fault> {
    let line = reader.line();
    match reader.peek() {
        Some(Token::Dot("version")) => {
            reader.next();
            module.version = version(reader)?;
        }
        Some(Token::Dot("target")) => {
            reader.next();
            module.target.push(reader.word()?.to_owned());
            while reader.takes(',') {
                module.target.push(reader.word()?.to_owned());
            }
        }
        Some(Token::Dot("address_size")) => {
            reader.next();
            module.address_bits = reader.small()?;
        }
        Some(Token::Dot("file")) => file(reader, module)?,
        Some(Token::Dot("section")) => section(reader)?,
        Some(Token::Dot("pragma")) => pragma(reader)?,
        Some(Token::Dot("alias")) => {
            return Err(Fault::new(line, "`.alias` is not supported"));
        }
        Some(Token::Dot(_)) => declaration(reader, module)?,
        _ => return Err(reader.unexpected("a directive")),
    }
    Ok(())
}

/// `9.0` is a decimal float to the lexer.
fn version(reader: &mut Reader<'_, '_>) -> Result<(u32, u32), Fault> {
    let Some(Token::Double(bits)) = reader.peek() else {
        return Err(reader.unexpected("a version"));
    };
    reader.next();
    let text = format!("{:.1}", f64::from_bits(bits));
    let numbers = text.split_once('.');
    let pair = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    pair.ok_or_else(|| reader.unexpected("a version"))
}

/// `.file 1 "path"`, perhaps with a time and a size.
fn file(reader: &mut Reader<'_, '_>, module: &mut Module) -> Result<(), Fault> {
    reader.next();
    let number = reader.small()?;
    let Some(Token::Text(path)) = reader.peek() else {
        return Err(reader.unexpected("a path"));
    };
    reader.next();
    module.files.insert(number, path.to_owned());
    while reader.takes(',') {
        reader.integer()?;
    }
    Ok(())
}

/// Debug information of another kind than `.loc`.
fn section(reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
    reader.next();
    match reader.next() {
        Some(Token::Dot(_) | Token::Word(_)) => reader.skip_braces(),
        _ => Err(reader.unexpected("the name of a section")),
    }
}

/// Pragmas direct ptxas; none changes what instructions mean.
pub fn pragma(reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
    reader.next();
    loop {
        let Some(Token::Text(_)) = reader.next() else {
            return Err(reader.unexpected("a string"));
        };
        if !reader.takes(',') {
            return reader.expect(';');
        }
    }
}

fn linkage(reader: &mut Reader<'_, '_>) -> Linkage {
    let linkage = match reader.peek() {
        Some(Token::Dot("visible")) => Linkage::Visible,
        Some(Token::Dot("extern")) => Linkage::External,
        Some(Token::Dot("weak")) => Linkage::Weak,
        Some(Token::Dot("common")) => Linkage::Common,
        _ => return Linkage::Internal,
    };
    reader.next();
    linkage
}

fn declaration(reader: &mut Reader<'_, '_>, module: &mut Module) -> Result<(), Fault> {
    let linkage = linkage(reader);
    if let Some(Token::Dot(word)) = reader.peek() {
        if let Some(space) = Space::parse(word) {
            reader.next();
            declaration::variables(reader, space, linkage, &mut module.variables)?;
            return reader.expect(';');
        }
        let kind = match word {
            "entry" => Some(FunctionKind::Entry),
            "func" => Some(FunctionKind::Device),
            _ => None,
        };
        if let Some(kind) = kind {
            reader.next();
            let function = function(reader, kind, linkage)?;
            module.functions.push(function);
            return Ok(());
        }
    }
    Err(reader.unexpected("a variable or a function"))
}

fn function(
    reader: &mut Reader<'_, '_>,
    kind: FunctionKind,
    linkage: Linkage,
) -> Result<Function, Fault> {
    let line = reader.line();
    let mut limits = Limits::default();
    let mut returns_never = attributes(reader, &mut limits)?;
    let returns = declaration::parameters(reader)?;
    let name = reader.word()?.to_owned();
    let parameters = declaration::parameters(reader)?;
    returns_never |= attributes(reader, &mut limits)?;
    let body = if reader.takes(';') {
        None
    } else {
        Some(body::parse(reader, &returns, &parameters)?)
    };
    Ok(Function {
        name,
        kind,
        linkage,
        returns,
        parameters,
        limits,
        returns_never,
        body,
        line,
    })
}

/// Directives between the name of a function and its body. True if it never returns.
fn attributes(reader: &mut Reader<'_, '_>, limits: &mut Limits) -> Result<bool, Fault> {
    let mut returns_never = false;
    while let Some(Token::Dot(word)) = reader.peek() {
        match word {
            "pragma" => {
                pragma(reader)?;
                continue;
            }
            "noreturn" => returns_never = true,
            "explicitcluster" => limits.explicit_cluster = true,
            "blocksareclusters" => limits.explicit_cluster = true,
            "maxntid" | "reqntid" | "minnctapersm" | "maxnreg" | "reqnctapercluster"
            | "maxclusterrank" => {
                reader.next();
                limit(reader, word, limits)?;
                continue;
            }
            _ => return Err(reader.unexpected("the body of a function")),
        }
        reader.next();
    }
    Ok(returns_never)
}

fn limit(reader: &mut Reader<'_, '_>, word: &str, limits: &mut Limits) -> Result<(), Fault> {
    let mut extents = [reader.small()?, 1, 1];
    for extent in extents.iter_mut().skip(1) {
        if !reader.takes(',') {
            break;
        }
        *extent = reader.small()?;
    }
    let first = extents.first().copied();
    match word {
        "maxntid" => limits.max_threads = Some(extents),
        "reqntid" => limits.required_threads = Some(extents),
        "reqnctapercluster" => limits.cluster = Some(extents),
        "minnctapersm" => limits.min_blocks = first,
        "maxnreg" => limits.max_registers = first,
        _ => limits.max_cluster_rank = first,
    }
    Ok(())
}
