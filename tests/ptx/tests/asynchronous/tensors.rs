//! `cp.async.bulk.tensor` and what changes tensor maps

use croq_ptx::machine::Asynchrony;
use croq_ptx::machine::tensor_map::{DataType, Fill, Interleave, Swizzle, TensorMap};

use crate::mbarriers::wait;
use crate::{Data, MODES, block, entry, execute, is_refused, words};

/// A matrix of 20 rows of 24 words, in boxes of 4 rows of 8.
fn matrix(address: u64) -> TensorMap {
    TensorMap {
        data_type: DataType::U32,
        rank: 2,
        address,
        extents: [24, 20, 0, 0, 0],
        strides: [96, 0, 0, 0],
        box_extents: [8, 4, 0, 0, 0],
        element_strides: [1; 5],
        ..TensorMap::default()
    }
}

fn with(map: fn(u64) -> [u8; 128]) -> Data {
    Data {
        map: Some(map),
        ..Data::default()
    }
}

fn plain() -> Data {
    with(|address| matrix(address).encode())
}

/// Loads a box with these operands, waits, and copies 1024 words of shared memory to `out`.
fn load(form: &str, operands: &str, bytes: u32) -> String {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 1; bar.sync 0;\n\
         @!%p1 bra WAITS;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {bytes};\n\
         cp.async.bulk.tensor.{form} {operands};\n\
         WAITS: {}shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile; mov.u32 %r3, 0;\n\
         COPY: ld.shared.u32 %r2, [%r1]; st.global.u32 [%mine], %r2; add.u32 %r1, %r1, 512;\n\
         add.u64 %mine, %mine, 512; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 8; @%p2 bra COPY; ret;",
        wait("%bar", 0, "A"),
    );
    entry("", &text)
}

const FORM: &str = "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";

fn loaded(text: &str, asynchrony: Asynchrony, data: &Data) -> Vec<u32> {
    let mut launch = block(128, asynchrony);
    // All of the tile is stored, also what no copy has written.
    launch.checks.unwritten = false;
    let bytes = execute(text, launch, data);
    words(&bytes.unwrap_or_else(|report| panic!("{report}")))
}

fn fails(text: &str, data: &Data) -> String {
    execute(text, block(128, Asynchrony::Late), data)
        .unwrap_err()
        .message
}

#[test]
fn boxes_are_loaded() {
    let text = load(FORM, "[%tile], [%map, {8, 5}], [%bar]", 128);
    for mode in MODES {
        let found = loaded(&text, mode, &plain());
        for (at, word) in found.iter().enumerate().take(32) {
            assert_eq!(*word as usize, 1 + (5 + at / 8) * 24 + 8 + at % 8);
        }
        assert!(found[32..].iter().all(|word| *word == 0));
    }
}

/// Columns −4 to 3 and rows −1 to 2; all bytes of the box count.
#[test]
fn outside_of_the_tensor_are_zeros() {
    let text = load(FORM, "[%tile], [%map, {-4, -1}], [%bar]", 128);
    let found = loaded(&text, Asynchrony::Late, &plain());
    for (at, word) in found.iter().enumerate().take(32) {
        let (row, column) = (at / 8, at % 8);
        let inside = row >= 1 && column >= 4;
        let expected = if inside {
            1 + (row - 1) * 24 + column - 4
        } else {
            0
        };
        assert_eq!(*word as usize, expected, "{at}");
    }
}

#[test]
fn outside_of_the_tensor_may_be_nan() {
    let data = with(|address| {
        let map = TensorMap {
            data_type: DataType::Bf16,
            extents: [48, 20, 0, 0, 0],
            box_extents: [16, 4, 0, 0, 0],
            fill: Fill::Nan,
            ..matrix(address)
        };
        map.encode()
    });
    let text = load(FORM, "[%tile], [%map, {40, 0}], [%bar]", 128);
    let found = loaded(&text, Asynchrony::Late, &data);
    assert_eq!(found[..4], [21, 22, 23, 24]);
    assert_eq!(found[4..8], [0x7fff_7fff; 4]);
}

/// Bytes are counted with what is outside of the tensor.
#[test]
fn wrong_byte_counts_are_deadlocks() {
    let text = load(FORM, "[%tile], [%map, {-4, -1}], [%bar]", 48);
    let found = fails(&text, &plain());
    assert!(
        found.contains("0 pending arrivals and -80 missing bytes"),
        "{found}"
    );
}

