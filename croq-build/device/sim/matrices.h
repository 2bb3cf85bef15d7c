/* Loads and stores of matrices of 8 rows of 16 bytes between shared memory and a warp's
 * registers. */
#ifndef CROQ_SIM_MATRICES_H
#define CROQ_SIM_MATRICES_H

namespace croq {
inline namespace CROQ_TARGET {

struct matrix_rows {
  idx of[32];
};
/* Each lane's row, in all lanes. */
CROQ_OPERATION matrix_rows exchange_rows(idx row, int line) {
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
CROQ_OPERATION auto matrix_memory(const M &memory, idx row, bool writes, int line) {
  static_assert(N == 1 || N == 2 || N == 4, "1, 2 or 4 matrices at once");
  using T = typename without_const<decltype(memory.load(0))>::type;
  /* Each row is checked for the lane that provides its address. */
  if (croq_lane() < 8 * N) reach<16 / sizeof(T)>(memory, row, writes, line);
  return memory.first;
}

/* The marks of the four bytes that a lane gets of each matrix, or "all written" if the memory has
 * no marks. */
template <unsigned N, bool Transposed, class M>
CROQ_OPERATION void gather_marks(unsigned *marks, const M &memory, const matrix_rows &rows) {
  using T = typename without_const<decltype(memory.load(0))>::type;
  const unsigned lane = croq_lane(), group = lane / 4, place = lane % 4;
  const unsigned char *const of = memory.written.bytes;
  const auto at = [&](idx element, unsigned byte) {
    return of + element * idx(sizeof(T)) + byte;
  };
  for (unsigned m = 0; m < N; ++m) {
    unsigned char found[4] = {1, 1, 1, 1};
    for (unsigned b = 0; of != nullptr && b < 4; ++b) {
      const unsigned char *const mark =
          Transposed ? at(rows.of[8 * m + 2 * place + b / 2] + group, b % 2)
                     : at(rows.of[8 * m + group], 4 * place + b);
      found[b] = *mark == memory.written.number;
    }
    __builtin_memcpy(&marks[m], found, 4);
  }
}
/* The inverse operation. */
template <unsigned N, bool Transposed, class M>
CROQ_OPERATION void propagate_marks(const M &memory, const matrix_rows &rows, const unsigned *marks) {
  using T = typename without_const<decltype(memory.load(0))>::type;
  const unsigned lane = croq_lane(), group = lane / 4, place = lane % 4;
  unsigned char *const of = memory.written.bytes;
  if (of == nullptr) return;
  for (unsigned m = 0; m < N; ++m) {
    unsigned char found[4] = {1, 1, 1, 1};
    if (marks != nullptr) __builtin_memcpy(found, &marks[m], 4);
    for (unsigned b = 0; b < 4; ++b) {
      const idx element = Transposed ? rows.of[8 * m + 2 * place + b / 2] + group
                                     : rows.of[8 * m + group];
      const unsigned byte = Transposed ? b % 2 : 4 * place + b;
      of[element * idx(sizeof(T)) + byte] =
          static_cast<unsigned char>(found[b] != 0 ? memory.written.number : 0);
    }
  }
}

/* `N` matrices. Lane 8 m + r provides the address of row r of matrix m: its first element, at a
 * multiple of 16 bytes. The lane receives four bytes of each matrix: bytes 4 (lane % 4) and up of
 * row lane / 4. Transposed, for elements of two bytes: element lane / 4 of rows 2 (lane % 4) and
 * the next. */
template <unsigned N, bool Transposed = false, class M>
CROQ_OPERATION void ldmatrix(unsigned (&out)[N], const M &memory, idx row, int line = __builtin_LINE(),
                      unsigned *marks = nullptr) {
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
  if (marks != nullptr) gather_marks<N, Transposed>(marks, memory, rows);
  /* No lane writes elements that another one has not read yet. */
  barrier_warp(0xffffffffu, line);
}
/* The inverse operation. */
template <unsigned N, bool Transposed = false, class M>
CROQ_OPERATION void stmatrix(const M &memory, idx row, const unsigned (&in)[N],
                      int line = __builtin_LINE(), const unsigned *marks = nullptr) {
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
  propagate_marks<N, Transposed>(memory, rows, marks);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
