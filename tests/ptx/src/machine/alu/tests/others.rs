use super::{Bench, eval, eval_16, eval_32, refusal, samples};

#[test]
fn predicates_in_pairs_and_combined() {
    for (c, a) in [(0, 1), (0, 9), (1, 1), (1, 9)] {
        for (word, f) in [("and", 0), ("or", 1), ("xor", 2)] {
            let mut bench = Bench::new(&format!("setp.lt.{word}.s32 %p0|%p1, %r1, 5, !%p2;"));
            bench.set("r1", a);
            bench.set("p2", c);
            bench.run().unwrap();
            let (t, c) = (u64::from(a < 5), 1 - c);
            let combine = |t: u64| [t & c, t | c, t ^ c][f];
            assert_eq!(
                (bench.get("p0"), bench.get("p1")),
                (combine(t), combine(1 - t))
            );
        }
    }
    let minus = (-1_i64) as u64;
    assert_eq!(eval("setp.lt.s32 %p0, %r1, 0;", &[("r1", minus)]), 1);
    assert_eq!(eval("setp.lo.u32 %p0, %r1, 0;", &[("r1", minus)]), 0);
    assert_eq!(eval("setp.gt.s16 %p0, %h1, -2;", &[("h1", minus)]), 1);
    assert_eq!(eval("setp.ne.b64 %p0, %d1, 0;", &[("d1", 1 << 40)]), 1);
    assert_eq!(
        eval("setp.lt.f16 %p0, %h1, %h2;", &[("h1", 0xbc00), ("h2", 0)]),
        1
    );
    assert_eq!(
        eval("set.lt.u32.s32 %r0, %r1, 0;", &[("r1", minus)]),
        0xffff_ffff
    );
    assert_eq!(
        eval("set.lt.f32.s32 %r0, %r1, 0;", &[("r1", minus)]),
        0x3f80_0000
    );
    assert_eq!(eval("testp.normal.f32 %p0, 0f00000001;", &[]), 0);
    assert_eq!(eval("testp.normal.f32 %p0, 0f00000000;", &[]), 1);
}

#[test]
fn selections() {
    let inputs = [
        ("r1", 10),
        ("r2", 20),
        ("p1", 1),
        ("d1", 0x8000_0000_0000_0000),
    ];
    assert_eq!(eval("selp.b32 %r0, %r1, %r2, %p1;", &inputs), 10);
    assert_eq!(eval("selp.b32 %r0, %r1, %r2, !%p1;", &inputs), 20);
    assert_eq!(
        eval("selp.f64 %d0, 0d3FF0000000000000, %d1, %p1;", &inputs),
        1_f64.to_bits()
    );
    assert_eq!(eval("slct.u32.s32 %r0, %r1, %r2, -1;", &inputs), 20);
    assert_eq!(eval("slct.u32.s32 %r0, %r1, %r2, 0;", &inputs), 10);
    assert_eq!(eval("slct.u32.f32 %r0, %r1, %r2, 0f80000000;", &inputs), 10);
    assert_eq!(eval("slct.u32.f32 %r0, %r1, %r2, 0f7FC00000;", &inputs), 20);
    assert_eq!(
        eval("copysign.f32 %r0, 0fBF800000, 0f40000000;", &inputs),
        (-2_f32).to_bits().into()
    );
}

#[test]
fn moves_pack_and_unpack() {
    let mut bench =
        Bench::new("mov.b64 {%r1, %r2}, %d1; mov.b64 %d2, {%r2, %r1}; mov.b32 {%h1, _}, %r1;");
    bench.set("d1", 0x1122_3344_5566_7788);
    bench.run().unwrap();
    assert_eq!(
        (bench.get("r1"), bench.get("r2")),
        (0x5566_7788, 0x1122_3344)
    );
    assert_eq!(
        (bench.get("d2"), bench.get("h1")),
        (0x5566_7788_1122_3344, 0x7788)
    );
    assert_eq!(
        eval("mov.b64 %d0, {%h1, 2, 3, %h2};", &[("h1", 1), ("h2", 4)]),
        0x0004_0003_0002_0001
    );
    assert_eq!(eval("mov.f32 %r0, 0f3F800000;", &[]), 0x3f80_0000);
    assert_eq!(eval("mov.pred %p0, !%p1;", &[]), 1);
    assert!(refusal("mov.b64 %d0, {%h1, %h2};").contains("a part of 16 bits, not 32"));
}

