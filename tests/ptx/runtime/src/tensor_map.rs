//! Tensor maps, with every requirement that the CUDA driver API documents for
//! `cuTensorMapEncodeTiled`.

use croq_ptx::machine::tensor_map::{
    DIMENSIONS, DataType, Fill, Interleave, Promotion, Swizzle, TensorMap,
};

/// The arguments, as the caller gave them.
#[derive(Clone, Debug)]
pub struct Request {
    pub data_type: u32,
    pub rank: u32,
    pub address: u64,
    pub extents: Vec<u64>,
    /// One less than dimensions.
    pub strides: Vec<u64>,
    pub box_extents: Vec<u32>,
    pub element_strides: Vec<u32>,
    pub interleave: u32,
    pub swizzle: u32,
    pub promotion: u32,
    pub fill: u32,
}

type Checked<T = ()> = Result<T, String>;

fn require(holds: bool, text: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(text()) }
}

fn known<T>(name: &str, number: u32, of: impl Fn(u64) -> Option<T>) -> Checked<T> {
    of(number.into()).ok_or_else(|| format!("{name} {number} is unknown or not implemented"))
}

/// Whether a tensor can have that many dimensions; only then the arrays are read.
pub fn check_rank(rank: u32) -> Checked {
    require((1..=DIMENSIONS as u32).contains(&rank), || {
        format!("the rank is {rank}, not 1 to 5")
    })
}

/// The map, or the requirement that is not met.
pub fn make(request: &Request) -> Checked<TensorMap> {
    check_rank(request.rank)?;
    let data_type = known("the data type", request.data_type, DataType::of_number)?;
    let interleave = known("the interleave", request.interleave, Interleave::of_number)?;
    let swizzle = known("the swizzle", request.swizzle, Swizzle::of_number)?;
    let map = TensorMap {
        data_type,
        rank: request.rank,
        address: request.address,
        extents: padded(&request.extents),
        strides: padded(&request.strides),
        box_extents: padded(&request.box_extents),
        element_strides: padded(&request.element_strides),
        interleave,
        swizzle,
        promotion: known("the promotion", request.promotion, Promotion::of_number)?,
        fill: known("the fill", request.fill, Fill::of_number)?,
    };
    let align = if interleave == Interleave::Bytes32 {
        32
    } else {
        16
    };
    require(request.address.is_multiple_of(align), || {
        format!(
            "the address {:#x} is no multiple of {align}",
            request.address
        )
    })?;
    require(interleave == Interleave::None || request.rank >= 3, || {
        format!(
            "an interleaved tensor has 3 dimensions at least, not {}",
            request.rank
        )
    })?;
    require(
        interleave != Interleave::Bytes32 || swizzle == Swizzle::Bytes32,
        || "an interleave of 32 bytes needs the swizzle of 32 bytes".to_owned(),
    )?;
    require(map.fill == Fill::Zeros || data_type.is_float(), || {
        "only floats are filled with NaN".to_owned()
    })?;
    check_tensor(request, align)?;
    check_box(request, &map)?;
    Ok(map)
}

fn padded<T: Copy + Default, const N: usize>(values: &[T]) -> [T; N] {
    std::array::from_fn(|index| values.get(index).copied().unwrap_or_default())
}

fn check_tensor(request: &Request, align: u64) -> Checked {
    for (index, extent) in request.extents.iter().enumerate() {
        require((1..=1 << 32).contains(extent), || {
            format!("extent {index} is {extent}, not 1 to 2^32")
        })?;
    }
    for (index, stride) in request.strides.iter().enumerate() {
        require(stride.is_multiple_of(align) && *stride < 1 << 40, || {
            format!("stride {index} is {stride}: no multiple of {align} below 2^40")
        })?;
        // The page's loop has this assertion for all strides but the first. CUTLASS passes 0 for the
        // stride of a dimension with one element (a GEMM that is no batch), which works on GPUs.
        let extent = request.extents.get(index).copied().unwrap_or(0);
        let is_single = request.extents.get(index + 1) == Some(&1);
        require(index == 0 || is_single || *stride >= extent, || {
            format!("stride {index} is {stride}, less than the extent {extent}")
        })?;
    }
    Ok(())
}

