/* Names that the user's own code may use besides CUDA: everything in the headers that a `.co` file
 * may include (`foreign/`). Generated code includes it if the file has such code. */
#ifndef CROQ_USER_H
#define CROQ_USER_H

#include <stdint.h>

#include "croq_half.h"
#if defined(CROQ_CUDA)
#include "cuda/narrow.h"
#endif

/* Element types by their names in Croqtile. */
#define CROQ_ELEMENT_TYPES                                                                         \
  using s8 = signed char;                                                                          \
  using u8 = unsigned char;                                                                        \
  using s16 = short;                                                                               \
  using u16 = unsigned short;                                                                      \
  using s32 = int;                                                                                 \
  using u32 = unsigned;                                                                            \
  using s64 = long long;                                                                           \
  using u64 = unsigned long long;                                                                  \
  using f32 = float;                                                                               \
  using f64 = double;                                                                              \
  using half = f16;                                                                                \
  using bfp16 = bf16;
namespace croq {
inline namespace CROQ_TARGET {
CROQ_ELEMENT_TYPES
}  // namespace CROQ_TARGET
}  // namespace croq

/* Names of the reference's runtime that device code uses. Not a namespace alias of `croq`: a file
 * may contain `using namespace choreo;`, and functions of the device API have the same names as
 * CUDA's. */
namespace choreo {
using f16 = croq::f16;
using bf16 = croq::bf16;
using f8_e4m3 = croq::f8_e4m3;
using f8_e5m2 = croq::f8_e5m2;
CROQ_ELEMENT_TYPES

template <class T> CROQ_FN float to_f32(T v) { return croq::to<float>(v); }
template <class T> CROQ_FN T from_f32(float v) { return croq::to<T>(v); }
CROQ_FN float f16_to_f32(f16 v) { return croq::widen(v); }
CROQ_FN f16 f32_to_f16(float v) { return croq::to<f16>(v); }
CROQ_FN float bf16_to_f32(bf16 v) { return croq::widen(v); }
CROQ_FN bf16 f32_to_bf16(float v) { return croq::to<bf16>(v); }
/* Ends the call if `ok` is false. */
#if defined(CROQ_CUDA)
CROQ_DEVICE void choreo_assert(bool ok, const char * = "", const char * = "", int = 0) {
  if (!ok) __trap();
}
#else
CROQ_FN void choreo_assert(bool ok, const char *what = "choreo_assert", const char * = "",
                           int line = __builtin_LINE()) {
  if (CROQ_UNLIKELY(!ok)) croq::assertion_failed(what, line);
}
#endif
/* The groups of a warpgroup's products, for C++ that reads registers of their results. Only sm_90a has
 * such groups; the simulated GPU's products are complete where they stand. */
#if defined(CROQ_CUDA) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CROQ_GROUPS(...) asm volatile(__VA_ARGS__)
#else
#define CROQ_GROUPS(...) ((void)0)
#endif
CROQ_DEVICE void warpgroup_arrive() { CROQ_GROUPS("wgmma.fence.sync.aligned;" : : : "memory"); }
CROQ_DEVICE void warpgroup_commit_batch() {
  CROQ_GROUPS("wgmma.commit_group.sync.aligned;" : : : "memory");
}
template <int N> CROQ_DEVICE void warpgroup_wait() {
  static_assert(0 <= N && N < 8, "so many groups can't be waited for");
  CROQ_GROUPS("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}
#undef CROQ_GROUPS
namespace utils {
using choreo::from_f32;
using choreo::to_f32;
}  // namespace utils
}  // namespace choreo
#undef CROQ_ELEMENT_TYPES
namespace croq {
using choreo::choreo_assert;
}

/* Inline assembly in C++ of a `.co` file is translated where it stands. What an included header has
 * ends the call where it is executed. */
#if !defined(CROQ_CUDA)
#define asm(...) croq::unknown_assembly("assembly:" #__VA_ARGS__)
#define volatile(...) ("" : : "r"((croq::unknown_assembly("assembly:" #__VA_ARGS__), 0)))
#endif

#endif
