//! Warps, blocks and launches, on small texts of our own.

use croq_ptx::machine::{Counts, Launch, Machine, Report};

/// An entry `k(.param .u64 out)` with `%out` in a register, and `%t` the thread's index.
fn entry(statements: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[4096];\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %d<9>;\n\
         .reg .b32 %t; .reg .b64 %out; .reg .b64 %mine;\n\
         ld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %mine, %t, 4;\n\
         add.u64 %mine, %mine, %out;\n{statements}\n}}\n"
    )
}

fn launch_text(text: &str, launch: Launch) -> Result<(Vec<u32>, Counts), Report> {
    let mut machine = Machine::load(text).unwrap_or_else(|error| panic!("{error}"));
    let threads: u32 = launch.block.iter().chain(&launch.grid).product();
    let out = machine.allocate("out", threads as usize * 4);
    let counts = machine.launch("k", &launch, &[&out.to_le_bytes()])?;
    let bytes = machine.read(out, threads as usize * 4).unwrap();
    let words = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Ok((words.collect(), counts))
}

fn block(threads: u32) -> Launch {
    Launch {
        block: [threads, 1, 1],
        ..Launch::default()
    }
}

fn run(statements: &str, threads: u32) -> Vec<u32> {
    let result = launch_text(&entry(statements), block(threads));
    result.unwrap_or_else(|report| panic!("{report}")).0
}

fn fails(statements: &str, threads: u32) -> String {
    launch_text(&entry(statements), block(threads))
        .unwrap_err()
        .message
}

#[test]
fn butterflies_sum_a_warp() {
    let steps: String = [16, 8, 4, 2, 1]
        .iter()
        .map(|by| {
            format!("shfl.sync.bfly.b32 %r2|%p1, %r1, {by}, 31, -1; add.u32 %r1, %r1, %r2;\n")
        })
        .collect();
    let found = run(
        &format!("mov.u32 %r1, %t;\n{steps}st.global.u32 [%mine], %r1; ret;"),
        64,
    );
    assert_eq!(found[..32], [(0..32).sum::<u32>(); 32]);
    assert_eq!(found[32..], [(32..64).sum::<u32>(); 32]);
}

/// The inclusive scan of the ISA's section on `shfl`, which uses the predicate.
#[test]
fn shuffles_scan_a_warp() {
    let steps: String = [1, 2, 4, 8, 16]
        .iter()
        .map(|by| {
            format!("shfl.sync.up.b32 %r2|%p1, %r1, {by}, 0, -1; @%p1 add.u32 %r1, %r2, %r1;\n")
        })
        .collect();
    let found = run(
        &format!("add.u32 %r1, %t, 1;\n{steps}st.global.u32 [%mine], %r1; ret;"),
        32,
    );
    let expected: Vec<u32> = (1..=32).map(|n| n * (n + 1) / 2).collect();
    assert_eq!(found, expected);
}

#[test]
fn shuffles_within_segments() {
    // Segments of 8 lanes: mask 0x18 in bits 8 to 12 of c, clamp 7.
    let text = "shfl.sync.idx.b32 %r1, %t, 3, 0x181f, -1; shfl.sync.down.b32 %r2|%p1, %t, 5, 0x181f, -1;\n\
        mad.lo.u32 %r1, %r1, 100, %r2; st.global.u32 [%mine], %r1; ret;";
    let found = run(text, 32);
    for (lane, found) in (0_u32..).zip(found) {
        let segment = lane / 8 * 8;
        let down = if lane + 5 < segment + 8 {
            lane + 5
        } else {
            lane
        };
        assert_eq!(found, (segment + 3) * 100 + down);
    }
}

