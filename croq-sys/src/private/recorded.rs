//! Parts of a graph: copies for its calls.

use std::sync::Arc;

use crate::device::Kind;
use crate::error::Result;
use crate::memory::Memory;
use crate::recorder::Recording;
use crate::stream::Stream;

use super::used::Copy;

/// Makes a copy a part of the graph that `stream` of a GPU records. Until the first launch the target is
/// zeros.
pub(super) fn record_copy(
    recording: &mut Recording,
    to: &Arc<Memory>,
    copy: &Copy,
    stream: &Stream,
) -> Result<()> {
    to.clear()?;
    let kept = recording.keep(to, true);
    let from = recording.keep(&copy.from, false);
    let Kind::Cuda(gpu) = stream.device().kind() else {
        return Ok(());
    };
    // SAFETY: as for `make_copies`; launches of the graph are ordered with other work.
    let copied = unsafe { kept.copy_unordered(gpu, &copy.to, (&from, &copy.source), stream.raw()) };
    stream.device().check(copied)
}

/// The same on the simulated GPU.
pub(super) fn record_copy_on_sim(
    recording: &mut Recording,
    to: &Arc<Memory>,
    copy: &Copy,
) -> Result<()> {
    to.clear()?;
    let kept = recording.keep(to, true);
    let from = recording.keep(&copy.from, false);
    let (target, source) = (copy.to, copy.source);
    recording.steps.push(Box::new(move |_| {
        // SAFETY: as for `make_copies`; a graph that is launched is the only one to use the memory.
        unsafe { kept.copy(&target, (&from, &source)) }
    }));
    Ok(())
}
