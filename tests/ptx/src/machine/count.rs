//! What a launch executes, by classes of instructions, and how many parts its requests to memory have.
//!
//! Off unless [`Program::count`] asks for it. A *request* is one instruction of a warp. In global memory
//! it has as many sectors as there are aligned 32-byte pieces with bytes of its lanes. In shared memory
//! it has as many wavefronts as the bank with the most different words has words: 32 banks, of which
//! bank i has the words with addresses 4·i modulo 128 (CUDA C++ programming guide, "Shared Memory"). With
//! more than four bytes for each lane, half of the warp or a quarter of it is served at a time. A bulk
//! copy of one lane is a request of its own; one for several blocks reads its source once. Not counted
//! are bytes of other blocks' shared memory, what asynchronous operations access in shared memory, and
//! that atomic operations on one address follow each other.

use std::collections::BTreeMap;
use std::fmt;

use super::global::Global;
use super::launch::EntryCall;
use super::limits::shared_bytes;
use super::memory::Window;
use super::program::Program;
use super::registers::{Mask, Row, lanes};
use super::report::Report;
use super::world::Host;
use crate::parse::{Mnemonic, Type};

/// Requests to a memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Requests {
    pub requests: u64,
    /// Sectors of global memory, wavefronts of shared memory.
    pub parts: u64,
    /// That lanes ask for.
    pub bytes: u64,
}

/// Executions of an instruction or of a class of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Executed {
    /// By warps, with at least one lane or without.
    pub warps: u64,
    /// By lanes.
    pub threads: u64,
    pub global: Requests,
    pub shared: Requests,
}

/// Products on tensor cores.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Products {
    /// Of a warp; four for one product of a warpgroup.
    pub warps: u64,
    /// As the shape says, with those that a sparse matrix leaves out.
    pub multiply_adds: u64,
}

/// Of launches of one kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Profile {
    pub kernel: String,
    pub launches: u64,
    /// Of all launches.
    pub blocks: u64,
    /// Of the largest block.
    pub threads: u64,
    /// Bytes of shared memory of the largest block.
    pub shared: u64,
    pub classes: BTreeMap<&'static str, Executed>,
    /// By instruction form.
    pub products: BTreeMap<String, Products>,
    /// Waits that have ended, of warps, by what they are for.
    pub waits: BTreeMap<&'static str, u64>,
}

impl Requests {
    fn add(&mut self, other: Requests) {
        self.requests += other.requests;
        self.parts += other.parts;
        self.bytes += other.bytes;
    }
}

impl Executed {
    fn add(&mut self, other: &Executed) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.global.add(other.global);
        self.shared.add(other.shared);
    }
}

/// By the numbers of instructions among those of all functions.
#[derive(Default, Debug)]
pub struct Counter {
    sites: Vec<Executed>,
}

const SECTOR: u64 = 32;
const WORD: u64 = 4;
const BANKS: usize = 32;

impl Counter {
    fn site(&mut self, site: u32) -> &mut Executed {
        let site = site as usize;
        if self.sites.len() <= site {
            self.sites.resize(site + 1, Executed::default());
        }
        &mut self.sites[site]
    }

    pub fn execute(&mut self, site: u32, active: Mask) {
        let counts = self.site(site);
        counts.warps += 1;
        counts.threads += u64::from(active.count_ones());
    }

    /// The instruction is executed again.
    pub fn retract(&mut self, site: u32, active: Mask) {
        let counts = self.site(site);
        counts.warps -= 1;
        counts.threads -= u64::from(active.count_ones());
    }

