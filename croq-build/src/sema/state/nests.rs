//! The levels of a nest of `parallel`s.

use crate::ir::Level;
use crate::source::Span;

/// One `parallel` item with the level assigned to it; children are in source order.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub level: Level,
    pub explicit: bool,
    /// Two consecutive thread-level items: the outer index counts groups of as many threads as the
    /// inner item has.
    pub merged: bool,
    /// A single unannotated level with more instances than a block can have: it is split into
    /// blocks and threads.
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
