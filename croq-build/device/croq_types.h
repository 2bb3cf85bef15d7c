/* Element types that C++ lacks, and every conversion between types: `croq::to<T>(v)`.
 *
 * To a floating type: to nearest, ties to even, with one rounding. To f8: overflow and infinities
 * give the largest finite value with their sign (PTX `cvt.rn.satfinite`). A NaN becomes the
 * canonical NaN of PTX. From a floating type to an integer: toward zero, clamped to the range; a
 * NaN gives 0. Between integers: modulo 2^N. */
#ifndef CROQ_TYPES_H
#define CROQ_TYPES_H

namespace croq {
inline namespace CROQ_TARGET {

/* The type of symbolic integers. */
using idx = long long;

/* Used instead of the macros of <math.h>, whose names a file may define itself. */
inline constexpr float infinity = __builtin_inff(), nan = __builtin_nanf("");

/* `R`, if the condition is true. */
template <bool, class R> struct conditional {};
template <class R> struct conditional<true, R> {
  using type = R;
};
template <bool Condition, class R> using if_true = typename conditional<Condition, R>::type;
template <class T, class S> CROQ_FN T to(S v);

/* The floats narrower than 32 bits, which are computed in f32 and rounded. `sign` is the sign bit;
 * a number is not finite if all bits of `special` are set. Each has a `widen` and a `round_to`
 * below. Like CUDA's `__half`, they convert implicitly to and from numbers, for the user's own
 * code; generated code has explicit conversions only. From integers of any type it is one
 * function: three passes of nvcc parse this. */
#define CROQ_NARROW_FLOAT(T, Bits, sign_bit, special_bits)                                         \
  struct T {                                                                                       \
    Bits bits;                                                                                     \
    static constexpr unsigned sign = sign_bit, special = special_bits;                             \
    T() = default;                                                                                 \
    CROQ_FN T(float v);                                                                            \
    CROQ_FN T(double v);                                                                           \
    template <class S, class = if_true<!__is_class(S) && sizeof(S) <= 8, S>,                       \
              class = decltype(S(1) % 2)>                                                          \
    CROQ_FN T(S v) : bits(to<T>(v).bits) {}                                                        \
    CROQ_FN operator float() const;                                                                \
  };
CROQ_NARROW_FLOAT(f16, unsigned short, 0x8000u, 0x7c00u)
CROQ_NARROW_FLOAT(bf16, unsigned short, 0x8000u, 0x7f80u)
CROQ_NARROW_FLOAT(f8_e4m3, unsigned char, 0x80u, 0x7fu)
CROQ_NARROW_FLOAT(f8_e5m2, unsigned char, 0x80u, 0x7cu)
/* Without infinities and NaNs: no value has all bits of `special`. */
CROQ_NARROW_FLOAT(f6_e2m3, unsigned char, 0x20u, 0x100u)
CROQ_NARROW_FLOAT(f6_e3m2, unsigned char, 0x20u, 0x100u)
CROQ_NARROW_FLOAT(f4_e2m1, unsigned char, 0x8u, 0x100u)
#undef CROQ_NARROW_FLOAT
/* Applies M to each of them with a name. */
#define CROQ_EACH_NARROW(M, name)                                                                  \
  M(f16, name) M(bf16, name) M(f8_e4m3, name) M(f8_e5m2, name) M(f6_e2m3, name) M(f6_e3m2, name)   \
  M(f4_e2m1, name)

/* Integers of less than a byte: computed in `int`, and stored modulo 2^width. */
#define CROQ_SMALL_INTEGER(T, bits_of_value, signed_value)                                         \
  struct T {                                                                                       \
    unsigned char bits;                                                                            \
    static constexpr unsigned width = bits_of_value;                                               \
    T() = default;                                                                                 \
    template <class V>                                                                             \
    CROQ_FN constexpr explicit T(V v)                                                              \
        : bits(static_cast<unsigned char>(static_cast<int>(v) & ((1 << width) - 1))) {}            \
    CROQ_FN constexpr operator int() const {                                                       \
      constexpr int half = signed_value ? 1 << (width - 1) : 0;                                    \
      return ((bits & ((1 << width) - 1)) ^ half) - half;                                          \
    }                                                                                              \
  };
CROQ_SMALL_INTEGER(s6, 6, true)
CROQ_SMALL_INTEGER(u6, 6, false)
CROQ_SMALL_INTEGER(s4, 4, true)
CROQ_SMALL_INTEGER(u4, 4, false)
CROQ_SMALL_INTEGER(s2, 2, true)
CROQ_SMALL_INTEGER(u2, 2, false)
CROQ_SMALL_INTEGER(u1, 1, false)
#undef CROQ_SMALL_INTEGER
#define CROQ_EACH_SMALL(M, name)                                                                   \
  M(s6, name) M(u6, name) M(s4, name) M(u4, name) M(s2, name) M(u2, name) M(u1, name)

template <class A, class B> inline constexpr bool same = false;
template <class A> inline constexpr bool same<A, A> = true;
/* A truth value that is part of an instruction. */
template <bool V> struct constant {
  static constexpr bool value = V;
  CROQ_FN constexpr operator bool() const { return V; }
};
template <class T> struct without_const {
  using type = T;
};
template <class T> struct without_const<const T> {
  using type = T;
};

/* T, as a parameter type from which T is not deduced. */
template <class T> struct itself_of {
  using type = T;
};
template <class T> using itself = typename itself_of<T>::type;

template <class T> inline constexpr bool narrow = false;
template <class T> inline constexpr bool small = false;
#define CROQ_NARROW(T, name) template <> inline constexpr bool name<T> = true;
CROQ_EACH_NARROW(CROQ_NARROW, narrow)
CROQ_EACH_SMALL(CROQ_NARROW, small)
#undef CROQ_NARROW
/* `R`, the result of a function that exists for narrow floats only. */
template <class T, class R = T> using if_narrow = if_true<narrow<T>, R>;
/* Whether an integer type is signed. */
template <class T> inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(1);
template <class T> inline constexpr bool native_float = same<T, float> || same<T, double>;

template <class T> CROQ_FN T from_bits(decltype(T::bits) bits) {
  T v;
  v.bits = bits;
  return v;
}

/* The bits of a value as another type of that size. */
template <class T, class S> CROQ_FN T bits_as(S v) {
  static_assert(sizeof(T) == sizeof(S), "types of one size");
  T result;
#ifdef __CUDA_ARCH__
  memcpy(&result, &v, sizeof result);
#else
  __builtin_memcpy(&result, &v, sizeof result);
#endif
  return result;
}

CROQ_FN unsigned float_bits(float v) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(v);
#else
  unsigned bits;
  __builtin_memcpy(&bits, &v, 4);
  return bits;
#endif
}
CROQ_FN float float_from_bits(unsigned bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
#endif
}

/* Rounds f32 to a format with `mantissa` stored bits whose smallest normal number is 2^(1 - bias).
 * `top` is its largest finite value, the result for larger numbers. */
CROQ_FN unsigned char round_to_f8(float v, unsigned mantissa, unsigned bias, unsigned top) {
  const unsigned all = float_bits(v);
  const unsigned sign = all >> 24 & 0x80u;
  const unsigned size = all & 0x7fffffffu;
  if (size > 0x7f800000u) return 0x7f;
  const unsigned shift = 23 - mantissa;
  unsigned result;
  if (size < (128 - bias) << 23) {
    /* Subnormal: the last place of `unit` is that of the format, so the addition rounds. */
    const unsigned unit = (151 - bias - mantissa) << 23;
    result = float_bits(float_from_bits(size) + float_from_bits(unit)) - unit;
  } else {
    const unsigned odd = size >> shift & 1u;
    result = (size - ((127 - bias) << 23) + (1u << (shift - 1)) - 1 + odd) >> shift;
    if (result > top) result = top;
  }
  return static_cast<unsigned char>(sign | result);
}

CROQ_FN float widen(f16 v) {
#ifdef __CUDA_ARCH__
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(v.bits));
  return wide;
#else
  /* The exponent is re-biased by a multiplication, which also makes subnormals normal. */
  const unsigned size = (v.bits & 0x7fffu) << 13;
  const unsigned sign = (v.bits & 0x8000u) << 16;
  const unsigned wide = float_bits(float_from_bits(size) * 0x1p112f);
  return float_from_bits(sign | (size >= 0x0f800000u ? size | 0x7f800000u : wide));
#endif
}
CROQ_FN float widen(bf16 v) {
#ifdef __CUDA_ARCH__
  /* One instruction for the upper half of a register as well: of a shift ptxas makes three there. */
  float wide;
  asm("mov.b32 %0, {%1, %2};" : "=f"(wide) : "h"(static_cast<unsigned short>(0)), "h"(v.bits));
  return wide;
#else
  return float_from_bits(static_cast<unsigned>(v.bits) << 16);
#endif
}
CROQ_FN float widen(f8_e5m2 v) {
  return widen(from_bits<f16>(static_cast<unsigned short>(v.bits << 8)));
}
/* `mantissa` stored bits after `exponent` bits; the multiplication re-biases the exponent. */
CROQ_FN float widen_finite(unsigned bits, unsigned exponent, unsigned mantissa, float rebias) {
  const unsigned size = (bits & ((1u << (exponent + mantissa)) - 1)) << (23 - mantissa);
  const unsigned sign = bits >> (exponent + mantissa) << 31;
  return float_from_bits(sign | float_bits(float_from_bits(size) * rebias));
}
CROQ_FN float widen(f6_e2m3 v) { return widen_finite(v.bits, 2, 3, 0x1p126f); }
CROQ_FN float widen(f6_e3m2 v) { return widen_finite(v.bits, 3, 2, 0x1p124f); }
CROQ_FN float widen(f4_e2m1 v) { return widen_finite(v.bits, 2, 1, 0x1p126f); }
CROQ_FN float widen(f8_e4m3 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(v.bits)));
  return widen(from_bits<f16>(static_cast<unsigned short>(pair)));
