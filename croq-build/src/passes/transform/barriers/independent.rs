//! Whether the iterations of a loop nest are independent: no iteration accesses an element that
//! another one writes, and none stores to a byte of packed elements that another one stores to.

use std::rc::Rc;

use super::access::{Entry, MemAccess};
use super::collect::{Collector, Context};
use super::injectivity::forced;
use super::shared_bytes::of_byte;
use super::vars::Vars;
use crate::ir::{Function, Level, Stmt};
use crate::sorted::SortedSet;
use crate::symbolic::Var;

/// `iteration`: the body of the loops over `nest`. Two iterations may only access the same element
/// if neither writes it. `kernel`: the enclosing body.
pub fn independent(
    function: &mut Function,
    kernel: &[Stmt],
    nest: &[Var],
    iteration: &[Stmt],
) -> bool {
    // Analysed as if each iteration were executed by a thread of its own.
    let mut vars = Vars::of_block(function, kernel);
    vars.distinguish(nest);
    vars.block(function, iteration, Level::Thread);
    let context = Context {
        chain: Rc::new(vec![Entry {
            instance: 0,
            level: Level::Thread,
            digits: nest.iter().copied().collect(),
        }]),
        ..Context::of_kernel()
    };
    let mut collector = Collector::new(function, vars, SortedSet::new(), SortedSet::new());
    let mut accesses = Vec::new();
    collector.block(iteration, &context, &mut accesses);
    let Collector { function, vars, .. } = &mut collector;
    let mut same_iteration = |a: &MemAccess, b: &MemAccess| {
        let elem = function.buffer(a.buffer).elem;
        let cx = &mut function.cx;
        let bytes = (elem.is_packed() && a.write && b.write)
            .then(|| [a, b].map(|access| of_byte(cx, access, elem)));
        let [a, b] = match &bytes {
            Some([a, b]) => [a, b],
            None => [a, b],
        };
        let (Some(x), Some(y)) = (&a.place, &b.place) else {
            return false;
        };
        // `None`: they never access the same element.
        forced(cx, vars, x, y, Level::Block).is_none_or(|forced| {
            let one_value = |v: Var| matches!(cx.bounds(v), (Some(lo), Some(hi)) if lo == hi);
            nest.iter()
                .all(|v| one_value(*v) || forced.contains(vars, *v))
        })
    };
    accesses.iter().enumerate().all(|(at, a)| {
        accesses.iter().skip(at).all(|b| {
            let harmless = !(a.write || b.write) || (a.atomic && b.atomic);
            a.buffer != b.buffer || harmless || same_iteration(a, b)
        })
    })
}
