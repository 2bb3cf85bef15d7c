//! The combinations of values that are tried.

use crate::source::tuning::Tunable;

/// The values of all tunables, in their order.
pub type Values = Vec<(String, i64)>;

/// The first `limit` combinations, and the number of all. The first has the file's own values; the others
/// follow in the order of the lists, and the last list advances first.
pub fn combinations(tunables: &[Tunable], limit: usize) -> (Vec<Values>, u128) {
    let lists: Vec<Vec<i64>> = tunables.iter().map(Tunable::candidates).collect();
    let all = lists
        .iter()
        .fold(1u128, |all, list| all.saturating_mul(list.len() as u128));
    let mut found = Vec::new();
    let mut at = vec![0; lists.len()];
    while (found.len() as u128) < all.min(limit as u128) {
        let values = tunables.iter().zip(&lists).zip(&at);
        let values = values
            .filter_map(|((tunable, list), at)| Some((tunable.name.clone(), *list.get(*at)?)));
        found.push(values.collect());
        for (position, list) in at.iter_mut().zip(&lists).rev() {
            *position += 1;
            if *position < list.len() {
                break;
            }
            *position = 0;
        }
    }
    (found, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostics;
    use crate::source::tuning;

    #[test]
    fn combinations_begin_with_the_files_own_and_have_a_fixed_order() {
        let text =
            "// croq: tune A in 1, 2, 3\n#define A 2\n// croq: tune B in 5, 6\n#define B 5\n";
        let tunables = tuning::tunables(text, &mut Diagnostics::new());
        let numbers = |limit: usize| {
            let (found, all) = combinations(&tunables, limit);
            let found: Vec<Vec<i64>> = found
                .iter()
                .map(|v| v.iter().map(|(_, v)| *v).collect())
                .collect();
            (found, all)
        };
        let all: [&[i64]; 6] = [&[2, 5], &[2, 6], &[1, 5], &[1, 6], &[3, 5], &[3, 6]];
        assert_eq!(numbers(64), (all.iter().map(|v| v.to_vec()).collect(), 6));
        assert_eq!(
            numbers(2),
            (all[..2].iter().map(|v| v.to_vec()).collect(), 6)
        );
    }
}
