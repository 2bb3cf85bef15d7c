//! Which bytes of memory nothing has written.

use std::ops::Range;

/// A bit for each byte, set as long as it is unwritten.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Unwritten {
    /// Empty if all bytes are written.
    words: Vec<u64>,
    /// Set bits.
    count: usize,
}

impl Unwritten {
    /// Whether all bytes are written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The words that have bits of the range, and which bits.
    fn masks(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        let words = range.start / 64..range.end.div_ceil(64);
        words.map(move |word| {
            let low = range.start.max(word * 64) - word * 64;
            let high = range.end.min(word * 64 + 64) - word * 64;
            (word, (u64::MAX >> (64 - (high - low))) << low)
        })
    }

    /// The bytes are written.
    #[inline]
    pub fn remove(&mut self, range: Range<usize>) {
        let range = range.start..range.end.min(self.words.len() * 64);
        if self.count == 0 || range.is_empty() {
            return;
        }
        for (word, mask) in Unwritten::masks(range) {
            if let Some(bits) = self.words.get_mut(word) {
                self.count -= (*bits & mask).count_ones() as usize;
                *bits &= !mask;
            }
        }
    }

    /// The bytes are unwritten, or copies of such.
    pub fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let length = range.end.div_ceil(64);
        if self.words.len() < length {
            self.words.resize(length, 0);
        }
        for (word, mask) in Unwritten::masks(range) {
            let bits = &mut self.words[word];
            self.count += (mask & !*bits).count_ones() as usize;
            *bits |= mask;
        }
    }

    /// The first of the bytes that is unwritten.
    pub fn first(&self, range: Range<usize>) -> Option<usize> {
        let range = range.start..range.end.min(self.words.len() * 64);
        if self.count == 0 || range.is_empty() {
            return None;
        }
        Unwritten::masks(range).find_map(|(word, mask)| {
            let bits = self.words.get(word)? & mask;
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    }

    /// A bit for each of up to eight bytes.
    pub fn bits(&self, start: usize, bytes: usize) -> u8 {
        let is_set = |at: usize| {
            self.words
                .get(at / 64)
                .is_some_and(|bits| bits >> (at % 64) & 1 == 1)
        };
        let set = (0..bytes).filter(|at| is_set(start + at));
        set.fold(0, |bits, at| bits | 1 << at)
    }
}

#[cfg(test)]
mod tests {
    use super::Unwritten;

    #[test]
    fn bits_of_ranges() {
        let mut unwritten = Unwritten::default();
        assert!(unwritten.is_empty() && unwritten.first(0..100).is_none());
        unwritten.add(60..200);
        unwritten.add(10..61);
        assert_eq!((unwritten.count, unwritten.first(0..300)), (190, Some(10)));
        unwritten.remove(0..64);
        unwritten.remove(66..68);
        unwritten.remove(130..1000);
        assert_eq!((unwritten.count, unwritten.first(0..300)), (64, Some(64)));
        assert_eq!(
            (unwritten.first(66..68), unwritten.first(67..69)),
            (None, Some(68))
        );
        assert_eq!(
            (unwritten.bits(62, 8), unwritten.bits(128, 4)),
            (0b1100_1100, 0b0011)
        );
        unwritten.remove(0..130);
        assert!(unwritten.is_empty());
    }
}
