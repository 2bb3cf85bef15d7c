//! The loops of machine code: an instruction's loop is the smallest set of instructions around it that is
//! entered at its first one alone, and leads back to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sass::Code;

/// Natural loops, by their first instructions: those of several branches back to one are one loop.
pub struct Loops {
    bodies: BTreeMap<usize, BTreeSet<usize>>,
}

impl Loops {
    /// Of the code in which each wait succeeds at the first try: what a wait does otherwise, trying again
    /// until a time-out, is no part of a loop, and no loop.
    pub fn of(code: &Code) -> Loops {
        let count = code.instructions.len();
        let next: Vec<Vec<usize>> = (0..count).map(|at| succeeding(code, at)).collect();
        let order = order(&next);
        let mut before = vec![Vec::new(); count];
        for from in &order {
            for to in &next[*from] {
                before[*to].push(*from);
            }
        }
        let dominators = Dominators::of(&order, &before);
        let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for from in &order {
            for first in next[*from].iter().filter(|to| dominators.has(*from, **to)) {
                let body = bodies.entry(*first).or_insert_with(|| [*first].into());
                let mut open = vec![*from];
                while let Some(at) = open.pop() {
                    if body.insert(at) {
                        open.extend(&before[at]);
                    }
                }
            }
        }
        Loops { bodies }
    }

    /// The smallest loop with the instruction at this place.
    pub fn innermost(&self, place: usize) -> Option<&BTreeSet<usize>> {
        let around = self.bodies.values().filter(|body| body.contains(&place));
        around.min_by_key(|body| body.len())
    }
}

/// The instructions that may be executed after this one, if it is not the branch of a wait that failed.
fn succeeding(code: &Code, at: usize) -> Vec<usize> {
    let all = &code.instructions;
    let next: Vec<usize> = code.next(at).collect();
    let branch = &all[at];
    let (Some(guard), [target, below]) = (&branch.guard, next.as_slice()) else {
        return next;
    };
    let predicate = guard.trim_start_matches('!');
    let sets = |place: &usize| {
        // Many set two predicates.
        let mut results = all[*place].operands.split(',').take(2);
        results.any(|operand| operand.trim() == predicate)
    };
    let is_branch = |place: &usize| all[*place].name.starts_with("BRA");
    let of_block = (0..at).rev().take_while(|place| !is_branch(place));
    let tries = of_block.into_iter().find(sets);
    let tries = tries.is_some_and(|place| all[place].name.contains("TRYWAIT"));
    match (
        branch.name.starts_with("BRA") && tries,
        guard.starts_with('!'),
    ) {
        (false, _) => next,
        (true, true) => vec![*below],
        (true, false) => vec![*target],
    }
}

/// The instructions that can be reached, each before those that it leads to, besides branches back.
fn order(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = BTreeSet::from([0]);
    let mut open = vec![(0, 0)];
    let mut finished = Vec::new();
    while let Some((at, edge)) = open.pop() {
        match next.get(at).and_then(|to| to.get(edge)) {
            Some(to) => {
                open.push((at, edge + 1));
                if seen.insert(*to) {
                    open.push((*to, 0));
                }
            }
            None => finished.push(at),
        }
    }
    finished.reverse();
    finished
}

/// For each instruction the last one through which every path to it leads.
struct Dominators {
    immediate: BTreeMap<usize, usize>,
}

impl Dominators {
    fn of(order: &[usize], before: &[Vec<usize>]) -> Dominators {
        let number: BTreeMap<usize, usize> =
            order.iter().enumerate().map(|(n, at)| (*at, n)).collect();
        let mut immediate = BTreeMap::from([(0, 0)]);
        loop {
            let mut changed = false;
            for at in &order[1..] {
                let known = before[*at].iter().filter(|b| immediate.contains_key(b));
                let common = known.copied().reduce(|mut a, mut b| {
                    while a != b {
                        if number[&a] > number[&b] {
                            a = immediate[&a];
                        } else {
                            b = immediate[&b];
                        }
                    }
                    a
                });
                if let Some(common) = common {
                    changed |= immediate.insert(*at, common) != Some(common);
                }
            }
            if !changed {
                return Dominators { immediate };
            }
        }
    }

    /// Whether every path to `at` leads through `through`.
    fn has(&self, mut at: usize, through: usize) -> bool {
        while at != through && at != 0 {
            at = self.immediate[&at];
        }
        at == through
    }
}

#[cfg(test)]
mod tests {
    use crate::sass::Code;

    /// A wait's second try is below the loop, and leads back into it: from there to its branch are fewer
    /// instructions than the loop has.
    #[test]
    fn a_waits_second_try_is_no_loop() {
        let code = Code::of_lines(&[
            "MOV R1, RZ",
            "SHF.R.U32.HI R24, RZ, UR14, R136",
            "LOP3.LUT R24, R24, 0x1, RZ, 0xc0, !PT",
            "SHF.L.U32 R24, R24, 0x1f, RZ",
            "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R24",
            "@!P1 BRA 0xb0",
            "UTMALDG.2D [UR8], [UR4]",
            "IADD3 R1, R1, 0x1, RZ",
            "ISETP.GE.AND P0, PT, R1, R2, PT",
            "@!P0 BRA 0x10",
            "EXIT",
            "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R24",
            "@P1 BRA 0x60",
            "BRA 0xb0",
        ]);
        assert_eq!(code.loop_with("UTMALDG"), 9);
        assert!(code.loop_has("UTMALDG", "LOP3"));
        assert!(!code.loop_has("UTMALDG", "EXIT"));
    }

    #[test]
    fn the_innermost_loop_counts_and_what_a_branch_skips_is_in_it() {
        let code = Code::of_lines(&[
            "MOV R1, RZ",
            "MOV R3, RZ",
            "QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR16], R24",
            "@P2 BRA 0x50",
            "SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [R2], RZ",
            "@P0 BRA 0x20",
            "STG.E [R4.64], R5",
            "@P1 BRA 0x10",
            "EXIT",
        ]);
        assert_eq!(code.loop_with("QGMMA"), 4);
        assert!(code.loop_has("QGMMA", "SYNCS.ARRIVE"));
        assert!(!code.loop_has("QGMMA", "STG"));
        assert_eq!(code.loop_with("STG"), 7);
    }
}
