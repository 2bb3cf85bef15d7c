//! Kernels of integers, whose results are exact.

use crate::peer::{Peer, Value};
use crate::values::{Format, Random};

fn bytes32(values: &[i32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn words32(bytes: &[u8]) -> Vec<i32> {
    let chunks = bytes.chunks_exact(4);
    chunks
        .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

fn bytes64(values: &[i64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn words64(bytes: &[u8]) -> Vec<i64> {
    let chunks = bytes.chunks_exact(8);
    chunks
        .map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

/// Philox 4x32 with ten rounds: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3".
fn philox(counter: u32, seed: u32) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], mut key) = ([counter, 0, 0, 0], [seed, 0]);
    for _ in 0..10 {
        let first = u64::from(a) * 0xd251_1f53;
        let second = u64::from(c) * 0xcd9e_8d57;
        [a, b, c, d] = [
            (second >> 32) as u32 ^ b ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ d ^ key[1],
            first as u32,
        ];
        key[0] = key[0].wrapping_add(0x9e37_79b9);
        key[1] = key[1].wrapping_add(0xbb67_ae85);
    }
    [a, b, c, d]
}

#[test]
fn philox_has_its_published_result() {
    let expected = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
    assert_eq!(philox(0, 0), expected);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn random() {
    let (n, seed) = (300, 1234);
    let mut peer = Peer::load("random");
    let (out, uniform) = (
        peer.poisoned("out", 16 * n),
        peer.poisoned("uniform", 4 * n),
    );
    let arguments = [
        ("out", out),
        ("uniform", uniform),
        ("seed", Value::Integer(seed)),
        ("n", Value::Integer(n as i32)),
    ];
    peer.launch([n.div_ceil(peer.constant("BLOCK")), 1], &arguments);
    let found = words32(&peer.download(out, 16 * n));
    let uniform = Format::F32.to_values(&peer.download(uniform, 4 * n));
    for counter in 0..n {
        let expected = philox(counter as u32, seed as u32);
        for (row, word) in expected.into_iter().enumerate() {
            assert_eq!(found[row * n + counter], word as i32, "{row} {counter}");
        }
        // Triton: the word without its sign, as a fraction of 2^31, a little less than 1.
        let word = expected[0] as i32;
        let size = if word < 0 { !word } else { word };
        let expected = size as f32 * 4.656_612_7e-10_f32;
        assert_eq!(uniform[counter], f64::from(expected), "{counter}");
    }
}

/// What the kernel `arithmetic` computes of two numbers.
fn arithmetic(a: i64, b: i64) -> [i64; 10] {
    let (word, small) = (a as i32, b as i32 | 1);
    [
        a.wrapping_div(b | 1),
        a.wrapping_rem(b | 1),
        i64::from(word.wrapping_div(small)),
        i64::from(word as u32 % small as u32),
        a >> (b & 63),
        a << (b & 63),
        ((a as u64 as u128 * b as u64 as u128) >> 64) as i64,
        i64::from(a as i8) * i64::from(b as i16),
        a.min(b) ^ i64::from(word.max(small)),
        a.wrapping_abs().wrapping_sub(!b),
    ]
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn integers() {
    let n = 500;
    let mut peer = Peer::load("integers");
    let mut random = Random::new(7);
    let sized = |bits: u64, shift: u64| bits as i64 >> (shift % 64);
    let mut numbers = || -> Vec<i64> {
        let number = |_| sized(random.bits(), random.bits());
        (0..n).map(number).collect()
    };
    let (mut x, y) = (numbers(), numbers());
    x[..3].copy_from_slice(&[0, i64::MAX, i64::MIN + 1]);
    let out = peer.poisoned("out", 80 * n);
    let arguments = [
        ("x", peer.upload("x", &bytes64(&x))),
        ("y", peer.upload("y", &bytes64(&y))),
        ("out", out),
        ("n", Value::Integer(n as i32)),
    ];
    peer.launch([n.div_ceil(peer.constant("BLOCK")), 1], &arguments);
    let found = words64(&peer.download(out, 80 * n));
    for (at, (x, y)) in x.iter().zip(&y).enumerate() {
        for (row, exact) in arithmetic(*x, *y).into_iter().enumerate() {
            assert_eq!(found[row * n + at], exact, "row {row} of {x} and {y}");
        }
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn scan_and_sort() {
    let mut peer = Peer::load("sort");
    let (rows, columns) = (3, peer.constant("BLOCK"));
    let mut random = Random::new(8);
    let x: Vec<i32> = (0..rows * columns)
        .map(|_| random.bits() as i32 % 1000)
        .collect();
    let [sums, sorted] = ["sums", "sorted"].map(|name| peer.poisoned(name, 4 * x.len()));
    let [highest, place] = ["highest", "where"].map(|name| peer.poisoned(name, 4 * rows));
    let arguments = [
        ("x", peer.upload("x", &bytes32(&x))),
        ("sums", sums),
        ("sorted", sorted),
        ("highest", highest),
        ("where", place),
    ];
    peer.launch([rows, 1], &arguments);
    let read = |buffer, count| words32(&peer.download(buffer, 4 * count));
    let (sums, sorted) = (read(sums, x.len()), read(sorted, x.len()));
    let (highest, place) = (read(highest, rows), read(place, rows));
    for (row, x) in x.chunks(columns).enumerate() {
        let found = &sums[row * columns..][..columns];
        let mut total = 0;
        for (found, x) in found.iter().zip(x) {
            total += x;
            assert_eq!(*found, total);
        }
        let mut ordered = x.to_vec();
        ordered.sort_unstable();
        assert_eq!(sorted[row * columns..][..columns], ordered);
        assert_eq!(highest[row], ordered[columns - 1]);
        // The first of several.
        let first = x.iter().position(|x| *x == highest[row]);
        assert_eq!(Some(place[row] as usize), first);
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn histogram() {
    let n = 1000_usize;
    let mut peer = Peer::load("histogram");
    let bins = peer.constant("BINS");
    let mut random = Random::new(9);
    let x: Vec<i32> = (0..n).map(|_| 1 + (random.bits() % 50) as i32).collect();
    let zeros = |peer: &mut Peer, name, count: usize| peer.upload(name, &vec![0; 4 * count]);
    let counts = zeros(&mut peer, "bins", bins);
    let sums = zeros(&mut peer, "sum", 4);
    let [most, total, locks] = ["most", "total", "locks"].map(|name| zeros(&mut peer, name, 1));
    let least = peer.upload("least", &i32::MAX.to_le_bytes());
    let arguments = [
        ("x", peer.upload("x", &bytes32(&x))),
        ("bins", counts),
        ("sum", sums),
        ("most", most),
        ("least", least),
        ("total", total),
        ("locks", locks),
        ("n", Value::Integer(n as i32)),
    ];
    // So that the blocks wait for the lock of each other.
    peer.runs_blocks_together = true;
    peer.launch([n.div_ceil(peer.constant("BLOCK")), 1], &arguments);
    let read = |buffer, count| words32(&peer.download(buffer, 4 * count));
    let expected: Vec<i32> = (0..bins as i32)
        .map(|bin| x.iter().filter(|x| **x == bin).count() as i32)
        .collect();
    assert_eq!(read(counts, bins), expected);
    let expected = [0, 1, 2, 3].map(|rest| {
        let class = x.iter().filter(|x| **x % 4 == rest);
        class.map(|x| f64::from(*x)).sum::<f64>()
    });
    assert_eq!(Format::F32.to_values(&peer.download(sums, 16)), expected);
    assert_eq!(read(most, 1)[0], *x.iter().max().unwrap());
    assert_eq!(read(least, 1)[0], *x.iter().min().unwrap());
    assert_eq!(read(total, 1)[0], x.iter().sum::<i32>());
    assert_eq!(read(locks, 1)[0], 0);
}
