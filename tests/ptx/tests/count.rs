//! Counts of instructions, requests, products and waits, against numbers that are worked out by hand.

use croq_ptx::machine::tensor_map::{DataType, TensorMap};
use croq_ptx::machine::{Launch, Machine, Profile, Requests};

/// Where the buffer has a tensor map of itself, and the map: rows of 24 words, in boxes of four rows of
/// eight.
const MAP: u64 = 8192;

fn map(address: u64) -> [u8; 128] {
    let map = TensorMap {
        data_type: DataType::U32,
        rank: 2,
        address,
        extents: [24, 20, 0, 0, 0],
        strides: [96, 0, 0, 0],
        box_extents: [8, 4, 0, 0, 0],
        element_strides: [1; 5],
        ..TensorMap::default()
    };
    map.encode()
}

/// `%t` is the thread's index, `%x` the address of a buffer of 16 KiB, `%s` that of 16 KiB of shared
/// memory.
fn profile(statements: &str, launch: &Launch) -> Profile {
    let text = format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[16384];\n\
         .visible .entry k(.param .u64 x)\n{{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b64 %d<19>;\n\
         .reg .b32 %t, %s; .reg .b64 %x, %a; .reg .f32 %f<9>;\n\
         ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; mov.u32 %s, tile;\n{statements}\nret;\n}}\n"
    );
    let mut machine = Machine::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let x = machine.allocate("x", 16384);
    machine.write(x + MAP, &map(x)).unwrap();
    let mut launch = *launch;
    launch.checks.unwritten = false;
    let found = machine.count("k", &launch, &[&x.to_le_bytes()]);
    found.unwrap_or_else(|report| panic!("{report}"))
}

fn threads(count: u32) -> Launch {
    Launch {
        block: [count, 1, 1],
        ..Launch::default()
    }
}

/// Requests, sectors and bytes of loads by one warp: `stride` bytes from lane to lane.
fn global(instruction: &str, stride: u32, offset: u32) -> [u64; 3] {
    let text = format!(
        "mul.wide.u32 %a, %t, {stride}; add.u64 %a, %a, %x; add.u64 %a, %a, {offset}; {instruction}"
    );
    let found = profile(&text, &threads(32)).total().global;
    [found.requests, found.parts, found.bytes]
}

#[test]
fn sectors_of_global_requests() {
    // 128 contiguous bytes are four sectors; the next by one word are five.
    let word = "ld.global.u32 %r1, [%a];";
    assert_eq!(global(word, 4, 0), [1, 4, 128]);
    assert_eq!(global(word, 4, 4), [1, 5, 128]);
    // Every second word: twice as many. One of each sector or of each 128 bytes: 32.
    assert_eq!(global(word, 8, 0), [1, 8, 128]);
    assert_eq!(global(word, 32, 0), [1, 32, 128]);
    assert_eq!(global(word, 128, 0), [1, 32, 128]);
    // All lanes at one word.
    assert_eq!(global(word, 0, 0), [1, 1, 128]);
    assert_eq!(global("ld.global.u8 %r1, [%a];", 1, 0), [1, 1, 32]);
    let vector = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a];";
    assert_eq!(global(vector, 16, 0), [1, 16, 512]);
    assert_eq!(global(vector, 32, 0), [1, 32, 512]);
    // By a generic address, and by seven lanes only.
    assert_eq!(global("ld.u32 %r1, [%a];", 4, 0), [1, 4, 128]);
    let some = "setp.lt.u32 %p1, %t, 7; @%p1 st.global.u32 [%a], %t;";
    assert_eq!(global(some, 8, 0), [1, 2, 28]);
    assert_eq!(global("red.global.add.u32 [%a], 1;", 4, 0), [1, 4, 128]);
    let sums = "red.global.add.v4.f32 [%a], {%r1, %r1, %r1, %r1};";
    assert_eq!(global(sums, 16, 0), [1, 16, 512]);
    // No lane.
    let none = "setp.gt.u32 %p1, %t, 32; @%p1 st.global.u32 [%a], %t;";
    assert_eq!(global(none, 8, 0), [0, 0, 0]);
}

