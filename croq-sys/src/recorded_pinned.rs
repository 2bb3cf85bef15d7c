//! Copies between a device and page-locked memory as parts of a graph.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::device::Kind;
use crate::error::Result;
use crate::memory::Memory;
use crate::recorder::{Kept, Recorder, Recording};
use crate::region::Region;
use crate::stream::Stream;

/// The elements of a tensor of a device, and their places in page-locked memory.
pub(crate) struct Places {
    pub(crate) of_device: Region,
    pub(crate) packed: Region,
}

/// Records a copy to page-locked memory. Each launch sets `is_unchecked`: bytes of a device need not be
/// elements.
///
/// # Safety
///
/// The places are inside of the memory, and have the same shape and elements; `to` is memory of the host
/// for the same device.
pub(crate) unsafe fn record_copy_to_pinned(
    (recorder, stream): (&Recorder, &Stream),
    places: Places,
    from: &Arc<Memory>,
    (to, is_unchecked): (&Arc<Memory>, &Arc<AtomicBool>),
) -> Result<()> {
    recorder.add(|recording| {
        let (from, to) = (recording.keep(from, false), recording.keep(to, true));
        recording.unchecked.push(is_unchecked.clone());
        let Places { of_device, packed } = places;
        if let Kind::Cuda(_) = from.device().kind() {
            let dense = dense(recording, &from, &of_device, &packed)?;
            let to = (&**to, dense.as_ref().map(|dense| &***dense));
            // SAFETY: as the caller promises; launches of the graph are ordered with other work, and the
            // graph has a share of all this memory.
            return unsafe { from.to_pinned_unordered(stream, &of_device, &packed, to) };
        }
        recording.steps.push(Box::new(move |_| {
            // SAFETY: as the caller promises; a graph that is launched is the only one to use what it
            // writes.
            unsafe { to.copy(&packed, (&from, &of_device)) }
        }));
        Ok(())
    })
}

/// Records a copy from page-locked memory.
///
/// # Safety
///
/// As for [`record_copy_to_pinned`].
pub(crate) unsafe fn record_copy_from_pinned(
    (recorder, stream): (&Recorder, &Stream),
    places: Places,
    to: &Arc<Memory>,
    from: &Arc<Memory>,
) -> Result<()> {
    recorder.add(|recording| {
        let (from, to) = (recording.keep(from, false), recording.keep(to, true));
        let Places { of_device, packed } = places;
        if let Kind::Cuda(_) = to.device().kind() {
            let dense = dense(recording, &to, &of_device, &packed)?;
            let from = (&**from, dense.as_ref().map(|dense| &***dense));
            // SAFETY: as for a copy to such memory.
            return unsafe { to.from_pinned_unordered(stream, &of_device, &packed, from) };
        }
        recording.steps.push(Box::new(move |_| {
            // SAFETY: as for a copy to such memory.
            unsafe { to.copy(&of_device, (&from, &packed)) }
        }));
        Ok(())
    })
}

/// Memory of the graph's own, for elements with gaps between them.
fn dense(
    recording: &mut Recording,
    of: &Memory,
    region: &Region,
    packed: &Region,
) -> Result<Option<Arc<Kept>>> {
    if region.is_dense() {
        return Ok(None);
    }
    let memory = Memory::unwritten_on(of.device(), packed.bytes(), None)?;
    // It is allocated on the device's own stream, and a launch may be on another one.
    memory.used_on_own(true)?;
    Ok(Some(recording.keep(&Arc::new(memory), true)))
}
