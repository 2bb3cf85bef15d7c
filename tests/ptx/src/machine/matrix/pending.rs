//! Products of a warp that are issued and not waited for, and the registers that they own
//! (`wgmma.fence`, `wgmma.commit_group`, `wgmma.wait_group`).
//!
//! Only 32-bit registers take part. A fragment of A that several pending products read is no
//! report: nothing writes it.
//!
//! ISA, `wgmma.mma_async`: to access an accumulator before `wgmma.wait_group` is undefined. One access is
//! allowed, because Triton's kernels with f16 sums have it and are right on hardware: a move that takes
//! an accumulator apart into registers of 16 bits, which are other names of its halves. Until the wait
//! they belong to the product, too.

use std::collections::VecDeque;

use super::super::operands::Operands;
use super::super::order::Operation;
use super::super::registers::{Bank, Slot};
use super::wgmma::{Inputs, Wgmma};

/// A product that is not waited for.
pub struct Issued<'a> {
    pub wgmma: &'a Wgmma,
    pub inputs: Inputs,
    pub frame: usize,
    /// The function and the instruction, for reports.
    pub function: &'a str,
    pub instruction: Option<usize>,
    pub is_executed: bool,
    /// For the detection of races.
    pub operation: Option<Operation>,
}

#[derive(Default)]
pub struct Products<'a> {
    /// Not committed.
    open: Vec<Issued<'a>>,
    groups: VecDeque<Vec<Issued<'a>>>,
    /// A `wgmma.fence` was executed.
    pub is_fenced: bool,
    /// The warp is at a `wgmma.wait_group` for so many groups of its warpgroup.
    pub awaited: Option<u64>,
    /// For modes by seed: how many decisions were made.
    pub decisions: u64,
}

impl<'a> Products<'a> {
    pub fn is_pending(&self) -> bool {
        !self.open.is_empty() || !self.groups.is_empty()
    }

    pub fn issue(&mut self, issued: Issued<'a>) {
        self.open.push(issued);
    }

    pub fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// The n-th group from the oldest on.
    pub fn group(&mut self, nth: usize) -> &mut [Issued<'a>] {
        self.groups.get_mut(nth).map_or(&mut [], Vec::as_mut_slice)
    }

    pub fn take_oldest_group(&mut self) -> Vec<Issued<'a>> {
        self.groups.pop_front().unwrap_or_default()
    }

    /// The oldest product that is not executed.
    pub fn next(&mut self) -> Option<&mut Issued<'a>> {
        let all = self.groups.iter_mut().flatten().chain(&mut self.open);
        all.into_iter().find(|issued| !issued.is_executed)
    }
}

/// What is known of each 32-bit register of an activation of a function.
#[derive(Clone, Default, Debug)]
pub struct Tracker {
    states: Vec<State>,
    /// Halves of accumulators of pending products, and of which.
    halves: Vec<(Slot, usize)>,
}

/// What an instruction does to pending products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Nothing,
    /// It names the halves of an accumulator.
    Halves,
}

#[derive(Clone, Copy, Default, Debug)]
struct State {
    /// By other instructions, since the last fence.
    is_written: bool,
    is_read: bool,
    /// Pending products that accumulate in it, and that read a fragment of A from it.
    accumulating: u32,
    reading: u32,
    /// Of products that have accumulated in it since the last fence, or are pending.
    shape: Option<(usize, usize)>,
}

impl Tracker {
    fn state(&mut self, index: usize) -> &mut State {
        if self.states.len() <= index {
            self.states.resize(index + 1, State::default());
        }
        &mut self.states[index]
    }

    /// An instruction that is no product is executed.
    ///
    /// # Errors
    ///
    /// It accesses a register of a pending product.
    pub fn observe(&mut self, operands: &Operands) -> Result<Access, String> {
        let narrow = |slot: &&Slot| slot.bank == Bank::B32;
        let mut access = Access::Nothing;
        if !self.halves.is_empty() {
            self.observe_halves(operands)?;
        }
        for slot in operands.read.iter().filter(narrow) {
            let state = self.state(slot.index);
            if operands.takes_apart && state.accumulating > 0 {
                access = Access::Halves;
            } else if state.accumulating + state.reading > 0 {
                return Err(accessed("read", state));
            }
            state.is_read = true;
            if access == Access::Halves {
                let halves = operands.written.iter().map(|half| (*half, slot.index));
                self.halves.extend(halves);
            }
        }
        for slot in operands.written.iter().filter(narrow) {
            let state = self.state(slot.index);
            if state.accumulating + state.reading > 0 {
                return Err(accessed("written", state));
            }
            state.is_written = true;
        }
        Ok(access)
    }

    fn observe_halves(&mut self, operands: &Operands) -> Result<(), String> {
        let is_half = |slot: &Slot| self.halves.iter().any(|(half, _)| half == slot);
        for (how, slots) in [("read", &operands.read), ("written", &operands.written)] {
            if slots.iter().any(is_half) {
                return Err(format!(
                    "a register is {how} that is half of the accumulator of {PENDING}"
                ));
            }
        }
        Ok(())
    }

    pub fn fence(&mut self) {
        for state in &mut self.states {
            state.is_written = false;
            state.is_read = false;
            if state.accumulating == 0 {
                state.shape = None;
            }
        }
    }

    /// A product takes its registers.
    ///
    /// # Errors
    ///
    /// Another one has them, or a fence is missing.
    pub fn issue(&mut self, wgmma: &Wgmma) -> Result<(), String> {
        const UNFENCED: &str = "was accessed since the last `wgmma.fence`";
        let shape = wgmma.shape();
        for (position, index) in wgmma.d.fragment.registers.iter().enumerate() {
            let state = self.state(*index);
            let problem = if state.reading > 0 {
                Some("is a fragment of A of a pending product")
            } else if state.shape.is_some_and(|known| known != shape) {
                Some(match state.accumulating {
                    0 => "is of a product of another shape, since the last `wgmma.fence`",
                    _ => "is the accumulator of a pending product of another shape",
                })
            } else if state.is_written || state.is_read {
                Some(UNFENCED)
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(format!("accumulator register {position} {problem}"));
            }
            state.accumulating += 1;
            state.shape = Some(shape);
        }
        for (position, index) in wgmma.inputs().iter().enumerate() {
            let state = self.state(*index);
            let problem = if state.accumulating > 0 {
                Some("is the accumulator of a pending product")
            } else if state.is_written || state.shape.is_some() {
                Some(UNFENCED)
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(format!("register {position} of A {problem}"));
            }
            state.reading += 1;
        }
        Ok(())
    }

    /// A product gives its registers back.
    pub fn complete(&mut self, wgmma: &Wgmma) {
        for index in &wgmma.d.fragment.registers {
            let state = self.state(*index);
            state.accumulating -= 1;
            if state.accumulating == 0 {
                self.halves.retain(|(_, of)| of != index);
            }
        }
        for index in wgmma.inputs() {
            self.state(*index).reading -= 1;
        }
    }
}

const PENDING: &str = "a `wgmma` which is not waited for";

fn accessed(how: &str, state: &State) -> String {
    let what = if state.accumulating > 0 {
        "the accumulator"
    } else {
        "a fragment of A"
    };
    format!("a register is {how} that is {what} of {PENDING}")
}