#[test]
fn a_mask_protects_other_lanes() {
    let mut bench = Bench::new("add.u32 %r0, %r0, 1;");
    let form = super::Form {
        instruction: &bench.body.instructions[0],
        assignment: &bench.assignment,
        symbols: &|_| None,
    };
    let step = super::decode(&form).unwrap().unwrap();
    step(&mut bench.registers, 0x8000_0001);
    let row = <u32 as super::Lane>::row(&bench.registers, 0);
    let sum: u32 = row.iter().sum();
    assert_eq!((row[0], row[31], sum), (1, 1, 2));
}

#[test]
fn integers_to_integers() {
    for &a in &samples(40) {
        let run = |text: &str| eval(text, &[("h1", a), ("r1", a), ("d1", a)]);
        assert_eq!(run("cvt.u64.u32 %d0, %r1;"), a & 0xffff_ffff);
        assert_eq!(run("cvt.s64.s32 %d0, %r1;"), a as i32 as i64 as u64);
        assert_eq!(run("cvt.s32.s8 %r0, %r1;"), a as i8 as i32 as u32 as u64);
        assert_eq!(run("cvt.s16.s8 %h0, %r1;"), a as i8 as i16 as u16 as u64);
        assert_eq!(
            run("cvt.u16.u64 %r0, %d1;"),
            a & 0xffff,
            "zeros above a result"
        );
        assert_eq!(
            run("cvt.s8.s64 %r0, %d1;"),
            a as i8 as i32 as u32 as u64,
            "signs above a result"
        );
        assert_eq!(run("cvt.u16.u32 %r0, %r1;"), a & 0xffff);
        let signed = (a as i64).clamp(-128, 127);
        assert_eq!(run("cvt.sat.s8.s64 %r0, %d1;"), signed as i32 as u32 as u64);
        assert_eq!(
            run("cvt.sat.u8.s32 %r0, %r1;"),
            (a as i32).clamp(0, 255) as u64
        );
        assert_eq!(run("cvt.sat.s32.u64 %r0, %d1;"), a.min(i32::MAX as u64));
    }
}

#[test]
fn floats_to_integers() {
    let run = |form: &str, a: f32| {
        eval(
            &format!("cvt.{form}.f32 %r0, %r1;"),
            &[("r1", a.to_bits().into())],
        ) as i32
    };
    let cases = [
        (2.5, 2, 2, 2, 3),
        (-2.5, -2, -2, -3, -2),
        (3.5, 4, 3, 3, 4),
        (-0.75, -1, 0, -1, 0),
    ];
    for (a, near, zero, down, up) in cases {
        let found = ["rni", "rzi", "rmi", "rpi"].map(|mode| run(&format!("{mode}.s32"), a));
        assert_eq!(found, [near, zero, down, up], "{a}");
    }
    assert_eq!(run("rzi.s32", 1e20), i32::MAX);
    assert_eq!(run("rzi.s32", f32::NEG_INFINITY), i32::MIN);
    assert_eq!(run("rzi.s32", f32::NAN), 0);
    assert_eq!(run("rzi.u32", -5.0), 0);
    assert_eq!(run("rzi.u8", 300.0), 255);
    let nan = [("r1", 0x7fc0_0000), ("d1", f64::NAN.to_bits())];
    assert_eq!(eval("cvt.rzi.s64.f32 %d0, %r1;", &nan), 1 << 63);
    assert_eq!(eval("cvt.rzi.u64.f32 %d0, %r1;", &nan), 1 << 63);
    assert_eq!(eval("cvt.rzi.s32.f64 %r0, %d1;", &nan), 1 << 31);
    for a in [0.5_f64, 1.5, -1.5, 1e10, -1e300, 4.0e18] {
        let inputs = [("d1", a.to_bits())];
        assert_eq!(eval("cvt.rzi.s64.f64 %d0, %d1;", &inputs), a as i64 as u64);
        assert_eq!(
            eval("cvt.rni.s64.f64 %d0, %d1;", &inputs),
            a.round_ties_even() as i64 as u64
        );
    }
}

