//! Static sets of threads.

/// Linear thread ids of one block, as sorted disjoint half-open ranges.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ThreadSet {
    pub ranges: Vec<(u32, u32)>,
}

impl ThreadSet {
    /// The threads of a block with so many threads.
    pub fn first(threads: u32) -> Self {
        Self {
            ranges: vec![(0, threads)],
        }
    }

    pub fn contains(&self, tid: u32) -> bool {
        self.ranges.iter().any(|(a, b)| (*a..*b).contains(&tid))
    }

    pub fn lowest(&self) -> Option<u32> {
        self.ranges.first().map(|r| r.0)
    }

    pub fn threads(&self) -> impl Iterator<Item = u32> {
        self.ranges.iter().flat_map(|(a, b)| *a..*b)
    }

    pub fn intersect(&self, other: &ThreadSet) -> ThreadSet {
        let mut set = ThreadSet::default();
        for tid in self.threads().filter(|tid| other.contains(*tid)) {
            set.push(tid);
        }
        set
    }

    pub fn union(&self, other: &ThreadSet) -> ThreadSet {
        let mut all: Vec<(u32, u32)> = self.ranges.iter().chain(&other.ranges).copied().collect();
        // Two ascending runs, which a stable sort only merges.
        all.sort();
        let mut set = ThreadSet::default();
        for (lo, hi) in all {
            match set.ranges.last_mut() {
                Some((_, end)) if lo <= *end => *end = hi.max(*end),
                _ => set.ranges.push((lo, hi)),
            }
        }
        set
    }

    /// Whether it contains all threads of `other`.
    pub fn includes(&self, other: &ThreadSet) -> bool {
        let mut own = self.ranges.iter().peekable();
        other.ranges.iter().all(|(lo, hi)| {
            let mut reached = *lo;
            while reached < *hi {
                match own.peek() {
                    Some((_, b)) if *b <= reached => drop(own.next()),
                    Some((a, b)) if *a <= reached => reached = *b,
                    _ => return false,
                }
            }
            true
        })
    }

    /// Adds a thread that is greater than all in the set.
    pub fn push(&mut self, tid: u32) {
        match self.ranges.last_mut() {
            Some((_, end)) if *end == tid => *end += 1,
            _ => self.ranges.push((tid, tid + 1)),
        }
    }

    pub fn meets(&self, other: &ThreadSet) -> bool {
        let mut others = other.ranges.iter().peekable();
        self.ranges.iter().any(|(lo, hi)| {
            while others.next_if(|(_, h)| h <= lo).is_some() {}
            others.peek().is_some_and(|(l, _)| l < hi)
        })
    }

    /// Whether all threads are in one aligned unit of so many threads.
    pub fn is_in_one(&self, unit: u32) -> bool {
        match (self.ranges.first(), self.ranges.last()) {
            (Some((lo, _)), Some((_, hi))) => lo / unit == (hi - 1) / unit,
            _ => true,
        }
    }

    /// Whether the set consists of whole aligned units of so many threads.
    pub fn is_whole(&self, unit: u32) -> bool {
        self.ranges
            .iter()
            .all(|(lo, hi)| lo % unit == 0 && hi % unit == 0)
    }
    pub fn len(&self) -> u32 {
        self.ranges.iter().map(|(a, b)| b - a).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<ThreadSet> {
        let sets = (0u32..64).map(|bits| {
            let mut set = ThreadSet::default();
            (0..6)
                .filter(|tid| bits >> tid & 1 != 0)
                .for_each(|tid| set.push(tid));
            set
        });
        sets.collect()
    }

    #[test]
    fn unions_and_inclusions_are_those_of_the_threads() {
        for a in all() {
            for b in all() {
                let either = (0..6).filter(|tid| a.contains(*tid) || b.contains(*tid));
                assert!(a.union(&b).threads().eq(either), "{a:?} {b:?}");
                let inside = b.threads().all(|tid| a.contains(tid));
                assert_eq!(a.includes(&b), inside, "{a:?} {b:?}");
                let common = b.threads().any(|tid| a.contains(tid));
                assert_eq!(a.meets(&b), common, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn ranges_may_adjoin() {
        let two = ThreadSet {
            ranges: vec![(0, 2), (2, 4)],
        };
        let one = ThreadSet::first(4);
        assert!(two.includes(&one) && one.includes(&two));
    }
}
