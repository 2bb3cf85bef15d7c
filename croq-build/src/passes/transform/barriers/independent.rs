//! Whether the turns of a loop nest can be anybody's: each touches elements of its own.

use std::collections::BTreeSet;

use super::access::{Entry, Executor, MemAccess};
use super::collect::{Collector, Context};
use super::injectivity::forced;
use super::vars::Vars;
use crate::ir::{Function, Level, Stmt};
use crate::symbolic::Var;

/// `turn` is what a turn of the loops over `nest` does. Two turns may only meet at an element that
/// neither writes. `kernel` is the body around.
pub fn independent(function: &mut Function, kernel: &[Stmt], nest: &[Var], turn: &[Stmt]) -> bool {
    // As if every turn were a thread's.
    let mut vars = Vars::of_block(function, kernel);
    vars.tell_apart(nest);
    vars.block(function, turn, Level::Thread);
    let context = Context {
        chain: vec![Entry {
            instance: 0,
            level: Level::Thread,
            digits: nest.iter().copied().collect(),
        }],
        who: Executor::Each,
        set: None,
        team: None,
    };
    let mut collector = Collector::new(function, vars, BTreeSet::new(), BTreeSet::new());
    let mut touches = Vec::new();
    collector.block(turn, &context, &mut touches);
    let Collector { function, vars, .. } = &mut collector;
    let mut same_turn = |a: &MemAccess, b: &MemAccess| {
        let (Some(x), Some(y)) = (&a.place, &b.place) else {
            return false;
        };
        let cx = &mut function.cx;
        // `None`: they never meet at all.
        forced(cx, vars, x, y, Level::Block).is_none_or(|forced| {
            let one_value = |v: Var| matches!(cx.bounds(v), (Some(lo), Some(hi)) if lo == hi);
            nest.iter()
                .all(|v| one_value(*v) || forced.contains(cx, vars, *v))
        })
    };
    touches.iter().enumerate().all(|(at, a)| {
        touches.iter().skip(at).all(|b| {
            let harmless = !(a.write || b.write) || (a.atomic && b.atomic);
            a.buffer != b.buffer || harmless || same_turn(a, b)
        })
    })
}
