//! What is known of each variable and array at one point of a kernel.

use std::collections::BTreeMap;

use super::scope::Uniform;
use crate::ir::{Access, BufferId, Function, LocalId, Storage};

/// Elements of longer `local` arrays are not told apart.
const MOST_ELEMENTS: i64 = 64;

/// What each thread has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Local(LocalId),
    /// A `local` array, all of its elements that were written.
    Array(BufferId),
    /// One of them, once it was written by its number.
    Element(BufferId, i64),
}

/// Locals that are missing are the same everywhere. Elements that are missing are as the array.
#[derive(Default)]
pub struct State(BTreeMap<Place, Uniform>);

impl State {
    pub fn get(&self, place: Place) -> Option<Uniform> {
        self.0.get(&place).copied()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What was there.
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

    /// The elements of an array that are told apart.
    pub fn elements(&self, id: BufferId) -> Vec<Place> {
        let all = Place::Element(id, 0)..=Place::Element(id, MOST_ELEMENTS);
        self.0.range(all).map(|(place, _)| *place).collect()
    }

    /// Behind a branch that has left this; `None`: of an array that has not been written.
    pub fn behind(&self, side: &BTreeMap<Place, Uniform>, place: Place) -> Option<Uniform> {
        let known = |place: Place| side.get(&place).copied().or_else(|| self.get(place));
        match place {
            Place::Local(_) => known(place).or(Some(Uniform::EVERYWHERE)),
            Place::Array(_) => known(place),
            Place::Element(id, _) => known(place).or_else(|| known(Place::Array(id))),
        }
    }
}

/// An element of a `local` array with a number that the text says.
pub fn element(function: &Function, access: &Access) -> Option<Place> {
    let id = access.view.buffer;
    let buffer = function.buffers.get(id.index())?;
    let count = buffer.count.as_int()?;
    let number = access.address().as_int()?;
    let small = buffer.storage == Storage::Local && count <= MOST_ELEMENTS;
    (small && (0..count).contains(&number)).then_some(Place::Element(id, number))
}
