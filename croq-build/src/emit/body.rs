//! A C++ function in the making: statements are printed into it.

use std::collections::BTreeSet;

use super::scope::Names;
use super::user_text::UserText;
use super::writer::Writer;
use crate::ir::LocalId;
use crate::passes::analysis::spin_loops::Spins;

/// A C++ function in the making.
pub struct Body<'a, 'w> {
    pub names: Names<'a>,
    pub writer: &'w mut Writer<'a>,
    /// Locals that something reads; compilers complain about others.
    pub read: BTreeSet<LocalId>,
    pub on_host: bool,
    /// Which loops may wait for memory.
    pub spins: Spins,
    pub user: UserText<'a>,
}
