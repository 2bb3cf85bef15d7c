/* WGMMA: asynchronous MMAs by the 128 threads of a warpgroup. */
#ifndef CROQ_SIM_WGMMA_H
#define CROQ_SIM_WGMMA_H

namespace croq {
inline namespace CROQ_TARGET {

/* The address and layout of an operand in shared memory. */
using matrix_descriptor = unsigned long long;

/* The matrix that begins at element `at`. With a swizzle, its rows have 32, 64 or 128 bytes; with
 * swizzle 0 it consists of pieces of 8 rows of 16 bytes. `stride` is the distance from 8 rows to
 * the next 8. `leading`: without a swizzle, the distance from 16 bytes of a row to the next 16;
 * with a swizzle, unused if rows run along K, else the distance from one group of columns to the
 * next. (In the descriptor the two are exchanged without a swizzle.) */
template <class M>
CROQ_OPERATION matrix_descriptor describe(const M &memory, idx at, unsigned swizzle, unsigned leading,
                                   unsigned stride, int line = __builtin_LINE()) {
  if (!CROQ_LIKELY(static_cast<unsigned long long>(at) <
                   static_cast<unsigned long long>(memory.extent)))
    out_of_bounds(memory.name, at, memory.extent, line);
  const auto *const first = reinterpret_cast<const unsigned char *>(memory.first + at);
  const unsigned long long address = static_cast<unsigned long long>(first - current->shared);
  if (!CROQ_LIKELY(address % 16 == 0)) misaligned(memory.name, at, 16, line);
  if (!CROQ_LIKELY(leading % 16 == 0 && stride % 16 == 0 && leading < 1u << 18 && stride < 1u << 18)) {
    const croq_i64 values[] = {leading, stride};
    stop(CROQ_CHECK, no_row, line, "strides that no matrix descriptor can hold", 2, values);
  }
  const unsigned code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return (address & 0x3ffff) >> 4 | static_cast<matrix_descriptor>(leading >> 4) << 16 |
         static_cast<matrix_descriptor>(stride >> 4) << 32 |
         static_cast<matrix_descriptor>(memory.written.bytes != nullptr ? memory.written.number : 0)
             << 52 |
         static_cast<matrix_descriptor>(code) << 62;
}

/* The same, `units` of 16 bytes further on. */
CROQ_OPERATION matrix_descriptor advance_units(matrix_descriptor from, unsigned units) {
  const unsigned low = static_cast<unsigned>(from) + units;
  return from >> 32 << 32 | low;
}
/* The same, `bytes` further on, a multiple of 16. */
CROQ_OPERATION matrix_descriptor advance(matrix_descriptor from, unsigned bytes) {
  return advance_units(from, static_cast<unsigned>(static_cast<int>(bytes) >> 4));
}

CROQ_OPERATION matrix_descriptor computed_once(matrix_descriptor all, unsigned units = 0) {
  return advance_units(all, units);
}

/* Required before the first MMA, and where registers of the next MMA have been accessed since the
 * last one: orders these accesses before it. `used` are the fragments that may have been
 * accessed. */
template <class... F> CROQ_FN void wgmma_fence(F &...) { ++current->wgmma_fences; }
/* Closes the group of the MMAs since the last commit. */
CROQ_OPERATION void wgmma_commit() {
  croq_sim_thread *const self = current;
  sim_api()->commit_wgmma(self);
  current = self;
}
/* Waits until all groups except the `N` youngest have completed, so that their registers and shared
 * memory can be used. `done` are the fragments that are used next. */
template <unsigned N, class... F> CROQ_OPERATION void wgmma_wait(F &...) {
  static_assert(N < 8, "so many groups can't be waited for");
  croq_sim_thread *const self = current;
  sim_api()->wait_wgmma(self, N);
  current = self;
}

template <unsigned N, class A, class B, class C> constexpr bool has_wgmma() {
  constexpr bool eights = (same<A, f8_e4m3> || same<A, f8_e5m2>) && (same<B, f8_e4m3> || same<B, f8_e5m2>);
  constexpr bool bytes = (same<A, signed char> || same<A, unsigned char>) &&
                         (same<B, signed char> || same<B, unsigned char>);
  if constexpr (N < 8 || N > 256 || N % 8 != 0) return false;
  else if constexpr (bytes) return same<C, int> && (N <= 32 || N % 16 == 0);
  else if constexpr (eights || (same<A, f16> && same<B, f16>)) return same<C, float> || same<C, f16>;
  else return same<A, B> && (same<A, bf16> || same<A, float>) && same<C, float>;
}

/* The operands of the MMA that is being computed: one at a time per OS thread. With a sparse A, two
 * of every four elements are stored, with the positions of all of them along K. */
struct wgmma_matrices {
  double a[64][32];
  double b[64][256];
  unsigned char at[64][32];
};
inline thread_local wgmma_matrices wgmma_operands;

/* Bytes of a row along K, and of a row of B if A is sparse. */
inline constexpr unsigned dense = 32, beside_sparse = 64;

/* Reads the elements of an operand of `rows` rows of `Wide` bytes along K from its pieces of 16
 * bytes: row by row, or, if the other axis is contiguous, column by column of K. */
template <bool Transposed, unsigned Wide, class T, class F>
CROQ_OPERATION void gather(const unsigned char *shared, const croq_u32 *pieces, unsigned rows, F put) {
  constexpr unsigned of_piece = 16 / sizeof(T);
  const unsigned of_row = Transposed ? rows / of_piece : Wide / 16;
  for (unsigned p = 0; p < rows * Wide / 16; ++p) {
    T elements[of_piece];
    __builtin_memcpy(elements, shared + pieces[p], 16);
    for (unsigned e = 0; e < of_piece; ++e) {
      const unsigned along = p % of_row * of_piece + e, across = p / of_row;
      put(Transposed ? along : across, Transposed ? across : along, factor(elements[e]));
    }
  }
}

/* The rows of an operand that contain an unwritten element. */
template <bool Transposed, unsigned Wide, class T>
CROQ_OPERATION void gather_unwritten(const unsigned char *marks, croq_u32 number, const croq_u32 *pieces,
                              unsigned rows, bool *found) {
  constexpr unsigned of_piece = 16 / sizeof(T);
  const unsigned of_row = Transposed ? rows / of_piece : Wide / 16;
  if (marks == nullptr || number == 0) return;
  for (unsigned p = 0; p < rows * Wide / 16; ++p) {
    if (CROQ_LIKELY(are_marked<16>(marks + pieces[p], number))) continue;
    for (unsigned e = 0; e < of_piece; ++e)
      if (!are_marked<sizeof(T)>(marks + pieces[p] + e * sizeof(T), number))
        found[Transposed ? p % of_row * of_piece + e : p / of_row] = true;
  }
}
/* An accumulator is unwritten if an element of its row of A or of its column of B is, or if it was
 * unwritten and is added to. `Wide`: bytes of a row of B. */
template <class A, class B, bool AT, bool BT, unsigned Wide>
CROQ_OPERATION void carry_out_marks(const croq_sim_factors *factors) {
  if (factors->unwritten_accumulators == nullptr) return;
  bool rows[64] = {}, columns[256] = {};
  if (factors->a != nullptr)
    gather_unwritten<AT, dense, A>(factors->written, factors->number_of_a, factors->a, 64, rows);
  else
    for (unsigned thread = 0; thread < 128; ++thread) {
      constexpr unsigned width = 4 / sizeof(A);
      const unsigned char *const mine = factors->unwritten_a[thread];
      for (unsigned e = 0; mine != nullptr && e < 4 * width; ++e)
        if (mine[e] != 0) rows[thread / 32 * 16 + thread % 32 / 4 + e / width % 2 * 8] = true;
    }
  gather_unwritten<BT, Wide, B>(factors->written, factors->number_of_b, factors->b, factors->columns,
                                columns);
  for (unsigned thread = 0; Wide != dense && thread < 128; ++thread) {
    const unsigned char *const mine = factors->unwritten_metadata[thread];
    const unsigned row = thread / 32 * 16 + thread % 32 / 4;
    if (mine != nullptr && *mine != 0) rows[row] = rows[row + 8] = true;
  }
  for (unsigned thread = 0; thread < 128; ++thread) {
    unsigned char *const sums = factors->unwritten_accumulators[thread];
    for (unsigned e = 0; sums != nullptr && e < factors->columns / 2; ++e) {
      const unsigned row = thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8;
      const unsigned column = e / 4 * 8 + thread % 4 * 2 + e % 2;
      const bool before = factors->accumulate != 0 && sums[e] != 0;
      sums[e] = before || rows[row] || columns[column];
    }
  }
}

/* Eight accumulators of a row. */
inline void multiply(double (&sums)[8], unsigned row, unsigned column, unsigned count) {
  const wgmma_matrices &all = wgmma_operands;
  for (unsigned k = 0; k < count; ++k)
    for (unsigned n = 0; n < 8; ++n) sums[n] += all.a[row][k] * all.b[k][column + n];
}

/* The same with a sparse A. */
inline void multiply_sparse(double (&sums)[8], unsigned row, unsigned column, unsigned count) {
  const wgmma_matrices &all = wgmma_operands;
  for (unsigned k = 0; k < count; ++k)
    for (unsigned n = 0; n < 8; ++n) sums[n] += all.a[row][k] * all.b[all.at[row][k]][column + n];
}
/* The positions along K of the stored elements of A. */
template <unsigned K, unsigned F> CROQ_OPERATION void place_sparse(const croq_sim_factors *factors) {
  for (unsigned warp = 0; warp < 4; ++warp) {
    unsigned lanes[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      __builtin_memcpy(&lanes[lane], factors->metadata[warp * 32 + lane], sizeof lanes[lane]);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned g = 0; g < K / 4; ++g) {
        const unsigned at = positions_of<K, F>(lanes, row, g);
        unsigned char *const stored = wgmma_operands.at[warp * 16 + row] + 2 * g;
        stored[0] = static_cast<unsigned char>(4 * g + at % 4);
        stored[1] = static_cast<unsigned char>(4 * g + at / 4);
      }
  }
}

/* `K` is 0 if A is not sparse. */
template <class A, class B, bool AT, bool BT, class C, unsigned K = 0, unsigned F = 0>
void carry_out(const croq_sim_factors *factors) {
  wgmma_matrices &all = wgmma_operands;
  constexpr unsigned wide = K == 0 ? dense : beside_sparse;
  carry_out_marks<A, B, AT, BT, wide>(factors);
  if constexpr (K != 0) place_sparse<K, F>(factors);
  if (factors->a != nullptr)
    gather<AT, dense, A>(factors->shared, factors->a, 64,
                  [&](unsigned row, unsigned k, auto v) { all.a[row][k] = v; });
  else
    for (unsigned thread = 0; thread < 128; ++thread) {
      constexpr unsigned width = 4 / sizeof(A);
      const A *const mine = static_cast<const A *>(factors->registers[thread]);
      for (unsigned e = 0; e < 4 * width; ++e) {
        const unsigned r = e / width, row = thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8;
        all.a[row][r / 2 * 4 * width + thread % 4 * width + e % width] = factor(mine[e]);
      }
    }
  gather<BT, wide, B>(factors->shared, factors->b, factors->columns,
                [&](unsigned column, unsigned k, auto v) { all.b[k][column] = v; });
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned column = 0; column < factors->columns; column += 8) {
      const auto at = [&](unsigned n) -> C & {
        const unsigned thread = row / 16 * 32 + row % 8 * 4 + n / 2;
        return static_cast<C *>(factors->sums[thread])[column / 2 + row % 16 / 8 * 2 + n % 2];
      };
      double sums[8] = {};
      if (!same<C, int> && factors->accumulate != 0)
        for (unsigned n = 0; n < 8; ++n) sums[n] = to<double>(at(n));
      if constexpr (K == 0) multiply(sums, row, column, 32 / sizeof(A));
      else multiply_sparse(sums, row, column, 32 / sizeof(A));
      for (unsigned n = 0; n < 8; ++n) {
        C &sum = at(n);
        if constexpr (same<C, int>) {
          /* At most 32 products of 16 bits; their sum with the accumulator wraps. */
          const unsigned before = factors->accumulate != 0 ? static_cast<unsigned>(sum) : 0;
          sum = static_cast<int>(before + static_cast<unsigned>(static_cast<int>(sums[n])));
        } else sum = to<C>(sums[n]);
      }
    }
}

template <class T, int N, idx At>
CROQ_OPERATION croq_sim_part part_of(fragment<T, N, At> &registers, idx first, idx count, int line) {
  if (!CROQ_LIKELY(first >= 0 && first <= N - count))
    out_of_bounds("fragment", first < 0 ? first : N, N, line);
  return {&registers.registers, registers.elements + first, static_cast<croq_u32>(first),
          static_cast<croq_u32>(count), static_cast<croq_u32>(count * idx(sizeof(T)))};
}

CROQ_FN croq_u32 wgmma_flags(bool at, bool bt, bool accumulate) {
  croq_u32 flags = 0;
  if (at) flags |= CROQ_WGMMA_TRANSPOSED_A;
  if (bt) flags |= CROQ_WGMMA_TRANSPOSED_B;
  if (accumulate) flags |= CROQ_WGMMA_ACCUMULATES;
  return flags;
}

/* c += a b, or c = a b if `accumulate` is false: 64 x `N` sums over `K` products each, by a
 * warpgroup. A thread's N / 2 accumulators begin at `ci`; warp w has rows 16 w and up, in the order
 * of `mma`. Operands are in shared memory; their rows run along K, or with `AT` or `BT` along the
 * other axis. f32 is used as tf32.
 *
 * Before: `wgmma_fence`. After: `wgmma_commit`, and `wgmma_wait` before the accumulators are
 * accessed or the operands are overwritten.
 *
 * Rounding is that of `mma`. */
template <unsigned N, unsigned K, class A, class B, bool AT = false, bool BT = false, class C, int CN,
          idx CP>
CROQ_OPERATION void wgmma(fragment<C, CN, CP> &c, idx ci, matrix_descriptor a, matrix_descriptor b,
                   bool accumulate, int line = __builtin_LINE()) {
  static_assert(K * sizeof(A) == 32 && has_wgmma<N, A, B, C>(), "there is no such instruction");
  static_assert(sizeof(A) == 2 || (!AT && !BT), "only elements of two bytes are transposed");
  const croq_sim_wgmma wgmma = {
      a, b, part_of(c, ci, N / 2, line), {}, {}, N,
      wgmma_flags(AT, BT, accumulate),
      static_cast<croq_u32>(line), &carry_out<A, B, AT, BT, C>};
  croq_sim_thread *const self = current;
  sim_api()->wgmma(self, &wgmma);
  current = self;
}
/* The same with A in four registers from element `ai` on: each warp has its 16 rows in the layout
 * of `mma`. They must not be accessed before the wait either. */
template <unsigned N, unsigned K, class B, bool BT = false, class C, int CN, idx CP, class A, int AN,
          idx AP>
CROQ_OPERATION void wgmma(fragment<C, CN, CP> &c, idx ci, fragment<A, AN, AP> &a, idx ai, matrix_descriptor b,
                   bool accumulate, int line = __builtin_LINE()) {
  static_assert(K * sizeof(A) == 32 && has_wgmma<N, A, B, C>(), "there is no such instruction");
  static_assert(sizeof(A) == 2 || !BT, "only elements of two bytes are transposed");
  const croq_sim_wgmma wgmma = {
      0, b, part_of(c, ci, N / 2, line), part_of(a, ai, 16 / sizeof(A), line), {}, N,
      wgmma_flags(false, BT, accumulate),
      static_cast<croq_u32>(line), &carry_out<A, B, false, BT, C>};
  croq_sim_thread *const self = current;
  sim_api()->wgmma(self, &wgmma);
  current = self;
}

template <unsigned N, unsigned K, unsigned F, class A, class B, class C>
constexpr bool has_wgmma_sp() {
  constexpr bool floats = same<C, float> || same<C, f16>;
  return floats && sizeof(A) < 4 && K * sizeof(A) == 64 && F < (K == 32 ? 2 : 1) &&
         has_wgmma<N, A, B, C>();
}
/* This thread's part of the metadata, which must be valid; each thread checks its own part. */
template <unsigned K, unsigned F, int N, idx At>
CROQ_OPERATION croq_sim_part metadata_of(fragment<unsigned, N, At> &registers, idx at, int line) {
  const croq_sim_part part = part_of(registers, at, 1, line);
  const bool unknown = registers.unwritten_elements != nullptr && registers.unwritten_elements[at] != 0;
  if (!unknown) check_metadata<K, F>(registers.elements[at], current->tid % 32, line);
  return part;
}

/* The same with a sparse A: of every four elements of A along K two are stored. `K` counts all of
 * them, so B has twice as many. Register `ei` of e has their positions, as for `mma_sp`. It must
 * not be accessed before the wait. */
template <unsigned N, unsigned K, unsigned F, class A, class B, bool AT = false, bool BT = false,
          class C, int CN, idx CP, int EN, idx EP>
CROQ_OPERATION void wgmma_sp(fragment<C, CN, CP> &c, idx ci, matrix_descriptor a, matrix_descriptor b,
                      fragment<unsigned, EN, EP> &e, idx ei, bool accumulate,
                      int line = __builtin_LINE()) {
  static_assert(has_wgmma_sp<N, K, F, A, B, C>(), "there is no such instruction");
  static_assert(sizeof(A) == 2 || (!AT && !BT), "only elements of two bytes are transposed");
  const croq_sim_wgmma wgmma = {
      a, b, part_of(c, ci, N / 2, line), {}, metadata_of<K, F>(e, ei, line), N,
      wgmma_flags(AT, BT, accumulate),
      static_cast<croq_u32>(line), &carry_out<A, B, AT, BT, C, K, F>};
  croq_sim_thread *const self = current;
  sim_api()->wgmma(self, &wgmma);
  current = self;
}
template <unsigned N, unsigned K, unsigned F, class B, bool BT = false, class C, int CN, idx CP, class A,
          int AN, idx AP, int EN, idx EP>
CROQ_OPERATION void wgmma_sp(fragment<C, CN, CP> &c, idx ci, fragment<A, AN, AP> &a, idx ai,
                      matrix_descriptor b, fragment<unsigned, EN, EP> &e, idx ei, bool accumulate,
                      int line = __builtin_LINE()) {
  static_assert(has_wgmma_sp<N, K, F, A, B, C>(), "there is no such instruction");
  static_assert(sizeof(A) == 2 || !BT, "only elements of two bytes are transposed");
  const croq_sim_wgmma wgmma = {
      0, b, part_of(c, ci, N / 2, line), part_of(a, ai, 16 / sizeof(A), line),
      metadata_of<K, F>(e, ei, line), N, wgmma_flags(false, BT, accumulate),
      static_cast<croq_u32>(line), &carry_out<A, B, false, BT, C, K, F>};
  croq_sim_thread *const self = current;
  sim_api()->wgmma(self, &wgmma);
  current = self;
}

template <class T> CROQ_OPERATION T kept(T v) { return v; }

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
