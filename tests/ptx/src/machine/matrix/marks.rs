//! Marks of unwritten bytes in matrix instructions.

use super::super::marks::{Bytes, Origin, all_bytes};
use super::super::memory::Window;
use super::super::observe::{Cause, Problem};
use super::super::paths::Path;
use super::super::registers::{Mask, Row, Slot, lanes};
use super::super::shared::SharedPlace;
use super::super::warp::{Frame, Warp};
use super::super::world::{Fault, World};
use super::Matrix;
use super::pending::Issued;

fn put(frame: &mut Frame<'_>, found: &[(Slot, Row<Bytes>)], origin: Origin) {
    let assignment = &frame.code.assignment;
    for (slot, row) in found {
        frame.marks.set(assignment, *slot, Mask::MAX, row, origin);
    }
}

/// Before an instruction that is no asynchronous product is executed.
///
/// # Errors
///
/// A marked address.
pub fn track(
    warp: &mut Warp<'_>,
    path: &Path,
    matrix: &Matrix,
    world: &mut World<'_>,
) -> Result<(), Fault> {
    let frame = &mut warp.frames[path.frame];
    let unwritten = world.shared.own().unwritten();
    if frame.marks.is_empty() && unwritten.is_empty() {
        return Ok(());
    }
    let assignment = &frame.code.assignment;
    let of = |slot: Slot| frame.marks.get(assignment, slot);
    let mut origin = Origin::default();
    let found = match matrix {
        Matrix::Transfer(transfer) => {
            let marked = transfer
                .address()
                .map_or(0, |slot| frame.marks.lanes(assignment, slot));
            if let (Some(slot), Some(lane)) = (transfer.address(), lanes(marked).next()) {
                let cause = Cause::Unwritten(frame.marks.origin(assignment, slot));
                let message = "a value that nothing has written is the address of this access";
                let message = message.to_owned();
                return Err(warp.problem(
                    path,
                    Problem {
                        lane,
                        message,
                        cause,
                    },
                    world,
                ));
            }
            if transfer.stores {
                let list = transfer.stored_marks(&frame.registers, frame.base, of);
                // The bytes are marked once they are written.
                warp.stored_marks = list;
                return Ok(());
            }
            let bits = |address: u64| unwritten.bits(address as usize, 4);
            let first = std::cell::Cell::new(None);
            let traced = |address: u64| {
                let found = bits(address);
                if found != 0 && first.get().is_none() {
                    first.set(Some(address));
                }
                found
            };
            let found = transfer.loaded_marks(&frame.registers, frame.base, traced);
            if let Some(address) = first.get() {
                origin = memory(frame.code.first_site + path.pc as u32, address);
            }
            found
        }
        Matrix::Transposition(transposition) => vec![transposition.marks(of)],
        Matrix::Mma(mma) => mma.marks(of),
        _ => return Ok(()),
    };
    if origin == Origin::default() {
        let read = &frame.code.steps[path.pc].operands.read;
        let marked = read
            .iter()
            .find(|slot| frame.marks.lanes(assignment, **slot) != 0);
        origin = marked.map_or(origin, |slot| frame.marks.origin(assignment, *slot));
    }
    put(frame, &found, origin);
    Ok(())
}

fn memory(site: u32, address: u64) -> Origin {
    Origin::Memory {
        site,
        lane: 0,
        window: Window::Shared,
        address,
    }
}

/// After the rows of a matrix have been stored.
pub fn mark_stored(warp: &mut Warp<'_>, world: &mut World<'_>) {
    let rank = world.shared.rank;
    for (address, bits) in std::mem::take(&mut warp.stored_marks) {
        world.shared.mark(SharedPlace { rank, address }, bits);
    }
}

/// Before an asynchronous product is executed.
pub fn track_product(warp: &mut Warp<'_>, issued: &Issued<'_>, world: &World<'_>) {
    let index = warp.index;
    let frame = &mut warp.frames[issued.frame];
    let unwritten = world.shared.own().unwritten();
    if frame.marks.is_empty() && unwritten.is_empty() {
        return;
    }
    let assignment = &frame.code.assignment;
    let of = |slot: Slot| frame.marks.get(assignment, slot);
    let first = std::cell::Cell::new(None);
    let is_unwritten = |address: u64| {
        let found = unwritten.first(address as usize..address as usize + 16);
        if let (Some(at), None) = (found, first.get()) {
            first.set(Some(at as u64));
        }
        found.is_some()
    };
    let found = issued.wgmma.marks(&issued.inputs, index, of, is_unwritten);
    let site = issued
        .instruction
        .map_or(0, |at| frame.code.first_site + at as u32);
    let origin = first
        .get()
        .map_or(Origin::default(), |address| memory(site, address));
    put(frame, &found, origin);
}

/// A row of whole values.
pub fn row(slot: Slot, is_marked: impl Fn(usize) -> bool) -> Row<Bytes> {
    let full = all_bytes(slot.bank);
    std::array::from_fn(|lane| if is_marked(lane) { full } else { 0 })
}