    /// An access of so many bytes by each lane. `own` is the address of a lane's bytes in the block's
    /// shared memory, if they are there.
    pub fn access(
        &mut self,
        site: u32,
        (window, bytes): (Window, u64),
        (addresses, mask): (&Row<u64>, Mask),
        own: impl Fn(u64) -> Option<u64>,
    ) {
        let (mut global, mut shared) = (Vec::new(), Vec::new());
        for lane in lanes(mask) {
            let (window, address) = match window {
                Window::Generic => Window::of_generic(addresses[lane]),
                window => (window, addresses[lane]),
            };
            match window {
                Window::Global => global.push(address),
                Window::Shared => shared.push((lane, address)),
                Window::Cluster => shared.extend(own(address).map(|address| (lane, address))),
                _ => {}
            }
        }
        let counts = self.site(site);
        if !global.is_empty() {
            counts.global.add(Requests {
                requests: 1,
                parts: pieces(global.iter().copied(), bytes, SECTOR).len() as u64,
                bytes: bytes * global.len() as u64,
            });
        }
        counts.shared.add(shared_request(&shared, bytes));
    }

    /// The parts of global memory, by their first bytes and sizes, that one asynchronous copy moves.
    pub fn copied(&mut self, site: u32, parts: &[(u64, u64)]) {
        let parts = parts.iter().filter(|(_, bytes)| *bytes > 0);
        let sectors = parts.clone().flat_map(|(start, bytes)| {
            let last = (start + bytes - 1) / SECTOR;
            start / SECTOR..=last
        });
        let mut sectors: Vec<u64> = sectors.collect();
        sectors.sort_unstable();
        sectors.dedup();
        if !sectors.is_empty() {
            self.site(site).global.add(Requests {
                requests: 1,
                parts: sectors.len() as u64,
                bytes: parts.map(|(_, bytes)| bytes).sum(),
            });
        }
    }

    /// Rows of matrices in shared memory, eight of 16 bytes for each matrix.
    pub fn rows(&mut self, site: u32, rows: &[u64]) {
        let rows: Vec<(usize, u64)> = rows.iter().copied().enumerate().collect();
        let request = shared_request(&rows, 16);
        self.site(site).shared.add(request);
    }
}

/// By lanes with their addresses.
fn shared_request(accesses: &[(usize, u64)], bytes: u64) -> Requests {
    if accesses.is_empty() {
        return Requests::default();
    }
    let together = BANKS / (bytes / WORD).max(1) as usize;
    let groups = accesses.chunk_by(|(a, _), (b, _)| a / together == b / together);
    let wavefronts = groups.map(|group| {
        let mut banks = [0; BANKS];
        for word in pieces(group.iter().map(|access| access.1), bytes, WORD) {
            banks[word as usize % BANKS] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    });
    Requests {
        requests: 1,
        parts: wavefronts.sum(),
        bytes: bytes * accesses.len() as u64,
    }
}

/// The numbers of the aligned pieces that have some of the bytes.
fn pieces(addresses: impl Iterator<Item = u64>, bytes: u64, size: u64) -> Vec<u64> {
    let ranges = addresses.map(|address| address / size..=(address + bytes - 1) / size);
    let mut pieces: Vec<u64> = ranges.flatten().collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// The class of an instruction.
fn class(mnemonic: &Mnemonic) -> &'static str {
    let memory = |names: [&'static str; 5]| {
        let word = mnemonic.modifiers.iter().find_map(|word| {
            let words = ["shared", "local", "param", "const"];
            words.iter().position(|known| word.starts_with(known))
        });
        names[word.map_or(0, |at| at + 1)]
    };
    match mnemonic.opcode.as_str() {
        "ld" => memory([
            "loads from global memory",
            "loads from shared memory",
            "loads from local memory",
            "loads of parameters",
            "loads of constants",
        ]),
        "st" => memory([
            "stores to global memory",
            "stores to shared memory",
            "stores to local memory",
            "stores of parameters",
            "stores of constants",
        ]),
        "atom" | "red" => memory(["atomic operations"; 5]),
        "mma" | "wgmma" => match mnemonic.types().next() {
            Some(_) => "matrix products",
            None => "synchronisation",
        },
        "ldmatrix" | "stmatrix" | "movmatrix" => "matrix transfers",
        "cp" => {
            let words = ["commit_group", "wait_group", "wait_all"];
            match words.iter().any(|word| mnemonic.has(word)) {
                true => "synchronisation",
                false => "asynchronous copies",
            }
        }
        "bar" | "barrier" | "mbarrier" | "membar" | "fence" | "griddepcontrol" => "synchronisation",
        "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => "exchanges in a warp",
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" => "control flow",
        "cvt" | "cvta" => "conversions",
        "mov" => "moves",
        "setp" | "set" | "selp" | "slct" => "comparisons and selections",
        "ex2" | "lg2" | "rcp" | "rsqrt" | "sqrt" | "sin" | "cos" | "tanh" | "div"
            if mnemonic.has("approx") || mnemonic.has("full") =>
        {
            "special functions"
        }
        "prefetch" | "createpolicy" | "nanosleep" | "setmaxnreg" | "mapa" => "others",
        _ => arithmetic(mnemonic.types().last()),
    }
}

fn arithmetic(ty: Option<Type>) -> &'static str {
    match ty {
        Some(Type::F64) => "arithmetic in f64",
        Some(Type::F32) => "arithmetic in f32",
        Some(Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => "arithmetic in 16 bits",
        Some(Type::Pred) => "logic of predicates",
        _ => "integer arithmetic",
    }
}

/// What an instruction waits for, if it waits.
fn waits_for(mnemonic: &Mnemonic) -> Option<&'static str> {
    let has = |word: &str| mnemonic.has(word);
    Some(match mnemonic.opcode.as_str() {
        "bar" if has("warp") => "barriers of lanes",
        "barrier" if has("cluster") => match has("wait") {
            true => "barriers of the cluster",
            false => return None,
        },
        "bar" | "barrier" if !has("arrive") => "barriers of the block",
        "mbarrier" if has("try_wait") || has("test_wait") => "mbarriers",
        "wgmma" if has("wait_group") => "groups of matrix products",
        "cp" if has("bulk") && has("wait_group") => "groups of bulk copies",
        "cp" if has("wait_group") || has("wait_all") => "groups of small copies",
        "griddepcontrol" if has("wait") => "grids before",
        _ => return None,
    })
}

