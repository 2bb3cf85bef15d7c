//! Facts about the variables and arrays of a kernel at one statement.

use super::scope::Uniform;
use crate::ir::{Access, BufferId, Function, LocalId, Storage};
use crate::sorted::SortedMap;

/// Elements of longer `local` arrays have no facts of their own.
const MOST_ELEMENTS: i64 = 64;

/// A variable or array that is private to each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Local(LocalId),
    /// All written elements of a `local` array.
    Array(BufferId),
    /// One element, after a write with a constant index.
    Element(BufferId, i64),
}

/// A missing local has the same value in all threads. A missing element has the facts of its array.
#[derive(Default)]
pub struct State(SortedMap<Place, Uniform>);

impl State {
    pub fn get(&self, place: Place) -> Option<Uniform> {
        self.0.get(&place).copied()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the previous fact.
    pub fn replace(&mut self, place: Place, value: Option<Uniform>) -> Option<Uniform> {
        match value {
            Some(value) => self.0.insert(place, value),
            None => self.0.remove(&place),
        }
    }

    pub fn at(&self, place: Place) -> Uniform {
        let known = self.get(place);
        known.unwrap_or_else(|| match place {
            Place::Element(id, _) => self.at(Place::Array(id)).with(None),
            Place::Local(_) | Place::Array(_) => Uniform::EVERYWHERE,
        })
    }

    /// The elements of an array that have facts of their own.
    pub fn elements(&self, id: BufferId) -> Vec<Place> {
        let (first, last) = (Place::Element(id, 0), Place::Element(id, MOST_ELEMENTS));
        (self.0.range(&first..=&last).iter())
            .map(|(place, _)| *place)
            .collect()
    }

    /// The fact after a branch that changed `side`; `None` for an array that has not been written.
    pub fn after(&self, side: &SortedMap<Place, Uniform>, place: Place) -> Option<Uniform> {
        let known = |place: Place| side.get(&place).copied().or_else(|| self.get(place));
        match place {
            Place::Local(_) => known(place).or(Some(Uniform::EVERYWHERE)),
            Place::Array(_) => known(place),
            Place::Element(id, _) => known(place).or_else(|| known(Place::Array(id))),
        }
    }
}

/// The element of a `local` array that a constant index accesses.
pub fn element(function: &Function, access: &Access) -> Option<Place> {
    let id = access.view.buffer;
    let buffer = function.buffers.get(id.index())?;
    let count = buffer.count.as_int()?;
    let number = access.address().as_int()?;
    let small = buffer.storage == Storage::Local && count <= MOST_ELEMENTS;
    (small && (0..count).contains(&number)).then_some(Place::Element(id, number))
}
