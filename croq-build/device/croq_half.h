/* The names of <cuda_fp16.h>, <cuda_bf16.h> and <cuda_fp8.h>, for the user's own code on both
 * targets. `__half` is `croq::f16`, so a pointer to a buffer of a `.co` file is a pointer to it.
 *
 * Sums, products and quotients are computed in f32 and rounded. The result is the nearest f16 or
 * bf16, because f32 has more than twice as many bits. Functions are those of f32, rounded. */
#ifndef CROQ_HALF_H
#define CROQ_HALF_H

using __half = croq::f16;
using half = __half;
using __nv_half = __half;
using nv_half = __half;
using __nv_bfloat16 = croq::bf16;
using nv_bfloat16 = __nv_bfloat16;
using __nv_fp8_e4m3 = croq::f8_e4m3;
using __nv_fp8_e5m2 = croq::f8_e5m2;

/* Two elements in one word. */
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  CROQ_FN __half2(__half a, __half b) : x(a), y(b) {}
};
using half2 = __half2;
using nv_half2 = __half2;
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  CROQ_FN __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
using nv_bfloat162 = __nv_bfloat162;
CROQ_FN __half2 make_half2(__half x, __half y) { return {x, y}; }
CROQ_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

namespace croq {
inline namespace CROQ_TARGET {

/* Rounds f32 in one direction: down, up or toward zero. */
enum class direction { down, up, zero };
template <class T, direction D> CROQ_FN T directed(float v) {
  const T near = round_to<T>(v);
  const float back = widen(near);
  if (back == v || v != v) return near;
  const bool below = D == direction::down || (D == direction::zero && v > 0);
  if (below ? back < v : back > v) return near;
  /* The next value below or above; next to zero, the smallest value of the other sign. */
  const unsigned bits = near.bits;
  using Bits = decltype(T::bits);
  if ((bits & (T::sign - 1)) == 0) return from_bits<T>(static_cast<Bits>(below ? T::sign | 1u : 1u));
  const bool outward = below == ((bits & T::sign) != 0);
  return from_bits<T>(static_cast<Bits>(outward ? bits + 1 : bits - 1));
}

/* a * b + c with one rounding. */
template <class T> CROQ_FN T fused(T a, T b, T c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  T result;
  if constexpr (same<T, f16>)
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  else
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return result;
#else
  /* The product is exact in f64; the rounding error of the sum is recorded in its last bit
   * (rounding to odd). */
  const double product = static_cast<double>(widen(a)) * static_cast<double>(widen(b));
  const double addend = static_cast<double>(widen(c)), sum = product + addend;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (addend - part);
  unsigned long long bits;
  __builtin_memcpy(&bits, &sum, 8);
  if (lost != 0 && lost == lost && (bits & 1) == 0) bits += (lost > 0) == (sum > 0) ? 1ull : ~0ull;
  double odd;
  __builtin_memcpy(&odd, &bits, 8);
  return round_to<T>(to_odd(odd));
#endif
}

template <class T> CROQ_FN T clamped_to_one(T v) {
  const float wide = widen(v);
  return wide > 0 ? wide < 1 ? v : T(1) : T(0);
}
/* The larger and the smaller one; the other operand if one is a NaN. */
template <class T> CROQ_FN T larger(T a, T b) { return round_to<T>(max(widen(a), widen(b))); }
template <class T> CROQ_FN T smaller(T a, T b) { return round_to<T>(min(widen(a), widen(b))); }
template <class T> CROQ_FN bool is_nan(T v) { return widen(v) != widen(v); }
template <class T> CROQ_FN T nan_of() { return round_to<T>(nan); }

/* Pairs: `op` of both halves. */
template <class P, class F> CROQ_FN P each(P a, F op) { return {op(a.x), op(a.y)}; }
template <class P, class F> CROQ_FN P each(P a, P b, F op) { return {op(a.x, b.x), op(a.y, b.y)}; }
template <class P> CROQ_FN unsigned pair_bits(P p) {
  unsigned bits;
  __builtin_memcpy(&bits, &p, 4);
  return bits;
}
template <class P> CROQ_FN P pair_from_bits(unsigned bits) {
  P p;
  __builtin_memcpy(&p, &bits, 4);
  return p;
}
/* One instruction for both halves, where the GPU has one. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CROQ_PAIRS(name, text, ...)                                                                \
  CROQ_FN __half2 name(__half2 a, __half2 b) {                                                     \
    unsigned bits;                                                                                 \
    asm(text : "=r"(bits) : "r"(pair_bits(a)), "r"(pair_bits(b)));                                 \
    return pair_from_bits<__half2>(bits);                                                          \
  }
#else
#define CROQ_PAIRS(name, text, ...)                                                                \
  CROQ_FN __half2 name(__half2 a, __half2 b) {                                                     \
    return each(a, b, [](__half x, __half y) { return __VA_ARGS__; });                             \
  }
#endif
CROQ_PAIRS(pair_sum, "add.rn.f16x2 %0, %1, %2;", x + y)
CROQ_PAIRS(pair_difference, "sub.rn.f16x2 %0, %1, %2;", x - y)
CROQ_PAIRS(pair_product, "mul.rn.f16x2 %0, %1, %2;", x * y)
#undef CROQ_PAIRS
CROQ_FN __nv_bfloat162 pair_sum(__nv_bfloat162 a, __nv_bfloat162 b) {
  return each(a, b, [](__nv_bfloat16 x, __nv_bfloat16 y) { return x + y; });
}
CROQ_FN __nv_bfloat162 pair_difference(__nv_bfloat162 a, __nv_bfloat162 b) {
  return each(a, b, [](__nv_bfloat16 x, __nv_bfloat16 y) { return x - y; });
}
CROQ_FN __nv_bfloat162 pair_product(__nv_bfloat162 a, __nv_bfloat162 b) {
  return each(a, b, [](__nv_bfloat16 x, __nv_bfloat16 y) { return x * y; });
}
template <class P> CROQ_FN P pair_fused(P a, P b, P c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned bits;
  if constexpr (same<P, __half2>)
    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(bits) : "r"(pair_bits(a)), "r"(pair_bits(b)), "r"(pair_bits(c)));
  else
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(bits) : "r"(pair_bits(a)), "r"(pair_bits(b)), "r"(pair_bits(c)));
  return pair_from_bits<P>(bits);
#else
  return {fused(a.x, b.x, c.x), fused(a.y, b.y, c.y)};
#endif
}

}  // namespace CROQ_TARGET
}  // namespace croq

#define CROQ_PAIR_OPERATORS(P)                                                                     \
  CROQ_FN P operator+(P a, P b) { return croq::pair_sum(a, b); }                                   \
  CROQ_FN P operator-(P a, P b) { return croq::pair_difference(a, b); }                            \
  CROQ_FN P operator*(P a, P b) { return croq::pair_product(a, b); }                               \
  CROQ_FN P operator/(P a, P b) { return {a.x / b.x, a.y / b.y}; }                                 \
  CROQ_FN P operator-(P a) { return {-a.x, -a.y}; }                                                \
  CROQ_FN P operator+(P a) { return a; }                                                           \
  CROQ_FN P &operator+=(P &a, P b) { return a = a + b; }                                           \
  CROQ_FN P &operator-=(P &a, P b) { return a = a - b; }                                           \
  CROQ_FN P &operator*=(P &a, P b) { return a = a * b; }                                           \
  CROQ_FN P &operator/=(P &a, P b) { return a = a / b; }                                           \
  CROQ_FN bool operator==(P a, P b) { return a.x == b.x && a.y == b.y; }                           \
  CROQ_FN bool operator!=(P a, P b) { return a.x != b.x && a.y != b.y; }
CROQ_PAIR_OPERATORS(__half2)
CROQ_PAIR_OPERATORS(__nv_bfloat162)
#undef CROQ_PAIR_OPERATORS

/* Conversions with a rounding direction in their names: nearest, down, up, toward zero. */
#define CROQ_TO_NARROW(T, name)                                                                    \
  CROQ_FN T __float2##name(float v) { return croq::to<T>(v); }                                     \
  CROQ_FN T __float2##name##_rn(float v) { return croq::to<T>(v); }                                \
  CROQ_FN T __float2##name##_rz(float v) { return croq::directed<T, croq::direction::zero>(v); }   \
  CROQ_FN T __float2##name##_rd(float v) { return croq::directed<T, croq::direction::down>(v); }   \
  CROQ_FN T __float2##name##_ru(float v) { return croq::directed<T, croq::direction::up>(v); }     \
  CROQ_FN T __double2##name(double v) { return croq::to<T>(v); }                                   \
  CROQ_FN T __short2##name##_rn(short v) { return croq::to<T>(v); }                                \
  CROQ_FN T __ushort2##name##_rn(unsigned short v) { return croq::to<T>(v); }                      \
  CROQ_FN T __int2##name##_rn(int v) { return croq::to<T>(v); }                                    \
  CROQ_FN T __uint2##name##_rn(unsigned v) { return croq::to<T>(v); }                              \
  CROQ_FN T __ll2##name##_rn(long long v) { return croq::to<T>(v); }                               \
  CROQ_FN T __ull2##name##_rn(unsigned long long v) { return croq::to<T>(v); }                     \
  CROQ_FN float __##name##2float(T v) { return croq::widen(v); }                                   \
  CROQ_FN unsigned short __##name##_as_ushort(T v) { return v.bits; }                              \
  CROQ_FN short __##name##_as_short(T v) { return static_cast<short>(v.bits); }                    \
  CROQ_FN T __ushort_as_##name(unsigned short v) { return croq::from_bits<T>(v); }                 \
  CROQ_FN T __short_as_##name(short v) {                                                           \
    return croq::from_bits<T>(static_cast<unsigned short>(v));                                     \
  }                                                                                                \
  CROQ_FROM_NARROW(T, name, short, short)                                                          \
  CROQ_FROM_NARROW(T, name, ushort, unsigned short)                                                \
  CROQ_FROM_NARROW(T, name, int, int)                                                              \
  CROQ_FROM_NARROW(T, name, uint, unsigned)                                                        \
  CROQ_FROM_NARROW(T, name, ll, long long)                                                         \
  CROQ_FROM_NARROW(T, name, ull, unsigned long long)
#define CROQ_FROM_NARROW(T, name, other, I)                                                        \
  CROQ_FN I __##name##2##other##_rz(T v) { return croq::to<I>(croq::widen(v)); }                   \
  CROQ_FN I __##name##2##other##_rn(T v) { return croq::to<I>(::rintf(croq::widen(v))); }          \
  CROQ_FN I __##name##2##other##_rd(T v) { return croq::to<I>(::floorf(croq::widen(v))); }         \
  CROQ_FN I __##name##2##other##_ru(T v) { return croq::to<I>(::ceilf(croq::widen(v))); }
CROQ_TO_NARROW(__half, half)
CROQ_TO_NARROW(__nv_bfloat16, bfloat16)
#undef CROQ_TO_NARROW
#undef CROQ_FROM_NARROW

/* Pairs and their parts. */
#define CROQ_PAIR_PARTS(P, T, name)                                                                \
  CROQ_FN P __##name##2##name##2(T v) { return {v, v}; }                                           \
  CROQ_FN P __halves2##name##2(T a, T b) { return {a, b}; }                                        \
  CROQ_FN P __float2##name##2_rn(float v) { return {croq::to<T>(v), croq::to<T>(v)}; }             \
  CROQ_FN P __floats2##name##2_rn(float a, float b) { return {croq::to<T>(a), croq::to<T>(b)}; }   \
  CROQ_FN P __float22##name##2_rn(float2 v) { return {croq::to<T>(v.x), croq::to<T>(v.y)}; }       \
  CROQ_FN float2 __##name##22float2(P v) {                                                         \
    return make_float2(croq::widen(v.x), croq::widen(v.y));                                        \
  }                                                                                                \
  CROQ_FN T __low2##name(P v) { return v.x; }                                                      \
  CROQ_FN T __high2##name(P v) { return v.y; }                                                     \
  CROQ_FN P __low2##name##2(P v) { return {v.x, v.x}; }                                            \
  CROQ_FN P __high2##name##2(P v) { return {v.y, v.y}; }                                           \
  CROQ_FN P __lows2##name##2(P a, P b) { return {a.x, b.x}; }                                      \
  CROQ_FN P __highs2##name##2(P a, P b) { return {a.y, b.y}; }                                     \
  CROQ_FN float __low2float(P v) { return croq::widen(v.x); }                                      \
  CROQ_FN float __high2float(P v) { return croq::widen(v.y); }                                     \
  CROQ_FN P __lowhigh2highlow(P v) { return {v.y, v.x}; }
