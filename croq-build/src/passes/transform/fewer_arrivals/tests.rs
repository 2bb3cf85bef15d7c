//! Programs, and the units of which one thread arrives.

use crate::ir::{Function, Level, Stmt, StmtKind, TmaOp};
use crate::sema::testing;

/// One warpgroup loads tiles, two multiply them. BEFORE and AFTER are around the product in the
/// loop of the latter, AT is the slot that they release, BEGIN and END are around their loop.
const RING: &str = "
    __co__ void f(global f16 [128, K] a, global f16 [64, K] b, global f32 [128, 64] c,
                  global f32 [K] scales, global f32 [384] seen, s32 n) {
      parallel by 1 : block {
        shared event full[4], empty[4] EMPTY;
        shared event<256> over, more;
        shared f16 [128, 64] as[4];
        shared f16 [64, 64] bs[4];
        shared f32 [384] kept;
        parallel w by 3 : group-4, t by 128 : thread {
          inthreads.async (w == 0) {
            foreach {k} in [cdiv(K, 64)] {
              wait empty[k % 4];
              tma.copy.async<full[k % 4]>.swiz<128> a.subspan(128, 64).at(0, k) => as[k % 4];
              tma.copy.async<full[k % 4]>.swiz<128> b.subspan(64, 64).at(0, k) => bs[k % 4];
              trigger full[k % 4];
            }
          }
          inthreads.async (w > 0) {
            mutable f32 x = 0.0f;
            BEGIN
            acc = mma.fill.f32 0.0f;
            foreach {k} in [cdiv(K, 64)] {
              wait full[k % 4];
              BEFORE
              mma.row.row acc, as[k % 4].subspan(64, 64).at(w - 1, 0), bs[k % 4];
              AFTER
              trigger empty[AT];
            }
            mma.store acc, c.subspan(64, 64).at(w - 1, 0);
            END
            if (x > 1.0f) { seen.at(w * 128 + t) = x; }
          }
        }
      }
    }";

#[derive(Clone, Copy, Default)]
struct Text<'a> {
    empty: &'a str,
    begin: &'a str,
    before: &'a str,
    after: &'a str,
    at: &'a str,
    end: &'a str,
}

fn ring(text: Text<'_>) -> String {
    let empty = if text.empty.is_empty() {
        "= ready"
    } else {
        text.empty
    };
    let at = if text.at.is_empty() { "k % 4" } else { text.at };
    let pairs = [
        ("EMPTY", empty),
        ("BEGIN", text.begin),
        ("BEFORE", text.before),
        ("AFTER", text.after),
        ("AT", at),
        ("END", text.end),
    ];
    let mut ring = RING.to_owned();
    for (place, with) in pairs {
        ring = ring.replace(place, with);
    }
    ring
}

/// The units of all arrivals at an event, which are the same.
fn unit_of(text: &str, event: &str) -> Option<Level> {
    fn gather(function: &Function, stmts: &[Stmt], event: &str, units: &mut Vec<Option<Level>>) {
        for stmt in stmts {
            if let StmtKind::Tma(TmaOp::Arrive {
                barriers, sharing, ..
            }) = &stmt.kind
            {
                let of = function.events.iter().find(|e| e.barriers == *barriers);
                if of.is_some_and(|e| e.name == event) {
                    units.push(sharing.unit.as_ref().map(|(unit, _)| *unit));
                }
            }
            let blocks = stmt.kind.blocks();
            blocks.for_each(|block| gather(function, block, event, units));
        }
    }
    let function = testing::function_after(text, "fewer-arrivals");
    let mut units = Vec::new();
    gather(&function, &function.kernels[0].body, event, &mut units);
    assert!(!units.is_empty(), "no arrival at {event} in {text}");
    assert!(units.iter().all(|unit| *unit == units[0]), "{text}");
    units[0]
}

fn released(text: Text<'_>) -> Option<Level> {
    unit_of(&ring(text), "empty")
}

