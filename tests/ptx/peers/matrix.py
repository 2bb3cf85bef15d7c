"""Products of matrices, and attention: kernels with matrix instructions and asynchronous copies."""

import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, COLUMNS: tl.constexpr):
    """c = a @ b with a of m x k and c by rows; b by columns if COLUMNS is 1, else by rows. The size of
    a tile decides whether Triton uses mma.sync or wgmma; the copies of the tiles are asynchronous in
    both. Sums are of the type of c."""
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    row_inside, column_inside = row[:, None] < m, column[None, :] < n
    sum = tl.zeros([M, N], c.dtype.element_ty)
    for start in range(0, k, K):
        at = start + inner
        left = tl.load(
            a + row[:, None] * k + at[None, :], mask=row_inside & (at[None, :] < k), other=0.0
        )
        if COLUMNS == 1:
            from_b = b + at[:, None] + column[None, :] * k
        else:
            from_b = b + at[:, None] * n + column[None, :]
        right = tl.load(from_b, mask=(at[:, None] < k) & column_inside, other=0.0)
        sum = tl.dot(left, right, sum, out_dtype=c.dtype.element_ty)
    to = c + row[:, None] * n + column[None, :]
    tl.store(to, sum, mask=row_inside & column_inside)


@triton.jit
def product_tma(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The same with tensor maps that the kernel itself writes, and b of n x k. c is half precision."""
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    result = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sum = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        sum = tl.dot(left.load([row, start]), right.load([column, start]).T, sum)
    result.store([row, column], sum.to(tl.float16))


@triton.jit
def attention(q, k, v, out, length, scale, ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr):
    """Causal attention, one head for each program_id(1), with a running maximum and sum; f16."""
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    key, lane = tl.arange(0, KEYS), tl.arange(0, WIDTH)
    queries = tl.load(
        q + head + row[:, None] * WIDTH + lane[None, :], mask=row[:, None] < length, other=0.0
    )
    highest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sum = tl.zeros([ROWS, WIDTH], tl.float32)
    factor = scale * 1.4426950408889634
    for start in range(0, tl.minimum(length, (tl.program_id(0) + 1) * ROWS), KEYS):
        at = start + key
        known = at[None, :] < length
        keys = tl.load(k + head + at[None, :] * WIDTH + lane[:, None], mask=known, other=0.0)
        scores = tl.dot(queries, keys) * factor
        scores = tl.where(known & (at[None, :] <= row[:, None]), scores, -float("inf"))
        newest = tl.maximum(highest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - newest[:, None])
        shrink = tl.exp2(highest - newest)
        total = total * shrink + tl.sum(weights, axis=1)
        values = tl.load(
            v + head + at[:, None] * WIDTH + lane[None, :], mask=at[:, None] < length, other=0.0
        )
        sum = tl.dot(weights.to(tl.float16), values, sum * shrink[:, None])
        highest = newest
    sum = sum / total[:, None]
    to = out + head + row[:, None] * WIDTH + lane[None, :]
    tl.store(to, sum.to(tl.float16), mask=row[:, None] < length)