#[test]
fn votes_matches_and_reductions() {
    let text = "setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r1, %p1, -1;\n\
        vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1; vote.sync.uni.pred %p4, %p2, -1;\n\
        selp.u32 %r2, 0x100, 0, %p2; selp.u32 %r3, 0x200, 0, %p3; selp.u32 %r4, 0x400, 0, %p4;\n\
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n\
        redux.sync.max.u32 %r5, %t, -1; shl.b32 %r5, %r5, 16; add.u32 %r1, %r1, %r5;\n\
        st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, 32), [0x1f + 0x100 + 0x400 + (31 << 16); 32]);
    let text = "and.b32 %r1, %t, 3; match.any.sync.b32 %r2, %r1, -1; match.all.sync.b32 %r3|%p1, %r1, -1;\n\
        @%p1 mov.u32 %r2, 0; add.u32 %r2, %r2, %r3; st.global.u32 [%mine], %r2; ret;";
    let expected: Vec<u32> = (0..32).map(|lane| 0x1111_1111 << (lane % 4)).collect();
    assert_eq!(run(text, 32), expected);
}

#[test]
fn one_lane_is_elected() {
    let text = entry(
        "elect.sync %r1|%p1, -1; selp.u32 %r2, 1000, 0, %p1; add.u32 %r1, %r1, %r2;\nst.global.u32 [%mine], %r1; ret;",
    );
    for seed in 0..20 {
        let (found, _) = launch_text(&text, Launch { seed, ..block(32) }).unwrap();
        let leaders: Vec<usize> = (0..32).filter(|lane| found[*lane] >= 1000).collect();
        assert_eq!(leaders.len(), 1);
        assert!(found.iter().all(|word| *word as usize % 1000 == leaders[0]));
        assert!(seed != 0 || leaders[0] == 0);
    }
    let elected = |seed| launch_text(&text, Launch { seed, ..block(32) }).unwrap().0;
    assert!(
        (1..20).any(|seed| elected(seed)[0] < 1000),
        "some seed elects another lane"
    );
}

/// Lanes of a warp leave the loop after different numbers of turns, and shuffle together behind it.
#[test]
fn diverged_lanes_meet_behind_loops() {
    let text = "mov.u32 %r1, 0;\nLOOP: setp.ge.u32 %p1, %r1, %t; @%p1 bra DONE; add.u32 %r1, %r1, 1; bra LOOP;\n\
        DONE: shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; st.global.u32 [%mine], %r2; ret;";
    let expected: Vec<u32> = (0..32).map(|lane| 31 - lane).collect();
    assert_eq!(run(text, 32), expected);
}

#[test]
fn nested_conditionals_and_indexed_branches() {
    let text = "and.b32 %r1, %t, 3;\nT: .branchtargets A, B, C, B;\nbrx.idx %r1, T;\n\
        A: mov.u32 %r2, 10; bra END;\nB: setp.lt.u32 %p1, %t, 16; @%p1 bra LOW; mov.u32 %r2, 20; bra END;\n\
        LOW: mov.u32 %r2, 21; bra END;\nC: mov.u32 %r2, 30;\nEND: bar.sync 0; st.global.u32 [%mine], %r2; ret;";
    let value = |lane: u32| match lane % 4 {
        0 => 10,
        2 => 30,
        _ if lane < 16 => 21,
        _ => 20,
    };
    assert_eq!(run(text, 40), (0..40).map(value).collect::<Vec<u32>>());
}

/// A lane waits in a loop for what another lane of its warp stores behind the branch.
#[test]
fn lanes_of_a_warp_run_independently() {
    let text = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [tile], 0; bar.sync 0; @%p1 bra WAIT; bra SET;\n\
        WAIT: ld.volatile.shared.u32 %r1, [tile]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; bra END;\n\
        SET: st.volatile.shared.u32 [tile], 7; mov.u32 %r1, 1;\nEND: st.global.u32 [%mine], %r1; ret;";
    let found = run(text, 2);
    assert_eq!(found, [7, 1]);
}

