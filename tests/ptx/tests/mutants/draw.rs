//! Which mutants are tested: a fixed seed decides.

use crate::edits::{CLASSES, Mutant};

pub const PER_KERNEL: usize = 25;

/// splitmix64
pub struct Random(u64);

impl Random {
    /// The seed is the same in every run, and another for each name.
    pub fn new(name: &str) -> Random {
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Random(name.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

/// All in a random order, where each class has its share of any beginning.
pub fn draw(mutants: Vec<Mutant>, random: &mut Random) -> Vec<Mutant> {
    let mut classes: Vec<Vec<Mutant>> = CLASSES
        .iter()
        .map(|(class, _)| {
            let of_class = mutants.iter().filter(|mutant| mutant.class == *class);
            of_class.cloned().collect()
        })
        .collect();
    let mut drawn: Vec<Mutant> = Vec::new();
    while classes.iter().any(|class| !class.is_empty()) {
        for class in &mut classes {
            if class.is_empty() {
                continue;
            }
            let index = random.below(class.len());
            let mutant = class.swap_remove(index);
            if !drawn
                .iter()
                .any(|other| (other.line, &other.text) == (mutant.line, &mutant.text))
            {
                drawn.push(mutant);
            }
        }
    }
    drawn
}

/// The text with the mutant's line.
pub fn changed(text: &str, mutant: &Mutant) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[mutant.line - 1] = &mutant.text;
    lines.join("\n")
}