#[test]
fn integers_to_floats() {
    for &a in &samples(60) {
        let run = |text: &str| eval(text, &[("h1", a), ("r1", a), ("d1", a)]);
        assert_eq!(run("cvt.rn.f32.u64 %r0, %d1;"), (a as f32).to_bits().into());
        assert_eq!(
            run("cvt.rn.f32.s64 %r0, %d1;"),
            (a as i64 as f32).to_bits().into()
        );
        assert_eq!(
            run("cvt.rn.f32.s32 %r0, %r1;"),
            (a as i32 as f32).to_bits().into()
        );
        assert_eq!(run("cvt.rn.f64.s64 %d0, %d1;"), (a as i64 as f64).to_bits());
        assert_eq!(
            run("cvt.rn.f32.s8 %r0, %r1;"),
            (a as i8 as f32).to_bits().into()
        );
        let down = f32::from_bits(run("cvt.rz.f32.u32 %r0, %r1;") as u32);
        assert!(
            f64::from(down) <= f64::from(a as u32)
                && f64::from(down.next_up()) > f64::from(a as u32)
        );
    }
}

#[test]
fn floats_to_floats() {
    for &bits in &samples(200) {
        let value = f64::from_bits(bits.rotate_left(17));
        if value.is_nan() {
            continue;
        }
        let inputs = [
            ("d1", value.to_bits()),
            ("r1", (value as f32).to_bits().into()),
        ];
        assert_eq!(
            eval("cvt.rn.f32.f64 %r0, %d1;", &inputs),
            (value as f32).to_bits().into()
        );
        assert_eq!(
            eval("cvt.f64.f32 %d0, %r1;", &inputs),
            f64::from(value as f32).to_bits()
        );
        let truncated = eval("cvt.rz.bf16.f32 %h0, %r1;", &inputs);
        assert_eq!(truncated, u64::from((value as f32).to_bits() >> 16));
    }
    let run = |form: &str, a: f32| {
        let bits = eval(
            &format!("cvt.{form}.f32.f32 %r0, %r1;"),
            &[("r1", a.to_bits().into())],
        );
        f32::from_bits(bits as u32)
    };
    assert_eq!(run("rni", 2.5), 2.0);
    assert_eq!(run("rmi", -2.5), -3.0);
    assert_eq!(run("rzi", -0.5).to_bits(), 1 << 31);
    assert_eq!(run("rpi", 1e30), 1e30);
    assert_eq!(
        (run("sat", 1.5), run("sat", -1.0), run("sat", f32::NAN)),
        (1.0, 0.0, 0.0)
    );
    assert_eq!(run("ftz", f32::from_bits(1)), 0.0);
    assert!(refusal("cvt.f16.f32 %h0, %r1;").contains("its rounding is missing"));
    assert!(refusal("cvt.s32.f32 %r0, %r1;").contains("its rounding is missing"));
}

/// Every half, through f32 and back; and f32 values around the ties of f16.
#[test]
fn halves() {
    for bits in (0..0x1_0000_u64).step_by(7) {
        let wide = eval_16("cvt.f32.f16 %r0, %h1;", &[bits]);
        let value = f32::from_bits(wide as u32);
        let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, bits & 0x3ff);
        let magnitude = match exponent {
            0 => fraction as f32 * 2_f32.powi(-24),
            31 if fraction == 0 => f32::INFINITY,
            31 => {
                assert_eq!(wide, 0x7fff_ffff);
                continue;
            }
            _ => (1024 + fraction) as f32 * 2_f32.powi(exponent as i32 - 25),
        };
        assert_eq!(value, if sign == 1 { -magnitude } else { magnitude });
        assert_eq!(eval("cvt.rn.f16.f32 %h0, %r1;", &[("r1", wide)]), bits);
    }
    let to = |a: f32| eval("cvt.rn.f16.f32 %h0, %r1;", &[("r1", a.to_bits().into())]);
    assert_eq!((to(65519.0), to(65520.0)), (0x7bff, 0x7c00));
    assert_eq!((to(2049.0), to(2051.0)), (0x6800, 0x6802));
    assert_eq!((to(2_f32.powi(-25)), to(2_f32.powi(-25) * 1.0001)), (0, 1));
    assert_eq!(to(f32::NAN), 0x7fff);
    let relu = eval("cvt.rn.relu.f16.f32 %h0, 0fBF800000;", &[]);
    assert_eq!(relu, 0);
    assert_eq!(
        eval("cvt.rn.satfinite.f16.f32 %h0, 0f7F800000;", &[]),
        0x7bff
    );
}

