/* The math builtins for f32 and f64; narrower floats are computed in f32 and rounded. */
#ifndef CROQ_MATH_H
#define CROQ_MATH_H

#if !defined(CROQ_CUDA)
#include <cmath>
#endif

namespace croq {
inline namespace CROQ_TARGET {

/* For all narrow floats one template, not a function each: three passes of nvcc parse this. */
#define CROQ_UNARY_NARROW(name)                                                                    \
  template <class T> CROQ_FN if_narrow<T> name(T x) { return round_to<T>(name(widen(x))); }

/* A function of the C library. */
#define CROQ_UNARY(name)                                                                           \
  CROQ_FN float name(float x) { return ::name##f(x); }                                             \
  CROQ_FN double name(double x) { return ::name(x); }                                              \
  CROQ_UNARY_NARROW(name)
CROQ_UNARY(acos)
CROQ_UNARY(asin)
CROQ_UNARY(atan)
CROQ_UNARY(ceil)
CROQ_UNARY(cos)
CROQ_UNARY(cosh)
CROQ_UNARY(erf)
CROQ_UNARY(erfc)
CROQ_UNARY(exp)
CROQ_UNARY(expm1)
CROQ_UNARY(fabs)
CROQ_UNARY(floor)
CROQ_UNARY(log)
CROQ_UNARY(log1p)
CROQ_UNARY(round)
CROQ_UNARY(sin)
CROQ_UNARY(sinh)
CROQ_UNARY(sqrt)
CROQ_UNARY(tan)
CROQ_UNARY(tanh)
#undef CROQ_UNARY

/* For f32 one instruction, within 2 ulp; subnormal inputs and results are zero. */
CROQ_FN float exp2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  const float y = ::exp2f(x);
  return y < 0x1p-126f ? 0.0f : y;
#endif
}
CROQ_FN double exp2(double x) { return ::exp2(x); }
CROQ_UNARY_NARROW(exp2)

/* A formula, evaluated in T. */
#define CROQ_FORMULA(name, ...)                                                                    \
  template <class T> CROQ_FN T name##_of(T x) { return __VA_ARGS__; }                              \
  CROQ_FN float name(float x) { return name##_of<float>(x); }                                      \
  CROQ_FN double name(double x) { return name##_of<double>(x); }                                   \
  CROQ_UNARY_NARROW(name)
CROQ_FORMULA(recip, T(1) / x)
CROQ_FORMULA(sigmoid, T(1) / (T(1) + exp(-x)))
CROQ_FORMULA(gelu, T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440))))
CROQ_FORMULA(softplus, (x > T(0) ? x : T(0)) + log1p(exp(-fabs(x))))
CROQ_FORMULA(sign, T((x > T(0)) - (x < T(0))))
#if defined(__CUDA_ARCH__)
CROQ_FORMULA(rsqrt, ::rsqrt(x))
#else
CROQ_FORMULA(rsqrt, T(1) / sqrt(x))
#endif
#undef CROQ_FORMULA

CROQ_FN bool is_finite(float x) { return (float_bits(x) & 0x7f800000u) != 0x7f800000u; }
CROQ_FN bool is_finite(double x) { return x - x == 0; }

#define CROQ_BINARY(name, libc)                                                                    \
  CROQ_FN float name(float x, float y) { return ::libc##f(x, y); }                                 \
  CROQ_FN double name(double x, double y) { return ::libc(x, y); }
#define CROQ_BINARY_NARROW(name)                                                                   \
  template <class T> CROQ_FN if_narrow<T> name(T x, T y) {                                         \
    return round_to<T>(name(widen(x), widen(y)));                                                  \
  }
CROQ_BINARY(atan2, atan2)
CROQ_BINARY_NARROW(atan2)
CROQ_BINARY(pow, pow)
CROQ_BINARY_NARROW(pow)
/* If one operand is a NaN, the result is the other one. -0 is smaller than +0, as in the GPU's
 * instructions: a C library may take either. */
#if defined(__CUDA_ARCH__)
CROQ_BINARY(min, fmin)
CROQ_BINARY(max, fmax)
#else
#define CROQ_ORDERED(T)                                                                            \
  CROQ_FN T min(T x, T y) {                                                                        \
    return x < y ? x : y < x ? y : x == y ? (std::signbit(x) ? x : y) : x != x ? y : x;            \
  }                                                                                                \
  CROQ_FN T max(T x, T y) {                                                                        \
    return y < x ? x : x < y ? y : x == y ? (std::signbit(x) ? y : x) : x != x ? y : x;            \
  }
CROQ_ORDERED(float)
CROQ_ORDERED(double)
#undef CROQ_ORDERED
#endif
#undef CROQ_BINARY

/* For integers and narrow floats; both operands have one type. */
template <class T> CROQ_FN T min(T a, T b) {
  if constexpr (narrow<T>) return round_to<T>(min(widen(a), widen(b)));
  else return b < a ? b : a;
}
template <class T> CROQ_FN T max(T a, T b) {
  if constexpr (narrow<T>) return round_to<T>(max(widen(a), widen(b)));
  else return a < b ? b : a;
}
CROQ_FN idx cdiv(idx a, idx b) { return div(a + b - 1, b); }

CROQ_FN float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
CROQ_FN double fma(double a, double b, double c) { return ::fma(a, b, c); }
template <class T> CROQ_FN if_narrow<T> fma(T a, T b, T c) {
  return round_to<T>(fma(widen(a), widen(b), widen(c)));
}

#undef CROQ_BINARY_NARROW
#undef CROQ_UNARY_NARROW

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
