/* Matrices of 8 rows of 16 bytes between shared memory and a warp's registers. */
#ifndef CROQ_SIM_MATRICES_H
#define CROQ_SIM_MATRICES_H

namespace croq {
inline namespace CROQ_TARGET {

struct matrix_rows {
  idx of[32];
};
/* Each lane's row, known to all of them. */
CROQ_FN matrix_rows exchange_rows(idx row, int line) {
  return croq_exchange(0xffffffffu, CROQ_LANES_MATRIX, row, line,
                       [line](const unsigned long long *lanes, unsigned here) {
                         all_lanes_here(here, line);
                         matrix_rows rows;
                         for (unsigned lane = 0; lane < 32; ++lane)
                           rows.of[lane] = static_cast<idx>(lanes[lane]);
                         return rows;
                       });
}
template <unsigned N, class M>
CROQ_FN auto matrix_memory(const M &memory, idx row, bool writes, int line) {
  static_assert(N == 1 || N == 2 || N == 4, "1, 2 or 4 matrices at once");
  using T = typename without_const<decltype(memory.load(0))>::type;
  /* Whoever names a row answers for it. */
  if (croq_lane() < 8 * N) reach<16 / sizeof(T)>(memory, row, writes, line);
  return memory.first;
}

/* `N` matrices: lane 8 m + r names row r of matrix m by its first element, at a multiple of 16 bytes. The
 * lane gets four bytes of each: numbers 4 (lane % 4) and up of row lane / 4. Transposed, which is for
 * elements of two bytes: element lane / 4 of rows 2 (lane % 4) and the next. */
template <unsigned N, bool Transposed = false, class M>
CROQ_FN void ldmatrix(unsigned (&out)[N], const M &memory, idx row, int line = __builtin_LINE()) {
  const auto *const first = matrix_memory<N>(memory, row, false, line);
  static_assert(!Transposed || sizeof *first == 2, "only elements of two bytes are transposed");
  const matrix_rows rows = exchange_rows(row, line);
  const unsigned lane = croq_lane(), group = lane / 4, place = lane % 4;
  for (unsigned m = 0; m < N; ++m) {
    if constexpr (Transposed) {
      __builtin_memcpy(&out[m], first + rows.of[8 * m + 2 * place] + group, 2);
      __builtin_memcpy(reinterpret_cast<char *>(&out[m]) + 2,
                       first + rows.of[8 * m + 2 * place + 1] + group, 2);
    } else {
      const auto *const bytes = reinterpret_cast<const char *>(first + rows.of[8 * m + group]);
      __builtin_memcpy(&out[m], bytes + 4 * place, 4);
    }
  }
  /* Nobody writes what another is still to read. */
  barrier_warp(0xffffffffu, line);
}
/* The way back. */
template <unsigned N, bool Transposed = false, class M>
CROQ_FN void stmatrix(const M &memory, idx row, const unsigned (&in)[N],
                      int line = __builtin_LINE()) {
  auto *const first = matrix_memory<N>(memory, row, true, line);
  static_assert(!Transposed || sizeof *first == 2, "only elements of two bytes are transposed");
  const matrix_rows rows = exchange_rows(row, line);
  const unsigned lane = croq_lane(), group = lane / 4, place = lane % 4;
  for (unsigned m = 0; m < N; ++m) {
    if constexpr (Transposed) {
      __builtin_memcpy(first + rows.of[8 * m + 2 * place] + group, &in[m], 2);
      __builtin_memcpy(first + rows.of[8 * m + 2 * place + 1] + group,
                       reinterpret_cast<const char *>(&in[m]) + 2, 2);
    } else {
      auto *const bytes = reinterpret_cast<char *>(first + rows.of[8 * m + group]);
      __builtin_memcpy(bytes + 4 * place, &in[m], 4);
    }
  }
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
