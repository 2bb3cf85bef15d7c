//! The effects of a kernel on memory that its threads share, as far as loads depend on them.

use crate::ir::{
    Access, BufferId, CppName, Flow, Function, Kernel, Stmt, StmtKind, Storage, View, Visitor, walk,
};
use crate::passes::analysis::barrier_intervals::separated;
use crate::passes::analysis::grid_intervals::{LoadId, load_id, stable_loads};
use crate::passes::analysis::uses::identifiers;
use crate::sorted::SortedSet;

/// Buffers that the launch modifies.
#[derive(Default)]
pub struct Changes {
    pub written: SortedSet<BufferId>,
    /// Buffers whose address is available to opaque code.
    pub escapes: SortedSet<BufferId>,
    /// Shared buffers that are only read, or only written, between two barriers of the block.
    separated: SortedSet<BufferId>,
    /// Loads of device memory whose element is not written in the same interval between barriers of
    /// the grid.
    stable_loads: SortedSet<LoadId>,
    /// Device memory whose elements C++ code may access.
    escaping: SortedSet<BufferId>,
}

impl Changes {
    /// No thread writes an element that another thread reads before the next barrier.
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
        changes.stable_loads = stable_loads(function, kernel, &written);
        changes
    }

    /// Device memory that neither a thread of the launch nor opaque code modifies.
    pub fn is_constant(&self, id: BufferId) -> bool {
        !self.escapes_launch(id) && !self.written.contains(&id)
    }

    /// Whether all threads of the grid that read one element of device memory here read the same
    /// value.
    pub fn is_common(&self, access: &Access) -> bool {
        let id = access.view.buffer;
        let stable_loads =
            || !self.escapes_launch(id) && self.stable_loads.contains(&load_id(access));
        self.is_constant(id) || stable_loads()
    }

    fn escapes_launch(&self, id: BufferId) -> bool {
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
            StmtKind::Cpp { text, names, .. } => {
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

/// The uniformity of loaded values, apart from that of the address.
pub enum Content {
    /// All threads that read one element read the same value.
    Common,
    /// Other blocks may read other values.
    PerBlock,
    /// It may change between the reads of two threads.
    Changing,
    Escapes,
    /// Each thread has its own.
    Own,
    Fragment,
}

/// The uniformity of the contents of a buffer.
///
/// Barriers have been inserted. Threads that read one element of shared memory between two barriers
/// read the same value if no thread writes the buffer there.
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
