//! Integers of all threads of a block.

use super::indices::{List, Number};

/// The integers of all threads.
pub enum Ints {
    Same(i64),
    PerThread(Vec<i64>),
}

impl Ints {
    pub fn of(list: &List) -> Option<Self> {
        let int = |number: &Number| match number {
            Number::Int(value) => i64::try_from(*value).ok(),
            Number::Float(_) => None,
        };
        match list {
            List::Same(value) => int(value).map(Self::Same),
            List::PerThread(values) => {
                let mut all = Vec::with_capacity(values.len());
                for value in values.iter() {
                    all.push(int(value)?);
                }
                Some(Self::PerThread(all))
            }
        }
    }

    pub fn with(self, other: Self, op: impl Fn(i64, i64) -> Option<i64>) -> Option<Self> {
        let (mut values, others) = match (self, other) {
            (Self::Same(a), Self::Same(b)) => return op(a, b).map(Self::Same),
            (Self::PerThread(mut values), Self::Same(b)) => {
                for a in &mut values {
                    *a = op(*a, b)?;
                }
                return Some(Self::PerThread(values));
            }
            (Self::Same(a), Self::PerThread(mut values)) => {
                for b in &mut values {
                    *b = op(a, *b)?;
                }
                return Some(Self::PerThread(values));
            }
            (Self::PerThread(values), Self::PerThread(others)) => (values, others),
        };
        for (a, b) in values.iter_mut().zip(others) {
            *a = op(*a, b)?;
        }
        Some(Self::PerThread(values))
    }

    pub fn into_list(self) -> List {
        let number = |value: i64| Number::Int(i128::from(value));
        match self {
            Self::Same(value) => List::Same(number(value)),
            Self::PerThread(values) => {
                let first = values.first().copied();
                match first.filter(|first| values.iter().all(|value| value == first)) {
                    Some(first) => List::Same(number(first)),
                    None => List::PerThread(values.into_iter().map(number).collect()),
                }
            }
        }
    }
}
