/* Instructions of PTX that inline assembly may have, on the simulated GPU. An operand is the bits of
 * a register; each instruction says as what it takes them. */
#ifndef CROQ_SIM_ASSEMBLY_H
#define CROQ_SIM_ASSEMBLY_H

namespace croq {
inline namespace CROQ_TARGET {

template <class T, class S> CROQ_FN T ptx_as(const S &v) {
  if constexpr (sizeof(T) == sizeof(S)) {
    T result;
    __builtin_memcpy(&result, &v, sizeof result);
    return result;
  } else {
    return static_cast<T>(v);
  }
}
/* Of an address, which has 64 bits. */
template <class T, class S> CROQ_FN T ptx_as(S *const &v) {
  return static_cast<T>(reinterpret_cast<size_t>(v));
}
template <class D, class S> CROQ_FN void ptx_put(D &place, const S &v) {
  if constexpr (sizeof(D) == sizeof(S)) __builtin_memcpy(&place, &v, sizeof place);
  else place = static_cast<D>(v);
}

/* Text that no function of these stands for. */
[[noreturn]] CROQ_COLD inline void unknown_assembly(const char *what, int line = __builtin_LINE()) {
  if (current == nullptr) abort();
  stop(CROQ_CHECK, no_row, line, what, 0, nullptr);
}

/* Integers wrap. */
template <size_t Bytes> struct ptx_word;
template <> struct ptx_word<1> { using type = unsigned char; };
template <> struct ptx_word<2> { using type = unsigned short; };
template <> struct ptx_word<4> { using type = unsigned; };
template <> struct ptx_word<8> { using type = unsigned long long; };
template <class T> using ptx_bits = typename ptx_word<sizeof(T)>::type;
template <bool Signed> struct ptx_wide_of { using type = unsigned __int128; };
template <> struct ptx_wide_of<true> { using type = __int128; };
template <class T> inline constexpr bool ptx_float = native_float<T>;

#define CROQ_PTX(name, sign)                                                                       \
  template <class T> CROQ_FN T ptx_##name(T a, T b) {                                              \
    if constexpr (ptx_float<T>) return a sign b;                                                   \
    else                                                                                           \
      return static_cast<T>(static_cast<unsigned long long>(a) sign                                \
                            static_cast<unsigned long long>(b));                                   \
  }
CROQ_PTX(add, +)
CROQ_PTX(sub, -)
CROQ_PTX(mul, *)
#undef CROQ_PTX
template <class T> CROQ_FN T ptx_mul_lo(T a, T b) { return ptx_mul<T>(a, b); }
template <class T> CROQ_FN T ptx_mul_hi(T a, T b) {
  using wide = typename ptx_wide_of<is_signed<T>>::type;
  return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b) >> (8 * sizeof(T)));
}
template <class W, class T> CROQ_FN W ptx_mul_wide(T a, T b) {
  return static_cast<W>(a) * static_cast<W>(b);
}
template <class T> CROQ_FN T ptx_add_saturated(T a, T b) {
  const long long sum = static_cast<long long>(a) + b;
  return static_cast<T>(sum > largest<T> ? largest<T> : sum < smallest<T> ? smallest<T> : sum);
}
template <class T> CROQ_FN T ptx_sub_saturated(T a, T b) {
  const long long sum = static_cast<long long>(a) - b;
  return static_cast<T>(sum > largest<T> ? largest<T> : sum < smallest<T> ? smallest<T> : sum);
}
CROQ_FN float ptx_fused(float a, float b, float c) { return ::fmaf(a, b, c); }
CROQ_FN double ptx_fused(double a, double b, double c) { return ::fma(a, b, c); }
template <class T> CROQ_FN T ptx_fma(T a, T b, T c) { return ptx_fused(a, b, c); }
template <class T> CROQ_FN T ptx_div(T a, T b) {
  if constexpr (ptx_float<T>) return a / b;
  /* What a GPU gives for a zero divisor. */
  else if (b == 0) return static_cast<T>(-1);
  else if (is_signed<T> && b == static_cast<T>(-1)) return ptx_sub<T>(0, a);
  else return static_cast<T>(a / b);
}
template <class T> CROQ_FN T ptx_rem(T a, T b) {
  if (b == 0) return a;
  if (is_signed<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
template <class T> CROQ_FN bool ptx_negative(T v) {
  ptx_bits<T> bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  return bits >> (8 * sizeof(T) - 1) != 0;
}
template <class T> CROQ_FN T ptx_min(T a, T b) {
  if constexpr (ptx_float<T>) {
    if (a != a) return b;
    if (a == b) return ptx_negative(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class T> CROQ_FN T ptx_max(T a, T b) {
  if constexpr (ptx_float<T>) {
    if (a != a) return b;
    if (a == b) return ptx_negative(a) ? b : a;
  }
  return a < b ? b : a;
}
template <class T> CROQ_FN T ptx_min_nan(T a, T b) { return a != a ? a : b != b ? b : ptx_min<T>(a, b); }
template <class T> CROQ_FN T ptx_max_nan(T a, T b) { return a != a ? a : b != b ? b : ptx_max<T>(a, b); }
template <class T> CROQ_FN T ptx_signed_as(T v, bool negative) {
  ptx_bits<T> bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  const ptx_bits<T> sign = static_cast<ptx_bits<T>>(1) << (8 * sizeof(T) - 1);
  bits = (bits & ~sign) | (negative ? sign : 0);
  __builtin_memcpy(&v, &bits, sizeof bits);
  return v;
}
template <class T> CROQ_FN T ptx_abs(T a) {
  if constexpr (ptx_float<T>) return ptx_signed_as(a, false);
  else return a < 0 ? ptx_sub<T>(0, a) : a;
}
template <class T> CROQ_FN T ptx_neg(T a) {
  if constexpr (ptx_float<T>) return ptx_signed_as(a, !ptx_negative(a));
  else return ptx_sub<T>(0, a);
}
/* The sign of the first, the rest of the second. */
template <class T> CROQ_FN T ptx_copysign(T a, T b) { return ptx_signed_as(b, ptx_negative(a)); }
/* `.ftz` and `.sat` */
CROQ_FN float ptx_flushed(float v) {
  const unsigned bits = float_bits(v);
  return (bits & 0x7f800000u) == 0 ? float_from_bits(bits & 0x80000000u) : v;
}
template <class T> CROQ_FN T ptx_flushed(T v) { return v; }
template <class T> CROQ_FN T ptx_saturated(T v) {
  return v > T(0.0f) ? (v < T(1.0f) ? v : T(1.0f)) : T(0.0f);
}

/* Bits. */
template <class T> CROQ_FN T ptx_and(T a, T b) { return static_cast<T>(a & b); }
template <class T> CROQ_FN T ptx_or(T a, T b) { return static_cast<T>(a | b); }
template <class T> CROQ_FN T ptx_xor(T a, T b) { return static_cast<T>(a ^ b); }
template <class T> CROQ_FN T ptx_not(T a) {
  if constexpr (same<T, bool>) return !a;
  else return static_cast<T>(~a);
}
/* By the width or more, everything is shifted out. */
template <class T> CROQ_FN T ptx_shl(T a, unsigned by) {
  return by < 8 * sizeof(T) ? static_cast<T>(static_cast<unsigned long long>(a) << by) : T(0);
}
template <class T> CROQ_FN T ptx_shr(T a, unsigned by) {
  constexpr unsigned width = 8 * sizeof(T);
  if (by < width) return static_cast<T>(a >> by);
  return is_signed<T> ? static_cast<T>(a >> (width - 1)) : T(0);
}
template <class T> CROQ_FN unsigned ptx_popc(T a) {
  return static_cast<unsigned>(__builtin_popcountll(a));
}
template <class T> CROQ_FN unsigned ptx_clz(T a) {
  if (a == 0) return 8 * sizeof(T);
  return static_cast<unsigned>(__builtin_clzll(a)) - (64 - 8 * sizeof(T));
}
template <class T> CROQ_FN unsigned ptx_bfind(T a) { return 8 * sizeof(T) - 1 - ptx_clz<T>(a); }
template <class T> CROQ_FN T ptx_brev(T a) {
  T reversed = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) reversed = reversed << 1 | (a >> bit & 1);
  return reversed;
}
/* Eight bits of each number count; what lies beyond the word is its sign. */
template <class T> CROQ_FN T ptx_bfe(T a, unsigned at, unsigned count) {
  constexpr unsigned width = 8 * sizeof(T);
  at &= 255;
  count &= 255;
  if (count == 0) return 0;
  const unsigned last = at + count - 1 < width - 1 ? at + count - 1 : width - 1;
  const bool sign = is_signed<T> && (a >> last & 1) != 0;
  T result = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const bool is_set = bit < count && at + bit < width ? (a >> (at + bit) & 1) != 0 : sign;
    result = static_cast<T>(result | static_cast<T>(static_cast<ptx_bits<T>>(is_set) << bit));
  }
  return result;
}
template <class T> CROQ_FN T ptx_bfi(T a, T b, unsigned at, unsigned count) {
  at &= 255;
  count &= 255;
  for (unsigned bit = 0; bit < count && at + bit < 8 * sizeof(T); ++bit) {
    const T one = static_cast<T>(1) << (at + bit);
    b = (a >> bit & 1) != 0 ? b | one : b & ~one;
  }
  return b;
}
template <class T> CROQ_FN T ptx_lop3(T a, T b, T c, T table) {
  T result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  return result;
}

/* Functions of floats; the approximations of a GPU differ in their last bits. */
template <class T> CROQ_FN T ptx_ex2(T v) { return ::exp2f(v); }
template <class T> CROQ_FN T ptx_lg2(T v) { return ::log2f(v); }
template <class T> CROQ_FN T ptx_sin(T v) { return ::sinf(v); }
template <class T> CROQ_FN T ptx_cos(T v) { return ::cosf(v); }
template <class T> CROQ_FN T ptx_tanh(T v) { return ::tanhf(v); }
template <class T> CROQ_FN T ptx_rcp(T v) { return T(1) / v; }
template <class T> CROQ_FN T ptx_sqrt(T v) {
  if constexpr (sizeof(T) == 4) return ::sqrtf(v);
  else return ::sqrt(v);
}
template <class T> CROQ_FN T ptx_rsqrt(T v) { return static_cast<T>(1.0 / ::sqrt(v)); }

/* Conversions. */
template <class D, class S> CROQ_FN D ptx_cvt(S v) {
  if constexpr (!ptx_float<D> && !narrow<D> && !ptx_float<S> && !narrow<S>) return static_cast<D>(v);
  else return to<D>(v);
}
template <class D, class S> CROQ_FN D ptx_cvt_saturated(S v) {
  if constexpr (is_signed<S>)
    if (v < 0) {
      if constexpr (!is_signed<D>) return 0;
      else return static_cast<long long>(v) < smallest<D> ? smallest<D> : static_cast<D>(v);
    }
  return static_cast<unsigned long long>(v) > static_cast<unsigned long long>(largest<D>)
             ? largest<D>
             : static_cast<D>(v);
}
template <class T> CROQ_FN T ptx_cvt_tf32(T v) {
  const unsigned bits = float_bits(v);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return float_from_bits((finite ? bits + 0x1000u : bits) & 0xffffe000u);
}
#define CROQ_PTX_ROUND(name, function)                                                             \
  CROQ_FN float ptx_round_##name(float v) { return ::function##f(v); }                             \
  CROQ_FN double ptx_round_##name(double v) { return ::function(v); }                              \
  template <class T> CROQ_FN T ptx_round_##name(T v) { return to<T>(::function##f(widen(v))); }
CROQ_PTX_ROUND(nearest, rint)
CROQ_PTX_ROUND(to_zero, trunc)
CROQ_PTX_ROUND(down, floor)
CROQ_PTX_ROUND(up, ceil)
#undef CROQ_PTX_ROUND
template <class T> CROQ_FN unsigned ptx_pack(float high, float low) {
  return static_cast<unsigned>(ptx_as<unsigned short>(to<T>(high))) << 16 |
         ptx_as<unsigned short>(to<T>(low));
}

/* Special registers and barriers. */
CROQ_FN unsigned ptx_lane() { return current->tid & 31; }
CROQ_FN unsigned ptx_warp() { return current->tid / 32; }
CROQ_FN unsigned ptx_warps() { return (current->threads + 31) / 32; }
CROQ_FN unsigned long long ptx_clock() { return static_cast<unsigned long long>(clock64()); }
CROQ_FN void ptx_barrier(unsigned id, int line = __builtin_LINE()) {
  if (id == 0) barrier(line);
  else barrier_named(id, current->threads, line);
}

}  // namespace CROQ_TARGET
}  // namespace croq

#endif
