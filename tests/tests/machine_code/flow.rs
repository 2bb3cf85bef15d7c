//! The paths through machine code, and the threads that take them.

use std::collections::BTreeSet;

use croq_compare::sass::{Code, Instruction};

/// What a test says of the paths of a kernel.
pub trait Elected {
    /// # Panics
    ///
    /// If some path reaches an instruction called `name` without a branch on the result of `ELECT`.
    fn assert_elected(&self, kernel: &str, name: &str);
}

impl Elected for Code {
    fn assert_elected(&self, kernel: &str, name: &str) {
        let flow = Flow::of(self);
        let places = 0..self.instructions.len();
        let found: Vec<usize> = places
            .filter(|p| self.instructions[*p].name.starts_with(name))
            .collect();
        assert!(!found.is_empty(), "{kernel} has no {name}");
        for place in found {
            let at = self.instructions[place].at;
            assert!(
                flow.is_elected(place),
                "{kernel}: {name} at {at:x} is not one thread's"
            );
        }
    }
}

/// Instructions by their addresses in the code, with their successors and predecessors.
struct Flow<'a> {
    instructions: &'a [Instruction],
    next: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

impl Flow<'_> {
    fn of(code: &Code) -> Flow<'_> {
        let all = &code.instructions;
        let mut next = vec![Vec::new(); all.len()];
        let mut before = vec![Vec::new(); all.len()];
        for (place, i) in all.iter().enumerate() {
            let target = i.target.and_then(|at| all.iter().position(|t| t.at == at));
            let leaves = i.name == "EXIT" || i.name == "BRA" || i.name.starts_with("BPT");
            let goes_on = (i.guard.is_some() || !leaves) && place + 1 < all.len();
            for to in target.into_iter().chain(goes_on.then_some(place + 1)) {
                next[place].push(to);
                before[to].push(place);
            }
        }
        Flow {
            instructions: all,
            next,
            before,
        }
    }

    /// Whether at most one lane of the warp reaches this: a branch that all lanes reach leads to
    /// it, on the side that only the elected lane takes.
    fn is_elected(&self, place: usize) -> bool {
        (0..self.instructions.len()).any(|branch| {
            let i = &self.instructions[branch];
            let Some(guard) = i.guard.as_deref() else {
                return false;
            };
            if !(i.name.starts_with("BRA") || i.name == "EXIT") {
                return false;
            }
            // Without continuing here, or without jumping.
            let sides = [Some(branch + 1), i.target.and_then(|at| self.place_of(at))];
            [false, true].into_iter().zip(sides).any(|(jumps, side)| {
                let (name, value) = plain(guard);
                side.is_some_and(|side| !self.leads(place, (branch, side)))
                    && self.says_elected(branch, name, value == jumps, &mut BTreeSet::new())
            })
        })
    }

    fn place_of(&self, at: u64) -> Option<usize> {
        self.instructions.iter().position(|i| i.at == at)
    }

    /// Whether some path from the beginning leads here except through one step.
    fn leads(&self, to: usize, without: (usize, usize)) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![0];
        while let Some(place) = open.pop() {
            if place == to {
                return true;
            }
            if seen.insert(place) {
                let steps = self.next[place].iter().copied();
                open.extend(steps.filter(|next| without != (place, *next)));
            }
        }
        false
    }

    /// Whether a lane for which `predicate` has this value is the elected one, for all definitions
    /// of the value.
    fn says_elected(
        &self,
        place: usize,
        predicate: &str,
        value: bool,
        asked: &mut BTreeSet<(usize, String)>,
    ) -> bool {
        if !asked.insert((place, predicate.to_owned())) {
            return true;
        }
        let set = self.last_set(place, predicate);
        !set.is_empty()
            && set.into_iter().all(|at| {
                let i = &self.instructions[at];
                if i.name == "ELECT" {
                    return value;
                }
                forced(i, value)
                    .into_iter()
                    .any(|(name, value)| self.says_elected(at, name, value, asked))
            })
    }

    /// The definitions of `predicate` that reach `place`.
    fn last_set(&self, place: usize, predicate: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = self.before[place].clone();
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let i = &self.instructions[at];
            // Many set two predicates; a vote reads its second.
            let results = if i.name.starts_with("VOTE") { 1 } else { 2 };
            let set = operands(i).iter().take(results).any(|o| *o == predicate);
            if set {
                found.push(at);
            }
            if !set || i.guard.is_some() {
                open.extend(&self.before[at]);
            }
        }
        found
    }
}

fn operands(i: &Instruction) -> Vec<&str> {
    i.operands.split(',').map(str::trim).collect()
}

