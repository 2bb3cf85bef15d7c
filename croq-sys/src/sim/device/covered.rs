//! Sets of accesses that happen before others: for each block, all of its accesses before an epoch,
//! and in this epoch those of each thread up to a clock.
//!
//! A set is a tree over the numbers of the blocks. Sets share the parts that they have in common, so
//! that copying one takes no time, and the union of two only visits the parts in which they differ.

use std::sync::Arc;

/// The number of bits of a block's number that select a child.
const BITS: u32 = 4;
const CHILDREN: usize = 1 << BITS;

/// A block's accesses.
pub(super) struct Front {
    epoch: u32,
    /// Of each thread in the epoch, those up to a clock.
    clocks: Vec<u32>,
}

impl Front {
    /// The accesses of a thread up to its clock, and those of others that happen before these.
    pub(super) fn of(epoch: u32, thread: u32, clock: u32, others: Option<&[u32]>) -> Self {
        let mut clocks = others.unwrap_or_default().to_vec();
        let at = thread as usize;
        if clocks.len() <= at {
            clocks.resize(at + 1, 0);
        }
        if let Some(own) = clocks.get_mut(at) {
            *own = clock.max(*own);
        }
        Self { epoch, clocks }
    }

    fn clock(&self, thread: usize) -> u32 {
        self.clocks.get(thread).copied().unwrap_or(0)
    }

    fn covers(&self, epoch: u32, thread: u32, clock: u32) -> bool {
        match epoch == self.epoch {
            true => clock <= self.clock(thread as usize),
            false => epoch < self.epoch,
        }
    }

    fn includes(&self, other: &Front) -> bool {
        if self.epoch != other.epoch {
            return self.epoch > other.epoch;
        }
        let mut theirs = other.clocks.iter().enumerate();
        theirs.all(|(thread, &clock)| clock <= self.clock(thread))
    }

    /// The union with one of the same epoch.
    fn with(&self, other: &Front) -> Front {
        let threads = 0..self.clocks.len().max(other.clocks.len());
        Front {
            epoch: self.epoch,
            clocks: threads.map(|t| self.clock(t).max(other.clock(t))).collect(),
        }
    }
}

enum Node {
    Front(Front),
    Inner([Option<Arc<Node>>; CHILDREN]),
}

impl Node {
    fn above(at: usize, child: Arc<Node>) -> Arc<Node> {
        let mut children: [Option<Arc<Node>>; CHILDREN] = Default::default();
        if let Some(place) = children.get_mut(at) {
            *place = Some(child);
        }
        Arc::new(Node::Inner(children))
    }
}

/// The union of two nodes of one height: one of them, if it includes the other.
fn union(a: &Arc<Node>, b: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(a, b) {
        return Arc::clone(a);
    }
    match (&**a, &**b) {
        (Node::Front(x), Node::Front(y)) if x.includes(y) => Arc::clone(a),
        (Node::Front(x), Node::Front(y)) if y.includes(x) => Arc::clone(b),
        (Node::Front(x), Node::Front(y)) => Arc::new(Node::Front(x.with(y))),
        (Node::Inner(x), Node::Inner(y)) => {
            let both: [Option<Arc<Node>>; CHILDREN] =
                std::array::from_fn(|at| match (x.get(at), y.get(at)) {
                    (Some(Some(x)), Some(Some(y))) => Some(union(x, y)),
                    (Some(Some(one)), _) | (_, Some(Some(one))) => Some(Arc::clone(one)),
                    _ => None,
                });
            let is_all_of = |children: &[Option<Arc<Node>>; CHILDREN]| {
                let mut pairs = both.iter().zip(children);
                pairs.all(|(both, one)| match (both, one) {
                    (Some(both), Some(one)) => Arc::ptr_eq(both, one),
                    (both, _) => both.is_none(),
                })
            };
            match (is_all_of(x), is_all_of(y)) {
                (true, _) => Arc::clone(a),
                (_, true) => Arc::clone(b),
                _ => Arc::new(Node::Inner(both)),
            }
        }
        // Not of one height.
        _ => Arc::clone(a),
    }
}

#[derive(Clone, Default)]
pub(super) struct Covered {
    root: Option<Arc<Node>>,
    /// The number of digits of the blocks' numbers.
    height: u32,
}

fn digit(block: u64, height: u32) -> usize {
    block.checked_shr(BITS * height).unwrap_or(0) as usize % CHILDREN
}

