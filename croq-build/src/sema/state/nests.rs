//! The levels of a nest of `parallel`s.

use crate::ir::Level;
use crate::source::Span;

/// One `parallel` item with what was decided for it; children in source order.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub level: Level,
    pub explicit: bool,
    /// Two thread-level items in a row: the outer counts whole inner sets.
    pub merged: bool,
    /// A single unannotated level over more instances than a block holds: blocks times threads.
    pub single: bool,
    /// `block<cooperative>`
    pub cooperative: Option<Span>,
    pub children: Vec<Node>,
    pub span: Span,
    /// The number of instances, when it is a literal.
    pub count: Option<i64>,
}

pub(crate) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Cluster => "cluster",
        Level::Block => "block",
        Level::Warpgroup => "group-4",
        Level::Warp => "group",
        Level::Thread => "thread",
    }
}
