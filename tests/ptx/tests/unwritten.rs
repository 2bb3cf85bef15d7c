//! Programs whose results depend on memory or registers that nothing has written, each beside one
//! that only reads them.

use croq_ptx::machine::{Launch, Machine, Report};

/// An entry with `%t` the thread's index, `%mine` the address of its word of `out` and `%in` that of
/// `input`, of which only the first 64 bytes are written.
fn entry(statements: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[4096];\n\
         .visible .entry k(.param .u64 out, .param .u64 input)\n{{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<29>; .reg .b64 %d<9>;\n\
         .reg .b32 %t; .reg .b32 %at; .reg .b64 %out; .reg .b64 %in; .reg .b64 %mine;\n\
         ld.param.u64 %out, [out]; ld.param.u64 %in, [input]; mov.u32 %t, %tid.x;\n\
         mul.wide.u32 %mine, %t, 4; add.u64 %mine, %mine, %out;\n\
         shl.b32 %at, %t, 2; mov.u32 %r1, tile; add.u32 %at, %at, %r1; setp.eq.u32 %p1, %t, 0;\n{statements}\n}}\n"
    )
}

fn launch_text(text: &str, launch: &Launch) -> Result<(), Report> {
    let mut machine = Machine::load(text).unwrap_or_else(|error| panic!("{error}"));
    let out = machine.allocate("out", 8192);
    let input = machine.allocate_unwritten("input", 8192);
    machine.write(input, &[1; 64]).unwrap();
    assert_eq!(machine.first_unwritten(input, 8192), Some(input + 64));
    let arguments: [&[u8]; 2] = [&out.to_le_bytes(), &input.to_le_bytes()];
    machine.launch("k", launch, &arguments).map(|_| ())
}

fn shape(threads: u32, seed: u64) -> Launch {
    Launch {
        grid: [2, 1, 1],
        block: [threads, 1, 1],
        seed,
        ..Launch::default()
    }
}

fn fails(statements: &str, how: &str) {
    for (threads, seed) in [(1, 0), (32, 0), (32, 5)] {
        let mut launch = shape(threads, seed);
        // Blocks write the same results.
        launch.checks.races = false;
        match launch_text(&entry(statements), &launch) {
            Err(report) => assert_eq!(
                report.message,
                format!("a value that nothing has written {how}"),
                "{report}"
            ),
            Ok(()) => panic!("no report by {threads} threads of\n{statements}"),
        }
        launch.checks.unwritten = false;
        launch_text(&entry(statements), &launch).unwrap_or_else(|report| panic!("{report}"));
    }
}

fn passes(statements: &str) {
    for (threads, seed) in [(1, 0), (32, 0), (32, 5)] {
        let mut launch = shape(threads, seed);
        launch.checks.races = false;
        let result = launch_text(&entry(statements), &launch);
        result.unwrap_or_else(|report| panic!("{report}\n{statements}"));
    }
}

const STORED: &str = "is stored to global memory";

#[test]
fn memory() {
    let store = "st.global.u32 [%mine], %r2; ret;";
    fails(&format!("ld.shared.u32 %r2, [%at]; {store}"), STORED);
    passes(&format!(
        "st.shared.u32 [%at], 0; ld.shared.u32 %r2, [%at]; {store}"
    ));
    fails(
        &format!("st.shared.u32 [%at], 0; ld.shared.u32 %r2, [%at+128]; {store}"),
        STORED,
    );
    fails(
        &format!("st.shared.u16 [%at], 0; ld.shared.u32 %r2, [%at]; {store}"),
        STORED,
    );
    passes("ld.shared.u32 %r2, [%at]; add.u32 %r2, %r2, 1; ret;");
    let local = ".local .align 16 .b8 kept[16]; mov.u64 %d1, kept; INIT ld.local.u32 %r2, [%d1+4];";
    fails(
        &format!(
            "{} {store}",
            local.replace("INIT", "st.local.u32 [%d1], 1;")
        ),
        STORED,
    );
    passes(&format!(
        "{} {store}",
        local.replace("INIT", "st.local.v2.u32 [%d1], {1, 1};")
    ));
    fails(&format!("ld.global.u32 %r2, [%in+64]; {store}"), STORED);
    passes(&format!("ld.global.u32 %r2, [%in+60]; {store}"));
    passes(&format!(
        "st.global.u32 [%in+64], 1; ld.global.u32 %r2, [%in+64]; {store}"
    ));
    // Generic addresses.
    fails(
        "cvt.u64.u32 %d1, %at; cvta.shared.u64 %d1, %d1; ld.u32 %r2, [%d1]; st.u32 [%mine], %r2; ret;",
        STORED,
    );
    fails("ld.u32 %r2, [%in+64]; st.u32 [%in+128], %r2; ret;", STORED);
}