#[test]
fn shared_memory_and_barriers() {
    let text = "mul.lo.u32 %r1, %t, 4; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %t;\n\
        bar.sync 0;\nxor.b32 %r3, %t, 127; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3];\n\
        st.global.u32 [%mine], %r4; ret;";
    assert_eq!(run(text, 128), (0..128).rev().collect::<Vec<u32>>());
}

/// Two producer warps arrive, two consumer warps wait; then the consumers alone.
#[test]
fn named_barriers() {
    let text = "setp.lt.u32 %p1, %t, 64; @%p1 bra PRODUCE;\nbarrier.cta.sync.aligned 3, 128;\n\
        ld.shared.u32 %r1, [tile]; bar.sync 4, 64; bra END;\n\
        PRODUCE: @%p1 st.shared.u32 [tile], 5; bar.arrive 3, 128; mov.u32 %r1, 1;\n\
        END: st.global.u32 [%mine], %r1; ret;";
    let found = run(text, 128);
    assert_eq!((&found[..64], &found[64..]), (&[1; 64][..], &[5; 64][..]));
}

#[test]
fn barriers_count() {
    let text = "setp.lt.u32 %p1, %t, 70; bar.red.popc.u32 %r1, 0, %p1; bar.red.or.pred %p2, 0, !%p1;\n\
        bar.red.and.pred %p3, 0, %p1; selp.u32 %r2, 1000, 0, %p2; selp.u32 %r3, 5000, 0, %p3;\n\
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, 100), [1070; 100]);
}

/// Warps that have exited are not waited for.
#[test]
fn barriers_go_on_without_exited_warps() {
    let text = "setp.ge.u32 %p1, %t, 32; @%p1 exit; bar.sync 0; st.global.u32 [%mine], 3; ret;";
    assert_eq!(run(text, 64)[31..33], [3, 0]);
}

/// Nor are lanes that have, by `exit` or by a branch to the end, which nvcc makes of `return`.
#[test]
fn barriers_go_on_without_exited_lanes() {
    for leave in ["exit", "ret", "bra END"] {
        let text = format!(
            "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; @%p1 {leave}; mov.u32 %r2, 0;\n\
             LOOP: bar.sync 0; bar.warp.sync -1; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4; @%p2 bra LOOP;\n\
             st.global.u32 [%mine], %r2;\nEND: ret;"
        );
        let found = run(&text, 64);
        let expected: Vec<u32> = (0..64).map(|thread| (1 - thread % 2) * 4).collect();
        assert_eq!(found, expected, "{leave}");
    }
}

#[test]
fn misused_barriers() {
    let diverged = "setp.lt.u32 %p1, %t, 5; @%p1 bra A; bra END;\nA: bar.sync 0;\n\
         END: mov.u32 %r1, 0; ret;";
    assert!(fails(diverged, 32).starts_with("no thread of the block can go on"));
    let both =
        "setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.sync 0; bra END;\nA: bar.sync 0;\nEND: ret;";
    assert_eq!(
        fails(both, 32),
        "the lanes of the warp reach this aligned barrier diverged"
    );
    let unaligned = both.replace("bar.sync", "barrier.sync");
    assert_eq!(run(&unaligned, 32), [0; 32]);
    let missing = "setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 96; ret;";
    assert!(fails(missing, 96).contains("warp 0, lanes 0xffffffff: at a barrier"));
    assert_eq!(fails("bar.sync 16; ret;", 32), "there is no barrier 16");
    assert_eq!(fails("bar.sync 1, 40; ret;", 64), "barrier 1 of 40 threads");
    let twice = "bar.arrive 1, 64; bar.sync 1, 64; ret;";
    assert!(fails(twice, 32).starts_with("barrier 1 of 64 threads"));
    let one = "setp.ge.u32 %p1, %t, 32; @%p1 bra END; bar.arrive 1, 64; bar.sync 1, 64;\nEND: ret;";
    assert!(fails(one, 64).contains("arrives twice at barrier 1"));
}

