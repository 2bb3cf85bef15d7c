//! The completion of a stream as a future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::after::call_after;
use crate::device::Kind;
use crate::error::{Error, Result};
use crate::last_use::EndOfWork;
use crate::stream::Stream;

/// The future of `stream.await`: all work that was on the stream is complete.
///
/// It may be dropped at any time: the work runs, and what it uses stays allocated, in any case.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Completion {
    /// `None` if the work is complete.
    end: Option<EndOfWork>,
    state: Arc<Mutex<State>>,
    failure: Option<Error>,
}

#[derive(Default)]
struct State {
    is_over: bool,
    waker: Option<Waker>,
}

impl Completion {
    pub(crate) fn of(stream: &Stream) -> Self {
        let mut completion = Self {
            end: None,
            state: Arc::default(),
            failure: None,
        };
        if let Err(failure) = completion.begin(stream) {
            completion.failure = Some(failure);
            completion.end = None;
        }
        completion
    }

    fn begin(&mut self, stream: &Stream) -> Result<()> {
        stream.executes("await")?;
        let device = stream.device();
        device.healthy()?;
        let Kind::Cuda(gpu) = device.kind() else {
            return Ok(());
        };
        self.end = Some(EndOfWork::of(gpu, stream)?);
        let state = self.state.clone();
        let wake = move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.is_over = true;
            let waker = state.waker.take();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        if let Err(wake) = call_after(device, gpu, stream.raw(), Box::new(wake)) {
            // Polling waits for the work, then, and returns the failure, if there is one.
            wake();
        }
        Ok(())
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completion of a stream")
    }
}

impl Future for Completion {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(failure) = self.failure.take() {
            return Poll::Ready(Err(failure));
        }
        let Some(end) = &self.end else {
            return Poll::Ready(Ok(()));
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_over {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        // Without waiting: it returns the failure of the work.
        Poll::Ready(end.wait())
    }
}

/// Waits for all work that is on the stream at the time of the `.await`, without a thread that waits
/// and with any executor. The output is what [`Stream::synchronize`] returns. On the simulated GPU
/// the work is complete at once.
///
/// ```
/// use croq_sys::{Device, Stream};
///
/// async fn done(stream: &Stream) -> croq_sys::Result<()> {
///     // … kernels on `stream` …
///     stream.await
/// }
/// # let stream = Stream::new(&Device::sim())?;
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # let done = std::pin::pin!(done(&stream));
/// # assert_eq!(done.poll(&mut context), std::task::Poll::Ready(Ok(())));
/// # Ok::<(), croq_sys::Error>(())
/// ```
impl IntoFuture for &Stream {
    type Output = Result<()>;
    type IntoFuture = Completion;

    fn into_future(self) -> Completion {
        Completion::of(self)
    }
}

/// As for [`&Stream`](#impl-IntoFuture-for-%26Stream).
impl IntoFuture for Stream {
    type Output = Result<()>;
    type IntoFuture = Completion;

    fn into_future(self) -> Completion {
        Completion::of(&self)
    }
}
