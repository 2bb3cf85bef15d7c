//! The state of an mbarrier object ("Parallel Synchronization and Communication Instructions:
//! mbarrier": contents, phase completion, arrive-on, expect-tx and complete-tx operations).

/// Largest value of each count.
pub const MAXIMUM: u32 = (1 << 20) - 1;

/// Of an object in shared memory, which is aligned to its size.
pub const BYTES: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mbarrier {
    /// How many phases have completed.
    pub phase: u64,
    /// Arrivals that a phase needs.
    expected: u32,
    /// Arrivals that the current phase still needs.
    pub pending: u32,
    /// Bytes that the current phase still needs.
    pub bytes: i64,
    /// Whether a wait has seen the end of the preceding phase.
    was_seen: bool,
}

impl Mbarrier {
    /// # Errors
    ///
    /// A count out of range.
    pub fn new(count: u32) -> Result<Mbarrier, String> {
        check_count(count)?;
        Ok(Mbarrier {
            phase: 0,
            expected: count,
            pending: count,
            bytes: 0,
            was_seen: true,
        })
    }

    /// # Errors
    ///
    /// A count out of range, more arrivals than the phase needs, or no wait has seen the end of the
    /// phase before.
    pub fn arrive(&mut self, count: u32) -> Result<(), String> {
        self.check_arrival(count)?;
        self.check_seen()?;
        self.pending -= count;
        self.complete();
        Ok(())
    }

    /// An arrival of a thread in another block of the cluster. The ISA asks for a wait before it, too,
    /// but that block cannot see the wait, and kernels that multicast do without: consumers of all
    /// blocks release a slot to the blocks' producers, and one producer's load lets them go on. Here
    /// such an arrival must not complete a phase before the end of the preceding one has been seen:
    /// then a wait for its parity would miss it.
    ///
    /// # Errors
    ///
    /// As [`Mbarrier::arrive`].
    pub fn arrive_from_other_block(&mut self, count: u32) -> Result<(), String> {
        self.check_arrival(count)?;
        if self.pending == count {
            self.check_seen()?;
        }
        self.pending -= count;
        self.complete();
        Ok(())
    }

    fn check_arrival(&self, count: u32) -> Result<(), String> {
        check_count(count)?;
        if count > self.pending {
            return Err(format!(
                "{count} arrivals at an mbarrier, phase {}, that needs {} more{}",
                self.phase,
                self.pending,
                match self.pending {
                    0 => format!(" and waits for {} bytes", self.bytes),
                    _ => String::new(),
                }
            ));
        }
        Ok(())
    }

    /// "Phase of the mbarrier object".
    fn check_seen(&self) -> Result<(), String> {
        match self.was_seen {
            true => Ok(()),
            false => Err(format!(
                "an arrival in phase {} of an mbarrier, where no test_wait or try_wait has \
                 returned true for the phase before",
                self.phase
            )),
        }
    }

    /// As [`Mbarrier::arrive`], where it must not complete the phase.
    ///
    /// # Errors
    ///
    /// As [`Mbarrier::arrive`], or the phase would complete.
    pub fn arrive_without_completion(&mut self, count: u32) -> Result<(), String> {
        self.check_arrival(count)?;
        self.check_seen()?;
        if self.pending == count && self.bytes == 0 {
            return Err("an arrival with .noComplete completes the phase".to_owned());
        }
        self.pending -= count;
        Ok(())
    }

    /// The next phases need fewer arrivals (`arrive_drop`).
    ///
    /// # Errors
    ///
    /// More than there are, or none would be left.
    pub fn drop_expected(&mut self, count: u32) -> Result<(), String> {
        check_count(count)?;
        if count > self.expected {
            return Err(format!(
                "arrive_drop of {count} of {} arrivals",
                self.expected
            ));
        }
        self.expected -= count;
        Ok(())
    }

