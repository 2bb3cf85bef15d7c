//! Integers of six bits, each in a byte of its own.

use std::fmt;

macro_rules! six_bits {
    ($($(#[$doc:meta])* $name:ident $value:ident $least:literal $most:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The least and the largest value.
            pub const RANGE: std::ops::RangeInclusive<$value> = $least..=$most;

            /// `None` if the value is outside of [`Self::RANGE`].
            pub const fn new(value: $value) -> Option<Self> {
                let element = Self::from_bits(value as u8);
                match element.value() == value {
                    true => Some(element),
                    false => None,
                }
            }

            /// The number.
            pub const fn value(self) -> $value {
                // To the top, and back with the sign.
                (self.0 << 2) as $value >> 2
            }

            /// The value with these low six bits.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits & 0x3f)
            }

            /// The encoding.
            pub const fn to_bits(self) -> u8 {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.value().fmt(f)
            }
        }
    )*};
}

six_bits! {
    /// An element of `s6`: -32 to 31.
    ///
    /// ```
    /// use croq_sys::S6;
    ///
    /// let element = S6::new(-5).unwrap();
    /// assert_eq!((element.value(), element.to_bits()), (-5, 0x3b));
    /// assert!(S6::new(32).is_none());
    /// ```
    S6 i8 -32 31;
    /// An element of `u6`: 0 to 63.
    U6 u8 0 63;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_returns() {
        for v in S6::RANGE {
            let element = S6::new(v).unwrap();
            assert_eq!(element.value(), v);
            assert_eq!(S6::from_bits(element.to_bits()), element);
        }
        for v in U6::RANGE {
            assert_eq!(U6::new(v).map(U6::value), Some(v));
        }
        assert_eq!((S6::new(-33), S6::new(32), U6::new(64)), (None, None, None));
    }
}
