"""Kernels of integers: random bits, division, scans, sorting, and atomic operations."""

import triton
import triton.language as tl


@triton.jit
def random_bits(out, uniform, seed, n, BLOCK: tl.constexpr):
    """Philox 4x32-10, four words for each counter, and a number from 0 to 1 for each of them."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    words = tl.randint4x(seed, at)
    for word in tl.static_range(4):
        tl.store(out + word * n + at, words[word], mask=at < n)
    tl.store(uniform + at, tl.rand(seed, at), mask=at < n)


@triton.jit
def arithmetic(x, y, out, n, BLOCK: tl.constexpr):
    """Operations on 64-bit, 32-bit and 8-bit integers; each result is a row of out."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=1)
    b = tl.load(y + at, mask=inside, other=1)
    small = b.to(tl.int32) | 1
    tl.store(out + at, a // (b | 1), mask=inside)
    tl.store(out + n + at, a % (b | 1), mask=inside)
    tl.store(out + 2 * n + at, (a.to(tl.int32) // small).to(tl.int64), mask=inside)
    tl.store(out + 3 * n + at, (a.to(tl.uint32) % small.to(tl.uint32)).to(tl.int64), mask=inside)
    tl.store(out + 4 * n + at, a >> (b & 63), mask=inside)
    tl.store(out + 5 * n + at, a << (b & 63), mask=inside)
    tl.store(out + 6 * n + at, tl.umulhi(a, b), mask=inside)
    tl.store(out + 7 * n + at, a.to(tl.int8).to(tl.int64) * b.to(tl.int16), mask=inside)
    tl.store(out + 8 * n + at, tl.minimum(a, b) ^ tl.maximum(a.to(tl.int32), small), mask=inside)
    tl.store(out + 9 * n + at, tl.abs(a) - ~b, mask=inside)


@triton.jit
def scan_and_sort(x, sums, sorted, highest, where, BLOCK: tl.constexpr):
    """Of each row of BLOCK integers: running sums, the row in order, the largest and its place."""
    row = tl.program_id(0)
    at = row * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(values, axis=0))
    tl.store(sorted + at, tl.sort(values))
    tl.store(highest + row, tl.max(values, axis=0))
    tl.store(where + row, tl.argmax(values, axis=0))


@triton.jit
def count(x, bins, sum, most, least, total, locks, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """A histogram, and atomic sums, maxima and minima over all programs; total is under a lock."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside, other=0)
    counts = tl.histogram(values, BINS, mask=inside)
    tl.atomic_add(bins + tl.arange(0, BINS), counts, mask=counts > 0, sem="relaxed")
    tl.atomic_add(sum + values % 4, values.to(tl.float32), mask=inside)
    tl.atomic_max(most, tl.max(tl.where(inside, values, -1), axis=0))
    tl.atomic_min(least, tl.min(tl.where(inside, values, BINS), axis=0))
    while tl.atomic_cas(locks, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total, volatile=True) + tl.sum(tl.where(inside, values, 0), axis=0))
    tl.debug_barrier()
    tl.atomic_xchg(locks, 0)