#else
  const unsigned size = v.bits & 0x7fu;
  const unsigned sign = (v.bits & 0x80u) << 24;
  if (size == 0x7f) return float_from_bits(0x7fffffffu);
  return float_from_bits(sign | float_bits(float_from_bits(size << 20) * 0x1p120f));
#endif
}

template <class T> T round_to(float v);
template <> CROQ_FN f16 round_to<f16>(float v) {
#ifdef __CUDA_ARCH__
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(v));
  return result;
#else
  const unsigned all = float_bits(v);
  const unsigned sign = all >> 16 & 0x8000u;
  unsigned size = all & 0x7fffffffu;
  if (size >= 0x47800000u) size = size > 0x7f800000u ? 0x7fffu : 0x7c00u | sign;
  else if (size < 0x38800000u)
    size = (float_bits(float_from_bits(size) + 0.5f) - 0x3f000000u) | sign;
  else size = ((size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13) | sign;
  return from_bits<f16>(static_cast<unsigned short>(size));
#endif
}
template <> CROQ_FN bf16 round_to<bf16>(float v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(v));
  return result;
#else
  const unsigned all = float_bits(v);
  if ((all & 0x7fffffffu) > 0x7f800000u) return from_bits<bf16>(0x7fff);
  return from_bits<bf16>(static_cast<unsigned short>((all + 0x7fffu + (all >> 16 & 1u)) >> 16));
