//! Streams, events and graphs.

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

// Graphs

/// `cudaStreamCaptureModeRelaxed`: the modes differ in what other streams may do.
const MOST_MODE: i32 = 2;

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaStreamBeginCapture(stream: usize, mode: i32) -> i32 {
    on_device(|device| {
        let legacy = device.streams.legacy();
        let stream = device.streams.get(stream)?;
        if Arc::ptr_eq(&stream, &legacy) || !(0..=MOST_MODE).contains(&mode) {
            return Err(Code::INVALID_VALUE);
        }
        *locked(&stream.captured) = Some(Vec::new());
        Ok(())
    })
}

/// # Safety
///
/// There is room for a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaStreamEndCapture(stream: usize, to: *mut usize) -> i32 {
    on_device(|device| {
        let stream = device.streams.get_for_capture(stream)?;
        let captured = locked(&stream.captured).take();
        let made = Arc::new(captured.ok_or(Code::INVALID_VALUE)?);
        // SAFETY: as the caller promises.
        unsafe { give(to, locked(&device.graphs).add(made)) }
    })
}

/// # Safety
///
/// There is room for a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaGraphInstantiate(to: *mut usize, graph: usize, flags: u64) -> i32 {
    on_device(|device| {
        let mut graphs = locked(&device.graphs);
        let work = graphs.get(graph)?;
        if flags != 0 {
            return Err(Code::NOT_SUPPORTED);
        }
        // SAFETY: as the caller promises.
        unsafe { give(to, graphs.add(work)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaGraphLaunch(graph: usize, stream: usize) -> i32 {
    on_device(|device| {
        let work = locked(&device.graphs).get(graph)?;
        let stream = device.streams.get(stream)?;
        for work in work.iter().cloned() {
            device.issue(&stream, Vec::new(), move || work());
        }
        Ok(())
    })
}

/// Of a graph, or of one that was instantiated. Work that was launched is executed.
#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaGraphDestroy(graph: usize) -> i32 {
    on_device(|device| locked(&device.graphs).remove(graph).map(|_| ()))
}
