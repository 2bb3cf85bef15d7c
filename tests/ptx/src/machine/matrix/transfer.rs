//! `ldmatrix`, `stmatrix` and `movmatrix`, of 8 × 8 matrices with elements of 16 bits.

use super::super::access::{self, Places, Pointer};
use super::super::decode::{Form, Refusal};
use super::super::marks::Bytes;
use super::super::memory::{AccessError, Window};
use super::super::registers::{Bank, LANES, Lane, Mask, Registers, Row, Slot, each};
use super::super::world::World;
use super::shared::{Agent, Proxy, read_row, write_row};
use crate::parse::Operand;

/// One to four matrices, whose rows are 16 bytes of shared memory each.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub stores: bool,
    window: Window,
    pointer: Pointer,
    /// One for each matrix.
    registers: Vec<usize>,
    transposes: bool,
}

/// Of a matrix: in each lane two elements of a row, which four lanes have between them.
type Words = Row<u32>;

fn element(words: &Words, row: usize, column: usize) -> u32 {
    words[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff
}

fn transposed(words: &Words) -> Words {
    each(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        element(words, column, row) | element(words, column + 1, row) << 16
    })
}

impl Transfer {
    /// The address of a row in shared memory.
    fn place(&self, address: u64) -> Result<u64, AccessError> {
        if self.window == Window::Shared {
            return Ok(address);
        }
        match Window::of_generic(address) {
            (Window::Shared, address) => Ok(address),
            (window, _) => Err(format!(
                "the generic address {address:#x} of a matrix row is in {} memory",
                window.name()
            )),
        }
    }

    /// The addresses of all rows that are in shared memory.
    pub fn rows(&self, registers: &Registers, frame: u64) -> Vec<u64> {
        let addresses = self.pointer.row(registers, frame).into_iter();
        let addresses = addresses.take(self.registers.len() * 8);
        addresses.filter_map(|at| self.place(at).ok()).collect()
    }

    /// Lanes 8·i to 8·i + 7 have the addresses of matrix i.
    fn each_row(
        &self,
        registers: &Registers,
        warp: u32,
        frame: u64,
        mut f: impl FnMut(usize, usize, Agent, u64) -> Result<(), AccessError>,
    ) -> Result<(), (usize, AccessError)> {
        let addresses = self.pointer.row(registers, frame);
        let rows = self.registers.len() * 8;
        for (lane, address) in addresses.into_iter().enumerate().take(rows) {
            let by = Agent {
                warp,
                lane: Some(lane),
                proxy: Proxy::Generic,
            };
            let done = self.place(address);
            done.and_then(|address| f(lane / 8, lane % 8, by, address))
                .map_err(|error| (lane, error))?;
        }
        Ok(())
    }

    pub fn load(
        &self,
        registers: &mut Registers,
        (warp, frame): (u32, u64),
        world: &World<'_>,
    ) -> Result<(), (usize, AccessError)> {
        let mut matrices = vec![[0_u32; LANES]; self.registers.len()];
        self.each_row(registers, warp, frame, |matrix, row, by, address| {
            let bytes = read_row(world, by, address)?;
            for (word, bytes) in matrices[matrix][row * 4..].iter_mut().zip(bytes.chunks(4)) {
                *word = super::super::memory::to_bits(bytes) as u32;
            }
            Ok(())
        })?;
        for (register, words) in self.registers.iter().zip(&matrices) {
            let words = if self.transposes {
                transposed(words)
            } else {
                *words
            };
            u32::put(registers, *register, Mask::MAX, &words);
        }
        Ok(())
    }

    pub fn store(
        &self,
        registers: &Registers,
        (warp, frame): (u32, u64),
        world: &mut World<'_>,
    ) -> Result<(), (usize, AccessError)> {
        let words = self.registers.iter().map(|register| {
            let words = u32::row(registers, *register);
            if self.transposes {
                transposed(&words)
            } else {
                words
            }
        });
        let matrices: Vec<Words> = words.collect();
        self.each_row(registers, warp, frame, |matrix, row, by, address| {
            let mut bytes = [0_u8; 16];
            let words = &matrices[matrix][row * 4..row * 4 + 4];
            for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            write_row(world, by, address, &bytes)
        })
    }
}

/// A byte of ones for each bit.
fn widened(bits: Bytes) -> u32 {
    (0..4)
        .filter(|at| bits >> at & 1 == 1)
        .map(|at| 0xff << (8 * at))
        .sum()
}

fn narrowed(word: u32) -> Bytes {
    let bytes = (0..4).filter(|at| word >> (8 * at) & 0xff != 0);
    bytes.map(|at| 1 << at).sum()
}