#endif
}
template <> CROQ_FN f8_e4m3 round_to<f8_e4m3>(float v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(v));
  return from_bits<f8_e4m3>(static_cast<unsigned char>(pair));
#else
  return from_bits<f8_e4m3>(round_to_f8(v, 3, 7, 0x7e));
#endif
}
template <> CROQ_FN f8_e5m2 round_to<f8_e5m2>(float v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(v));
  return from_bits<f8_e5m2>(static_cast<unsigned char>(pair));
#else
  return from_bits<f8_e5m2>(round_to_f8(v, 2, 15, 0x7b));
#endif
}

/* Formats without infinities and NaNs: a NaN becomes the largest value, as by PTX `cvt`. */
CROQ_FN unsigned char round_to_finite(float v, unsigned sign, unsigned mantissa, unsigned bias) {
  const unsigned top = sign - 1;
  if (v != v) return static_cast<unsigned char>(top);
  const unsigned rounded = round_to_f8(v, mantissa, bias, top);
  return static_cast<unsigned char>((rounded & 0x7fu) | (rounded >> 7) * sign);
}
/* Two numbers, rounded. */
template <class T> struct rounded {
  T first, second;
};
template <class T> CROQ_FN rounded<T> round_two(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  rounded<T> both;
  unsigned bits = 0;
  if constexpr (same<T, f16>) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(b), "f"(a));
  else if constexpr (same<T, bf16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(b), "f"(a));
  if constexpr (sizeof(T) == 2) {
    asm("mov.b32 {%0, %1}, %2;" : "=h"(both.first.bits), "=h"(both.second.bits) : "r"(bits));
    return both;
  }
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if constexpr (sizeof(T) == 1) {
    unsigned short pair;
    if constexpr (same<T, f8_e4m3>)
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(b), "f"(a));
    else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(b), "f"(a));
    return {from_bits<T>(static_cast<unsigned char>(pair)),
            from_bits<T>(static_cast<unsigned char>(pair >> 8))};
  }
