use super::*;

fn of(text: &str, operands: usize) -> Result<String, String> {
    let names = vec![None; operands];
    let template = Template::parse(text, &names).expect("a template");
    let value = |n| Value {
        text: format!("x{n}"),
        is_constant: true,
    };
    let values: Vec<Value> = (0..operands).map(value).collect();
    translated(&template, &values)
}

fn knows(text: &str) {
    let found = of(text, 8);
    assert!(found.is_ok(), "{text}: {found:?}");
}

fn unknown(text: &str) -> String {
    of(text, 8).expect_err(text)
}

#[test]
fn the_instructions_of_the_list_are_known() {
    for text in [
        "setmaxnreg.inc.sync.aligned.u32 240;",
        "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents;",
        "bar.sync 1, 128;",
        "barrier.sync.aligned 2;",
        "bar.arrive 3, 64;",
        "bar.warp.sync 0xffffffff;",
        "nanosleep.u32 20;",
        "prefetch.global.L2 [%0];",
        "prefetchu.L1 [%0];",
        "prefetch.global.L2::evict_last [%0 + 128];",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "fence.proxy.async;",
        "mov.u32 %0, %laneid;",
        "mov.u32 %0, %%tid.x;",
        "mov.u64 %0, %%globaltimer;",
        "mov.b64 %0, {%1, %2};",
        "mov.b64 {%0, _}, %1;",
        "add.s32 %0, %1, -5;",
        "add.rn.ftz.f32 %0, %1, 0f3F800000;",
        "mul.wide.u32 %0, %1, %2;",
        "mad.lo.s32 %0, %1, %2, %3;",
        "fma.rn.f32 %0, %1, %2, %3;",
        "shl.b32 %0, %1, 3;",
        "popc.b64 %0, %1;",
        "bfe.u32 %0, %1, 4, 8;",
        "bfi.b32 %0, %1, %2, 4, 8;",
        "cvt.rn.f16.f32 %0, %1;",
        "cvt.rzi.s32.f32 %0, %1;",
        "cvt.rn.bf16x2.f32 %0, %1, %2;",
        "cvt.u32.u64 %0, %1;",
        "ex2.approx.ftz.f32 %0, %1;",
        "rsqrt.approx.f32 %0, %1;",
        "lop3.b32 %0, %1, %2, %3, 0x96;",
        "prmt.b32 %0, %1, %2, 0x5410;",
        "{ .reg .pred p; setp.ne.b32 p, %1, 0; selp.b32 %0, %2, %3, p; }",
        "{\n .reg .b32 t<2>; // a comment\n mov.b32 t0, %1; add.u32 t1, t0, 1; @!p0 mov.b32 %0, t1;\n}"
            .replace("@!p0 ", "")
            .as_str(),
        "shfl.sync.bfly.b32 %0, %1, 16, 31, -1;",
        "vote.sync.ballot.b32 %0, 1, 0xffffffff;",
        "ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];",
        "st.global.f32 [%0 + 4], %1;",
        "red.relaxed.gpu.global.add.f32 [%0], %1;",
        "red.global.min.s32 [%0 + 8], -1;",
        "atom.global.add.u32 %0, [%1], 1;",
        "atom.acq_rel.sys.add.u64 _, [%0], %1;",
        "atom.global.cas.b32 %0, [%1], %2, %3;",
    ] {
        knows(text);
    }
}

#[test]
fn what_is_not_known_is_named() {
    assert_eq!(
        unknown("add.u32 %0, %1, %2;\n vabsdiff4.u32 %0, %1, %2;"),
        "vabsdiff4.u32 %0, %1, %2"
    );
    assert_eq!(unknown("add.rz.f32 %0, %1, %2;"), "add.rz.f32 %0, %1, %2");
    assert_eq!(unknown("add.u32 %0, %1, t;"), "add.u32 %0, %1, t");
    assert_eq!(unknown("mov.u32 %0, %no_such;"), "mov.u32 %0, %no_such");
    assert_eq!(unknown("add.u32 %0, %1, %tid.x;"), "add.u32 %0, %1, %tid.x");
    unknown("red.shared.add.u32 [%0], 1;");
    unknown("red.global.add.s64 [%0], 1;");
    unknown("red.global.exch.b32 [%0], 1;");
    unknown("red.global.add.u32 %0, [%1], 1;");
    unknown("atom.global.add.u32 %0, %1, 1;");
    unknown("lab: bra lab;");
    unknown("add.u32 %0, %1;");
    unknown("{ add.u32 %0, %1, %2;");
}

#[test]
fn guards_and_registers_become_cpp() {
    let text = "{ .reg .pred p; setp.lt.s32 p, %1, 0; @p mov.b32 %0, 7; }";
    let found = of(text, 2).expect("known");
    assert_eq!(
        found,
        "({ { [[maybe_unused]] bool croq_register_0{}; croq::ptx_put(croq_register_0, \
         (croq::ptx_as<int>((x1)) < \
         static_cast<int>(0ull))); if (croq::ptx_as<bool>(croq_register_0)) { croq::ptx_put((x0), \
         static_cast<unsigned>(7ull)); } } })"
    );
}

#[test]
fn placeholders_have_numbers_and_names() {
    let template = Template::parse("add.u32 %[sum], %1, %%laneid;", &[Some("sum"), None]);
    assert_eq!(
        template.expect("a template").numbered(),
        "add.u32 %0, %1, %%laneid;"
    );
    assert_eq!(
        Template::parse("%2", &[None]),
        Err(Fault::Number("2".to_owned()))
    );
    let other = Template::parse("%[b]", &[Some("a")]);
    assert_eq!(other, Err(Fault::Name("b".to_owned())));
}

#[test]
fn statements_of_cpp_are_found() {
    let text = r#"__device__ int f(int x) { // asm("no")
  int y; asm volatile ("add.s32 %0, %1, 1;\n\t"
    "add.s32 %0, %0, %[k];" : "=r"(y) : "r"(g(x, 2)), [k] "r"(a::b) : "memory"); return y; }"#;
    let found = statements(text);
    let [statement] = found.as_slice() else {
        panic!("{found:?}");
    };
    let range = text.get(statement.range.clone()).expect("a range");
    assert!(range.starts_with("asm volatile") && range.ends_with("\"memory\")"));
    let simulated = statement.simulated();
    assert!(
        simulated.contains("auto &&croq_operand_1 = (g(x, 2));"),
        "{simulated}"
    );
    assert!(
        simulated.contains("croq::ptx_as<int>(croq_operand_2)"),
        "{simulated}"
    );
    assert!(statements("asm_value = 3; x.asm;").is_empty());
    let [macro_text] = &statements("asm(TEXT : : );")[..] else {
        panic!("one statement");
    };
    assert!(macro_text.simulated().contains("unknown_assembly"));
}

#[test]
fn instructions_of_newer_gpus_are_found() {
    let needs_sm_90 = |text| needs_sm_90(&Template::parse(text, &[None, None]).expect("a text"));
    for text in [
        "griddepcontrol.wait;",
        "mov.u32 %0, 1;\n@p setmaxnreg.inc.sync.aligned.u32 240;",
        "{ .reg .pred p; elect.sync _|p, 0xffffffff; }",
    ] {
        assert!(needs_sm_90(text), "{text}");
    }
    for text in [
        "add.s32 %0, %1, 2;",
        "// griddepcontrol.wait",
        "fence.proxy.alias;",
    ] {
        assert!(!needs_sm_90(text), "{text}");
    }
}
