//! Accesses as they are remembered, and when two of them conflict.

use super::view::{Agent, Time};
use crate::machine::registers::Mask;

/// The threads among which an operation orders memory. The machine has one device, so `.sys` is the
/// same as `.gpu`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    Block,
    Cluster,
    Device,
}

impl Scope {
    pub const ALL: [Scope; 3] = [Scope::Block, Scope::Cluster, Scope::Device];
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    Read,
    /// By `ld.global.nc`, for which nothing orders an earlier write of the same launch.
    ReadOnly,
    /// A store of the bytes that are already there, which is no race with another access. It is one
    /// with a later write of other bytes.
    Same,
    Write,
    /// Of an mbarrier object, whose other operations are strong.
    Initialise,
}

/// Memory consistency model, "Operation types" and "Proxies".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kind {
    pub effect: Effect,
    /// The scope of a strong operation; weak without one.
    pub strong: Option<Scope>,
    /// Of a strong operation, or of an element of a vector, which is an operation of its own.
    pub bytes: u8,
    /// Through the async proxy.
    pub is_async: bool,
}

impl Kind {
    pub fn weak(effect: Effect) -> Kind {
        Kind {
            effect,
            strong: None,
            bytes: 0,
            is_async: false,
        }
    }

    pub fn writes(self) -> bool {
        matches!(self.effect, Effect::Write | Effect::Initialise)
    }

    /// Whether it conflicts with everything with which `other` does.
    pub fn covers(self, other: Kind) -> bool {
        let strength = match (self.strong, other.strong) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(narrow)) => own <= narrow && self.bytes == other.bytes,
        };
        strength && (self.writes() || !other.writes())
    }
}

/// The lanes of a warp that execute an access at the same time, or an asynchronous operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    pub agent: Agent,
    pub time: Time,
    /// The instruction.
    pub site: u32,
    pub mask: Mask,
    pub kind: Kind,
}

/// Where a thread is, for scopes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Domain {
    pub block: u32,
    pub cluster: u32,
}

impl Domain {
    /// The narrowest scope that both are in.
    pub fn common(self, other: Domain) -> Scope {
        if self.block == other.block {
            Scope::Block
        } else if self.cluster == other.cluster {
            Scope::Cluster
        } else {
            Scope::Device
        }
    }
}

/// Whether the later access must be ordered after the earlier one to the same bytes. Strong
/// operations whose scopes include each other's threads, that use the same proxy and overlap
/// completely, are no data race ("Morally strong operations").
pub fn conflict(earlier: Kind, later: Kind, same_bytes: bool, common: Scope) -> bool {
    if !(later.writes() || earlier.writes() && later.effect != Effect::Same) {
        return false;
    }
    match (earlier.strong, later.strong) {
        (Some(a), Some(b)) if earlier.is_async == later.is_async => {
            !same_bytes || earlier.bytes != later.bytes || a.min(b) < common
        }
        _ => true,
    }
}
