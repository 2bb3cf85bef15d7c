/* What plain CUDA C++ text (`__device__` functions, `__cpp__`) may use besides the device API. */
#ifndef CROQ_SIM_CUDA_NAMES_H
#define CROQ_SIM_CUDA_NAMES_H

#include <cstdint>
#include <cstring>

#define __device__ __attribute__((unused))
#define __host__
#define __global__ static __attribute__((unused))
#define __constant__ __attribute__((unused))
#define __forceinline__ inline __attribute__((always_inline))
/* A block never shares an OS thread's time with another, nor leaves its OS thread. */
#define __shared__ static CROQ_THREAD_LOCAL
#define __launch_bounds__(...)

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

template <class T> CROQ_FN T __ldg(const T *p) { return *p; }
template <class T> CROQ_FN T __ldcg(const T *p) { return *p; }
template <class T> CROQ_FN T __ldcs(const T *p) { return *p; }
template <class T> CROQ_FN void __stcg(T *p, T v) { *p = v; }
template <class T> CROQ_FN void __stcs(T *p, T v) { *p = v; }

CROQ_FN float rsqrtf(float x) { return 1.0f / ::sqrtf(x); }
CROQ_FN double rsqrt(double x) { return 1.0 / ::sqrt(x); }
CROQ_FN float __expf(float x) { return ::expf(x); }
CROQ_FN float __exp10f(float x) { return ::powf(10.0f, x); }
CROQ_FN float __logf(float x) { return ::logf(x); }
CROQ_FN float __log2f(float x) { return ::log2f(x); }
CROQ_FN float __log10f(float x) { return ::log10f(x); }
CROQ_FN float __sinf(float x) { return ::sinf(x); }
CROQ_FN float __cosf(float x) { return ::cosf(x); }
CROQ_FN float __tanf(float x) { return ::tanf(x); }
CROQ_FN float __powf(float x, float y) { return ::powf(x, y); }
CROQ_FN float __fdividef(float x, float y) { return x / y; }
CROQ_FN float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
CROQ_FN float __frcp_rn(float x) { return 1.0f / x; }
CROQ_FN float __fsqrt_rn(float x) { return ::sqrtf(x); }
CROQ_FN float __fadd_rn(float x, float y) { return x + y; }
CROQ_FN float __fsub_rn(float x, float y) { return x - y; }
CROQ_FN float __fmul_rn(float x, float y) { return x * y; }
CROQ_FN float __fdiv_rn(float x, float y) { return x / y; }
CROQ_FN float __fmaf_rn(float x, float y, float z) { return ::fmaf(x, y, z); }

CROQ_FN int __float_as_int(float v) { return static_cast<int>(croq::float_bits(v)); }
CROQ_FN unsigned __float_as_uint(float v) { return croq::float_bits(v); }
CROQ_FN float __int_as_float(int v) { return croq::float_from_bits(static_cast<unsigned>(v)); }
CROQ_FN float __uint_as_float(unsigned v) { return croq::float_from_bits(v); }
CROQ_FN int __float2int_rz(float v) { return croq::to<int>(v); }
CROQ_FN int __float2int_rn(float v) { return croq::to<int>(::rintf(v)); }
CROQ_FN unsigned __float2uint_rz(float v) { return croq::to<unsigned>(v); }
CROQ_FN unsigned __float2uint_rn(float v) { return croq::to<unsigned>(::rintf(v)); }
CROQ_FN float __int2float_rn(int v) { return static_cast<float>(v); }
CROQ_FN float __uint2float_rn(unsigned v) { return static_cast<float>(v); }

CROQ_FN int __popc(unsigned v) { return __builtin_popcount(v); }
CROQ_FN int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
CROQ_FN int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v)); }
CROQ_FN int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v));
}
CROQ_FN int __ffs(int v) { return __builtin_ffs(v); }
CROQ_FN int __ffsll(long long v) { return __builtin_ffsll(v); }

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
CROQ_FN float min(float a, float b) { return ::fminf(a, b); }
CROQ_FN float max(float a, float b) { return ::fmaxf(a, b); }
CROQ_FN double min(double a, double b) { return ::fmin(a, b); }
CROQ_FN double max(double a, double b) { return ::fmax(a, b); }