#[test]
fn copies_carry_marks_on() {
    let text = "ld.shared.u32 %r2, [%at]; st.shared.u32 [%at+128], %r2; bar.sync 0; FIX ld.shared.u32 %r3, [%at+128]; st.global.u32 [%mine], %r3; ret;";
    fails(&text.replace("FIX", ""), STORED);
    passes(&text.replace("FIX", "st.shared.u32 [%at+128], 1;"));
    let local = ".local .align 8 .b8 kept[8]; mov.u64 %d1, kept; cvta.local.u64 %d1, %d1; ld.shared.u32 %r2, [%at]; st.u32 [%d1], %r2;\n\
        st.u32 [%d1+4], 1; ld.u32 %r3, [%d1+WHERE]; st.global.u32 [%mine], %r3; ret;";
    fails(&local.replace("WHERE", "0"), STORED);
    passes(&local.replace("WHERE", "4"));
}

#[test]
fn registers() {
    fails("st.global.u32 [%mine], %r9; ret;", STORED);
    fails(
        "add.u32 %r9, %r9, 1; add.u32 %r9, %r9, 1; st.global.u32 [%mine], %r9; ret;",
        STORED,
    );
    passes("mov.u32 %r9, 4; st.global.u32 [%mine], %r9; ret;");
    passes("xor.b32 %r9, %r9, %r9; st.global.u32 [%mine], %r9; ret;");
    let arms = "@%p1 mov.u32 %r9, 4; SECOND st.global.u32 [%mine], %r9; ret;";
    passes(&arms.replace("SECOND", "@!%p1 mov.u32 %r9, 5;"));
    let one = arms.replace("SECOND", "");
    let launch = shape(32, 0);
    let report = launch_text(&entry(&one), &launch).unwrap_err();
    assert_eq!(report.thread, Some([1, 0, 0]));
    let carry = "ld.shared.u32 %r2, [%at]; add.cc.u32 %r3, WHAT, 1; addc.u32 %r4, 0, 0; st.global.u32 [%mine], %r4; ret;";
    fails(&carry.replace("WHAT", "%r2"), STORED);
    passes(&carry.replace("WHAT", "%t"));
}

#[test]
fn decisions() {
    let unwritten = "ld.shared.u32 %r2, [%at]; setp.eq.u32 %p2, %r2, 5;";
    passes(&format!("{unwritten} ret;"));
    fails(
        &format!("{unwritten} @%p2 bra END; st.global.u32 [%mine], 1;\nEND: ret;"),
        "decides this branch",
    );
    fails(
        &format!("{unwritten} @%p2 st.global.u32 [%mine], 1; ret;"),
        "decides whether this access is executed",
    );
    fails(
        &format!("{unwritten} @%p2 ret; st.global.u32 [%mine], 1; ret;"),
        "decides where execution goes on",
    );
    fails(
        &format!(
            "{unwritten} mov.u32 %r3, 1; @%p2 mov.u32 %r3, 2; st.global.u32 [%mine], %r3; ret;"
        ),
        STORED,
    );
    fails(
        &format!("{unwritten} selp.u32 %r3, 1, 2, %p2; st.global.u32 [%mine], %r3; ret;"),
        STORED,
    );
    fails(
        "ld.shared.u32 %r2, [%at];\nT: .branchtargets END;\nbrx.idx %r2, T;\nEND: ret;",
        "decides this branch",
    );
    fails(
        &format!("{unwritten} bar.red.popc.u32 %r3, 0, %p2; ret;"),
        "is an operand of a barrier",
    );
    let select =
        "ld.shared.u32 %r2, [%at]; selp.u32 %r3, A, B, %p3; st.global.u32 [%mine], %r3; ret;";
    let select = |a, b| {
        format!(
            "setp.lt.u32 %p3, %t, 99; {}",
            select.replace('A', a).replace('B', b)
        )
    };
    fails(&select("%r2", "7"), STORED);
    passes(&select("7", "%r2"));
}

