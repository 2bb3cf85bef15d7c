//! The text of an `asm` statement: parts that are PTX, and places of operands.

/// A text with its placeholders resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// `%2` or `%[name]`: the number of the operand.
    Operand(usize),
}

/// A placeholder that stands for no operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `%7` of fewer operands: the digits.
    Number(String),
    /// `%[name]`, and no operand has that name.
    Name(String),
    /// `%[` without `]`.
    Open,
}

impl Template {
    /// Reads a text; `names` are those of the operands, in order.
    pub fn parse(text: &str, names: &[Option<&str>]) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            let after = from.get(1..).unwrap_or_default();
            if let Some(named) = after.strip_prefix('[') {
                let (name, behind) = named.split_once(']').ok_or(Fault::Open)?;
                let found = names.iter().position(|known| *known == Some(name.trim()));
                let number = found.ok_or_else(|| Fault::Name(name.trim().to_owned()))?;
                parts.push(Part::Text(std::mem::take(&mut plain)));
                parts.push(Part::Operand(number));
                rest = behind;
            } else if let Some(behind) = after.strip_prefix('%') {
                plain.push('%');
                rest = behind;
            } else {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                let (number, behind) = after.split_at(digits);
                if digits == 0 {
                    // A special register: `%laneid`.
                    plain.push('%');
                } else {
                    let known = number.parse().ok().filter(|n| *n < names.len());
                    let operand = known.ok_or_else(|| Fault::Number(number.to_owned()))?;
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                    parts.push(Part::Operand(operand));
                }
                rest = behind;
            }
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Ok(Self { parts })
    }

    /// The text with numbered placeholders, as nvcc takes it.
    pub fn numbered(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.replace('%', "%%"),
            Part::Operand(number) => format!("%{number}"),
        };
        self.parts.iter().map(part).collect()
    }
}
