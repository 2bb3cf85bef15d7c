//! Text for enums and other values that have no name.

use std::fmt::{Display, Write as _};

use super::super::*;

pub(super) fn k_axis(last: bool) -> &'static str {
    if last { ", k-major" } else { ", mn-major" }
}

pub(super) fn atom_text(atom: Atom) -> String {
    let swapped = if atom.swapped { " swapped" } else { "" };
    format!("m{}n{}k{}{swapped}", atom.m, atom.n, atom.k)
}

pub(super) fn cache_hint(hint: CacheHint) -> &'static str {
    match hint {
        CacheHint::EvictFirst => "evict first",
        CacheHint::EvictLast => "evict last",
    }
}

pub(super) fn layout(layout: FragmentLayout) -> String {
    match layout {
        FragmentLayout::Rows { warps } => format!("one value per row over {warps} warps"),
        FragmentLayout::Dealt(Dealing { threads, lanes }) => {
            format!("rows dealt out over {threads} threads, {lanes} a row")
        }
        FragmentLayout::Metadata(Metadata { k, warps }) => {
            format!("metadata for steps of {k} over {warps} warps")
        }
        FragmentLayout::Matrix(layout) => {
            let transposed = if layout.transposed {
                ", transposed"
            } else {
                ""
            };
            let Layout {
                rows, width, warps, ..
            } = layout;
            format!("tiles of {rows} rows by {width} elements over {warps} warps{transposed}")
        }
    }
}

pub(super) fn set_text(set: &ThreadSet) -> String {
    let ranges = set.ranges.iter().map(|(lo, hi)| format!("{lo}..{hi}"));
    format!("threads {}", listed(ranges))
}

pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Cluster => "cluster",
        Level::Block => "block",
        Level::Warpgroup => "warpgroup",
        Level::Warp => "warp",
        Level::Thread => "thread",
    }
}

pub(super) fn barrier(scope: BarrierScope, name: impl Fn(LocalId) -> String) -> String {
    match scope {
        BarrierScope::Grid => "grid".to_owned(),
        BarrierScope::Cluster => "cluster".to_owned(),
        BarrierScope::Block => "block".to_owned(),
        BarrierScope::Warpgroup => "warpgroup".to_owned(),
        BarrierScope::Warp => "warp".to_owned(),
        BarrierScope::Named { id, threads } => format!("{id}, {threads} threads"),
        BarrierScope::Arrive { id, threads } => format!("{id}, {threads} threads, arrive only"),
        BarrierScope::WarpgroupFrom(id) => format!("warpgroup, ids from {id}"),
        BarrierScope::WarpgroupOf { first, group } => {
            format!("warpgroup {}, ids from {first}", name(group))
        }
        BarrierScope::Lanes(mask) => format!("lanes {mask:#010x}"),
    }
}

pub(super) fn fence(scope: FenceScope) -> &'static str {
    match scope {
        FenceScope::Block => "block",
        FenceScope::Device => "device",
        FenceScope::AsyncProxy => "async proxy, shared",
        FenceScope::AsyncProxyEverywhere => "async proxy",
        FenceScope::MbarrierInit => "mbarrier init",
    }
}

/// The items, separated by commas.
pub(super) fn listed<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for item in items {
        add_to_list(&mut out, &item);
    }
    out
}

/// Not generic: compiled once.
fn add_to_list(out: &mut String, item: &dyn Display) {
    if !out.is_empty() {
        out.push_str(", ");
    }
    let _ = write!(out, "{item}");
}