/// `!P0` is `P0`, false.
fn plain(guard: &str) -> (&str, bool) {
    match guard.strip_prefix('!') {
        Some(name) => (name, false),
        None => (guard, true),
    }
}

/// The predicates that must have had a certain value for this result, with that value.
fn forced(i: &Instruction, result: bool) -> Vec<(&str, bool)> {
    let all = operands(i);
    if i.name.starts_with("ISETP") || i.name.starts_with("UISETP") {
        // A comparison, combined with the last operand by and or or.
        let decides = match i.name.contains(".OR") {
            true => !result,
            false => result,
        };
        let last = all.last().map(|o| plain(o));
        let last = last.filter(|_| decides);
        return last
            .map(|(name, sign)| (name, sign == result))
            .into_iter()
            .collect();
    }
    if i.name != "PLOP3.LUT" || all.len() < 6 {
        return Vec::new();
    }
    let inputs = [plain(all[2]), plain(all[3]), plain(all[4])];
    let Some(table) = all[5].strip_prefix("0x") else {
        return Vec::new();
    };
    let table = u32::from_str_radix(table, 16).unwrap_or(0);
    // Rows of the table that give the result; `PT` is true.
    let rows: Vec<[bool; 3]> = (0..8)
        .map(|row: u32| (row, [row & 4 != 0, row & 2 != 0, row & 1 != 0]))
        .filter(|(row, _)| (table >> row & 1 != 0) == result)
        .map(|(_, row)| row)
        .filter(|row| {
            let mut each = row.iter().zip(inputs);
            each.all(|(value, (name, sign))| !name.ends_with("PT") || *value == sign)
        })
        .collect();
    let mut forced = Vec::new();
    for (at, (name, sign)) in inputs.into_iter().enumerate() {
        for value in [true, false] {
            if !name.ends_with("PT") && rows.iter().all(|row| row[at] == value) {
                forced.push((name, value == sign));
            }
        }
    }
    forced
}

#[cfg(test)]
mod tests {
    use croq_compare::sass::Code;

    use super::Elected as _;

    #[test]
    fn a_branch_on_elect_lets_one_lane_pass() {
        let direct = [
            "ELECT P0, URZ, PT",
            "@!P0 EXIT",
            "UTMALDG.2D [UR8], [UR4]",
            "EXIT",
        ];
        Code::of_lines(&direct).assert_elected("direct", "UTMALDG");
        // The warp's number is compared as well, and the loop returns after the branch.
        let within = [
            "ELECT P0, URZ, PT",
            "ISETP.NE.OR P1, PT, R3, RZ, !P0",
            "@P1 BRA 0x50",
            "UTMALDG.2D [UR8], [UR4]",
            "@P2 BRA 0x30",
            "EXIT",
        ];
        Code::of_lines(&within).assert_elected("within", "UTMALDG");
        // The cases that the table excludes: `P0` false, or `UP0` true.
        let by_table = [
            "ELECT P0, URZ, PT",
            "PLOP3.LUT P0, PT, P0, PT, UP0, 0xae, 0x0",
            "@P0 EXIT",
            "UTMASTG.2D [UR8], [UR4]",
            "EXIT",
        ];
        Code::of_lines(&by_table).assert_elected("by table", "UTMASTG");
    }

    #[test]
    #[should_panic(expected = "is not one thread's")]
    fn all_but_the_elected_are_not_one_thread() {
        let lines = [
            "ELECT P0, URZ, PT",
            "@P0 EXIT",
            "UTMALDG.2D [UR8], [UR4]",
            "EXIT",
        ];
        Code::of_lines(&lines).assert_elected("others", "UTMALDG");
    }

    #[test]
    #[should_panic(expected = "is not one thread's")]
    fn a_branch_on_something_else_does_not() {
        let lines = [
            "ELECT P0, URZ, PT",
            "ISETP.NE.AND P0, PT, R17, RZ, PT",
            "@P0 EXIT",
            "UTMALDG.2D [UR8], [UR4]",
            "EXIT",
        ];
        Code::of_lines(&lines).assert_elected("by number", "UTMALDG");
    }

    #[test]
    #[should_panic(expected = "is not one thread's")]
    fn there_is_no_way_around_the_branch() {
        let lines = [
            "ELECT P0, URZ, PT",
            "@P1 BRA 0x30",
            "@!P0 EXIT",
            "UTMALDG.2D [UR8], [UR4]",
            "EXIT",
        ];
        Code::of_lines(&lines).assert_elected("around", "UTMALDG");
    }
}
