//! The map.

use std::borrow::Borrow;
use std::fmt;
use std::ops::RangeInclusive;
use std::slice;
use std::vec;

/// A map in the order of its keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V> {
    /// In ascending order of keys, which are distinct.
    entries: Vec<(K, V)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> SortedMap<K, V> {
    pub const fn new() -> Self {
        let entries = Vec::new();
        SortedMap { entries }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }

    pub fn iter(&self) -> slice::Iter<'_, (K, V)> {
        self.entries.iter()
    }

    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> {
        self.entries.into_iter().map(|(key, _)| key)
    }

    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "positions are of the search in the same list just before"
)]
impl<K: Ord, V> SortedMap<K, V> {
    /// Where the key is, or where it would be.
    fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries
            .binary_search_by(|entry| entry.0.borrow().cmp(key))
    }

    /// The same, at once for a key after all others.
    fn search_from_end(&self, key: &K) -> Result<usize, usize> {
        match self.entries.last() {
            Some((last, _)) if last < key => Err(self.entries.len()),
            _ => self.search(key),
        }
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.search(key).is_ok()
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.search(key) {
            Ok(at) => Some(&self.entries[at].1),
            Err(_) => None,
        }
    }

    /// With the key that the map has.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&(K, V)>
    where
        K: Borrow<Q>,
    {
        match self.search(key) {
            Ok(at) => Some(&self.entries[at]),
            Err(_) => None,
        }
    }

    /// The entries between two keys, both included.
    pub fn range(&self, keys: RangeInclusive<&K>) -> &[(K, V)] {
        let (Ok(first) | Err(first)) = self.search(*keys.start());
        let last = match self.search(*keys.end()) {
            Ok(last) => last + 1,
            Err(last) => last,
        };
        self.entries.get(first..last).unwrap_or_default()
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self.search(key) {
            Ok(at) => Some(&mut self.entries[at].1),
            Err(_) => None,
        }
    }

    /// Returns the value that the key had. The map keeps the first of several equal keys.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.search_from_end(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (key, value));
                None
            }
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self.search(key) {
            Ok(at) => Some(self.entries.remove(at).1),
            Err(_) => None,
        }
    }

    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let found = self.search_from_end(&key);
        Entry {
            map: self,
            key,
            found,
        }
    }
}

/// A place for one key's value.
pub struct Entry<'m, K, V> {
    map: &'m mut SortedMap<K, V>,
    key: K,
    found: Result<usize, usize>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "the position is of the search in the same map, which the entry borrows"
)]
impl<'m, K, V> Entry<'m, K, V> {
    pub fn or_insert_with_key(self, value: impl FnOnce(&K) -> V) -> &'m mut V {
        let (Ok(at) | Err(at)) = self.found;
        if self.found.is_err() {
            let value = value(&self.key);
            self.map.entries.insert(at, (self.key, value));
        }
        &mut self.map.entries[at].1
    }

    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        self.or_insert_with_key(|_| value())
    }

    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Ok(at) = self.found {
            change(&mut self.map.entries[at].1);
        }
        self
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, more: I) {
        for (key, value) in more {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<'m, K, V> IntoIterator for &'m SortedMap<K, V> {
    type Item = &'m (K, V);
    type IntoIter = slice::Iter<'m, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (key, value) in self {
            map.entry(key, value);
        }
        map.finish()
    }
}
