//! Modules, buffers and launches.

use std::collections::BTreeSet;
use std::fmt;

use super::access::Place;
use super::block::{Progress, Surroundings};
use super::count::{Counter, Profile};
use super::global::Global;
use super::group::{self, Group, GroupFault};
use super::image::Image;
use super::limits::{check, cluster_of, registers_at_entry};
use super::memory::{Arena, Window};
use super::order::Order;
use super::program::Program;
use super::report::Report;
use super::world::{Asynchrony, Checks, Counts, Host, Launch, Related, Terminal};
use crate::parse::{Function, Module, ParseError};

/// A device with one module, and its global memory.
pub struct Machine {
    program: Program,
    global: Global,
}

/// A module that cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    Parse(ParseError),
    /// A variable whose initial value cannot be computed.
    Variable(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Parse(error) => error.fmt(f),
            LoadError::Variable(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for LoadError {}

impl Default for Launch {
    fn default() -> Launch {
        Launch {
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            is_cooperative: false,
            cluster: None,
            seed: 0,
            asynchrony: Asynchrony::default(),
            instruction_limit: 1 << 32,
            checks: Checks {
                races: true,
                unwritten: true,
            },
        }
    }
}

impl Machine {
    /// # Errors
    ///
    /// The text is no PTX, or a variable's initial value names an unknown symbol.
    pub fn load(text: &str) -> Result<Machine, LoadError> {
        let mut global = Global::default();
        let program = Program::load(text, &mut global)?;
        Ok(Machine { program, global })
    }

    pub fn module(&self) -> &Module {
        &self.program.module
    }

    /// The instruction forms that threads have executed so far.
    pub fn executed(&self) -> BTreeSet<String> {
        self.program.executed()
    }

    /// The lines of the PTX text with instructions that threads have executed so far.
    pub fn executed_lines(&self) -> BTreeSet<u32> {
        self.program.executed_lines()
    }

    /// A buffer of zeros in global memory. The name is for reports.
    pub fn allocate(&mut self, name: &str, bytes: usize) -> u64 {
        self.global.allocate(name, bytes, 256)
    }

    /// As [`Machine::allocate`], but until a byte is written, results that depend on it are reported.
    pub fn allocate_unwritten(&mut self, name: &str, bytes: usize) -> u64 {
        let address = self.allocate(name, bytes);
        // The new allocation has all of these bytes.
        let _ = self.global.forget(address, bytes as u64);
        address
    }

    /// The first of the bytes that nothing has written.
    pub fn first_unwritten(&self, address: u64, bytes: usize) -> Option<u64> {
        self.global.first_unwritten(address, bytes as u64)
    }

    /// # Errors
    ///
    /// The address is not that of a buffer.
    pub fn free(&mut self, address: u64) -> Result<(), String> {
        self.global.free(address)
    }

    /// # Errors
    ///
    /// The bytes are not inside of one buffer.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.global
            .get_mut(address, bytes.len() as u64, 1)?
            .copy_from_slice(bytes);
        Ok(())
    }

    /// # Errors
    ///
    /// The bytes are not inside of one buffer.
    pub fn read(&self, address: u64, bytes: usize) -> Result<&[u8], String> {
        self.global.get(address, bytes as u64, 1)
    }

    /// The address of a global variable of the module.
    pub fn variable(&self, name: &str) -> Option<u64> {
        match self.program.symbols.get(name)? {
            Place::Fixed(Window::Global, start) => Some(*start),
            _ => None,
        }
    }

    /// Executes an entry; each argument is the bytes of one formal parameter.
    ///
    /// # Errors
    ///
    /// What a thread did that the ISA leaves undefined or this machine does not implement, a
    /// deadlock, or a launch that does not fit the entry.
    pub fn launch(
        &mut self,
        entry: &str,
        launch: &Launch,
        arguments: &[&[u8]],
    ) -> Result<Counts, Report> {
        let call = EntryCall {
            entry,
            launch,
            arguments,
        };
        self.program.launch(&call, &mut self.global, &mut Terminal)
    }

    /// As [`Machine::launch`], and counts what is executed.
    ///
    /// # Errors
    ///
    /// As [`Machine::launch`].
    pub fn count(
        &mut self,
        entry: &str,
        launch: &Launch,
        arguments: &[&[u8]],
    ) -> Result<Profile, Report> {
        let call = EntryCall {
            entry,
            launch,
            arguments,
        };
        self.program.count(&call, &mut self.global, &mut Terminal)
    }
}

/// An entry with its arguments: each is the bytes of one formal parameter.
#[derive(Clone, Copy, Debug)]
pub struct EntryCall<'a> {
    pub entry: &'a str,
    pub launch: &'a Launch,
    pub arguments: &'a [&'a [u8]],
}

impl Program {
    /// Executes an entry.
    ///
    /// # Errors
    ///
    /// As [`Machine::launch`].
    pub fn launch(
        &self,
        call: &EntryCall<'_>,
        global: &mut Global,
        host: &mut dyn Host,
    ) -> Result<Counts, Report> {
        self.run(call, global, host, None)
    }

