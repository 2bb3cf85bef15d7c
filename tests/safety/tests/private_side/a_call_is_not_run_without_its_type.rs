#![forbid(unsafe_code)]

use croq_sys::__private::AnyCall;

fn run(call: &AnyCall, args: &mut u8) {
    let _ = call.run(args);
}

fn main() {}