/* Every lane's value is in place when `read` runs, and stays until all have read. `here`: the lanes that have one. */
template <class T, class R>
CROQ_FN auto croq_exchange(unsigned mask, croq_u32 kind, T value, int line, R read) {
  static_assert(sizeof(T) <= 8, "lanes exchange at most 64 bits");
  const unsigned tid = croq::current->tid;
  const auto lanes = reinterpret_cast<unsigned long long *>(croq::current->lanes);
  std::memcpy(&lanes[tid], &value, sizeof value);
  /* What the expression around has read so far is this thread's, and not that of those that go on meanwhile. */
  const croq_u32 others = croq::take_unwritten();
  const unsigned here = croq::lanes_named(mask, kind, line);
  const auto result = read(&lanes[tid & ~31u], here);
  croq::lanes_here(mask, kind, line);
  croq::unwritten = others;
  return result;
}
/* Of a lane that is not there hardware gives anything. */
template <class T>
CROQ_FN T croq_shuffle(unsigned mask, croq_u32 kind, T v, unsigned from, int line) {
  return croq_exchange(
      mask, kind, v, line, [from, mask, line](const unsigned long long *lanes, unsigned here) {
        if (CROQ_UNLIKELY((here >> (from & 31) & 1) == 0))
          croq::absent("shuffle: reads lane {0}, which is not there (mask {1})", from & 31, mask, line);
        T found;
        std::memcpy(&found, &lanes[from & 31], sizeof found);
        return found;
      });
}
CROQ_FN unsigned croq_lane() { return croq::current->tid & 31; }
template <class T>
CROQ_FN T __shfl_sync(unsigned mask, T v, int from, int width = 32, int line = __builtin_LINE()) {
  const unsigned last = static_cast<unsigned>(width - 1);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE, v,
                      (croq_lane() & ~last) | (static_cast<unsigned>(from) & last), line);
}
template <class T>
CROQ_FN T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32,
                          int line = __builtin_LINE()) {
  const unsigned lane = croq_lane(), from = lane ^ static_cast<unsigned>(with);
  const unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + static_cast<unsigned>(width);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE_XOR, v, from < end ? from : lane, line);
}
template <class T>
CROQ_FN T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32,
                         int line = __builtin_LINE()) {
  const unsigned lane = croq_lane(), place = lane & static_cast<unsigned>(width - 1);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE_UP, v, place >= by ? lane - by : lane, line);
}
template <class T>
CROQ_FN T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32,
                           int line = __builtin_LINE()) {
  const unsigned lane = croq_lane(), place = lane & static_cast<unsigned>(width - 1);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE_DOWN, v,
                      place + by < static_cast<unsigned>(width) ? lane + by : lane, line);
}
/* Lanes that the block does not have have no vote, as in hardware. */
CROQ_FN unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return croq_exchange(mask, CROQ_LANES_VOTE, predicate, line,
                       [](const unsigned long long *lanes, unsigned here) {
                         unsigned votes = 0;
                         for (unsigned lane = 0; lane < 32; ++lane)
                           if ((here >> lane & 1) != 0 && static_cast<unsigned>(lanes[lane]) != 0)
                             votes |= 1u << lane;
                         return votes;
                       });
}
CROQ_FN int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
CROQ_FN int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate == 0, line) == 0;
}

/* Operations of text that has a pointer order accesses of other memory as all others do. */
template <class T, class F> CROQ_FN T croq_atomically(T *p, F next) {
  if (croq::current != nullptr && croq::current->device != nullptr) croq::note_atomic_at(p);
  return croq::atomically(p, next);
}
template <class T> CROQ_FN T atomicAdd(T *p, T v) {
  return croq_atomically(p, [v](T old) { return static_cast<T>(old + v); });
}
template <class T> CROQ_FN T atomicSub(T *p, T v) {
  return croq_atomically(p, [v](T old) { return static_cast<T>(old - v); });
}
template <class T> CROQ_FN T atomicMin(T *p, T v) {
  return croq_atomically(p, [v](T old) { return v < old ? v : old; });
}
template <class T> CROQ_FN T atomicMax(T *p, T v) {
  return croq_atomically(p, [v](T old) { return old < v ? v : old; });
}
template <class T> CROQ_FN T atomicExch(T *p, T v) {
  return croq_atomically(p, [v](T) { return v; });
}
template <class T> CROQ_FN T atomicCAS(T *p, T expected, T v) {
  return croq_atomically(p, [=](T old) { return old == expected ? v : old; });
}
template <class T> CROQ_FN T atomicAnd(T *p, T v) {
  return croq_atomically(p, [v](T old) { return static_cast<T>(old & v); });
}
template <class T> CROQ_FN T atomicOr(T *p, T v) {
  return croq_atomically(p, [v](T old) { return static_cast<T>(old | v); });
}
template <class T> CROQ_FN T atomicXor(T *p, T v) {
  return croq_atomically(p, [v](T old) { return static_cast<T>(old ^ v); });
}

#endif
