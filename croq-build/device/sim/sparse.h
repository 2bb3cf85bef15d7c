/* MMAs by a warp with a sparse A: of every four elements of A along K two are stored. */
#ifndef CROQ_SIM_SPARSE_H
#define CROQ_SIM_SPARSE_H

namespace croq {
inline namespace CROQ_TARGET {

/* Whether a lane provides metadata: if `K` is 16, thread F of each four does; if it is 32, threads
 * 2 F and 2 F + 1 do. */
template <unsigned K, unsigned F> constexpr bool provides_metadata(unsigned lane) {
  return K == 16 ? lane % 4 == F : K != 32 || lane % 4 / 2 == F;
}
/* The two positions in group `g` of four elements along K, from the metadata of the lanes of a warp
 * for 16 rows; the first one is in the lower two bits. If `K` is 16 or 32, a lane has 16 positions
 * along K of row lane / 4, then those of the row 8 below; if it is 64, 32 positions of one row. */
template <unsigned K, unsigned F>
CROQ_OPERATION unsigned positions_of(const unsigned *lanes, unsigned row, unsigned g) {
  if constexpr (K == 16) return lanes[row % 8 * 4 + F] >> (row / 8 * 16 + g * 4) & 15;
  else if constexpr (K == 32)
    return lanes[row % 8 * 4 + F * 2 + g / 4] >> (row / 8 * 16 + g % 4 * 4) & 15;
  else return lanes[row % 8 * 4 + row / 8 + g / 8 * 2] >> (g % 8 * 4) & 15;
}
/* Positions that do not ascend are undefined in hardware. `bits` is the metadata that the lane
 * provides. */
template <unsigned K, unsigned F> CROQ_OPERATION void check_metadata(unsigned bits, unsigned lane, int line) {
  if (!provides_metadata<K, F>(lane)) return;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned first = bits >> i * 4 & 3, second = bits >> (i * 4 + 2) & 3;
    if (CROQ_LIKELY(first < second)) continue;
    const unsigned row = lane / 4 + 8 * (K == 64 ? lane % 2 : i / 4);
    const unsigned k = K == 16   ? i % 4 * 4
                       : K == 32 ? lane % 2 * 16 + i % 4 * 4
                                 : lane % 4 / 2 * 32 + i * 4;
    const croq_i64 values[] = {first, second, row, k};
    stop(CROQ_CHECK, no_row, line, "metadata: positions {0}, {1} of row {2}, K {3} do not ascend", 4,
         values);
  }
}

/* c += a b with a sparse A: of every four elements of A along K two are stored; `K` counts all of
 * them. Register `ei` of e has the positions: with K 16, thread `F` of each four provides them;
 * with K 32, threads 0 and 1, or with `F` 1 the other two; with K 64 all four do. Rounding is that
 * of `mma`. */
template <unsigned M, unsigned N, unsigned K, unsigned F, class C, int CN, idx CP, class A, int AN, idx AP,
          class B, int BN, idx BP, int EN, idx EP>
CROQ_OPERATION void mma_sp(fragment<C, CN, CP> &c, idx ci, fragment<A, AN, AP> &a, idx ai,
                    fragment<B, BN, BP> &b, idx bi, fragment<unsigned, EN, EP> &e, idx ei,
                    int line = __builtin_LINE()) {
  static_assert(M == 16 && N == 8 && sizeof(A) == sizeof(B) && sizeof(A) < 4 &&
                    (K * sizeof(A) == 64 || (K == 16 && sizeof(A) == 2)),
                "there is no such instruction");
  static_assert(F < 64 / K, "there is no such instruction");
  constexpr unsigned stored = K / 2, width = 4 / sizeof(A);
  const unsigned tid = current->tid, lane = tid % 32, group = lane / 4, place = lane % 4;
  mma_operands &all = mma_warps[tid / 32];
  float *const rows = reinterpret_cast<float *>(all.a);
  float *const columns = reinterpret_cast<float *>(all.b);
  all.metadata[lane] = e.element(ei, line);
  const bool unknown = e.unwritten_elements != nullptr && e.unwritten_elements[ei] != 0;
  if (!unknown) check_metadata<K, F>(all.metadata[lane], lane, line);
  for (unsigned i = 0; i < M * stored / 32; ++i) {
    const unsigned r = i / width, row = group + r % 2 * 8;
    rows[row * stored + r / 2 * 4 * width + place * width + i % width] =
        factor(a.element(ai + i, line));
  }
  for (unsigned i = 0; i < 8 * K / 32; ++i)
    columns[group * K + i / width * 4 * width + place * width + i % width] =
        factor(b.element(bi + i, line));
  const bool tracks = c.unwritten_elements != nullptr;
  if (tracks) {
    unsigned char found = 0;
    for (unsigned i = 0; a.unwritten_elements != nullptr && i < M * stored / 32; ++i)
      if (a.unwritten_elements[ai + i] != 0) found |= i / width % 2 != 0 ? in_row_below : in_row;
    for (unsigned i = 0; b.unwritten_elements != nullptr && i < 8 * K / 32; ++i)
      if (b.unwritten_elements[bi + i] != 0) found |= in_column;
    if (unknown && provides_metadata<K, F>(lane))
      found |= K != 64 ? in_row | in_row_below : lane % 2 != 0 ? in_row_below : in_row;
    mma_unwritten[tid / 32][lane] = found;
  }
  whole_warp(line);
  for (unsigned i = 0; tracks && i < M * 8 / 32; ++i) {
    const unsigned char *const lanes = mma_unwritten[tid / 32];
    const unsigned char row = i / 2 != 0 ? in_row_below : in_row;
    for (unsigned k = 0; k < 4; ++k)
      if ((lanes[group * 4 + k] & row) != 0 || (lanes[(place * 2 + i % 2) * 4 + k] & in_column) != 0)
        c.unwritten_elements[ci + i] = 1;
  }
  for (unsigned i = 0; i < M * 8 / 32; ++i) {
    const unsigned row = group + i / 2 * 8;
    const float *const x = rows + row * stored;
    const float *const y = columns + (place * 2 + i % 2) * K;
    C &sum = c.element(ci + i, line);
    double total = to<double>(sum);
    for (unsigned g = 0; g < K / 4; ++g) {
      const unsigned at = positions_of<K, F>(all.metadata, row, g);
      total += double(x[2 * g]) * double(y[4 * g + at % 4]);
      total += double(x[2 * g + 1]) * double(y[4 * g + at / 4]);
    }
    sum = to<C>(total);
  }
  /* No lane overwrites operands that another one has not used yet. */
  barrier_warp(0xffffffffu, line);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
