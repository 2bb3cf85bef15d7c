//! Asynchronous copies, issued by the lanes of a warp one after the other.

use std::rc::Rc;

use super::copies::{self, Copy, End, SourceBytes, TensorBox};
use super::decode::Address;
use super::engine::{Completion, Groups};
use super::execute::{Active, LaneError, memory, shared_place};
use super::tensor;
use super::tensor_map::{DIMENSIONS, DataType};
use super::transfer::{
    Agent, Location, Memory, Proxy, Reduction, Repeated, Tensor, Transfer, check_alignment,
};
use crate::machine::memory::Window;
use crate::machine::registers::{LANES, lanes};
use crate::machine::shared::{Shared, SharedPlace};
use crate::machine::world::World;
use crate::parse::Type;

/// # Errors
///
/// What the ISA leaves undefined.
pub fn execute(copy: &Copy, active: &Active<'_>, world: &mut World<'_>) -> Result<(), LaneError> {
    let repeated = repeated(copy, active);
    if world.counter.is_some() {
        count(copy, active, world);
    }
    for lane in lanes(active.mask) {
        let done = match copy {
            Copy::Small { .. } => small(copy, active, world, lane),
            Copy::Bulk { .. } => bulk(copy, active, world, lane),
            Copy::TensorLoad { .. } | Copy::TensorStore { .. } => {
                tensor_copy(copy, active, world, (lane, &repeated[lane]))
            }
            Copy::Prefetch { from, bytes } => {
                let address = active.addresses(from)[lane];
                let bytes = bytes.row(active.registers)[lane].into();
                check_size(bytes).and_then(|()| {
                    check_alignment(Location::Global(address), 16, "source")?;
                    world.global.get(address, bytes, 16).map(|_| ())
                })
            }
            Copy::TensorPrefetch(of) => tensor_of(of, active, world, lane).map(|_| ()),
        };
        done.map_err(|message| (lane, message))?;
    }
    Ok(())
}

/// The bytes of global memory that the copies of all lanes move; what is undefined moves none.
fn count(copy: &Copy, active: &Active<'_>, world: &mut World<'_>) {
    let mut requests: Vec<Vec<(u64, u64)>> = Vec::new();
    for lane in lanes(active.mask) {
        let of_bulk = |bytes: u64, world: &World<'_>| {
            let (Copy::Small { to, from, .. } | Copy::Bulk { to, from, .. }) = copy else {
                return Vec::new();
            };
            let places = [to, from].into_iter().filter_map(|at| {
                let place = place(active, world, at, lane).ok()?;
                let Location::Global(address) = place else {
                    return None;
                };
                Some((address, bytes))
            });
            places.collect()
        };
        let parts = match copy {
            Copy::Small { bytes, source, .. } => {
                let read = source_bytes(source, *bytes, active, lane);
                let parts = of_bulk(read.min(*bytes), world);
                // The lanes of a warp share a request.
                match requests.first_mut() {
                    Some(all) => all.extend(parts),
                    None => requests.push(parts),
                }
                continue;
            }
            Copy::Bulk { bytes, .. } => of_bulk(bytes.row(active.registers)[lane].into(), world),
            Copy::TensorLoad { box_of, .. } | Copy::TensorStore { box_of, .. } => {
                let Ok(tensor) = tensor_of(box_of, active, world, lane) else {
                    continue;
                };
                let pieces = tensor::pieces(&tensor.map, &tensor.start).into_iter();
                pieces
                    .filter_map(|piece| Some((piece.global?, piece.bytes)))
                    .collect()
            }
            Copy::Prefetch { .. } | Copy::TensorPrefetch(_) => continue,
        };
        // CUTLASS stores a tile by all lanes of a warp (docs/verification.md): hardware has one
        // instruction of a warp for it.
        let stores = matches!(copy, Copy::TensorStore { .. });
        if !(stores && requests.contains(&parts)) {
            requests.push(parts);
        }
    }
    if let Some(counter) = &mut world.counter {
        requests
            .iter()
            .for_each(|parts| counter.copied(active.site, parts));
    }
}

/// How many bytes of the source a copy by one thread reads.
fn source_bytes(source: &SourceBytes, bytes: u64, active: &Active<'_>, lane: usize) -> u64 {
    match source {
        SourceBytes::All => bytes,
        SourceBytes::Some(count) => count.row(active.registers)[lane].into(),
        SourceBytes::Unless(predicate) => match predicate.lanes(active.registers) >> lane & 1 {
            0 => bytes,
            _ => 0,
        },
    }
}

/// Of each lane that issues the same tensor store as others, what they share.
fn repeated(copy: &Copy, active: &Active<'_>) -> [Repeated; LANES] {
    let mut found = [const { None }; LANES];
    let Copy::TensorStore {
        from,
        box_of,
        reduction: None,
    } = copy
    else {
        return found;
    };
    let mut rows = vec![active.addresses(from), active.addresses(&box_of.map)];
    let start = box_of.start.iter();
    rows.extend(start.map(|source| source.row(active.registers).map(u64::from)));
    for lane in lanes(active.mask) {
        let same = |other: &usize| rows.iter().all(|row| row[lane] == row[*other]);
        if let Some(other) = lanes(active.mask)
            .take_while(|other| *other < lane)
            .find(same)
        {
            let shared = found[other].get_or_insert_default();
            found[lane] = Some(Rc::clone(shared));
        }
    }
    found
}

