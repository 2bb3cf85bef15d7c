//! The layer on the device: kernels of `kernels/` on a stream, without a copy to the host.

use croq_sys::half::bf16;
use croq_sys::{Const, Device, DeviceTensor, Result, Stream, Tensor};

use crate::trace::Watch;
use crate::weights::{DeviceWeights, Two};
use crate::{BASE, BEST, EPSILON, Sizes, Width, kernels};

/// Rows of tokens.
pub type Rows = DeviceTensor<bf16, Two>;
/// Rows of tokens as heads.
pub type Heads = DeviceTensor<bf16, (usize, usize, Width)>;
pub type Numbers = DeviceTensor<i32, (usize,)>;

/// Blocks that share the keys of a head in a decode step.
const PARTS: i32 = 2;

/// Keys and values of all tokens so far. How many these are is with the [`Inputs`] of each step.
pub struct Cache {
    pub keys: Heads,
    pub values: Heads,
}

impl Cache {
    /// # Errors
    ///
    /// When the device has too little memory.
    pub fn new(sizes: Sizes, device: &Device) -> Result<Self> {
        let dims = (sizes.cache, sizes.groups, Const);
        Ok(Self {
            keys: Heads::zeros(dims, device)?,
            values: Heads::zeros(dims, device)?,
        })
    }
}

/// Tokens and where they are. All of it is on the device, so that a graph that was recorded once
/// processes other tokens at other positions.
pub struct Inputs {
    pub ids: Numbers,
    pub positions: Numbers,
    /// Where the new rows begin and end, zero and their number.
    pub rows: Numbers,
    /// Where the rows of the cache begin and end, with the new ones.
    pub known: Numbers,
    /// The end of these rows alone.
    pub length: Numbers,
}

impl Inputs {
    /// `ids` after `first` tokens that the cache has already.
    ///
    /// # Errors
    ///
    /// When the device has too little memory.
    pub fn new(ids: &[i32], first: usize, device: &Device) -> Result<Self> {
        let numbers =
            |values: Vec<i32>| Tensor::from_vec((values.len(),), values)?.to_device(device);
        let (first, count) = (first as i32, ids.len() as i32);
        Ok(Self {
            ids: numbers(ids.to_vec())?,
            positions: numbers((first..first + count).collect())?,
            rows: numbers(vec![0, count])?,
            known: numbers(vec![0, first + count])?,
            length: numbers(vec![first + count])?,
        })
    }
}

/// The result of a step.
pub struct Output {
    /// The rows after the layer.
    pub rows: Rows,
    /// The largest scores of the token after the last one, and their tokens.
    pub best: DeviceTensor<f32, Two>,
    pub tokens: DeviceTensor<i32, Two>,
}

/// Any number of tokens at once, after those in the cache.
///
/// # Errors
///
/// When extents do not agree, a token or a position does not exist, or the device fails.
pub fn prefill_on(
    stream: &Stream,
    weights: &DeviceWeights,
    inputs: &Inputs,
    cache: &mut Cache,
    watch: &mut impl Watch,
) -> Result<Output> {
    let before = attention_input(stream, weights, inputs, cache, watch)?;
    let mut attended = Heads::zeros(before.query.dims(), stream.device())?;
    kernels::attention_packed_causal_on(
        stream,
        &before.query,
        &cache.keys,
        &cache.values,
        &inputs.rows,
        &inputs.known,
        &mut attended,
        inputs.ids.shape()[0] as i32,
    )?;
    rest::<64>(stream, weights, before.x, attended, watch)
}

/// One token, after those in the cache.
///
/// # Errors
///
/// As for [`prefill_on`].
pub fn decode_on(
    stream: &Stream,
    weights: &DeviceWeights,
    inputs: &Inputs,
    cache: &mut Cache,
    watch: &mut impl Watch,
) -> Result<Output> {
    let before = attention_input(stream, weights, inputs, cache, watch)?;
    let mut attended = Heads::zeros(before.query.dims(), stream.device())?;
    // The kernel is for several sequences, each with a cache; here there is one.
    let [rows, groups, _] = cache.keys.shape();
    let one = (1, rows, groups, Const);
    kernels::attention_decode_on(
        stream,
        &before.query,
        &cache.keys.view().reshape(one)?,
        &cache.values.view().reshape(one)?,
        &inputs.length,
        &mut attended,
        PARTS,
    )?;
    rest::<16>(stream, weights, before.x, attended, watch)
}

/// What is computed before attention, besides new rows of the cache.
struct Before {
    x: Rows,
    query: Heads,
}

