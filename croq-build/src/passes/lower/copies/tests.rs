//! The plans for typical copies.

use super::tile::Tile;
use super::width::{Way, known, plan};
use crate::ir::{Level, Stmt, StmtKind};
use crate::sema::testing::function;
use crate::symbolic::Sym;

fn copy_in(stmts: &[Stmt]) -> Option<&crate::ir::Copy> {
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Copy(copy) => Some(copy),
        StmtKind::For { body, .. } | StmtKind::Parallel { body, .. } => copy_in(body),
        _ => None,
    })
}

/// `8`, `8 guarded`, `8 if 2, else 1 guarded` or `8 if 1 (8 guarded if 2, else 1 guarded)`, where
/// numbers after `if` count conditions.
fn decided(text: &str) -> String {
    let mut function = function(text);
    let kernel = &function.kernels[0];
    let copy = copy_in(&kernel.body)
        .unwrap_or_else(|| panic!("no copy: {text}"))
        .clone();
    let threads = match copy.level {
        Level::Cluster | Level::Block => kernel.threads.clone(),
        Level::Warpgroup => Sym::int(128),
        Level::Warp => Sym::int(32),
        Level::Thread => Sym::one(),
    };
    let tile = Tile::of_copy(&function, &copy, copy.source.span);
    let may_cross = !tile
        .inside(&function.cx)
        .is_some_and(|edges| edges.is_empty());
    let show = |way: Way| {
        let guarded = if way.guarded && may_cross {
            " guarded"
        } else {
            ""
        };
        format!("{}{guarded}", way.width)
    };
    if threads.is_one() {
        return show(known(&function.cx, &tile));
    }
    let plan = plan(&mut function.cx, &tile, &threads);
    let always = show(plan.always);
    let choice =
        |(conditions, way): (Vec<_>, Way)| format!("{} if {}", show(way), conditions.len());
    match (plan.fast, plan.edge) {
        (Some(fast), Some(edge)) => format!("{} ({}, else {always})", choice(fast), choice(edge)),
        (Some(fast), None) => format!("{}, else {always}", choice(fast)),
        _ => always,
    }
}

/// A block with this number of threads that copies a part of `x` into shared memory.
fn into_shared(x: &str, part: &str, threads: u32) -> String {
    decided(&format!(
        "__co__ auto f({x}, int from) {{
           {} y;
           parallel {{p, q}} by [2, 2] : block {{
             tile = dma.{part} => shared;
             parallel t by {threads} : thread {{ if (t == from) y.at(0) = tile.data.at(0, 0); }}
           }}
           return y;
         }}",
        x.split(' ')
            .next()
            .map_or(String::new(), |ty| format!("{ty} [1]"))
    ))
}

#[test]
fn vector_width_divides_extents_strides_and_offsets() {
    for (x, part, wanted) in [
        ("f16 [128, 256] x", "copy x.chunkat(p, q)", "8"),
        ("f32 [128, 256] x", "copy x.chunkat(p, q)", "4"),
        ("f64 [128, 256] x", "copy x.chunkat(p, q)", "2"),
        ("u8 [128, 256] x", "copy x.chunkat(p, q)", "16"),
        // Extents and strides with smaller divisors.
        ("u8 [128, 248] x", "copy x.chunkat(p, q)", "4"),
        ("f32 [128, 36] x", "copy x.chunkat(p, q)", "2"),
        ("f32 [128, 33] x", "copy x.chunkat(p, _)", "4"),
        ("f32 [128, 33] x", "copy x.view(64, 32).from(p, 0)", "1"),
        // An offset.
        (
            "f16 [128, 256] x",
            "copy x.view(64, 64).from(p * 4, 2)",
            "2",
        ),
        (
            "f16 [128, 256] x",
            "copy x.view(64, 64).from(p, q * 4)",
            "4",
        ),
        // Every second element.
        (
            "f32 [128, 256] x",
            "copy x.view(64, 64 : 256, 2).from(0, 0)",
            "1",
        ),
    ] {
        assert_eq!(into_shared(x, part, 32), wanted, "{x}:{part}");
    }
}

#[test]
fn run_time_conditions_are_tested_once() {
    for (x, part, wanted) in [
        (
            "f16 [M, K] x",
            "copy x.subspan(64, 64).at(p, q)",
            "8 if 2 (8 guarded if 1, else 1 guarded)",
        ),
        (
            "f16 [M, 256] x",
            "copy x.subspan(64, 64).at(p, q)",
            "8 if 1, else 8 guarded",
        ),
        (
            "f16 [128, K] x",
            "copy x.subspan(64, 64).at(p, q)",
            "8 if 1 (8 guarded if 1, else 1 guarded)",
        ),
        (
            "f32 [128, 256] x",
            "copy x.view(64, 64).from(0, from)",
            "4 if 2 (4 guarded if 1, else 1 guarded)",
        ),
        // All of it, for any extent.
        ("f32 [M, K] x", "copy x", "4 if 1, else 1"),
        // An odd start is odd for any stride.
        (
            "f32 [M, K] x",
            "copy x.view(64, 64).from(p * 8 + 1, q * 4 + 1)",
            "1 if 2, else 1 guarded",
        ),
        // Padding is never inside; the guards of rows do not divide vectors.
        (
            "f32 [M, 64] x",
            "pad<{1, 0}, {1, 0}, {0, 0}, 1> x",
            "4 guarded",
        ),
        (
            "f32 [8, K] x",
            "pad<{0, 4}, {0, 4}, {0, 0}, 1> x",
            "4 guarded if 1, else 1 guarded",
        ),
    ] {
        assert_eq!(into_shared(x, part, 32), wanted, "{x}:{part}");
    }
}

#[test]
fn small_tiles_have_one_version_and_use_all_threads() {
    for (x, part, threads, wanted) in [
        ("f16 [128, 256] x", "copy x.view(4, 64).from(p, 0)", 64, "4"),
        (
            "f16 [128, 256] x",
            "copy x.view(4, 64).from(p, 0)",
            256,
            "2",
        ),
        (
            "f32 [128, 256] x",
            "copy x.view(4, 64).from(p, 0)",
            256,
            "1",
        ),
        // One iteration each: the guard costs as much as the condition.
        (
            "f32 [M, 64] x",
            "copy x.subspan(4, 64).at(p, 0)",
            256,
            "1 guarded",
        ),
        (
            "f32 [M, K] x",
            "copy x.subspan(4, 8).at(p, q)",
            256,
            "1 guarded",
        ),
    ] {
        assert_eq!(
            into_shared(x, part, threads),
            wanted,
            "{x}:{part} by {threads}"
        );
    }
}

#[test]
fn a_single_thread_uses_the_known_width() {
    let text = |x: &str| {
        format!(
            "__co__ auto f({x} x) {{
               f32 [32] y;
               parallel t by 32 : thread {{
                 mine = dma.copy x.subspan(1, 8).at(t, 0) => local;
                 y.at(t) = mine.data.at(0, 0);
               }}
               return y;
             }}"
        )
    };
    assert_eq!(decided(&text("f32 [32, 8]")), "4");
    assert_eq!(decided(&text("f32 [M, 8]")), "4 guarded");
    assert_eq!(decided(&text("f32 [32, K]")), "1 guarded");
}
