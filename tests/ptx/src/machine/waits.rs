//! How a warp executes instructions that may have to wait for other threads or for asynchronous
//! operations, and what it then waits for.

use super::asynchronous::decode::Instruction;
use super::asynchronous::execute::{self, Active, Outcome};
use super::matrix::{self, Matrix};
use super::paths::{Path, Wait};
use super::registers::Mask;
use super::step::Step;
use super::warp::{Flow, Warp};
use super::world::{Fault, World};

impl<'a> Warp<'a> {
    pub fn asynchronous(
        &mut self,
        path: &mut Path,
        instruction: &Instruction,
        active: Mask,
        world: &mut World<'_>,
    ) -> Result<Flow, Fault> {
        let outcome = instruction.execute(&mut self.active(path, active), world);
        match outcome.map_err(|error| self.failed(path, error, world))? {
            Outcome::Done => {
                path.pc += 1;
                Ok(Flow::Goes)
            }
            Outcome::Waits => Ok(self.waits_for_others(path, active, world)),
        }
    }

    pub fn matrix(
        &mut self,
        path: &mut Path,
        matrix: &'a Matrix,
        active: Mask,
        world: &mut World<'_>,
    ) -> Result<Flow, Fault> {
        if active != 0 && !matrix::execute(self, path, matrix, active, world)? {
            return Ok(self.waits_for_others(path, active, world));
        }
        path.pc += 1;
        Ok(Flow::Goes)
    }

    fn waits_for_others(&mut self, path: &mut Path, active: Mask, world: &mut World<'_>) -> Flow {
        self.retract(path, active, world);
        path.waits = Some(Wait::Others);
        Flow::Pauses
    }

    /// The instruction is executed again: it counts once, when it is done.
    pub fn retract(&mut self, path: &Path, active: Mask, world: &mut World<'_>) {
        self.counts.warp_instructions -= 1;
        self.counts.thread_instructions -= u64::from(active.count_ones());
        if let Some(counter) = &mut world.counter {
            let code = self.frames[path.frame].code;
            counter.retract(code.first_site + path.pc as u32, active);
        }
    }

    fn active(&mut self, path: &Path, mask: Mask) -> Active<'_> {
        let frame = &mut self.frames[path.frame];
        Active {
            registers: &mut frame.registers,
            mask,
            live: self.live,
            frame: frame.base,
            warp: self.index as usize,
            at: path.pc,
            site: frame.code.first_site + path.pc as u32,
            clock: &mut self.clock,
        }
    }

    /// For reports: what a path waits for.
    pub fn describe(&mut self, path: &Path, world: &mut World<'_>) -> String {
        let code = self.frames[path.frame].code;
        match (&code.steps[path.pc].step, path.waits) {
            (_, Some(Wait::Barrier)) => "at a barrier".to_owned(),
            (_, Some(Wait::Lanes)) => "for other lanes of the warp".to_owned(),
            (Step::Asynchronous(instruction), Some(Wait::Others)) => {
                execute::describe_wait(instruction, &self.active(path, path.mask), world)
            }
            (Step::Matrix(_), Some(Wait::Others)) => matrix::describe_wait(self, world),
            _ => "running".to_owned(),
        }
    }
}