fn after(after: &str) -> Option<Level> {
    released(Text {
        after,
        ..Text::default()
    })
}

const WARPGROUP: Option<Level> = Some(Level::Warpgroup);
const WARP: Option<Level> = Some(Level::Warp);

#[test]
fn products_alone_are_released_by_one_thread_of_a_warpgroup() {
    // One group in flight: the release of the iteration before.
    assert_eq!(released(Text::default()), WARPGROUP);
    // None: the threads' own values are no reason to wait.
    assert_eq!(after("x += 1.0f;"), WARPGROUP);
    // Nobody writes this memory.
    assert_eq!(after("x += scales.at(k);"), WARPGROUP);
    // Variables of the thread, and a condition that is uniform for a warpgroup.
    assert_eq!(
        after("local f32 [4] own; own.at(k % 4) = x; x = own.at(0);"),
        WARPGROUP
    );
    let own = Text {
        at: "(k + w) % 4",
        after: "x += 1.0f;",
        ..Text::default()
    };
    assert_eq!(released(own), WARPGROUP);
    // At the beginning nothing precedes the arrival.
    let begin = Text {
        empty: ";",
        begin: "foreach {i} in [4] { trigger empty[i]; }",
        ..Text::default()
    };
    let begin = ring(begin).replace("[4] ;;", "[4];");
    assert_eq!(unit_of(&begin, "empty"), WARPGROUP);
}

/// Accesses of other threads are only ordered by the barrier of their warp.
#[test]
fn accesses_before_the_arrival_need_a_warp() {
    for access in [
        // The slot is read by the threads as well.
        "x += __to<f32>(as[k % 4].at(t, 0));",
        // The event publishes this.
        "kept.at(w * 128 + t) = x;",
        "seen.at(w * 128 + t) = x;",
        "x += seen.at(0); seen.at(w * 128 + t) = 0.0f;",
        "__atomic_add(seen.at(0), 1.0f);",
        "x += kept.at(w);",
        "if (x > 3.0f) { kept.at(w * 128 + t) = x; }",
        "if (k > 3) { kept.at(w * 128 + t) = x; }",
        "foreach {i} in [n] { kept.at(w * 128 + t) = x; }",
        "sync.fence : block;",
    ] {
        assert_eq!(after(access), WARP, "{access}");
        let before = Text {
            before: access,
            ..Text::default()
        };
        // MMAs do not order accesses either.
        assert_eq!(released(before), WARP, "{access}");
    }
    // Before the loop: its first iterations come after it.
    for begin in ["kept.at(w * 128 + t) = 1.0f;", "x = kept.at(t);"] {
        let text = Text {
            begin,
            ..Text::default()
        };
        assert_eq!(released(text), WARP, "{begin}");
    }
}

#[test]
fn a_barrier_orders_accesses_for_the_warpgroup() {
    let first = "inthreads.async (w == 0)";
    for (barrier, unit) in [("sync.shared;", WARPGROUP), ("", WARP)] {
        let before = format!("seen.at(w * 128 + t) = 1.0f; {barrier} {first}");
        let text = ring(Text::default()).replace(first, &before);
        assert_eq!(unit_of(&text, "empty"), unit, "{barrier}");
    }
    // The thread that arrives executes this.
    let once = "parallel w by 3";
    let counted = format!("__atomic_add(seen.at(0), 1.0f); {once}");
    let text = ring(Text::default()).replace(once, &counted);
    assert_eq!(unit_of(&text, "empty"), WARPGROUP);
    // Each thread's fence has to precede the arrival.
    let stored =
        "kept.at(w * 128 + t) = 1.0f; tma.copy kept.subspan(128).at(w) => seen.subspan(128).at(w);";
    let stored = Text {
        begin: stored,
        ..Text::default()
    };
    assert_ne!(released(stored), None);
}

