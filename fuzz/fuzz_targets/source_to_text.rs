//! Any bytes at all go through every pure stage: no panic, no hang, no memory blow-up.
#![no_main]

use std::sync::LazyLock;

use croq_fuzz::mutate::{Mutator, Random};
use croq_fuzz::promises;
use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};

static MUTATOR: LazyLock<Mutator> = LazyLock::new(Mutator::default);

fuzz_target!(|data: &[u8]| promises::check(&String::from_utf8_lossy(data)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(seed);
    // Bytes at random now and then: they reach what no token does.
    if random.below(8) > 0
        && let Ok(text) = std::str::from_utf8(&data[..size])
    {
        let made = MUTATOR.mutate(text, &mut random);
        if !made.is_empty() && made.len() <= max_size {
            data[..made.len()].copy_from_slice(made.as_bytes());
            return made.len();
        }
    }
    fuzzer_mutate(data, size, max_size)
});

fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    let (Ok(one), Ok(other)) = (std::str::from_utf8(one), std::str::from_utf8(other)) else {
        return 0;
    };
    let made = MUTATOR.cross(one, other, &mut Random::new(seed));
    if made.len() > out.len() {
        return 0;
    }
    out[..made.len()].copy_from_slice(made.as_bytes());
    made.len()
});