CROQ_PAIR_PARTS(__half2, __half, half)
CROQ_PAIR_PARTS(__nv_bfloat162, __nv_bfloat16, bfloat16)
#undef CROQ_PAIR_PARTS

/* Arithmetic by name. */
#define CROQ_NARROW_ARITHMETIC(T, P)                                                               \
  CROQ_FN T __hadd(T a, T b) { return a + b; }                                                     \
  CROQ_FN T __hsub(T a, T b) { return a - b; }                                                     \
  CROQ_FN T __hmul(T a, T b) { return a * b; }                                                     \
  CROQ_FN T __hadd_rn(T a, T b) { return a + b; }                                                  \
  CROQ_FN T __hsub_rn(T a, T b) { return a - b; }                                                  \
  CROQ_FN T __hmul_rn(T a, T b) { return a * b; }                                                  \
  CROQ_FN T __hdiv(T a, T b) { return a / b; }                                                     \
  CROQ_FN T __hfma(T a, T b, T c) { return croq::fused(a, b, c); }                                 \
  CROQ_FN T __hadd_sat(T a, T b) { return croq::clamped_to_one(a + b); }                           \
  CROQ_FN T __hsub_sat(T a, T b) { return croq::clamped_to_one(a - b); }                           \
  CROQ_FN T __hmul_sat(T a, T b) { return croq::clamped_to_one(a * b); }                           \
  CROQ_FN T __hfma_sat(T a, T b, T c) { return croq::clamped_to_one(croq::fused(a, b, c)); }       \
  CROQ_FN T __hfma_relu(T a, T b, T c) {                                                           \
    const T v = croq::fused(a, b, c);                                                              \
    return croq::widen(v) < 0 ? T(0) : v;                                                          \
  }                                                                                                \
  CROQ_FN T __hneg(T a) { return -a; }                                                             \
  CROQ_FN T __habs(T a) {                                                                          \
    return croq::from_bits<T>(static_cast<unsigned short>(a.bits & ~T::sign));                     \
  }                                                                                                \
  CROQ_FN T __hmax(T a, T b) { return croq::larger(a, b); }                                        \
  CROQ_FN T __hmin(T a, T b) { return croq::smaller(a, b); }                                       \
  CROQ_FN T __hmax_nan(T a, T b) {                                                                 \
    return croq::is_nan(a) || croq::is_nan(b) ? croq::nan_of<T>() : croq::larger(a, b);            \
  }                                                                                                \
  CROQ_FN T __hmin_nan(T a, T b) {                                                                 \
    return croq::is_nan(a) || croq::is_nan(b) ? croq::nan_of<T>() : croq::smaller(a, b);           \
  }                                                                                                \
  CROQ_FN bool __hisnan(T a) { return croq::is_nan(a); }                                           \
  CROQ_FN int __hisinf(T a) {                                                                      \
    return (a.bits & ~T::sign) != T::special ? 0 : (a.bits & T::sign) != 0 ? -1 : 1;               \
  }                                                                                                \
  CROQ_FN P __hadd2(P a, P b) { return a + b; }                                                    \
  CROQ_FN P __hsub2(P a, P b) { return a - b; }                                                    \
  CROQ_FN P __hmul2(P a, P b) { return a * b; }                                                    \
  CROQ_FN P __hadd2_rn(P a, P b) { return a + b; }                                                 \
  CROQ_FN P __hsub2_rn(P a, P b) { return a - b; }                                                 \
  CROQ_FN P __hmul2_rn(P a, P b) { return a * b; }                                                 \
  CROQ_FN P __h2div(P a, P b) { return a / b; }                                                    \
  CROQ_FN P __hfma2(P a, P b, P c) { return croq::pair_fused(a, b, c); }                           \
  CROQ_FN P __hadd2_sat(P a, P b) { return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }         \
  CROQ_FN P __hsub2_sat(P a, P b) { return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }         \
  CROQ_FN P __hmul2_sat(P a, P b) { return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }         \
  CROQ_FN P __hfma2_sat(P a, P b, P c) {                                                           \
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};                                 \
  }                                                                                                \
  CROQ_FN P __hfma2_relu(P a, P b, P c) {                                                          \
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};                               \
  }                                                                                                \
  CROQ_FN P __hneg2(P a) { return -a; }                                                            \
  CROQ_FN P __habs2(P a) { return {__habs(a.x), __habs(a.y)}; }                                    \
  CROQ_FN P __hmax2(P a, P b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                     \
  CROQ_FN P __hmin2(P a, P b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                     \
  CROQ_FN P __hmax2_nan(P a, P b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }         \
  CROQ_FN P __hmin2_nan(P a, P b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }         \
  CROQ_NARROW_COMPARISON(T, P, eq, ==)                                                             \
  CROQ_NARROW_COMPARISON(T, P, ne, !=)                                                             \
  CROQ_NARROW_COMPARISON(T, P, lt, <)                                                              \
  CROQ_NARROW_COMPARISON(T, P, le, <=)                                                             \
  CROQ_NARROW_COMPARISON(T, P, gt, >)                                                              \
  CROQ_NARROW_COMPARISON(T, P, ge, >=)                                                             \
  CROQ_NARROW_FUNCTION(T, P, exp, ::expf(v))                                                       \
  CROQ_NARROW_FUNCTION(T, P, exp2, ::exp2f(v))                                                     \
  CROQ_NARROW_FUNCTION(T, P, exp10, ::powf(10.0f, v))                                              \
  CROQ_NARROW_FUNCTION(T, P, log, ::logf(v))                                                       \
  CROQ_NARROW_FUNCTION(T, P, log2, ::log2f(v))                                                     \
  CROQ_NARROW_FUNCTION(T, P, log10, ::log10f(v))                                                   \
  CROQ_NARROW_FUNCTION(T, P, sqrt, ::sqrtf(v))                                                     \
  CROQ_NARROW_FUNCTION(T, P, rsqrt, 1.0f / ::sqrtf(v))                                             \
  CROQ_NARROW_FUNCTION(T, P, rcp, 1.0f / v)                                                        \
  CROQ_NARROW_FUNCTION(T, P, sin, ::sinf(v))                                                       \
  CROQ_NARROW_FUNCTION(T, P, cos, ::cosf(v))                                                       \
  CROQ_NARROW_FUNCTION(T, P, tanh, ::tanhf(v))                                                     \
  CROQ_NARROW_FUNCTION(T, P, ceil, ::ceilf(v))                                                     \
  CROQ_NARROW_FUNCTION(T, P, floor, ::floorf(v))                                                   \
  CROQ_NARROW_FUNCTION(T, P, trunc, ::truncf(v))                                                   \
  CROQ_NARROW_FUNCTION(T, P, rint, ::rintf(v))
/* The forms with a `u` (unordered) are true if an operand is a NaN. */
#define CROQ_NARROW_COMPARISON(T, P, name, op)                                                     \
  CROQ_FN bool __h##name(T a, T b) {                                                               \
    return croq::widen(a) op croq::widen(b) && !croq::is_nan(a) && !croq::is_nan(b);               \
  }                                                                                                \
  CROQ_FN bool __h##name##u(T a, T b) {                                                            \
    return croq::widen(a) op croq::widen(b) || croq::is_nan(a) || croq::is_nan(b);                 \
  }                                                                                                \
  CROQ_FN P __h##name##2(P a, P b) { return {T(__h##name(a.x, b.x)), T(__h##name(a.y, b.y))}; }    \
  CROQ_FN P __h##name##u2(P a, P b) {                                                              \
    return {T(__h##name##u(a.x, b.x)), T(__h##name##u(a.y, b.y))};                                 \
  }                                                                                                \
  CROQ_FN bool __hb##name##2(P a, P b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }      \
  CROQ_FN bool __hb##name##u2(P a, P b) {                                                          \
    return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                       \
  }
#define CROQ_NARROW_FUNCTION(T, P, name, ...)                                                      \
  CROQ_FN T h##name(T narrow) {                                                                    \
    const float v = croq::widen(narrow);                                                           \
    return croq::to<T>(__VA_ARGS__);                                                               \
  }                                                                                                \
  CROQ_FN P h2##name(P v) { return {h##name(v.x), h##name(v.y)}; }
CROQ_NARROW_ARITHMETIC(__half, __half2)
CROQ_NARROW_ARITHMETIC(__nv_bfloat16, __nv_bfloat162)
#undef CROQ_NARROW_ARITHMETIC
#undef CROQ_NARROW_COMPARISON
#undef CROQ_NARROW_FUNCTION
CROQ_FN __half htanh_approx(__half v) { return htanh(v); }

#endif
