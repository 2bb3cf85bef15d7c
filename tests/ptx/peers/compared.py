"""Kernels that `make compare` puts beside croq's: each solves the problem of one of those."""

import triton
import triton.language as tl

import scalar


@triton.jit
def product_persistent(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, WORKERS: tl.constexpr
):
    """c = a @ b.T by WORKERS programs, each with one tile after the other: Triton's tutorial "Persistent
    Matmul" with tensor descriptors. Operands and results are of 16 bits."""
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    result = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    tall, wide, steps = tl.cdiv(m, M), tl.cdiv(n, N), tl.cdiv(k, K)
    for tile in tl.range(tl.program_id(0), tall * wide, WORKERS, flatten=True):
        top = tile // (GROUP * wide) * GROUP
        deep = tl.minimum(tall - top, GROUP)
        row = (top + tile % (GROUP * wide) % deep) * M
        column = tile % (GROUP * wide) // deep * N
        sum = tl.zeros([M, N], tl.float32)
        for step in range(steps):
            sum = tl.dot(left.load([row, step * K]), right.load([column, step * K]).T, sum)
        result.store([row, column], sum.to(tl.float16))


@triton.jit
def attend_keys(
    queries, keys, values, state, head, rows, first, last, scale, HIDDEN: tl.constexpr, KEYS: tl.constexpr
):
    """One part of the keys; those after a query are hidden if HIDDEN is 1."""
    sum, highest, total = state
    for start in tl.range(first, last, KEYS):
        scores = tl.dot(queries, keys.load([head + start, 0]).T)
        if HIDDEN == 1:
            known = start + tl.arange(0, KEYS)[None, :] <= rows[:, None]
            scores = scores * scale + tl.where(known, 0, -1.0e6)
            newest = tl.maximum(highest, tl.max(scores, 1))
            scores -= newest[:, None]
        else:
            newest = tl.maximum(highest, tl.max(scores, 1) * scale)
            scores = scores * scale - newest[:, None]
        weights = tl.exp2(scores)
        shrink = tl.exp2(highest - newest)
        sum = tl.dot(weights.to(tl.float16), values.load([head + start, 0]), sum * shrink[:, None])
        total = total * shrink + tl.sum(weights, 1)
        highest = newest
    return sum, highest, total


@triton.jit
def attention(
    q, k, v, out, length, heads, scale, ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, CAUSAL: tl.constexpr
):
    """Triton's tutorial "Fused Attention", forward: keys on the diagonal are a loop of their own.
    ROWS divides length."""
    count = length * heads
    queries = tl.make_tensor_descriptor(q, shape=[count, WIDTH], strides=[WIDTH, 1], block_shape=[ROWS, WIDTH])
    keys = tl.make_tensor_descriptor(k, shape=[count, WIDTH], strides=[WIDTH, 1], block_shape=[KEYS, WIDTH])
    values = tl.make_tensor_descriptor(v, shape=[count, WIDTH], strides=[WIDTH, 1], block_shape=[KEYS, WIDTH])
    result = tl.make_tensor_descriptor(out, shape=[count, WIDTH], strides=[WIDTH, 1], block_shape=[ROWS, WIDTH])
    head, first = tl.program_id(1) * length, tl.program_id(0) * ROWS
    rows = first + tl.arange(0, ROWS)
    left = queries.load([head + first, 0])
    factor = scale * 1.44269504
    state = tl.zeros([ROWS, WIDTH], tl.float32), tl.full([ROWS], -float("inf"), tl.float32), tl.zeros([ROWS], tl.float32)
    if CAUSAL == 1:
        state = attend_keys(left, keys, values, state, head, rows, 0, first, factor, 0, KEYS)
        state = attend_keys(left, keys, values, state, head, rows, first, first + ROWS, factor, 1, KEYS)
    else:
        state = attend_keys(left, keys, values, state, head, rows, 0, length, factor, 0, KEYS)
    sum, highest, total = state
    result.store([head + first, 0], (sum / total[:, None]).to(tl.float16))


@triton.jit
def axpy(x, y, n, a, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    sum = a * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(y + at, sum, mask=inside)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def scale_relu(x, out, n, gain, shift, BLOCK: tl.constexpr):
    """In f32, whatever the type of x and out is."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside).to(tl.float32)
    tl.store(out + at, tl.maximum(value * gain + shift, 0.0).to(out.dtype.element_ty), mask=inside)


PRODUCT = "a:*fp16 b:*fp16 c:*fp16 m:i32 n:%i32 k:%i32"
SOFTMAX = "x:*fp32 out:*fp32 rows:i32 columns:%i32 stride:%i32"
LAYER_NORM = (
    "x:*bf16 weight:*fp32 bias:*fp32 out:*bf16 mean:*fp32 deviation:*fp32 columns:%i32 epsilon:fp32"
)
ATTENTION = "q:*fp16 k:*fp16 v:*fp16 out:*fp16 length:i32 heads:i32 scale:fp32"


def attentions():
    for width, stages in [(64, 3), (128, 2)]:
        for causal, name in [(0, "attention"), (1, "attention_causal")]:
            constants = {"ROWS": 128, "KEYS": 128, "WIDTH": width, "CAUSAL": causal}
            yield f"compared_{name}_{width}", attention, ATTENTION, constants, 8, stages


# As the PEERS of compile.py.
COMPARED = [
    (
        "compared_gemm",
        product_persistent,
        PRODUCT,
        {"M": 128, "N": 256, "K": 64, "GROUP": 8, "WORKERS": 132},
        8,
        3,
    ),
    *attentions(),
    ("compared_softmax", scalar.softmax_rows, SOFTMAX, {"BLOCK": 4096}, 8, 2),
    ("compared_layer_norm", scalar.layer_norm, LAYER_NORM, {"BLOCK": 4096}, 8, 1),
    ("compared_axpy", axpy, "x:*fp32 y:*fp32 n:%i32 a:fp32", {"BLOCK": 1024}, 4, 1),
    ("compared_add", add, "x:*fp32 y:*fp32 out:*fp32 n:%i32", {"BLOCK": 1024}, 4, 1),
    ("compared_relu_f32", scale_relu, "x:*fp32 out:*fp32 n:%i32 gain:fp32 shift:fp32", {"BLOCK": 1024}, 4, 1),
    ("compared_relu_bf16", scale_relu, "x:*bf16 out:*bf16 n:%i32 gain:fp32 shift:fp32", {"BLOCK": 1024}, 4, 1),
]