fn check_box(request: &Request, map: &TensorMap) -> Checked {
    let is_plain = map.interleave == Interleave::None;
    for (index, extent) in request.box_extents.iter().enumerate() {
        require((1..=256).contains(extent), || {
            format!("extent {index} of the box is {extent}, not 1 to 256")
        })?;
    }
    for (index, stride) in request.element_strides.iter().enumerate() {
        let is_ignored = is_plain && index == 0;
        require(is_ignored || (1..=8).contains(stride), || {
            format!("element stride {index} is {stride}, not 1 to 8")
        })?;
    }
    let row = u64::from(request.box_extents.first().copied().unwrap_or(0)) * map.data_type.bytes();
    require(!is_plain || row.is_multiple_of(16), || {
        format!("a row of the box has {row} bytes, no multiple of 16")
    })?;
    match map.swizzle.span() {
        Some(span) if is_plain => require(row <= span, || {
            format!("a row of the box has {row} bytes, more than the swizzle's {span}")
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, make};

    fn request() -> Request {
        Request {
            data_type: 9,
            rank: 3,
            address: 4096,
            extents: vec![100, 50, 20],
            strides: vec![208, 10400],
            box_extents: vec![64, 8, 1],
            element_strides: vec![1, 1, 1],
            interleave: 0,
            swizzle: 3,
            promotion: 2,
            fill: 0,
        }
    }

    #[test]
    fn a_map_has_what_was_asked_for() {
        let map = make(&request()).unwrap();
        assert_eq!(map.extents, [100, 50, 20, 0, 0]);
        assert_eq!(map.strides, [208, 10400, 0, 0]);
        assert_eq!((map.box_extents[1], map.rank, map.address), (8, 3, 4096));
    }

    /// Each change breaks one requirement of the page.
    #[test]
    fn every_requirement_is_checked() {
        let refused = |change: &dyn Fn(&mut Request), text: &str| {
            let mut changed = request();
            change(&mut changed);
            let error = make(&changed).expect_err(text);
            assert!(error.contains(text), "{text}: {error}");
        };
        refused(&|r| r.rank = 0, "rank is 0");
        refused(&|r| r.rank = 6, "rank is 6");
        refused(&|r| r.data_type = 13, "data type 13");
        refused(&|r| r.interleave = 3, "interleave 3");
        refused(&|r| r.swizzle = 7, "swizzle 7");
        refused(&|r| r.promotion = 4, "promotion 4");
        refused(&|r| r.fill = 2, "fill 2");
        refused(&|r| r.address = 4104, "multiple of 16");
        refused(
            &|r| (r.interleave, r.swizzle, r.address) = (2, 1, 4112),
            "multiple of 32",
        );
        refused(&|r| (r.interleave, r.rank) = (1, 2), "3 dimensions");
        refused(&|r| r.interleave = 2, "swizzle of 32");
        refused(&|r| (r.data_type, r.fill) = (1, 1), "only floats");
        refused(&|r| r.extents[2] = 0, "extent 2 is 0");
        refused(&|r| r.extents[0] = (1 << 32) + 1, "extent 0");
        refused(&|r| r.strides[0] = 200, "stride 0");
        refused(&|r| r.strides[1] = 1 << 40, "stride 1");
        refused(&|r| r.strides[1] = 32, "less than the extent 50");
        refused(&|r| (r.interleave, r.swizzle) = (2, 1), "stride 0 is 208");
        refused(&|r| r.box_extents[1] = 0, "extent 1 of the box");
        refused(&|r| r.box_extents[2] = 257, "extent 2 of the box");
        refused(&|r| r.element_strides[1] = 9, "element stride 1");
        refused(&|r| r.element_strides[2] = 0, "element stride 2");
        refused(&|r| r.box_extents[0] = 60, "no multiple of 16");
        refused(&|r| r.box_extents[0] = 128, "the swizzle's 128");
        refused(
            &|r| (r.box_extents[0], r.swizzle) = (32, 1),
            "the swizzle's 32",
        );
        refused(
            &|r| (r.box_extents[0], r.swizzle) = (64, 2),
            "the swizzle's 64",
        );
    }

    #[test]
    fn what_the_page_leaves_open_is_accepted() {
        let accepted = |change: &dyn Fn(&mut Request)| {
            let mut changed = request();
            change(&mut changed);
            make(&changed).unwrap();
        };
        accepted(&|r| r.element_strides[0] = 0);
        accepted(&|r| (r.extents[2], r.strides[1]) = (1, 0));
        accepted(&|r| r.extents[2] = 1 << 32);
        accepted(&|r| (r.swizzle, r.box_extents[0]) = (0, 256));
        accepted(&|r| (r.interleave, r.box_extents[0]) = (1, 4));
        accepted(&|r| r.fill = 1);
    }
}
