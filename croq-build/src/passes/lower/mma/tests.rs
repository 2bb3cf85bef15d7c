//! Programs, and the waits of their warpgroups.

use crate::diagnostics::Diagnostics;
use crate::ir::threads::{MmaOp, Stmt, StmtKind};
use crate::ir::{Step, TmaOp};
use crate::passes::Limits;
use crate::sema::testing;

/// One word for each relevant statement; nested ones in braces.
fn outline(stmts: &[Stmt]) -> String {
    let words = stmts.iter().filter_map(|stmt| {
        let nested = || {
            let inner: Vec<String> = stmt.kind.blocks().map(|b| outline(b)).collect();
            let inner = inner.join(" ").trim().to_owned();
            (!inner.is_empty()).then_some(inner)
        };
        Some(match &stmt.kind {
            StmtKind::Mma(op) => match &**op {
                MmaOp::Step(Step::Fence { .. }) => "fence".to_owned(),
                MmaOp::Step(Step::Commit) => "commit".to_owned(),
                MmaOp::Step(Step::Wait { younger, .. }) => format!("wait{younger}"),
                MmaOp::Step(Step::Instruction(_)) => "product".to_owned(),
                MmaOp::Step(Step::Advance { .. }) => "place".to_owned(),
                MmaOp::Matrices { stored: true, .. } => "store".to_owned(),
                _ => return None,
            },
            StmtKind::Barrier { .. } => "barrier".to_owned(),
            StmtKind::Tma(TmaOp::Arrive { .. }) => "arrive".to_owned(),
            StmtKind::Tma(TmaOp::Wait { .. }) => "arrived".to_owned(),
            StmtKind::For { .. } => format!("for {{{}}}", nested()?),
            StmtKind::If { .. } => format!("if {{{}}}", nested()?),
            StmtKind::Region { .. } => format!("region {{{}}}", nested()?),
            _ => nested()?,
        })
    });
    words.collect::<Vec<_>>().join(" ")
}

fn kernel(text: &str) -> String {
    let function = testing::function(text);
    let limits = Limits {
        most: 227 << 10,
        least: 227 << 10,
    };
    let mut diags = Diagnostics::new();
    let Some(mut function) = crate::passes::run(function, limits, true, &mut diags) else {
        panic!("{:#?}", diags.into_sorted());
    };
    outline(&function.kernels.swap_remove(0).body)
}

/// A producer that fills `full[X]` after it has waited for `empty[Y]`, and this consumer.
fn ring(slots: usize, fills: [&str; 2], consumer: &str) -> String {
    let [waited, filled] = fills;
    let text = kernel(&format!(
        "__co__ void f(global f16 [64, K] a, global f16 [64, K] b, global f32 [64, 64] c) {{
          parallel by 1 : block {{
            shared event full[{slots}], empty[{slots}] = ready;
            shared f16 [64, 64] as[{slots}];
            shared f16 [64, 64] bs[{slots}];
            parallel w by 2 : group-4 {{
              inthreads.async (w == 0) {{
                foreach {{k}} in [cdiv(K, 64)] {{
                  wait empty[{waited}];
                  tma.copy.async<full[{filled}]>.swiz<128> a.subspan(64, 64).at(0, k) => as[{filled}];
                  tma.copy.async<full[{filled}]>.swiz<128> b.subspan(64, 64).at(0, k) => bs[{filled}];
                  trigger full[{filled}];
                }}
              }}
              inthreads.async (w == 1) {{
                acc = mma.fill.f32 1.0f;
                foreach {{k}} in [cdiv(K, 64)] {{ {consumer} }}
                mma.store acc, c;
              }}
            }}
          }}
        }}"
    ));
    let consumer = text.rsplit("region {").next().unwrap_or_default();
    let end = consumer.rfind(" for {store").unwrap_or(consumer.len());
    let consumer = consumer.get(..end).unwrap_or_default();
    consumer.strip_suffix('}').unwrap_or(consumer).to_owned()
}

const PRODUCTS: &str = "product product product product";