#[test]
fn misused_shuffles() {
    let idle =
        "setp.lt.u32 %p1, %t, 4; @!%p1 bra END; shfl.sync.idx.b32 %r1, %t, 9, 31, 0xf;\nEND: ret;";
    assert_eq!(fails(idle, 32), "it reads lane 9, which does not take part");
    let absent =
        "setp.lt.u32 %p1, %t, 4; @!%p1 bra END; shfl.sync.idx.b32 %r1, %t, 0, 31, 0x3;\nEND: ret;";
    assert_eq!(fails(absent, 32), "this lane is not in its member mask 0x3");
    let waits =
        "setp.lt.u32 %p1, %t, 4; @!%p1 bra END; shfl.sync.idx.b32 %r1, %t, 0, 31, -1;\nEND: ret;";
    assert!(fails(waits, 32).contains("lanes 0x0000000f: for other lanes of the warp"));
}

#[test]
fn calls_pass_values_and_recurse() {
    let text = entry(
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call.uni (r), factorial, (a); ld.param.b32 %r1, [r]; }\n\
         st.global.u32 [%mine], %r1; ret;",
    );
    let function = ".func (.param .b32 r) factorial(.param .b32 n)\n{\n.reg .b32 %a<4>; .reg .pred p; .local .align 4 .b8 kept[4];\n\
        .reg .b64 at;\nld.param.u32 %a1, [n]; mov.u64 at, kept; cvta.local.u64 at, at; st.u32 [at], %a1;\n\
        setp.le.u32 p, %a1, 1; @p bra ONE;\nsub.u32 %a2, %a1, 1;\n\
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %a2; call (y), factorial, (x); ld.param.b32 %a3, [y]; }\n\
        ld.u32 %a1, [at]; mul.lo.u32 %a3, %a3, %a1; st.param.b32 [r], %a3; ret;\n\
        ONE: st.param.b32 [r], 1; ret;\n}\n";
    let text = text.replace(".visible .entry", &format!("{function}.visible .entry"));
    let (found, _) = launch_text(&text, block(10)).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(found, [1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362_880]);
}

#[test]
fn calls_without_end() {
    let function =
        ".func f() { call f; ret; }\n.func g() { .local .b8 kept[1000]; call g; ret; }\n";
    for name in ["f", "g"] {
        let text = entry(&format!("call {name}; ret;"));
        let text = text.replace(".visible .entry", &format!("{function}.visible .entry"));
        let report = launch_text(&text, block(1)).unwrap_err();
        assert!(
            report.message.starts_with("too many nested calls"),
            "{report}"
        );
        assert_eq!(report.function, name);
    }
}

#[test]
fn local_memory_is_of_each_lane() {
    let text = ".local .align 16 .b8 stack[32]; mov.u64 %d1, stack; add.u64 %d1, %d1, 8;\n\
        st.local.v2.u32 [%d1], {%t, 5}; cvta.local.u64 %d2, %d1; ld.v2.u32 {%r1, %r2}, [%d2];\n\
        add.u32 %r1, %r1, %r2; st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, 3), [5, 6, 7]);
    let outside =
        ".local .align 16 .b8 stack[32]; mov.u64 %d1, stack; st.local.u32 [%d1+32], 1; ret;";
    assert!(fails(outside, 1).starts_with("4 bytes at local address 0x20"));
}

#[test]
fn loads_extend_and_stores_truncate() {
    let text = "st.shared.u32 [tile], 0x8081ff02; st.shared.u32 [tile+8], 0; ld.shared.s8 %r1, [tile+1]; ld.shared.u8 %r2, [tile+3];\n\
        ld.shared.s16 %r3, [tile+2]; st.shared.u8 [tile+8], 0x1234; ld.shared.u32 %r4, [tile+8];\n\
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; st.global.u32 [%mine], %r1; ret;";
    let expected = (-1_i32) + 0x80 + i32::from(0x8081_u16.cast_signed()) + 0x34;
    assert_eq!(run(text, 1), [expected.cast_unsigned()]);
}

