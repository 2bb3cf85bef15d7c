//! How long things take: medians, over buffers that take turns, so that none finds its data in a cache.

use std::time::Instant;

use croq_sys::{Result, Stream};

const ROUNDS: usize = 50;
/// Sets of buffers: together many times the second-level cache.
pub const PLACES: usize = 3;

/// How large things are and how often they are timed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Full,
    /// Only to see whether everything runs: where kernels are interpreted.
    Small,
}

impl Effort {
    pub fn rounds(self) -> usize {
        self.choose(ROUNDS, 3)
    }

    /// Seconds for all rounds of one figure, however slow the kernel is.
    fn patience(self) -> f64 {
        self.choose(1.5, 0.0)
    }

    pub fn choose<T>(self, full: T, small: T) -> T {
        match self {
            Effort::Full => full,
            Effort::Small => small,
        }
    }
}

/// One line of the table.
pub struct Figure {
    /// What is computed; a product is called as in `shapes.txt`.
    pub name: String,
    /// By which of several kernels.
    pub kernel: String,
    pub seconds: f64,
    pub bytes: f64,
    pub operations: f64,
}

impl Figure {
    pub fn bandwidth(&self) -> f64 {
        self.bytes / self.seconds
    }
}

pub fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median of `call`, which is given the number of a place and waits for its kernel.
pub fn timed(effort: Effort, mut call: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    for place in 0..PLACES {
        call(place)?;
    }
    let mut seconds = Vec::new();
    for round in 0..effort.rounds() {
        let start = Instant::now();
        call(round % PLACES)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(median(seconds))
}

/// Seconds that a round should take at least: what starts and ends it is a few microseconds.
const ROUND: f64 = 2e-3;

/// Seconds for one `call`, which is given the number of a place and only enqueues on the stream. In a
/// round many are enqueued and waited for once; the median of the rounds.
pub fn queued(
    effort: Effort,
    stream: &Stream,
    mut call: impl FnMut(usize) -> Result<()>,
) -> Result<f64> {
    let mut round = |calls: usize| -> Result<f64> {
        let start = Instant::now();
        for number in 0..calls {
            call(number % PLACES)?;
        }
        stream.synchronize()?;
        Ok(start.elapsed().as_secs_f64() / calls as f64)
    };
    round(PLACES)?;
    let once = round(PLACES)?;
    let calls = ((ROUND / once) as usize)
        .clamp(1, effort.choose(1000, 1))
        .next_multiple_of(PLACES);
    let rounds = ((effort.patience() / (once * calls as f64)) as usize).clamp(3, ROUNDS);
    let seconds: Result<Vec<f64>> = (0..rounds).map(|_| round(calls)).collect();
    Ok(median(seconds?))
}
