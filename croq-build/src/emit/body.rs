//! A C++ function under construction, into which statements are printed.

use super::scope::Names;
use super::user_text::UserText;
use super::writer::Writer;
use crate::ir::LocalId;
use crate::passes::analysis::spin_loops::Spins;
use crate::sorted::SortedSet;

/// A C++ function under construction.
pub struct Body<'a, 'w> {
    pub names: Names<'a>,
    pub writer: &'w mut Writer<'a>,
    /// Locals that are read; compilers warn about others.
    pub read: SortedSet<LocalId>,
    pub on_host: bool,
    /// The loops that may poll memory.
    pub spins: Spins,
    pub user: UserText<'a>,
}