#[test]
fn consumers_of_rings_keep_a_group_in_flight() {
    let iteration = |slot: &str, commit: &str| {
        format!(
            "wait full[{slot}]; mma.row.row acc, as[{slot}], bs[{slot}]; {commit} trigger empty[{slot}];"
        )
    };
    let issued = format!("arrived fence place place {PRODUCTS} commit");
    let late = format!("for {{{issued} wait1 if {{arrive}}}} wait0 arrive");
    let at_once = format!("for {{{issued} wait0 arrive}}");
    let fills = ["k % 4"; 2];
    assert_eq!(ring(4, fills, &iteration("k % 4", "")), late);
    assert_eq!(ring(4, fills, &iteration("k % 4", "mma.commit;")), late);
    // Orders, too.
    let in_order = "wait full.at(k); mma.row.row acc, as[k % 4], bs[k % 4]; trigger empty.at(k);";
    assert_eq!(ring(4, fills, in_order), late);
    let other = "wait full.at(k); mma.row.row acc, as[k % 4], bs[k % 4]; trigger empty.at(k + 1);";
    assert_eq!(ring(4, fills, other), at_once);
    // Where a slot may be needed immediately, or the analysis cannot decide that, it is released
    // immediately.
    assert_eq!(ring(4, fills, &iteration("(2 * k) % 4", "")), at_once);
    assert_eq!(
        ring(4, ["(k + 1) % 4", "k % 4"], &iteration("k % 4", "")),
        at_once
    );
    assert_eq!(
        ring(4, ["(2 * k) % 4"; 2], &iteration("k % 4", "")),
        at_once
    );
    let alone = format!("for {{arrived fence {PRODUCTS} commit wait0 arrive}}");
    assert_eq!(ring(1, ["0"; 2], &iteration("0", "")), alone);
    let other =
        "wait full[k % 4]; mma.row.row acc, as[k % 4], bs[k % 4]; trigger empty[(k + 1) % 4];";
    assert_eq!(ring(4, fills, other), at_once);
}

fn alone(body: &str) -> String {
    kernel(&format!(
        "__co__ void f(global f16 [64, 64] a, global f16 [64, 64] b, global f16 [64, 64] c, global f32 [64, 1] s, s32 n) {{
          parallel by 1 : block {{
            shared f16 [64, 64] as;
            shared f16 [64, 64] bs;
            shared f16 [64, 64] cs;
            parallel g by 1 : group-4 {{
              acc = mma.fill.f32 1.0f;
              {body}
            }}
          }}
        }}"
    ))
}

#[test]
fn mmas_are_complete_where_they_are_observable() {
    let copies = "dma.copy a => as; dma.copy b => bs;";
    let mma = "mma.row.row acc, as, bs;";
    let mma_group = format!("fence {PRODUCTS} commit");
    // Several consecutive MMAs are one group; the accumulators are stored when it is complete, and
    // so before the end.
    assert_eq!(
        alone(&format!("{copies} {mma} {mma} mma.store acc, cs;")),
        format!("barrier fence {PRODUCTS} {PRODUCTS} commit wait0 for {{store}}")
    );
    assert_eq!(
        alone(&format!("{copies} {mma}")),
        format!("barrier {mma_group} wait0")
    );
    // A tile is overwritten when all MMAs that read it are complete, in the next iteration as well.
    assert_eq!(
        alone(&format!("{copies} {mma} dma.copy a => as; {mma}")),
        format!("barrier {mma_group} wait0 barrier barrier {mma_group} wait0")
    );
    assert_eq!(
        alone(&format!("foreach k in [n] {{ {copies} {mma} }}")),
        format!("for {{barrier barrier {mma_group} wait0}}")
    );
    assert_eq!(
        alone(&format!("{copies} {mma} mma.commit; {mma}")),
        format!("barrier {mma_group} wait0 {mma_group} wait0")
    );
    // Loops of only MMAs are part of a group; a fence before it covers all iterations.
    assert_eq!(
        alone(&format!(
            "{copies} foreach k in [4] mma.row.row acc, as.chunkat(_, k), bs.chunkat(_, k); {mma}"
        )),
        format!("barrier fence for {{place place product}} {PRODUCTS} commit wait0")
    );
    assert_eq!(
        alone(&format!(
            "{copies} {mma} foreach k in [4] mma.row.row acc, as.chunkat(_, k), bs.chunkat(_, k);"
        )),
        format!("barrier fence {PRODUCTS} for {{place place product}} commit wait0")
    );
}

#[test]
fn waits_leave_younger_mmas_in_flight() {
    let mma_group = format!("fence {PRODUCTS} commit");
    let two = "dma.copy a => as; dma.copy b => bs; other = mma.fill.f32 1.0f;
        p = mma.row.row.async acc, as, bs; q = mma.row.row.async other, as, bs;";
    assert_eq!(
        alone(&format!(
            "{two} wait p; mma.store acc, cs; wait q; mma.store other, cs;"
        )),
        format!("barrier {mma_group} {mma_group} wait1 for {{store}} wait0 barrier for {{store}}")
    );
    // Accumulators that are used before the program's own wait.
    assert_eq!(
        alone(&format!("{two} mma.store acc, cs; wait p; wait q;")),
        format!("barrier {mma_group} {mma_group} wait1 for {{store}} wait0")
    );
    assert_eq!(
        alone(&format!("{two} wait q; mma.store acc, cs; wait p;")),
        format!("barrier {mma_group} {mma_group} wait0 for {{store}}")
    );
}