#[test]
fn addresses_and_atomics() {
    fails(
        "ld.shared.u32 %r2, [%at]; and.b32 %r2, %r2, 4; add.u32 %r3, %at, %r2; ld.shared.u32 %r4, [%r3]; ret;",
        "is the address of this access",
    );
    fails(
        "ld.shared.u32 %r2, [%at]; and.b32 %r2, %r2, 4; add.u32 %r3, %at, %r2; st.shared.u32 [%r3], 1; ret;",
        "is the address of this access",
    );
    fails(
        "ld.shared.u32 %r2, [%at]; red.global.add.u32 [%mine], %r2; ret;",
        "is an operand of this atomic operation",
    );
    fails(
        "red.shared.add.u32 [%at], 1; ret;",
        "is modified by this atomic operation",
    );
    fails(
        "atom.global.add.u32 %r2, [%in+64], 1; ret;",
        "is modified by this atomic operation",
    );
    passes(
        "st.shared.u32 [%at], 0; atom.shared.add.u32 %r2, [%at], 1; st.global.u32 [%mine], %r2; ret;",
    );
}

/// Lanes have marks of their own.
#[test]
fn instructions_of_warps() {
    let text = "setp.ne.u32 %p2, %t, 3; mov.u32 %r2, 1; @!%p2 ld.shared.u32 %r2, [%at];\nOP\nst.global.u32 [%mine], %r3; ret;";
    let run = |op: &str| launch_text(&entry(&text.replace("OP", op)), &shape(32, 0));
    let thread = |op: &str| run(op).unwrap_err().thread.unwrap()[0];
    let races_are_off = |op: &str| {
        let mut launch = shape(32, 0);
        launch.checks.races = false;
        launch_text(&entry(&text.replace("OP", op)), &launch)
    };
    assert_eq!(thread("mov.u32 %r3, %r2;"), 3);
    assert_eq!(thread("shfl.sync.idx.b32 %r3, %r2, 3, 31, -1;"), 0);
    assert_eq!(thread("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;"), 2);
    assert_eq!(thread("shfl.sync.down.b32 %r3, %r2, 1, 31, -1;"), 2);
    races_are_off("shfl.sync.idx.b32 %r3, %r2, 4, 31, -1;").unwrap();
    races_are_off("shfl.sync.idx.b32 %r4|%p3, %r2, 3, 31, -1; selp.u32 %r3, 1, 0, %p3;").unwrap();
    assert_eq!(thread("shfl.sync.idx.b32 %r3, %t, %r2, 31, -1;"), 3);
    assert_eq!(thread("redux.sync.add.u32 %r3, %r2, -1;"), 0);
    assert_eq!(
        thread("setp.lt.u32 %p3, %r2, 9; vote.sync.ballot.b32 %r3, %p3, -1;"),
        0
    );
    assert_eq!(
        thread(
            "setp.lt.u32 %p3, %r2, 9; vote.sync.any.pred %p4, %p3, -1; selp.u32 %r3, 1, 0, %p4;"
        ),
        0
    );
    assert_eq!(thread("match.any.sync.b32 %r3, %r2, -1;"), 0);
    let half = "setp.ge.u32 %p3, %t, 16; mov.u32 %r3, 0; @%p3 bra HIGH; redux.sync.add.u32 %r4, %r2, 0xffff; bra NEXT;\n\
        HIGH: redux.sync.add.u32 %r3, %r2, 0xffff0000;\nNEXT:";
    races_are_off(half).unwrap();
}

