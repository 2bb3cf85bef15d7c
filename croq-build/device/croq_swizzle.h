/* Addresses in swizzled shared memory: one function for both targets. */
#ifndef CROQ_SWIZZLE_H
#define CROQ_SWIZZLE_H

namespace croq {
inline namespace CROQ_TARGET {

/* The address with swizzle N of the byte `at` of memory that begins at a multiple of 1024. N is 0
 * (none), 32, 64 or 128. Units of 16 bytes are permuted within 128 bytes, so that the same unit of
 * neighbouring rows is in different banks. The function is its own inverse. */
template <unsigned N> CROQ_FN constexpr idx swizzle(idx at) {
  static_assert(N == 0 || N == 32 || N == 64 || N == 128, "there is swizzle 0, 32, 64 and 128");
  return N == 0 ? at : at ^ (((at >> 7) & (static_cast<idx>(N) / 16 - 1)) << 4);
}

/* The same for a tile of `rows` rows: each group of N bytes is stored after all rows of the
 * previous group. */
template <unsigned N> CROQ_FN constexpr idx swizzled(idx row, idx byte, idx rows) {
  static_assert(N != 0, "without a swizzle a tile has no groups");
  const idx group = static_cast<idx>(N);
  return swizzle<N>(byte / group * rows * group + row * group + byte % group);
}

/* The same in elements of T. Multiples of 8 * N bytes may be added to `at` or to the result,
 * because the pattern repeats. */
template <unsigned N, class T> CROQ_FN constexpr idx swizzle_of(idx at) {
  static_assert(N == 32 || N == 64 || N == 128, "there is swizzle 32, 64 and 128");
  const unsigned row = 128 / sizeof(T), unit = 16 / sizeof(T);
  return at ^ static_cast<idx>((static_cast<unsigned>(at) / row & (N / 16 - 1)) * unit);
}

/* The same for element `column` of the 128 bytes that begin at `row`, a multiple of 128 bytes. In
 * an unrolled loop over columns each iteration is one instruction; with a sum the compiler does not
 * see that no carry reaches the bits of the rows. */
template <unsigned N, class T> CROQ_FN constexpr idx swizzle_of(idx row, idx column) {
  return row + ((swizzle_of<N, T>(row) - row) ^ column);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
