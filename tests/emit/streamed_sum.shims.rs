// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_streamed_sum: ::croq_sys::__private::Shims<croq_0badf00d_streamed_sum_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badf00d_streamed_sum, None) };
