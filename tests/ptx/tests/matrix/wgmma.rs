//! `wgmma.mma_async` of all types, swizzles and majors.

use croq_ptx::machine::{Asynchrony, Launch};

use super::harness::{
    Matrix, Random, entry, fill_tile, launch, list, product, store, threads, unpacked, zeros,
};
use super::layouts::accumulator;
use super::placed::{Layout, PLAIN, Placed};
use super::trial::{Case, Trial};

fn check(case: Case<'_>) {
    Trial::new(case).check();
}

const SWIZZLES: [usize; 4] = [16, 32, 64, 128];

fn layouts() -> impl Iterator<Item = Layout> {
    SWIZZLES.into_iter().flat_map(|swizzle| {
        [false, true].map(|is_transposed| Layout {
            swizzle,
            is_transposed,
        })
    })
}

#[test]
fn all_layouts_of_both_matrices() {
    for ty in ["f16", "bf16"] {
        for a in layouts() {
            for b in layouts() {
                let case = Case::new(64, [ty, ty, "f32"]);
                check(Case {
                    a,
                    b,
                    steps: 3,
                    ..case
                });
            }
        }
    }
}

#[test]
fn all_swizzles_of_other_types() {
    for types in [
        ["tf32", "tf32", "f32"],
        ["e4m3", "e5m2", "f32"],
        ["s8", "u8", "s32"],
        ["b1", "b1", "s32"],
    ] {
        for swizzle in SWIZZLES {
            for other in SWIZZLES {
                let layout = |swizzle| Layout { swizzle, ..PLAIN };
                let case = Case::new(32, types);
                check(Case {
                    a: layout(swizzle),
                    b: layout(other),
                    ..case
                });
            }
        }
    }
}

#[test]
fn widths_from_8_to_256() {
    for n in [8, 16, 24, 40, 72, 96, 136, 176, 248, 256] {
        for is_transposed in [false, true] {
            let b = Layout {
                is_transposed,
                ..PLAIN
            };
            check(Case {
                b,
                ..Case::new(n, ["f16", "f16", "f32"])
            });
            check(Case {
                b,
                ..Case::new(n, ["f16", "f16", "f16"])
            });
        }
        check(Case::new(n, ["e4m3", "e4m3", "f16"]));
    }
    for n in [8, 16, 24, 32, 48, 96, 240, 256] {
        check(Case::new(n, ["s8", "s8", "s32"]));
    }
}

#[test]
fn all_types_with_a_in_registers() {
    let mut all = vec![
        ["f16", "f16", "f32"],
        ["f16", "f16", "f16"],
        ["bf16", "bf16", "f32"],
        ["tf32", "tf32", "f32"],
        ["b1", "b1", "s32"],
    ];
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            all.extend([[a, b, "f32"], [a, b, "f16"]]);
        }
    }
    for a in ["s8", "u8"] {
        all.extend(["s8", "u8"].map(|b| [a, b, "s32"]));
    }
    for types in all {
        check(Case::new(32, types));
        check(Case {
            a_in_registers: true,
            ..Case::new(32, types)
        });
    }
}

#[test]
fn sparse_matrices() {
    let b = |swizzle| Layout { swizzle, ..PLAIN };
    for types in [
        ["f16", "f16", "f32"],
        ["f16", "f16", "f16"],
        ["bf16", "bf16", "f32"],
        ["tf32", "tf32", "f32"],
        ["e4m3", "e5m2", "f32"],
        ["e5m2", "e4m3", "f16"],
        ["s8", "u8", "s32"],
    ] {
        for a_in_registers in [false, true] {
            // A row of B has 64 bytes: not for 32-byte swizzles.
            for (of_a, of_b) in [(16, 128), (32, 64), (64, 16), (128, 128)] {
                let case = Case {
                    a: b(of_a),
                    b: b(of_b),
                    a_in_registers,
                    ..Case::new(32, types)
                };
                check(Case {
                    is_sparse: true,
                    ..case
                });
            }
        }
    }
    for a in layouts() {
        for b in layouts().filter(|b| b.is_transposed) {
            let case = Case::new(64, ["f16", "f16", "f32"]);
            check(Case {
                a,
                b,
                is_sparse: true,
                ..case
            });
        }
    }
}

#[test]
fn scales() {
    let case = Case::new(24, ["f16", "f16", "f32"]);
    for scales in [[1, 1], [-1, 1], [1, -1], [-1, -1]] {
        for first_scale in ["0", "1"] {
            check(Case {
                scales,
                first_scale,
                ..case
            });
        }
    }
    check(Case {
        first_scale: "%p5",
        ..case
    });
    let expected = Trial::new(Case {
        first_scale: "0",
        ..case
    })
    .expected();
    let found = Trial::new(Case {
        first_scale: "%p6",
        ..case
    })
    .run()
    .unwrap();
    assert_eq!(found, expected);
    check(Case {
        saturates: true,
        ..Case::new(16, ["s8", "s8", "s32"])
    });
}

/// The same results whenever the products are executed.
#[test]
fn modes_of_asynchrony() {
    for mode in [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded] {
        for seed in 0..4 {
            let mut trial = Trial::new(Case {
                steps: 4,
                ..Case::new(16, ["f16", "f16", "f32"])
            });
            trial.launch = Launch {
                asynchrony: mode,
                seed,
                ..trial.launch
            };
            trial.check();
        }
    }
}

