//! What went wrong, and where.

use std::fmt;

use super::block::BlockFault;
use super::cluster;
use super::image::Image;
use super::program::Program;
use super::world::{Fault, Launch, Related, RelatedPlace};
use crate::parse;

/// A launch that failed, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    pub message: String,
    /// The entry or device function.
    pub function: String,
    /// Line of the PTX text, and the instruction's opcode with its modifiers.
    pub instruction: Option<(u32, String)>,
    /// File and line of the source: of the function as it was written, and of the innermost of the
    /// functions that were inlined there.
    pub source: Option<(String, u32)>,
    pub innermost: Option<(String, u32)>,
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
    /// The earlier access of a race.
    pub related: Option<Box<Report>>,
}

impl Report {
    pub fn of_launch(entry: &str, message: String) -> Report {
        Report {
            message,
            function: entry.to_owned(),
            instruction: None,
            source: None,
            innermost: None,
            block: None,
            thread: None,
            related: None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  in `{}`", self.message, self.function)?;
        if let Some((line, mnemonic)) = &self.instruction {
            write!(f, ", `{mnemonic}` in line {line} of the PTX")?;
        }
        if let Some((file, line)) = &self.source {
            write!(f, "\n  at {file}:{line}")?;
        }
        if let Some((file, line)) = &self.innermost
            && self.innermost != self.source
        {
            write!(f, ", in {file}:{line}")?;
        }
        if let (Some(block), Some(thread)) = (self.block, self.thread) {
            write!(f, "\n  block {block:?}, thread {thread:?}")?;
        }
        if let Some(related) = &self.related {
            write!(f, "\n{related}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

impl Program {
    /// Another instruction or a register that an error is about.
    pub fn related(
        &self,
        image: &Image,
        launch: &Launch,
        related: Related,
        function: String,
    ) -> Report {
        let at = |linear: u32, [x, y, _]: [u32; 3]| [linear % x, linear / x % y, linear / (x * y)];
        let mut message = related.message;
        let (function, instruction) = match related.place {
            RelatedPlace::Site(site) => {
                let (name, instruction) = image.site(site).unwrap_or(("", None));
                (name.to_owned(), instruction)
            }
            RelatedPlace::Register(slot) => {
                let code = image.functions.get(&function);
                let index = code.and_then(|code| code.assignment.register(slot));
                let mut named = self
                    .module
                    .functions
                    .iter()
                    .filter(|known| known.name == function);
                let body = named.find_map(|function| function.body.as_ref());
                let register = index.and_then(|index| body?.registers.get(index));
                if let Some((name, _)) = register {
                    message = format!("{message}: `{name}`");
                }
                (function, None)
            }
        };
        let fault = Fault {
            function,
            instruction,
            lane: 0,
            message,
            related: None,
        };
        let thread = related.thread.map(|thread| at(thread, launch.block));
        let block = cluster::block_index(related.block, launch);
        let mut report = self.report(
            block,
            BlockFault {
                thread: thread.unwrap_or_default(),
                fault,
            },
        );
        report.thread = thread;
        report
    }

    pub fn report(&self, block: [u32; 3], found: BlockFault) -> Report {
        let BlockFault { fault, thread } = found;
        // A function may be declared before it is defined.
        let mut named = self
            .module
            .functions
            .iter()
            .filter(|known| known.name == fault.function);
        let body = named.find_map(|function| function.body.as_ref());
        let instruction = fault.instruction.and_then(|at| body?.instructions.get(at));
        let place = instruction.and_then(|instruction| instruction.place);
        let located = |location: parse::Location| {
            let file = self.module.files.get(&location.file)?;
            Some((file.clone(), location.line))
        };
        Report {
            message: fault.message,
            function: fault.function,
            instruction: instruction.map(|found| (found.line, found.mnemonic.to_string())),
            source: place.and_then(|place| located(place.outermost)),
            innermost: place.and_then(|place| located(place.location)),
            block: Some(block),
            thread: Some(thread),
            related: None,
        }
    }
}
