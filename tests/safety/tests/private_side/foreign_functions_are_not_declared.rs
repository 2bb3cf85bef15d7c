#![forbid(unsafe_code)]

croq_sys::__private::extern_c! {
    pub safe fn abort(code: u64) -> u64;
}

fn main() {
    abort(7);
}
