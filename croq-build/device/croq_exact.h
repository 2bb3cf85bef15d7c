/* Integers with a flag for 64-bit overflow. `fits(…)` of them is used for values that the host
 * computes for a call, and for checks in kernels before plain arithmetic. */
#ifndef CROQ_EXACT_H
#define CROQ_EXACT_H

namespace croq {
inline namespace CROQ_TARGET {

/* Computes a sum, and returns whether it overflows; nvcc has the builtins in host code only. */
CROQ_FN bool sum_overflows(idx a, idx b, idx &sum) {
#ifdef __CUDA_ARCH__
  using wrapping = unsigned long long;
  sum = static_cast<idx>(static_cast<wrapping>(a) + static_cast<wrapping>(b));
  return ((a ^ sum) & (b ^ sum)) < 0;
#else
  return __builtin_add_overflow(a, b, &sum);
#endif
}
CROQ_FN bool difference_overflows(idx a, idx b, idx &difference) {
#ifdef __CUDA_ARCH__
  using wrapping = unsigned long long;
  difference = static_cast<idx>(static_cast<wrapping>(a) - static_cast<wrapping>(b));
  return ((a ^ b) & (a ^ difference)) < 0;
#else
  return __builtin_sub_overflow(a, b, &difference);
#endif
}
CROQ_FN bool product_overflows(idx a, idx b, idx &product) {
#ifdef __CUDA_ARCH__
  using wrapping = unsigned long long;
  product = static_cast<idx>(static_cast<wrapping>(a) * static_cast<wrapping>(b));
  return __mul64hi(a, b) != product >> 63;
#else
  return __builtin_mul_overflow(a, b, &product);
#endif
}

struct exact {
  idx value;
  /* An intermediate result did not fit; `value` is meaningless. */
  bool lost;

  CROQ_FN exact(idx v, bool overflown = false) : value(v), lost(overflown) {}
  CROQ_FN exact(int v) : exact(static_cast<idx>(v)) {}
  CROQ_FN exact(unsigned v) : exact(static_cast<idx>(v)) {}
  CROQ_FN exact(long v) : exact(static_cast<idx>(v)) {}
  CROQ_FN exact(unsigned long v) : exact(static_cast<unsigned long long>(v)) {}
  CROQ_FN exact(unsigned long long v) : exact(static_cast<idx>(v), v >> 63 != 0) {}
};

CROQ_FN exact operator+(exact a, exact b) {
  idx sum = 0;
  const bool overflows = sum_overflows(a.value, b.value, sum);
  return exact(sum, a.lost || b.lost || overflows);
}
CROQ_FN exact operator*(exact a, exact b) {
  idx product = 0;
  const bool overflows = product_overflows(a.value, b.value, product);
  return exact(product, a.lost || b.lost || overflows);
}
CROQ_FN exact operator-(exact a, exact b) {
  idx difference = 0;
  const bool overflows = difference_overflows(a.value, b.value, difference);
  return exact(difference, a.lost || b.lost || overflows);
}
CROQ_FN exact operator-(exact a) { return exact(0) - a; }
/* A zero divisor is reported by a separate check. */
CROQ_FN exact operator/(exact a, exact b) {
  const bool lost = a.lost || b.lost;
  if (b.value == 0) return exact(0, lost);
  if (b.value == -1) return exact((-a).value, lost || (-a).lost);
  return exact(a.value / b.value, lost);
}
CROQ_FN exact operator%(exact a, exact b) {
  const bool zero = b.value == 0 || b.value == -1;
  return exact(zero ? 0 : a.value % b.value, a.lost || b.lost);
}
CROQ_FN exact quotient(exact a, exact b) { return a / b; }
CROQ_FN exact remainder(exact a, exact b) { return a % b; }
CROQ_FN exact min(exact a, exact b) {
  return exact(a.value < b.value ? a.value : b.value, a.lost || b.lost);
}
CROQ_FN exact max(exact a, exact b) {
  return exact(a.value < b.value ? b.value : a.value, a.lost || b.lost);
}

/* The maximum size of memory in bytes: croq-sys makes no larger tensor, and the compiler relies on
 * it. */
inline constexpr idx most_bytes = 1ll << 56;
/* Shared memory of a block on sm_90, opt-in maximum. */
inline constexpr idx most_shared_bytes = 227 * 1024;
inline constexpr idx most_threads = 1024;

/* a|, or 1 for 0: if a product of such sizes fits, every partial product fits. */
CROQ_FN exact size(exact a) {
  const exact positive = a.value < 0 ? -a : a;
  return exact(positive.value < 1 ? 1 : positive.value, positive.lost);
}
/* A number of bytes for a report, or the largest one if it does not fit. */
inline idx bytes_of(exact extent, unsigned long each) {
  const exact bytes = extent * exact(each);
  return bytes.lost ? largest<idx> : bytes.value;
}
CROQ_FN bool fits(exact a, idx most = largest<idx>) { return !a.lost && a.value <= most; }

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
