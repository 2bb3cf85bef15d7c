// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_attention: ::croq_sys::__private::Shims<croq_0badf00d_attention_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badf00d_attention, None) };
