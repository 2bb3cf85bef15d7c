//! Names for the IR in the phase [`Threads`], which `emit` prints.

use super::Threads;

pub type Function = super::Function<Threads>;
pub type Kernel = super::Kernel<Threads>;
pub type Stmt = super::Stmt<Threads>;
pub type StmtKind = super::StmtKind<Threads>;
pub type MmaOp = super::MmaOp<Threads>;