/// Copies by threads share the request of their warp; each bulk copy is one.
#[test]
fn sectors_of_asynchronous_copies() {
    let small = |stride: u32, copy: &str| {
        let text = format!("mad.lo.u32 %r9, %t, 16, %s; {copy} cp.async.wait_all;");
        global(&text, stride, 0)
    };
    let all = "cp.async.cg.shared.global [%r9], [%a], 16;";
    assert_eq!(small(16, all), [1, 16, 512]);
    assert_eq!(small(64, all), [1, 32, 512]);
    // Four bytes of each, and zeros.
    let part = "mov.u32 %r1, 4; cp.async.cg.shared.global [%r9], [%a], 16, %r1;";
    assert_eq!(small(16, part), [1, 16, 128]);
    let none = "mov.u32 %r1, 0; cp.async.cg.shared.global [%r9], [%a], 16, %r1;";
    assert_eq!(small(16, none), [0, 0, 0]);
    let bulk = |copy: &str| {
        let wait = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
        let first = "setp.ne.u32 %p1, %t, 0; @%p1 exit; fence.proxy.async;";
        global(&format!("{first} {copy} {wait}"), 0, 16)
    };
    // From byte 16 to byte 112.
    let row = "cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 96;";
    assert_eq!(bulk(row), [1, 4, 96]);
    let tensor = |at: &str| {
        let copy = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
        bulk(&format!(
            "add.u64 %d2, %x, {MAP}; {copy} [%d2, {{{at}}}], [%s];"
        ))
    };
    assert_eq!(tensor("8, 4"), [1, 4, 128]);
    assert_eq!(tensor("4, 4"), [1, 8, 128]);
    // Half of the columns and of the rows are outside.
    assert_eq!(tensor("20, 18"), [1, 2, 32]);
    // Lanes that store the same box, and two different ones.
    let by_all = |row: &str| {
        let copy = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
        let text = format!(
            "fence.proxy.async; add.u64 %d2, %x, {MAP}; and.b32 %r1, %t, 1; shl.b32 %r1, %r1, 2;\n\
             {copy} [%d2, {{8, {row}}}], [%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        );
        let mut launch = threads(32);
        launch.checks.races = false;
        let found = profile(&text, &launch).total().global;
        [found.requests, found.parts, found.bytes]
    };
    assert_eq!(by_all("4"), [1, 4, 128]);
    assert_eq!(by_all("%r1"), [2, 8, 256]);
}

/// Requests, wavefronts and bytes of one warp, where the lanes' addresses are a number of bytes apart.
fn shared(instruction: &str, stride: u32) -> [u64; 3] {
    let text = format!("mad.lo.u32 %r9, %t, {stride}, %s; {instruction}");
    let found = profile(&text, &threads(32)).total().shared;
    [found.requests, found.parts, found.bytes]
}

#[test]
fn wavefronts_of_shared_requests() {
    let word = "ld.shared.u32 %r1, [%r9];";
    assert_eq!(shared(word, 4), [1, 1, 128]);
    // Lanes i and i + 16 in a bank; then four lanes; then all.
    assert_eq!(shared(word, 8), [1, 2, 128]);
    assert_eq!(shared(word, 16), [1, 4, 128]);
    assert_eq!(shared(word, 128), [1, 32, 128]);
    // An odd number of words is a permutation of the banks.
    assert_eq!(shared(word, 132), [1, 1, 128]);
    // All lanes read one word.
    assert_eq!(shared(word, 0), [1, 1, 128]);
    // Two bytes: neighbours share a word.
    assert_eq!(shared("st.shared.u16 [%r9], %h1;", 2), [1, 1, 64]);
    // Halves and quarters of the warp.
    let two = "ld.shared.u64 %d1, [%r9];";
    assert_eq!(shared(two, 8), [1, 2, 256]);
    assert_eq!(shared(two, 16), [1, 4, 256]);
    let four = "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r9];";
    assert_eq!(shared(four, 16), [1, 4, 512]);
    // Rows of 128 bytes: in a quarter, eight lanes are in the same four banks.
    assert_eq!(shared(four, 128), [1, 32, 512]);
    assert_eq!(shared("atom.shared.add.u32 %r1, [%r9], 1;", 4), [1, 1, 128]);
    // Four matrices of eight rows of 16 bytes: contiguous rows, and rows that are 128 bytes apart.
    let matrices = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];";
    assert_eq!(shared(matrices, 16), [1, 4, 512]);
    assert_eq!(shared(matrices, 128), [1, 32, 512]);
    let matrix = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r9];";
    assert_eq!(shared(matrix, 128), [1, 8, 128]);
    // Rows of 128 bytes with a permutation of their chunks, as a swizzle makes it.
    let swizzled = "and.b32 %r8, %t, 7; shl.b32 %r8, %r8, 4; xor.b32 %r9, %r9, %r8;";
    assert_eq!(shared(&format!("{swizzled} {matrices}"), 128), [1, 4, 512]);
}