/// For the detection of races: the next operation is one of this lane.
fn begin(active: &Active<'_>, world: &mut World<'_>, lane: usize) {
    let order = world.order.as_mut();
    let operation = order.map(|order| order.begin(active.clock, 1 << lane, active.site));
    world.cluster.engine.issuer = operation;
}

fn location(shared: &Shared, window: Window, address: u64) -> Result<Location, String> {
    match window {
        Window::Global => Ok(Location::Global(address)),
        window => shared_place(shared, window, address).map(Location::Shared),
    }
}

fn place(
    active: &Active<'_>,
    world: &World<'_>,
    at: &Address,
    lane: usize,
) -> Result<Location, String> {
    location(world.shared, at.window, active.addresses(at)[lane])
}

fn check_size(bytes: u64) -> Result<(), String> {
    match bytes.is_multiple_of(16) {
        true => Ok(()),
        false => Err(format!(
            "a bulk copy of {bytes} bytes, not a multiple of 16"
        )),
    }
}

/// ISA, `cp.async`: aligned to its size; more source bytes than the size are undefined.
fn small(
    copy: &Copy,
    active: &Active<'_>,
    world: &mut World<'_>,
    lane: usize,
) -> Result<(), String> {
    let Copy::Small {
        to,
        from,
        bytes,
        source,
    } = copy
    else {
        return Ok(());
    };
    let (to, from) = (
        place(active, world, to, lane)?,
        place(active, world, from, lane)?,
    );
    check_alignment(to, *bytes, "destination")?;
    check_alignment(from, *bytes, "source")?;
    let read = source_bytes(source, *bytes, active, lane);
    let Some(zeros) = bytes.checked_sub(read) else {
        return Err(format!("{read} source bytes of a copy of {bytes}"));
    };
    let transfer = Transfer::Bytes {
        from,
        to,
        bytes: read,
        zeros,
        reduction: None,
    };
    let agent = Agent {
        thread: active.thread(world, lane),
        proxy: Proxy::Generic,
    };
    begin(active, world, lane);
    let memory = &mut memory!(world);
    let completion = Completion::Group(Groups::Copies);
    world
        .cluster
        .engine
        .issue(memory, agent, transfer, completion)
}

/// A copy to several blocks. ISA, "Asynchronous Operations": its completion on an mbarrier is ordered
/// with respect to the memory operations of the same instruction, so the wait of one block shows that
/// the source has been read for all.
fn begin_multicast(active: &Active<'_>, world: &mut World<'_>, lane: usize, blocks: usize) {
    if blocks > 1 {
        begin(active, world, lane);
        world.cluster.engine.begin_multicast();
    }
}

/// Where the copy goes in each block, and what it completes there.
fn ends(
    active: &Active<'_>,
    world: &World<'_>,
    (to, end): (Location, &End),
    lane: usize,
) -> Result<Vec<(Location, Completion)>, String> {
    let (at, multicast) = match end {
        End::Group => return Ok(vec![(to, Completion::Group(Groups::Bulk))]),
        End::Mbarrier { at, multicast } => (at, multicast),
    };
    let Location::Shared(to) = to else {
        return Err("an mbarrier observes a copy to global memory".to_owned());
    };
    let mbarrier = shared_place(world.shared, at.window, active.addresses(at)[lane])?;
    if mbarrier.rank != to.rank {
        return Err(format!(
            "the mbarrier is in the memory of the block with rank {}, the destination in that of \
             rank {}",
            mbarrier.rank, to.rank
        ));
    }
    let Some(mask) = multicast else {
        return Ok(vec![(Location::Shared(to), Completion::Mbarrier(mbarrier))]);
    };
    let mask = usize::from(mask.row(active.registers)[lane]);
    let blocks = world.shared.blocks();
    if mask == 0 || mask >> blocks != 0 {
        return Err(format!(
            "multicast to the blocks {mask:#b} of a cluster of {blocks}"
        ));
    }
    let ranks = (0..blocks).filter(|rank| mask >> rank & 1 == 1);
    let target = |rank: usize| {
        let to = SharedPlace { rank, ..to };
        let at = SharedPlace { rank, ..mbarrier };
        (Location::Shared(to), Completion::Mbarrier(at))
    };
    Ok(ranks.map(target).collect())
}