/// A thread that has not passed its wait could miss the phase that another one's arrival permits.
#[test]
fn waits_since_the_products_need_a_warp() {
    let text = Text {
        after: "wait more;",
        end: "trigger more;",
        ..Text::default()
    };
    assert_eq!(released(text), WARP);
    let before = Text {
        before: "wait more;",
        end: "trigger more;",
        ..Text::default()
    };
    // Products that are complete follow it.
    assert_eq!(released(before), WARPGROUP);
    // The first iteration releases nothing.
    let begin = Text {
        begin: "wait more;",
        end: "trigger more;",
        ..Text::default()
    };
    assert_eq!(released(begin), WARPGROUP);
}

/// An event that depends on arrivals of another one, which each warp makes, comes after all of them.
#[test]
fn arrivals_of_warps_since_the_products_need_a_warp() {
    let text = Text {
        after: "trigger more;",
        end: "kept.at(w * 128 + t) = 1.0f; trigger more;",
        ..Text::default()
    };
    assert_eq!(unit_of(&ring(text), "more"), WARP);
    assert_eq!(unit_of(&ring(text), "empty"), WARP);
}

#[test]
fn threads_that_do_not_come_together_arrive_alone() {
    for (condition, unit) in [
        // Half of the warpgroup.
        ("t < 64", WARP),
        ("t < 16", None),
        ("t % 2 == 0", None),
        // Known at run time.
        ("x > 2.0f", None),
        ("n > 3", WARP),
        ("w == 1", WARP),
    ] {
        let begin = format!("x = seen.at(t); if ({condition}) {{ trigger over; }}");
        let text = ring(Text {
            begin: &begin,
            ..Text::default()
        });
        assert_eq!(unit_of(&text, "over"), unit, "{condition}");
    }
    for (slot, unit) in [
        ("(k + t) % 4", None),
        ("(k + t / 32) % 4", WARP),
        ("(k + t / 64) % 4", WARP),
    ] {
        let text = Text {
            at: slot,
            ..Text::default()
        };
        assert_eq!(released(text), unit, "{slot}");
    }
    for leave in ["break", "continue"] {
        let leaves = format!("x += seen.at(t); if (x > 3.0f) {{ {leave}; }}");
        assert_eq!(after(&leaves), None, "{leave}");
    }
}

#[test]
fn expected_counts_are_multiples_of_the_unit() {
    for (count, unit) in [
        ("256", WARPGROUP),
        ("128", WARPGROUP),
        ("64", WARP),
        ("320", WARP),
        ("100", None),
    ] {
        let text = ring(Text {
            begin: "if (n > 3) { trigger over; }",
            ..Text::default()
        });
        let text = text.replace("event<256> over", &format!("event<{count}> over"));
        assert_eq!(unit_of(&text, "over"), unit, "{count}");
    }
}

#[test]
fn opaque_code_leaves_the_arrivals_as_they_are() {
    for opaque in ["__cpp__(\"x += 1.0f;\");", "if (n > 7) { yield; }"] {
        let text = Text {
            begin: opaque,
            ..Text::default()
        };
        assert_eq!(released(text), None, "{opaque}");
    }
}

#[test]
fn an_event_has_one_unit() {
    let text = Text {
        begin: "kept.at(w * 128 + t) = 1.0f; foreach {i} in [4] { trigger empty[i]; }",
        ..Text::default()
    };
    assert_eq!(released(text), WARP);
    let text = ring(Text {
        begin: "trigger over; if (t < 64) { trigger over; }",
        ..Text::default()
    });
    assert_eq!(unit_of(&text, "over"), WARP);
}

#[test]
fn what_one_thread_of_the_warpgroup_does_is_done_when_it_arrives() {
    let store = "tma.copy kept.subspan(128).at(w) => seen.subspan(128).at(w);";
    assert_eq!(after(store), WARPGROUP);
    // Here another thread does it.
    let by_another = "if (t == 77) { seen.at(w) = kept.at(w); }";
    assert_eq!(after(by_another), WARP);
}
