//! Asynchronous operations: copies, events and futures.

pub(crate) mod copy_events;
pub(crate) mod early;
pub(crate) mod events;
pub(crate) mod flags;
pub(crate) mod futures;
pub(crate) mod host_exchange;
pub(crate) mod rebound;
pub(crate) mod settled;
pub(crate) mod signals;
pub(crate) mod slots;
pub(crate) mod swap_rotate;
pub(crate) mod trigger;
pub(crate) mod wait;
