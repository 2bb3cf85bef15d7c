//! How long things take: medians, over buffers that take turns, so that none finds its data in a cache.

use std::time::Instant;

use croq_sys::{Result, Stream};

pub const ROUNDS: usize = 50;
/// Sets of buffers: together many times the second-level cache.
pub const PLACES: usize = 3;

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
pub fn timed(mut call: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    for place in 0..PLACES {
        call(place)?;
    }
    let mut seconds = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        call(round % PLACES)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(median(seconds))
}

/// Seconds that a round should take at least: what starts and ends it is a few microseconds.
const ROUND: f64 = 2e-3;
/// Seconds for all rounds of one figure, however slow the kernel is.
const PATIENCE: f64 = if cfg!(test) { 0.0 } else { 1.5 };

/// Seconds for one `call`, which is given the number of a place and only enqueues on the stream. In a
/// round many are enqueued and waited for once; the median of the rounds.
pub fn queued(stream: &Stream, mut call: impl FnMut(usize) -> Result<()>) -> Result<f64> {
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
        .clamp(1, 1000)
        .next_multiple_of(PLACES);
    let rounds = ((PATIENCE / (once * calls as f64)) as usize).clamp(3, ROUNDS);
    let seconds: Result<Vec<f64>> = (0..rounds).map(|_| round(calls)).collect();
    Ok(median(seconds?))
}
