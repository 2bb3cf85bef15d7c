//! The IR as `emit` prints it.

use super::Threads;

pub type Function = super::Function<Threads>;
pub type Kernel = super::Kernel<Threads>;
pub type Stmt = super::Stmt<Threads>;
pub type StmtKind = super::StmtKind<Threads>;
pub type MmaOp = super::MmaOp<Threads>;
