//! The kernel IR: the meaning of a `.co` file, independent of the source's syntax and of CUDA.
//! `sema` produces it, `passes` rewrite it, `emit` prints it.
//!
//! Its design:
//!
//! * **Integers are symbolic.** Every extent, stride, offset, bound and index is a
//!   [`Sym`](crate::symbolic::Sym) over [`Var`](crate::symbolic::Var)s; [`Function::var_home`] maps
//!   each variable to its location at run time (a dimension, a parameter, a local). A value that
//!   the prover cannot express is first bound to a local by a [`StmtKind::Let`], and the local's
//!   variable represents it.
//! * **There are no tile operators.** `chunkat`, `subspan`, `view.from`, `span_as`, array
//!   subscripts and futures have been folded into one [`View`].
//! * **Levels are explicit.** A kernel's body runs at block level: every thread of the block runs
//!   every statement. [`StmtKind::Parallel`] marks the part that runs at a finer level; its index
//!   variables are ordinary locals, computed by `Let`s at its start. [`StmtKind::SingleThread`]
//!   contains the statements that only one thread of the current unit may run.
//! * **Barriers are implicit**, apart from `sync.*`. `passes` inserts them.
//!
//! Asynchronous copies, events and tensor cores fit this model: a copy has an engine and a
//! completion token, an event is a buffer of mbarriers with wait and trigger statements, a
//! [`StmtKind::Region`] has its static thread set, and a fragment is a buffer distributed over a
//! unit.

mod atomic;
mod box_pieces;
mod buffer;
pub mod build;
mod check_code;
mod condition;
pub mod cpp_names;
pub mod cpp_text;
pub mod cpp_whole;
mod events;
mod expr;
mod facts;
pub mod fmt;
mod function;
mod ids;
mod integers;
mod intrinsic;
mod kernel;
mod layout_uses;
mod level;
mod math;
mod mma;
mod movement;
mod overlap;
mod params;
pub mod path_facts;
mod phase;
mod queries;
mod retain;
mod scalar;
mod stmt;
mod synchronisation;
mod thread_set;
pub mod threads;
mod tma;
pub mod verify;
mod view;

mod visit;
mod warpgroup;

pub use atomic::{Atomic, AtomicOp};
pub use box_pieces::{BOX_ALIGNMENT, BoxPiece, Indivisible, LONGEST_BOX, box_pieces};
pub use buffer::*;
pub use check_code::CheckCode;
pub use condition::Condition;
pub use events::*;
pub use expr::*;
pub use facts::{Facts, PoolParts};
pub use function::*;
pub use ids::*;
pub use integers::{as_sym, is_within};
pub use intrinsic::{Intrinsic, IntrinsicInfo};
pub use kernel::*;
pub use layout_uses::{LayoutUses, Multiplied};
pub use level::*;
pub use math::MathFn;
pub use mma::*;
pub use movement::*;
pub use overlap::{overlaps, store_overlaps};
pub use params::*;
pub use phase::{Never, Phase, Threads, Tiles};
pub use retain::retain_stmts;
pub use scalar::{Class, Scalar, ScalarInfo};
pub use stmt::*;
pub use synchronisation::*;
pub use thread_set::*;
pub use tma::*;
pub use view::*;

pub use queries::{
    Visit, any_expr, any_in, any_stmt, change_exprs, change_views, needs_sm_90, trips, walk_block,
    walk_exprs,
};
pub use visit::{Flow, ON, Visitor, VisitorMut, walk, walk_mut};
pub use warpgroup::{Described, Instruction, Operand, Source, Step, Tile, WarpgroupMma};