    /// One more arrival in this phase (`cp.async.mbarrier.arrive` without `.noinc`).
    ///
    /// # Errors
    ///
    /// The count exceeds its range.
    pub fn add_pending(&mut self) -> Result<(), String> {
        if self.pending == MAXIMUM {
            return Err(format!(
                "more than {MAXIMUM} pending arrivals at an mbarrier"
            ));
        }
        self.pending += 1;
        Ok(())
    }

    /// # Errors
    ///
    /// The count exceeds its range.
    pub fn expect(&mut self, bytes: u32) -> Result<(), String> {
        self.add_bytes(bytes.into())
    }

    /// # Errors
    ///
    /// The count exceeds its range.
    pub fn complete_bytes(&mut self, bytes: u32) -> Result<(), String> {
        self.add_bytes(-i64::from(bytes))?;
        self.complete();
        Ok(())
    }

    fn add_bytes(&mut self, bytes: i64) -> Result<(), String> {
        let sum = self.bytes + bytes;
        if bytes.abs() > MAXIMUM.into() || sum.abs() > MAXIMUM.into() {
            return Err(format!(
                "the tx-count of an mbarrier, {} {} {}, is out of its range of ±{MAXIMUM}",
                self.bytes,
                if bytes < 0 { '-' } else { '+' },
                bytes.abs()
            ));
        }
        self.bytes = sum;
        Ok(())
    }

    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
            self.was_seen = false;
        }
    }

    /// Whether the current phase or the one before, of which the parity is given, has completed.
    pub fn test_parity(&mut self, parity: u32) -> bool {
        self.test(self.phase & 1 != u64::from(parity))
    }

    /// Whether the phase of an arrival has completed.
    ///
    /// # Errors
    ///
    /// The phase is neither the current one nor the one before.
    pub fn test_phase(&mut self, phase: u64) -> Result<bool, String> {
        if phase > self.phase || phase + 1 < self.phase {
            return Err(format!(
                "a wait with a state of phase {phase}, where the mbarrier is in phase {}",
                self.phase
            ));
        }
        Ok(self.test(phase < self.phase))
    }

    fn test(&mut self, is_complete: bool) -> bool {
        self.was_seen |= is_complete;
        is_complete
    }
}

fn check_count(count: u32) -> Result<(), String> {
    match count {
        1..=MAXIMUM => Ok(()),
        _ => Err(format!(
            "an arrival count of {count}, not from 1 to {MAXIMUM}"
        )),
    }
}

/// What an arrival returns: which phase of which object it was for, and how many arrivals the phase
/// needed before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Of the object, in shared memory.
    pub address: u64,
    pub phase: u64,
    pub pending: u32,
    /// Only such an arrival may be asked for its count.
    pub is_incomplete: bool,
}

/// In the highest bits, so that a value that is no token is noticed.
const MARK: u64 = 0b10110;

impl Token {
    /// 5 bits of a mark, 16 of the phase, 1, 21 of the address, 20 of the count.
    pub fn encode(self) -> u64 {
        MARK << 59
            | (self.phase & 0xffff) << 42
            | u64::from(self.is_incomplete) << 41
            | ((self.address / BYTES) & 0x1f_ffff) << 20
            | u64::from(self.pending)
    }

