/* Names that plain CUDA C++ (`__device__` functions, `__cpp__`) may use besides the device API. */
#ifndef CROQ_SIM_CUDA_NAMES_H
#define CROQ_SIM_CUDA_NAMES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define __device__ __attribute__((unused))
#define __host__
#define __global__ static __attribute__((unused))
#define __constant__ __attribute__((unused))
#define __managed__ __attribute__((unused))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
/* A thread-local variable serves as shared memory, because a block runs on one OS thread, and no
 * other block runs there before it ends. */
#define __shared__ static CROQ_THREAD_LOCAL
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)

#define CROQ_ID(name, ...)                                                                         \
  struct croq_##name {                                                                             \
    operator unsigned() const { return __VA_ARGS__; }                                              \
  };
CROQ_ID(zero, 0)
CROQ_ID(one, 1)
CROQ_ID(thread_x, croq::current->tid)
CROQ_ID(block_x, croq::current->block[0])
CROQ_ID(block_y, croq::current->block[1])
CROQ_ID(block_z, croq::current->block[2])
CROQ_ID(threads, croq::current->threads)
CROQ_ID(grid_x, croq::current->grid[0])
CROQ_ID(grid_y, croq::current->grid[1])
CROQ_ID(grid_z, croq::current->grid[2])
#undef CROQ_ID
template <class X, class Y, class Z> struct croq_dim3 {
  X x;
  Y y;
  Z z;
};
inline constexpr croq_dim3<croq_thread_x, croq_zero, croq_zero> threadIdx{};
inline constexpr croq_dim3<croq_block_x, croq_block_y, croq_block_z> blockIdx{};
inline constexpr croq_dim3<croq_threads, croq_one, croq_one> blockDim{};
inline constexpr croq_dim3<croq_grid_x, croq_grid_y, croq_grid_z> gridDim{};
inline constexpr int warpSize = 32;

CROQ_FN void __syncthreads(int line = __builtin_LINE()) { croq::barrier(line); }
CROQ_FN void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  croq::barrier_warp(mask, line);
}
CROQ_FN void __threadfence_block() { croq::fence_block(); }
CROQ_FN void __threadfence() { croq::fence_device(); }
CROQ_FN void __threadfence_system() { croq::fence_device(); }
CROQ_FN void __nanosleep(unsigned, int line = __builtin_LINE()) { croq::pause(line); }
[[noreturn]] inline void __trap(int line = __builtin_LINE()) {
  croq::stop(CROQ_CHECK, croq::no_row, line, "__trap", 0, nullptr);
}

namespace croq {
inline namespace CROQ_TARGET {
/* Ends the call; on the host, where that is not possible, it ends the process as the C library
 * does. */
[[noreturn]] CROQ_COLD inline void assertion_failed(const char *what, int line) {
  if (current == nullptr) abort();
  stop(CROQ_CHECK, no_row, line, what, 0, nullptr);
}
}  // namespace CROQ_TARGET
}  // namespace croq
#include "../foreign_sim/assert.h"

/* A monotonic clock in nanoseconds. */
CROQ_FN long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000000000 + now.tv_nsec;
}
CROQ_FN unsigned long long __globaltimer() { return static_cast<unsigned long long>(clock64()); }

/* Cache hints have no observable effect. */
#define CROQ_LOAD(name)                                                                            \
  template <class T> CROQ_FN T name(const T *p) { return *p; }
#define CROQ_STORE(name)                                                                           \
  template <class T> CROQ_FN void name(T *p, croq::itself<T> v) { *p = v; }
CROQ_LOAD(__ldg)
CROQ_LOAD(__ldca)
CROQ_LOAD(__ldcg)
CROQ_LOAD(__ldcs)
CROQ_LOAD(__ldcv)
CROQ_LOAD(__ldlu)
CROQ_STORE(__stcg)
CROQ_STORE(__stcs)
CROQ_STORE(__stwb)
CROQ_STORE(__stwt)
#undef CROQ_LOAD
#undef CROQ_STORE