/// The multiply-adds of a warp, from the shape.
fn multiply_adds(mnemonic: &Mnemonic) -> Option<u64> {
    let shape = |word: &str| {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let numbers = [m, n, k].map(|number| number.parse::<u64>().ok());
        numbers.into_iter().product::<Option<u64>>()
    };
    let all = mnemonic.modifiers.iter().find_map(|word| shape(word))?;
    match mnemonic.opcode.as_str() {
        "mma" => Some(all),
        // Each warp of the warpgroup executes the instruction, for a quarter of the rows.
        "wgmma" => Some(all / 4),
        _ => None,
    }
}

impl Profile {
    /// Of further launches of the kernel.
    pub fn add(&mut self, other: &Profile) {
        self.launches += other.launches;
        self.blocks += other.blocks;
        self.threads = self.threads.max(other.threads);
        self.shared = self.shared.max(other.shared);
        for (class, counts) in &other.classes {
            self.classes.entry(class).or_default().add(counts);
        }
        for (form, products) in &other.products {
            let known = self.products.entry(form.clone()).or_default();
            known.warps += products.warps;
            known.multiply_adds += products.multiply_adds;
        }
        for (what, count) in &other.waits {
            *self.waits.entry(what).or_default() += count;
        }
    }

    pub fn total(&self) -> Executed {
        let mut total = Executed::default();
        self.classes.values().for_each(|counts| total.add(counts));
        total
    }

    fn count(&mut self, mnemonic: &Mnemonic, counts: &Executed) {
        self.classes.entry(class(mnemonic)).or_default().add(counts);
        if let Some(each) = multiply_adds(mnemonic) {
            let known = self.products.entry(mnemonic.to_string()).or_default();
            known.warps += counts.warps;
            known.multiply_adds += counts.warps * each;
        }
        if let Some(what) = waits_for(mnemonic) {
            *self.waits.entry(what).or_default() += counts.warps;
        }
    }

