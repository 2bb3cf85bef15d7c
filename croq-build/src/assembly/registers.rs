//! Special registers of PTX on the simulated GPU.

/// The C++ expression for a special register, given without its `%`.
pub fn special(name: &str) -> Option<String> {
    let text = match name {
        "laneid" => "croq::ptx_lane()",
        "warpid" => "croq::ptx_warp()",
        "nwarpid" => "croq::ptx_warps()",
        "smid" | "gridid" => "0u",
        "nsmid" => "1u",
        "clock" | "globaltimer_lo" => "static_cast<unsigned>(croq::ptx_clock())",
        "clock_hi" | "globaltimer_hi" => "static_cast<unsigned>(croq::ptx_clock() >> 32)",
        "clock64" | "globaltimer" => "croq::ptx_clock()",
        "lanemask_eq" => "(1u << croq::ptx_lane())",
        "lanemask_lt" => "((1u << croq::ptx_lane()) - 1u)",
        "lanemask_le" => "((2u << croq::ptx_lane()) - 1u)",
        "lanemask_gt" => "(0u - (2u << croq::ptx_lane()))",
        "lanemask_ge" => "(0u - (1u << croq::ptx_lane()))",
        _ => return of_dimensions(name),
    };
    Some(text.to_owned())
}

/// `tid.x`, `nctaid.z`, …
fn of_dimensions(name: &str) -> Option<String> {
    let (register, axis) = name.split_once('.')?;
    if !matches!(axis, "x" | "y" | "z") {
        return None;
    }
    let variable = match register {
        "tid" => "threadIdx",
        "ntid" => "blockDim",
        "ctaid" => "blockIdx",
        "nctaid" => "gridDim",
        _ => return None,
    };
    Some(format!("static_cast<unsigned>({variable}.{axis})"))
}
