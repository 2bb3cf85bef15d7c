// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_scaled_rows_f32_32_false: ::croq_sys::__private::Shims<croq_0badf00d_scaled_rows_f32_32_false_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badf00d_scaled_rows_f32_32_false, None) };
// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_scaled_rows_bf16_64_true: ::croq_sys::__private::Shims<croq_0badf00d_scaled_rows_bf16_64_true_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badf00d_scaled_rows_bf16_64_true, None) };
// SAFETY: croq-build compiled them from one function, with this struct.
pub const shims_of_scaled_rows_f32_64_false: ::croq_sys::__private::Shims<croq_0badf00d_scaled_rows_f32_64_false_args> =
    unsafe { ::croq_sys::__private::Shims::new(croq_sim_0badf00d_scaled_rows_f32_64_false, None) };
