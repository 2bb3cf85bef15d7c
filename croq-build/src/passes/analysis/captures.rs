//! The arguments that a kernel takes at launch.

use crate::ir::threads::{Function, Kernel};
use crate::ir::{BufferId, DimId, LocalId, ParamId, Storage};
use crate::passes::analysis::uses::Uses;

/// The arguments of a kernel, in the order of its parameter list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Captures {
    /// Device memory: parameters and host-declared buffers.
    pub buffers: Vec<BufferId>,
    /// Scalar parameters.
    pub params: Vec<ParamId>,
    pub dims: Vec<DimId>,
    /// Scalars declared on the host.
    pub locals: Vec<LocalId>,
}

pub fn captures(function: &Function, kernel: &Kernel) -> Captures {
    let uses = kernel_uses(function, kernel);
    let global = |id: &BufferId| {
        function
            .buffers
            .get(id.index())
            .is_some_and(|b| b.storage.is_global())
    };
    Captures {
        buffers: uses.buffers.iter().copied().filter(global).collect(),
        params: uses.params.into_iter().collect(),
        dims: uses.dims.into_iter().collect(),
        locals: uses.locals.difference(&uses.declared).copied().collect(),
    }
}

/// The values that the body uses, plus those in the offsets and sizes of its shared buffers.
pub fn kernel_uses(function: &Function, kernel: &Kernel) -> Uses {
    let mut uses = Uses::of_block(function, &kernel.body);
    let shared: Vec<BufferId> = uses.buffers.iter().copied().collect();
    for id in shared {
        let Some(buffer) = function.buffers.get(id.index()) else {
            continue;
        };
        if matches!(buffer.storage, Storage::Shared | Storage::Mbarriers) {
            uses.sym(function, &buffer.count);
            if let Some(placed) = kernel.shared.iter().find(|placed| placed.buffer == id) {
                uses.sym(function, &placed.offset);
            }
        }
    }
    uses
}
