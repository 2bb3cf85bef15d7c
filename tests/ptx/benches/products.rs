//! Time of a product by a warpgroup, of one core.

use std::time::Instant;

use croq_ptx::machine::{Launch, Machine};

const STEPS: u32 = 200;

fn main() {
    for (n, types) in [
        (256, "f32.f16.f16"),
        (128, "f16.f16.f16"),
        (128, "s32.s8.s8"),
    ] {
        let k = if types.ends_with("s8") { 32 } else { 16 };
        let registers = if types.starts_with("f16") {
            n / 4
        } else {
            n / 2
        };
        let modes = if k == 16 { ", 1, 1, 0, 0" } else { "" };
        let names: Vec<String> = (0..registers).map(|index| format!("%d{index}")).collect();
        let names = names.join(", ");
        // 128-byte swizzle, 1024 bytes between groups of eight rows.
        let text = format!(
            ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[49152];\n\
             .visible .entry k() {{ .reg .b32 %d<128>; .reg .b64 %a; .reg .b64 %b; .reg .b32 %i; .reg .pred %p;\n\
             mov.u64 %a, 0x4000004000010040; mov.u64 %b, 0x4000004000010240; mov.u32 %i, tile; mov.u32 %i, 0;\n\
             wgmma.fence.sync.aligned;\nLOOP:\n\
             wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {{{names}}}, %a, %b, 1{modes};\n\
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n\
             add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {STEPS}; @%p bra LOOP; ret; }}\n"
        );
        let mut machine = Machine::load(&text).expect("the text is PTX");
        let launch = Launch {
            block: [128, 1, 1],
            ..Launch::default()
        };
        let start = Instant::now();
        let counts = machine.launch("k", &launch, &[]);
        counts.unwrap_or_else(|report| panic!("{report}"));
        let each = start.elapsed().as_secs_f64() / f64::from(STEPS) * 1e6;
        println!("m64n{n}k{k}.{types}: {each:.0} µs");
    }
}
