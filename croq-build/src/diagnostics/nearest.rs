//! Suggests a known word for a misspelled one.

/// The number of insertions, deletions, replacements and swaps of adjacent characters that convert
/// `a` to `b`.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last_a = None;
    for (i, ca) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        let mut left = i + 1;
        row.push(left);
        let mut last_b = None;
        // Two rows up, one column to the left of `j`: the entry to which a swap adds.
        let swapped = std::iter::once(None).chain(before.iter().copied().map(Some));
        let pairs = above.iter().zip(above.iter().skip(1));
        for ((cb, (diagonal, up)), swapped) in b
            .iter()
            .zip(pairs)
            .zip(swapped.chain(std::iter::repeat(None)))
        {
            let mut best = (diagonal + usize::from(ca != cb)).min(up + 1).min(left + 1);
            if last_a == Some(cb)
                && last_b == Some(ca)
                && let Some(swapped) = swapped
            {
                best = best.min(swapped + 1);
            }
            row.push(best);
            left = best;
            last_b = Some(cb);
        }
        before = std::mem::replace(&mut above, row);
        last_a = Some(ca);
    }
    above.last().copied().unwrap_or(0)
}

/// The candidate nearest to `word`, if it is near enough to be a misspelling.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes quadratic time, and names of this length are hardly ever misspelled by a
    // few characters.
    if word.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word && candidate.len().abs_diff(word.len()) <= 3)
        .map(|candidate| match candidate.eq_ignore_ascii_case(word) {
            true => (0, candidate),
            false => (edit_distance(word, candidate), candidate),
        })
        .filter(|(distance, candidate)| {
            // A word without a common letter is not a misspelling of the other. Underscores before a word say
            // nothing about its letters.
            let letters = |word: &str| word.trim_start_matches('_').len();
            *distance <= letters(word).max(letters(candidate)).div_ceil(4).min(3)
                && *distance < word.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("paralel", "parallel"), 1);
        assert_eq!(edit_distance("defnie", "define"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_close_words_are_offered() {
        assert_eq!(nearest("paralel", ["parallel", "with"]), Some("parallel"));
        assert_eq!(nearest("banana", ["parallel", "with"]), None);
        assert_eq!(nearest("y", ["by", "x"]), None);
        assert_eq!(nearest("gian", ["gain"]), Some("gain"));
        assert_eq!(nearest("__sync", ["__sin"]), None);
        assert_eq!(nearest("__sni", ["__sin"]), Some("__sin"));
    }
}