/// The chunk of 16 bytes with index `c` of a row of 128 bytes is in place `c ^ row % 8`.
#[test]
fn rows_of_128_bytes_are_swizzled() {
    let data = with(|address| {
        let map = TensorMap {
            extents: [32, 100, 0, 0, 0],
            strides: [128, 0, 0, 0],
            box_extents: [32, 16, 0, 0, 0],
            swizzle: Swizzle::Bytes128,
            ..matrix(address)
        };
        map.encode()
    });
    for (offset, shift) in [(0, 0), (256, 2)] {
        let operands = format!("[%tile+{offset}], [%map, {{0, 3}}], [%bar]");
        let found = loaded(&load(FORM, &operands, 2048), Asynchrony::Late, &data);
        for row in 0..16 {
            for column in 0..32 {
                let chunk = (column / 4) ^ ((row + shift) % 8);
                let at = offset as usize / 4 + row * 32 + chunk * 4 + column % 4;
                assert_eq!(found[at] as usize, 1 + (row + 3) * 32 + column);
            }
        }
    }
}

/// 64 bytes: two rows in a line of 128, exchanged by the line's index; 32 bytes: four.
#[test]
fn narrower_rows_are_swizzled() {
    let narrow: [(fn(u64) -> [u8; 128], usize); 2] = [
        (
            |address| {
                let map = TensorMap {
                    box_extents: [16, 16, 0, 0, 0],
                    swizzle: Swizzle::Bytes64,
                    ..matrix(address)
                };
                map.encode()
            },
            16,
        ),
        (
            |address| {
                let map = TensorMap {
                    box_extents: [8, 16, 0, 0, 0],
                    swizzle: Swizzle::Bytes32,
                    ..matrix(address)
                };
                map.encode()
            },
            8,
        ),
    ];
    for (map, width) in narrow {
        let bytes = 16 * width as u32 * 4;
        let text = load(FORM, "[%tile], [%map, {0, 0}], [%bar]", bytes);
        let found = loaded(&text, Asynchrony::Late, &with(map));
        for row in 0..16 {
            for column in 0..width {
                let line = (row * width + column) / 32;
                let chunk = (column / 4) ^ (line % (width / 4));
                let at = row * width + chunk * 4 + column % 4;
                assert_eq!(found[at] as usize, 1 + row * 24 + column, "{row} {column}");
            }
        }
    }
}

/// Three dimensions, of which every second row and every third plane is taken.
#[test]
fn strides_and_more_dimensions() {
    let data = with(|address| {
        let map = TensorMap {
            rank: 5,
            extents: [8, 6, 7, 1, 2],
            strides: [32, 192, 192 * 7, 192 * 7],
            box_extents: [8, 4, 4, 1, 2],
            element_strides: [1, 2, 3, 1, 1],
            ..matrix(address)
        };
        map.encode()
    });
    let form = FORM.replace("2d", "5d");
    let text = load(
        &form,
        "[%tile], [%map, {0, 1, 2, 0, 0}], [%bar]",
        8 * 2 * 2 * 2 * 4,
    );
    let found = loaded(&text, Asynchrony::Late, &data);
    for (at, word) in found.iter().enumerate().take(64) {
        let (x, y, z, w) = (at % 8, 1 + at / 8 % 2 * 2, 2 + at / 16 % 2 * 3, at / 32);
        assert_eq!(*word as usize, 1 + x + 8 * y + 48 * z + 336 * w, "{at}");
    }
}

/// Out of shared memory; what is outside of the tensor is left out.
#[test]
fn boxes_are_stored() {
    let text = entry(
        "",
        "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile; add.u32 %r2, %t, 1000; st.shared.u32 [%r1], %r2;\n\
         fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra END;\n\
         cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {20, 18}], [%tile];\n\
         cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n\
         st.shared.u32 [%tile], 1; cp.async.bulk.wait_group 0;\n\
         END: bar.sync 0; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %in;\n\
         add.u64 %d2, %d1, 1728; ld.global.u32 %r3, [%d2]; st.global.u32 [%mine], %r3; ret;",
    );
    for mode in MODES {
        // Words 432 and after: rows 18 and 19, and what lies behind the tensor.
        let found = loaded(&text, mode, &plain());
        for (at, word) in found.iter().enumerate().take(128) {
            let (row, column) = (at / 24, at % 24);
            let stored = row < 2 && column >= 20;
            let expected = if stored {
                1000 + row * 8 + column - 20
            } else {
                433 + at
            };
            assert_eq!(*word as usize, expected, "{mode:?} {at}");
        }
    }
    let negative = text.replace("{20, 18}", "{-4, 0}");
    assert!(fails(&negative, &plain()).contains("negative coordinates [-4, 0]"));
    let reduces = text.replace(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk",
    );
    let found = loaded(&reduces, Asynchrony::Late, &plain());
    assert_eq!(
        found[20..24],
        [453 + 1000, 454 + 1001, 455 + 1002, 456 + 1003]
    );
}

