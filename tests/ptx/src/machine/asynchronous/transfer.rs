//! What an asynchronous operation reads and writes.
//!
//! Every effect of asynchronous operations on memory goes through [`Memory::read`] and
//! [`Memory::write`], with the thread that issued the operation and the proxy.

use std::cell::Cell;
use std::rc::Rc;

use super::tensor::{self, Piece};
use super::tensor_map::{self, DIMENSIONS, TensorMap};
use crate::machine::global::Global;
use crate::machine::memory::{Arena, Window, to_bits};
use crate::machine::observe;
use crate::machine::order::{self, Effect, Kind, Operation, Order, Scope, Space, View};
use crate::machine::shared::{Shared, SharedPlace};

/// What operations reach.
pub struct Memory<'a> {
    pub global: &'a mut Global,
    pub shared: &'a mut Shared,
    pub constants: &'a Arena,
    pub parameters: &'a Arena,
    /// None if races are not looked for.
    pub order: Option<&'a mut Order>,
}

/// A thread of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Thread {
    pub rank: usize,
    /// Its linear index in the block.
    pub index: u32,
}

/// The path by which an operation reaches memory ("Proxies").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proxy {
    Generic,
    Async,
}

/// The thread that issued an operation, and how the operation reaches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agent {
    pub thread: Thread,
    pub proxy: Proxy,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    Global(u64),
    Shared(SharedPlace),
}

impl Location {
    fn address(self) -> u64 {
        match self {
            Location::Global(address) => address,
            Location::Shared(place) => place.address,
        }
    }
}

impl Memory<'_> {
    /// # Errors
    ///
    /// The bytes are not in one allocation or variable.
    pub fn read(&self, agent: Agent, from: Location, bytes: u64) -> Result<&[u8], String> {
        self.touch(from, bytes, order::kind(false, agent.proxy == Proxy::Async));
        let found = match from {
            Location::Global(address) => self.global.get(address, bytes, 1),
            Location::Shared(place) => self.shared.get_at(place, bytes, 1),
        };
        found.map_err(|message| describe(agent, &message))
    }

    /// # Errors
    ///
    /// As for [`Memory::read`].
    pub fn write(&mut self, agent: Agent, to: Location, bytes: u64) -> Result<&mut [u8], String> {
        self.touch(to, bytes, order::kind(true, agent.proxy == Proxy::Async));
        self.place(agent, to, bytes)
    }

    /// As [`Memory::write`], for elements that are modified one by one, each at once. ISA,
    /// `cp.reduce.async.bulk`: with relaxed semantics at the scope of the device.
    fn modify(
        &mut self,
        agent: Agent,
        to: Location,
        bytes: u64,
        element: u64,
    ) -> Result<&mut [u8], String> {
        let kind = Kind {
            strong: Some(Scope::Device),
            bytes: element as u8,
            ..order::kind(true, agent.proxy == Proxy::Async)
        };
        self.touch(to, bytes, kind);
        self.place(agent, to, bytes)
    }

    /// If the bytes are there, writes them again. That is no race with the write of another lane:
    /// CUTLASS stores each tile by all lanes of a warp, where the ISA has one store for each.
    fn repeats(&mut self, agent: Agent, to: Location, data: &[u8]) -> Result<bool, String> {
        let bytes = data.len() as u64;
        if *self.place(agent, to, bytes)? != *data {
            return Ok(false);
        }
        let kind = Kind {
            effect: Effect::Same,
            ..order::kind(true, agent.proxy == Proxy::Async)
        };
        self.touch(to, bytes, kind);
        Ok(true)
    }

    fn place(&mut self, agent: Agent, to: Location, bytes: u64) -> Result<&mut [u8], String> {
        let found = match to {
            Location::Global(address) => self.global.get_mut(address, bytes, 1),
            Location::Shared(place) => self.shared.get_mut_at(place, bytes, 1),
        };
        found.map_err(|message| describe(agent, &message))
    }

    fn touch(&self, at: Location, bytes: u64, kind: Kind) {
        let Some(order) = &self.order else { return };
        let at = match at {
            Location::Global(address) => (None, address),
            Location::Shared(place) => (Some(place), place.address),
        };
        if let Some(touch) = observe::touch(self.global, self.shared, at, bytes, (kind, 0)) {
            order.touch(touch);
        }
    }

    /// What was accessed since the last call is on the account of the operation.
    ///
    /// # Errors
    ///
    /// A race.
    pub fn settle(&mut self, operation: &mut Option<Operation>) -> Result<(), String> {
        let (Some(order), Some(operation)) = (&mut self.order, operation) else {
            return Ok(());
        };
        let done = order.settle(&mut operation.clock, operation.site);
        done.map_err(|failure| observe::failed(failure, order, self.global, self.shared))
    }

    /// An operation, which is not finished yet, accesses the mbarrier on which it completes.
    ///
    /// # Errors
    ///
    /// The initialisation of the mbarrier is not ordered before the operation.
    pub fn touch_mbarrier(
        &mut self,
        place: SharedPlace,
        operation: &mut Option<Operation>,
    ) -> Result<(), String> {
        self.touch(Location::Shared(place), 8, order::OBJECT);
        self.settle(operation)
    }

    /// An operation, which is not finished yet, has written to the memory of another block.
    pub fn sends(&mut self, to: SharedPlace, operation: &Option<Operation>) {
        let (Some(order), Some(operation)) = (&mut self.order, operation) else {
            return;
        };
        let space = Space::Shared(self.shared.number(to.rank));
        let offset = to.address;
        order.sends(operation, order::Location { space, offset });
    }

    /// An operation completes on the mbarrier.
    ///
    /// # Errors
    ///
    /// No mbarrier is at the place.
    pub fn complete_in_phase(
        &mut self,
        place: SharedPlace,
        view: Option<&View>,
    ) -> Result<(), String> {
        let number = self.shared.mbarrier(place)?.phase;
        let Some(order) = &mut self.order else {
            return Ok(());
        };
        let at = (Some(place), place.address);
        let touch = observe::touch(self.global, self.shared, at, 8, (order::OBJECT, 0));
        if let (Some(touch), Some(view)) = (touch, view) {
            order.complete_in_phase(touch.location, number, view);
        }
        Ok(())
    }

    /// What was accessed since the last call was only checked for room.
    pub fn forget_touches(&mut self) {
        if let Some(order) = &mut self.order {
            order.forget_touches();
        }
    }

    /// The map at a generic address.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn tensor_map(&self, address: u64) -> Result<TensorMap, String> {
        let (window, within) = Window::of_generic(address);
        let (bytes, align) = (tensor_map::BYTES as u64, 64);
        let found = match window {
            Window::Global => self.global.get(within, bytes, align),
            Window::Param => self.parameters.get(within, bytes, align),
            Window::Const => self.constants.get(within, bytes, align),
            other => {
                return Err(format!(
                    "a tensor map in {} memory, not in global, parameter or constant memory",
                    other.name()
                ));
            }
        }?;
        TensorMap::decode(found).map_err(|error| error.to_string())
    }
}

