// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_match: ::croq_sys::__private::Shims<croq_0badcafe_match_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badcafe_match, Some(croq_cuda_0badcafe_match)) };
