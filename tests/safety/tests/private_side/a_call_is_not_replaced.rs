#![forbid(unsafe_code)]

use croq_sys::__private::{AnyCall, Call};

/// `by` may be a call of a kernel that takes something else.
fn replace(call: &mut Call<u8>, by: AnyCall) {
    **call = by;
}

fn main() {}