/// Bytes of a value are apart from each other where instructions keep them so.
#[test]
fn bytes_of_values() {
    let half = "st.shared.u16 [%at], 5; ld.shared.u32 %r2, [%at];";
    let store = "st.global.u32 [%mine], %r3; ret;";
    passes(&format!(
        "{half} mov.b32 {{%h1, %h2}}, %r2; cvt.u32.u16 %r3, %h1; {store}"
    ));
    fails(
        &format!("{half} mov.b32 {{%h1, %h2}}, %r2; cvt.u32.u16 %r3, %h2; {store}"),
        STORED,
    );
    passes(&format!(
        "{half} mov.b32 {{%h1, %h2}}, %r2; mov.b32 %r3, {{%h1, %h1}}; {store}"
    ));
    fails(
        &format!("{half} mov.b32 {{%h1, %h2}}, %r2; mov.b32 %r3, {{%h1, %h2}}; {store}"),
        STORED,
    );
    passes(&format!("{half} and.b32 %r3, %r2, 0xffff; {store}"));
    fails(
        &format!("{half} and.b32 %r3, %r2, 0x1ffff; {store}"),
        STORED,
    );
    passes(&format!("{half} shl.b32 %r3, %r2, 16; {store}"));
    fails(&format!("{half} shl.b32 %r3, %r2, 8; {store}"), STORED);
    passes(&format!(
        "{half} shl.b32 %r3, %r2, 16; shr.u32 %r3, %r3, 16; {store}"
    ));
    passes(&format!("{half} prmt.b32 %r3, %r2, %t, 0x4140; {store}"));
    fails(
        &format!("{half} prmt.b32 %r3, %r2, %t, 0x4240; {store}"),
        STORED,
    );
    passes(&format!("{half} st.global.u16 [%mine], %r2; ret;"));
    passes(&format!(
        "{half} fma.rn.f16x2 %r3, %r2, %r2, %r2; st.global.u16 [%mine], %r3; ret;"
    ));
    fails(
        &format!("{half} fma.rn.f16x2 %r3, %r2, %r2, %r2; {store}"),
        STORED,
    );
    fails(
        &format!("{half} add.u32 %r3, %r2, 1; st.global.u16 [%mine], %r3; ret;"),
        STORED,
    );
    let vector = "st.shared.v2.u32 [tile], {1, 2}; st.shared.u32 [tile+12], 4; ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [tile]; st.global.u32 [%mine], WHICH; ret;";
    for (register, ok) in [("%r3", true), ("%r4", true), ("%r5", false), ("%r6", true)] {
        let text = vector.replace("WHICH", register);
        if ok {
            passes(&text)
        } else {
            fails(&text, STORED)
        }
    }
    // Signs.
    let byte = "st.shared.u8 [%at], 5; ld.shared.KIND %r3, [%at]; st.global.u32 [%mine], %r3; ret;";
    fails(&byte.replace("KIND", "s16"), STORED);
    let low = byte.replace("st.global.u32", "st.global.u8");
    passes(&low.replace("KIND", "s16"));
    passes(&byte.replace("KIND", "s8"));
}

