//! Parses machine code as printed by `cuobjdump -sass`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use croq_build::Checks;
use croq_build::pipeline::{FileNames, Options, compile_text};
use croq_build::toolchain::environment::Environment;
use croq_build::toolchain::nvcc::{self, Toolkit};
use croq_build::toolchain::special_functions;

use crate::loops::Loops;

#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub at: u64,
    /// The predicate: `!P0`.
    pub guard: Option<String>,
    /// With its suffixes: `LDG.E.128.CONSTANT`.
    pub name: String,
    /// The operands after the name.
    pub operands: String,
    /// The target of a branch.
    pub target: Option<u64>,
}

/// One kernel.
#[derive(Clone, Debug)]
pub struct Code {
    pub instructions: Vec<Instruction>,
}

/// The kernels of a `.co` text by name, or `None` on a machine without nvcc.
///
/// # Panics
///
/// If the text, or its generated code, does not compile without a warning.
pub fn kernels_of(stem: &str, text: &str, arch: &str) -> Option<BTreeMap<String, Code>> {
    kernels_with(Checks::All, stem, text, arch)
}

/// Skips a test that needs a tool that is not installed; `make test` requires all of them, unless
/// CUDA is off.
fn skipped(reason: &str) {
    assert!(
        std::env::var_os("CROQ_TEST_NVCC").is_none_or(|value| value != "required"),
        "{reason}"
    );
    // Not by `eprintln!`, whose output `cargo test` captures.
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

type Kernels = BTreeMap<String, Code>;

/// The same for kernels that are built with other checks. What a process has asked for before is not
/// compiled again.
pub fn kernels_with(checks: Checks, stem: &str, text: &str, arch: &str) -> Option<Kernels> {
    /// A cell for each question, so that different ones are answered at the same time.
    type Answers = Mutex<BTreeMap<String, Arc<OnceLock<Option<Kernels>>>>>;
    static ANSWERS: Answers = Mutex::new(BTreeMap::new());

    let question = format!("{checks:?} {stem} {arch}\n{text}");
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = Arc::clone(answers.entry(question).or_default());
    drop(answers);
    answer
        .get_or_init(|| compiled(checks, stem, text, arch))
        .clone()
}

fn compiled(checks: Checks, stem: &str, text: &str, arch: &str) -> Option<Kernels> {
    let environment = Environment::of_process();
    let Some(toolkit) = nvcc::search(&environment, None).toolkit else {
        skipped("no nvcc");
        return None;
    };
    if let Some(kernels) = built(&toolkit, checks, stem, text, arch) {
        return Some(kernels);
    }
    let names = FileNames {
        path: format!("{stem}.co"),
        stem: stem.to_owned(),
        hash: "0123abcd".to_owned(),
    };
    let options = Options {
        cuda: true,
        checks,
        ..Options::default()
    };
    let compiled = compile_text(&names, text, &options);
    let outputs = compiled
        .outputs
        .unwrap_or_else(|| panic!("{stem}: {:#?}", compiled.diagnostics));
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join(format!("{stem}.cu"));
    std::fs::write(&device, outputs.device).expect("written");
    let header = folder.path().join(format!("{stem}.h"));
    std::fs::write(header, outputs.header).expect("written");
    let cubin = folder.path().join("out.cubin");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../croq-build/device");
    let output = Command::new(&toolkit.nvcc)
        .args(["-x", "cu", "-std=c++17", "-O3", "-DCROQ_CUDA=1", "-cubin"])
        .arg(special_functions::WITHOUT)
        .args(["-Werror", "all-warnings", "-Xptxas", "-warn-spills,-Werror"])
        .arg(format!("-arch={arch}"))
        .arg(format!("-I{}", include.display()))
        .arg(format!("-I{}", folder.path().display()))
        .arg(&device)
        .arg("-o")
        .arg(&cubin)
        .output()
        .expect("nvcc starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stem} for {arch}:\n{said}");
    assert_kept(stem, arch, &said);
    let kernels = listed(&toolkit, arch, &cubin);
    if kernels.is_none() {
        skipped("no cuobjdump");
    }
    kernels
}

/// The kernels in the object that croq-build has compiled of a file of `kernels/`, if `text` is that file.
/// `None` also where the object has no machine code for `arch`.
fn built(toolkit: &Toolkit, checks: Checks, stem: &str, text: &str, arch: &str) -> Option<Kernels> {
    if checks != Checks::All {
        return None;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/co");
    let name = format!("{stem}.co");
    let topics = std::fs::read_dir(sources).ok()?.flatten();
    let topic = topics
        .map(|topic| topic.path())
        .find(|topic| std::fs::read_to_string(topic.join(&name)).is_ok_and(|file| file == text))?;
    let objects = Path::new(croq_kernels::OUTPUTS).join("build");
    let objects = objects.join(topic.file_name()?);
    let said = std::fs::read_to_string(objects.join(format!("{stem}.cuda.log"))).ok()?;
    assert_kept(stem, arch, &said);
    let kernels = listed(toolkit, arch, &objects.join(format!("{stem}.cuda.o")))?;
    (!kernels.is_empty()).then_some(kernels)
}

/// ptxas follows instructions of kernels; otherwise it only says so.
fn assert_kept(stem: &str, arch: &str, said: &str) {
    // C7510 and the following numbers.
    assert!(!said.contains("serialized"), "{stem} for {arch}:\n{said}");
    // C7507.
    assert!(!said.contains("setmaxnreg"), "{stem} for {arch}:\n{said}");
}

/// The kernels of an object; `None` without cuobjdump.
fn listed(toolkit: &Toolkit, arch: &str, object: &Path) -> Option<Kernels> {
    let output = Command::new(toolkit.nvcc.with_file_name("cuobjdump"))
        .args(["-sass", "-arch", arch])
        .arg(object)
        .output();
    Some(parse(&String::from_utf8_lossy(&output.ok()?.stdout)))
}

pub fn parse(text: &str) -> BTreeMap<String, Code> {
    let mut kernels = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(mangled) = line.strip_prefix("Function : ") {
            name = plain(mangled);
            let none = Code {
                instructions: Vec::new(),
            };
            kernels.insert(name.clone(), none);
        } else if let Some(instruction) = instruction(line)
            && let Some(code) = kernels.get_mut(&name)
        {
            code.instructions.push(instruction);
        }
    }
    for code in kernels.values_mut() {
        // After the last branch there is only padding.
        while code.instructions.last().is_some_and(|i| i.name == "NOP") {
            code.instructions.pop();
        }
    }
    kernels
}

/// `_ZN18croq_0123abcd_cuda7scale_0E…`: the second part of the nested name.
fn plain(mangled: &str) -> String {
    let mut rest = mangled.trim_start_matches("_ZN");
    let mut last = String::new();
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()) {
        let Ok(length) = rest[..end].parse::<usize>() else {
            break;
        };
        let Some(part) = rest.get(end..end + length) else {
            break;
        };
        last = part.to_owned();
        rest = &rest[end + length..];
    }
    match last.is_empty() {
        // Of a kernel that is not C++.
        true => mangled.to_owned(),
        false => last,
    }
}

