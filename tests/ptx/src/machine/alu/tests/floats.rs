use super::{double, eval, eval_32, float, refusal, samples};

/// Finite f32 values with exponents so small that exact arithmetic fits 128 bits.
fn moderate() -> Vec<f32> {
    let of_bits = |bits: u64| {
        let exponent = 127 - 10 + (bits >> 40) % 20;
        f32::from_bits((bits as u32) & 0x807f_ffff | (exponent as u32) << 23)
    };
    let mut list: Vec<f32> = samples(40).into_iter().map(of_bits).collect();
    list.extend([1.0, -1.0, 1.5, 3.0, 0.1]);
    list
}

/// In units of 2^-100.
fn fixed(value: f32) -> i128 {
    scaled(value, 100)
}

/// In units of `2^-digits`.
fn scaled(value: f32, digits: i32) -> i128 {
    let scaled = f64::from(value) * 2_f64.powi(digits);
    assert_eq!(scaled, scaled.trunc());
    scaled as i128
}

fn next(value: f32, up: bool) -> f32 {
    if up {
        value.next_up()
    } else {
        value.next_down()
    }
}

/// `found` is `exact` (in units of 2^-100) rounded as `mode` says.
fn check(found: f32, exact: i128, mode: &str, what: &str) {
    let value = fixed(found);
    let distance = |value: f32| (fixed(value) - exact).unsigned_abs();
    match mode {
        "rm" => assert!(value <= exact && fixed(next(found, true)) > exact, "{what}"),
        "rp" => assert!(
            value >= exact && fixed(next(found, false)) < exact,
            "{what}"
        ),
        "rz" => {
            let outwards = next(found, exact > 0);
            assert!(value.unsigned_abs() <= exact.unsigned_abs(), "{what}");
            assert!(
                fixed(outwards).unsigned_abs() > exact.unsigned_abs(),
                "{what}"
            );
        }
        _ => {
            let (below, above) = (next(found, false), next(found, true));
            assert!(
                distance(found) <= distance(below).min(distance(above)),
                "{what}"
            );
            let tie = distance(found) == distance(below) || distance(found) == distance(above);
            assert!(!tie || found.to_bits() & 1 == 0, "{what}");
        }
    }
}

#[test]
fn rounding_against_exact_integers() {
    let values = moderate();
    for (&a, &b) in values
        .iter()
        .flat_map(|a| values.iter().map(move |b| (a, b)))
    {
        for mode in ["rn", "rz", "rm", "rp"] {
            let what = format!("{mode} {a:e} {b:e}");
            let c = values[(a.to_bits() ^ b.to_bits()) as usize % values.len()];
            if a != -b {
                let sum = float(&format!("add.{mode}.f32 %r0, %r1, %r2;"), &[a, b]);
                check(sum, fixed(a) + fixed(b), mode, &what);
            }
            let product = scaled(a, 50) * scaled(b, 50);
            let found = float(&format!("mul.{mode}.f32 %r0, %r1, %r2;"), &[a, b]);
            check(found, product, mode, &what);
            let exact = product + fixed(c);
            if exact != 0 {
                let found = float(&format!("fma.{mode}.f32 %r0, %r1, %r2, %r3;"), &[a, b, c]);
                check(found, exact, mode, &what);
            }
        }
    }
}

/// The exact product is between two f32; what is below the last digit of an f64 decides.
#[test]
fn fused_products_are_rounded_once() {
    let (a, tiny) = (1.0 + 2_f32.powi(-12), 2_f32.powi(-60));
    let fma = |mode: &str, c| float(&format!("fma.{mode}.f32 %r0, %r1, %r2, %r3;"), &[a, a, c]);
    let (below, above) = (
        1.0 + 2_f32.powi(-11),
        1.0 + 2_f32.powi(-11) + 2_f32.powi(-23),
    );
    assert_eq!(
        (fma("rn", 0.0), fma("rn", tiny), fma("rn", -tiny)),
        (below, above, below)
    );
    assert_eq!((fma("rm", tiny), fma("rp", -tiny)), (below, above));
    let add = |mode: &str, b| float(&format!("add.{mode}.f32 %r0, %r1, %r2;"), &[1.0, b]);
    assert_eq!((add("rp", tiny), add("rm", tiny)), (1.0_f32.next_up(), 1.0));
    assert_eq!(
        (add("rz", -tiny), add("rm", -tiny)),
        (1.0_f32.next_down(), 1.0_f32.next_down())
    );
    for &a in &moderate() {
        for &b in &moderate() {
            let found = float("fma.rn.f32 %r0, %r1, %r2, %r3;", &[a, b, -a * b]);
            assert_eq!(found.to_bits(), a.mul_add(b, -a * b).to_bits());
        }
    }
}