#[test]
fn scaled_accumulators_are_waited_for() {
    let mma_group = format!("fence {PRODUCTS} commit");
    let copies = "dma.copy a => as; dma.copy b => bs;";
    let (mma, scale) = ("mma.row.row acc, as, bs;", "mma.scale acc, s, 2.0f;");
    assert_eq!(
        alone(&format!(
            "{copies} {mma} {mma} {scale} {mma} mma.store acc, cs;"
        )),
        format!("barrier fence {PRODUCTS} {PRODUCTS} commit wait0 {mma_group} wait0 for {{store}}")
    );
    // One by one: none is part of another's group.
    let scaled = "mma.row.row.scale acc, as, bs, s, 2.0f;";
    assert_eq!(
        alone(&format!("{copies} {mma} {scaled} {scaled}")),
        format!("barrier fence {PRODUCTS} {PRODUCTS} commit wait0 {mma_group} wait0")
    );
}

/// The place of an operand that depends only on the region's threads is computed once, before the
/// loop; each step along K is a constant distance from it, also in the next group of the swizzle.
#[test]
fn operands_of_a_region_are_placed_once() {
    let outline = kernel(
        "__co__ void f(global f16 [128, 128] a, global f16 [64, 128] b, global f32 [128, 64] c) {
          parallel by 1 : block {
            shared f16 [128, 128] as;
            shared f16 [64, 128] bs;
            dma.copy.swiz<128> a => as;
            dma.copy.swiz<128> b => bs;
            parallel w by 3 : group-4 {
              inthreads (w > 0) {
                acc = mma.fill.f32 1.0f;
                foreach k in [4] {
                  mma.row.row acc, as.subspan(64, 128).at(w - 1, 0), bs;
                  mma.commit;
                }
                mma.store acc, c.subspan(64, 64).at(w - 1, 0);
              }
            }
          }
        }",
    );
    let products = format!("{PRODUCTS} {PRODUCTS}");
    let wanted = format!("region {{place for {{fence {products} commit wait0}}");
    assert!(outline.contains(&wanted), "{outline}");
}

/// A loop that loads metadata and multiplies becomes two: the MMAs of all iterations are one group.
#[test]
fn metadata_of_a_loop_is_loaded_first() {
    let text = |between: &str| {
        kernel(&format!(
            "__co__ void f(f16 [64, 64] a, f16 [8, 128] b, u32 [64, 4] m, f32 [64, 8] & c) {{
              parallel by 1 : block {{
                shared f16 [64, 64] as;
                shared f16 [8, 128] bs;
                dma.copy.swiz<128> a => as;
                dma.copy.swiz<128> b => bs;
                parallel g by 1 : group-4 {{
                  acc = mma.fill.f32 1.0f;
                  foreach {{k}} in [4] {{
                    e = mma.load m.chunkat(_, k);
                    {between}
                    mma.row.row.sp acc, as.chunkat(_, k), bs.chunkat(_, k), e;
                  }}
                  mma.store acc, c;
                }}
              }}
            }}"
        ))
    };
    let one_group = "fence for {place place product} commit wait0";
    let apart = "for {fence place place product commit wait0}";
    let found = text("");
    assert!(found.contains(one_group), "{found}");
    let found = text("acc += 1.0f;");
    assert!(found.contains(apart), "{found}");
}

/// Two warpgroups multiply tiles of a ring alternately.
#[derive(Clone, Copy)]
struct Alternating {
    events: &'static str,
    /// Of the thread that loads, before its loop.
    first: &'static str,
    fill: &'static str,
    multiply: &'static str,
    end: &'static str,
}

const ALTERNATING: Alternating = Alternating {
    events: "shared event full[2], empty[2] = ready;",
    first: "",
    fill: "wait empty[s]; BOTH trigger full[s];",
    multiply: "wait full[s]; wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p; trigger empty[s];",
    end: "",
};