#[test]
fn atomics() {
    let text = "mov.u32 %r9, tile;\nsetp.eq.u32 %p1, %t, 0; @%p1 st.shared.v4.u32 [tile], {0, 0, 0, 0}; bar.sync 0;\n\
        atom.shared.add.u32 %r1, [%r9], %t; red.shared.max.s32 [tile+4], %t; atom.shared.inc.u32 %r2, [tile+8], 5;\n\
        atom.shared.cas.b32 %r3, [tile+12], 0, %t; bar.sync 0; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [tile];\n\
        mad.lo.u32 %r4, %r5, 10000, %r4; mad.lo.u32 %r4, %r6, 1000000, %r4; st.global.u32 [%mine], %r4; ret;";
    // Sum 496, maximum 31, 32 increments modulo 6 leave 2.
    assert_eq!(run(text, 32), [496 + 310_000 + 2_000_000; 32]);
    let floats = "st.shared.f32 [tile], 0f3F800000; bar.sync 0; red.shared.add.f32 [tile], 0f3F000000; bar.sync 0;\n\
        ld.shared.f32 %r1, [tile]; st.global.f32 [%mine], %r1; ret;";
    assert_eq!(run(floats, 8), [5.0_f32.to_bits(); 8]);
}

/// `red` of vectors: each element by itself, by all lanes.
#[test]
fn sums_of_vectors() {
    let text = "mov.u32 %r1, 0x3F800000; mov.u32 %r2, 0xC0000000; mov.u32 %r3, 0x3C003C00; mov.u32 %r4, 0x40003C00;\n\
        red.relaxed.gpu.global.add.v4.f32 [%out], {%r1, %r2, %r1, %r1};\n\
        red.global.v2.f32.add [%out+8], {%r2, 0f40400000}; red.add.v2.f32 [%out+16], {%r1, %r1};\n\
        red.relaxed.gpu.global.add.noftz.v2.f16x2 [%out+32], {%r3, %r4};\n\
        red.global.add.noftz.v8.f16 [%out+48], {0x3C00, 0, 0, 0x4000, 0, 0, 0, 0xBC00}; ret;";
    let found = run(text, 32);
    let floats = [32.0_f32, -64.0, 32.0 - 64.0, 32.0 + 96.0, 32.0, 32.0].map(f32::to_bits);
    assert_eq!(found[..6], floats);
    // Of f16: 32, 64 and -32.
    assert_eq!(found[8..10], [0x5000_5000, 0x5400_5000]);
    assert_eq!(found[12..16], [0x5000, 0x5400_0000, 0, 0xD000_0000]);
    assert!(
        found[6..8]
            .iter()
            .chain(&found[16..])
            .all(|word| *word == 0)
    );
    // Subnormal numbers are zeros in global memory only.
    let tiny = "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.u32 %r1, 3; st.shared.u32 [tile], 5;\n\
        red.shared.add.f32 [tile], %r1; red.global.add.f32 [%out], %r1; red.add.v2.f32 [%out+8], {%r1, 0f80000001};\n\
        ld.shared.u32 %r2, [tile]; st.global.u32 [%out+4], %r2;\nEND: ret;";
    assert_eq!(run(tiny, 32)[..4], [0, 8, 0, 0]);
}

