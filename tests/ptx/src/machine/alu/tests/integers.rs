use super::{Bench, eval, eval_16, eval_32, eval_64, refusal, samples};

/// Sign- or zero-extended.
fn wide(bits: u64, ty: &str) -> i128 {
    let width: u32 = ty[1..].parse().unwrap();
    let unused = 128 - width;
    match ty.starts_with('s') {
        true => ((u128::from(bits) << unused) as i128) >> unused,
        false => (u128::from(bits) << unused >> unused) as i128,
    }
}

fn evaluate(text: &str, ty: &str, inputs: &[u64]) -> u64 {
    match &ty[1..] {
        "16" => eval_16(&text.replace('%', "%h"), inputs),
        "32" => eval_32(&text.replace('%', "%r"), inputs),
        _ => eval_64(&text.replace('%', "%d"), inputs),
    }
}

fn truncated(value: i128, ty: &str) -> u64 {
    let width: u32 = ty[1..].parse().unwrap();
    value as u64 & (u64::MAX >> (64 - width))
}

const TYPES: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];

#[test]
fn binary_arithmetic_against_128_bits() {
    let values = samples(24);
    for ty in TYPES {
        let bits: u32 = ty[1..].parse().unwrap();
        for (&a, &b) in values
            .iter()
            .flat_map(|a| values.iter().map(move |b| (a, b)))
        {
            let (x, y) = (wide(a, ty), wide(b, ty));
            let mut expected = vec![
                ("add", x + y),
                ("sub", x - y),
                ("mul.lo", x.wrapping_mul(y)),
                ("min", x.min(y)),
                ("max", x.max(y)),
            ];
            if bits < 64 || ty == "s64" {
                expected.push(("mul.hi", (x * y) >> bits));
            } else {
                expected.push(("mul.hi", ((x as u128 * y as u128) >> 64) as i128));
            }
            if y != 0 {
                expected.extend([("div", x / y), ("rem", x % y)]);
            } else {
                expected.extend([("div", -1), ("rem", x)]);
            }
            for (opcode, result) in expected {
                let found = evaluate(&format!("{opcode}.{ty} %0, %1, %2;"), ty, &[a, b]);
                assert_eq!(found, truncated(result, ty), "{opcode}.{ty} {x} {y}");
            }
        }
    }
}

#[test]
fn signs_and_sums_of_absolute_differences() {
    for ty in TYPES {
        for &a in &samples(20) {
            let x = wide(a, ty);
            if ty.starts_with('s') {
                let neg = evaluate(&format!("neg.{ty} %0, %1;"), ty, &[a]);
                assert_eq!(neg, truncated(-x, ty));
                let abs = evaluate(&format!("abs.{ty} %0, %1;"), ty, &[a]);
                assert_eq!(abs, truncated(x.abs(), ty));
            }
            let sad = evaluate(&format!("sad.{ty} %0, %1, %2, %3;"), ty, &[a, 7, 100]);
            assert_eq!(sad, truncated((x - 7).abs() + 100, ty), "sad.{ty} {x}");
        }
    }
}

#[test]
fn products_and_sums() {
    let values = samples(22);
    for (&a, &b) in values
        .iter()
        .flat_map(|a| values.iter().map(move |b| (a, b)))
    {
        let c = 0xfedc_ba98_7654_3210;
        for ty in ["u32", "s32"] {
            let (x, y) = (wide(a, ty), wide(b, ty));
            let inputs = [("r1", a), ("r2", b), ("r3", c), ("d3", c)];
            let run = |text: &str| eval(&text.replace("TY", ty), &inputs);
            assert_eq!(run("mul.wide.TY %d0, %r1, %r2;"), (x * y) as u64);
            assert_eq!(
                run("mad.wide.TY %d0, %r1, %r2, %d3;"),
                (x * y + i128::from(c)) as u64
            );
            let low = truncated(x * y + wide(c, ty), ty);
            assert_eq!(run("mad.lo.TY %r0, %r1, %r2, %r3;"), low);
            let high = truncated(((x * y) >> 32) + wide(c, ty), ty);
            assert_eq!(run("mad.hi.TY %r0, %r1, %r2, %r3;"), high);
        }
        for ty in ["u16", "s16"] {
            let (x, y) = (wide(a, ty), wide(b, ty));
            let inputs = [("h1", a), ("h2", b), ("r3", 5)];
            let run = |text: &str| eval(&text.replace("TY", ty), &inputs);
            assert_eq!(run("mul.wide.TY %r0, %h1, %h2;"), truncated(x * y, "u32"));
            assert_eq!(
                run("mad.wide.TY %r0, %h1, %h2, %r3;"),
                truncated(x * y + 5, "u32")
            );
        }
    }
}