fn describe(agent: Agent, message: &str) -> String {
    let Agent { thread, proxy } = agent;
    let Thread { rank, index } = thread;
    format!(
        "{message}\n  in an asynchronous operation of thread {index} of the block with rank \
         {rank}, by the {proxy:?} proxy"
    )
}

/// The old value and the operand → the new value.
pub type Update = fn(u64, u64, u64) -> u64;

/// A reduction of elements of so many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    pub bytes: u64,
    pub update: Update,
}

/// Of a store that several lanes of a warp issue with one instruction: whether one of them has
/// written.
pub type Repeated = Option<Rc<Cell<bool>>>;

#[derive(Clone, Debug)]
pub enum Transfer {
    Bytes {
        from: Location,
        to: Location,
        bytes: u64,
        /// After the bytes.
        zeros: u64,
        reduction: Option<Reduction>,
    },
    Load {
        tensor: Tensor,
        to: SharedPlace,
    },
    Store {
        tensor: Tensor,
        from: SharedPlace,
        reduction: Option<Reduction>,
        repeated: Repeated,
    },
}

/// A box of a tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The generic address of the map.
    pub address: u64,
    /// As it was when the operation was issued.
    pub map: TensorMap,
    pub start: [i32; DIMENSIONS],
}

impl Tensor {
    fn pieces(&self, memory: &Memory<'_>) -> Result<Vec<Piece>, String> {
        if memory.tensor_map(self.address)? != self.map {
            return Err("the tensor map was changed while a copy used it".to_owned());
        }
        Ok(tensor::pieces(&self.map, &self.start))
    }
}

impl Transfer {
    /// Into the destination, or out of the source.
    pub fn bytes(&self) -> u64 {
        match self {
            Transfer::Bytes { bytes, zeros, .. } => bytes + zeros,
            Transfer::Load { tensor, .. } | Transfer::Store { tensor, .. } => {
                tensor::bytes(&tensor.map)
            }
        }
    }

    /// The block into which it writes, and the one from which it reads.
    pub fn ranks(&self) -> (Option<usize>, Option<usize>) {
        let rank = |location: &Location| match location {
            Location::Shared(place) => Some(place.rank),
            Location::Global(_) => None,
        };
        match self {
            Transfer::Bytes { from, to, .. } => (rank(to), rank(from)),
            Transfer::Load { to, .. } => (Some(to.rank), None),
            Transfer::Store { from, .. } => (None, Some(from.rank)),
        }
    }