#endif
  return {round_to<T>(a), round_to<T>(b)};
}
template <> CROQ_FN f6_e2m3 round_to<f6_e2m3>(float v) {
  return from_bits<f6_e2m3>(round_to_finite(v, f6_e2m3::sign, 3, 1));
}
template <> CROQ_FN f6_e3m2 round_to<f6_e3m2>(float v) {
  return from_bits<f6_e3m2>(round_to_finite(v, f6_e3m2::sign, 2, 3));
}
template <> CROQ_FN f4_e2m1 round_to<f4_e2m1>(float v) {
  return from_bits<f4_e2m1>(round_to_finite(v, f4_e2m1::sign, 1, 1));
}

/* f64 to f32, rounded to odd: an inexact result has its last bit set. Rounding it again to a much
 * narrower format gives the result of a single rounding. */
CROQ_FN float to_odd(double v) {
  const float near = static_cast<float>(v);
  const double back = static_cast<double>(near);
  if (back == v || v != v) return near;
  unsigned bits = float_bits(near);
  const bool outward = v < 0 ? back < v : back > v;
  return float_from_bits((outward ? bits - 1 : bits) | 1u);
}
CROQ_FN float to_odd(unsigned long long v) {
#ifdef __CUDA_ARCH__
  const int zeros = __clzll(static_cast<long long>(v));
#else
  const int zeros = v == 0 ? 64 : __builtin_clzll(v);
#endif
  const int shift = zeros < 40 ? 40 - zeros : 0;
  const unsigned long long lost = v & ((1ull << shift) - 1);
  const float kept = static_cast<float>(static_cast<unsigned>(v >> shift) | (lost != 0 ? 1u : 0u));
  return kept * static_cast<float>(1ull << shift);
}
template <class T, class S> CROQ_FN T narrow_from(S v) {
#ifdef __CUDA_ARCH__
  if constexpr (same<T, f16> && sizeof(S) >= 4 && !same<S, float>) {
    T result;
    if constexpr (same<S, double>) asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"(v));
    else if constexpr (sizeof(S) == 4 && is_signed<S>)
      asm("cvt.rn.f16.s32 %0, %1;" : "=h"(result.bits) : "r"(v));
    else if constexpr (sizeof(S) == 4)
      asm("cvt.rn.f16.u32 %0, %1;" : "=h"(result.bits) : "r"(v));
    else if constexpr (is_signed<S>)
      asm("cvt.rn.f16.s64 %0, %1;" : "=h"(result.bits) : "l"(v));
    else asm("cvt.rn.f16.u64 %0, %1;" : "=h"(result.bits) : "l"(v));
    return result;
  }
#endif
  if constexpr (same<S, double>) return round_to<T>(to_odd(v));
  else if constexpr (same<S, float> || sizeof(S) <= 2) return round_to<T>(static_cast<float>(v));
  else {
    const unsigned long long size = static_cast<unsigned long long>(v);
    if constexpr (is_signed<S>)
      if (v < 0) return round_to<T>(-to_odd(0 - size));
    return round_to<T>(to_odd(size));
  }
}

