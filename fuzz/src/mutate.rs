//! Mutations over tokens, lines and bracketed groups.

use std::ops::Range;

use crate::tokens::{self, Kind, NUMBERS};

/// SplitMix64: the same seed makes the same text.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Self {
        Random(u64::from(seed))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.get(self.below(of.len())).copied().unwrap_or("")
    }
}

/// The words of the language, gathered once.
pub struct Mutator {
    words: Vec<&'static str>,
    puncts: Vec<&'static str>,
}

impl Default for Mutator {
    fn default() -> Self {
        Mutator {
            words: tokens::words(),
            puncts: tokens::puncts(),
        }
    }
}

impl Mutator {
    /// `text` after one to four mutations.
    pub fn mutate(&self, text: &str, random: &mut Random) -> String {
        let mut text = text.to_owned();
        for _ in 0..=random.below(4) {
            text = match random.below(4) {
                0 => lines(&text, random),
                1 => self.group(&text, random),
                _ => self.token(&text, random),
            };
        }
        text
    }

    /// Lines of `other` among those of `text`, or a group of it in place of one of `text`.
    pub fn cross(&self, text: &str, other: &str, random: &mut Random) -> String {
        if random.below(2) == 0 {
            let mut all: Vec<&str> = text.split_inclusive('\n').collect();
            let theirs: Vec<&str> = other.split_inclusive('\n').collect();
            let taken = part(theirs.len(), 8, random);
            let at = random.below(all.len() + 1);
            all.splice(at..at, theirs[taken].iter().copied());
            return all.concat();
        }
        let mut all = tokens::split(text, &self.puncts);
        let theirs = tokens::split(other, &self.puncts);
        let Some(taken) = some_group(&theirs, random) else {
            return text.to_owned();
        };
        let place = some_group(&all, random).unwrap_or(0..0);
        all.splice(place, theirs[taken].iter().copied());
        all.concat()
    }

    fn word(&self, kind: Kind, of_the_text: &[&str], random: &mut Random) -> String {
        let known = of_the_text.get(random.below(of_the_text.len())).copied();
        match (kind, random.below(4)) {
            (Kind::Number, 0..3) => random.pick(NUMBERS).to_owned(),
            (Kind::Punct, 0..3) => random.pick(&self.puncts).to_owned(),
            (Kind::Word, 0..2) => random.pick(&self.words).to_owned(),
            // One that the text has already: names that are in scope.
            _ => known.unwrap_or(" ").to_owned(),
        }
    }

    fn token(&self, text: &str, random: &mut Random) -> String {
        let mut all = tokens::split(text, &self.puncts);
        if all.is_empty() {
            return self.word(Kind::Word, &[], random);
        }
        let solid: Vec<&str> = all
            .iter()
            .filter(|piece| tokens::kind(piece) != Kind::Space)
            .copied()
            .collect();
        let at = random.below(all.len());
        // Spaces are less worth changing: look for the next piece that is none.
        let at = (at..all.len())
            .find(|&at| tokens::kind(all[at]) != Kind::Space)
            .unwrap_or(at);
        let new;
        match random.below(8) {
            0..3 => {
                new = self.word(tokens::kind(all[at]), &solid, random);
                all[at] = &new;
            }
            3 => {
                let any = [Kind::Word, Kind::Number, Kind::Punct][random.below(3)];
                new = self.word(any, &solid, random);
                let spaced = [" ", &new, " "];
                all.splice(at..at, spaced);
            }
            4 => {
                let gone = part(all.len(), 6, random);
                all.drain(gone);
            }
            5 => {
                let taken: Vec<&str> = all[part(all.len(), 12, random)].to_vec();
                all.splice(at..at, taken);
            }
            6 => {
                let other = random.below(all.len());
                all.swap(at, other);
            }
            // Every use of one name becomes another.
            _ => {
                let old = all[at];
                new = self.word(tokens::kind(old), &solid, random);
                for piece in &mut all {
                    if *piece == old {
                        *piece = &new;
                    }
                }
            }
        }
        all.concat()
    }

