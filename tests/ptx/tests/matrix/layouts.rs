//! The formulas of the ISA's sections "Matrix Fragments for mma.m…n…k…".

/// Row and column of element `i` of a lane.
type Place = (usize, usize);

/// Of A (M × K).
pub fn left(shape: &str, ty: &str, lane: usize, i: usize) -> Place {
    let (g, t) = (lane >> 2, lane % 4);
    let low = |first: bool| if first { g } else { g + 8 };
    match (shape, ty) {
        ("m16n8k8", "f16" | "bf16") => (low(i < 2), t * 2 + (i & 1)),
        ("m16n8k16", "f16" | "bf16") => {
            let first = i < 2 || (4..6).contains(&i);
            (low(first), t * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
        }
        ("m16n8k4", _) => (low(i == 0), t),
        ("m16n8k8", "tf32" | "f64") => (low(i == 0 || i == 2), if i < 2 { t } else { t + 4 }),
        ("m8n8k4", "f64") => (g, t),
        ("m16n8k16", "f64") => {
            let column = if i.is_multiple_of(2) {
                i * 2 + t
            } else {
                i * 2 - 2 + t
            };
            (low(i.is_multiple_of(2)), column)
        }
        ("m8n8k16", _) => (g, t * 4 + i),
        ("m16n8k16", _) => (low(i < 4), t * 4 + (i & 3)),
        ("m8n8k32", _) => (g, t * 8 + i),
        ("m16n8k32", "s4" | "u4") => (low(i < 8), t * 8 + (i & 7)),
        ("m16n8k32", _) => {
            let first = i < 4 || (8..12).contains(&i);
            (low(first), t * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
        }
        ("m16n8k64", _) => {
            let first = i < 8 || (16..24).contains(&i);
            (low(first), t * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
        }
        ("m8n8k128", _) => (g, t * 32 + i),
        ("m16n8k128", _) => (low(i < 32), t * 32 + (i & 31)),
        ("m16n8k256", _) => {
            let first = i < 32 || (64..96).contains(&i);
            (low(first), t * 32 + (i & 31) + if i < 64 { 0 } else { 128 })
        }
        other => panic!("{other:?}"),
    }
}

/// Of B (K × N).
pub fn right(shape: &str, ty: &str, lane: usize, i: usize) -> Place {
    let (g, t) = (lane >> 2, lane % 4);
    let k = match (shape, ty) {
        ("m16n8k8", "f16" | "bf16") => t * 2 + i,
        ("m16n8k16", "f16" | "bf16") => t * 2 + (i & 1) + if i < 2 { 0 } else { 8 },
        ("m16n8k4" | "m8n8k4", _) => t,
        ("m16n8k8", "tf32" | "f64") => t + if i == 0 { 0 } else { 4 },
        ("m16n8k16", "f64") => t + i * 4,
        ("m8n8k16" | "m16n8k16", _) => t * 4 + i,
        ("m8n8k32" | "m16n8k32", "s4" | "u4") => t * 8 + i,
        ("m16n8k32", _) => t * 4 + (i & 3) + if i < 4 { 0 } else { 16 },
        ("m16n8k64", _) => t * 8 + (i & 7) + if i < 8 { 0 } else { 32 },
        ("m8n8k128" | "m16n8k128", _) => t * 32 + i,
        ("m16n8k256", _) => t * 32 + (i & 31) + if i < 32 { 0 } else { 128 },
        other => panic!("{other:?}"),
    };
    (k, g)
}

/// Of C and D; for `wgmma` the pattern of 8 columns is repeated.
pub fn accumulator(rows: usize, lane: usize, i: usize) -> Place {
    let (g, t) = (lane >> 2, lane % 4);
    if rows == 8 {
        return (g, t * 2 + (i & 1));
    }
    (
        if i % 4 < 2 { g } else { g + 8 },
        i / 4 * 8 + t * 2 + (i & 1),
    )
}

/// `m16n8k32` → 16, 8, 32
pub fn extents(shape: &str) -> [usize; 3] {
    let numbers = shape.split(|c: char| c.is_ascii_alphabetic()).skip(1);
    let numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
    [numbers[0], numbers[1], numbers[2]]
}
