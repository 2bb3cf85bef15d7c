/* Loads and stores of matrices of 8 rows of 16 bytes between shared memory and a warp's
 * registers. */
#ifndef CROQ_CUDA_MATRICES_H
#define CROQ_CUDA_MATRICES_H

namespace croq {
inline namespace CROQ_TARGET {

#define CROQ_R(n) "=r"(out[n])
#define CROQ_LDMATRIX(count, trans, numbers, at, ...)                                              \
  asm volatile("ldmatrix.sync.aligned.m8n8." count trans ".shared.b16 {" numbers "}, [" at "];"    \
               : __VA_ARGS__                                                                       \
               : "r"(address)                                                                      \
               : "memory")
/* `N` matrices. Lane 8 m + r provides the address of row r of matrix m: its first element, at a
 * multiple of 16 bytes. The lane receives four bytes of each matrix: bytes 4 (lane % 4) and up of
 * row lane / 4. Transposed, for elements of two bytes: element lane / 4 of rows 2 (lane % 4) and
 * the next. */
template <unsigned N, bool Transposed, class T>
CROQ_DEVICE void ldmatrix_at(unsigned (&out)[N], unsigned address) {
  static_assert(N == 1 || N == 2 || N == 4, "1, 2 or 4 matrices at once");
  static_assert(!Transposed || sizeof(T) == 2, "only elements of two bytes are transposed");
  if constexpr (N == 1 && !Transposed) CROQ_LDMATRIX("x1", "", "%0", "%1", CROQ_R(0));
  else if constexpr (N == 1) CROQ_LDMATRIX("x1", ".trans", "%0", "%1", CROQ_R(0));
  else if constexpr (N == 2 && !Transposed)
    CROQ_LDMATRIX("x2", "", "%0, %1", "%2", CROQ_R(0), CROQ_R(1));
  else if constexpr (N == 2)
    CROQ_LDMATRIX("x2", ".trans", "%0, %1", "%2", CROQ_R(0), CROQ_R(1));
  else if constexpr (!Transposed)
    CROQ_LDMATRIX("x4", "", "%0, %1, %2, %3", "%4", CROQ_R(0), CROQ_R(1), CROQ_R(2), CROQ_R(3));
  else
    CROQ_LDMATRIX("x4", ".trans", "%0, %1, %2, %3", "%4", CROQ_R(0), CROQ_R(1), CROQ_R(2),
                  CROQ_R(3));
}
#undef CROQ_LDMATRIX
#undef CROQ_R
template <unsigned N, bool Transposed = false, class T>
CROQ_DEVICE void ldmatrix(unsigned (&out)[N], shared<T> memory, idx row) {
  ldmatrix_at<N, Transposed, T>(out, shared_address(memory.first + row));
}

/* Before sm_90 the instruction does not exist; code for such a GPU traps. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CROQ_STMATRIX(count, trans, numbers, ...)                                                  \
  asm volatile("stmatrix.sync.aligned.m8n8." count trans ".shared.b16 [%0], {" numbers "};"        \
               :                                                                                   \
               : "r"(shared_address(memory.first + row)), __VA_ARGS__                              \
               : "memory")
#else
#define CROQ_STMATRIX(...) __trap()
#endif
#define CROQ_R(n) "r"(in[n])
/* The inverse operation (sm_90). */
template <unsigned N, bool Transposed = false, class T>
CROQ_DEVICE void stmatrix([[maybe_unused]] shared<T> memory, [[maybe_unused]] idx row,
                          [[maybe_unused]] const unsigned (&in)[N]) {
  static_assert(N == 1 || N == 2 || N == 4, "1, 2 or 4 matrices at once");
  static_assert(!Transposed || sizeof(T) == 2, "only elements of two bytes are transposed");
  if constexpr (N == 1 && !Transposed) CROQ_STMATRIX("x1", "", "%1", CROQ_R(0));
  else if constexpr (N == 1) CROQ_STMATRIX("x1", ".trans", "%1", CROQ_R(0));
  else if constexpr (N == 2 && !Transposed)
    CROQ_STMATRIX("x2", "", "%1, %2", CROQ_R(0), CROQ_R(1));
  else if constexpr (N == 2) CROQ_STMATRIX("x2", ".trans", "%1, %2", CROQ_R(0), CROQ_R(1));
  else if constexpr (!Transposed)
    CROQ_STMATRIX("x4", "", "%1, %2, %3, %4", CROQ_R(0), CROQ_R(1), CROQ_R(2), CROQ_R(3));
  else
    CROQ_STMATRIX("x4", ".trans", "%1, %2, %3, %4", CROQ_R(0), CROQ_R(1), CROQ_R(2), CROQ_R(3));
}
#undef CROQ_STMATRIX
#undef CROQ_R

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