fn attention_input(
    stream: &Stream,
    weights: &DeviceWeights,
    inputs: &Inputs,
    cache: &mut Cache,
    watch: &mut impl Watch,
) -> Result<Before> {
    let sizes = weights.sizes;
    let tokens = inputs.ids.shape()[0];
    let x = kernels::embedding_on(stream, &weights.embedding, &inputs.ids)?;
    watch.step("embedding", stream, &x)?;
    let normed = kernels::rms_norm_on(stream, &x, &weights.norm_before, EPSILON)?;
    watch.step("norm before", stream, &normed)?;

    let product = |weights| linear_on(stream, &normed, weights);
    let query = product(&weights.query)?;
    watch.step("query", stream, &query)?;
    let key = product(&weights.key)?;
    watch.step("key", stream, &key)?;
    let value = product(&weights.value)?;
    watch.step("value", stream, &value)?;

    let mut query = query.reshape((tokens, sizes.heads, Const))?;
    let mut key = key.reshape((tokens, sizes.groups, Const))?;
    let value = value.reshape((tokens, sizes.groups, Const))?;
    kernels::rope_at_on(stream, &mut query, &inputs.positions, BASE)?;
    watch.step("turned query", stream, &query)?;
    kernels::rope_at_on(stream, &mut key, &inputs.positions, BASE)?;
    watch.step("turned key", stream, &key)?;
    let Cache { keys, values } = cache;
    kernels::append_on(stream, &key, &value, &inputs.positions, keys, values)?;
    Ok(Before { x, query })
}

/// Everything after attention; `BM` as for `linear_plus`.
fn rest<const BM: i32>(
    stream: &Stream,
    weights: &DeviceWeights,
    x: Rows,
    attended: Heads,
    watch: &mut impl Watch,
) -> Result<Output>
where
    bf16: kernels::LinearPlusInstance<BM>,
{
    let sizes = weights.sizes;
    watch.step("attention", stream, &attended)?;
    let [tokens, heads, width] = attended.shape();
    let attended = attended.reshape((tokens, heads * width))?;
    let x = plus_on::<BM>(stream, &attended, &weights.output, &x)?;
    watch.step("output + x", stream, &x)?;

    let normed = kernels::rms_norm_on(stream, &x, &weights.norm_between, EPSILON)?;
    watch.step("norm between", stream, &normed)?;
    let scaled = sizes.scaled as i32;
    let gate =
        kernels::matmul_weights_on(stream, &normed, &weights.gate, &weights.gate_scales, scaled)?;
    watch.step("gate", stream, &gate)?;
    let up = kernels::matmul_weights_on(stream, &normed, &weights.up, &weights.up_scales, scaled)?;
    watch.step("up", stream, &up)?;
    let gated = kernels::swiglu_on(stream, &gate, &up)?;
    watch.step("swiglu", stream, &gated)?;
    let x = plus_on::<BM>(stream, &gated, &weights.down, &x)?;
    watch.step("down + x", stream, &x)?;

    let last = x.view().slice([tokens - 1..tokens, 0..sizes.model])?;
    let normed = kernels::rms_norm_on(stream, &last, &weights.norm_after, EPSILON)?;
    watch.step("norm after", stream, &normed)?;
    let scores = kernels::linear_on::<f32, 16, _, _, _, _, _, _>(stream, &normed, &weights.scores)?;
    watch.step("scores", stream, &scores)?;
    let (best, tokens) = kernels::top_k_on(stream, &scores, BEST as i32)?;
    watch.step("best scores", stream, &best)?;
    watch.step("best tokens", stream, &tokens)?;
    Ok(Output {
        rows: x,
        best,
        tokens,
    })
}

/// `x` times `weights`, by the tiles that suit the number of rows.
fn linear_on(stream: &Stream, x: &Rows, weights: &Rows) -> Result<Rows> {
    match x.shape()[0] {
        ..=16 => kernels::linear_on::<bf16, 16, _, _, _, _, _, _>(stream, x, weights),
        _ => kernels::linear_on::<bf16, 64, _, _, _, _, _, _>(stream, x, weights),
    }
}

/// `x` times `weights`, plus `rest`.
fn plus_on<const BM: i32>(stream: &Stream, x: &Rows, weights: &Rows, rest: &Rows) -> Result<Rows>
where
    bf16: kernels::LinearPlusInstance<BM>,
{
    kernels::linear_plus_on::<BM, _, _, _, _, _, _, _, _>(stream, x, weights, rest)
}