#[test]
fn classes_of_instructions() {
    // Two warps, of which the second has eight lanes; the loop has three rounds.
    let text = "mov.u32 %r1, 0; mov.f32 %f1, 0f3F800000;\n\
        LOOP: fma.rn.f32 %f1, %f1, %f1, %f1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra LOOP;\n\
        cvt.u16.u32 %h1, %r1; activemask.b32 %r2; ex2.approx.f32 %f2, %f1; div.full.f32 %f2, %f2, %f1;\n\
        sqrt.rn.f32 %f3, %f1;";
    let found = profile(
        &format!("setp.ge.u32 %p2, %t, 40; @%p2 exit;\n{text}"),
        &Launch {
            grid: [2, 1, 1],
            ..threads(40)
        },
    );
    let class = |name: &str| {
        let counts = found.classes[name];
        (counts.warps, counts.threads)
    };
    // Two blocks of 40 threads.
    assert_eq!(class("arithmetic in f32"), (4 * 3 + 4, 80 * 3 + 80));
    assert_eq!(class("special functions"), (4 * 2, 80 * 2));
    assert_eq!(class("integer arithmetic"), (4 * 3, 80 * 3));
    assert_eq!(class("comparisons and selections"), (4 * 4, 80 * 4));
    assert_eq!(class("moves"), (4 * 4, 80 * 4));
    assert_eq!(class("conversions"), (4, 80));
    assert_eq!(class("loads of parameters"), (4, 80));
    // `exit` by no lane, two branches that are taken and one that is not, `ret`.
    assert_eq!(class("control flow"), (4 + 12 + 4, 80 * 3));
    let total = found.total();
    // `exit` and one of the branches are by no lane.
    assert_eq!((total.warps, total.threads), (4 * 25, 80 * 23));
}

/// Warps that wait do it once, however often the machine looks.
#[test]
fn waits_and_products() {
    let text = "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%s], 1; bar.sync 0;\n\
        setp.lt.u32 %p2, %t, 32; @%p2 bra SIGNAL;\n\
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%s], 0; @!%p3 bra WAIT; bra END;\n\
        SIGNAL: mov.u32 %r1, 0;\n\
        SPIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 5000; @%p4 bra SPIN;\n\
        @%p1 mbarrier.arrive.shared::cta.b64 _, [%s];\n\
        END: bar.sync 0; bar.warp.sync -1;\n\
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%f0, %f1, %f2, %f3};";
    let found = profile(text, &threads(96));
    let waits: Vec<_> = found.waits.iter().map(|(what, n)| (*what, *n)).collect();
    assert_eq!(
        waits,
        [
            ("barriers of lanes", 3),
            ("barriers of the block", 6),
            ("mbarriers", 2)
        ]
    );
    let form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let products = found.products[form];
    assert_eq!((products.warps, products.multiply_adds), (3, 3 * 2048));
    assert_eq!(found.classes["matrix products"].warps, 3);
    // Of a warpgroup: 64 · 8 · 16 multiply-adds by four warps together.
    let text = "mov.u64 %d1, 0x4000004000010040; wgmma.fence.sync.aligned;\n\
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d1, %d1, 0, 1, 1, 0, 0;\n\
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
    let found = profile(text, &threads(128));
    let form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
    let products = found.products[form];
    assert_eq!((products.warps, products.multiply_adds), (4, 8192));
    assert_eq!(found.waits["groups of matrix products"], 4);
}

