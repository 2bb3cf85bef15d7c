//! Copies by TMA: the targets, memories and modifiers that they allow. `tma_legality` checks their
//! boxes.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{CacheHint, Engine, Level, Storage, Tma, View};
use crate::sema::checks::targets;
use crate::sema::copies::tma_legality;
use crate::sema::levels::{cluster_legality, uniformity};
use crate::sema::memory::swizzles;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, CopyModifier, CopyOp, CopyStmt};

/// The engine that executes a copy. The levels, shapes and storages of the copy are already
/// checked.
pub(crate) fn choose_engine(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    (from, dest): (&mut View, &View),
    zero_fill: bool,
    level: Level,
) -> Option<Engine> {
    if c.engine == ast::Engine::Dma {
        return Some(Engine::Threads);
    }
    let mut tma = lower_modifiers(el, c)?;
    let source = &*from;
    let load = el.f.buffer(dest.buffer).storage == Storage::Shared;
    let (global, shared) = if load { (source, dest) } else { (dest, source) };
    let bytes = i64::try_from(el.f.buffer(global.buffer).elem.bytes()).unwrap_or(1);
    let at = if load {
        c.source.span
    } else {
        match &c.dest {
            ast::CopyDest::View(e) => e.span,
            ast::CopyDest::Storage(_, at) => *at,
        }
    };
    check_uniform(el, global, level, at)?;
    if is_multicast(c) {
        cluster_legality::check_whole_blocks(&mut el.cx, level, load, c)?;
    }
    let frame = tma_legality::tensor_of(el, global, at)?;
    let elem = el.f.buffer(global.buffer).elem;
    let covered = match load {
        true => tma_legality::check_box(el, source, dest, zero_fill, &frame, c)?,
        false => tma_legality::Covered::whole(source),
    };
    let shape = covered.shape;
    tma_legality::check_ends(el, global, &frame, load && !zero_fill, at)?;
    let why = if elem.is_packed() {
        let label = format!("{} elements share a byte", elem.per_byte());
        Some((label, "write `dma`"))
    } else {
        let swizzle = swizzles::asked_so_far(el, shared.buffer);
        tma_legality::check_extents(el, &shape, &frame, bytes, swizzle.is_some(), at)?;
        tma_legality::check_tensor(el, global, &frame, bytes, at)?;
        let of_shared = tma_legality::why_out_of_reach(el, shared, bytes)
            .map(|label| (label, "give the tile a buffer of its own, or write `dma`"));
        let negative = match load {
            true => Ok(Vec::new()),
            false => tma_legality::negative_axes(el, &frame, &shape),
        };
        of_shared.or(match negative {
            Ok(axes) => {
                tma.negative = axes;
                None
            }
            Err(label) => Some((
                label,
                "write `dma`, or `assert` that the position is not negative",
            )),
        })
    };
    // The passes do not know the facts that hold here, which decided the extents of the box.
    if load {
        cover_box(el, from, &shape, &covered.equal_at_entry);
    }
    if let Some((label, help)) = why {
        el.cx.report(
            Diagnostic::new(
                codes::W0867,
                c.head,
                "this tile is not addressable by TMA: threads copy it instead",
            )
            .label(label)
            .help(help),
        );
        return Some(Engine::Threads);
    }
    targets::note_targets(el, c.head, codes::N0860, "TMA");
    Some(Engine::Tma(tma))
}

/// Gives the source of a load the extents of its box: positions beyond the source become zero.
fn cover_box(el: &mut Elab<'_>, from: &mut View, shape: &[Sym], equal_at_entry: &[usize]) {
    for (axis, extent) in shape.iter().enumerate() {
        let (Some(own), Some(valid)) = (from.shape.get_mut(axis), from.valid.get_mut(axis)) else {
            return;
        };
        let smaller = std::mem::replace(own, extent.clone());
        if !equal_at_entry.contains(&axis) && el.f.cx.eq(&smaller, extent) != Truth::Yes {
            valid.hi = Some(match valid.hi.take() {
                Some(hi) => el.f.cx.min(&hi, &smaller),
                None => smaller,
            });
        }
    }
}

/// Whether any of the targets has TMA.
pub(crate) fn check_available(cx: &mut Cx<'_>, c: &CopyStmt) -> bool {
    let (newer, older) = targets::targets(cx);
    if !newer.is_empty() || older.is_empty() {
        return true;
    }
    cx.report(
        Diagnostic::new(codes::E0860, c.head, "`tma` needs sm_90 or newer")
            .label(format!("this is built for {older} alone"))
            .help("add an architecture: `.arch(\"sm_90a\")`, or use `dma`"),
    );
    false
}