/// `/*0070*/   @!P0 BRA 0x2a0 ;   /* 0x… */`
fn instruction(line: &str) -> Option<Instruction> {
    let (at, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let at = u64::from_str_radix(at, 16).ok()?;
    let text = rest.trim().split(';').next()?.trim();
    let mut words = text.split_whitespace();
    let mut name = words.next()?;
    let guard = name.strip_prefix('@').map(str::to_owned);
    if guard.is_some() {
        name = words.next()?;
    }
    let operands = text.split_once(name)?.1.trim().to_owned();
    let target = name.starts_with("BRA").then(|| {
        words
            .filter_map(|w| w.trim_end_matches(',').strip_prefix("0x"))
            .find_map(|hex| u64::from_str_radix(hex, 16).ok())
    });
    Some(Instruction {
        at,
        guard,
        name: name.to_owned(),
        operands,
        target: target.flatten(),
    })
}

impl Instruction {
    /// `HGMMA.64x256x16.F32`: 64 · 256 · 16.
    pub fn multiply_adds(&self) -> u64 {
        let mut words = self.name.split('.');
        if !words.next().is_some_and(|word| word.ends_with("GMMA")) {
            return 0;
        }
        let sizes = words
            .next()
            .map(|shape| shape.split('x').map(str::parse::<u64>));
        let product = sizes.and_then(|sizes| sizes.product::<Result<u64, _>>().ok());
        product.unwrap_or(0)
    }
}

impl Code {
    /// The code of a kernel with these instructions, from address 0 on.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn of_lines(lines: &[&str]) -> Self {
        let mut text = "Function : _ZN1a1k1_E\n".to_owned();
        for (number, line) in lines.iter().enumerate() {
            text.push_str(&format!("/*{:04x}*/ {line} ;\n", number * 16));
        }
        parse(&text).into_values().next().expect("a kernel")
    }

    pub fn count(&self, name: &str) -> usize {
        let found = self
            .instructions
            .iter()
            .filter(|i| i.name.starts_with(name));
        found.count()
    }

    /// The operands of the instructions with this name.
    pub fn operands(&self, name: &str) -> Vec<&str> {
        let found = self
            .instructions
            .iter()
            .filter(|i| i.name.starts_with(name));
        found.map(|i| i.operands.as_str()).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.count(name) > 0
    }

    /// # Panics
    ///
    /// If a register is spilled to memory, or a function is called.
    pub fn assert_clean(&self, kernel: &str) {
        // ptxas also jumps by `CALL.REL.NOINC`; a real call returns.
        for bad in ["LDL", "STL", "RET"] {
            assert!(!self.has(bad), "{kernel} has {bad}");
        }
    }

    /// The instructions that may be executed after this one.
    pub(crate) fn next(&self, at: usize) -> impl Iterator<Item = usize> {
        let all = &self.instructions;
        let i = &all[at];
        let always = i.guard.is_none() && !i.operands.contains(',');
        let stays = i.name.starts_with("BRA") || i.name == "EXIT" || i.name.starts_with("BPT");
        // They are in the order of their addresses.
        let place = |to: u64| all.binary_search_by_key(&to, |i| i.at).ok();
        let below = Some(at + 1).filter(|below| *below < all.len() && !(always && stays));
        [i.target.and_then(place), below].into_iter().flatten()
    }

    /// The number of instructions with this name from which the code may return to them.
    pub fn count_in_loops(&self, name: &str) -> usize {
        let all = &self.instructions;
        let found = (0..all.len()).filter(|at| all[*at].name.starts_with(name));
        found
            .filter(|at| self.shortest_cycle(*at).is_some())
            .count()
    }

    /// The fewest instructions that lead from this one to itself, which is the first of them.
    fn shortest_cycle(&self, from: usize) -> Option<Vec<usize>> {
        let mut before = vec![None; self.instructions.len()];
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for next in self.next(at) {
                if before[next].is_none() {
                    before[next] = Some(at);
                    open.push_back(next);
                }
            }
        }
        let mut way = vec![from];
        let mut at = before[from]?;
        while at != from {
            way.push(at);
            at = before[at]?;
        }
        way[1..].reverse();
        Some(way)
    }

    /// The number of instructions of the loop around one whose name begins like this, on its shortest way:
    /// waits succeed at once, and what a branch can leave out is left out.
    pub fn shortest_way(&self, name: &str) -> Option<usize> {
        let of_name = |at: &usize| self.instructions[*at].name.starts_with(name);
        let around = (0..self.instructions.len()).filter(of_name);
        let ways = around.filter_map(|at| self.shortest_cycle(at));
        ways.map(|way| way.len()).min()
    }

    /// The loop with the fewest instructions for each product of tensor cores, on its shortest way:
    /// waits succeed at once, and nothing is done that is not done in each iteration.
    pub fn main_loop(&self) -> Option<Code> {
        let all = &self.instructions;
        let products = (0..all.len()).filter(|at| all[*at].multiply_adds() > 0);
        let loops = products.filter_map(|at| self.shortest_cycle(at));
        let loops = loops.map(|way| {
            let instructions: Vec<_> = way.into_iter().map(|at| all[at].clone()).collect();
            Code { instructions }
        });
        // As a ratio of integers: the longest of equal ones is unrolled, and as good.
        loops.min_by(|a, b| {
            let cost = |a: &Code, b: &Code| a.instructions.len() as u64 * b.multiply_adds();
            cost(a, b).cmp(&cost(b, a))
        })
    }

    /// Of a warpgroup, or of a warp for `mma.sync`, by all its instructions.
    pub fn multiply_adds(&self) -> u64 {
        self.instructions
            .iter()
            .map(Instruction::multiply_adds)
            .sum()
    }

    /// The number of instructions of the loop around an instruction of this name: the innermost one, and
    /// the longest of those of several instructions. Waits succeed at once; what is done by a branch, such
    /// as an arrival by one thread, counts.
    ///
    /// # Panics
    ///
    /// If there is no such loop.
    pub fn loop_with(&self, name: &str) -> usize {
        self.loop_around(name).len()
    }

    /// Whether the loop around an instruction called `name` has one called `other`.
    ///
    /// # Panics
    ///
    /// If there is no such loop.
    pub fn loop_has(&self, name: &str, other: &str) -> bool {
        let body = self.loop_around(name);
        let mut all = body
            .into_iter()
            .filter_map(|place| self.instructions.get(place));
        all.any(|i| i.name.starts_with(other))
    }

    fn loop_around(&self, name: &str) -> BTreeSet<usize> {
        let all = &self.instructions;
        let loops = Loops::of(self);
        let places = (0..all.len()).filter(|at| all[*at].name.starts_with(name));
        let innermost = places.filter_map(|at| loops.innermost(at));
        let longest = innermost.max_by_key(|body| body.len());
        longest
            .unwrap_or_else(|| panic!("no loop with {name}: {self:?}"))
            .clone()
    }

    /// Of all paths through code without loops, those with the most instructions called `name`, and
    /// of these the shortest: the number of such instructions, and of all.
    ///
    /// # Panics
    ///
    /// If there is a loop.
    pub fn busiest_way(&self, name: &str) -> (usize, usize) {
        let back = self.instructions.iter().find(|i| self.goes_back(i));
        assert!(back.is_none(), "a loop at {back:?}");
        self.busiest_way_forward(name)
    }

    /// ptxas ends code with a branch to itself, which is none.
    fn goes_back(&self, i: &Instruction) -> bool {
        i.target.is_some_and(|target| target < i.at)
    }

    /// The same of the paths on which no branch goes back.
    pub fn busiest_way_forward(&self, name: &str) -> (usize, usize) {
        // From the end: the best path from each instruction to an exit.
        let mut best: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        for (position, i) in self.instructions.iter().enumerate().rev() {
            let next = self.instructions.get(position + 1).map(|n| n.at);
            let ends = i.name == "EXIT" || i.name.starts_with("BPT");
            let mut ways: Vec<(usize, usize)> = Vec::new();
            if ends {
                ways.push((0, 0));
            }
            if let Some(target) = i.target.filter(|t| *t > i.at) {
                ways.extend(best.get(&target));
            }
            let falls_through = i.guard.is_some() || !(ends || i.name.starts_with("BRA"));
            if let Some(next) = next.filter(|_| falls_through) {
                ways.extend(best.get(&next));
            }
            let own = usize::from(i.name.starts_with(name));
            let way = ways
                .into_iter()
                .map(|(hits, length)| (hits + own, length + 1))
                .max_by_key(|(hits, length)| (*hits, std::cmp::Reverse(*length)));
            if let Some(way) = way {
                best.insert(i.at, way);
            }
        }
        let first = self.instructions.first().map_or(0, |i| i.at);
        best.get(&first).copied().unwrap_or_default()
    }
}