    /// Groups are taken out, emptied, doubled, nested, or put in the place of others.
    fn group(&self, text: &str, random: &mut Random) -> String {
        let mut all = tokens::split(text, &self.puncts);
        let Some(place) = some_group(&all, random) else {
            return self.token(text, random);
        };
        let own: Vec<&str> = all[place.clone()].to_vec();
        match random.below(6) {
            0 => drop(all.drain(place)),
            1 => drop(all.drain(place.start + 1..place.end - 1)),
            2 => drop(all.splice(place.end..place.end, own)),
            3 => {
                let depth = 1 << random.below(9);
                let (open, close) = (own[0], own[own.len() - 1]);
                all.splice(place.end..place.end, vec![close; depth]);
                all.splice(place.start..place.start, vec![open; depth]);
            }
            4 => {
                let other = some_group(&all, random).unwrap_or(0..0);
                all.splice(other, own);
            }
            _ => {
                let other = some_group(&all, random).unwrap_or(0..0);
                let theirs: Vec<&str> = all[other].to_vec();
                all.splice(place, theirs);
            }
        }
        all.concat()
    }
}

/// Lines are taken out, doubled, moved, or swapped.
fn lines(text: &str, random: &mut Random) -> String {
    let mut all: Vec<&str> = text.split_inclusive('\n').collect();
    if all.is_empty() {
        return "\n".to_owned();
    }
    let some = part(all.len(), 4, random);
    let to = random.below(all.len() + 1);
    match random.below(4) {
        0 => drop(all.drain(some)),
        1 => {
            let copy: Vec<&str> = all[some].to_vec();
            all.splice(to..to, copy);
        }
        2 => {
            let moved: Vec<&str> = all.drain(some).collect();
            let to = to.min(all.len());
            all.splice(to..to, moved);
        }
        _ => {
            let to = to.min(all.len() - 1);
            all.swap(some.start, to);
        }
    }
    all.concat()
}

/// A part of `0..length` that is not empty (unless all is) and not longer than `most`.
fn part(length: usize, most: usize, random: &mut Random) -> Range<usize> {
    let start = random.below(length);
    let end = start + 1 + random.below(most);
    start.min(length)..end.min(length)
}

fn some_group(pieces: &[&str], random: &mut Random) -> Option<Range<usize>> {
    let start = random.below(pieces.len());
    (start..pieces.len())
        .chain(0..start)
        .find_map(|open| Some(open..tokens::closing(pieces, open)? + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "__co__ void f(global s32 [8] y) {\n  parallel i by 8 : thread y.at(i) = 1 #+ 2;\n}\n";

    #[test]
    fn pieces_in_a_row_are_the_text() {
        let puncts = tokens::puncts();
        let pieces = tokens::split(TEXT, &puncts);
        assert_eq!(pieces.concat(), TEXT);
        assert!(pieces.contains(&"#+") && pieces.contains(&"__co__") && pieces.contains(&"8"));
        let open = pieces.iter().position(|piece| *piece == "{").unwrap();
        assert_eq!(tokens::closing(&pieces, open), Some(pieces.len() - 2));
    }

    #[test]
    fn mutations_differ_and_repeat() {
        let mutator = Mutator::default();
        let make = |seed| mutator.mutate(TEXT, &mut Random::new(seed));
        let made: std::collections::HashSet<String> = (0..500).map(make).collect();
        assert!(made.len() > 400, "{}", made.len());
        assert_eq!(make(7), make(7));
        for seed in 0..500 {
            mutator.mutate("", &mut Random::new(seed));
            mutator.mutate("}", &mut Random::new(seed));
            mutator.cross("", TEXT, &mut Random::new(seed));
            mutator.cross(TEXT, "", &mut Random::new(seed));
            mutator.cross(TEXT, TEXT, &mut Random::new(seed));
        }
    }
}
