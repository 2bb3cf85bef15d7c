//! Sizes and kinds of accesses.

use crate::{is_ordered, launch, races, run};

#[test]
fn atomics_and_weak_accesses() {
    is_ordered(
        "red.shared.add.u32 [tile], 1; red.global.add.u32 [%out], 1; ret;",
        3,
        96,
    );
    for reader in [0, 31, 32, 95] {
        let text = format!(
            "setp.eq.u32 %p2, %t, {reader}; red.shared.add.u32 [tile], 1; BARRIER @%p2 ld.shared.u32 %r2, [tile]; ret;"
        );
        races(&text.replace("BARRIER", ""), 1, 96);
        races(&text.replace("BARRIER", "bar.warp.sync -1;"), 1, 96);
        is_ordered(&text.replace("BARRIER", "bar.sync 0;"), 1, 96);
        is_ordered(
            &text
                .replace("BARRIER", "")
                .replace("ld.shared", "ld.relaxed.cta.shared"),
            1,
            96,
        );
        let global = text.replace("shared.", "global.").replace("tile", "%out");
        races(&global.replace("BARRIER", "bar.sync 0;"), 2, 96);
    }
    races(
        "@%p1 st.shared.u32 [tile], 1; red.shared.add.u32 [tile], 1; ret;",
        1,
        64,
    );
    is_ordered(
        "@%p1 st.shared.u32 [tile], 1; bar.sync 0; red.shared.add.u32 [tile], 1; ret;",
        1,
        64,
    );
    races("red.relaxed.cta.global.add.u32 [%out], 1; ret;", 2, 32);
    // Elements of a vector are modified as by themselves.
    let four = "red.relaxed.SCOPE.global.add.v4.f32 [%out], {%r1, %r1, %r1, %r1};";
    let of = |scope: &str| four.replace("SCOPE", scope);
    is_ordered(
        &format!("{} red.global.add.f32 [%out+8], %r1; ret;", of("gpu")),
        3,
        96,
    );
    races(&format!("{} ret;", of("cta")), 2, 32);
    races(
        &format!("{} @%p1 st.global.u32 [%out+12], 1; ret;", of("gpu")),
        1,
        64,
    );
    races(
        &format!("{} @%p1 ld.global.u32 %r2, [%out+12]; ret;", of("gpu")),
        1,
        64,
    );
    is_ordered("red.relaxed.cta.global.add.u32 [%out], 1; ret;", 1, 64);
    // Strong operations of different sizes.
    races(
        "@%p1 red.shared.add.u64 [tile], 1; @!%p1 red.shared.add.u32 [tile], 1; ret;",
        1,
        32,
    );
}

#[test]
fn bytes() {
    let store =
        "mov.u32 %r2, tile; add.u32 %r3, %r2, %t; cvt.u16.u32 %h1, %t; st.shared.u8 [%r3], %h1;";
    is_ordered(&format!("{store} ret;"), 1, 64);
    is_ordered(
        &format!("{store} bar.sync 0; ld.shared.u32 %r4, [tile+4]; ret;"),
        1,
        64,
    );
    races(&format!("{store} ld.shared.u32 %r4, [tile+4]; ret;"), 1, 64);
    is_ordered(&format!("{store} ld.shared.u8 %r4, [%r3]; ret;"), 1, 64);
    races(
        &format!(
            "{store} xor.b32 %r5, %t, 1; add.u32 %r5, %r2, %r5; ld.shared.u8 %r4, [%r5]; ret;"
        ),
        1,
        32,
    );
    let words = "shl.b32 %r4, %t, 1; add.u32 %r4, %r2, %r4; st.shared.u16 [%r4+WHERE], %h1; ret;";
    is_ordered(&format!("{store} {}", words.replace("WHERE", "64")), 1, 64);
    races(&format!("{store} {}", words.replace("WHERE", "32")), 1, 64);
    // Eight bytes reach into the next granule.
    races(
        "shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %at; sub.u32 %r2, %r2, %r1; @%p1 st.shared.v2.u32 [tile], {7, 7}; st.shared.u32 [%at], 9; ret;",
        1,
        32,
    );
}

#[test]
fn stores_of_the_same_value() {
    is_ordered(
        "st.shared.u32 [tile], 7; st.global.u32 [%out], 7; ret;",
        3,
        64,
    );
    races("st.shared.u32 [tile], %t; ret;", 1, 64);
    races(
        "st.shared.u32 [tile], 7; setp.eq.u32 %p2, %t, 63; @%p2 st.shared.u32 [tile], 8; ret;",
        1,
        64,
    );
    // The reader may come before the store that changes the word.
    races(
        "st.shared.u32 [tile], 7; ld.shared.u32 %r2, [tile]; ret;",
        1,
        64,
    );
    is_ordered(
        "st.shared.u32 [tile], 7; bar.sync 0; st.shared.u32 [tile], 7; ld.shared.u32 %r2, [tile]; ret;",
        1,
        64,
    );
}

/// All readers count, not only the last.
#[test]
fn many_readers() {
    for writer in [0, 31, 32, 127] {
        let text = format!(
            "setp.eq.u32 %p2, %t, {writer}; @%p1 st.shared.u32 [tile], 3; bar.sync 0; ld.shared.u32 %r2, [tile]; BARRIER @%p2 st.shared.u32 [tile], 9; ret;"
        );
        races(&text.replace("BARRIER", ""), 1, 128);
        races(&text.replace("BARRIER", "bar.warp.sync -1;"), 1, 128);
        is_ordered(&text.replace("BARRIER", "bar.sync 0;"), 1, 128);
    }
}

#[test]
fn the_read_only_cache() {
    let text = "st.global.u32 [%mine], 5; bar.sync 0; LOAD %r2, [%mine]; ret;";
    let report = run(&text.replace("LOAD", "ld.global.nc.u32"), &launch(1, 32, 0)).unwrap_err();
    assert!(
        report
            .message
            .ends_with("this read through the read-only cache follows a write of the same launch"),
        "{report}"
    );
    is_ordered(&text.replace("LOAD", "ld.global.u32"), 2, 32);
    is_ordered(
        "ld.global.nc.u32 %r2, [%mine]; ld.global.nc.u32 %r3, [%out]; ret;",
        2,
        64,
    );
}
