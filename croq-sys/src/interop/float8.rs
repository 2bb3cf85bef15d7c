//! The 8-bit floats of the `float8` crate have the same bits as this crate's.

macro_rules! same_bits {
    ($($Float:ident),*) => {$(
        impl From<float8::$Float> for crate::$Float {
            fn from(value: float8::$Float) -> Self {
                Self::from_bits(value.to_bits())
            }
        }

        impl From<crate::$Float> for float8::$Float {
            fn from(value: crate::$Float) -> Self {
                Self::from_bits(value.to_bits())
            }
        }
    )*};
}

same_bits!(F8E4M3, F8E5M2);

#[cfg(test)]
mod tests {
    /// All values are the same numbers, to and from `f32`.
    #[test]
    fn the_formats_are_the_same() {
        for bits in 0..=u8::MAX {
            let (four, five) = (
                crate::F8E4M3::from_bits(bits),
                crate::F8E5M2::from_bits(bits),
            );
            let others = (float8::F8E4M3::from(four), float8::F8E5M2::from(five));
            assert_eq!((others.0.to_bits(), others.1.to_bits()), (bits, bits));
            for (own, other) in [
                (four.to_f32(), others.0.to_f32()),
                (five.to_f32(), others.1.to_f32()),
            ] {
                assert!(own == other || own.is_nan() && other.is_nan(), "{bits:#x}");
            }
            assert_eq!(crate::F8E4M3::from(others.0).to_bits(), bits);
            assert_eq!(crate::F8E5M2::from(others.1).to_bits(), bits);
        }
    }
}
