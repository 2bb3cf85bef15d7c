use super::{
    Address, Base, Extent, FunctionKind, Initial, Label, Location, Module, Operand, RegisterId,
    Space, Type, VariableId, parse,
};

const HEAD: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n";

fn module(text: &str) -> Module {
    match parse(&format!("{HEAD}{text}")) {
        Ok(module) => module,
        Err(error) => panic!("{error}"),
    }
}

/// The only function, with these statements.
fn body(statements: &str) -> super::Body {
    let module = module(&format!(".visible .entry k()\n{{\n{statements}\n}}\n"));
    let function = module.functions.into_iter().next().unwrap();
    function.body.unwrap()
}

fn operands(statement: &str) -> Vec<Operand> {
    let declared =
        ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[16];";
    let body = body(&format!("{declared}\n{statement}"));
    body.instructions.into_iter().next().unwrap().operands
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn the_head_of_a_module() {
    let module = module(".file 1 \"a.co\", 12, 34\n.file 2 \"b.h\"\n");
    assert_eq!(module.version, (9, 0));
    assert_eq!(module.target, ["sm_90a"]);
    assert_eq!(module.address_bits, 64);
    assert_eq!(module.files[&2], "b.h");
}

#[test]
fn variables_with_initial_values() {
    let text = ".global .align 4 .b8 $str[4] = {104, 105, 10};\n\
        .const .f32 c = 0f3F800000;\n.extern .shared .align 1024 .b8 arena[];\n\
        .global .u64 table[2] = {generic(c)+8, -1};\n.global .u16 m[2][3] = {{1,2,3},{4,5,6}};";
    let module = module(text);
    let [string, constant, arena, table, matrix] = &module.variables[..] else {
        panic!("five variables")
    };
    assert_eq!((string.bytes(), string.align), (4, 4));
    assert_eq!(string.initial.len(), 3);
    assert_eq!(constant.initial, [Initial::Bits(0x3f80_0000)]);
    assert_eq!(constant.space, Space::Const);
    assert_eq!(
        (arena.extent, arena.align, arena.bytes()),
        (Extent::Unknown, 1024, 0)
    );
    assert_eq!(table.initial[1], Initial::Bits(u64::MAX));
    assert_eq!((matrix.extent, matrix.initial.len()), (Extent::Array(6), 6));
}

#[test]
fn functions_and_their_limits() {
    let text = ".visible .entry k(.param .u64 a, .param .align 128 .b8 map[128])\n\
        .maxntid 128, 2\n.minnctapersm 2\n.reqnctapercluster 2, 1, 1\n{ ret; }\n\
        .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n\
        .func die() .noreturn\n{\n trap;\n}";
    let module = module(text);
    let [kernel, print, die] = &module.functions[..] else {
        panic!("three functions")
    };
    assert_eq!(kernel.kind, FunctionKind::Entry);
    assert_eq!(kernel.limits.max_threads, Some([128, 2, 1]));
    assert_eq!(kernel.limits.min_blocks, Some(2));
    assert_eq!(kernel.limits.cluster, Some([2, 1, 1]));
    assert_eq!(
        (kernel.parameters[1].align, kernel.parameters[1].bytes()),
        (128, 128)
    );
    assert_eq!((print.returns.len(), print.parameters.len()), (1, 2));
    assert!(print.body.is_none());
    assert!(die.returns_never);
}

#[test]
fn mnemonics_keep_their_modifiers() {
    let body = body(
        ".reg .b64 %rd<3>; .reg .b32 a;\n\
         cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [a], [%rd1, {a, a, a}], [a];",
    );
    let instruction = &body.instructions[0];
    assert_eq!(instruction.mnemonic.opcode, "cp");
    assert_eq!(instruction.mnemonic.modifiers[3], "3d");
    assert!(instruction.mnemonic.has("mbarrier::complete_tx::bytes"));
    let Operand::Memory { coordinates, .. } = &instruction.operands[1] else {
        panic!("memory")
    };
    assert_eq!(coordinates.len(), 3);
}

#[test]
fn every_kind_of_operand() {
    let register = |index| Operand::Register(RegisterId(index));
    assert_eq!(
        operands("mov.u32 %r1, -7;")[1],
        Operand::Integer((-7_i64) as u64)
    );
    assert_eq!(operands("mov.u32 %r1, 0x10U;")[1], Operand::Integer(16));
    assert_eq!(operands("mov.u32 %r1, 0b101;")[1], Operand::Integer(5));
    assert_eq!(operands("mov.u32 %r1, 017;")[1], Operand::Integer(15));
    assert_eq!(
        operands("mov.f32 %r1, 0f40490FDB;")[1],
        Operand::Float(0x4049_0fdb)
    );
    assert_eq!(
        operands("mov.f32 %r1, 0.5;")[1],
        Operand::Double(0.5_f64.to_bits())
    );
    assert_eq!(
        operands("mov.f64 %rd1, 0dBFF0000000000000;")[1],
        Operand::Double((-1.0_f64).to_bits())
    );
    assert_eq!(
        operands("mov.u32 %r1, %ctaid.y;")[1],
        Operand::Special("ctaid.y".to_owned())
    );
    assert_eq!(
        operands("mov.b64 {%r1, %r2}, %rd1;")[0],
        Operand::Vector(vec![register(5), register(6)])
    );
    assert_eq!(
        operands("and.pred %p1, %p2, !%p3;")[2],
        Operand::Not(RegisterId(3))
    );
    assert_eq!(
        operands("elect.sync _|%p1, -1;")[0],
        Operand::Pair(Box::new(Operand::Sink), Box::new(register(1)))
    );
    assert_eq!(
        operands("ld.shared.u32 %r1, [s+4];")[1],
        Operand::Memory {
            address: Address {
                base: Base::Variable(VariableId(0)),
                offset: 4
            },
            coordinates: vec![],
        }
    );
    assert_eq!(
        operands("ld.global.u32 %r1, [%rd1+-8];")[1],
        Operand::Memory {
            address: Address {
                base: Base::Register(RegisterId(9)),
                offset: -8
            },
            coordinates: vec![],
        }
    );
    assert_eq!(
        operands("mov.u64 %rd1, table+16;")[1],
        Operand::Symbol(Address {
            base: Base::Symbol("table".to_owned()),
            offset: 16
        })
    );
    assert_eq!(
        operands("call.uni (s), f, (%r1, 3);")[2],
        Operand::List(vec![register(5), Operand::Integer(3)])
    );
}

#[test]
fn scopes_hide_outer_registers_and_labels() {
    let body = body(
        ".reg .b32 %r<2>;\nmov.u32 %r1, 0;\n\
         {\n.reg .b64 %r1;\nWAIT:\nmov.u64 %r1, 1;\nbra WAIT;\n}\n\
         {\n.reg .pred p;\nWAIT:\n@p bra DONE;\nbra WAIT;\nDONE:\n}\n\
         mov.u32 %r1, 2;\nDONE:\nret;",
    );
    assert_eq!(body.registers.len(), 4);
    let first = |index: usize| &body.instructions[index].operands[0];
    assert_eq!(first(0), &Operand::Register(RegisterId(1)));
    assert_eq!(first(1), &Operand::Register(RegisterId(2)));
    assert_eq!(first(2), &Operand::Label(Label(1)));
    assert_eq!(
        first(3),
        &Operand::Label(Label(5)),
        "DONE of the inner scope"
    );
    assert_eq!(first(4), &Operand::Label(Label(3)));
    assert_eq!(first(5), &Operand::Register(RegisterId(1)));
}

#[test]
fn a_scope_may_branch_out_of_itself() {
    let body = body(".reg .pred p;\n{\n@!p bra OUT;\n}\nret;\nOUT:\nret;");
    assert_eq!(body.instructions[0].operands[0], Operand::Label(Label(2)));
    assert!(body.instructions[0].guard.unwrap().negated);
}

#[test]
fn indexed_branches() {
    let body = body(".reg .b32 i;\nT: .branchtargets A, B;\nbrx.idx i, T;\nA: ret;\nB: ret;");
    assert_eq!(
        body.instructions[0].operands[1],
        Operand::Targets(vec![Label(1), Label(2)])
    );
}

#[test]
fn instructions_know_their_source_lines() {
    let body = body("ret;\n.loc 2 30 7, function_name $L__info, inlined_at 1 10 3\nret;");
    assert_eq!(body.instructions[0].place, None);
    assert_eq!(body.instructions[0].line, 6);
    let place = body.instructions[1].place.unwrap();
    assert_eq!(
        place.location,
        Location {
            file: 2,
            line: 30,
            column: 7
        }
    );
    assert_eq!(
        place.inlined_at,
        Some(Location {
            file: 1,
            line: 10,
            column: 3
        })
    );
}

#[test]
fn the_outermost_place_of_inlined_calls() {
    let body = body(
        ".loc 1 8 3\n.loc 3 43 5, function_name $L__a, inlined_at 1 8 3\n\
         .loc 4 134 49, function_name $L__b+4, inlined_at 3 43 5\nret;",
    );
    let place = body.instructions[0].place.unwrap();
    assert_eq!(
        (place.location.file, place.inlined_at.unwrap().file),
        (4, 3)
    );
    assert_eq!((place.outermost.file, place.outermost.line), (1, 8));
}

#[test]
fn debug_sections_and_pragmas_are_passed_over() {
    let text = ".visible .entry k()\n{\n.pragma \"nounroll\";\nret;\n}\n\
        .section .debug_str\n{\n$L__info:\n.b8 95,90\n}\n";
    let module = module(text);
    assert_eq!(module.functions.len(), 1);
}

#[test]
fn register_types() {
    let body = body(".reg .pred %p<2>; .reg .b16 h; .reg .f64 %fd<1>;");
    let types: Vec<Type> = body.registers.iter().map(|(_, ty)| *ty).collect();
    assert_eq!(types, [Type::Pred, Type::Pred, Type::B16, Type::F64]);
}

#[test]
fn errors_name_line_and_text() {
    let text = format!("{HEAD}.visible .entry k()\n{{\n.reg .b32 a;\n  mov.u32 a, %nothing;\n}}");
    assert_eq!(
        error(&text),
        "line 7: `%nothing` is not declared\n  mov.u32 a, %nothing;"
    );
    let text = format!("{HEAD}.entry k()\n{{\nbra AWAY;\n}}");
    assert_eq!(
        error(&text),
        "line 6: there is no label `AWAY`\n  bra AWAY;"
    );
    assert_eq!(
        error(".version x\n"),
        "line 1: expected a version, but `x` is here\n  .version x"
    );
    assert_eq!(error("/* x"), "line 1: a comment without its end\n  /* x");
    let text = format!("{HEAD}.entry k()\n{{\n.reg .b32 a;\n.reg .b64 a;\n}}");
    assert_eq!(
        error(&text),
        "line 7: `a` is declared twice\n  .reg .b64 a;"
    );
    let text = format!("{HEAD}.entry k()\n{{\nret");
    assert_eq!(
        error(&text),
        "line 6: expected an operand, but the text ends\n  ret"
    );
    let text = format!("{HEAD}.entry k()\n{{\n.reg .b32 a;\nmov.b32 a, 0f12;\n}}");
    assert_eq!(
        error(&text),
        "line 7: malformed number `0f12`\n  mov.b32 a, 0f12;"
    );
}

#[test]
fn sizes_have_limits() {
    let text = |declaration: &str| format!("{HEAD}{declaration}");
    assert!(error(&text(".global .b8 a[99999999999];")).contains("99999999999 is too large here"));
    assert!(error(&text(".global .b8 a[100000][100000];")).contains("a smaller array"));
    assert!(error(&text(".shared .align 4294967296 .b8 a[4];")).contains("too large"));
    let registers = text(".entry k() { .reg .b32 %r<4000000000>; }");
    assert!(error(&registers).contains("4000000000 registers are too many"));
}

/// No text makes the parser panic: prefixes and single changed bytes of a kernel.
#[test]
fn broken_text_is_an_error() {
    let text = format!(
        "{HEAD}.shared .align 4 .b8 s[16];\n.entry k(.param .u64 a)\n.maxntid 3, 4\n{{\n\
         .reg .b32 %r<3>;\nL: mov.u32 %r1, s+4;\n@%p bra L;\n{{ call (r), f, (a); }}\n}}\n"
    );
    for end in 0..text.len() {
        let _ = parse(&text[..end]);
        for byte in ["{", "[", "<", ".", "0x", "\"", "é", "18446744073709551616"] {
            let _ = parse(&format!("{}{byte}{}", &text[..end], &text[end + 1..]));
        }
    }
    let _ = parse(&format!(
        "{HEAD}.entry k() {{ mov.u32 {}",
        "{".repeat(100_000)
    ));
}
