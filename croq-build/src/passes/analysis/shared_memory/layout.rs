//! Offsets of shared buffers, by first fit.
//!
//! Buffers of known size are placed one after the other, each at the lowest offset that is free of
//! those with which it cannot share storage; in order of declaration, or largest first where that
//! takes less. Buffers whose size is only known at launch follow. Two of these share storage only
//! at the same offset, and only where one of the sizes is provably the larger.

use super::liveness::LiveRange;
use crate::ir::BufferId;
use crate::symbolic::{Ctx, Sym};

/// A buffer to be placed.
#[derive(Clone, Debug)]
pub struct Request {
    pub buffer: BufferId,
    pub bytes: Sym,
    pub alignment: i64,
    pub live: LiveRange,
    /// Shares storage with no other buffer.
    pub exclusive: bool,
}

#[derive(Debug)]
pub struct Layout {
    /// The offset of each buffer, in the order of the request.
    pub offsets: Vec<Sym>,
    /// The end of the buffers of known size.
    pub known: i64,
    pub end: Sym,
}

/// `conflict`: whether two buffers, given by position, must not share storage.
pub fn lay_out(cx: &Ctx, requests: &[Request], conflict: &dyn Fn(usize, usize) -> bool) -> Layout {
    let known: Vec<(usize, i64)> = requests
        .iter()
        .enumerate()
        .filter_map(|(at, w)| Some((at, w.bytes.as_int()?)))
        .collect();
    let mut by_size = known.clone();
    by_size.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let (declared, by_size) = (
        first_fit(requests, &known, conflict),
        first_fit(requests, &by_size, conflict),
    );
    let best = if end_of(&by_size) < end_of(&declared) {
        by_size
    } else {
        declared
    };
    let known = end_of(&best);
    let mut offsets = vec![Sym::zero(); requests.len()];
    for (at, offset, _) in best {
        if let Some(slot) = offsets.get_mut(at) {
            *slot = Sym::int(offset);
        }
    }
    let mut end = Sym::int(known);
    for slot in slots(cx, requests, conflict) {
        let offset = cx.align_up(&end, &Sym::int(slot.alignment));
        end = &offset + &slot.bytes;
        for at in slot.holds {
            if let Some(place) = offsets.get_mut(at) {
                *place = offset.clone();
            }
        }
    }
    Layout {
        offsets,
        known,
        end,
    }
}

/// Position, offset and end of a buffer.
type Placed = (usize, i64, i64);

fn end_of(placed: &[Placed]) -> i64 {
    placed.iter().map(|(_, _, end)| *end).max().unwrap_or(0)
}

fn first_fit(
    requests: &[Request],
    order: &[(usize, i64)],
    conflict: &dyn Fn(usize, usize) -> bool,
) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::new();
    for (at, bytes) in order {
        let alignment = requests.get(*at).map_or(1, |w| w.alignment).max(1);
        let mut taken: Vec<(i64, i64)> = placed
            .iter()
            .filter(|(other, ..)| conflict(*at, *other))
            .map(|(_, begin, end)| (*begin, *end))
            .collect();
        taken.sort_unstable();
        let mut offset = 0i64;
        for (begin, end) in taken {
            if offset.saturating_add(*bytes) > begin && offset < end {
                offset = round_up(end, alignment);
            }
        }
        placed.push((*at, offset, offset.saturating_add(*bytes)));
    }
    placed
}

fn round_up(offset: i64, to: i64) -> i64 {
    offset.saturating_add(to - 1) / to * to
}

/// Storage for buffers of which only one is live at a time.
struct Slot {
    holds: Vec<usize>,
    bytes: Sym,
    alignment: i64,
}

fn slots(cx: &Ctx, requests: &[Request], conflict: &dyn Fn(usize, usize) -> bool) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    for (at, w) in requests.iter().enumerate() {
        if w.bytes.as_int().is_some() {
            continue;
        }
        let larger = |slot: &Slot| {
            if slot.holds.iter().any(|other| conflict(at, *other)) {
                None
            } else if cx.le(&w.bytes, &slot.bytes).is_yes() {
                Some(slot.bytes.clone())
            } else {
                let grows = cx.le(&slot.bytes, &w.bytes).is_yes();
                grows.then(|| w.bytes.clone())
            }
        };
        let found = slots.iter_mut().find_map(|slot| {
            let bytes = larger(slot)?;
            Some((slot, bytes))
        });
        match found {
            Some((slot, bytes)) => {
                slot.holds.push(at);
                slot.bytes = bytes;
                slot.alignment = slot.alignment.max(w.alignment);
            }
            None => slots.push(Slot {
                holds: vec![at],
                bytes: w.bytes.clone(),
                alignment: w.alignment,
            }),
        }
    }
    slots
}
