//! `mapa` and `getctarank`: addresses in the shared memory of the blocks of a cluster.

use super::decode::MapAddress;
use super::execute::{Active, LaneError, shared_place};
use crate::machine::memory::Window;
use crate::machine::registers::{LANES, Lane, lanes};
use crate::machine::shared::{Shared, SharedPlace};

impl MapAddress {
    pub fn execute(&self, active: &mut Active<'_>, shared: &Shared) -> Result<(), LaneError> {
        let registers = &mut *active.registers;
        let window = match self {
            MapAddress::Wide(.., window) | MapAddress::RankWide(.., window) => *window,
            _ => Window::Cluster,
        };
        let (addresses, ranks) = match self {
            MapAddress::Narrow(_, address, rank) => (
                address.row(registers).map(u64::from),
                Some(rank.row(registers)),
            ),
            MapAddress::Wide(_, address, rank, _) => {
                (address.row(registers), Some(rank.row(registers)))
            }
            MapAddress::RankNarrow(_, address) => (address.row(registers).map(u64::from), None),
            MapAddress::RankWide(_, address, _) => (address.row(registers), None),
        };
        let mut row = [0; LANES];
        for lane in lanes(active.mask) {
            let place = shared_place(shared, window, addresses[lane]);
            let place = place.map_err(|message| (lane, message))?;
            let Some(ranks) = ranks else {
                row[lane] = place.rank as u64;
                continue;
            };
            let rank = ranks[lane] as usize;
            if rank >= shared.blocks() {
                let count = shared.blocks();
                return Err((lane, format!("rank {rank} in a cluster of {count} blocks")));
            }
            let within = Shared::address_of(SharedPlace { rank, ..place });
            row[lane] = match window {
                Window::Generic => Window::Cluster.base() + within,
                _ => within,
            };
        }
        let narrow = row.map(|value| value as u32);
        match self {
            MapAddress::Wide(result, ..) => u64::put(registers, *result, active.mask, &row),
            MapAddress::Narrow(result, ..)
            | MapAddress::RankNarrow(result, ..)
            | MapAddress::RankWide(result, ..) => {
                u32::put(registers, *result, active.mask, &narrow);
            }
        }
        Ok(())
    }
}