/* The range of an integer type. */
template <class T> inline constexpr unsigned digits = sizeof(T) * 8 - (is_signed<T> ? 1 : 0);
template <class T>
inline constexpr T largest = static_cast<T>((((1ull << (digits<T> - 1)) - 1) << 1) | 1);
template <class T> inline constexpr T smallest = static_cast<T>(is_signed<T> ? -largest<T> - 1 : 0);

template <class T, class F> CROQ_FN T truncate(F v) {
#ifdef __CUDA_ARCH__
  /* PTX `cvt.rzi` clamps; a NaN gives 0 only from f32 to at most 32 bits. */
  if constexpr (sizeof(T) < 4) {
    const int wide = truncate<int>(v);
    return static_cast<T>(wide < smallest<T> ? smallest<T> : wide > largest<T> ? largest<T> : wide);
  } else if constexpr (sizeof(T) == 4) {
    if constexpr (same<F, float>) return is_signed<T> ? __float2int_rz(v) : __float2uint_rz(v);
    else return v != v ? T(0) : is_signed<T> ? __double2int_rz(v) : __double2uint_rz(v);
  } else {
    if (v != v) return T(0);
    if constexpr (same<F, float>) return is_signed<T> ? __float2ll_rz(v) : __float2ull_rz(v);
    else return is_signed<T> ? __double2ll_rz(v) : __double2ull_rz(v);
  }
#else
  constexpr F above = static_cast<F>(1ull << (digits<T> - 1)) * F(2);
  if (v >= above) return largest<T>;
  if (v > static_cast<F>(smallest<T>)) return static_cast<T>(v);
  return v == v ? smallest<T> : T(0);
#endif
}

/* A floating value is clamped to the range, an integer is taken modulo 2^width. */
template <class T, class S> CROQ_FN T small_from(S v) {
  if constexpr (native_float<S>) {
    constexpr int last = (1 << T::width) - 1;
    constexpr int high = is_signed<T> ? last / 2 : last, low = high - last;
    const int whole = truncate<int>(v);
    return T(whole < low ? low : whole > high ? high : whole);
  } else return T(v);
}

template <class T, class S> CROQ_FN T to(S v) {
  if constexpr (same<T, S>) return v;
  else if constexpr (small<S>) return to<T>(static_cast<int>(v));
  else if constexpr (narrow<S>) return to<T>(widen(v));
  else if constexpr (same<T, bool>) return v != S(0);
  else if constexpr (narrow<T>) return narrow_from<T>(v);
  else if constexpr (small<T>) return small_from<T>(v);
  else if constexpr (native_float<S> && !native_float<T>) return truncate<T>(v);
  else return static_cast<T>(v);
}

/* `tf32` is stored as an f32, of whose mantissa only the upper ten bits are used: instructions of
 * tensor cores ignore the others. */
CROQ_FN float of_tf32(float v) { return float_from_bits(float_bits(v) & 0xffffe000u); }
CROQ_FN float round_to_tf32(float v) {
  const unsigned all = float_bits(v);
  if ((all & 0x7fffffffu) > 0x7f800000u) return float_from_bits(0x7fffe000u);
  return of_tf32(float_from_bits(all + 0xfffu + (all >> 13 & 1u)));
}
template <class S> CROQ_FN float to_tf32(S v) {
  if constexpr (same<S, double>) return round_to_tf32(to_odd(v));
  else if constexpr (narrow<S> || small<S> || sizeof(S) <= 2) return round_to_tf32(to<float>(v));
  else if constexpr (same<S, float>) return round_to_tf32(v);
  else {
    const unsigned long long size = static_cast<unsigned long long>(v);
    if constexpr (is_signed<S>)
      if (v < 0) return round_to_tf32(-to_odd(0 - size));
    return round_to_tf32(to_odd(size));
  }
}

/* For all narrow floats one template, not a function each: three passes of nvcc parse this. Both
 * operands have one type. */
