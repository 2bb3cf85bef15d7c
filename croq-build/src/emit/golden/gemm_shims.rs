// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_gemm: ::croq_sys::__private::Shims<croq_0badcafe_gemm_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badcafe_gemm, Some(croq_cuda_0badcafe_gemm)) };
