//! What an earlier walk over the same function found that this one needs before it gets there.
//!
//! A fragment may be read before the product that gives it its extents, and a statement at block
//! level may depend on the number of threads of a level below it. A walk without such a fact
//! takes note of that, and the function is walked again with what is known at its end.

use std::collections::BTreeMap;

use crate::ir::{Fragment, FragmentLayout, Level, Scalar};
use crate::sema::state::choices::{Choice, Place};
use crate::source::Span;

/// The most walks over one function: facts may depend on each other.
pub(crate) const MOST_WALKS: usize = 6;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Earlier {
    /// What products determine of fragments, by the places of their names.
    pub fragments: BTreeMap<Span, Shaped>,
    /// The numbers of threads of kernels, by their headers.
    pub threads: BTreeMap<Span, i64>,
    /// Mutable locals that differ between units, by the places of their names.
    pub varying: BTreeMap<Span, Level>,
    /// Whether each read of a mutable local counts as different in each thread.
    pub cautious: bool,
    /// The choices to be made before a statement.
    pub choices: BTreeMap<Place, Vec<Choice>>,
    /// Whether there is no walk after this one.
    pub last: bool,
    /// Whether a fact was missing.
    pub incomplete: bool,
}

/// What products determine of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shaped {
    pub shape: Vec<i64>,
    pub elem: Scalar,
    pub layout: Option<FragmentLayout>,
}

impl Earlier {
    /// Records a choice to be made before a statement. False if it was recorded before.
    pub fn note_choice(&mut self, before: Place, choice: Choice) -> bool {
        self.incomplete = true;
        let known = self.choices.entry(before).or_default();
        let is_new = !known.contains(&choice);
        if is_new {
            known.push(choice);
        }
        is_new
    }

    /// Records the extents of a fragment; two of one place have none in common.
    pub fn note_fragment(&mut self, declared: Span, fragment: &Fragment, elem: Scalar) {
        let shaped = Shaped {
            shape: fragment.shape.clone(),
            elem,
            layout: fragment.layout,
        };
        let known = self.fragments.get(&declared);
        if known.is_some_and(|known| *known != shaped) || shaped.shape.is_empty() {
            self.fragments.remove(&declared);
        } else {
            self.fragments.insert(declared, shaped);
        }
    }
}