/// Each field of the descriptors matters.
#[test]
fn mutations_change_the_result() {
    let layout = |swizzle, is_transposed| Layout {
        swizzle,
        is_transposed,
    };
    let stride: fn([u64; 2]) -> [u64; 2] =
        |[a, b]| [a, (b & !(0x3fff << 32)) | (b >> 1) & (0x3fff << 32)];
    let leading: fn([u64; 2]) -> [u64; 2] =
        |[a, b]| [a, (b & !(0x3fff << 16)) | (b >> 1) & (0x3fff << 16)];
    let swizzle: fn([u64; 2]) -> [u64; 2] = |[a, b]| [a ^ 3 << 62, b];
    let start: fn([u64; 2]) -> [u64; 2] = |[a, b]| [a + 2, b];
    let base: fn([u64; 2]) -> [u64; 2] = |[a, b]| [a | 1 << 49, b];
    for (b, mutation) in [
        (layout(128, false), stride),
        (layout(128, true), stride),
        (layout(16, false), stride),
        (layout(16, true), stride),
        (layout(64, true), leading),
        (layout(16, false), leading),
        (layout(16, true), leading),
        (PLAIN, swizzle),
        (PLAIN, start),
        (PLAIN, base),
    ] {
        let mut trial = Trial::new(Case {
            b,
            ..Case::new(128, ["f16", "f16", "f32"])
        });
        trial.descriptors = mutation;
        if let Ok(found) = trial.run() {
            assert_ne!(found, trial.expected(), "{b:?}");
        }
    }
    let mut trial = Trial::new(Case::new(64, ["f16", "f16", "f32"]));
    trial.edit = |text| text.replace(", 1, 1, 0, 0;", ", 1, 1, 0, 1;");
    assert_ne!(trial.run().ok(), Some(trial.expected()));
}

/// Swizzled K-major layouts have no leading offset: the field is not used.
#[test]
fn the_leading_offset_of_swizzled_rows_is_not_used() {
    let mut trial = Trial::new(Case::new(64, ["f16", "f16", "f32"]));
    trial.descriptors = |[a, b]| [a | 0x3ff0 << 16, b ^ 0x155 << 16];
    trial.check();
}

/// A pattern that begins 384 bytes behind a boundary of 1024 has the base offset 3.
#[test]
fn base_offsets() {
    for (swizzle, base) in [(128, 3), (64, 1), (32, 1)] {
        let mut random = Random(swizzle as u64);
        let (a, b) = (random.matrix("f16", 64, 16), random.matrix("f16", 16, 8));
        let columns: Matrix = (0..8)
            .map(|c| b.iter().map(|row| row[c]).collect())
            .collect();
        let layout = Layout {
            swizzle,
            is_transposed: false,
        };
        let placed = [
            Placed::new(&a, "f16", layout, 16),
            Placed::new(&columns, "f16", layout, 16),
        ];
        let shift = base * 128;
        let [first, second] = [placed[0].bytes.len(), placed[1].bytes.len()];
        let mut input = vec![0xff; first + second + 1024];
        input[shift..shift + first].copy_from_slice(&placed[0].bytes);
        input[shift + first..shift + first + second].copy_from_slice(&placed[1].bytes);
        let offset = |descriptor: u64| descriptor | (base as u64) << 49;
        let descriptors = [
            offset(placed[0].descriptor(1024 + shift, 0)),
            offset(placed[1].descriptor(1024 + shift + first, 0)),
        ];
        let clear: String = (0..4).map(|i| format!("mov.b32 %d{i}, 0;\n")).collect();
        let text = entry(&format!(
            "{}mov.u64 %da0, {:#x}; mov.u64 %db0, {:#x};\n{clear}wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {}, %da0, %db0, 1, 1, 1, 0, 0;\n\
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n{}ret;",
            fill_tile(input.len()),
            descriptors[0],
            descriptors[1],
            list("d", 4),
            store("d", 4, false),
        ));
        let out = launch(&text, threads(128), &input, 128 * 16);
        let out = unpacked("f32", &out.unwrap_or_else(|report| panic!("{report}")));
        let expected = product(&a, &b, &zeros(64, 8));
        for (index, value) in out.into_iter().enumerate() {
            let (row, column) = accumulator(16, index / 4 % 32, index % 4);
            assert_eq!(value, expected[index / 128 * 16 + row][column], "{swizzle}");
        }
    }
}

/// A warpgroup that is not the first of its block.
#[test]
fn several_warpgroups() {
    let mut trial = Trial::new(Case::new(64, ["f16", "f16", "f32"]));
    trial.launch = threads(256);
    trial.edit = |text| {
        let late = "setp.lt.u32 %p7, %t, 128; @%p7 bra END; sub.u32 %t, %t, 128;\n";
        text.replace(
            "FILLED: fence.proxy.async; bar.sync 0;\n",
            &format!("FILLED: fence.proxy.async; bar.sync 0;\n{late}"),
        )
        .replace("ret;\n}", "END: ret;\n}")
    };
    trial.check();
}
