/* WGMMA: asynchronous MMAs by the 128 threads of a warpgroup (sm_90a). */
#ifndef CROQ_CUDA_WGMMA_H
#define CROQ_CUDA_WGMMA_H

#include "wgmma_registers.h"

namespace croq {
inline namespace CROQ_TARGET {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CROQ_ON_SM_90A(...) __VA_ARGS__
#else
#define CROQ_ON_SM_90A(...) __trap()
#endif

/* The address and layout of an operand in shared memory. */
using matrix_descriptor = unsigned long long;

/* The matrix that begins at element `at`. With a swizzle, its rows have 32, 64 or 128 bytes; with
 * swizzle 0 it consists of pieces of 8 rows of 16 bytes. `stride` is the distance from 8 rows to
 * the next 8. `leading`: without a swizzle, the distance from 16 bytes of a row to the next 16;
 * with a swizzle, unused if rows run along K, else the distance from one group of columns to the
 * next. (In the descriptor the two are exchanged without a swizzle.) */
template <class T>
CROQ_DEVICE matrix_descriptor describe(shared<T> memory, idx at, unsigned swizzle, unsigned leading,
                                       unsigned stride) {
  const unsigned code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  const unsigned low = (shared_address(memory.first + at) & 0x3ffff) >> 4 | leading >> 4 << 16;
  const unsigned high = stride >> 4 | code << 30;
  return static_cast<matrix_descriptor>(high) << 32 | low;
}

/* The same, `units` of 16 bytes further on, or back if it is negative as an int. An address and its
 * distance are too small for a carry from the lower word, so this is one addition of 64 bits, for which
 * uniform registers have an instruction; of an addition to the lower word ptxas makes two. */
CROQ_DEVICE matrix_descriptor advance_units(matrix_descriptor from, unsigned units) {
  return from + static_cast<matrix_descriptor>(static_cast<int>(units));
}
/* The same, `bytes` further on, a multiple of 16. */
CROQ_DEVICE matrix_descriptor advance(matrix_descriptor from, unsigned bytes) {
  return advance_units(from, static_cast<unsigned>(static_cast<int>(bytes) >> 4));
}

/* The same as `advance_units`, in a register that ptxas keeps uniform: it would compute the address of
 * shared memory again in each iteration of a loop, and the loop's first MMA would wait for that. Whole
 * warps execute it. Here nvcc must see that the upper word is that of `all`. */
CROQ_DEVICE matrix_descriptor computed_once(matrix_descriptor all, unsigned units = 0) {
  unsigned low = static_cast<unsigned>(all) + units;
  CROQ_ON_SM_90A(
      asm volatile("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(low) : "r"(low)));
  return all >> 32 << 32 | low;
}

/* The value, in a register: neither nvcc nor ptxas computes the result of a shuffle again where it is used.
 * Whole warps execute it. */
CROQ_DEVICE unsigned kept(unsigned v) {
  asm volatile("shfl.sync.bfly.b32 %0, %0, 0, 31, 0xffffffff;" : "+r"(v));
  return v;
}
CROQ_DEVICE int kept(int v) { return static_cast<int>(kept(static_cast<unsigned>(v))); }

/* Prevents that the compiler moves accesses of these registers across this point. */
template <class T, int N> CROQ_DEVICE void hold(fragment<T, N> &registers) {
  static_assert(N * sizeof(T) % 4 == 0, "registers are whole");
  constexpr int width = 4 / sizeof(T);
  CROQ_UNROLL for (int i = 0; i < N; i += width) {
    if constexpr (same<T, float>) asm volatile("" : "+f"(registers.first[i]) : : "memory");
    else if constexpr (width == 1) asm volatile("" : "+r"(registers.first[i]) : : "memory");
    else {
      unsigned bits = register_of(registers, i);
      asm volatile("" : "+r"(bits) : : "memory");
      set_register(registers, i, bits);
    }
  }
}

/* Required before the first MMA, and where registers of the next MMA have been accessed since the
 * last one: orders these accesses before it. `used` are the fragments that may have been
 * accessed. */
template <class... F> CROQ_DEVICE void wgmma_fence([[maybe_unused]] F &...used) {
  (hold(used), ...);
  CROQ_ON_SM_90A(asm volatile("wgmma.fence.sync.aligned;" : : : "memory"));
}
/* Closes the group of the MMAs since the last commit. */
CROQ_DEVICE void wgmma_commit() {
  CROQ_ON_SM_90A(asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"));
}
/* Waits until all groups except the `N` youngest have completed, so that their registers and shared
 * memory can be used. `done` are the fragments that are used next. */
template <unsigned N, class... F> CROQ_DEVICE void wgmma_wait([[maybe_unused]] F &...done) {
  static_assert(N < 8, "so many groups can't be waited for");
  CROQ_ON_SM_90A(asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory"));
  (hold(done), ...);
}

/* The instructions for `N` columns, which `wgmma_n.h` defines. */
template <unsigned N> struct wgmma_of;

/* c += a b, or c = a b if `accumulate`, a bool or a `constant`, is false: 64 x `N` sums over `K` products
 * each, by a warpgroup. A thread's N / 2 accumulators begin at `ci`; warp w has rows 16 w and up, in the order
 * of `mma`. Operands are in shared memory; their rows run along K, or with `AT` or `BT` along the
 * other axis. f32 is used as tf32.
 *
 * Before: `wgmma_fence`. After: `wgmma_commit`, and `wgmma_wait` before the accumulators are
 * accessed or the operands are overwritten. */
template <unsigned N, unsigned K, class A, class B, bool AT = false, bool BT = false, class C, int CN,
          class P>
CROQ_DEVICE void wgmma(fragment<C, CN> &c, idx ci, matrix_descriptor a, matrix_descriptor b,
                       P accumulate) {
  static_assert(K * sizeof(A) == 32 && sizeof(A) == sizeof(B), "there is no such instruction");
  static_assert(sizeof(A) == 2 || (!AT && !BT), "only elements of two bytes are transposed");
  wgmma_of<N>::template of_shared<A, B, AT, BT>(c, ci, a, b, accumulate);
}
/* The same with A in four registers from element `ai` on: each warp has its 16 rows in the layout
 * of `mma`. They must not be accessed before the wait either. */
template <unsigned N, unsigned K, class B, bool BT = false, class C, int CN, class A, int AN, class P>
CROQ_DEVICE void wgmma(fragment<C, CN> &c, idx ci, const fragment<A, AN> &a, idx ai,
                       matrix_descriptor b, P accumulate) {
  static_assert(K * sizeof(A) == 32 && sizeof(A) == sizeof(B), "there is no such instruction");
  static_assert(sizeof(A) == 2 || !BT, "only elements of two bytes are transposed");
  wgmma_of<N>::template of_registers<B, BT>(c, ci, a, ai, b, accumulate);
}

/* The instructions for `N` columns with a sparse A, which `wgmma_sp_n.h` defines. */
template <unsigned N> struct wgmma_sp_of;

/* The same with a sparse A: of every four elements of A along K two are stored. `K` counts all of
 * them, so B has twice as many. Register `ei` of e has their positions, as for `mma_sp`. It must
 * not be accessed before the wait. */
template <unsigned N, unsigned K, unsigned F, class A, class B, bool AT = false, bool BT = false,
          class C, int CN, int EN>
CROQ_DEVICE void wgmma_sp(fragment<C, CN> &c, idx ci, matrix_descriptor a, matrix_descriptor b,
                          const fragment<unsigned, EN> &e, idx ei, bool accumulate) {
  static_assert(K * sizeof(A) == 64 && sizeof(A) == sizeof(B) && F < (K == 32 ? 2 : 1),
                "there is no such instruction");
  static_assert(sizeof(A) == 2 || (!AT && !BT), "only elements of two bytes are transposed");
  wgmma_sp_of<N>::template of_shared<F, A, B, AT, BT>(c, ci, a, b, e.first[ei], accumulate);
}
template <unsigned N, unsigned K, unsigned F, class B, bool BT = false, class C, int CN, class A,
          int AN, int EN>
CROQ_DEVICE void wgmma_sp(fragment<C, CN> &c, idx ci, const fragment<A, AN> &a, idx ai,
                          matrix_descriptor b, const fragment<unsigned, EN> &e, idx ei,
                          bool accumulate) {
  static_assert(K * sizeof(A) == 64 && sizeof(A) == sizeof(B) && F < (K == 32 ? 2 : 1),
                "there is no such instruction");
  static_assert(sizeof(A) == 2 || !BT, "only elements of two bytes are transposed");
  wgmma_sp_of<N>::template of_registers<F, B, BT>(c, ci, a, ai, b, e.first[ei], accumulate);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