#[test]
fn saturation() {
    let max = i32::MAX as u64;
    assert_eq!(eval_32("add.sat.s32 %r0, %r1, %r2;", &[max, 1]), max);
    assert_eq!(
        eval_32("sub.sat.s32 %r0, %r1, %r2;", &[1 << 31, 1]),
        1 << 31
    );
    assert_eq!(eval_32("add.s32 %r0, %r1, %r2;", &[max, 1]), 1 << 31);
    let mad = "mad.hi.sat.s32 %r0, %r1, %r2, %r3;";
    assert_eq!(eval_32(mad, &[1 << 30, 1 << 30, max]), max);
}

/// 128-bit sums, differences and products in 32-bit steps, as the ISA's examples write them.
#[test]
fn carries_chain() {
    let sum = "add.cc.u32 %r1, %r1, %r5; addc.cc.u32 %r2, %r2, %r6; addc.u32 %r3, %r3, 0;";
    let difference = sum.replace("add.cc", "sub.cc").replace("addc", "subc");
    for (a, b) in [
        (u64::MAX, 1),
        (0, 1),
        (0xffff_ffff, 0xffff_ffff),
        (1 << 63, 1 << 63),
    ] {
        for (text, sign) in [(sum.to_owned(), 1_i128), (difference.clone(), -1)] {
            let mut bench = Bench::new(&text);
            for (name, value) in [
                ("r1", a),
                ("r2", a >> 32),
                ("r5", b),
                ("r6", b >> 32),
                ("r3", 9),
            ] {
                bench.set(name, value & 0xffff_ffff);
            }
            bench.run().unwrap();
            let result = (9_i128 << 64) + i128::from(a) + sign * i128::from(b);
            let found = bench.get("r1") | bench.get("r2") << 32;
            assert_eq!(
                (found, bench.get("r3")),
                (result as u64, (result >> 64) as u64)
            );
        }
    }
    let product = "mul.lo.u32 %r0, %r4, %r6; mul.hi.u32 %r1, %r4, %r6; mad.lo.cc.u32 %r1, %r5, %r6, %r1; \
        madc.hi.u32 %r2, %r5, %r6, 0; mad.lo.cc.u32 %r1, %r4, %r7, %r1; madc.hi.cc.u32 %r2, %r4, %r7, %r2; \
        addc.u32 %r3, 0, 0; mad.lo.cc.u32 %r2, %r5, %r7, %r2; madc.hi.u32 %r3, %r5, %r7, %r3;";
    for (a, b) in [
        (u64::MAX, u64::MAX),
        (0x1234_5678_9abc_def0, 0xfedc_ba98_7654_3210),
    ] {
        let mut bench = Bench::new(product);
        for (name, value) in [("r4", a), ("r5", a >> 32), ("r6", b), ("r7", b >> 32)] {
            bench.set(name, value & 0xffff_ffff);
        }
        bench.run().unwrap();
        let found = ["r3", "r2", "r1", "r0"]
            .iter()
            .fold(0_u128, |sum, name| sum << 32 | u128::from(bench.get(name)));
        assert_eq!(found, u128::from(a) * u128::from(b));
    }
}

#[test]
fn the_carry_is_kept_only_with_cc() {
    let mut bench = Bench::new("addc.u32 %r0, %r1, %r2;");
    bench.set("r1", 0xffff_ffff);
    bench.set("cc", 1);
    bench.run().unwrap();
    assert_eq!((bench.get("r0"), bench.get("cc")), (0, 1));
    bench.set("cc", 0);
    bench.run().unwrap();
    assert_eq!((bench.get("r0"), bench.get("cc")), (0xffff_ffff, 0));
    assert_eq!(
        eval(
            "sub.cc.u64 %d0, %d1, %d2; subc.u64 %d0, %d3, 0;",
            &[("d2", 1), ("d3", 5)]
        ),
        4
    );
}

