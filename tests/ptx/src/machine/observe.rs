//! What a warp's accesses mean for the detection of races: which allocation they are in, and how a
//! race is described.

use super::global::Global;
use super::marks::Origin;
use super::memory::{Arena, Window};
use super::order::{
    self, Access, Effect, Failure, Found, GRANULE, Kind, Location, Order, Space, Target, Touch,
    WarpClock,
};
use super::registers::{Mask, lanes};
use super::shared::{Shared, SharedPlace};
use super::spaces::Spaces;

/// Why an instruction fails for a lane.
#[derive(Debug)]
pub struct Problem {
    pub lane: usize,
    pub message: String,
    pub cause: Cause,
}

#[derive(Debug)]
pub enum Cause {
    None,
    Race(Box<Found>),
    Unwritten(Origin),
}

impl From<(usize, String)> for Problem {
    fn from((lane, message): (usize, String)) -> Problem {
        Problem {
            lane,
            message,
            cause: Cause::None,
        }
    }
}

/// An access that has been executed. Accesses to local, parameter and constant memory cannot race.
///
/// # Errors
///
/// A race.
pub fn observe(
    order: &mut Order,
    clock: &mut WarpClock,
    spaces: &Spaces<'_>,
    window: Window,
    access: &Access<'_>,
    mask: Mask,
) -> Result<(), Problem> {
    let mut left = mask;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let address = access.addresses[first];
        let (found, local) = match window {
            Window::Generic => Window::of_generic(address),
            window => (window, address),
        };
        // The address of the target's first byte, as the instruction sees it.
        let moved = address - local;
        let target = match found {
            Window::Global => spaces.global.numbered(local).map(|(index, range)| Target {
                space: Space::Global(index),
                start: range.start,
                bytes: range.end - range.start,
            }),
            Window::Shared => Some(Target {
                space: Space::Shared(spaces.shared.number(spaces.shared.rank)),
                start: moved,
                bytes: spaces.shared.end(),
            }),
            Window::Cluster => spaces.shared.place(local).ok().map(|place| Target {
                space: Space::Shared(spaces.shared.number(place.rank)),
                start: address - place.address,
                bytes: spaces.shared.part(place.rank).end(),
            }),
            _ => None,
        };
        let Some(target) = target else {
            left &= !(1 << first);
            continue;
        };
        let inside =
            |lane: &usize| access.addresses[*lane].wrapping_sub(target.start) < target.bytes;
        let part = lanes(left)
            .filter(inside)
            .fold(0, |mask, lane| mask | 1 << lane);
        left &= !part & !(1 << first);
        let done = order.access(clock, access, &target, part);
        done.map_err(|failure| match failure {
            Failure::Limit(message) => (first, message).into(),
            Failure::Race(found) => Problem {
                lane: found.race.later_lane,
                message: describe(&found, spaces.global, spaces.shared),
                cause: Cause::Race(found),
            },
        })?;
    }
    Ok(())
}

pub fn describe(found: &Found, global: &Global, memory: &Shared) -> String {
    let offset = found.location.offset;
    let place = match found.location.space {
        Space::Global(index) => format!("offset {offset} of `{}`", global.name(index)),
        Space::Shared(block) => {
            let rank = (block % memory.blocks() as u32) as usize;
            shared_place(memory.part(rank), offset)
        }
    };
    let (earlier, later) = (verb(found.race.earlier.kind), verb(found.race.later));
    match found.race.cause {
        order::Cause::Unordered => {
            format!(
                "a data race at {place}: this {later} is not ordered after an earlier {earlier}"
            )
        }
        order::Cause::Proxy => format!(
            "at {place}: this {later} is not ordered after an earlier {earlier} by a proxy fence"
        ),
        order::Cause::Exit => {
            let Space::Shared(block) = found.location.space else {
                return format!("a block exits before an earlier {earlier} at {place}");
            };
            let rank = block % memory.blocks() as u32;
            format!(
                "the block exits, and nothing orders before that an earlier {earlier} at {place} of \
                 the block with rank {rank}"
            )
        }
        order::Cause::ReadOnly => format!(
            "at {place}: this read through the read-only cache follows a {earlier} of the same launch"
        ),
    }
}

fn shared_place(shared: &Arena, address: u64) -> String {
    // The first bytes of the granule may be of no variable.
    let mut named = (address..address + GRANULE).filter_map(|at| shared.layout().name(at));
    match named.next() {
        Some((name, at)) => format!("offset {at} of `{name}` in shared memory"),
        None => format!("shared memory {address:#x}"),
    }
}

/// An address as an instruction has it, by the variable or allocation that it is in.
pub fn place(
    global: &Global,
    shared: &Shared,
    local: Option<&Arena>,
    (window, address): (Window, u64),
) -> String {
    let (window, address) = match window {
        Window::Generic => Window::of_generic(address),
        window => (window, address),
    };
    let named = match window {
        Window::Global => global
            .numbered(address)
            .map(|(index, range)| (global.name(index), address - range.start)),
        Window::Shared => return shared_place(shared.own(), address),
        Window::Cluster => {
            if let Ok(place) = shared.place(address) {
                return shared_place(shared.part(place.rank), place.address);
            }
            None
        }
        Window::Local => local.and_then(|local| local.layout().name(address)),
        _ => None,
    };
    match named {
        Some((name, offset)) => format!("offset {offset} of `{name}`"),
        None => format!("{} address {address:#x}", window.name()),
    }
}

fn verb(kind: Kind) -> String {
    let effect = match kind.effect {
        Effect::Read | Effect::ReadOnly => "read",
        Effect::Same | Effect::Write | Effect::Initialise => "write",
    };
    let strength = if kind.strong.is_some() { "strong " } else { "" };
    let proxy = if kind.is_async {
        " by the async proxy"
    } else {
        ""
    };
    format!("{strength}{effect}{proxy}")
}

/// Bytes that an asynchronous operation or a matrix instruction accesses.
pub fn touch(
    global: &Global,
    shared: &Shared,
    (place, address): (Option<SharedPlace>, u64),
    bytes: u64,
    (kind, lane): (Kind, usize),
) -> Option<Touch> {
    let (location, size) = match place {
        Some(SharedPlace { rank, address }) => {
            let space = Space::Shared(shared.number(rank));
            let offset = address;
            (Location { space, offset }, shared.part(rank).end())
        }
        None => {
            let (index, range) = global.numbered(address)?;
            let space = Space::Global(index);
            let offset = address - range.start;
            (Location { space, offset }, range.end - range.start)
        }
    };
    Some(Touch {
        location,
        bytes,
        size,
        kind,
        lane,
    })
}

/// A race or a limit in the course of an operation.
pub fn failed(failure: Failure, order: &mut Order, global: &Global, shared: &Shared) -> String {
    match failure {
        Failure::Limit(message) => message,
        Failure::Race(found) => {
            let message = describe(&found, global, shared);
            order.fail(found);
            message
        }
    }
}

/// What an executed instruction changed.
pub fn effects(kind: Kind, active: Mask, changed: Mask) -> [(Kind, Mask); 2] {
    let same = Kind {
        effect: Effect::Same,
        ..kind
    };
    match kind.effect {
        // A strong write of the same bytes may carry a release.
        Effect::Write if kind.strong.is_none() => {
            [(kind, active & changed), (same, active & !changed)]
        }
        _ => [(kind, active), (same, 0)],
    }
}