    /// For an object in that phase.
    ///
    /// # Errors
    ///
    /// The bits are no token.
    pub fn decode(bits: u64, near: u64) -> Result<Token, String> {
        if bits >> 59 != MARK {
            return Err(format!("{bits:#x} is no state that an arrival returned"));
        }
        let low = bits >> 42 & 0xffff;
        let behind = near.wrapping_sub(low) & 0xffff;
        Ok(Token {
            address: (bits >> 20 & 0x1f_ffff) * BYTES,
            phase: near.wrapping_sub(behind),
            pending: (bits & u64::from(MAXIMUM)) as u32,
            is_incomplete: bits >> 41 & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MAXIMUM, Mbarrier, Token};

    #[test]
    fn a_phase_needs_arrivals_and_bytes() {
        let mut barrier = Mbarrier::new(2).unwrap();
        assert!(!barrier.test_parity(0) && barrier.test_parity(1));
        barrier.expect(48).unwrap();
        barrier.arrive(2).unwrap();
        assert_eq!((barrier.phase, barrier.pending, barrier.bytes), (0, 0, 48));
        assert!(
            barrier
                .arrive(1)
                .unwrap_err()
                .contains("needs 0 more and waits for 48 bytes")
        );
        barrier.complete_bytes(16).unwrap();
        barrier.complete_bytes(32).unwrap();
        assert_eq!((barrier.phase, barrier.pending, barrier.bytes), (1, 2, 0));
        assert!(barrier.test_parity(0) && !barrier.test_parity(1));
    }

    /// Bytes may arrive before they are expected.
    #[test]
    fn bytes_may_be_early() {
        let mut barrier = Mbarrier::new(1).unwrap();
        barrier.complete_bytes(64).unwrap();
        barrier.expect(64).unwrap();
        assert_eq!(barrier.phase, 0);
        barrier.arrive(1).unwrap();
        assert_eq!(barrier.phase, 1);
    }

    #[test]
    fn counts_have_ranges() {
        assert!(Mbarrier::new(0).is_err() && Mbarrier::new(MAXIMUM + 1).is_err());
        let mut barrier = Mbarrier::new(MAXIMUM).unwrap();
        assert!(barrier.add_pending().is_err() && barrier.arrive(0).is_err());
        barrier.expect(MAXIMUM).unwrap();
        assert!(
            barrier
                .expect(1)
                .unwrap_err()
                .contains("1048575 + 1, is out of its range")
        );
        barrier.complete_bytes(MAXIMUM).unwrap();
        barrier.complete_bytes(MAXIMUM).unwrap();
        assert!(barrier.complete_bytes(1).is_err());
    }

    #[test]
    fn arrivals_need_an_observed_phase() {
        let mut barrier = Mbarrier::new(1).unwrap();
        barrier.arrive(1).unwrap();
        assert!(
            barrier
                .arrive(1)
                .unwrap_err()
                .contains("for the phase before")
        );
        assert!(barrier.test_phase(0).unwrap());
        barrier.arrive(1).unwrap();
        assert!(barrier.test_phase(0).unwrap_err().contains("in phase 2"));
    }

    /// The last arrival of a phase needs it also from another block.
    #[test]
    fn arrivals_of_other_blocks() {
        let mut barrier = Mbarrier::new(2).unwrap();
        barrier.arrive_from_other_block(2).unwrap();
        barrier.arrive_from_other_block(1).unwrap();
        for error in [barrier.arrive(1), barrier.arrive_from_other_block(1)] {
            assert!(error.unwrap_err().contains("for the phase before"));
        }
        assert!(barrier.arrive_from_other_block(2).is_err());
        assert!(barrier.test_parity(0));
        barrier.arrive_from_other_block(1).unwrap();
        assert_eq!((barrier.phase, barrier.pending), (2, 2));
    }

    #[test]
    fn arrivals_without_completion_and_drops() {
        let mut barrier = Mbarrier::new(3).unwrap();
        barrier.arrive_without_completion(2).unwrap();
        assert!(barrier.arrive_without_completion(1).is_err());
        barrier.drop_expected(1).unwrap();
        barrier.arrive(1).unwrap();
        assert_eq!((barrier.phase, barrier.pending), (1, 2));
        assert!(barrier.drop_expected(3).is_err());
    }

    #[test]
    fn tokens() {
        let token = Token {
            address: 0x2_1238,
            phase: 0x1_fffe,
            pending: MAXIMUM,
            is_incomplete: true,
        };
        assert_eq!(Token::decode(token.encode(), 0x1_ffff), Ok(token));
        assert_eq!(Token::decode(token.encode(), 0x2_0001), Ok(token));
        assert!(Token::decode(7, 0).is_err());
    }
}
