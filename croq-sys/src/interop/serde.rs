//! Extents as numbers: with serde's own implementations for tuples and `usize`, the dims of a tensor.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::dims::Const;

/// The number `N`.
impl<const N: usize> Serialize for Const<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        N.serialize(serializer)
    }
}

/// From the number `N`; another one is an error.
impl<'de, const N: usize> Deserialize<'de> for Const<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match usize::deserialize(deserializer)? {
            found if found == N => Ok(Self),
            found => Err(D::Error::custom(format_args!(
                "an extent of {found} where {N} is required"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Const;

    #[test]
    fn dims_are_lists_of_numbers() {
        let dims = (Const::<4>, 8_usize);
        let text = serde_json::to_string(&dims).unwrap();
        assert_eq!(text, "[4,8]");
        let read: (Const<4>, usize) = serde_json::from_str(&text).unwrap();
        assert_eq!(read, dims);
        let wrong = serde_json::from_str::<(Const<5>, usize)>(&text).unwrap_err();
        let message = "an extent of 4 where 5 is required";
        assert!(wrong.to_string().starts_with(message), "{wrong}");
    }
}