/// Sums of a large and a small double, whose exact value is an integer of 100 bits.
#[test]
fn directed_sums_of_doubles() {
    let add = |mode: &str, a, b| double(&format!("add.{mode}.f64 %d0, %d1, %d2;"), &[a, b]);
    for large in [1e15_f64, -1e15, 3.0, -(2_f64.powi(40))] {
        for small in [
            2_f64.powi(-45),
            -(2_f64.powi(-47)) * 3.0,
            0.5,
            -(2_f64.powi(-60)),
        ] {
            // In units of 2^-70.
            let integer = |value: f64| {
                let scaled = value * 2_f64.powi(20);
                (scaled as i128) * (1 << 50) + (scaled.fract() * 2_f64.powi(50)) as i128
            };
            let exact = integer(large) + integer(small);
            let (down, up) = (add("rm", large, small), add("rp", large, small));
            assert!(integer(down) <= exact && integer(down.next_up()) > exact);
            assert!(integer(up) >= exact && integer(up.next_down()) < exact);
            assert_eq!(add("rz", large, small), if exact > 0 { down } else { up });
            assert_eq!(double("sub.rm.f64 %d0, %d1, %d2;", &[large, -small]), down);
        }
    }
    assert_eq!(add("rz", f64::MAX, f64::MAX), f64::MAX);
    assert_eq!(add("rp", f64::MAX, f64::MAX), f64::INFINITY);
    assert_eq!(add("rp", -f64::MAX, -f64::MAX), -f64::MAX);
    assert_eq!(add("rm", 1.0, -1.0).to_bits(), 1 << 63);
    assert!(refusal("mul.rz.f64 %d0, %d1, %d2;").contains("the modifier `.rz`"));
}

#[test]
fn directed_zeros_and_overflow() {
    assert_eq!(
        float("add.rm.f32 %r0, %r1, %r2;", &[1.5, -1.5]).to_bits(),
        1 << 31
    );
    assert_eq!(
        float("add.rp.f32 %r0, %r1, %r2;", &[1.5, -1.5]).to_bits(),
        0
    );
    assert_eq!(
        float("sub.rm.f32 %r0, %r1, %r2;", &[0.0, 0.0]).to_bits(),
        1 << 31
    );
    assert_eq!(
        float("mul.rz.f32 %r0, %r1, %r2;", &[f32::MAX, 2.0]),
        f32::MAX
    );
    assert_eq!(
        float("mul.rp.f32 %r0, %r1, %r2;", &[f32::MAX, 2.0]),
        f32::INFINITY
    );
    assert_eq!(
        float("mul.rp.f32 %r0, %r1, %r2;", &[f32::MAX, -2.0]),
        -f32::MAX
    );
    let least = f32::from_bits(1);
    assert_eq!(float("mul.rp.f32 %r0, %r1, %r2;", &[least, 0.25]), least);
    assert_eq!(float("mul.rm.f32 %r0, %r1, %r2;", &[least, 0.25]), 0.0);
}

