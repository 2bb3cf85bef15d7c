//! What a graph is made of: calls that were recorded, and the memory that they use.

use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::memory::Memory;

/// The one share that a graph has in some memory, for all of its steps: so the number of shares says
/// whether anyone else has one.
pub(crate) struct Kept(Arc<Memory>);

impl Kept {
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.0
    }
}

impl Deref for Kept {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.0
    }
}

/// Memory that a graph uses.
pub(crate) struct Use {
    pub(crate) kept: Arc<Kept>,
    pub(crate) written: bool,
    /// A tensor that the graph held has it: without that tensor the graph is not launched.
    pub(crate) is_held: bool,
}

/// A part of a graph on the simulated GPU, which executes it. Its failure ends the launch of the graph, as on a
/// GPU; the first failure that a kernel reports before it continues is stored in the argument.
pub(crate) type Step = Box<dyn Fn(&mut Option<Error>) -> Result<()> + Send + Sync>;

/// The calls that were recorded so far.
#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) uses: Vec<Use>,
    pub(crate) steps: Vec<Step>,
    /// Set by each launch: see [`crate::PinnedTensor`].
    pub(crate) unchecked: Vec<Arc<AtomicBool>>,
    /// A part of a call may have been recorded.
    failure: Option<Error>,
}

impl Recording {
    /// The graph's share of the memory.
    pub(crate) fn keep(&mut self, memory: &Arc<Memory>, written: bool) -> Arc<Kept> {
        let mut known = self.uses.iter_mut();
        if let Some(known) = known.find(|known| Arc::ptr_eq(known.kept.memory(), memory)) {
            known.written |= written;
            return known.kept.clone();
        }
        let kept = Arc::new(Kept(memory.clone()));
        self.uses.push(Use {
            kept: kept.clone(),
            written,
            is_held: false,
        });
        kept
    }
}

/// Records the calls on a stream, until the graph is complete.
pub(crate) struct Recorder(Mutex<Option<Recording>>);

impl Default for Recorder {
    fn default() -> Self {
        Self(Mutex::new(Some(Recording::default())))
    }
}

impl Recorder {
    /// Calls `record`, which adds to the recording; its failure is that of the graph.
    pub(crate) fn add<R>(&self, record: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
        let mut recording = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(recording) = &mut *recording else {
            return Err(Error::Capture {
                reason: "the graph that this stream records is complete".to_owned(),
                help: "use the stream in the closure of `Graph::capture` only",
            });
        };
        let recorded = record(recording);
        if let Err(failure) = &recorded {
            recording.failure.get_or_insert_with(|| failure.clone());
        }
        recorded
    }

    pub(crate) fn is_open(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Ends the recording: the first time, the recorded calls.
    pub(crate) fn take(&self) -> Result<Recording> {
        let recording = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let recording = recording.unwrap_or_default();
        match recording.failure {
            Some(failure) => Err(failure),
            None => Ok(recording),
        }
    }
}