#[test]
fn vectors_of_sums_have_places() {
    let sum = |rest: &str| fails(&format!("mov.u32 %r1, 0; red.{rest}; ret;"), 32);
    let four = "{%r1, %r1, %r1, %r1}";
    assert!(
        sum(&format!("global.add.v4.f32 [%out+8], {four}")).ends_with("is not a multiple of 16")
    );
    assert!(sum("global.add.v2.f32 [%out+4], {%r1, %r1}").ends_with("is not a multiple of 8"));
    assert!(sum(&format!("global.add.v4.f32 [%out+256], {four}")).contains("are in no allocation"));
    for (what, text) in [
        (
            "a vector in shared memory",
            format!("shared.add.v4.f32 [tile], {four}"),
        ),
        ("8 elements", format!("global.add.v8.f32 [%out], {four}")),
        (
            "`.and` of 4 elements",
            format!("global.and.v4.b32 [%out], {four}"),
        ),
        (
            "4 elements of `.u32`",
            format!("global.add.v4.u32 [%out], {four}"),
        ),
        (
            "2 elements of a vector",
            "global.add.v4.f32 [%out], {%r1, %r1}".to_owned(),
        ),
    ] {
        assert!(sum(&text).contains(what), "{text}: {}", sum(&text));
    }
    let shared = "mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; mov.u32 %r1, 0; red.add.v2.f32 [%d1], {%r1, %r1}; ret;";
    assert!(
        fails(shared, 1).contains("outside of global memory"),
        "{}",
        fails(shared, 1)
    );
}

#[test]
fn grids_and_their_special_registers() {
    let text = entry(
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ntid.x;\n\
         mad.lo.u32 %r5, %r2, %r3, %r1; mad.lo.u32 %r6, %r5, %r4, %t; mul.wide.u32 %d1, %r6, 4;\n\
         add.u64 %d1, %d1, %out; st.global.u32 [%d1], %r6; ret;",
    );
    let launch = Launch {
        grid: [3, 2, 1],
        ..block(33)
    };
    let (found, counts) = launch_text(&text, launch).unwrap();
    assert_eq!(found, (0..33 * 6).collect::<Vec<u32>>());
    // 4 instructions before and 10 in the text, by two warps of six blocks.
    assert_eq!(counts.warp_instructions, 14 * 12);
    assert_eq!(counts.thread_instructions, 14 * 33 * 6);
}

/// Each block waits for all others.
#[test]
fn cooperative_grids_run_together() {
    let text = entry(
        "atom.global.add.u32 %r1, [%out], 1;\nWAIT: ld.acquire.gpu.global.u32 %r2, [%out]; setp.lt.u32 %p1, %r2, 4; @%p1 bra WAIT; ret;",
    );
    let launch = Launch {
        grid: [4, 1, 1],
        is_cooperative: true,
        ..block(1)
    };
    assert_eq!(launch_text(&text, launch).unwrap().0[0], 4);
    let alone = Launch {
        is_cooperative: false,
        instruction_limit: 100_000,
        ..launch
    };
    let message = launch_text(&text, alone).unwrap_err().message;
    assert_eq!(message, "the launch goes on after 100000 warp instructions");
}

#[test]
fn reports_of_threads() {
    let trap = launch_text(
        &entry("setp.eq.u32 %p1, %t, 37; @%p1 trap; ret;"),
        block(64),
    )
    .unwrap_err();
    assert_eq!(
        (trap.message.as_str(), trap.thread),
        ("the thread traps", Some([37, 0, 0]))
    );
    let (line, mnemonic) = trap.instruction.unwrap();
    assert_eq!((line, mnemonic.as_str()), (13, "trap"));
    assert!(fails("ld.global.u32 %r1, [%out+2]; ret;", 1).ends_with("is not a multiple of 4"));
    assert!(fails("ld.shared.u32 %r1, [tile+2]; ret;", 1).ends_with("is not a multiple of 4"));
    assert!(fails("st.shared.u16 [tile+1], 0; ret;", 1).ends_with("is not a multiple of 2"));
    assert!(
        fails("ld.global.v2.u32 {%r1, %r2}, [%out+4]; ret;", 1).ends_with("is not a multiple of 8")
    );
    assert!(fails("ld.shared.u32 %r1, [tile+4096]; ret;", 1).contains("are in no variable"));
    assert!(fails("mov.u64 %d1, 0; ld.u32 %r1, [%d1]; ret;", 1).contains("are in no allocation"));
    assert_eq!(
        fails("tcgen05.wait::ld.sync.aligned; ret;", 1),
        "`tcgen05.wait::ld.sync.aligned` is not implemented: this opcode"
    );
    assert_eq!(
        fails("call.uni printf_like; ret;", 1),
        "a call of `printf_like`, which has no body, is not implemented"
    );
}

