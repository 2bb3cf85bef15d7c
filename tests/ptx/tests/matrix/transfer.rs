//! `ldmatrix`, `stmatrix`, `movmatrix`.

use super::harness::{
    Random, entry, fill_tile, launch, list, load, packed, product, store, threads, unpacked, zeros,
};
use super::layouts::{accumulator, left, right};

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

/// Rows of four matrices, 48 bytes apart, with the elements 0, 1, 2, …
fn rows() -> Vec<u8> {
    let mut bytes = vec![0xee; 32 * 48];
    for row in 0..32 {
        for column in 0..8 {
            let at = row * 48 + column * 2;
            bytes[at..at + 2].copy_from_slice(&((row * 8 + column) as u16).to_le_bytes());
        }
    }
    bytes
}

fn half(words: &[u32], count: usize, lane: usize, register: usize, element: usize) -> usize {
    (words[lane * count + register] >> (16 * element) & 0xffff) as usize
}

#[test]
fn matrices_are_loaded_by_rows_and_by_columns() {
    for count in [1, 2, 4] {
        for trans in ["", ".trans"] {
            for (space, generic) in [(".shared", ""), ("", "cvta.shared.u64 %w3, %w3;")] {
                // Lanes without a row have an address that nothing may read.
                let text = entry(&format!(
                    "{}mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 48, %r1; setp.ge.u32 %p1, %t, {};\n\
                     @%p1 mov.u32 %r1, 3; cvt.u64.u32 %w3, %r1; {generic}\n\
                     ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {}, [%w3];\n{}ret;",
                    fill_tile(32 * 48),
                    count * 8,
                    list("d", count),
                    store("d", count, false),
                ));
                let found = launch(&text, threads(32), &rows(), 128 * count);
                let found = words(&found.unwrap_or_else(|report| panic!("{report}")));
                for (lane, register, element) in
                    (0..32).flat_map(|l| (0..count).flat_map(move |r| [(l, r, 0), (l, r, 1)]))
                {
                    let (g, pair) = (lane / 4, lane % 4 * 2 + element);
                    let (row, column) = if trans.is_empty() {
                        (g, pair)
                    } else {
                        (pair, g)
                    };
                    let expected = (register * 8 + row) * 8 + column;
                    assert_eq!(half(&found, count, lane, register, element), expected);
                }
            }
        }
    }
}

#[test]
fn stored_matrices_are_loaded_again() {
    for count in [1, 2, 4] {
        for trans in ["", ".trans"] {
            let text = entry(&format!(
                "{}mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 16, %r1;\n\
                 stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r1], {};\nbar.sync 0;\n\
                 mov.u32 %r1, tile; mad.lo.u32 %r1, %t, {}, %r1;\n{}{}ret;",
                load("a", count, false, 0),
                list("a", count),
                4 * count,
                (0..count)
                    .map(|i| format!("ld.shared.u32 %d{i}, [%r1+{}];\n", 4 * i))
                    .collect::<String>(),
                store("d", count, false),
            ));
            let mut random = Random(5);
            let input: Vec<u32> = (0..32 * count).map(|_| random.next() as u32).collect();
            let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
            let found = launch(&text, threads(32), &bytes, 128 * count).unwrap();
            // Row-major in memory: matrix, row, column.
            let halves: Vec<u16> = found
                .chunks_exact(2)
                .map(|b| u16::from_le_bytes([b[0], b[1]]))
                .collect();
            for (lane, register, element) in
                (0..32).flat_map(|l| (0..count).flat_map(move |r| [(l, r, 0), (l, r, 1)]))
            {
                let (g, pair) = (lane / 4, lane % 4 * 2 + element);
                let (row, column) = if trans.is_empty() {
                    (g, pair)
                } else {
                    (pair, g)
                };
                let expected = half(&input, count, lane, register, element);
                assert_eq!(halves[(register * 8 + row) * 8 + column] as usize, expected);
            }
        }
    }
}

#[test]
fn movmatrix_transposes() {
    let text = entry(&format!(
        "{}movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;\n{}ret;",
        load("a", 1, false, 0),
        store("d", 1, false)
    ));
    let input: Vec<u8> = (0..64_u16).flat_map(u16::to_le_bytes).collect();
    let found = words(&launch(&text, threads(32), &input, 128).unwrap());
    for lane in 0..32 {
        for element in 0..2 {
            let (row, column) = (lane / 4, lane % 4 * 2 + element);
            assert_eq!(half(&found, 1, lane, 0, element), column * 8 + row);
        }
    }
}

/// A from row-major, B from row-major memory by `.trans`: the same as by the lanes' formulas.
#[test]
fn fragments_by_ldmatrix_are_those_of_mma() {
    let mut random = Random(11);
    let (a, b) = (random.matrix("f16", 16, 16), random.matrix("f16", 16, 8));
    let mut input = packed("f16", a.iter().flatten().copied());
    input.extend(packed("f16", b.iter().flatten().copied()));
    // Lanes 0 to 15 have the rows of the left half of A, the others those of the right half.
    let text = entry(&format!(
        "{}mov.u32 %r10, tile; and.b32 %r11, %t, 15; shr.u32 %r12, %t, 4;\n\
         mad.lo.u32 %r13, %r11, 32, %r10; mad.lo.u32 %r13, %r12, 16, %r13;\n\
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%a0, %a1, %a2, %a3}}, [%r13];\n\
         mad.lo.u32 %r14, %r11, 16, %r10;\n\
         ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%b0, %b1}}, [%r14+512];\n\
         mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;\n\
         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {}, {}, {}, {};\n{}{}{}ret;",
        fill_tile(768),
        list("d", 4),
        list("a", 4),
        list("b", 2),
        list("c", 4),
        store("d", 4, false),
        "add.u64 %out, %out, 512;\n",
        store("a", 4, false) + "add.u64 %out, %out, 512;\n" + &store("b", 2, false),
    ));
    let found = launch(&text, threads(32), &input, 512 + 512 + 256).unwrap();
    let expected = product(&a, &b, &zeros(16, 8));
    for (index, value) in unpacked("f32", &found[..512]).into_iter().enumerate() {
        let (row, column) = accumulator(16, index / 4, index % 4);
        assert_eq!(value, expected[row][column]);
    }
    for (index, value) in unpacked("f16", &found[512..1024]).into_iter().enumerate() {
        let (row, column) = left("m16n8k16", "f16", index / 8, index % 8);
        assert_eq!(value, a[row][column]);
    }
    for (index, value) in unpacked("f16", &found[1024..]).into_iter().enumerate() {
        let (row, column) = right("m16n8k16", "f16", index / 4, index % 4);
        assert_eq!(value, b[row][column]);
    }
}
