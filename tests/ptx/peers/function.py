"""Functions of NVIDIA's libdevice, and conversions between formats."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def functions(x, out, n, BLOCK: tl.constexpr):
    """f32 or f64, as x is; each result is a row of out."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=1.0)
    positive = tl.abs(v) + 0.125
    tl.store(out + at, libdevice.sin(v), mask=inside)
    tl.store(out + n + at, libdevice.cos(v), mask=inside)
    tl.store(out + 2 * n + at, libdevice.exp(v), mask=inside)
    tl.store(out + 3 * n + at, libdevice.log(positive), mask=inside)
    tl.store(out + 4 * n + at, libdevice.pow(positive, v), mask=inside)
    tl.store(out + 5 * n + at, libdevice.tanh(v), mask=inside)
    tl.store(out + 6 * n + at, libdevice.atan2(v, positive), mask=inside)
    tl.store(out + 7 * n + at, libdevice.fmod(v, tl.full([BLOCK], 0.75, v.dtype)), mask=inside)
    tl.store(out + 8 * n + at, libdevice.cbrt(v), mask=inside)
    tl.store(out + 9 * n + at, libdevice.hypot(v, positive), mask=inside)
    tl.store(out + 10 * n + at, libdevice.rint(v) + libdevice.trunc(positive), mask=inside)
    tl.store(out + 11 * n + at, tl.floor(v) - tl.ceil(positive), mask=inside)
    tl.store(out + 12 * n + at, libdevice.ldexp(v, 5) / libdevice.sqrt(positive), mask=inside)
    tl.store(out + 13 * n + at, libdevice.asinh(v) + libdevice.expm1(v), mask=inside)


@triton.jit
def conversions(x, double, half, bfloat, e4m3, e5m2, word, byte, back, n, BLOCK: tl.constexpr):
    """From f32 to each format; back has the two formats of 8 bits converted again, in two rows."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=0.0)
    tl.store(double + at, v.to(tl.float64) / 3.0, mask=inside)
    tl.store(half + at, v.to(tl.float16), mask=inside)
    tl.store(bfloat + at, v.to(tl.bfloat16), mask=inside)
    narrow, wide = v.to(tl.float8e4nv), v.to(tl.float8e5)
    tl.store(e4m3 + at, narrow, mask=inside)
    tl.store(e5m2 + at, wide, mask=inside)
    tl.store(back + at, narrow.to(tl.float32), mask=inside)
    tl.store(back + n + at, wide.to(tl.float32), mask=inside)
    tl.store(word + at, v.to(tl.int32), mask=inside)
    tl.store(byte + at, v.to(tl.int8), mask=inside)