#[test]
fn launches_are_added_and_printed() {
    let text = "mul.wide.u32 %a, %t, 128; add.u64 %a, %a, %x; ld.global.u32 %r1, [%a]; bar.sync 0;";
    let one = profile(text, &threads(32));
    let mut both = Profile {
        kernel: "k".to_owned(),
        ..Profile::default()
    };
    both.add(&one);
    both.add(&one);
    let requests = Requests {
        requests: 2,
        parts: 64,
        bytes: 256,
    };
    assert_eq!(both.classes["loads from global memory"].global, requests);
    // Blocks of both, and the 16 KiB of the module.
    assert_eq!((both.blocks, both.threads, both.shared), (2, 32, 16384));
    let json = both.to_json();
    let load = "    \"loads from global memory\": {\"warps\": 2, \"threads\": 64, \
                \"global\": {\"requests\": 2, \"sectors\": 64, \"bytes\": 256}, \
                \"shared\": {\"requests\": 0, \"wavefronts\": 0, \"bytes\": 0}}";
    assert!(json.contains(load), "{json}");
    assert!(
        json.starts_with("{\n  \"kernel\": \"k\",\n  \"launches\": 2,\n  \"blocks\": 2,\n"),
        "{json}"
    );
    let waits = "  \"products\": {},\n  \"waits\": {\n    \"barriers of the block\": 2\n  }\n}";
    assert!(json.ends_with(waits), "{json}");
    let table = both.to_string();
    let row = "loads from global memory                2             64            2     32.00            0         -\n";
    assert!(table.contains(row), "{table}");
    assert!(table.ends_with("waits for barriers of the block: 2\n"));
}

/// `ptx-machine --count` prints what the runtime has written for the program.
#[test]
fn counts_of_a_program() {
    let json = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("counts.json");
    let _ = std::fs::remove_file(&json);
    let count = |script: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ptx-machine"));
        command.arg("--count").arg("--json").arg(&json);
        command.args(["sh", "-c", script, "sh", "word"]);
        command
            .env("CROQ_PTX_RUNTIME", "off")
            .env_remove("CROQ_DEVICE");
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, errors) = (text(output.stdout), text(output.stderr));
        (output.status.success(), out, errors)
    };
    let writes = "echo $CROQ_DEVICE:${CROQ_PTX_RUNTIME-none}:$1; echo table > $CROQ_PTX_COUNT; \
                  echo [] > $CROQ_PTX_COUNT.json";
    let (done, out, errors) = count(writes);
    assert!(done && errors.is_empty(), "{errors}");
    assert_eq!(out, "cuda:none:word\ntable\n");
    assert_eq!(std::fs::read_to_string(&json).unwrap(), "[]\n");
    // A program that fails after some launches, and one without a launch.
    let (done, out, errors) = count(&format!("{writes}; exit 3"));
    assert!(!done && out.ends_with("table\n"), "{out}");
    assert!(errors.contains("exit status: 3"), "{errors}");
    let (done, _, errors) = count("true");
    assert!(
        !done && errors.contains("has executed no kernel"),
        "{errors}"
    );
}