/// An element of a product depends on a row of A, a column of B and its own place in C.
#[test]
fn products_of_matrices() {
    let text = "mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0; mov.b32 %r5, 0; setp.eq.u32 %p2, %t, LANE; @%p2 ld.shared.u32 WHICH, [%at];\n\
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r2, %r5}, {%r3}, {%r4, %r4, %r4, %r4};\n\
        setp.eq.u32 %p3, %t, READER; @%p3 st.global.u32 [%mine], RESULT; ret;";
    // The registers of the result that are marked in a lane.
    let marked = |which: &str, lane: u32, reader: u32| {
        let is_marked = |result: &&str| {
            let text = text.replace("WHICH", which).replace("RESULT", result);
            let text = text.replace("LANE", &lane.to_string());
            let text = text.replace("READER", &reader.to_string());
            let mut launch = shape(32, 0);
            launch.checks.races = false;
            launch_text(&entry(&text), &launch).is_err()
        };
        let all = ["%r10", "%r11", "%r12", "%r13"];
        all.into_iter().filter(is_marked).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    // Lane 6 has parts of rows 1 and 9 of A together with lanes 4 to 7.
    assert_eq!(marked("%r2", 6, 4), ["%r10", "%r11"]);
    assert_eq!(marked("%r5", 6, 7), ["%r12", "%r13"]);
    assert_eq!(
        (marked("%r2", 6, 3), marked("%r5", 6, 8)),
        (none.into(), none.into())
    );
    // Columns 2 and 3 of lanes with remainder 1 come from lanes 8 to 11 and 12 to 15 of B.
    assert_eq!(marked("%r3", 9, 1), ["%r10", "%r12"]);
    assert_eq!(marked("%r3", 15, 29), ["%r11", "%r13"]);
    assert_eq!(
        (marked("%r3", 9, 0), marked("%r3", 16, 1)),
        (none.into(), none.into())
    );
    assert_eq!(marked("%r4", 5, 5).len(), 4);
    assert_eq!(marked("%r4", 5, 4), none);
}

#[test]
fn matrices_in_shared_memory() {
    let text = "shl.b32 %r20, %t, 4; mov.u32 %r21, tile; add.u32 %r20, %r20, %r21; st.shared.v4.u32 [%r20], {0, 0, 0, 0}; bar.warp.sync -1;\n\
        setp.eq.u32 %p2, %t, 2; MARK ldmatrix.sync.aligned.m8n8.x1TRANS.shared.b16 {%r2}, [%r20]; st.global.u32 [%mine], %r2; ret;";
    let thread = |mark: &str, trans: &str| {
        let text = text.replace("MARK", mark).replace("TRANS", trans);
        let mut launch = shape(32, 0);
        launch.checks.races = false;
        launch_text(&entry(&text), &launch)
            .err()
            .map(|report| report.thread.unwrap()[0])
    };
    assert_eq!(thread("", ""), None);
    // The fourth and fifth byte of row 2 are the third element.
    let mark =
        "ld.shared.u16 %h1, [tile+4000]; @%p2 st.shared.u16 [%r20+4], %h1; bar.warp.sync -1;";
    assert_eq!(thread(mark, ""), Some(2 * 4 + 1));
    assert_eq!(thread(mark, ".trans"), Some(2 * 4 + 1));
    let mark = mark.replace("+4]", "+2]");
    assert_eq!(
        (thread(&mark, ""), thread(&mark, ".trans")),
        (Some(8), Some(4 + 1))
    );
    let store = "mov.b32 %r2, 0; setp.eq.u32 %p2, %t, 5; @%p2 ld.shared.u32 %r2, [%at+512]; shl.b32 %r20, %t, 4; mov.u32 %r21, tile; add.u32 %r20, %r20, %r21;\n\
        stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {%r2}; bar.warp.sync -1; ld.shared.u32 %r3, [tile+WHERE]; st.global.u32 [%mine], %r3; ret;";
    let stored = |place: &str| {
        let mut launch = shape(32, 0);
        launch.checks.races = false;
        launch_text(&entry(&store.replace("WHERE", place)), &launch).is_ok()
    };
    assert!(!stored("20") && stored("16") && stored("24"));
}

#[test]
fn calls() {
    let function = ".func (.param .b32 r) twice(.param .b32 n)\n{\n.reg .b32 %a<4>; ld.param.u32 %a1, [n]; RESULT st.param.b32 [r], %a1; ret;\n}\n";
    let call = "FIRST { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), twice, (a); ld.param.b32 %r3, [r]; }\nst.global.u32 [%mine], %r3; ret;";
    let run = |first: &str, result: &str| {
        let text = entry(&call.replace("FIRST", first));
        let function = function.replace("RESULT", result);
        let mut launch = shape(32, 0);
        launch.checks.races = false;
        launch_text(
            &text.replace(".visible .entry", &format!("{function}.visible .entry")),
            &launch,
        )
    };
    run("mov.u32 %r2, 3;", "add.u32 %a1, %a1, %a1;").unwrap();
    let argument = run("ld.shared.u32 %r2, [%at];", "add.u32 %a1, %a1, %a1;").unwrap_err();
    assert_eq!(
        (argument.message.as_str(), argument.function.as_str()),
        (
            "a value that nothing has written is stored to global memory",
            "k"
        )
    );
    run("ld.shared.u32 %r2, [%at];", "mov.u32 %a1, 2;").unwrap();
    assert!(run("mov.u32 %r2, 3;", "add.u32 %a1, %a1, %a2;").is_err());
}

#[test]
fn reports() {
    let text = entry(
        "ld.shared.u32 %r2, [tile+20];\nadd.u32 %r3, %r2, 1;\n@%p1 st.global.u32 [%mine], %r3; ret;",
    );
    let report = launch_text(&text, &shape(32, 0)).unwrap_err();
    assert_eq!(report.instruction, Some((14, "st.global.u32".to_owned())));
    let related = report.related.unwrap();
    assert_eq!(
        related.message,
        "the value was read here, from offset 20 of `tile` in shared memory"
    );
    assert_eq!(related.instruction, Some((12, "ld.shared.u32".to_owned())));
    let register =
        launch_text(&entry("st.global.u32 [%mine], %r9; ret;"), &shape(1, 0)).unwrap_err();
    assert_eq!(
        register.related.unwrap().message,
        "a register that is read before it is written: `%r9`"
    );
    let global = launch_text(
        &entry("ld.global.u32 %r2, [%in+80]; st.global.u32 [%mine], %r2; ret;"),
        &shape(1, 0),
    )
    .unwrap_err();
    assert!(
        global
            .related
            .unwrap()
            .message
            .ends_with("from offset 80 of `input`")
    );
}
