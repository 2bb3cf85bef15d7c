//! Against `BTreeMap` and `BTreeSet`.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{SortedMap, SortedSet};

fn pairs() -> impl Strategy<Value = Vec<(u8, u32)>> {
    prop::collection::vec((0..24_u8, any::<u32>()), 0..40)
}

fn keys() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..24_u8, 0..40)
}

proptest! {
    #[test]
    fn maps_are_as_trees(entries in pairs(), removed in keys()) {
        let (mut map, mut tree) = (SortedMap::new(), BTreeMap::new());
        for (key, value) in &entries {
            prop_assert_eq!(map.insert(*key, *value), tree.insert(*key, *value));
        }
        prop_assert_eq!(&map, &entries.iter().copied().collect());
        for key in removed {
            prop_assert_eq!(map.contains_key(&key), tree.contains_key(&key));
            prop_assert_eq!(map.get(&key), tree.get(&key));
            prop_assert_eq!(map.get_mut(&key), tree.get_mut(&key));
            prop_assert_eq!(map.remove(&key), tree.remove(&key));
            prop_assert_eq!(map.len(), tree.len());
            prop_assert_eq!(map.is_empty(), tree.is_empty());
        }
        prop_assert_eq!(format!("{map:#?}"), format!("{tree:#?}"));
        prop_assert!(map.keys().eq(tree.keys()) && map.values().eq(tree.values()));
        prop_assert!(map.iter_mut().eq(tree.iter_mut()));
        map.retain(|key, value| { *value /= 2; key % 3 != 0 });
        tree.retain(|key, value| { *value /= 2; key % 3 != 0 });
        prop_assert!(map.clone().into_iter().eq(tree.clone()));
        prop_assert!(map.clone().into_keys().eq(tree.clone().into_keys()));
        prop_assert!(map.into_values().eq(tree.into_values()));
    }

    #[test]
    fn entries_are_as_those_of_trees(entries in pairs()) {
        let (mut map, mut tree) = (SortedMap::new(), BTreeMap::new());
        for (key, value) in entries {
            let (mine, its) = (map.entry(key), tree.entry(key));
            let found = match value % 3 {
                0 => (mine.or_default(), its.or_default()),
                1 => (mine.or_insert(value), its.or_insert(value)),
                _ => (
                    mine.and_modify(|value: &mut u32| *value ^= 5).or_insert_with(|| 7),
                    its.and_modify(|value: &mut u32| *value ^= 5).or_insert_with(|| 7),
                ),
            };
            prop_assert_eq!(&*found.0, &*found.1);
            *found.0 |= 1;
            *found.1 |= 1;
        }
        prop_assert!(map.into_iter().eq(tree));
    }

    #[test]
    fn sets_are_as_trees(items in keys(), more in keys(), removed in keys()) {
        let (mut set, mut tree) = (SortedSet::new(), BTreeSet::new());
        for item in items {
            prop_assert_eq!(set.insert(item), tree.insert(item));
        }
        let (other, other_tree): (SortedSet<u8>, BTreeSet<u8>) =
            (more.iter().copied().collect(), more.iter().copied().collect());
        prop_assert!(set.difference(&other).eq(tree.difference(&other_tree)));
        prop_assert!(set.intersection(&other).eq(tree.intersection(&other_tree)));
        prop_assert_eq!(set.is_disjoint(&other), tree.is_disjoint(&other_tree));
        prop_assert_eq!(set.is_superset(&other), tree.is_superset(&other_tree));
        prop_assert_eq!(set.is_subset(&other), tree.is_subset(&other_tree));
        prop_assert_eq!(set.cmp(&other), tree.cmp(&other_tree));
        for item in removed {
            prop_assert_eq!(set.contains(&item), tree.contains(&item));
            prop_assert_eq!(set.get(&item), tree.get(&item));
            prop_assert_eq!(set.remove(&item), tree.remove(&item));
            prop_assert_eq!((set.first(), set.last()), (tree.first(), tree.last()));
        }
        set.extend(&more);
        tree.extend(&more);
        prop_assert_eq!(format!("{set:?}"), format!("{tree:?}"));
        set.retain(|item| item % 3 != 0);
        tree.retain(|item| item % 3 != 0);
        prop_assert_eq!(set.len(), tree.len());
        prop_assert!(set.iter().eq(&tree));
    }
}
