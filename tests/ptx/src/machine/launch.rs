//! Modules, buffers and launches.

use std::collections::BTreeSet;
use std::fmt;

use super::access::Place;
use super::block::{BlockFault, Progress, Surroundings};
use super::cluster;
use super::group::{self, Group, GroupFault};
use super::image::Image;
use super::memory::{Arena, Global, Window};
use super::order::Order;
use super::program::Program;
use super::world::{
    Asynchrony, Checks, Counts, Fault, Host, Launch, Related, RelatedPlace, Terminal,
};
use crate::parse::{self, Function, Module, ParseError};

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
    fn of_launch(entry: &str, message: String) -> Report {
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

/// Shared memory of a block of an H100, without the KiB that is reserved.
const SHARED_BYTES: u64 = 227 * 1024;

/// 32 blocks on each of the 132 multiprocessors of an H100.
const COOPERATIVE_BLOCKS: u64 = 32 * 132;

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

    /// Another instruction or a register that an error is about.
    fn related(
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

    fn report(&self, block: [u32; 3], found: BlockFault) -> Report {
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

/// Whether the device would accept the launch.
fn check(function: &Function, launch: &Launch, image: &Image) -> Result<(), String> {
    let Launch { grid, block, .. } = launch;
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    let limits = &function.limits;
    let most = limits
        .max_threads
        .map_or(1024, |extents| extents.iter().product());
    if threads == 0 || threads > u64::from(most) || block[2] > 64 {
        return Err(format!(
            "a block of {block:?} threads, where at most {most} are allowed"
        ));
    }
    if limits
        .required_threads
        .is_some_and(|required| required != *block)
    {
        return Err(format!(
            "a block of {block:?} threads, where `.reqntid` demands another"
        ));
    }
    if grid.contains(&0) || grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
        return Err(format!("a grid of {grid:?} blocks"));
    }
    let blocks: u64 = grid.iter().map(|extent| u64::from(*extent)).product();
    if launch.is_cooperative && blocks > COOPERATIVE_BLOCKS {
        return Err(format!(
            "{blocks} blocks of a cooperative launch cannot run together"
        ));
    }
    let shared = image.dynamic_shared + u64::from(launch.dynamic_shared) - 1024;
    if shared > SHARED_BYTES {
        return Err(format!(
            "{shared} bytes of shared memory, where {SHARED_BYTES} are available"
        ));
    }
    Ok(())
}

/// Blocks that a cluster may have with the attribute for sizes that are not portable (CUDA
/// programming guide, "Thread Block Clusters").
const CLUSTER_BLOCKS: u32 = 16;

/// The blocks of a cluster: of the entry (`.reqnctapercluster`) or of the launch.
fn cluster_of(function: &Function, launch: &Launch) -> Result<Option<[u32; 3]>, String> {
    let limits = &function.limits;
    let cluster = match (limits.cluster, launch.cluster) {
        (Some(required), Some(cluster)) if required != cluster => {
            return Err(format!(
                "clusters of {cluster:?} blocks, where `.reqnctapercluster` demands {required:?}"
            ));
        }
        (required, given) => required.or(given),
    };
    let Some(cluster) = cluster else {
        return match limits.explicit_cluster {
            true => Err("a launch without clusters, where `.explicitcluster` demands them".into()),
            false => Ok(None),
        };
    };
    let blocks: u32 = cluster.iter().product();
    let most = limits.max_cluster_rank.unwrap_or(CLUSTER_BLOCKS);
    if blocks == 0 || blocks > most.min(CLUSTER_BLOCKS) {
        return Err(format!(
            "clusters of {cluster:?} blocks, where at most {most} are allowed"
        ));
    }
    let divides = |index: usize| launch.grid[index].is_multiple_of(cluster[index]);
    match (0..3).all(divides) {
        true => Ok(Some(cluster)),
        false => Err(format!(
            "a grid of {:?} blocks, which is no multiple of the cluster {cluster:?}",
            launch.grid
        )),
    }
}

/// Registers of a multiprocessor.
const REGISTERS: u32 = 65536;

/// Of a thread, for `setmaxnreg`: what the entry says, or what is left if the threads that it says
/// share a multiprocessor.
fn registers_at_entry(function: &Function) -> Option<u32> {
    let limits = &function.limits;
    if limits.max_registers.is_some() {
        return limits.max_registers;
    }
    let threads: u32 = limits
        .required_threads
        .or(limits.max_threads)?
        .iter()
        .product();
    let resident = threads.checked_mul(limits.min_blocks?)?;
    Some((REGISTERS.checked_div(resident)? / 8 * 8).min(256))
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
