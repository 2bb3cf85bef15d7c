//! Mbarriers, asynchronous copies, tensor maps and clusters, on small texts of our own.

mod bulk;
mod clusters;
mod compiled;
mod copies;
mod exits;
mod mbarriers;
mod races;
mod tensors;

use croq_ptx::machine::{Asynchrony, Checks, Launch, Machine, Report};

const MODES: [Asynchrony; 3] = [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded];

/// A launch in that mode.
fn block(threads: u32, asynchrony: Asynchrony) -> Launch {
    Launch {
        block: [threads, 1, 1],
        asynchrony,
        instruction_limit: 1 << 22,
        ..Launch::default()
    }
}

/// The same without the checks of races and of unwritten bytes, for programs that are wrong.
fn unchecked(launch: Launch) -> Launch {
    Launch {
        checks: Checks {
            races: false,
            unwritten: false,
        },
        ..launch
    }
}

/// An entry `k(in, out, map)`. `%in` and `%out` are global addresses, `%map` the generic address of
/// the parameter of 128 bytes, `%t` is the thread's index, `%mine` the address of its word in `out`,
/// `%tile` the shared address of 64 KiB and `%bar` that of 64 bytes for mbarriers.
fn entry(directives: &str, statements: &str) -> String {
    format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n\
         .shared .align 1024 .b8 tile[65536];\n.shared .align 8 .b8 bars[64];\n\
         .visible .entry k(.param .u64 in, .param .u64 out, .param .align 128 .b8 map[128])\n\
         {directives}\n{{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b64 %d<19>;\n\
         .reg .b32 %t, %tile, %bar; .reg .b64 %in, %out, %mine, %map, %state;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.b64 %map, map;\n\
         cvta.param.u64 %map, %map;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %mine, %t, 4;\n\
         add.u64 %mine, %mine, %out;\nmov.u32 %tile, tile;\nmov.u32 %bar, bars;\n\
         {statements}\n}}\n"
    )
}

/// What is in global memory before and after a launch.
struct Data {
    input: Vec<u8>,
    map: Option<fn(u64) -> [u8; 128]>,
    output: usize,
}

impl Default for Data {
    /// Words 1, 2, 3 and so on; 4 KiB of output.
    fn default() -> Data {
        Data {
            input: (1..=16384_u32).flat_map(u32::to_le_bytes).collect(),
            map: None,
            output: 4096,
        }
    }
}

fn execute(text: &str, launch: Launch, data: &Data) -> Result<Vec<u8>, Report> {
    let mut machine = Machine::load(text).unwrap_or_else(|error| panic!("{error}"));
    let input = machine.allocate("in", data.input.len());
    machine.write(input, &data.input).unwrap();
    let output = machine.allocate("out", data.output);
    let map = data.map.map_or([0; 128], |map| map(input));
    let arguments: [&[u8]; 3] = [&input.to_le_bytes(), &output.to_le_bytes(), &map];
    machine.launch("k", &launch, &arguments)?;
    Ok(machine.read(output, data.output).unwrap().to_vec())
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// The words that each thread stored.
fn run(statements: &str, launch: Launch) -> Vec<u32> {
    let text = entry("", statements);
    let result = execute(&text, launch, &Data::default());
    let threads = (launch.block[0] * launch.grid[0]) as usize;
    words(&result.unwrap_or_else(|report| panic!("{report}")))[..threads].to_vec()
}

fn fails(statements: &str, launch: Launch) -> String {
    let text = entry("", statements);
    execute(&text, launch, &Data::default())
        .unwrap_err()
        .message
}

/// Refused by name, in every launch that reaches it.
fn is_refused(instruction: &str) -> bool {
    fails(&format!("{instruction}\nret;"), block(1, Asynchrony::Late))
        .contains("is not implemented")
}
