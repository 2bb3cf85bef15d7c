/* MMAs by a warp. */
#ifndef CROQ_SIM_MMA_H
#define CROQ_SIM_MMA_H

namespace croq {
inline namespace CROQ_TARGET {

/* Loads `Count` matrices of 8 rows of 16 bytes from shared memory into the registers from element
 * `at` on; see matrices.h. `row` is the element at which this lane's row begins, plus `more`
 * elements. */
template <unsigned Count, bool Transposed = false, class T, int N, idx At, class M>
CROQ_OPERATION void ldmatrix(fragment<T, N, At> &into, idx at, const M &memory, idx row, idx more = 0,
                      int line = __builtin_LINE()) {
  unsigned registers[Count], marks[Count];
  const bool tracks = into.unwritten_elements != nullptr;
  ldmatrix<Count, Transposed>(registers, memory, row + more, line, tracks ? marks : nullptr);
  __builtin_memcpy(reach<Count * 4 / sizeof(T)>(into, at, true, line), registers, sizeof registers);
  if (!tracks) return;
  const auto *const found = reinterpret_cast<const unsigned char *>(marks);
  for (unsigned e = 0; e < Count * 4 / sizeof(T); ++e) {
    bool all = true;
    for (unsigned b = 0; b < sizeof(T); ++b) all = all && found[e * sizeof(T) + b] != 0;
    into.unwritten_elements[at + e] = !all;
  }
}

/* The inverse operation. */
template <unsigned Count, bool Transposed = false, class T, int N, idx At, class M>
CROQ_OPERATION void stmatrix(const M &memory, idx row, fragment<T, N, At> &from, idx at,
                      int line = __builtin_LINE()) {
  unsigned registers[Count], marks[Count];
  __builtin_memcpy(registers, reach<Count * 4 / sizeof(T)>(from, at, false, line), sizeof registers);
  const bool tracks = from.unwritten_elements != nullptr;
  if (tracks)
    for (unsigned e = 0; e < Count * 4 / sizeof(T); ++e)
      __builtin_memset(reinterpret_cast<unsigned char *>(marks) + e * sizeof(T),
                       from.unwritten_elements[at + e] == 0, sizeof(T));
  stmatrix<Count, Transposed>(memory, row, registers, line, tracks ? marks : nullptr);
}

/* Operands of the MMAs of each warp of a block: the rows of A and the columns of B, of 16 f64, 32
 * f32 or 256 small integers each, or 64 f32 per column if A is sparse, and each lane's part of the metadata. The threads
 * of a block share an OS thread. */
struct mma_operands {
  alignas(8) unsigned char a[16 * 256];
  alignas(8) unsigned char b[8 * 256];
  unsigned metadata[32];
};
inline thread_local mma_operands mma_warps[32];
/* For each lane, whether its parts of A and B contain an unwritten element: in its row, in the row
 * 8 below, in its column. */
inline thread_local unsigned char mma_unwritten[32][32];
inline constexpr unsigned char in_row = 1, in_row_below = 2, in_column = 4;

/* f32 is used as tf32: the low bits of the mantissa are ignored. */
CROQ_FN float factor(float v) { return float_from_bits(float_bits(v) & 0xffffe000u); }
CROQ_FN double factor(double v) { return v; }
template <class T> CROQ_FN auto factor(T v) {
  if constexpr (small<T>) return static_cast<signed char>(static_cast<int>(v));
  else return to<float>(v);
}

/* c += a b: `M` x `N` sums over `K` products each. The thread's elements of c, a and b begin at
 * `ci`, `ai` and `bi`; the PTX ISA defines their positions in the matrices. Operands in f32 are
 * used as tf32.
 *
 * Floats narrower than f64: products and sums are computed in f64, exact except for its last
 * places, and rounded once; hardware truncates more. f64: a sequence of fused multiply-adds.
 * Integers wrap. */
template <unsigned M, unsigned N, unsigned K, class C, int CN, idx CP, class A, int AN, idx AP, class B,
          int BN, idx BP>
CROQ_OPERATION void mma(fragment<C, CN, CP> &c, idx ci, fragment<A, AN, AP> &a, idx ai,
                 fragment<B, BN, BP> &b, idx bi, int line = __builtin_LINE()) {
  static_assert(N == 8 && (M == 8 || M == 16), "there is no such instruction");
  const unsigned tid = current->tid, group = tid % 32 / 4, place = tid % 4;
  using W = decltype(factor(A()));
  constexpr unsigned most = small<A> ? 256 : 128 / sizeof(W);
  W *const rows = reinterpret_cast<W *>(mma_warps[tid / 32].a);
  W *const columns = reinterpret_cast<W *>(mma_warps[tid / 32].b);
  /* Adjacent elements of a register are adjacent along K; an f64 has a register of its own. Where
   * four registers have more elements than K, each lane has one. */
  constexpr unsigned of_register = sizeof(A) < 4 ? 4 / sizeof(A) * per_byte<A> : 1;
  constexpr unsigned width = K == 4 ? 1 : of_register;
  static_assert(sizeof(A) == sizeof(B) && per_byte<A> == per_byte<B> && K % (4 * width) == 0,
                "there is no such instruction");
  static_assert(K <= most, "there is no such instruction");
  for (unsigned e = 0; e < M * K / 32; ++e) {
    const unsigned r = e / width, row = M == 16 ? group + r % 2 * 8 : group;
    const unsigned k = (M == 16 ? r / 2 : r) * 4 * width + place * width + e % width;
    rows[row * most + k] = factor(a.element(ai + e, line));
  }
  for (unsigned e = 0; e < 8 * K / 32; ++e)
    columns[group * most + e / width * 4 * width + place * width + e % width] =
        factor(b.element(bi + e, line));
  const bool tracks = c.unwritten_elements != nullptr;
  if (tracks) {
    unsigned char found = 0;
    for (unsigned e = 0; a.unwritten_elements != nullptr && e < M * K / 32; ++e)
      if (a.unwritten_elements[ai + e] != 0)
        found |= M == 16 && e / width % 2 != 0 ? in_row_below : in_row;
    for (unsigned e = 0; b.unwritten_elements != nullptr && e < 8 * K / 32; ++e)
      if (b.unwritten_elements[bi + e] != 0) found |= in_column;
    mma_unwritten[tid / 32][tid % 32] = found;
  }
  whole_warp(line);
  for (unsigned e = 0; tracks && e < M * 8 / 32; ++e) {
    const unsigned char *const lanes = mma_unwritten[tid / 32];
    const unsigned char row = e / 2 != 0 ? in_row_below : in_row;
    for (unsigned k = 0; k < 4; ++k)
      if ((lanes[group * 4 + k] & row) != 0 || (lanes[(place * 2 + e % 2) * 4 + k] & in_column) != 0)
        c.unwritten_elements[ci + e] = 1;
  }
  for (unsigned e = 0; e < M * 8 / 32; ++e) {
    const W *const x = rows + (group + e / 2 * 8) * most;
    const W *const y = columns + (place * 2 + e % 2) * most;
    C &sum = c.element(ci + e, line);
    if constexpr (same<C, int>) {
      /* At most 32 products of 16 bits, or more of fewer bits. */
      double all = 0;
      for (unsigned k = 0; k < K; ++k) all += double(x[k]) * double(y[k]);
      sum = static_cast<int>(static_cast<unsigned>(sum) +
                             static_cast<unsigned>(static_cast<int>(all)));
    } else if constexpr (same<C, double>) {
      for (unsigned k = 0; k < K; ++k) sum = ::fma(x[k], y[k], sum);
    } else {
      double all = to<double>(sum);
      for (unsigned k = 0; k < K; ++k) all += double(x[k]) * double(y[k]);
      sum = to<C>(all);
    }
  }
  /* No lane overwrites operands that another one has not used yet. */
  barrier_warp(0xffffffffu, line);
}

/* The value of the lane whose number differs from this one's in these bits. */
template <class T> CROQ_FN T of_lane_across(T v, unsigned bits, int line = __builtin_LINE()) {
  return croq_shuffle(0xffffffffu, CROQ_LANES_SHUFFLE_XOR, v, croq_lane() ^ bits, line);
}
/* The same for a value that may be unwritten: the result is unwritten if the other lane's value
 * is. */
template <class T>
CROQ_OPERATION T tracked_of_lane_across(T v, unsigned bits, int line = __builtin_LINE()) {
  const croq_u32 own = take_unwritten();
  const T found = of_lane_across(v, bits, line);
  const croq_u32 other = of_lane_across(own, bits, line);
  unwritten = other != 0 ? other : own;
  return found;
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
