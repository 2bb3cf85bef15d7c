//! The device's memory, which one thread uses at a time.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use croq_ptx::machine::{Global, Host};

use crate::mirror::Mirrors;

/// A mutex's content, also after a panic of another thread.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Global memory with the host memory that is mapped there.
#[derive(Default)]
pub struct Memory {
    state: Mutex<State>,
    changed: Condvar,
    pub mirrors: Mutex<Mirrors>,
}

/// Threads use the memory in the order in which they ask for it.
#[derive(Default)]
struct State {
    global: Option<Global>,
    asked: u64,
    served: u64,
}

impl Memory {
    /// Waits until no other thread uses the memory.
    pub fn take(&self) -> Taken<'_> {
        Taken {
            memory: self,
            global: self.acquire(),
        }
    }

    fn acquire(&self) -> Global {
        let mut state = locked(&self.state);
        let ticket = state.asked;
        state.asked += 1;
        while state.served != ticket {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut global = state.global.take().unwrap_or_default();
        drop(state);
        locked(&self.mirrors).fetch(&mut global);
        global
    }

    fn release(&self, mut global: Global) {
        locked(&self.mirrors).flush(&mut global);
        let mut state = locked(&self.state);
        state.global = Some(global);
        state.served += 1;
        self.changed.notify_all();
    }

    fn is_awaited(&self) -> bool {
        let state = locked(&self.state);
        state.asked > state.served + 1
    }
}

/// The memory while a thread uses it.
pub struct Taken<'a> {
    memory: &'a Memory,
    global: Global,
}

impl Deref for Taken<'_> {
    type Target = Global;

    fn deref(&self) -> &Global {
        &self.global
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut Global {
        &mut self.global
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.memory.release(std::mem::take(&mut self.global));
    }
}

/// The host beside one launch: between time slices it lets other threads use the memory.
pub struct Beside<'a> {
    memory: &'a Memory,
    has_failed: &'a (dyn Fn() -> bool + Sync),
    pub printed: Vec<u8>,
    pauses: usize,
}

impl<'a> Beside<'a> {
    /// The launch ends when `has_failed`.
    pub fn new(memory: &'a Memory, has_failed: &'a (dyn Fn() -> bool + Sync)) -> Beside<'a> {
        Beside {
            memory,
            has_failed,
            printed: Vec::new(),
            pauses: 0,
        }
    }
}

impl Host for Beside<'_> {
    fn print(&mut self, text: &[u8]) {
        self.printed.extend(text);
    }

    fn pause(&mut self, global: &mut Global) -> Result<(), String> {
        self.pauses += 1;
        if (self.has_failed)() {
            return Err("another launch has failed".to_owned());
        }
        if self.memory.is_awaited() {
            self.memory.release(std::mem::take(global));
            *global = self.memory.acquire();
            return Ok(());
        }
        let mut mirrors = locked(&self.memory.mirrors);
        // Large mirrors would take longer than a time slice.
        if self.pauses.is_multiple_of(1 + mirrors.bytes() / 65536) {
            mirrors.flush(global);
            mirrors.fetch(global);
        }
        Ok(())
    }
}
