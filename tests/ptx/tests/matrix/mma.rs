//! `mma.sync` of all types and shapes.

use croq_ptx::machine::Report;

use super::harness::{
    Matrix, Random, decode, entry, launch, list, load, packed, product, store, threads, unpacked,
    width,
};
use super::layouts::{accumulator, extents, left, right};

/// An instruction, and how it is written down.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    pub shape: &'a str,
    pub a: &'a str,
    pub b: &'a str,
    pub sum: &'a str,
    pub before: &'a str,
    pub after: &'a str,
}

impl Form<'_> {
    pub fn mnemonic(&self) -> String {
        let Form {
            shape,
            a,
            b,
            sum,
            before,
            after,
        } = self;
        format!("mma.sync.aligned.{shape}.row.col{before}.{sum}.{a}.{b}.{sum}{after}")
    }
}

/// How many elements and registers of each operand a lane has.
fn counts(lines: usize, k: usize, ty: &str) -> (usize, usize) {
    let elements = lines * k / 32;
    (
        elements,
        (elements * width(ty)).div_ceil(32.max(width(ty).min(64))),
    )
}

fn run(form: Form<'_>, a: &Matrix, b: &Matrix, c: &Matrix) -> Result<Matrix, Report> {
    let [m, n, k] = extents(form.shape);
    let wide = form.a == "f64";
    let ((na, ra), (nb, rb)) = (counts(m, k, form.a), counts(n, k, form.b));
    let (nc, rc) = counts(m, n, form.sum);
    let each = |count: usize| (0..32).flat_map(move |lane| (0..count).map(move |i| (lane, i)));
    let of = |matrix: &Matrix, (row, column): (usize, usize)| matrix[row][column];
    let mut input = packed(
        form.a,
        each(na).map(|(l, i)| of(a, left(form.shape, form.a, l, i))),
    );
    let offset_b = input.len();
    input.extend(packed(
        form.b,
        each(nb).map(|(l, i)| of(b, right(form.shape, form.b, l, i))),
    ));
    let offset_c = input.len();
    input.extend(packed(
        form.sum,
        each(nc).map(|(l, i)| of(c, accumulator(m, l, i))),
    ));
    let p = |name: &str| {
        if wide {
            format!("d{name}")
        } else {
            name.to_owned()
        }
    };
    let text = entry(&format!(
        "{}{}{}{} {}, {}, {}, {};\n{}ret;",
        load(&p("a"), ra, wide, 0),
        load(&p("b"), rb, wide, offset_b),
        load(&p("c"), rc, wide, offset_c),
        form.mnemonic(),
        list(&p("d"), rc),
        list(&p("a"), ra),
        list(&p("b"), rb),
        list(&p("c"), rc),
        store(&p("d"), rc, wide),
    ));
    let bytes = nc * 32 * width(form.sum) / 8;
    let out = unpacked(form.sum, &launch(&text, threads(32), &input, bytes)?);
    let mut found = vec![vec![i64::MIN; n]; m];
    for (index, value) in out.into_iter().enumerate() {
        let (row, column) = accumulator(m, index / nc, index % nc);
        found[row][column] = value;
    }
    Ok(found)
}

fn check(form: Form<'_>) {
    let [m, n, k] = extents(form.shape);
    let mut random = Random(0x5eed ^ k as u64);
    let (a, b) = (random.matrix(form.a, m, k), random.matrix(form.b, k, n));
    let c = random.matrix(form.sum, m, n);
    let found = run(form, &a, &b, &c).unwrap_or_else(|report| panic!("{form:?}: {report}"));
    let expected = match form.after {
        ".xor.popc" => xor(&a, &b, &c),
        _ => product(&a, &b, &c),
    };
    assert_eq!(found, expected, "{form:?}");
}

fn xor(a: &Matrix, b: &Matrix, c: &Matrix) -> Matrix {
    let mut sums = c.clone();
    for (row, sums) in sums.iter_mut().enumerate() {
        for (column, sum) in sums.iter_mut().enumerate() {
            *sum += (0..b.len()).map(|k| a[row][k] ^ b[k][column]).sum::<i64>();
        }
    }
    sums
}

fn form<'a>(shape: &'a str, a: &'a str, b: &'a str, sum: &'a str) -> Form<'a> {
    Form {
        shape,
        a,
        b,
        sum,
        before: "",
        after: "",
    }
}