impl Covered {
    pub(super) fn of(block: u64, front: Front) -> Self {
        let mut node = Arc::new(Node::Front(front));
        let mut height = 0;
        while block.checked_shr(BITS * height).unwrap_or(0) != 0 {
            node = Node::above(digit(block, height), node);
            height += 1;
        }
        Self {
            root: Some(node),
            height,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    pub(super) fn covers(&self, block: u64, epoch: u32, thread: u32, clock: u32) -> bool {
        if block.checked_shr(BITS * self.height).unwrap_or(0) != 0 {
            return false;
        }
        let mut node = self.root.as_deref();
        let mut height = self.height;
        while let Some(Node::Inner(children)) = node {
            height = height.saturating_sub(1);
            let child = children.get(digit(block, height));
            node = child.and_then(Option::as_deref);
        }
        matches!(node, Some(Node::Front(front)) if front.covers(epoch, thread, clock))
    }

    pub(super) fn add(&mut self, other: &Covered) {
        let Some(theirs) = &other.root else { return };
        let Some(own) = &self.root else {
            *self = other.clone();
            return;
        };
        let (mut own, mut theirs) = (Arc::clone(own), Arc::clone(theirs));
        for _ in self.height..other.height {
            own = Node::above(0, own);
        }
        for _ in other.height..self.height {
            theirs = Node::above(0, theirs);
        }
        self.height = self.height.max(other.height);
        self.root = Some(union(&own, &theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The accesses of some blocks: everything that could be in a set.
    fn accesses() -> impl Iterator<Item = (u64, u32, u32, u32)> {
        let blocks = [0, 1, 15, 16, 300, 70_000, u64::MAX];
        blocks.into_iter().flat_map(|block| {
            (1..4).flat_map(move |epoch| {
                (0..3)
                    .flat_map(move |thread| (1..4).map(move |clock| (block, epoch, thread, clock)))
            })
        })
    }

    fn points() -> Vec<Covered> {
        let of = |block, epoch, thread, clock, others: Option<&[u32]>| {
            Covered::of(block, Front::of(epoch, thread, clock, others))
        };
        vec![
            of(0, 2, 0, 1, None),
            of(0, 2, 1, 2, Some(&[2, 0, 1])),
            of(0, 3, 2, 1, None),
            of(1, 1, 1, 3, None),
            of(15, 2, 2, 2, Some(&[1, 1, 0])),
            of(16, 2, 0, 1, None),
            of(300, 3, 1, 1, None),
            of(70_000, 1, 0, 2, Some(&[0, 3, 3])),
            of(u64::MAX, 2, 1, 1, None),
        ]
    }

    #[test]
    fn a_point_covers_its_thread_and_what_that_has_acquired() {
        let point = Covered::of(7, Front::of(5, 1, 3, Some(&[2, 0, 0])));
        let covers = |epoch, thread, clock| point.covers(7, epoch, thread, clock);
        assert!(covers(5, 1, 3) && covers(5, 1, 1) && !covers(5, 1, 4));
        assert!(covers(5, 0, 2) && !covers(5, 0, 3));
        assert!(!covers(5, 2, 1) && !covers(5, 9, 1), "not acquired");
        assert!(
            covers(4, 9, 7) && !covers(6, 1, 1),
            "a barrier is in between"
        );
        assert!(!point.covers(8, 4, 1, 1) && !point.covers(7 + 16, 4, 1, 1));
    }

    #[test]
    fn a_union_covers_what_one_of_its_parts_covers() {
        let points = points();
        for parts in 0u32..1 << points.len() {
            let chosen = points.iter().enumerate();
            let chosen = chosen.filter(|(at, _)| parts >> at & 1 != 0);
            let chosen: Vec<&Covered> = chosen.map(|(_, point)| point).collect();
            let mut all = Covered::default();
            chosen.iter().for_each(|point| all.add(point));
            for (block, epoch, thread, clock) in accesses() {
                let by_one = |p: &&Covered| p.covers(block, epoch, thread, clock);
                let expected = chosen.iter().any(by_one);
                let found = all.covers(block, epoch, thread, clock);
                assert_eq!(found, expected, "{block} {epoch} {thread} {clock}");
            }
        }
    }

    #[test]
    fn a_union_with_a_part_shares_the_whole() {
        let mut points = points();
        let mut all = Covered::default();
        points.iter().for_each(|point| all.add(point));
        let before = all.clone();
        points.iter().for_each(|point| all.add(point));
        let mut part = points.swap_remove(3);
        part.add(&before);
        for now in [all, part] {
            let (Some(a), Some(b)) = (&now.root, &before.root) else {
                panic!("not empty");
            };
            assert!(Arc::ptr_eq(a, b));
        }
    }
}