template <class T> CROQ_FN if_narrow<T, bool> is_finite(T v) {
  return (v.bits & T::special) != T::special;
}
template <class T> CROQ_FN if_narrow<T> operator-(T a) {
  return from_bits<T>(static_cast<decltype(T::bits)>(a.bits ^ T::sign));
}
#define CROQ_NARROW_ARITHMETIC(op)                                                                 \
  template <class T> CROQ_FN if_narrow<T> operator op(T a, T b) {                                  \
    return round_to<T>(widen(a) op widen(b));                                                      \
  }                                                                                                \
  template <class T> CROQ_FN if_narrow<T, T &> operator op##=(T &a, itself<T> b) { return a = a op b; }
CROQ_NARROW_ARITHMETIC(+)
CROQ_NARROW_ARITHMETIC(-)
CROQ_NARROW_ARITHMETIC(*)
CROQ_NARROW_ARITHMETIC(/)
#undef CROQ_NARROW_ARITHMETIC
#define CROQ_NARROW_COMPARISON(op)                                                                 \
  template <class T> CROQ_FN if_narrow<T, bool> operator op(T a, T b) { return widen(a) op widen(b); }
CROQ_NARROW_COMPARISON(<)
CROQ_NARROW_COMPARISON(<=)
CROQ_NARROW_COMPARISON(>)
CROQ_NARROW_COMPARISON(>=)
CROQ_NARROW_COMPARISON(==)
CROQ_NARROW_COMPARISON(!=)
#undef CROQ_NARROW_COMPARISON

#define CROQ_NARROW_CONVERSIONS(T, name)                                                           \
  CROQ_FN T::T(float v) : bits(to<T>(v).bits) {}                                                   \
  CROQ_FN T::T(double v) : bits(to<T>(v).bits) {}                                                  \
  CROQ_FN T::operator float() const { return widen(*this); }
CROQ_EACH_NARROW(CROQ_NARROW_CONVERSIONS, conversions)
#undef CROQ_NARROW_CONVERSIONS

/* Types of which several elements share a byte in memory, the first in the low bits. In registers,
 * and in a thread's own memory, an element is the low bits of a byte of its own. */
template <class T> inline constexpr unsigned per_byte = 1;
template <> inline constexpr unsigned per_byte<f4_e2m1> = 2;
#define CROQ_PER_BYTE(T, name) template <> inline constexpr unsigned name<T> = 8 / T::width;
CROQ_EACH_SMALL(CROQ_PER_BYTE, per_byte)
#undef CROQ_PER_BYTE
template <class T> inline constexpr unsigned per_byte<const T> = per_byte<T>;
template <class T> inline constexpr bool packed = per_byte<T> > 1;

/* The position in `T *` of element `i >= 0`, and the bytes of `count` elements. */
template <class T> CROQ_FN constexpr idx place_of(idx i) {
  if constexpr (packed<T>) return static_cast<idx>(static_cast<unsigned long long>(i) / per_byte<T>);
  else return i;
}
template <class T> CROQ_FN constexpr idx bytes_for(idx count) {
  if constexpr (packed<T>) return (count + (per_byte<T> - 1)) / per_byte<T>;
  else return count * static_cast<idx>(sizeof(T));
}
template <class T, unsigned V>
inline constexpr unsigned bytes_of_vector = static_cast<unsigned>(bytes_for<T>(V));

/* Element `i` of the byte that contains it, and the byte with another element `i`. */
template <class T> CROQ_FN unsigned first_bit(idx i) {
  return static_cast<unsigned>(i) % per_byte<T> * (8 / per_byte<T>);
}
template <class T> CROQ_FN T picked(T byte, idx i) {
  if constexpr (packed<T>) {
    constexpr unsigned mask = (1u << 8 / per_byte<T>) - 1;
    return from_bits<T>(static_cast<unsigned char>(byte.bits >> first_bit<T>(i) & mask));
  } else return byte;
}
template <class T> CROQ_FN T placed(T byte, idx i, T v) {
  constexpr unsigned mask = (1u << 8 / per_byte<T>) - 1;
  const unsigned at = first_bit<T>(i);
  return from_bits<T>(static_cast<unsigned char>((byte.bits & ~(mask << at)) | unsigned(v.bits) << at));
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