/// The exemption that CUTLASS forces: all lanes of a warp issue the same store.
#[test]
fn one_box_may_be_stored_by_all_lanes_of_a_warp() {
    let run = |stores: &str, mode, seed| {
        let text = format!(
            "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile; st.shared.u32 [%r1], %t;\n\
             fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r2, %tile; {stores}\n\
             cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {{0, 0}}], [%r2];\n\
             cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ret;"
        );
        let mut launch = block(128, mode);
        launch.seed = seed;
        execute(&entry("", &text), launch, &plain())
    };
    let by_lanes = "setp.gt.u32 %p1, %t, 31; @%p1 ret;";
    let of_two_places = "and.b32 %r3, %t, 1; shl.b32 %r3, %r3, 7; add.u32 %r2, %r2, %r3;";
    for (mode, seed) in MODES.into_iter().flat_map(|mode| [(mode, 1), (mode, 2)]) {
        run(by_lanes, mode, seed).unwrap_or_else(|report| panic!("{report}"));
        for stores in ["", &format!("{by_lanes} {of_two_places}")] {
            let report = run(stores, mode, seed).map(|_| stores).expect_err("a race");
            assert!(report.message.starts_with("a data race at"), "{report}");
        }
    }
}

/// A swizzled box goes back as it came.
#[test]
fn stores_undo_swizzles() {
    let data = with(|address| {
        let map = TensorMap {
            extents: [32, 100, 0, 0, 0],
            strides: [128, 0, 0, 0],
            box_extents: [32, 8, 0, 0, 0],
            swizzle: Swizzle::Bytes128,
            ..matrix(address)
        };
        map.encode()
    });
    let text = entry(
        "",
        &format!(
            "mbarrier.init.shared.b64 [%bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 1024;\n\
             cp.async.bulk.tensor.{FORM} [%tile], [%map, {{0, 0}}], [%bar]; {}\n\
             cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {{0, 16}}], [%tile];\n\
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mov.u32 %r1, 0;\n\
             COPY: ld.global.u32 %r2, [%in+2048]; st.global.u32 [%out], %r2; add.u64 %in, %in, 4;\n\
             add.u64 %out, %out, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 256; @%p1 bra COPY; ret;",
            wait("%bar", 0, "A")
        ),
    );
    let bytes = execute(&text, block(1, Asynchrony::Late), &data).unwrap();
    assert_eq!(words(&bytes)[..256], (1..=256).collect::<Vec<u32>>());
}

/// A map that the device writes, field by field, in shared memory.
#[test]
fn maps_are_made_on_the_device() {
    let zero: String = (0..8)
        .map(|chunk| format!("st.shared.v4.u32 [%r9+{}], {{0, 0, 0, 0}};\n", chunk * 16))
        .collect();
    let replace = |field: &str, operands: &str, bits: u32| {
        format!("tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [%r9], {operands};\n")
    };
    let fields: String = [
        ("global_address", "%in", 64),
        ("rank", "1", 32),
        ("box_dim", "0, 8", 32),
        ("box_dim", "1, 4", 32),
        ("global_dim", "0, 24", 32),
        ("global_dim", "1, 20", 32),
        ("global_stride", "0, 96", 64),
        ("element_stride", "0, 1", 32),
        ("element_stride", "1, 1", 32),
        ("elemtype", "2", 32),
        ("interleave_layout", "0", 32),
        ("swizzle_mode", "0", 32),
        ("fill_mode", "0", 32),
    ]
    .iter()
    .map(|(field, operands, bits)| replace(field, operands, *bits))
    .collect();
    let text = load(FORM, "[%tile], [%d5, {8, 5}], [%bar]", 128);
    let made = format!(
        "add.u32 %r9, %tile, 32768; setp.eq.u32 %p5, %t, 0; add.u64 %d5, %out, 8192;\n\
         @!%p5 bra MADE;\n{zero}{fields}MADE: bar.sync 0; setp.lt.u32 %p6, %t, 32;\n\
         @!%p6 bra COPIED;\n\
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d5], [%r9], 128;\n\
         COPIED: bar.sync 0; fence.proxy.tensormap::generic.acquire.gpu [%d5], 128;\n\
         setp.eq.u32 %p1, %t, 0;"
    );
    let text = text.replacen("setp.eq.u32 %p1, %t, 0;", &made, 1);
    let data = Data {
        output: 16384,
        ..Data::default()
    };
    let found = loaded(&text, Asynchrony::Late, &data);
    assert_eq!(found[..2], [1 + 5 * 24 + 8, 1 + 5 * 24 + 9]);
    let text = text.replace(
        "rank.shared::cta.b1024.b32 [%r9], 1;",
        "rank.shared::cta.b1024.b32 [%r9], 2;",
    );
    assert!(fails(&text, &data).contains("rank 3 in a copy of 2 dimensions"));
}

