"""Kernels without matrix instructions: an elementwise formula, softmax, and layer normalisation."""

import triton
import triton.language as tl


@triton.jit
def gated_sum(x, gate, bias, out, n, scale, BLOCK: tl.constexpr):
    """out = scale * x * sigmoid(gate) + bias; x and gate are half precision, the rest f32."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    weight = tl.sigmoid(tl.load(gate + at, mask=inside, other=0.0).to(tl.float32))
    sum = scale * value * weight + tl.load(bias + at, mask=inside, other=0.0)
    tl.store(out + at, sum, mask=inside)


@triton.jit
def softmax_rows(x, out, rows, columns, stride, BLOCK: tl.constexpr):
    """Each program takes every num_programs-th row; a row is held in registers."""
    column = tl.arange(0, BLOCK)
    inside = column < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * stride + column, mask=inside, other=-float("inf"))
        numerator = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * stride + column, numerator / tl.sum(numerator, axis=0), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, out, mean, deviation, columns, epsilon, BLOCK: tl.constexpr):
    """One program for each row, three passes of BLOCK columns each; x and out are bfloat16."""
    row = tl.program_id(0)
    x += row.to(tl.int64) * columns
    out += row.to(tl.int64) * columns
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(x + column, mask=column < columns, other=0.0).to(tl.float32)
    average = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        value = tl.load(x + column, mask=inside, other=0.0).to(tl.float32)
        apart = tl.where(inside, value - average, 0.0)
        squares += apart * apart
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(mean + row, average)
    tl.store(deviation + row, scale)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        value = tl.load(x + column, mask=inside, other=0.0).to(tl.float32)
        factor = tl.load(weight + column, mask=inside, other=0.0)
        shift = tl.load(bias + column, mask=inside, other=0.0)
        normal = (value - average) * scale * factor + shift
        tl.store(out + column, normal.to(tl.bfloat16), mask=inside)