/// Checks that one side is device memory and the other shared memory.
pub(crate) fn check_storages(
    cx: &mut Cx<'_>,
    from: Storage,
    to: Storage,
    c: &CopyStmt,
) -> Option<()> {
    let load = from.is_global() && to == Storage::Shared;
    let store = from == Storage::Shared && to.is_global();
    let at = c.head.to(c.source.span);
    if !load && !store {
        cx.report(
            Diagnostic::new(
                codes::E0832,
                at,
                "`tma` moves between global and shared memory only",
            )
            .label("another pair")
            .help("use `dma`"),
        );
        return None;
    }
    if store && matches!(c.op, CopyOp::Load) {
        cx.report(
            Diagnostic::new(
                codes::E0832,
                at,
                "`tma.load` goes from global to shared memory",
            )
            .label("from shared to global")
            .help("write `tma.copy`"),
        );
        return None;
    }
    let hinted = |(modifier, at): &(CopyModifier, Span)| match modifier {
        CopyModifier::EvictFirst | CopyModifier::EvictLast => Some(*at),
        _ => None,
    };
    if store && let Some(at) = c.modifiers.iter().find_map(hinted) {
        report_hint_refused(cx, at, false);
        return None;
    }
    if store && let Some((asynchronous, _)) = &c.is_async {
        cx.report(
            Diagnostic::new(
                codes::E0831,
                *asynchronous,
                "an asynchronous store has no way to report that it has read its source",
            )
            .label("only from global to shared memory")
            .help("remove `.async`, and the `wait` for it"),
        );
        return None;
    }
    Some(())
}

pub(crate) fn lower_modifiers(el: &mut Elab<'_>, c: &CopyStmt) -> Option<Tma> {
    let mut tma = Tma {
        promotion: 128,
        hint: None,
        blocks: 1,
        shared: false,
        negative: Vec::new(),
        arrival: None,
        event: None,
    };
    for (modifier, at) in &c.modifiers {
        match modifier {
            CopyModifier::Promote(n) => match constants::constant(n) {
                Some(64) => tma.promotion = 64,
                Some(128) => tma.promotion = 128,
                Some(256) => tma.promotion = 256,
                _ => {
                    el.cx.report(
                        Diagnostic::new(
                            codes::E0858,
                            n.span,
                            "an L2 promotion is 64, 128 or 256 bytes",
                        )
                        .label("not a promotion"),
                    );
                    return None;
                }
            },
            CopyModifier::EvictFirst | CopyModifier::EvictLast => {
                let many = is_multicast(c);
                if many {
                    report_hint_refused(&mut el.cx, *at, many);
                    return None;
                }
                tma.hint = Some(match modifier {
                    CopyModifier::EvictFirst => CacheHint::EvictFirst,
                    _ => CacheHint::EvictLast,
                });
            }
            CopyModifier::Multicast => {
                let size = el.kernel.as_ref().map(|k| k.grid.cluster.iter().product());
                tma.blocks = size.unwrap_or(1);
            }
            _ => {}
        }
    }
    Some(tma)
}

pub(crate) fn report_hint_refused(cx: &mut Cx<'_>, at: Span, multicast: bool) {
    let label = if multicast {
        "not together with `.multicast`"
    } else {
        "not here"
    };
    cx.report(
        Diagnostic::new(
            codes::E0859,
            at,
            "an eviction hint is only for loads by `tma`",
        )
        .label(label)
        .help("remove it: only a `tma` copy from global to shared memory has one"),
    );
}

/// Checks that all threads of the unit that issues the copy compute the same tile.
fn check_uniform(el: &mut Elab<'_>, global: &View, level: Level, at: Span) -> Option<()> {
    if level != Level::Thread {
        return Some(());
    }
    let var = global
        .offset
        .vars()
        .into_iter()
        .find(|v| uniformity::is_unit_variable(el, *v));
    let name = var.map_or_else(
        || "the tile".to_owned(),
        |v| format!("`{}`", el.f.cx.name(v)),
    );
    el.cx.report(
        Diagnostic::new(codes::E0862, at, format!("{name} differs between threads"))
            .label("one thread issues the copy of a whole unit")
            .help("use `dma`, or take the copy out of the `parallel` over threads"),
    );
    None
}

fn is_multicast(c: &CopyStmt) -> bool {
    let mut modifiers = c.modifiers.iter();
    modifiers.any(|(m, _)| matches!(m, CopyModifier::Multicast))
}

#[cfg(test)]
mod tests {

    fn codes(archs: &[(&str, u16)]) -> Vec<&'static str> {
        let text = "__co__ void f(global f32 [64, 64] x) {
          parallel p by 2 : block {
            t = tma.load x.chunkat(p, _) => shared;
            tma.copy t.data => x.chunkat(p, _);
          }
        }";
        crate::sema::testing::codes(text, archs)
    }

    #[test]
    fn some_target_has_a_copy_engine() {
        assert_eq!(codes(&[("sm_80", 80), ("sm_90a", 90)]), ["N0860"]);
        assert!(codes(&[("sm_90a", 90)]).is_empty());
        assert!(codes(&[("sm_120", 120)]).is_empty());
        // Both copies are reported.
        assert_eq!(codes(&[("sm_80", 80), ("sm_89", 89)]), ["E0860", "E0860"]);
    }
}