#[test]
fn pairs_and_eight_bits() {
    let one = 1_f32.to_bits().into();
    let two = (-2_f32).to_bits().into();
    assert_eq!(
        eval_32("cvt.rn.f16x2.f32 %r0, %r1, %r2;", &[one, two]),
        0x3c00_c000
    );
    assert_eq!(
        eval_32("cvt.rn.bf16x2.f32 %r0, %r1, %r2;", &[one, two]),
        0x3f80_c000
    );
    assert_eq!(
        eval_32("cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", &[one, two]),
        0x38c0
    );
    assert_eq!(
        eval_32("cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;", &[one, two]),
        0x3cc0
    );
    let large = 1e6_f32.to_bits().into();
    let nan = 0x7fc0_0000;
    assert_eq!(
        eval_32("cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", &[large, nan]),
        0x7e7f
    );
    assert_eq!(
        eval_32("cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;", &[large, nan]),
        0x7b7f
    );
    assert_eq!(
        eval_16("cvt.rn.f16x2.e4m3x2 %r0, %h1;", &[0x38c0]),
        0x3c00_c000
    );
    // 448, the largest e4m3; 2^-9, the smallest; NaN.
    assert_eq!(
        eval_16("cvt.rn.f16x2.e4m3x2 %r0, %h1;", &[0x7e01]),
        0x5f00_1800
    );
    assert_eq!(
        eval_16("cvt.rn.f16x2.e4m3x2 %r0, %h1;", &[0xff80]),
        0x7fff_8000
    );
    assert_eq!(
        eval_16("cvt.rn.f16x2.e5m2x2 %r0, %h1;", &[0x7c3c]),
        0x7c00_3c00
    );
    let third = (1.0_f32 / 3.0).to_bits();
    let tf32 = eval_32("cvt.rna.tf32.f32 %r0, %r1;", &[third.into()]);
    assert_eq!(tf32, u64::from((third + 0x1000) & !0x1fff));
}

/// All pairs of a coarse grid of halves, against f64 arithmetic and one rounding.
#[test]
fn half_arithmetic() {
    let widen = |bits: u64| super::super::round::F16.widen(bits);
    let list: Vec<u64> = (0..0x7c00)
        .step_by(997)
        .chain((0x8000..0xfc00).step_by(1013))
        .collect();
    for &a in &list {
        for &b in &list {
            let (x, y) = (widen(a), widen(b));
            for (text, exact) in [("add.f16", x + y), ("sub.f16", x - y), ("mul.f16", x * y)] {
                let found = widen(eval_16(&format!("{text} %h0, %h1, %h2;"), &[a, b]));
                let error = (found - exact).abs();
                let ulp = (exact.abs() / 1024.0).max(2_f64.powi(-24));
                assert!(
                    error <= ulp / 2.0 || exact.abs() > 65504.0,
                    "{text} {x} {y}"
                );
            }
        }
    }
    let packed = [0x3c00_4000_u64, 0x4200_c000, 0x3c00_3c00];
    assert_eq!(
        eval_32("fma.rn.f16x2 %r0, %r1, %r2, %r3;", &packed),
        0x4400_c200
    );
    assert_eq!(eval_32("mul.rn.f16x2 %r0, %r1, %r2;", &packed), 0x4200_c400);
    assert_eq!(eval_32("max.f16x2 %r0, %r1, %r2;", &packed), 0x4200_4000);
    assert_eq!(eval_32("neg.f16x2 %r0, %r1;", &packed), 0xbc00_c000);
    let fused = [0x3f80_4000_u64, 0x4040_4000, 0x3f80_bf80];
    assert_eq!(
        eval_32("fma.rn.bf16x2 %r0, %r1, %r2, %r3;", &fused),
        0x4080_4040
    );
    assert_eq!(
        eval_16("fma.rn.relu.f16 %h0, %h1, %h2, %h3;", &[0x3c00, 0xbc00, 0]),
        0
    );
    assert_eq!(
        eval_16("add.sat.f16 %h0, %h1, %h2;", &[0x4200, 0x3c00]),
        0x3c00
    );
}
