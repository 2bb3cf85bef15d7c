//! The weights of the model, on the host for the reference and on the device for the kernels. A weight
//! matrix has a row for each of its results.

use croq_sys::half::bf16;
use croq_sys::{Device, DeviceTensor, Result, Tensor};

use crate::Sizes;

pub type Two = (usize, usize);
pub type One = (usize,);

/// Declares the two structs from one list.
macro_rules! weights {
    ($($name:ident: $T:ty, $D:ty;)*) => {
        pub struct Weights {
            pub sizes: Sizes,
            $(pub $name: Tensor<$T, $D>,)*
        }

        pub struct DeviceWeights {
            pub sizes: Sizes,
            $(pub $name: DeviceTensor<$T, $D>,)*
        }

        impl Weights {
            pub fn to_device(&self, device: &Device) -> Result<DeviceWeights> {
                Ok(DeviceWeights {
                    sizes: self.sizes,
                    $($name: self.$name.to_device(device)?,)*
                })
            }
        }
    };
}

weights! {
    embedding: bf16, Two;
    norm_before: bf16, One;
    query: bf16, Two;
    key: bf16, Two;
    value: bf16, Two;
    output: bf16, Two;
    norm_between: bf16, One;
    // 8 bits, and a scale for each group: [groups, results].
    gate: i8, Two;
    gate_scales: f32, Two;
    up: i8, Two;
    up_scales: f32, Two;
    down: bf16, Two;
    norm_after: bf16, One;
    scores: bf16, Two;
}

impl Weights {
    /// Numbers with which all results have about the same size as the tokens' rows.
    pub fn random(sizes: Sizes, seed: u64) -> Self {
        let matrix = |rows, columns, seed| {
            let reach = (3.0 / columns as f32).sqrt();
            Tensor::random((rows, columns), -reach..reach, seed)
        };
        let norm = |seed| Tensor::random((sizes.model,), 0.5..1.5, seed);
        let bytes = |seed| Tensor::random((sizes.hidden, sizes.model), -127..127, seed);
        let scales = |seed| {
            let reach = (3.0 / sizes.model as f32).sqrt() / 127.0;
            let groups = sizes.model.div_ceil(sizes.scaled);
            Tensor::random((groups, sizes.hidden), 0.5 * reach..1.5 * reach, seed)
        };
        Self {
            sizes,
            embedding: Tensor::random((sizes.vocabulary, sizes.model), -1.5..1.5, seed),
            norm_before: norm(seed + 1),
            query: matrix(sizes.query(), sizes.model, seed + 2),
            key: matrix(sizes.key(), sizes.model, seed + 3),
            value: matrix(sizes.key(), sizes.model, seed + 4),
            output: matrix(sizes.model, sizes.query(), seed + 5),
            norm_between: norm(seed + 6),
            gate: bytes(seed + 7),
            gate_scales: scales(seed + 8),
            up: bytes(seed + 9),
            up_scales: scales(seed + 10),
            down: matrix(sizes.model, sizes.hidden, seed + 11),
            norm_after: norm(seed + 12),
            scores: matrix(sizes.vocabulary, sizes.model, seed + 13),
        }
    }
}

impl DeviceWeights {
    /// All tensors, as a graph can hold them.
    #[allow(clippy::type_complexity, reason = "a name would say no more")]
    pub fn tensors(
        &self,
    ) -> (
        [&DeviceTensor<bf16, Two>; 7],
        [&DeviceTensor<bf16, One>; 3],
        [&DeviceTensor<i8, Two>; 2],
        [&DeviceTensor<f32, Two>; 2],
    ) {
        (
            [
                &self.embedding,
                &self.query,
                &self.key,
                &self.value,
                &self.output,
                &self.down,
                &self.scores,
            ],
            [&self.norm_before, &self.norm_between, &self.norm_after],
            [&self.gate, &self.up],
            [&self.gate_scales, &self.up_scales],
        )
    }
}
