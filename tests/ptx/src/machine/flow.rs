//! Where diverged lanes meet again: the immediate post-dominators of branches.

/// What follows an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// The one after it.
    Falls,
    /// These, and the one after it if some lanes may not branch.
    Branches { targets: Vec<usize>, falls: bool },
    /// The end of the function, and the one after it if some lanes may go on.
    Returns { falls: bool },
    /// Nothing: lanes exit or trap; others do not wait for them.
    Ends,
}

/// For each instruction: where its lanes meet again if they diverge there. `None` is the end of the
/// function.
///
/// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph of basic
/// blocks.
pub fn meeting_points(code: &[Next]) -> Vec<Option<usize>> {
    let graph = Graph::new(code);
    let dominators = graph.post_dominators();
    let mut points = vec![None; code.len()];
    for (block, start) in graph.starts.iter().enumerate() {
        let end = graph.starts.get(block + 1).copied().unwrap_or(code.len());
        let meeting = dominators[block].and_then(|index| graph.starts.get(index).copied());
        // Only the last instruction of a block branches.
        if end > *start {
            points[end - 1] = meeting;
        }
    }
    points
}

struct Graph {
    /// The first instruction of each block.
    starts: Vec<usize>,
    /// Blocks; their number stands for the end of the function.
    successors: Vec<Vec<usize>>,
}

impl Graph {
    fn new(code: &[Next]) -> Graph {
        let mut leads = vec![false; code.len() + 1];
        leads[0] = true;
        for (at, next) in code.iter().enumerate() {
            if *next != Next::Falls {
                leads[at + 1] = true;
            }
            if let Next::Branches { targets, .. } = next {
                targets
                    .iter()
                    .filter(|to| **to < code.len())
                    .for_each(|to| leads[*to] = true);
            }
        }
        let starts: Vec<usize> = (0..code.len()).filter(|at| leads[*at]).collect();
        let end = starts.len();
        let block_of = |at: usize| match at < code.len() {
            true => starts.partition_point(|start| *start <= at) - 1,
            false => end,
        };
        let successors = (0..end).map(|block| {
            let last = starts.get(block + 1).copied().unwrap_or(code.len()) - 1;
            let after = |falls: bool| falls.then(|| block_of(last + 1));
            match &code[last] {
                Next::Falls => vec![block_of(last + 1)],
                Next::Branches { targets, falls } => targets
                    .iter()
                    .map(|to| block_of(*to))
                    .chain(after(*falls))
                    .collect(),
                Next::Returns { falls } => after(*falls).into_iter().chain([end]).collect(),
                Next::Ends => Vec::new(),
            }
        });
        Graph {
            successors: successors.collect(),
            starts,
        }
    }

    /// For each block its immediate post-dominator; `None` where the end is not reached.
    fn post_dominators(&self) -> Vec<Option<usize>> {
        let end = self.starts.len();
        let order = self.order_from_end();
        let mut rank = vec![usize::MAX; end + 1];
        order
            .iter()
            .enumerate()
            .for_each(|(index, block)| rank[*block] = index);
        let mut found: Vec<Option<usize>> = vec![None; end + 1];
        found[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().copied().filter(|block| *block != end) {
                let known = self.successors[block]
                    .iter()
                    .filter(|to| found[**to].is_some());
                let common = known.copied().reduce(|a, b| intersect(&found, &rank, a, b));
                if common.is_some() && found[block] != common {
                    found[block] = common;
                    changed = true;
                }
            }
        }
        found.truncate(end);
        found
    }

    /// Blocks from which the end is reached, in reverse postorder of the reversed graph.
    fn order_from_end(&self) -> Vec<usize> {
        let end = self.starts.len();
        let mut predecessors = vec![Vec::new(); end + 1];
        for (block, successors) in self.successors.iter().enumerate() {
            successors
                .iter()
                .for_each(|to| predecessors[*to].push(block));
        }
        let mut seen = vec![false; end + 1];
        seen[end] = true;
        let mut stack = vec![(end, 0)];
        let mut postorder = Vec::new();
        while let Some((block, next)) = stack.last_mut() {
            match predecessors[*block].get(*next) {
                Some(from) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*from], true) {
                        stack.push((*from, 0));
                    }
                }
                None => {
                    postorder.push(*block);
                    stack.pop();
                }
            }
        }
        postorder.reverse();
        postorder
    }
}

fn intersect(found: &[Option<usize>], rank: &[usize], a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while a != b {
        while rank[a] > rank[b] {
            a = found[a].unwrap_or(b);
        }
        while rank[b] > rank[a] {
            b = found[b].unwrap_or(a);
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::{Next, meeting_points};

    fn branch(to: usize) -> Next {
        Next::Branches {
            targets: vec![to],
            falls: true,
        }
    }

    fn jump(to: usize) -> Next {
        Next::Branches {
            targets: vec![to],
            falls: false,
        }
    }

    const RETURN: Next = Next::Returns { falls: false };

    #[test]
    fn both_arms_meet_after_the_conditional() {
        // 0: if → 3; 1: …; 2: → 4; 3: …; 4: return
        let code = [branch(3), Next::Falls, jump(4), Next::Falls, RETURN];
        assert_eq!(meeting_points(&code)[0], Some(4));
    }

    #[test]
    fn a_loop_ends_where_it_is_left() {
        let code = [Next::Falls, Next::Falls, branch(1), RETURN];
        assert_eq!(meeting_points(&code)[2], Some(3));
        let code = [branch(3), Next::Falls, jump(0), RETURN];
        assert_eq!(meeting_points(&code)[0], Some(3));
    }

    #[test]
    fn lanes_that_trap_are_not_awaited() {
        // 0: if failed → 3; 1: …; 2: return; 3: trap
        let code = [branch(3), Next::Falls, RETURN, Next::Ends];
        assert_eq!(meeting_points(&code)[0], Some(1));
    }

    #[test]
    fn early_returns_meet_at_the_end() {
        let code = [branch(3), Next::Falls, RETURN, RETURN];
        assert_eq!(meeting_points(&code)[0], None);
        let code = [Next::Returns { falls: true }, Next::Falls, RETURN];
        assert_eq!(meeting_points(&code)[0], None);
    }

    #[test]
    fn nested_conditionals_and_endless_loops() {
        // 0: → 6; 1: → 4; 2: …; 3: → 5; 4: …; 5: → 6 falls; 6: return
        let code = [
            branch(6),
            branch(4),
            Next::Falls,
            jump(5),
            Next::Falls,
            Next::Falls,
            RETURN,
        ];
        let points = meeting_points(&code);
        assert_eq!((points[0], points[1]), (Some(6), Some(5)));
        assert_eq!(meeting_points(&[branch(2), jump(1), RETURN])[0], Some(2));
        assert_eq!(meeting_points(&[jump(0)]), [None]);
    }
}