#[test]
fn modifiers_of_results_and_operands() {
    let subnormal = f32::from_bits(0x007f_ffff);
    assert_eq!(float("add.ftz.f32 %r0, %r1, %r2;", &[subnormal, 0.0]), 0.0);
    assert_eq!(
        float("add.f32 %r0, %r1, %r2;", &[subnormal, 0.0]),
        subnormal
    );
    assert_eq!(
        float("mul.ftz.f32 %r0, %r1, %r2;", &[f32::MIN_POSITIVE, -0.5]).to_bits(),
        1 << 31
    );
    assert_eq!(
        float("fma.rn.sat.f32 %r0, %r1, %r2, %r3;", &[3.0, 3.0, 0.0]),
        1.0
    );
    assert_eq!(
        float("add.sat.f32 %r0, %r1, %r2;", &[f32::NAN, 1.0]).to_bits(),
        0
    );
    assert_eq!(
        float("sub.sat.f32 %r0, %r1, %r2;", &[1.0, 3.0]).to_bits(),
        0
    );
    assert_eq!(
        float("neg.ftz.f32 %r0, %r1;", &[subnormal]).to_bits(),
        1 << 31
    );
    assert_eq!(float("abs.f32 %r0, %r1;", &[-2.5]), 2.5);
    assert_eq!(
        eval_32("add.f32 %r0, %r1, %r2;", &[0x7fc0_1234, 0]),
        0x7fff_ffff
    );
}

#[test]
fn minima_and_maxima() {
    let run = |form: &str, a: f32, b: f32| float(&format!("{form}.f32 %r0, %r1, %r2;"), &[a, b]);
    assert_eq!(run("min", f32::NAN, 2.0), 2.0);
    assert_eq!(run("max", 2.0, f32::NAN), 2.0);
    assert_eq!(run("max.NaN", 2.0, f32::NAN).to_bits(), 0x7fff_ffff);
    assert_eq!(run("min", f32::NAN, f32::NAN).to_bits(), 0x7fff_ffff);
    assert_eq!(run("min", 0.0, -0.0).to_bits(), 1 << 31);
    assert_eq!(run("max", -0.0, 0.0).to_bits(), 0);
    assert_eq!(run("max.xorsign.abs", -3.0, 2.0), -3.0);
    assert_eq!(run("min.xorsign.abs", -3.0, -2.0), 2.0);
    assert_eq!(float("max.f32 %r0, %r1, %r2, %r3;", &[1.0, 5.0, 3.0]), 5.0);
    assert_eq!(double("min.f64 %d0, %d1, %d2;", &[f64::NAN, 1.0]), 1.0);
}

#[test]
fn quotients_and_roots() {
    for (&a, &b) in moderate().iter().zip(moderate().iter().rev()) {
        let div = |mode: &str| float(&format!("div.{mode}.f32 %r0, %r1, %r2;"), &[a, b]);
        assert_eq!(div("rn"), a / b);
        let exact = f64::from(a) / f64::from(b);
        let (down, up) = (div("rm"), div("rp"));
        assert!(f64::from(down) <= exact && exact <= f64::from(up));
        assert!(down == up || down.next_up() == up);
        let root = |mode: &str| float(&format!("sqrt.{mode}.f32 %r0, %r1;"), &[a.abs()]);
        assert_eq!(root("rn"), a.abs().sqrt());
        let (down, up) = (root("rm"), root("rp"));
        assert!(down.next_up() == up || f64::from(down) * f64::from(down) == f64::from(a.abs()));
        let product = f64::from(down) * f64::from(down);
        assert!(product <= f64::from(a.abs()));
        assert_eq!(float("rcp.rn.f32 %r0, %r1;", &[a]), 1.0 / a);
    }
    assert_eq!(double("div.rn.f64 %d0, %d1, %d2;", &[1.0, 3.0]), 1.0 / 3.0);
    assert_eq!(double("rcp.rn.f64 %d0, %d1;", &[3.0]), 1.0 / 3.0);
    assert_eq!(double("sqrt.rn.f64 %d0, %d1;", &[2.0]), 2_f64.sqrt());
    assert_eq!(
        double("fma.rn.f64 %d0, %d1, %d2, %d3;", &[0.1, 10.0, -1.0]),
        0.1_f64.mul_add(10.0, -1.0)
    );
    assert_eq!(
        float("div.approx.f32 %r0, %r1, %r2;", &[1.0, 2_f32.powi(127)]),
        0.0
    );
    assert_eq!(
        float("div.full.f32 %r0, %r1, %r2;", &[1.0, 2_f32.powi(127)]),
        2_f32.powi(-127)
    );
}

