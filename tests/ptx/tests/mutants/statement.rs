//! A line of PTX text with one instruction.

/// `@p opcode a, b;`: operands as they are written.
#[derive(Clone, Debug)]
pub struct Statement {
    /// `@%p1` or `@!%p1`
    pub guard: Option<String>,
    pub opcode: String,
    pub operands: Vec<String>,
}

impl Statement {
    pub fn parse(line: &str) -> Option<Statement> {
        let text = line.split("//").next()?.trim().strip_suffix(';')?.trim();
        let (guard, text) = match text.starts_with('@') {
            true => {
                let (guard, rest) = text.split_once(char::is_whitespace)?;
                (Some(guard.to_owned()), rest.trim())
            }
            false => (None, text),
        };
        let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if opcode.starts_with(['.', '$', '{', '}']) {
            return None;
        }
        let mut all = Vec::new();
        let (mut depth, mut operand) = (0, String::new());
        for character in operands.chars() {
            match character {
                '[' | '{' | '(' => depth += 1,
                ']' | '}' | ')' => depth -= 1,
                _ => {}
            }
            match character {
                ',' if depth == 0 => all.push(std::mem::take(&mut operand).trim().to_owned()),
                _ => operand.push(character),
            }
        }
        if !operand.trim().is_empty() {
            all.push(operand.trim().to_owned());
        }
        Some(Statement {
            guard,
            opcode: opcode.to_owned(),
            operands: all,
        })
    }

    /// Whether the opcode has this word.
    pub fn has(&self, word: &str) -> bool {
        self.opcode.split('.').any(|found| found == word)
    }

    /// The opcode without modifiers.
    pub fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    pub fn with(&self, index: usize, operand: &str) -> Statement {
        let mut other = self.clone();
        operand.clone_into(&mut other.operands[index]);
        other
    }

    pub fn renamed(&self, opcode: &str) -> Statement {
        Statement {
            opcode: opcode.to_owned(),
            ..self.clone()
        }
    }

    /// The same with an operand that another instruction makes of the present one, which is written
    /// `_` in `first` and replaced by the register `mutant` here.
    pub fn after(&self, first: &str, ty: &str, was: &str, other: &Statement) -> String {
        let first = first.replace('_', was);
        format!("{{ .reg .{ty} mutant; {first}; {other} }}")
    }

    /// The same with one operand replaced by what `instruction` makes of it.
    pub fn changed(&self, index: usize, ty: &str, instruction: &str) -> String {
        let other = self.with(index, "mutant");
        self.after(instruction, ty, &self.operands[index], &other)
    }
}

impl std::fmt::Display for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "{guard} ")?;
        }
        write!(f, "{} {};", self.opcode, self.operands.join(", "))
    }
}