#[test]
fn misuse_is_reported() {
    let at = |operands: &str| load(FORM, operands, 128);
    let right = at("[%tile], [%map, {0, 0}], [%bar]");
    let garbage = Data::default();
    assert!(fails(&right, &garbage).contains("are no tensor map"));
    let misaligned = fails(&at("[%tile+16], [%map, {0, 0}], [%bar]"), &plain());
    assert!(misaligned.contains("the destination address") && misaligned.contains("of 128"));
    let form = FORM.replace("2d", "3d");
    let text = load(&form, "[%tile], [%map, {0, 0, 0}], [%bar]", 128);
    assert!(fails(&text, &plain()).contains("rank 2 in a copy of 3 dimensions"));
    let wrong = with(|address| {
        let interleave = Interleave::Bytes16;
        let map = TensorMap {
            interleave,
            ..matrix(address)
        };
        map.encode()
    });
    assert!(fails(&right, &wrong).contains("interleaving"));
    let wrong = with(|address| {
        let map = TensorMap {
            extents: [24, 900, 0, 0, 0],
            ..matrix(address)
        };
        map.encode()
    });
    let text = at("[%tile], [%map, {0, 690}], [%bar]");
    assert!(fails(&text, &wrong).contains("of `in`, which has 65536 bytes"));
    // A map in shared memory, or one that is changed before the copy is complete.
    let text = at("[%tile], [%d1, {0, 0}], [%bar]").replace(
        "mov.u32 %bar, bars;",
        "mov.u32 %bar, bars; cvt.u64.u32 %d1, %tile; cvta.shared.u64 %d1, %d1;",
    );
    assert!(fails(&text, &plain()).contains("a tensor map in shared memory"));
}

/// The map is read as late as the tensor.
#[test]
fn maps_in_use_are_not_changed() {
    let copies: String = (0..16)
        .map(|word| {
            format!(
                "ld.param.u64 %d1, [map+{0}]; st.global.u64 [%out+{0}], %d1;\n",
                word * 8
            )
        })
        .collect();
    let text = entry(
        "",
        &format!(
            "{copies}mbarrier.init.shared.b64 [%bar], 1;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 128;\n\
             prefetch.tensormap [%out];\n\
             cp.async.bulk.tensor.{FORM} [%tile], [%out, {{0, 0}}], [%bar];\n\
             tensormap.replace.tile.global_dim.global.b1024.b32 [%out], 1, 2; {} ret;",
            wait("%bar", 0, "A")
        ),
    );
    let found = execute(&text, block(1, Asynchrony::Late), &plain())
        .unwrap_err()
        .message;
    assert!(
        found.contains("was changed while a copy used it"),
        "{found}"
    );
    let stored = text.replace(
        "tensormap.replace.tile.global_dim.global.b1024.b32 [%out], 1, 2;",
        "st.global.u32 [%out+24], 3;",
    );
    let found = execute(&stored, block(1, Asynchrony::Late), &plain())
        .unwrap_err()
        .message;
    assert!(found.contains("other than tensormap.replace"), "{found}");
}

#[test]
fn unknown_forms_are_refused() {
    for text in [
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%tile], [%map, {0, 0, 0}], [%bar], {%h1};",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%tile], [%map, {0, 0, 0, 0, 0}], [%bar];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%tile], [%map, {0}], [%bar];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::1 [%tile], [%map, {0, 0}], [%bar];",
        "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%tile], 4;",
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%tile], 13;",
        "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%tile], 0;",
    ] {
        assert!(is_refused(text), "{text}");
    }
}
