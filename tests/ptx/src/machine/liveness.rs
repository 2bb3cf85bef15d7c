//! Registers that a function may read before it writes them: those that are live at its start.

use super::flow::Next;
use super::operands::Operands;
use super::registers::{Assignment, Slot};

/// A set of registers by their numbers.
type Set = Vec<u64>;

/// An instruction, for the analysis.
pub struct Node<'a> {
    pub next: Next,
    pub operands: &'a Operands,
    /// Some lanes may not execute it.
    pub is_guarded: bool,
}

pub fn live_at_start(code: &[Node<'_>], assignment: &Assignment) -> Vec<Slot> {
    let words = assignment.count().div_ceil(64);
    let mut live: Vec<Set> = vec![vec![0; words]; code.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, node) in code.iter().enumerate().rev() {
            let mut set = vec![0; words];
            let mut join = |to: usize| {
                if let Some(next) = live.get(to) {
                    set.iter_mut()
                        .zip(next)
                        .for_each(|(bits, other)| *bits |= other);
                }
            };
            match &node.next {
                Next::Falls => join(at + 1),
                Next::Branches { targets, falls } => {
                    targets.iter().for_each(|to| join(*to));
                    falls.then(|| join(at + 1));
                }
                Next::Returns { falls } => {
                    falls.then(|| join(at + 1));
                }
                Next::Ends => {}
            }
            if !node.is_guarded {
                for slot in &node.operands.written {
                    let number = assignment.number(*slot);
                    set[number / 64] &= !(1 << (number % 64));
                }
            }
            for slot in &node.operands.read {
                let number = assignment.number(*slot);
                set[number / 64] |= 1 << (number % 64);
            }
            if set != live[at] {
                live[at] = set;
                changed = true;
            }
        }
    }
    let is_live = |slot: &Slot| {
        let number = assignment.number(*slot);
        live[0][number / 64] >> (number % 64) & 1 == 1
    };
    assignment.slots().filter(is_live).collect()
}

#[cfg(test)]
mod tests {
    use super::super::flow::Next;
    use super::super::operands::Operands;
    use super::super::registers::{Assignment, Bank, Slot};
    use super::{Node, live_at_start};
    use crate::parse::Type;

    fn slot(index: usize) -> Slot {
        Slot {
            bank: Bank::B32,
            index,
        }
    }

    /// 0: a = b; 1: if → 4; 2: c = …; 3: → 5; 4: (p) d = …; 5: … = a, c, d; return
    #[test]
    fn registers_that_some_path_does_not_write() {
        let names = ["a", "b", "c", "d"].map(|name| (name.to_owned(), Type::B32));
        let assignment = Assignment::new(&names);
        let operands = |written: &[usize], read: &[usize]| Operands {
            written: written.iter().map(|at| slot(*at)).collect(),
            read: read.iter().map(|at| slot(*at)).collect(),
            takes_apart: false,
        };
        let branch = |to: usize, falls| Next::Branches {
            targets: vec![to],
            falls,
        };
        let lists = [
            (operands(&[0], &[1]), Next::Falls, false),
            (operands(&[], &[]), branch(4, true), true),
            (operands(&[2], &[]), Next::Falls, false),
            (operands(&[], &[]), branch(5, false), false),
            (operands(&[3], &[]), Next::Falls, true),
            (
                operands(&[], &[0, 2, 3]),
                Next::Returns { falls: false },
                false,
            ),
        ];
        let live = |count: usize| {
            let nodes: Vec<Node<'_>> = lists[..count]
                .iter()
                .map(|(operands, next, is_guarded)| Node {
                    next: next.clone(),
                    operands,
                    is_guarded: *is_guarded,
                })
                .collect();
            live_at_start(&nodes, &assignment)
        };
        assert_eq!(live(6), [slot(1), slot(2), slot(3)]);
        assert_eq!(live(1), [slot(1)]);
    }
}
