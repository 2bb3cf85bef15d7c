//! Random matrices of small integers, their bits, and launches.

use croq_ptx::machine::{Launch, Machine, Report};

pub type Matrix = Vec<Vec<i64>>;

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn matrix(&mut self, ty: &str, rows: usize, columns: usize) -> Matrix {
        let (low, high) = range(ty);
        let row = |random: &mut Random| (0..columns).map(|_| random.within(low, high)).collect();
        (0..rows).map(|_| row(self)).collect()
    }
}

/// Values that all sums of products are exact with.
fn range(ty: &str) -> (i64, i64) {
    match ty {
        "s8" => (-128, 127),
        "u8" => (0, 255),
        "s4" => (-8, 7),
        "u4" => (0, 15),
        "b1" => (0, 1),
        "s32" => (-1000, 1000),
        _ => (-3, 3),
    }
}

pub fn width(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "s32" | "tf32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" => 4,
        "b1" => 1,
        _ => 8,
    }
}

/// Of an integer that the type has exactly.
pub fn encode(ty: &str, value: i64) -> u64 {
    let (exponent, fraction) = match ty {
        "f64" => (11, 52),
        "f32" | "tf32" => (8, 23),
        "f16" => (5, 10),
        "bf16" => (8, 7),
        "e4m3" => (4, 3),
        "e5m2" => (5, 2),
        _ => return value as u64 & (u64::MAX >> (64 - width(ty))),
    };
    if value == 0 {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let log = magnitude.ilog2();
    let digits = magnitude << fraction >> log;
    assert_eq!(digits << log >> fraction, magnitude, "{value} is no {ty}");
    let bias = (1 << (exponent - 1)) - 1;
    let sign = u64::from(value < 0) << (exponent + fraction);
    sign | (u64::from(log) + bias) << fraction | digits & ((1 << fraction) - 1)
}

pub fn decode(ty: &str, bits: u64) -> i64 {
    match ty {
        "s32" => (bits as i32).into(),
        "f64" => f64::from_bits(bits) as i64,
        "f32" => f32::from_bits(bits as u32) as i64,
        // Of f16: sums in the tests are integers.
        _ => {
            let (exponent, fraction) = (bits >> 10 & 31, bits & 0x3ff);
            if exponent == 0 {
                return 0;
            }
            let magnitude = (fraction | 0x400) as f64 * 2_f64.powi(exponent as i32 - 25);
            if bits >> 15 & 1 == 1 {
                -(magnitude as i64)
            } else {
                magnitude as i64
            }
        }
    }
}

/// A·B + C
pub fn product(a: &[Vec<i64>], b: &[Vec<i64>], c: &[Vec<i64>]) -> Matrix {
    let entry = |row: usize, column: usize| {
        let sum = |k: usize| a[row][k] * b[k][column];
        c[row][column] + (0..b.len()).map(sum).sum::<i64>()
    };
    let row = |row: usize| (0..b[0].len()).map(|column| entry(row, column)).collect();
    (0..a.len()).map(row).collect()
}

pub fn zeros(rows: usize, columns: usize) -> Matrix {
    vec![vec![0; columns]; rows]
}

/// Puts elements one after the other into bytes, the first into the lowest bits.
pub fn packed(ty: &str, elements: impl Iterator<Item = i64>) -> Vec<u8> {
    let width = width(ty);
    let mut bits = Vec::new();
    for element in elements {
        let value = encode(ty, element);
        bits.extend((0..width).map(|bit| value >> bit & 1 == 1));
    }
    let byte = |bits: &[bool]| {
        let set = bits.iter().rev();
        set.fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit))
    };
    bits.chunks(8).map(byte).collect()
}

pub fn unpacked(ty: &str, bytes: &[u8]) -> Vec<i64> {
    let chunks = bytes.chunks(width(ty) / 8);
    let bits = chunks.map(|chunk| {
        let all = chunk.iter().rev();
        all.fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte))
    });
    bits.map(|bits| decode(ty, bits)).collect()
}

/// Launches `k(in, out)`; gives `bytes` of `out`.
pub fn launch(text: &str, launch: Launch, input: &[u8], bytes: usize) -> Result<Vec<u8>, Report> {
    let mut machine = Machine::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let source = machine.allocate("in", input.len().max(16));
    let out = machine.allocate("out", bytes.max(16));
    machine.write(source, input).unwrap();
    machine.launch("k", &launch, &[&source.to_le_bytes(), &out.to_le_bytes()])?;
    Ok(machine.read(out, bytes).unwrap().to_vec())
}

pub fn threads(count: u32) -> Launch {
    Launch {
        block: [count, 1, 1],
        ..Launch::default()
    }
}

/// An entry with `%in`, `%out` and the thread's index `%t`, and 48 KiB of shared memory from
/// `tile` on, which lies at 1024.
pub fn entry(statements: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[49152];\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n.reg .pred %p<9>; .reg .b32 %r<99>;\n\
         .reg .b32 %a<9>; .reg .b64 %da<9>; .reg .b32 %b<9>; .reg .b64 %db<9>; .reg .b32 %c<140>;\n\
         .reg .b64 %dc<9>; .reg .b32 %d<140>; .reg .b64 %dd<9>; .reg .b32 %e<9>;\n\
         .reg .b32 %t; .reg .b64 %in; .reg .b64 %out; .reg .b64 %w<29>; .reg .b16 %h<3>;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\n{statements}\n}}\n"
    )
}

/// Loads `count` registers of this thread from `%in` + `offset` on, where threads follow each other.
pub fn load(prefix: &str, count: usize, wide: bool, offset: usize) -> String {
    let (bytes, ty) = if wide { (8, "u64") } else { (4, "u32") };
    let stride = bytes * count;
    let mut text = format!("mul.wide.u32 %w1, %t, {stride}; add.u64 %w1, %w1, %in;\n");
    for index in 0..count {
        let at = offset + index * bytes;
        text += &format!("ld.global.{ty} %{prefix}{index}, [%w1+{at}];\n");
    }
    text
}

pub fn store(prefix: &str, count: usize, wide: bool) -> String {
    let (bytes, ty) = if wide { (8, "u64") } else { (4, "u32") };
    let stride = bytes * count;
    let mut text = format!("mul.wide.u32 %w2, %t, {stride}; add.u64 %w2, %w2, %out;\n");
    for index in 0..count {
        let at = index * bytes;
        text += &format!("st.global.{ty} [%w2+{at}], %{prefix}{index};\n");
    }
    text
}

/// `{%a0, %a1}`
pub fn list(prefix: &str, count: usize) -> String {
    let names: Vec<String> = (0..count)
        .map(|index| format!("%{prefix}{index}"))
        .collect();
    format!("{{{}}}", names.join(", "))
}

/// Copies `bytes` from `%in` to shared memory, by all threads, and waits for them.
pub fn fill_tile(bytes: usize) -> String {
    assert!(bytes.is_multiple_of(16) && bytes <= 49152);
    format!(
        "shl.b32 %r1, %t, 4; mov.u32 %r2, tile; mov.u32 %r8, %ntid.x; shl.b32 %r8, %r8, 4;\n\
         FILL: setp.ge.u32 %p1, %r1, {bytes}; @%p1 bra FILLED;\n\
         cvt.u64.u32 %w1, %r1; add.u64 %w1, %w1, %in; add.u32 %r3, %r2, %r1;\n\
         ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%w1]; st.shared.v4.u32 [%r3], {{%r4, %r5, %r6, %r7}};\n\
         add.u32 %r1, %r1, %r8; bra FILL;\nFILLED: fence.proxy.async; bar.sync 0;\n"
    )
}