    /// As [`Program::launch`], with a counter of what is executed.
    pub(super) fn run(
        &self,
        call: &EntryCall<'_>,
        global: &mut Global,
        host: &mut dyn Host,
        counter: Option<&mut Counter>,
    ) -> Result<Counts, Report> {
        let EntryCall {
            entry,
            launch,
            arguments,
        } = *call;
        let image = self.image(entry);
        let image = image.map_err(|message| Report::of_launch(entry, message))?;
        let prepared = self.entry(entry).and_then(|function| {
            let cluster = cluster_of(function, launch)?;
            check(function, launch, &image)?;
            let registers = registers_at_entry(function);
            Ok((cluster, registers, parameters(function, &image, arguments)?))
        });
        let (cluster, registers, parameters) =
            prepared.map_err(|message| Report::of_launch(entry, message))?;
        let launch = &Launch { cluster, ..*launch };
        let cluster_blocks = cluster.unwrap_or([1; 3]).iter().product();
        let mut around = Surroundings {
            global,
            constants: &self.constants(),
            parameters: &parameters,
            launch,
            order: launch.checks.races.then(|| Order::new(cluster_blocks)),
            counter,
            host,
            registers,
        };
        let done = execute(&image, entry, &mut around);
        done.map_err(|(block, fault)| {
            // A race of an operation that happens when no thread waits for it.
            let race = around.order.as_mut().and_then(|order| order.failure());
            let race = race.map(|found| Box::new(Related::of_race(&found)));
            let related = fault.fault.related.clone().or(race);
            let function = fault.fault.function.clone();
            let mut report = self.report(block, fault);
            report.related =
                related.map(|related| self.related(&image, launch, *related, function).into());
            report
        })
    }
}

fn parameters(function: &Function, image: &Image, arguments: &[&[u8]]) -> Result<Arena, String> {
    let formal = &function.parameters;
    if formal.len() != arguments.len() {
        return Err(format!(
            "{} arguments for {} parameters",
            arguments.len(),
            formal.len()
        ));
    }
    let mut arena = Arena::new(Window::Param, image.parameters.clone());
    for (index, (variable, bytes)) in formal.iter().zip(arguments).enumerate() {
        if variable.bytes() != bytes.len() as u64 {
            let (has, wants) = (bytes.len(), variable.bytes());
            return Err(format!(
                "parameter {index} has {wants} bytes, its argument {has}"
            ));
        }
        let start = image.parameters.address(&variable.name).unwrap_or(0);
        arena
            .get_mut(start, variable.bytes(), 1)?
            .copy_from_slice(bytes);
    }
    Ok(arena)
}

/// Clusters one after the other, or all of them in time slices.
fn execute(
    image: &Image,
    entry: &str,
    around: &mut Surroundings<'_>,
) -> Result<Counts, GroupFault> {
    let launch = around.launch;
    let entry = image
        .functions
        .get_key_value(entry)
        .map_or("", |(name, _)| name.as_str());
    let mut counts = Counts::default();
    let mut firsts = group::first_blocks(launch);
    if launch.is_cooperative {
        let mut groups: Vec<_> = firsts
            .map(|first| Group::new(image, entry, first, around))
            .collect();
        run_together(&mut groups, around, &mut counts)?;
        return Ok(counts);
    }
    firsts.try_for_each(|first| {
        let mut group = [Group::new(image, entry, first, around)];
        run_together(&mut group, around, &mut counts)
    })?;
    Ok(counts)
}

/// Adds what they executed to `counts`.
fn run_together(
    groups: &mut [Group<'_>],
    around: &mut Surroundings<'_>,
    counts: &mut Counts,
) -> Result<(), GroupFault> {
    let limit = around.launch.instruction_limit;
    loop {
        let (mut any_runs, mut executed) = (false, Counts::default());
        for group in groups.iter_mut() {
            if !group.has_exited() {
                let progress = group.run(around)?;
                any_runs |= progress == Progress::Runs;
            }
            executed.warp_instructions += group.counts().warp_instructions;
            executed.thread_instructions += group.counts().thread_instructions;
        }
        let Some(stuck) = groups.iter().position(|group| !group.has_exited()) else {
            counts.warp_instructions += executed.warp_instructions;
            counts.thread_instructions += executed.thread_instructions;
            return Ok(());
        };
        if counts.warp_instructions + executed.warp_instructions > limit {
            let message = format!("the launch goes on after {limit} warp instructions");
            return Err(groups[stuck].fault(message));
        }
        if let Err(message) = around.host.pause(around.global) {
            return Err(groups[stuck].fault(message));
        }
        if any_runs {
            continue;
        }
        let mut may_go_on = false;
        for group in groups.iter_mut().filter(|group| !group.has_exited()) {
            may_go_on |= group.stalls(around)?;
        }
        if !may_go_on {
            return Err(groups[stuck].deadlock(around));
        }
    }
}
