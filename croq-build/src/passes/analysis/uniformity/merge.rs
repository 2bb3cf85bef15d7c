//! Merges the facts of two paths of a kernel.

use super::indices::List;
use super::scope::Uniform;
use super::state::Place;
use super::values::Values;
use crate::sorted::SortedMap;

/// The condition that selects one of two paths.
pub struct Selector {
    pub value: Uniform,
    /// Its value for all threads, if thread numbers determine it.
    pub truths: Option<List>,
}

impl Selector {
    pub fn of(value: Uniform) -> Self {
        Self {
            value,
            truths: None,
        }
    }

    /// The facts that either path changed, after both.
    pub fn join(
        &self,
        values: &mut Values<'_>,
        one: &SortedMap<Place, Uniform>,
        other: &SortedMap<Place, Uniform>,
    ) -> Vec<(Place, Uniform)> {
        let places = one.keys();
        let places = places.chain(other.keys().filter(|p| !one.contains_key(p)));
        let join = |place: &Place| {
            let after = |side| values.state.after(side, *place);
            let value = match (after(one), after(other)) {
                (Some(one), Some(other)) => self.merged(values, one, other),
                (Some(one), None) | (None, Some(one)) => one.either(one, self.value),
                (None, None) => Uniform::EVERYWHERE,
            };
            (*place, value)
        };
        places.map(join).collect()
    }

    fn merged(&self, values: &mut Values<'_>, one: Uniform, other: Uniform) -> Uniform {
        let value = one.either(other, self.value);
        let (Some(a), Some(b)) = (one.known, other.known) else {
            return value;
        };
        let indices = &values.indices;
        let (Some(of_one), Some(of_other)) = (indices.list(a), indices.list(b)) else {
            return value;
        };
        let cause = one.limit().cause.or(other.limit().cause);
        if a == b {
            let list = of_one.clone();
            return values.of_list(list, cause);
        }
        if let Some(truths) = &self.truths {
            let chosen = indices.evaluate(|t| match truths.at(t)?.is_true() {
                true => of_one.at(t),
                false => of_other.at(t),
            });
            let cause = cause.or(self.value.limit().cause);
            return chosen.map_or(value, |list| values.of_list(list, cause));
        }
        match (of_one, of_other) {
            // As divergent as the condition.
            (List::Same(_), List::Same(_)) => self.value.with(None),
            _ => value,
        }
    }
}
