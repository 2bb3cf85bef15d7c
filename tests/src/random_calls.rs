//! The results of calls of random programs.

use std::fmt::Debug;

use croq_sys::Result;

/// The results of calls.
#[derive(Default)]
pub struct Calls {
    /// The only program that is called, if there is one.
    pub only: Option<String>,
    /// The number of calls with the right result.
    pub right: usize,
    /// A message for each other call.
    pub wrong: Vec<String>,
}

impl Calls {
    /// Compares a program with its reference for some sizes. `difference`: the first one, if there is one.
    pub fn compare<S: Debug>(
        &mut self,
        name: &str,
        sizes: &[S],
        difference: impl Fn(&S) -> Result<Option<String>>,
    ) {
        if self.only.as_deref().is_some_and(|only| only != name) {
            return;
        }
        for size in sizes {
            match difference(size) {
                Ok(None) => self.right += 1,
                Ok(Some(wrong)) => self.wrong.push(format!("{name} of {size:?}: {wrong}")),
                Err(error) => self.wrong.push(format!("{name} of {size:?}: {error}")),
            }
        }
    }
}
