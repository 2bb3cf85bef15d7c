//! Pieces of C++ expressions with their precedence, so that only necessary parentheses are printed.

/// Precedence, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Binding {
    Select,
    LogicOr,
    LogicAnd,
    Or,
    Xor,
    And,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    pub binding: Binding,
}

impl Text {
    pub fn new(text: impl Into<String>, binding: Binding) -> Self {
        Self {
            text: text.into(),
            binding,
        }
    }

    pub fn primary(text: impl Into<String>) -> Self {
        Self::new(text, Binding::Primary)
    }

    /// Negative literals bind like a unary minus.
    pub fn literal(text: String) -> Self {
        let binding = if text.starts_with('-') {
            Binding::Unary
        } else {
            Binding::Primary
        };
        Self { text, binding }
    }

    /// The text as an operand that needs at least precedence `least`.
    pub fn at_least(self, least: Binding) -> String {
        if self.binding < least {
            format!("({})", self.text)
        } else {
            self.text
        }
    }

    /// `left op right` for a left-associative operator. Compilers warn about unparenthesised
    /// mixtures of bit operators, shifts and logical operators with others, so there the operands
    /// get parentheses.
    pub fn infix(left: Text, op: &str, right: Text, binding: Binding) -> Text {
        let (on_left, on_right) = match binding {
            Binding::Sum => (Binding::Sum, Binding::Product),
            Binding::Product => (Binding::Product, Binding::Unary),
            Binding::Relation => (Binding::Shift, Binding::Shift),
            Binding::Equality => (Binding::Shift, Binding::Shift),
            Binding::LogicAnd | Binding::LogicOr => {
                let keep = |t: &Text| {
                    if t.binding == binding {
                        binding
                    } else {
                        Binding::Equality
                    }
                };
                (keep(&left), keep(&right))
            }
            Binding::Or | Binding::Xor | Binding::And => (
                if left.binding == binding {
                    binding
                } else {
                    Binding::Unary
                },
                Binding::Unary,
            ),
            _ => (Binding::Unary, Binding::Unary),
        };
        Text::new(
            format!(
                "{} {op} {}",
                left.at_least(on_left),
                right.at_least(on_right)
            ),
            binding,
        )
    }

    pub fn call(function: &str, args: &[Text]) -> Text {
        let args: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Text::primary(format!("{function}({})", args.join(", ")))
    }
}