CROQ_FN float rsqrtf(float x) { return 1.0f / ::sqrtf(x); }
CROQ_FN double rsqrt(double x) { return 1.0 / ::sqrt(x); }
CROQ_FN float __expf(float x) { return ::expf(x); }
CROQ_FN float rcbrtf(float x) { return 1.0f / ::cbrtf(x); }
CROQ_FN float fdividef(float x, float y) { return x / y; }
CROQ_FN float sinpif(float x) { return static_cast<float>(::sin(x * 3.14159265358979323846)); }
CROQ_FN float cospif(float x) { return static_cast<float>(::cos(x * 3.14159265358979323846)); }
CROQ_FN float normcdff(float x) { return 0.5f * ::erfcf(-x * 0.70710678118654752440f); }
CROQ_FN float __exp10f(float x) { return ::powf(10.0f, x); }
CROQ_FN float __logf(float x) { return ::logf(x); }
CROQ_FN float __log2f(float x) { return ::log2f(x); }
CROQ_FN float __log10f(float x) { return ::log10f(x); }
CROQ_FN float __sinf(float x) { return ::sinf(x); }
CROQ_FN float __cosf(float x) { return ::cosf(x); }
CROQ_FN float __tanf(float x) { return ::tanf(x); }
CROQ_FN float __powf(float x, float y) { return ::powf(x, y); }
CROQ_FN float __tanhf(float x) { return ::tanhf(x); }
CROQ_FN void __sincosf(float x, float *sine, float *cosine) {
  *sine = ::sinf(x);
  *cosine = ::cosf(x);
}
CROQ_FN float __fdividef(float x, float y) { return x / y; }
CROQ_FN float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
CROQ_FN float __frcp_rn(float x) { return 1.0f / x; }
CROQ_FN float __fsqrt_rn(float x) { return ::sqrtf(x); }
CROQ_FN float __frsqrt_rn(float x) { return static_cast<float>(1.0 / ::sqrt(static_cast<double>(x))); }
CROQ_FN float __fadd_rn(float x, float y) { return x + y; }
CROQ_FN float __fsub_rn(float x, float y) { return x - y; }
CROQ_FN float __fmul_rn(float x, float y) { return x * y; }
CROQ_FN float __fdiv_rn(float x, float y) { return x / y; }
CROQ_FN float __fmaf_rn(float x, float y, float z) { return ::fmaf(x, y, z); }
CROQ_FN double __dadd_rn(double x, double y) { return x + y; }
CROQ_FN double __dsub_rn(double x, double y) { return x - y; }
CROQ_FN double __dmul_rn(double x, double y) { return x * y; }
CROQ_FN double __ddiv_rn(double x, double y) { return x / y; }
CROQ_FN double __fma_rn(double x, double y, double z) { return ::fma(x, y, z); }
CROQ_FN double __dsqrt_rn(double x) { return ::sqrt(x); }

#define CROQ_MIN_MAX(T)                                                                            \
  CROQ_FN T min(T a, T b) { return b < a ? b : a; }                                                \
  CROQ_FN T max(T a, T b) { return a < b ? b : a; }
CROQ_MIN_MAX(int)
CROQ_MIN_MAX(unsigned)
CROQ_MIN_MAX(long)
CROQ_MIN_MAX(unsigned long)
CROQ_MIN_MAX(long long)
CROQ_MIN_MAX(unsigned long long)
#undef CROQ_MIN_MAX
/* Mixed operand types, converted as by CUDA. */
#define CROQ_MIN_MAX(A, B, T)                                                                      \
  CROQ_FN T min(A a, B b) { return min(static_cast<T>(a), static_cast<T>(b)); }                    \
  CROQ_FN T max(A a, B b) { return max(static_cast<T>(a), static_cast<T>(b)); }
CROQ_MIN_MAX(int, unsigned, unsigned)
CROQ_MIN_MAX(unsigned, int, unsigned)
CROQ_MIN_MAX(long, unsigned long, unsigned long)
CROQ_MIN_MAX(unsigned long, long, unsigned long)
CROQ_MIN_MAX(long long, unsigned long long, unsigned long long)
CROQ_MIN_MAX(unsigned long long, long long, unsigned long long)
CROQ_FN float min(float a, float b) { return croq::min(a, b); }
CROQ_FN float max(float a, float b) { return croq::max(a, b); }
CROQ_FN double min(double a, double b) { return croq::min(a, b); }
CROQ_FN double max(double a, double b) { return croq::max(a, b); }
CROQ_MIN_MAX(float, double, double)
CROQ_MIN_MAX(double, float, double)
#undef CROQ_MIN_MAX

#endif
