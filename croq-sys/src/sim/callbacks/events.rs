//! What the text tells of its events.

use std::ffi::c_char;

use super::with;
use crate::abi::{croq_sim_access, croq_sim_thread};

pub(super) unsafe extern "C" fn event_site(
    thread: *mut croq_sim_thread,
    at: *const croq_sim_access,
    slots: u32,
    flags: u32,
    threads: *const c_char,
) {
    // SAFETY: device text passes the running thread, an access on its stack and a literal.
    unsafe {
        with(thread, |all, _, _| {
            all.mbarriers.events.tell(&*at, slots, flags, threads);
            Ok(())
        })
    }
}
