//! Streams and events.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::{answer, give, on_device};
use crate::code::Code;
use crate::device::device;
use crate::handles::{Event, Record};
use crate::memory::locked;
use crate::stream::Stream;

/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;
/// `cudaEventDisableTiming`
const NO_TIMING: u32 = 2;

/// # Safety
///
/// There is room for a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaStreamCreateWithFlags(to: *mut usize, flags: u32) -> i32 {
    on_device(|device| {
        if flags > NON_BLOCKING {
            return Err(Code::INVALID_VALUE);
        }
        let made = device.streams.create(flags != NON_BLOCKING);
        // SAFETY: as the caller promises.
        unsafe { give(to, made) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaStreamDestroy(stream: usize) -> i32 {
    on_device(|device| device.streams.destroy(stream))
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaStreamSynchronize(stream: usize) -> i32 {
    on_device(|device| {
        let stream = device.streams.get(stream)?;
        let mut points = device.streams.before(&stream);
        points.push(stream.end());
        device.wait(&points)
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaStreamQuery(stream: usize) -> i32 {
    on_device(|device| match device.streams.get(stream)?.end().is_over() {
        true => device.healthy(),
        false => Err(Code::NOT_READY),
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaStreamWaitEvent(stream: usize, event: usize, flags: u32) -> i32 {
    on_device(|device| {
        let stream = device.streams.get(stream)?;
        let event = locked(&device.events).get(event)?;
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        if let Some(record) = event.last() {
            device.issue(&stream, vec![record.end], || Ok(()));
        }
        Ok(())
    })
}

/// # Safety
///
/// There is room for a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaEventCreateWithFlags(to: *mut usize, flags: u32) -> i32 {
    on_device(|device| {
        if flags > 7 {
            return Err(Code::INVALID_VALUE);
        }
        let made = locked(&device.events).add(Event::new(flags & NO_TIMING == 0));
        // SAFETY: as the caller promises.
        unsafe { give(to, made) }
    })
}

fn record(event: &Event, stream: &Arc<Stream>) {
    let time = Arc::new(Mutex::new(None));
    let now = time.clone();
    let end = device().issue(stream, Vec::new(), move || {
        *locked(&now) = Some(Instant::now());
        Ok(())
    });
    event.set(Record { end, time });
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaEventRecord(event: usize, stream: usize) -> i32 {
    on_device(|device| {
        let stream = device.streams.get(stream)?;
        let event = locked(&device.events).get(event)?;
        record(&event, &stream);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaEventQuery(event: usize) -> i32 {
    on_device(|device| {
        let event = locked(&device.events).get(event)?;
        match event.last().is_none_or(|record| record.end.is_over()) {
            true => device.healthy(),
            false => Err(Code::NOT_READY),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaEventSynchronize(event: usize) -> i32 {
    on_device(|device| {
        let event = locked(&device.events).get(event)?;
        let points: Vec<_> = event.last().map(|record| record.end).into_iter().collect();
        device.wait(&points)
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaEventDestroy(event: usize) -> i32 {
    on_device(|device| locked(&device.events).remove(event).map(|_| ()))
}

/// # Safety
///
/// There is room for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaEventElapsedTime(to: *mut f32, from: usize, until: usize) -> i32 {
    answer(device().healthy().and_then(|()| {
        let events = locked(&device().events);
        let (from, until) = (events.get(from)?, events.get(until)?);
        let (Some(first), Some(last)) = (from.last(), until.last()) else {
            return Err(Code::INVALID_HANDLE);
        };
        if !from.is_timed || !until.is_timed {
            return Err(Code::INVALID_HANDLE);
        }
        let times = (*locked(&first.time), *locked(&last.time));
        let (Some(first), Some(last)) = times else {
            return Err(Code::NOT_READY);
        };
        let seconds = last.saturating_duration_since(first).as_secs_f32();
        // SAFETY: as the caller promises.
        unsafe { give(to, seconds * 1000.0) }
    }))
}