#[test]
fn short_products() {
    let mul =
        |half: &str, ty: &str, a, b| eval_32(&format!("mul24.{half}.{ty} %r0, %r1, %r2;"), &[a, b]);
    assert_eq!(mul("lo", "u32", 0xff00_0003, 5), 15);
    assert_eq!(mul("lo", "s32", 0x00ff_ffff, 5), (-5_i32) as u32 as u64);
    assert_eq!(mul("hi", "u32", 0x00ff_ffff, 0x00ff_ffff), 0xffff_fe00);
    assert_eq!(
        mul("hi", "s32", 0x0080_0000, 0x007f_ffff),
        ((-(1_i64 << 23) * ((1 << 23) - 1)) >> 16) as u32 as u64
    );
    assert_eq!(
        eval_32("mad24.lo.u32 %r0, %r1, %r2, %r3;", &[3, 5, 100]),
        115
    );
}

#[test]
fn dot_products() {
    let (a, b) = (0xff02_8001_u64, 0x0380_7f05_u64);
    let bytes = |value: u64, signed: bool| -> Vec<i64> {
        let byte = |index| (value >> (8 * index)) as u8;
        (0..4)
            .map(|index| {
                if signed {
                    byte(index) as i8 as i64
                } else {
                    byte(index).into()
                }
            })
            .collect()
    };
    for (x, y) in [
        ("u32", "u32"),
        ("u32", "s32"),
        ("s32", "u32"),
        ("s32", "s32"),
    ] {
        let products = bytes(a, x == "s32").into_iter().zip(bytes(b, y == "s32"));
        let expected = products.map(|(p, q)| p * q).sum::<i64>() + 10;
        let found = eval_32(&format!("dp4a.{x}.{y} %r0, %r1, %r2, %r3;"), &[a, b, 10]);
        assert_eq!(found, expected as u32 as u64);
    }
    // Halves of a are 0x8001 and 0xff02; the lower bytes of b are 5 and 0x7f.
    let low = 0x8001 * 5 + 0xff02 * 0x7f + 1;
    assert_eq!(
        eval_32("dp2a.lo.u32.u32 %r0, %r1, %r2, %r3;", &[a, b, 1]),
        low
    );
    let high = -0x7fff_i64 * -128 + -0xfe * 3 + 1;
    assert_eq!(
        eval_32("dp2a.hi.s32.s32 %r0, %r1, %r2, %r3;", &[a, b, 1]),
        high as u32 as u64
    );
}

#[test]
fn differences_of_bytes() {
    let run = |a, b| {
        eval_32(
            "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;",
            &[a, b, 1000],
        )
    };
    assert_eq!(run(0x0180_ff00, 0x0300_00ff), 1000 + 2 + 0x80 + 0xff + 0xff);
    assert_eq!(run(5, 5), 1000);
    assert!(refusal("vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3;").contains(".add is missing"));
}

#[test]
fn refusals_name_the_form() {
    assert_eq!(
        refusal("add.sat.u32 %r0, %r1, %r2;"),
        "`add.sat.u32` is not implemented: the modifier `.sat`"
    );
    assert_eq!(
        refusal("add.u32 %r0, %d1, %r2;"),
        "`add.u32` is not implemented: a register of 64 bits where 32 are expected"
    );
    assert_eq!(
        refusal("abs.u32 %r0, %r1;"),
        "`abs.u32` is not implemented: the type `.u32`"
    );
    assert_eq!(
        refusal("add.u32 %r0, %r1, 0f3F800000, %r2;"),
        "`add.u32` is not implemented: it has 4 operands, not 3"
    );
    assert_eq!(
        refusal("add.f32 %r0, %r1, 1;"),
        "`add.f32` is not implemented: an integer as an operand of its type"
    );
}