/// Marks of unwritten bytes, which go the way of the bytes themselves.
impl Transfer {
    /// Of the registers that are loaded. `unwritten` has a bit for each of four bytes.
    pub fn loaded_marks(
        &self,
        registers: &Registers,
        frame: u64,
        unwritten: impl Fn(u64) -> Bytes,
    ) -> Vec<(Slot, Row<Bytes>)> {
        let addresses = self.pointer.row(registers, frame);
        let list = self.registers.iter().enumerate();
        let marks = list.map(|(matrix, register)| {
            let words: Words = each(|lane| {
                let address = self.place(addresses[matrix * 8 + lane / 4]).unwrap_or(0);
                widened(unwritten(address + lane as u64 % 4 * 4))
            });
            let words = if self.transposes {
                transposed(&words)
            } else {
                words
            };
            let slot = Slot {
                bank: Bank::B32,
                index: *register,
            };
            (slot, each(|lane| narrowed(words[lane])))
        });
        marks.collect()
    }

    /// The addresses of words in shared memory that are stored, with their marks.
    pub fn stored_marks(
        &self,
        registers: &Registers,
        frame: u64,
        of: impl Fn(Slot) -> Row<Bytes>,
    ) -> Vec<(u64, Bytes)> {
        let addresses = self.pointer.row(registers, frame);
        let mut found = Vec::new();
        for (matrix, register) in self.registers.iter().enumerate() {
            let marks = of(Slot {
                bank: Bank::B32,
                index: *register,
            });
            let words: Words = each(|lane| widened(marks[lane]));
            let words = if self.transposes {
                transposed(&words)
            } else {
                words
            };
            for (lane, word) in words.into_iter().enumerate().filter(|(_, word)| *word != 0) {
                if let Ok(address) = self.place(addresses[matrix * 8 + lane / 4]) {
                    found.push((address + lane as u64 % 4 * 4, narrowed(word)));
                }
            }
        }
        found
    }

    pub fn address(&self) -> Option<Slot> {
        self.pointer.slot()
    }
}

pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Transfer, Refusal> {
    let mut words = form.words();
    words.required(&["sync"])?;
    words.required(&["aligned"])?;
    words.required(&["m8n8"])?;
    let count = match words.required(&["x1", "x2", "x4"])? {
        "x1" => 1,
        "x2" => 2,
        _ => 4,
    };
    let transposes = words.flag("trans");
    let window = access::window(&mut words);
    words.required(&["b16"])?;
    words.finish()?;
    form.count(2)?;
    if !matches!(window, Window::Generic | Window::Shared) {
        return Err(form.refuse(format!("{} memory", window.name())));
    }
    let stores = form.opcode() == "stmatrix";
    let (address, value) = if stores { (0, 1) } else { (1, 0) };
    let list = match form.operand(value)? {
        Operand::Vector(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    if list.len() != count {
        return Err(form.refuse(format!("{} registers for {count} matrices", list.len())));
    }
    let registers = list.iter().map(|operand| form.destination::<u32>(operand));
    let registers = registers.collect::<Result<_, _>>()?;
    let (pointer, window) = access::pointer(form, form.operand(address)?, window, places)?;
    Ok(Transfer {
        stores,
        window,
        pointer,
        registers,
        transposes,
    })
}

/// `movmatrix`: the matrix in one register, transposed.
#[derive(Clone, Copy, Debug)]
pub struct Transposition {
    to: usize,
    from: usize,
}

impl Transposition {
    /// The register that is written, and its marks.
    pub fn marks(self, of: impl Fn(Slot) -> Row<Bytes>) -> (Slot, Row<Bytes>) {
        let slot = |index| Slot {
            bank: Bank::B32,
            index,
        };
        let marks = of(slot(self.from));
        let words = transposed(&each(|lane| widened(marks[lane])));
        (slot(self.to), each(|lane| narrowed(words[lane])))
    }

    pub fn execute(self, registers: &mut Registers) {
        let words = transposed(&u32::row(registers, self.from));
        u32::put(registers, self.to, Mask::MAX, &words);
    }
}

pub fn decode_transposition(form: &Form<'_>) -> Result<Transposition, Refusal> {
    let mut words = form.words();
    for word in ["sync", "aligned", "m8n8", "trans", "b16"] {
        words.required(&[word])?;
    }
    words.finish()?;
    form.count(2)?;
    Ok(Transposition {
        to: form.destination::<u32>(form.operand(0)?)?,
        from: form.destination::<u32>(form.operand(1)?)?,
    })
}
