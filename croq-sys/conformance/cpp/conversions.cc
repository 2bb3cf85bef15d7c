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

/* What the user's own C++ may write: the number of wrong results of implicit conversions from each type
 * of number, and of assignments with one on the right. */
namespace {
enum numbers { two_of_enum = 2 };
struct convertible {
  operator float() const { return 2; }
};
template <class T> unsigned wrong_conversions() {
  const T two = croq::to<T>(2);
  const T from[] = {2.0f,
                    2.0,
                    short(2),
                    static_cast<unsigned short>(2),
                    2,
                    2u,
                    2l,
                    2ul,
                    2ll,
                    2ull,
                    char(2),
                    static_cast<signed char>(2),
                    static_cast<unsigned char>(2),
                    two_of_enum,
                    T(convertible()),
                    T(bf16(2)),
                    T(f8_e5m2(2))};
  unsigned wrong = T(true) != T(1);
  for (T v : from) wrong += v != two;
  T result = 1;
  result += 1;
  result *= 2.0f;
  result -= 2.0;
  result /= 1u;
  return wrong + (result != two) + (croq::max(T(1), two) != two) + (-croq::sqrt(T(4)) != -two);
}
}  // namespace
extern "C" unsigned conf_wrong_narrow_conversions(void) {
  return wrong_conversions<f16>() + wrong_conversions<bf16>() + wrong_conversions<f8_e4m3>() +
         wrong_conversions<f8_e5m2>() + wrong_conversions<croq::f6_e3m2>() +
         wrong_conversions<croq::f4_e2m1>();
}
