//! `cvt` to and from pairs, 8-bit floats and tf32.

use super::super::decode::Form;
use super::super::lanewise::{Decoded, binary, unary};
use super::round::{BF16, E4M3, E5M2, F16, Format, Mode, TF32};

/// How one element is rounded.
#[derive(Clone, Copy)]
struct Narrow {
    format: &'static Format,
    mode: Mode,
    relu: bool,
    finite: bool,
}

impl Narrow {
    fn bits(self, value: f64) -> u32 {
        if value.is_nan() {
            return self.format.nan as u32;
        }
        let value = if self.relu && value <= 0.0 {
            0.0
        } else {
            value
        };
        let bits = self.format.round_f64(value, self.mode);
        let sign = bits & 1 << self.format.sign;
        let beyond = bits & !sign > self.format.largest;
        (if beyond && self.finite {
            sign | self.format.largest
        } else {
            bits
        }) as u32
    }
}

fn element(word: &str) -> &'static Format {
    match word {
        "f16x2" => &F16,
        "bf16x2" => &BF16,
        "e4m3x2" => &E4M3,
        _ => &E5M2,
    }
}

pub fn decode(form: &Form<'_>) -> Decoded {
    const PAIRS: [&str; 4] = ["f16x2", "bf16x2", "e4m3x2", "e5m2x2"];
    let mut words = form.words();
    let mode = words.required(&["rn", "rz", "rna"])?;
    let relu = words.flag("relu");
    let finite = words.flag("satfinite");
    let to = words.required(&[PAIRS.as_slice(), &["tf32"]].concat())?;
    let from = words.required(&["f32", "f16x2", "e4m3x2", "e5m2x2"])?;
    words.finish()?;
    if (mode == "rna") != (mode == "rna" && to == "tf32") {
        return Err(form.refuse("`.rna` of another type than tf32"));
    }
    let small = matches!(to, "e4m3x2" | "e5m2x2");
    if small && !(finite && mode == "rn") {
        return Err(form.refuse("`.rn.satfinite` is missing"));
    }
    let narrow = Narrow {
        format: if to == "tf32" { &TF32 } else { element(to) },
        mode: Mode::parse(mode),
        relu,
        finite,
    };
    let pair = move |high: f64, low: f64, width: u32| narrow.bits(high) << width | narrow.bits(low);
    match (to, from) {
        ("tf32", "f32") => unary(form, move |a: f32| narrow.bits(f64::from(a)) << 13),
        ("f16x2" | "bf16x2", "f32") => {
            binary(form, move |a: f32, b: f32| pair(a.into(), b.into(), 16))
        }
        ("e4m3x2" | "e5m2x2", "f32") => binary(form, move |a: f32, b: f32| {
            pair(a.into(), b.into(), 8) as u16
        }),
        ("e4m3x2" | "e5m2x2", "f16x2") => unary(form, move |a: u32| {
            let half = |bits: u32| F16.widen(u64::from(bits & 0xffff));
            pair(half(a >> 16), half(a), 8) as u16
        }),
        ("f16x2", "e4m3x2" | "e5m2x2") if mode == "rn" && !finite => {
            let from = element(from);
            unary(form, move |a: u16| {
                let byte = |bits: u16| from.widen(u64::from(bits & 0xff));
                pair(byte(a >> 8), byte(a), 16)
            })
        }
        _ => Err(form.refuse(format!("the types `.{to}.{from}`"))),
    }
}
