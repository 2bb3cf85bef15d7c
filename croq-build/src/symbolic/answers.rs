//! Answers that were given already.

use std::cell::RefCell;
use std::fmt;
use std::hash::Hash;

use super::hash::TermMap;
use super::sym::{Sym, Var};
use super::truth::Truth;

/// What has been asked under the same facts. Passes ask again what `sema` and other passes have
/// asked, and each access of a loop asks for the same bounds. The owner of the facts clears this
/// when they change; a copy begins without answers.
#[derive(Default)]
pub(super) struct Answers {
    pub nonneg: Memo<Sym, Truth>,
    pub zero: Memo<Sym, Truth>,
    pub divides: Memo<(Sym, Sym), Truth>,
    pub constant_divisor: Memo<Sym, Option<i64>>,
    pub least: Memo<Sym, Option<i64>>,
    pub greatest: Memo<Sym, Option<i64>>,
    pub simplified: Memo<Sym, Sym>,
    /// Operands that were simplified within an expression.
    pub operands: Memo<Sym, Sym>,
    pub folded: Folded,
    /// The same by little work: what is not folded here may be folded by more.
    pub quickly_folded: Folded,
    pub substituted: Memo<(Sym, Var, Sym), Sym>,
    pub at_another_value: Memo<(Sym, Var, Sym), Sym>,
}

/// Results of the constructors of atoms.
#[derive(Default)]
pub(super) struct Folded {
    pub quotient: Memo<(Sym, Sym), Sym>,
    pub remainder: Memo<(Sym, Sym), Sym>,
    pub lesser: Memo<(Sym, Sym), Sym>,
    pub greater: Memo<(Sym, Sym), Sym>,
}

impl Clone for Answers {
    fn clone(&self) -> Answers {
        Answers::default()
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers")
    }
}

/// The results of one function.
pub(super) struct Memo<K, V>(RefCell<TermMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo(RefCell::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// The result for `key`, found by `find` the first time.
    pub fn of(&self, key: K, find: impl FnOnce(&K) -> V) -> V {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let found = find(&key);
        self.0.borrow_mut().insert(key, found.clone());
        found
    }

    pub fn get(&self, key: &K) -> Option<V> {
        self.0.borrow().get(key).cloned()
    }

    pub fn keep(&self, key: K, found: &V) {
        self.0.borrow_mut().insert(key, found.clone());
    }
}
