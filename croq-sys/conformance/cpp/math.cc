/* The math builtins, one element at a time. */
#include "croq.h"

#include <cstring>

#define UNARY(M)                                                                                   \
  M(acos) M(asin) M(atan) M(ceil) M(cos) M(cosh) M(erf) M(erfc) M(exp) M(exp2) M(expm1) M(fabs)    \
  M(floor) M(recip) M(gelu) M(log) M(log1p) M(round) M(rsqrt) M(sigmoid) M(sign) M(sin) M(sinh)             \
  M(softplus) M(sqrt) M(tan) M(tanh)

#define CASE(name)                                                                                 \
  if (std::strcmp(function, #name) == 0) return croq::name(x);
#define DEFINE(name, T)                                                                            \
  extern "C" T conf_math_##name(const char *function, T x) {                                       \
    UNARY(CASE)                                                                                    \
    return croq::to<T>(-12345);                                                                    \
  }                                                                                                \
  extern "C" T conf_math2_##name(const char *function, T x, T y) {                                 \
    if (std::strcmp(function, "atan2") == 0) return croq::atan2(x, y);                             \
    if (std::strcmp(function, "pow") == 0) return croq::pow(x, y);                                 \
    if (std::strcmp(function, "min") == 0) return croq::min(x, y);                                 \
    if (std::strcmp(function, "max") == 0) return croq::max(x, y);                                 \
    return croq::to<T>(-12345);                                                                    \
  }                                                                                                \
  extern "C" T conf_fma_##name(T x, T y, T z) { return croq::fma(x, y, z); }                       \
  extern "C" bool conf_is_finite_##name(T x) { return croq::is_finite(x); }
DEFINE(f64, double)
DEFINE(f32, float)
DEFINE(f16, croq::f16)
DEFINE(bf16, croq::bf16)
DEFINE(f8_e4m3, croq::f8_e4m3)
DEFINE(f8_e5m2, croq::f8_e5m2)

extern "C" long long conf_cdiv(long long a, long long b) { return croq::cdiv(a, b); }
extern "C" int conf_min_s32(int a, int b) { return croq::min(a, b); }
extern "C" unsigned conf_max_u32(unsigned a, unsigned b) { return croq::max(a, b); }
extern "C" int conf_div_s32(int a, int b) { return croq::div(a, b); }
extern "C" int conf_rem_s32(int a, int b) { return croq::rem(a, b); }
extern "C" signed char conf_div_s8(signed char a, signed char b) { return croq::div(a, b); }
extern "C" unsigned long long conf_div_u64(unsigned long long a, unsigned long long b) {
  return croq::div(a, b);
}
