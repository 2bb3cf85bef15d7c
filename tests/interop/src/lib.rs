//! A custom operation of candle that is a kernel of croq.

croq_sys::include_kernels!();

use candle_core::{CpuStorage, CustomOp2, Error, Layout, Result, Shape};
use croq_sys::TensorView;

/// Each row of a matrix, scaled by a number of its own. candle passes slices of its CPU storage, which the
/// kernel's arguments borrow.
pub struct ScaledRows;

impl CustomOp2 for ScaledRows {
    fn name(&self) -> &'static str {
        "scaled-rows"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        gains: &CpuStorage,
        gains_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let shape = x_layout.shape();
        let (m, n) = shape.dims2()?;
        let count = gains_layout.shape().dims1()?;
        let x = TensorView::from_slice((m, n), elements(x, x_layout)?).map_err(Error::wrap)?;
        let gains = TensorView::from_slice((count,), elements(gains, gains_layout)?);
        let y = kernels::scaled_rows(&x, &gains.map_err(Error::wrap)?).map_err(Error::wrap)?;
        Ok((CpuStorage::F32(y.into_vec()), shape.clone()))
    }
}

fn elements<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let (start, end) = layout
        .contiguous_offsets()
        .ok_or_else(|| Error::msg("the tensor is not contiguous"))?;
    Ok(&storage.as_slice::<f32>()?[start..end])
}