    /// Where it writes to the memory of another block than this.
    pub fn leaves(&self, rank: usize) -> Option<SharedPlace> {
        let to = match self {
            Transfer::Bytes {
                to: Location::Shared(to),
                ..
            }
            | Transfer::Load { to, .. } => *to,
            _ => return None,
        };
        (to.rank != rank).then_some(to)
    }

    /// What is to be written, in the order of the destination's bytes or those of the box.
    ///
    /// # Errors
    ///
    /// Bytes that are not there.
    pub fn read(&self, agent: Agent, memory: &Memory<'_>) -> Result<Vec<u8>, String> {
        let mut data = vec![0; self.bytes() as usize];
        match self {
            Transfer::Bytes { bytes: 0, .. } => {}
            Transfer::Bytes { from, bytes, .. } => {
                data[..*bytes as usize].copy_from_slice(memory.read(agent, *from, *bytes)?);
            }
            Transfer::Load { tensor, .. } => {
                let filling = tensor::filling(&tensor.map);
                for piece in tensor.pieces(memory)? {
                    let place = &mut data[piece.offset as usize..][..piece.bytes as usize];
                    match piece.global {
                        Some(address) => {
                            let from = Location::Global(address);
                            place.copy_from_slice(memory.read(agent, from, piece.bytes)?);
                        }
                        None => place
                            .chunks_exact_mut(filling.len())
                            .for_each(|element| element.copy_from_slice(&filling)),
                    }
                }
            }
            Transfer::Store { tensor, from, .. } => {
                let chunks = tensor::chunks(tensor.map.swizzle, from.address, self.bytes());
                for (offset, address, bytes) in chunks {
                    let chunk = Location::Shared(SharedPlace { address, ..*from });
                    data[offset as usize..][..bytes as usize]
                        .copy_from_slice(memory.read(agent, chunk, bytes)?);
                }
            }
        }
        Ok(data)
    }

    /// Without data it only checks that there is room for them.
    ///
    /// # Errors
    ///
    /// Bytes that are not there.
    pub fn write(
        &self,
        agent: Agent,
        memory: &mut Memory<'_>,
        data: Option<&[u8]>,
    ) -> Result<(), String> {
        match self {
            Transfer::Bytes { to, reduction, .. } => {
                put(agent, memory, *to, (self.bytes(), data), *reduction)
            }
            Transfer::Load { tensor, to } => {
                let chunks = tensor::chunks(tensor.map.swizzle, to.address, self.bytes());
                for (offset, address, bytes) in chunks {
                    let chunk = Location::Shared(SharedPlace { address, ..*to });
                    let part = data.map(|data| &data[offset as usize..]);
                    put(agent, memory, chunk, (bytes, part), None)?;
                }
                Ok(())
            }
            Transfer::Store {
                tensor,
                reduction,
                repeated,
                ..
            } => {
                let again = repeated.as_ref().is_some_and(|written| written.get());
                for piece in tensor.pieces(memory)? {
                    let Some(address) = piece.global else {
                        continue;
                    };
                    let part = data.map(|data| &data[piece.offset as usize..]);
                    let to = Location::Global(address);
                    if let Some(data) = part
                        && again
                        && memory.repeats(agent, to, &data[..piece.bytes as usize])?
                    {
                        continue;
                    }
                    put(agent, memory, to, (piece.bytes, part), *reduction)?;
                }
                if let Some(written) = repeated
                    && data.is_some()
                {
                    written.set(true);
                }
                Ok(())
            }
        }
    }
}

/// The first bytes of the data.
fn put(
    agent: Agent,
    memory: &mut Memory<'_>,
    to: Location,
    (bytes, data): (u64, Option<&[u8]>),
    reduction: Option<Reduction>,
) -> Result<(), String> {
    if bytes == 0 {
        return Ok(());
    }
    let place = match &reduction {
        Some(reduction) => memory.modify(agent, to, bytes, reduction.bytes),
        None => memory.write(agent, to, bytes),
    }?;
    let Some(data) = data else { return Ok(()) };
    let data = &data[..bytes as usize];
    let Some(Reduction { bytes, update }) = reduction else {
        place.copy_from_slice(data);
        return Ok(());
    };
    let bytes = bytes as usize;
    for (old, operand) in place.chunks_exact_mut(bytes).zip(data.chunks_exact(bytes)) {
        let new = update(to_bits(old), to_bits(operand), 0);
        old.copy_from_slice(&new.to_le_bytes()[..bytes]);
    }
    Ok(())
}

/// # Errors
///
/// The address is not a multiple of `align`.
pub fn check_alignment(location: Location, align: u64, what: &str) -> Result<(), String> {
    match location.address().is_multiple_of(align) {
        true => Ok(()),
        false => Err(format!(
            "the {what} address {:#x} is not a multiple of {align}",
            location.address()
        )),
    }
}