/// A refused instruction is no error as long as no lane executes it.
#[test]
fn refusals_are_of_executed_instructions() {
    let text = "setp.gt.u32 %p1, %t, 99; @%p1 tcgen05.wait::ld.sync.aligned; st.global.u32 [%mine], 1; ret;";
    assert_eq!(run(text, 4), [1; 4]);
}

#[test]
fn launches_that_do_not_fit() {
    let text = entry("ret;").replace(")\n{", ")\n.maxntid 64, 1, 1\n{");
    assert!(
        launch_text(&text, block(65))
            .unwrap_err()
            .message
            .contains("at most 64 are allowed")
    );
    assert!(
        launch_text(&entry("ret;"), block(0))
            .unwrap_err()
            .message
            .contains("1024")
    );
    let mut machine = Machine::load(&entry("ret;")).unwrap();
    let message = |result: Result<Counts, Report>| result.unwrap_err().message;
    assert_eq!(
        message(machine.launch("k", &block(1), &[])),
        "0 arguments for 1 parameters"
    );
    assert_eq!(
        message(machine.launch("k", &block(1), &[&[0; 4]])),
        "parameter 0 has 8 bytes, its argument 4"
    );
    assert_eq!(
        message(machine.launch("q", &block(1), &[])),
        "there is no entry `q`"
    );
    let many = Launch {
        grid: [5000, 1, 1],
        is_cooperative: true,
        ..block(1)
    };
    assert!(message(machine.launch("k", &many, &[&[0; 8]])).contains("cannot run together"));
    let large = Launch {
        dynamic_shared: 300_000,
        ..block(1)
    };
    assert!(message(machine.launch("k", &large, &[&[0; 8]])).contains("bytes of shared memory"));
}

#[test]
fn module_variables() {
    let text = entry(
        "ld.const.u32 %r1, [c+4]; ld.global.u64 %d1, [p]; ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; st.global.u32 [%mine], %r1; ret;",
    );
    let text = text.replace(".shared .align 16", ".const .u32 c[2] = {1, 20};\n.global .u32 g = 300;\n.global .u64 p = generic(g);\n.shared .align 16");
    assert_eq!(launch_text(&text, block(1)).unwrap().0, [320]);
    let machine = Machine::load(&text).unwrap();
    let address = machine.variable("g").unwrap();
    assert_eq!(machine.read(address, 4).unwrap(), 300_u32.to_le_bytes());
    assert!(Machine::load(".version 9.0\n.target sm_90a\n.global .u64 p = q;").is_err());
}

/// Only what a thread executes counts: not what none reaches, and not what a predicate disables.
#[test]
fn executed_forms() {
    let text = entry(
        "setp.eq.u32 %p1, %t, 99; @%p1 bra $other; @%p1 sub.u32 %r1, %t, 1;\n\
         @!%p1 xor.b32 %r1, %t, 1; ret;\n$other: add.u32 %r1, %t, 1; ret;",
    );
    let mut machine = Machine::load(&text).unwrap();
    let out = machine.allocate("out", 256).to_le_bytes();
    assert!(machine.executed().is_empty());
    machine.launch("k", &block(64), &[&out]).unwrap();
    let found = machine.executed();
    let has = |form: &str| found.contains(form);
    assert!(has("setp.eq.u32") && has("xor.b32") && has("ret"));
    assert!(!has("bra") && !has("sub.u32") && !has("add.u32"));
    machine.launch("k", &block(100), &[&out]).unwrap();
    assert!(machine.executed().contains("add.u32"));
}