#[test]
fn approximations_are_close() {
    type Case = (&'static str, fn(f64) -> f64, f64);
    let cases: [Case; 8] = [
        ("rcp.approx.ftz", |a| 1.0 / a, 1e-6),
        ("sqrt.approx", f64::sqrt, 1e-6),
        ("rsqrt.approx", |a| a.powf(-0.5), 1e-6),
        ("ex2.approx.ftz", |a| 2_f64.powf(a), 1e-6),
        ("lg2.approx", |a| a.ln() / 2_f64.ln(), 1e-6),
        ("sin.approx", f64::sin, 1e-6),
        (
            "cos.approx",
            |a| (std::f64::consts::FRAC_PI_2 - a).sin(),
            1e-6,
        ),
        ("tanh.approx", |a| 1.0 - 2.0 / ((2.0 * a).exp() + 1.0), 1e-6),
    ];
    for (name, f, error) in cases {
        for a in [0.1_f32, 0.5, 1.0, 1.7, 3.0] {
            let found = f64::from(float(&format!("{name}.f32 %r0, %r1;"), &[a]));
            let exact = f(a.into());
            assert!(
                (found - exact).abs() <= error * exact.abs().max(1.0),
                "{name} {a}"
            );
        }
    }
    // The special values of the ISA's tables.
    let run = |name: &str, a: f32| float(&format!("{name}.f32 %r0, %r1;"), &[a]);
    assert_eq!(run("rcp.approx", -0.0), f32::NEG_INFINITY);
    assert_eq!(run("rsqrt.approx", -0.0), f32::NEG_INFINITY);
    assert_eq!(run("rsqrt.approx", -1.0).to_bits(), 0x7fff_ffff);
    assert_eq!(run("ex2.approx", f32::NEG_INFINITY), 0.0);
    assert_eq!(run("lg2.approx", 0.0), f32::NEG_INFINITY);
    assert_eq!(run("sin.approx", f32::INFINITY).to_bits(), 0x7fff_ffff);
    assert_eq!(run("ex2.approx.ftz", -149.0), 0.0);
    let gross = double("rcp.approx.ftz.f64 %d0, %d1;", &[3.0]);
    assert_eq!(gross.to_bits() & 0xffff_ffff, 0);
    assert!((gross * 3.0 - 1.0).abs() < 1e-6);
}

#[test]
fn comparisons() {
    let (nan, one) = (f32::NAN, 1.0);
    let run = |word: &str, a: f32, b: f32| {
        let inputs = [("r1", a.to_bits().into()), ("r2", b.to_bits().into())];
        eval(&format!("setp.{word}.f32 %p0, %r1, %r2;"), &inputs) == 1
    };
    let rows: [(&str, [bool; 4]); 14] = [
        ("eq", [false, true, false, false]),
        ("ne", [true, false, true, false]),
        ("lt", [true, false, false, false]),
        ("le", [true, true, false, false]),
        ("gt", [false, false, true, false]),
        ("ge", [false, true, true, false]),
        ("equ", [false, true, false, true]),
        ("neu", [true, false, true, true]),
        ("ltu", [true, false, false, true]),
        ("leu", [true, true, false, true]),
        ("gtu", [false, false, true, true]),
        ("geu", [false, true, true, true]),
        ("num", [true, true, true, false]),
        ("nan", [false, false, false, true]),
    ];
    for (word, expected) in rows {
        let found = [
            run(word, 0.5, one),
            run(word, one, one),
            run(word, 2.0, one),
            run(word, nan, one),
        ];
        assert_eq!(found, expected, "{word}");
    }
    assert!(refusal("setp.lo.s32 %p0, %r1, %r2;").contains("`.lo` of `.s32`"));
    assert!(refusal("setp.lt.b32 %p0, %r1, %r2;").contains("`.lt` of `.b32`"));
}