    pub fn to_json(&self) -> String {
        let requests = |requests: Requests, parts: &str| {
            format!(
                "{{\"requests\": {}, \"{parts}\": {}, \"bytes\": {}}}",
                requests.requests, requests.parts, requests.bytes
            )
        };
        let classes = self.classes.iter().map(|(class, counts)| {
            format!(
                "    \"{class}\": {{\"warps\": {}, \"threads\": {}, \"global\": {}, \"shared\": {}}}",
                counts.warps,
                counts.threads,
                requests(counts.global, "sectors"),
                requests(counts.shared, "wavefronts")
            )
        });
        let products = self.products.iter().map(|(form, products)| {
            format!(
                "    \"{form}\": {{\"warps\": {}, \"multiply_adds\": {}}}",
                products.warps, products.multiply_adds
            )
        });
        let waits = self.waits.iter();
        let waits = waits.map(|(what, count)| format!("    \"{what}\": {count}"));
        let object = |name: &str, members: Vec<String>| match members.is_empty() {
            true => format!("  \"{name}\": {{}}"),
            false => format!("  \"{name}\": {{\n{}\n  }}", members.join(",\n")),
        };
        format!(
            "{{\n  \"kernel\": \"{}\",\n  \"launches\": {},\n  \"blocks\": {},\n  \"threads\": {},\n  \
             \"shared\": {},\n{},\n{},\n{}\n}}",
            self.kernel,
            self.launches,
            self.blocks,
            self.threads,
            self.shared,
            object("classes", classes.collect()),
            object("products", products.collect()),
            object("waits", waits.collect())
        )
    }
}

/// A table.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {} launches", self.kernel, self.launches)?;
        let parts = |requests: Requests| match requests.requests {
            0 => "-".to_owned(),
            count => format!("{:.2}", requests.parts as f64 / count as f64),
        };
        writeln!(
            f,
            "{:28} {:>12} {:>14} {:>12} {:>9} {:>12} {:>9}",
            "class", "warps", "threads", "global", "sectors", "shared", "wavefr."
        )?;
        let total = ("total", self.total());
        let rows = self.classes.iter().map(|(class, counts)| (*class, *counts));
        for (class, counts) in rows.chain([total]) {
            let (warps, threads) = (counts.warps, counts.threads);
            let (global, shared) = (counts.global, counts.shared);
            writeln!(
                f,
                "{class:28} {warps:12} {threads:14} {:12} {:>9} {:12} {:>9}",
                global.requests,
                parts(global),
                shared.requests,
                parts(shared)
            )?;
        }
        for (form, products) in &self.products {
            let Products {
                warps,
                multiply_adds,
            } = products;
            writeln!(f, "{form}: {warps} by warps, {multiply_adds} multiply-adds")?;
        }
        for (what, count) in &self.waits {
            writeln!(f, "waits for {what}: {count}")?;
        }
        Ok(())
    }
}

impl Program {
    /// Executes an entry, and counts what it does.
    ///
    /// # Errors
    ///
    /// As [`Program::launch`].
    pub fn count(
        &self,
        call: &EntryCall<'_>,
        global: &mut Global,
        host: &mut dyn Host,
    ) -> Result<Profile, Report> {
        let mut counter = Counter::default();
        self.run(call, global, host, Some(&mut counter))?;
        let image = self.image(call.entry);
        let image = image.map_err(|message| Report::of_launch(call.entry, message))?;
        let count = |extents: [u32; 3]| extents.into_iter().map(u64::from).product();
        let mut profile = Profile {
            kernel: call.entry.to_owned(),
            launches: 1,
            blocks: count(call.launch.grid),
            threads: count(call.launch.block),
            shared: shared_bytes(&image, call.launch),
            ..Profile::default()
        };
        for (site, counts) in counter.sites.iter().enumerate() {
            let Some((function, Some(instruction))) = image.site(site as u32) else {
                continue;
            };
            let mut functions = self.module.functions.iter();
            let found = functions.find(|known| known.name == function && known.body.is_some());
            let body = found.and_then(|found| found.body.as_ref());
            let instruction = body.and_then(|body| body.instructions.get(instruction));
            if let Some(instruction) = instruction
                && counts.warps > 0
            {
                profile.count(&instruction.mnemonic, counts);
            }
        }
        Ok(profile)
    }
}
