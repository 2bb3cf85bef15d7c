//! Groups of files that depend on each other.

use std::collections::{BTreeMap, BTreeSet};

/// The groups in which every file reaches every other, those of one file left out.
pub fn groups(count: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().insert(to);
    }
    let reached: Vec<BTreeSet<usize>> = (0..count).map(|start| reach(&next, start)).collect();
    let mut groups = Vec::new();
    let mut grouped = BTreeSet::new();
    for start in 0..count {
        if grouped.contains(&start) {
            continue;
        }
        let mutual =
            |other: &usize| reached[start].contains(other) && reached[*other].contains(&start);
        let group: Vec<usize> = (0..count).filter(mutual).collect();
        if group.len() > 1 {
            grouped.extend(group.iter().copied());
            groups.push(group);
        }
    }
    groups
}

fn reach(next: &BTreeMap<usize, BTreeSet<usize>>, start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for to in next.get(&at).into_iter().flatten() {
            if reached.insert(*to) {
                open.push(*to);
            }
        }
    }
    reached
}
