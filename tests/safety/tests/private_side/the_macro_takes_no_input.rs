#![forbid(unsafe_code)]

croq_sys::__private::kernels! {
    unsafe extern "C" { pub safe fn abort(code: u64) -> u64; }
}

croq_sys::include_kernels!(unsafe extern "C" { pub safe fn exit(code: u64) -> u64; });

fn main() {
    abort(7);
}
