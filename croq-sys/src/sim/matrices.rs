//! Operands of MMAs in shared memory, decoded from their descriptors as by the tensor cores.
//!
//! An operand has rows of 32 bytes along K, or of 64 bytes for B of an MMA with a sparse A. The
//! descriptor determines the addresses of its pieces of 16 bytes; the PTX ISA defines them as
//! canonical layouts, in units of a piece, with strides SBO and LBO ("strides", "shared memory
//! matrix layout"):
//!
//! | swizzle | rows stored along K | stored along the other axis |
//! |---|---|---|
//! | none | ((8, n), 2) : ((1, SBO), LBO) | ((1, n), (8, k)) : ((–, SBO), (1, LBO)) |
//! | 32 B | ((8, n), 2) : ((2, SBO), 1) | ((2, n), (8, k)) : ((1, LBO), (2, SBO)) |
//! | 64 B | ((8, n), 2) : ((4, SBO), 1) | ((4, n), (8, k)) : ((1, LBO), (4, SBO)) |
//! | 128 B | ((8, n), 2) : ((8, SBO), 1) | ((8, n), (8, k)) : ((1, LBO), (8, SBO)) |
//!
//! The swizzle is applied to the resulting address.

/// The bytes that are contiguous in every layout.
pub(super) const PIECE: usize = 16;

/// The layout of an operand.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    start: usize,
    leading: usize,
    stride: usize,
    /// The width of a row of its pattern in bytes; one piece without a swizzle.
    width: usize,
}

/// The bits with a meaning: three fields of 14 bits, the base offset, the swizzle.
const KNOWN: u64 = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 0xff << NUMBER | 3 << 62;

/// A field that the hardware does not use: the buffer's number in the marks of written bytes, or 0.
const NUMBER: u32 = 52;

pub(super) fn number_of(descriptor: u64) -> u32 {
    (descriptor >> NUMBER & 0xff) as u32
}

impl Operand {
    /// The error describes what is wrong with the descriptor.
    pub(super) fn decode(descriptor: u64) -> Result<Self, String> {
        if descriptor & !KNOWN != 0 {
            return Err(format!("{descriptor:#x} is no matrix descriptor"));
        }
        if descriptor >> 49 & 7 != 0 {
            return Err("has a base offset, which is not simulated".to_owned());
        }
        let number = |shift: u32| ((descriptor >> shift & 0x3fff) as usize) * PIECE;
        Ok(Self {
            start: number(0),
            leading: number(16),
            stride: number(32),
            width: match descriptor >> 62 {
                1 => 128,
                2 => 64,
                3 => 32,
                _ => PIECE,
            },
        })
    }

    fn has_swizzle(&self) -> bool {
        self.width > PIECE
    }

    /// Checks the operand's start: the start of its pattern, or, with rows along K, a multiple of
    /// 32 bytes further in the pattern's first row, so that all `bytes` of a row are in it.
    pub(super) fn check_start(&self, transposed: bool, bytes: usize) -> Result<(), String> {
        let within = self.start % (8 * self.width);
        let fits = match (self.has_swizzle(), transposed) {
            (false, _) => true,
            (true, true) => within == 0,
            (true, false) => within + bytes <= self.width,
        };
        match fits {
            true => Ok(()),
            false => Err(format!(
                "begins {within} bytes into a pattern of swizzle {}",
                self.width
            )),
        }
    }

    /// Bits 4 and up of an address are combined with bits 7 and up.
    fn swizzled(&self, address: usize) -> usize {
        address ^ ((address >> 7 & (self.width / PIECE - 1)) << 4)
    }

    /// The offsets of the pieces of `rows` rows of `bytes` bytes: row by row, all pieces of each;
    /// for a transposed operand along K, one for each eight rows.
    pub(super) fn pieces(&self, rows: usize, transposed: bool, bytes: usize) -> Vec<usize> {
        let Self {
            start,
            leading,
            stride,
            width,
        } = *self;
        let of_row = width / PIECE;
        let mut pieces = Vec::with_capacity(rows * bytes / PIECE);
        if transposed {
            // Elements of a transposed operand have two bytes.
            for k in 0..bytes / 2 {
                for n in 0..rows / 8 {
                    let at = match self.has_swizzle() {
                        false => n * stride + k % 8 * PIECE + k / 8 * leading,
                        true => {
                            n % of_row * PIECE
                                + n / of_row * leading
                                + k % 8 * width
                                + k / 8 * stride
                        }
                    };
                    pieces.push(self.swizzled(start + at));
                }
            }
        } else {
            let next = if self.has_swizzle() { PIECE } else { leading };
            for row in 0..rows {
                let at = start + row % 8 * width + row / 8 * stride;
                for piece in 0..bytes / PIECE {
                    pieces.push(self.swizzled(at + piece * next));
                }
            }
        }
        pieces
    }
}