/// ISA, `cp.async.bulk`: sizes and addresses are multiples of 16.
fn bulk(
    copy: &Copy,
    active: &Active<'_>,
    world: &mut World<'_>,
    lane: usize,
) -> Result<(), String> {
    let Copy::Bulk {
        to,
        from,
        bytes,
        reduction,
        end,
    } = copy
    else {
        return Ok(());
    };
    let bytes: u64 = bytes.row(active.registers)[lane].into();
    let (to, from) = (
        place(active, world, to, lane)?,
        place(active, world, from, lane)?,
    );
    check_size(bytes)?;
    check_alignment(to, 16, "destination")?;
    check_alignment(from, 16, "source")?;
    let agent = Agent {
        thread: active.thread(world, lane),
        proxy: Proxy::Async,
    };
    let ends = ends(active, world, (to, end), lane)?;
    begin_multicast(active, world, lane, ends.len());
    for (to, completion) in ends {
        let transfer = Transfer::Bytes {
            from,
            to,
            bytes,
            zeros: 0,
            reduction: *reduction,
        };
        begin(active, world, lane);
        let memory = &mut memory!(world);
        world
            .cluster
            .engine
            .issue(memory, agent, transfer, completion)?;
    }
    world.cluster.engine.end_multicast();
    Ok(())
}

fn tensor_of(
    of: &TensorBox,
    active: &Active<'_>,
    world: &mut World<'_>,
    lane: usize,
) -> Result<Tensor, String> {
    let address = active.addresses(&of.map)[lane];
    let map = memory!(world).tensor_map(address)?;
    tensor::check(&map, of.start.len())?;
    let mut start = [0; DIMENSIONS];
    for (coordinate, source) in start.iter_mut().zip(&of.start) {
        *coordinate = source.row(active.registers)[lane].cast_signed();
    }
    Ok(Tensor {
        address,
        map,
        start,
    })
}

/// CUDA C++ programming guide, "Asynchronous Data Copies using the Tensor Memory Accelerator",
/// "Transferring multi-dimensional arrays": the box in shared memory is aligned to 128 bytes ("Alignment
/// requirements"), and the corner of a box that is stored has no negative index, while that of a box
/// that is loaded may have some ("Negative indices and out of bounds"). The PTX ISA says nothing of it.
fn tensor_copy(
    copy: &Copy,
    active: &Active<'_>,
    world: &mut World<'_>,
    (lane, repeated): (usize, &Repeated),
) -> Result<(), String> {
    let agent = Agent {
        thread: active.thread(world, lane),
        proxy: Proxy::Async,
    };
    match copy {
        Copy::TensorLoad { to, box_of, end } => {
            let tensor = tensor_of(box_of, active, world, lane)?;
            let to = place(active, world, to, lane)?;
            check_alignment(to, tensor::SHARED_ALIGNMENT, "destination")?;
            let ends = ends(active, world, (to, end), lane)?;
            begin_multicast(active, world, lane, ends.len());
            for (to, completion) in ends {
                let Location::Shared(to) = to else { continue };
                let tensor = tensor.clone();
                begin(active, world, lane);
                let memory = &mut memory!(world);
                let transfer = Transfer::Load { tensor, to };
                world
                    .cluster
                    .engine
                    .issue(memory, agent, transfer, completion)?;
            }
            world.cluster.engine.end_multicast();
            Ok(())
        }
        Copy::TensorStore {
            from,
            box_of,
            reduction,
        } => {
            let tensor = tensor_of(box_of, active, world, lane)?;
            if tensor.start.iter().any(|coordinate| *coordinate < 0) {
                let start = &tensor.start[..box_of.start.len()];
                return Err(format!(
                    "a tensor store at the negative coordinates {start:?}"
                ));
            }
            let from = place(active, world, from, lane)?;
            check_alignment(from, tensor::SHARED_ALIGNMENT, "source")?;
            let Location::Shared(from) = from else {
                return Ok(());
            };
            let reduction = match reduction {
                Some(name) => Some(tensor_reduction(name, tensor.map.data_type)?),
                None => None,
            };
            let transfer = Transfer::Store {
                tensor,
                from,
                reduction,
                repeated: repeated.clone(),
            };
            begin(active, world, lane);
            let memory = &mut memory!(world);
            let completion = Completion::Group(Groups::Bulk);
            world
                .cluster
                .engine
                .issue(memory, agent, transfer, completion)
        }
        _ => Ok(()),
    }
}

/// ISA, `cp.reduce.async.bulk.tensor`: the type is that of the tensor.
fn tensor_reduction(name: &str, data_type: DataType) -> Result<Reduction, String> {
    let bits = matches!(name, "and" | "or" | "xor");
    let ty = match (data_type, bits) {
        (DataType::U32 | DataType::S32, true) => Some(Type::B32),
        (DataType::U64 | DataType::S64, true) => Some(Type::B64),
        (DataType::U32, false) => Some(Type::U32),
        (DataType::S32, false) => Some(Type::S32),
        (DataType::U64, false) => Some(Type::U64),
        (DataType::S64, false) if name != "add" => Some(Type::S64),
        (DataType::F32, false) => Some(Type::F32),
        (DataType::F16, false) => Some(Type::F16),
        (DataType::Bf16, false) => Some(Type::Bf16),
        _ => None,
    };
    let update = ty.and_then(|ty| copies::update(name, ty));
    match update {
        Some(update) => Ok(Reduction {
            bytes: data_type.bytes(),
            update,
        }),
        None => Err(format!(
            "a reduction by `{name}` of a tensor of {data_type:?} is not implemented"
        )),
    }
}
