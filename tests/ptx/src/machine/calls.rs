//! Calls of functions, and their returns.

use super::marks::Marks;
use super::matrix::Tracker;
use super::paths::Path;
use super::print;
use super::registers::{Mask, Registers, lanes};
use super::spaces::Spaces;
use super::step::Call;
use super::warp::{Caller, Flow, Frame, Warp};
use super::world::{Fault, World};

/// Local memory of a thread (CUDA programming guide, technical specifications).
const LOCAL_BYTES: u64 = 512 * 1024;

const NESTED_CALLS: usize = 10_000;

impl<'a> Warp<'a> {
    pub fn returns(&mut self, path: &mut Path, active: Mask) -> Result<Flow, Fault> {
        let frame = &self.frames[path.frame];
        let end = frame.code.steps.len() - 1;
        let Some(caller) = &frame.caller else {
            return Ok(self.exits(path, active));
        };
        if path.pc != end {
            let decoded = &frame.code.steps[path.pc];
            return Ok(self.branch(path, decoded, active, end));
        }
        let (to, pc, call) = (caller.frame, caller.pc, caller.call);
        let (base, code) = (frame.base, frame.code);
        let caller_base = self.frames[to].base;
        for lane in lanes(path.mask) {
            let mut results = call.results.iter().zip(&code.results);
            let copied = results.try_for_each(|(target, (offset, bytes))| {
                self.local[lane].copy(base + offset, caller_base + target, *bytes)
            });
            copied.map_err(|message| self.fault(path, lane, message))?;
            self.local[lane].pop(base);
        }
        self.frames[path.frame].has_returned = true;
        while self.frames.last().is_some_and(|frame| frame.has_returned) {
            self.frames.pop();
        }
        path.frame = to;
        path.pc = pc;
        Ok(Flow::Goes)
    }

    pub fn calls(&mut self, path: &mut Path, call: &'a Call) -> Result<Flow, Fault> {
        let first = path.mask.trailing_zeros() as usize;
        let Some((name, code)) = self.image.functions.get_key_value(&call.callee) else {
            let message = format!("`{}` has no body", call.callee);
            return Err(self.fault(path, first, message));
        };
        if (call.arguments.len(), call.results.len()) != (code.parameters.len(), code.results.len())
        {
            return Err(self.fault(path, first, format!("`{name}` has other parameters")));
        }
        let caller_base = self.frames[path.frame].base;
        let ends = lanes(path.mask).map(|lane| self.local[lane].end());
        let base = ends.max().unwrap_or(0).next_multiple_of(16);
        if base + code.frame.end() > LOCAL_BYTES || self.frames.len() > NESTED_CALLS {
            let message = format!("too many nested calls: {base} bytes of local memory are used");
            return Err(self.fault(path, first, message));
        }
        for lane in lanes(path.mask) {
            self.local[lane].push(&code.frame, base);
            let mut arguments = call.arguments.iter().zip(&code.parameters);
            let copied = arguments.try_for_each(|(source, (offset, bytes))| {
                self.local[lane].copy(caller_base + source, base + offset, *bytes)
            });
            copied.map_err(|message| self.fault(path, lane, message))?;
        }
        self.frames.push(Frame {
            function: name,
            code,
            registers: Registers::new(&code.assignment),
            marks: Marks::new(&code.assignment, &code.unwritten),
            tracker: Tracker::default(),
            base,
            has_returned: false,
            caller: Some(Caller {
                frame: path.frame,
                pc: path.pc + 1,
                call,
            }),
        });
        path.frame = self.frames.len() - 1;
        path.pc = 0;
        Ok(Flow::Goes)
    }

    /// Of a function that the device provides.
    pub fn calls_system(
        &mut self,
        path: &mut Path,
        call: &Call,
        world: &mut World<'_>,
    ) -> Result<Flow, Fault> {
        let base = self.frames[path.frame].base;
        for lane in lanes(path.mask) {
            let mut spaces = Spaces {
                global: world.global,
                shared: world.shared,
                constants: world.constants,
                parameters: world.parameters,
                local: &mut self.local,
            };
            let text = print::call(call, &mut spaces, lane, base);
            let text = text.map_err(|message| self.fault(path, lane, message))?;
            world.host.print(&text);
        }
        path.pc += 1;
        Ok(Flow::Goes)
    }
}
