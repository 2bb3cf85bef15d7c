//! What a kernel does to memory that its threads share, as far as it matters for loads.

use std::collections::BTreeSet;

use crate::ir::{
    Access, BufferId, CppName, Flow, Function, Kernel, Stmt, StmtKind, Storage, View, Visitor, walk,
};
use crate::passes::analysis::barrier_intervals::separated;
use crate::passes::analysis::grid_intervals::{LoadId, load_id, undisturbed};
use crate::passes::analysis::uses::identifiers;

/// Buffers that the launch changes.
#[derive(Default)]
pub struct Changes {
    pub written: BTreeSet<BufferId>,
    /// Text that the compiler does not see into has the address.
    pub escapes: BTreeSet<BufferId>,
    /// Shared buffers that are only read, or only written, between two barriers of the block.
    separated: BTreeSet<BufferId>,
    /// Loads of device memory that no write in the same interval between barriers of the grid meets.
    undisturbed: BTreeSet<LoadId>,
    /// Device memory whose elements C++ code may access.
    escaping: BTreeSet<BufferId>,
}

impl Changes {
    /// No thread writes what another reads before the next barrier.
    fn is_stable(&self, id: BufferId) -> bool {
        self.separated.contains(&id) || !self.written.contains(&id)
    }

    pub fn of(function: &Function, kernel: &Kernel) -> Self {
        let mut find = Find {
            function,
            changes: Changes::default(),
        };
        let _ = find.block(&kernel.body);
        let mut changes = find.changes;
        changes.separated = separated(function, kernel);
        let of_device = |id: &&BufferId| {
            let buffer = function.buffers.get(id.index());
            buffer.is_some_and(|b| b.storage.is_global())
        };
        let written = changes.written.iter().filter(of_device).copied().collect();
        changes.escaping.extend(&kernel.facts.escaping);
        changes.undisturbed = undisturbed(function, kernel, &written);
        changes
    }

    /// No thread of the launch, and no code that the compiler does not see, changes device memory.
    pub fn is_constant(&self, id: BufferId) -> bool {
        !self.is_open(id) && !self.written.contains(&id)
    }

    /// All threads of the grid that read one element of device memory here find one value.
    pub fn is_common(&self, access: &Access) -> bool {
        let id = access.view.buffer;
        let undisturbed = || !self.is_open(id) && self.undisturbed.contains(&load_id(access));
        self.is_constant(id) || undisturbed()
    }

    fn is_open(&self, id: BufferId) -> bool {
        self.escapes.contains(&id) || self.escaping.contains(&id)
    }
}

struct Find<'a> {
    function: &'a Function,
    changes: Changes,
}

impl Visitor for Find<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Copy(copy) => drop(self.changes.written.insert(copy.dest.buffer)),
            StmtKind::Fill { view, .. } => drop(self.changes.written.insert(view.buffer)),
            StmtKind::Mma(op) => {
                let written = op.views().into_iter().filter(|(_, written)| *written);
                let written = written.map(|(view, _)| view.buffer);
                self.changes.written.extend(written);
            }
            StmtKind::Cpp { text, names } => {
                let words = identifiers(text);
                let buffers = names.iter().filter_map(|name| match name {
                    CppName::Buffer(id) => Some(*id),
                    CppName::Local(_) => None,
                });
                let named = buffers.filter(|id| {
                    let buffer = self.function.buffers.get(id.index());
                    buffer.is_some_and(|b| words.contains(b.name.as_str()))
                });
                self.changes.escapes.extend(named);
            }
            _ => {}
        }
        walk::stmt(self, stmt)
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        if written {
            self.changes.written.insert(access.view.buffer);
        }
        walk::access(self, access)
    }

    fn pointer(&mut self, view: &View) -> Flow {
        self.changes.escapes.insert(view.buffer);
        self.view(view)
    }
}

/// What a load finds, beside what its address says.
pub enum Content {
    /// One value for all who read one element.
    Common,
    /// Other blocks find something else.
    PerBlock,
    /// It may change between two threads' reads.
    Changing,
    Escapes,
    /// Each thread has its own.
    Own,
    Fragment,
}

/// What is in a buffer for those who read it.
///
/// Barriers have been inserted. Threads that read one element of shared memory between two barriers find one value if
/// nobody writes the buffer there.
pub fn content(function: &Function, changes: &Changes, id: BufferId) -> Content {
    let Some(buffer) = function.buffers.get(id.index()) else {
        return Content::Changing;
    };
    match buffer.storage {
        Storage::Local => Content::Own,
        Storage::Fragment => Content::Fragment,
        _ if changes.escapes.contains(&id) => Content::Escapes,
        Storage::Shared if changes.is_stable(id) => Content::PerBlock,
        Storage::Shared => Content::Changing,
        Storage::Mbarriers => Content::Changing,
        Storage::Param(_) | Storage::Host => match changes.is_constant(id) {
            true => Content::Common,
            false => Content::Changing,
        },
    }
}