impl Alternating {
    fn text(&self) -> String {
        let both = "tma.copy.async<full[s]>.swiz<128> a.subspan(64, 64).at(0, k) => as[s];
                    tma.copy.async<full[s]>.swiz<128> b.subspan(64, 64).at(0, k) => bs[s];";
        let product = "p = mma.row.row.async acc, as[s], bs[s];";
        let (fill, multiply) = (
            self.fill.replace("BOTH", both),
            self.multiply.replace("PRODUCT", product),
        );
        let (events, first, end) = (self.events, self.first, self.end);
        format!(
            "__co__ void f(global f16 [64, K] a, global f16 [64, K] b, global f32 [128, 64] c) {{
              parallel by 1 : block {{
                {events}
                shared event<128> turn[2];
                shared f16 [64, 64] as[2];
                shared f16 [64, 64] bs[2];
                parallel w by 3 : group-4 {{
                  inthreads.async (w == 0) {{
                    {first}
                    foreach {{k}} in [cdiv(K, 64)] {{ s = k % 2; {fill} }}
                  }}
                  inthreads.async (w > 0) {{
                    acc = mma.fill.f32 1.0f;
                    if (w == 2) {{ trigger turn[0]; }}
                    foreach {{k}} in [cdiv(K, 64)] {{ s = k % 2; {multiply} }}
                    mma.store acc, c.subspan(64, 64).at(w - 1, 0);
                    {end}
                  }}
                }}
              }}
            }}"
        )
    }

    /// Whether the MMA is in flight when the other warpgroup gets its turn.
    fn overlap(&self) -> bool {
        overlap(&self.text())
    }
}

fn overlap(text: &str) -> bool {
    let outline = kernel(text);
    let [after, before] = ["commit arrive", "commit wait0 arrive"].map(|t| outline.contains(t));
    assert!(after != before, "{outline}");
    after
}

#[test]
fn mmas_stay_in_flight_where_a_trigger_cannot_release_their_operands() {
    assert!(ALTERNATING.overlap());
    // The tiles are released by this very trigger, or were released before.
    for multiply in [
        "wait full[s]; PRODUCT trigger empty[s]; wait p;",
        "wait full[s]; trigger empty[s]; wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p;",
        // Not in turn with the loads.
        "wait full[s]; wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p; trigger empty[1 - s];",
        "wait full[s]; wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p; if (k > 2) { trigger empty[s]; }",
        "wait full[s]; wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p; trigger empty[s]; if (k == 1) { trigger empty[s]; }",
        // Tiles of another slot.
        "wait full[1 - s]; wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p; trigger empty[1 - s];",
        // No wait for the loads.
        "wait turn[w - 1]; PRODUCT trigger turn[2 - w]; wait p; wait full[s]; trigger empty[s];",
    ] {
        let alternating = Alternating {
            multiply,
            ..ALTERNATING
        };
        assert!(!alternating.overlap(), "{multiply}");
    }
    // The loads don't wait for the release, or another statement writes the tiles.
    for fill in [
        "BOTH trigger full[s];",
        "wait empty[1 - s]; BOTH trigger full[s];",
        "if (k > 1) { wait empty[s]; } BOTH trigger full[s];",
        "wait empty[s]; trigger full[s]; BOTH",
        "wait empty[s]; trigger full[s]; BOTH wait empty[s]; trigger full[s];",
        "wait empty[s]; BOTH trigger full[s]; if (k == 3) { trigger full[s]; }",
        // A second load before its wait.
        "wait empty[0]; tma.copy.async<full[1]>.swiz<128> b.subspan(64, 64).at(0, k) => bs[1]; \
         trigger full[0]; wait empty[1]; trigger full[1];",
    ] {
        let alternating = Alternating {
            fill,
            ..ALTERNATING
        };
        assert!(!alternating.overlap(), "{fill}");
    }
    let alternating = Alternating {
        end: "mma.store acc, bs[w - 1];",
        ..ALTERNATING
    };
    assert!(!alternating.overlap());
    // The arrivals of one warpgroup are enough for a generation.
    let alternating = Alternating {
        events: "shared event full[2]; shared event<128> empty[2] = ready;",
        ..ALTERNATING
    };
    assert!(!alternating.overlap());
}

