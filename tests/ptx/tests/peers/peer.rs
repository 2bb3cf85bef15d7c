//! A kernel of another project: its PTX, what a launch needs, and its buffers.

use std::path::PathBuf;

use croq_ptx::machine::{Asynchrony, Launch, Machine};

/// Where `make ptx-peers` puts the kernels.
pub fn folder() -> PathBuf {
    let folder = std::env::var_os("CROQ_PTX_PEERS");
    PathBuf::from(folder.expect("CROQ_PTX_PEERS is not set; run `make ptx-peers`"))
}

/// How names of kernels begin of which `make compare` wants what a launch executes, and not the forms.
const COMPARED: &str = "compared_";

/// All moments at which asynchronous operations may happen.
pub const MODES: [Asynchrony; 3] = [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded];

/// An argument.
#[derive(Clone, Copy)]
pub enum Value {
    Pointer(u64),
    Integer(i32),
    Float(f32),
}

impl Value {
    fn bytes(self) -> Vec<u8> {
        match self {
            Value::Pointer(address) => address.to_le_bytes().to_vec(),
            Value::Integer(value) => value.to_le_bytes().to_vec(),
            Value::Float(value) => value.to_le_bytes().to_vec(),
        }
    }
}

/// A Triton kernel, loaded.
pub struct Peer {
    name: String,
    machine: Machine,
    /// Instead of one after the other.
    pub runs_blocks_together: bool,
    pub asynchrony: Asynchrony,
    pub seed: u64,
    entry: String,
    threads: u32,
    shared: u32,
    /// Bytes of global memory for each block, and their alignment.
    scratch: [usize; 2],
    constants: Vec<(String, usize)>,
    parameters: Vec<String>,
}

impl Peer {
    /// From `name.ptx` and `name.peer`.
    pub fn load(name: &str) -> Peer {
        let read = |ending: &str| {
            let path = folder().join(format!("{name}.{ending}"));
            std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let machine = Machine::load(&read("ptx")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut peer = Peer {
            name: name.to_owned(),
            machine,
            runs_blocks_together: false,
            asynchrony: Asynchrony::default(),
            seed: 1,
            entry: String::new(),
            threads: 0,
            shared: 0,
            scratch: [0; 2],
            constants: Vec::new(),
            parameters: Vec::new(),
        };
        for line in read("peer").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["made-by", ..] => {}
                ["entry", name] => peer.entry = (*name).to_owned(),
                ["threads", count] => peer.threads = count.parse().unwrap(),
                ["shared", bytes] => peer.shared = bytes.parse().unwrap(),
                ["scratch", bytes, align] => {
                    peer.scratch = [bytes, align].map(|word| word.parse().unwrap());
                }
                ["constant", name, value] => {
                    let value = value.parse().unwrap();
                    peer.constants.push(((*name).to_owned(), value));
                }
                ["parameter", name, _] => peer.parameters.push((*name).to_owned()),
                _ => panic!("{name}.peer: {line}"),
            }
        }
        peer
    }

    /// A constant that the kernel was compiled with.
    pub fn constant(&self, name: &str) -> usize {
        let found = self.find_constant(name);
        found.unwrap_or_else(|| panic!("no constant {name}"))
    }

    /// The same, if the kernel has it.
    pub fn find_constant(&self, name: &str) -> Option<usize> {
        let mut constants = self.constants.iter();
        constants
            .find(|(known, _)| known == name)
            .map(|found| found.1)
    }

    pub fn upload(&mut self, name: &str, bytes: &[u8]) -> Value {
        let address = self.machine.allocate(name, bytes.len());
        self.machine.write(address, bytes).unwrap();
        Value::Pointer(address)
    }

    /// A buffer of NaNs of all formats, so that an element that is not written shows.
    pub fn poisoned(&mut self, name: &str, bytes: usize) -> Value {
        self.upload(name, &vec![0xff; bytes])
    }

    pub fn download(&self, buffer: Value, bytes: usize) -> Vec<u8> {
        let Value::Pointer(address) = buffer else {
            panic!("this is no buffer")
        };
        self.machine.read(address, bytes).unwrap().to_vec()
    }

    /// Arguments by name; those for scratch memory, which Triton's launcher allocates, are added.
    pub fn launch(&mut self, grid: [usize; 2], arguments: &[(&str, Value)]) {
        let [bytes, align] = self.scratch;
        assert!(align <= 256, "an alignment of {align} bytes");
        let scratch = self.machine.allocate("scratch", bytes * grid[0] * grid[1]);
        let value = |name: &String| match name.as_str() {
            "scratch" => Value::Pointer(scratch),
            // Of a profiler, which is off.
            "profile" => Value::Pointer(0),
            name => {
                let mut named = arguments.iter().filter(|(known, _)| *known == name);
                named
                    .next()
                    .unwrap_or_else(|| panic!("no argument {name}"))
                    .1
            }
        };
        let values: Vec<Vec<u8>> = self
            .parameters
            .iter()
            .map(value)
            .map(Value::bytes)
            .collect();
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let mut launch = Launch {
            grid: [grid[0] as u32, grid[1] as u32, 1],
            block: [self.threads, 1, 1],
            dynamic_shared: self.shared,
            is_cooperative: self.runs_blocks_together,
            asynchrony: self.asynchrony,
            seed: self.seed,
            ..Launch::default()
        };
        if self.name.starts_with(COMPARED) {
            // Other kernels are the test of these checks.
            (launch.checks.races, launch.checks.unwritten) = (false, false);
            let profile = self.machine.count(&self.entry, &launch, &values);
            let profile = profile.unwrap_or_else(|report| panic!("{report}"));
            let path = folder().join(format!("{}.counts.json", self.name));
            std::fs::write(path, format!("[{}]\n", profile.to_json())).unwrap();
            return;
        }
        let result = self.machine.launch(&self.entry, &launch, &values);
        result.unwrap_or_else(|report| panic!("{report}"));
        self.record();
    }

    /// The forms that it has executed, in all its launches.
    fn record(&self) {
        let path = folder().join(format!("{}.forms", self.name));
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let mut forms = self.machine.executed();
        forms.extend(known.lines().map(str::to_owned));
        let lines: Vec<String> = forms.into_iter().map(|form| form + "\n").collect();
        std::fs::write(&path, lines.concat()).unwrap();
    }
}
