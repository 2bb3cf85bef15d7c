//! Answers of the prover.

/// The answer to a question about all assignments at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Truth {
    /// Holds for every assignment within bounds and assumptions.
    Yes,
    /// Fails for every assignment within bounds and assumptions.
    No,
    Unknown,
}

impl Truth {
    pub fn is_yes(self) -> bool {
        self == Truth::Yes
    }

    pub fn is_no(self) -> bool {
        self == Truth::No
    }
}

/// The answer to the negated question.
impl std::ops::Not for Truth {
    type Output = Truth;
    fn not(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
        }
    }
}