/// A load that nothing triggers behind it, of the same tile and slot as another one of the macro.
#[test]
fn loads_of_one_macro_are_distinguished() {
    for (fill, overlaps) in [
        ("wait empty[s]; BOTH trigger full[s];", true),
        ("wait empty[s]; BOTH trigger full[s]; BOTH", false),
    ] {
        let alternating = Alternating {
            fill,
            ..ALTERNATING
        };
        let text = alternating.text();
        let start = text.find("wait empty").expect("the loads");
        let end = text.find("inthreads.async (w > 0)").expect("the products");
        let end = start + text[start..end].find(" }").expect("the end of the loop");
        let of_macro = text[start..end].replace('\n', " ");
        let text = format!(
            "#define FILL {of_macro}\n{} FILL {}",
            &text[..start],
            &text[end..]
        );
        assert_eq!(overlap(&text), overlaps, "{text}");
    }
}

/// An operand that is loaded once, by `LOAD`.
const OWN: Alternating = Alternating {
    events: "shared event full[2], empty[2] = ready; shared event own[2]; shared f16 [64, 64] tile;",
    first: "tma.copy.async<own[0]>.swiz<128> a.subspan(64, 64).at(0, 0) => tile; trigger own[0];",
    multiply: "wait full[s]; wait turn[w - 1]; p = mma.row.row.async acc, tile, bs[s]; \
               trigger turn[2 - w]; wait p; trigger empty[s];",
    ..ALTERNATING
};

#[test]
fn what_is_loaded_once_is_not_overwritten() {
    let overlaps = |first, wait: &'static str| {
        let multiply: &'static str = format!("{wait} {}", OWN.multiply).leak();
        let alternating = Alternating {
            first,
            multiply,
            ..OWN
        };
        alternating.overlap()
    };
    assert!(overlaps(OWN.first, "wait own[0];"));
    // Possibly another slot, which is not filled.
    assert!(!overlaps(OWN.first, "wait own[K % 2];"));
    // Loaded again.
    let load = OWN.first;
    let again: &'static str = format!("{load} {load}").leak();
    assert!(!overlaps(again, "wait own[0];"));
    let again: &'static str = format!("foreach i in [2] {{ {load} }}").leak();
    assert!(!overlaps(again, "wait own[0];"));
}

/// Two threads load the two operands: each may be ahead of the other.
#[test]
fn operands_of_two_threads_are_waited_for() {
    let load = |of: &str| {
        format!(
            "wait empty[s];
             tma.copy.async<full[s]>.swiz<128> {of}.subspan(64, 64).at(0, k) => {of}s[s];
             trigger full[s];"
        )
    };
    let fill = load("a").leak();
    let text = Alternating {
        fill,
        ..ALTERNATING
    }
    .text();
    let text = text.replace("w by 3", "w by 4");
    let second = format!(
        "inthreads.async (w == 3) {{ foreach {{k}} in [cdiv(K, 64)] {{ s = k % 2; {} }} }}
         inthreads.async (w == 1 || w == 2) {{",
        load("b")
    );
    assert!(!overlap(
        &text.replace("inthreads.async (w > 0) {", &second)
    ));
}

/// The threads that multiply must be among those whose arrivals a load waits for.
#[test]
fn operands_that_others_release_are_waited_for() {
    let both = |events: &'static str, wait: &str, first: &str, second: &str| {
        let fill: &'static str = format!("{wait} BOTH trigger full[s];").leak();
        let text = Alternating {
            events,
            fill,
            ..ALTERNATING
        }
        .text();
        let region = |w: usize, end: &str| {
            format!(
                "inthreads.async (w == {w}) {{
                   acc = mma.fill.f32 1.0f;
                   foreach {{k}} in [cdiv(K, 64)] {{ s = k % 2; {end} }}
                   mma.store acc, c.subspan(64, 64).at({w} - 1, 0);
                 }}"
            )
        };
        let at = text.find("inthreads.async (w > 0)").unwrap();
        let regions = [region(1, first), region(2, second)].concat();
        format!("{}{regions} }} }} }}", &text[..at])
    };
    let product = "wait full[s]; p = mma.row.row.async acc, as[s], bs[s];";
    // The second warpgroup releases for the first one.
    let by_proxy = both(
        "shared event full[2], empty[2] = ready;",
        "wait empty[s];",
        &format!("{product} trigger turn[0]; wait p;"),
        "wait full[s]; wait turn[0]; p = mma.row.row.async acc, as[s], bs[s]; wait p; trigger empty[s];",
    );
    assert!(!overlap(&by_proxy));
    // Each has an event of its own; the first that the loads wait for is another's.
    let own = both(
        "shared event full[2], empty[2] = ready, freed[2] = ready;",
        "wait empty[s]; wait freed[s];",
        &format!("{product} wait p; trigger empty[s];"),
        &format!("{product} trigger freed[s]; wait p;"),
    );
    assert!(!overlap(&own));
}
