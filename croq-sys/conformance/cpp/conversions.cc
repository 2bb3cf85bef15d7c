/* `to<T>` over arrays, for every pair of types. */
#include "croq.h"

#include <cstddef>

using croq::bf16;
using croq::f16;
using croq::f8_e4m3;
using croq::f8_e5m2;

#define CONVERT(to_name, T, from_name, S)                                                          \
  extern "C" void conf_##from_name##_to_##to_name(const S *from, T *to, std::size_t count) {       \
    for (std::size_t i = 0; i < count; ++i) to[i] = croq::to<T>(from[i]);                          \
  }
#define CONVERT_FROM(from_name, S)                                                                 \
  CONVERT(f64, double, from_name, S)                                                               \
  CONVERT(f32, float, from_name, S)                                                                \
  CONVERT(f16, f16, from_name, S)                                                                  \
  CONVERT(bf16, bf16, from_name, S)                                                                \
  CONVERT(f8_e4m3, f8_e4m3, from_name, S)                                                          \
  CONVERT(f8_e5m2, f8_e5m2, from_name, S)                                                          \
  CONVERT(s64, long long, from_name, S)                                                            \
  CONVERT(s32, int, from_name, S)                                                                  \
  CONVERT(s16, short, from_name, S)                                                                \
  CONVERT(s8, signed char, from_name, S)                                                           \
  CONVERT(u64, unsigned long long, from_name, S)                                                   \
  CONVERT(u32, unsigned, from_name, S)                                                             \
  CONVERT(u16, unsigned short, from_name, S)                                                       \
  CONVERT(u8, unsigned char, from_name, S)                                                         \
  CONVERT(bool, bool, from_name, S)
CONVERT_FROM(f64, double)
CONVERT_FROM(f32, float)
CONVERT_FROM(f16, f16)
CONVERT_FROM(bf16, bf16)
CONVERT_FROM(f8_e4m3, f8_e4m3)
CONVERT_FROM(f8_e5m2, f8_e5m2)
CONVERT_FROM(s64, long long)
CONVERT_FROM(s32, int)
CONVERT_FROM(s16, short)
CONVERT_FROM(s8, signed char)
CONVERT_FROM(u64, unsigned long long)
CONVERT_FROM(u32, unsigned)
CONVERT_FROM(u16, unsigned short)
CONVERT_FROM(u8, unsigned char)
CONVERT_FROM(bool, bool)

/* Arithmetic: 0 + - * / are 0..3, comparisons < <= > >= == != are 4..9, negation of a is 10. */
#define ARITHMETIC(name, T)                                                                        \
  extern "C" T conf_##name##_arithmetic(int op, T a, T b) {                                        \
    const bool truth[] = {a < b, a <= b, a > b, a >= b, a == b, a != b};                           \
    switch (op) {                                                                                  \
      case 0: return a + b;                                                                        \
      case 1: return a - b;                                                                        \
      case 2: return a * b;                                                                        \
      case 3: return a / b;                                                                        \
      case 10: return -a;                                                                          \
      default: return croq::to<T>(truth[op - 4]);                                                  \
    }                                                                                              \
  }
ARITHMETIC(f16, f16)
ARITHMETIC(bf16, bf16)
ARITHMETIC(f8_e4m3, f8_e4m3)
ARITHMETIC(f8_e5m2, f8_e5m2)