#[test]
fn floats_of_16_bits() {
    for shape in ["m16n8k8", "m16n8k16"] {
        check(form(shape, "f16", "f16", "f16"));
        check(form(shape, "f16", "f16", "f32"));
        check(form(shape, "bf16", "bf16", "f32"));
    }
}

#[test]
fn tf32_and_f64() {
    check(form("m16n8k4", "tf32", "tf32", "f32"));
    check(form("m16n8k8", "tf32", "tf32", "f32"));
    for shape in ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"] {
        check(form(shape, "f64", "f64", "f64"));
    }
}

#[test]
fn floats_of_8_bits() {
    for shape in ["m16n8k16", "m16n8k32"] {
        for (a, b) in [
            ("e4m3", "e4m3"),
            ("e4m3", "e5m2"),
            ("e5m2", "e4m3"),
            ("e5m2", "e5m2"),
        ] {
            check(form(shape, a, b, "f32"));
            check(form(shape, a, b, "f16"));
        }
    }
}

#[test]
fn integers() {
    for (shapes, types) in [
        (["m8n8k16", "m16n8k16", "m16n8k32"], ["s8", "u8"]),
        (["m8n8k32", "m16n8k32", "m16n8k64"], ["s4", "u4"]),
    ] {
        for shape in shapes {
            for a in types {
                for b in types {
                    check(form(shape, a, b, "s32"));
                    check(Form {
                        before: ".satfinite",
                        ..form(shape, a, b, "s32")
                    });
                }
            }
        }
    }
}

#[test]
fn single_bits() {
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for after in [".and.popc", ".xor.popc"] {
            check(Form {
                after,
                ..form(shape, "b1", "b1", "s32")
            });
        }
    }
}

#[test]
fn sums_of_integers_wrap_or_are_clamped() {
    let (a, b) = (vec![vec![127; 16]; 16], vec![vec![127; 8]; 16]);
    let c = vec![vec![i64::from(i32::MAX) - 5; 8]; 16];
    let plain = form("m16n8k16", "s8", "s8", "s32");
    let sum = i64::from(i32::MAX) - 5 + 16 * 127 * 127;
    assert_eq!(run(plain, &a, &b, &c).unwrap()[3][4], sum - (1 << 32));
    let clamped = Form {
        before: ".satfinite",
        ..plain
    };
    assert_eq!(run(clamped, &a, &b, &c).unwrap()[3][4], i32::MAX.into());
}

/// 2048 + 1 is no f16; it is rounded once, after all products.
#[test]
fn accumulators_of_f16_are_rounded_at_the_end() {
    let (mut a, mut b) = (vec![vec![0; 16]; 16], vec![vec![0; 8]; 16]);
    a[0][..3].copy_from_slice(&[1, 1, 1]);
    (0..3).for_each(|k| b[k][0] = 1);
    let mut c = vec![vec![0; 8]; 16];
    c[0][0] = 2048;
    let found = run(form("m16n8k16", "f16", "f16", "f16"), &a, &b, &c).unwrap();
    assert_eq!(found[0][0], 2052, "2051 to the nearest even f16");
    assert_eq!(decode("f16", 0x6800), 2048);
}

/// A transposed B gives another result: the test above would see it.
#[test]
fn wrong_layouts_change_the_result() {
    let mut random = Random(77);
    let (a, b) = (random.matrix("f16", 16, 8), random.matrix("f16", 8, 8));
    let transposed: Matrix = (0..8).map(|r| (0..8).map(|c| b[c][r]).collect()).collect();
    let c = vec![vec![0; 8]; 16];
    let form = form("m16n8k8", "f16", "f16", "f32");
    assert_ne!(run(form, &a, &transposed, &c).unwrap(), product(&a, &b, &c));
}

#[test]
fn other_forms_are_refused_by_name() {
    for (shape, a, b, sum, reason) in [
        (
            "m16n8k16",
            "tf32",
            "tf32",
            "f32",
            "its shape with this type",
        ),
        (
            "m16n8k8",
            "bf16",
            "bf16",
            "f16",
            "these types with each other",
        ),
        (
            "m16n8k32",
            "s8",
            "e4m3",
            "s32",
            "these types with each other",
        ),
    ] {
        let mnemonic = form(shape, a, b, sum).mnemonic();
        let text = entry(&format!(
            "{mnemonic} {{%d0, %d1}}, {{%a0}}, {{%b0}}, {{%c0, %c1}};"
        ));
        let report = launch(&text, threads(32), &[], 16).unwrap_err();
        assert_eq!(
            report.message,
            format!("`{mnemonic}` is not implemented: {reason}")
        );
    }
}
