//! The GPUs that a program is compiled for: an input of the compiler.

use std::fmt;
use std::str::FromStr;

/// A version of CUDA, as nvcc has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A GPU architecture as nvcc names it: `sm_80`, `sm_90a`.
///
/// A suffix (`a`, `f`) enables instructions that only this architecture (or its family) has; the
/// code then runs on no other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Arch {
    number: u16,
    suffix: Option<Suffix>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
enum Suffix {
    Family,
    Specific,
}

impl Arch {
    /// The default targets: the portable class and Hopper.
    pub const DEFAULT: [Arch; 2] = [
        Arch {
            number: 80,
            suffix: None,
        },
        Arch {
            number: 90,
            suffix: Some(Suffix::Specific),
        },
    ];

    /// `80` of `sm_80`: the compute capability times ten.
    pub fn number(self) -> u16 {
        self.number
    }

    pub fn is_portable(self) -> bool {
        self.suffix.is_none()
    }

    /// `90a`: the part after `sm_` and `compute_`.
    pub fn digits(self) -> String {
        let suffix = match self.suffix {
            None => "",
            Some(Suffix::Family) => "f",
            Some(Suffix::Specific) => "a",
        };
        format!("{}{suffix}", self.number)
    }

    /// The opt-in maximum of shared memory per block, in bytes (CUDA C++ Programming Guide, table
    /// of technical specifications per compute capability).
    pub fn shared_bytes_per_block(self) -> u64 {
        let kib = match self.number {
            ..=75 => 64,
            80 | 87 => 163,
            86 | 89 => 99,
            90..=119 => 227,
            _ => 99,
        };
        kib * 1024
    }
}

impl Arch {
    /// The shared memory of one multiprocessor, in bytes (same table).
    pub fn shared_bytes_per_multiprocessor(self) -> u64 {
        let kib = match self.number {
            ..=75 => 64,
            80 | 87 => 164,
            86 | 89 => 100,
            90..=119 => 228,
            _ => 100,
        };
        kib * 1024
    }

    /// The shared memory that the system reserves for each block, in bytes.
    pub fn shared_bytes_reserved(self) -> u64 {
        if self.number < 80 { 0 } else { 1024 }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.digits())
    }
}

/// An error that explains the form of architecture names and lists the usual ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownArch(pub String);

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown architecture `{}`: expected one such as sm_80, sm_86, sm_89, sm_90a, sm_100a or sm_120 \
             (sm_75 is the oldest)",
            self.0
        )
    }
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Self, UnknownArch> {
        let unknown = || UnknownArch(text.to_owned());
        let rest = text.trim().strip_prefix("sm_").ok_or_else(unknown)?;
        let (digits, suffix) = match rest.strip_suffix('a') {
            Some(digits) => (digits, Some(Suffix::Specific)),
            None => match rest.strip_suffix('f') {
                Some(digits) => (digits, Some(Suffix::Family)),
                None => (rest, None),
            },
        };
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(unknown());
        }
        let number = digits.parse::<u16>().map_err(|_| unknown())?;
        // Suffixes begin with Hopper (`a`) and Blackwell (`f`).
        let exists = (75..=199).contains(&number)
            && match suffix {
                None => true,
                Some(Suffix::Specific) => number >= 90,
                Some(Suffix::Family) => number >= 100,
            };
        exists
            .then_some(Arch { number, suffix })
            .ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for name in ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100f", "sm_120"] {
            assert_eq!(
                name.parse::<Arch>().map(|a| a.to_string()),
                Ok(name.to_owned())
            );
        }
        for name in [
            "sm_70", "sm_80a", "sm_90f", "80", "sm_", "sm_9O", "native", "sm_+80", "",
        ] {
            assert!(name.parse::<Arch>().is_err(), "{name}");
        }
    }
}
