/* One thread of a GPU: its indices, barriers, failures. */
#ifndef CROQ_CUDA_THREAD_H
#define CROQ_CUDA_THREAD_H

namespace croq {
inline namespace CROQ_TARGET {

/* The entry of a device function that calls others; only the simulated GPU has a check there. */
#define CROQ_ENTER

/* Values that a kernel gets from its launch. */
struct context {
  /* In host memory that the device can write; it outlives the CUDA context that a trap destroys. */
  croq_failure *failure;
  /* Time limit of a wait in nanoseconds; 0: no limit. */
  croq_u64 wait_limit;
};

/* Whether inline assembly runs here as it is written. */
CROQ_FN bool has_ptx() { return true; }
CROQ_DEVICE idx tid() { return threadIdx.x; }
/* The number of this thread's warp, by a shuffle, so that ptxas knows it to be warp-uniform. Must
 * be executed by whole warps, none of whose threads has exited. */
CROQ_DEVICE idx warp() { return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0); }
/* Whether this is the elected lane of its warp, the same one each time. Must be executed by whole
 * warps, as above. */
CROQ_DEVICE bool elected() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  unsigned is;
  asm volatile("{\n"
               ".reg .pred p;\n"
               "elect.sync _|p, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, p;\n"
               "}"
               : "=r"(is));
  return is != 0;
#else
  return threadIdx.x % 32 == 0;
#endif
}
CROQ_DEVICE idx block_x() { return blockIdx.x; }
CROQ_DEVICE idx block_y() { return blockIdx.y; }
CROQ_DEVICE idx block_z() { return blockIdx.z; }

/* `check` of a failure that is not in the function's table. */
inline constexpr croq_u32 no_row = 0xffffffffu;

/* A row of the function's table of checks, and the line of the check. */
struct check_row {
  croq_u32 row;
  int line;
  __host__ __device__ constexpr check_row(croq_u32 number, int at = __builtin_LINE())
      : row(number), line(at) {}
};

/* Fills the fields of a record whose `kind` this thread has claimed, except `kind`. */
template <class... V> CROQ_DEVICE void fill(croq_failure *record, check_row row, V... values) {
  record->check = row.row;
  record->line = row.line;
  record->thread = threadIdx.x;
  record->block[0] = blockIdx.x;
  record->block[1] = blockIdx.y;
  record->block[2] = blockIdx.z;
  croq_u32 count = 0;
  ((count < 6 ? static_cast<void>(record->values[count++] = to<idx>(values)) : void()), ...);
  record->value_count = count;
  __threadfence_system();
}

/* Ends the launch. The first thread to fail writes the record; the others wait some time before
 * they trap, since a trap ends all threads. */
template <class... V>
CROQ_DEVICE void stop(context ctx, croq_u32 kind, check_row row, V... values) {
  croq_failure *const record = ctx.failure;
  if (atomicCAS(&record->kind, static_cast<croq_u32>(CROQ_OK), kind) == CROQ_OK) {
    fill(record, row, values...);
  } else {
    /* Not unrolled: nvcc would emit a thousand instructions at every check. */
    _Pragma("unroll 1") for (int i = 0; i < 1000; ++i) __nanosleep(1000);
  }
  __trap();
}
/* A check after which a kernel cannot continue. */
template <class... V> CROQ_DEVICE void require(context ctx, bool ok, check_row row, V... values) {
  if (__builtin_expect(ok, true)) return;
  stop(ctx, CROQ_CHECK, row, values...);
}

#if defined(CROQ_REPORT)
/* The first thread to fail writes the record, and all threads continue. The host may read the
 * record while other kernels are running, so `kind` is written last. */
template <class... V> CROQ_DEVICE void check(context ctx, bool ok, check_row row, V... values) {
  if (__builtin_expect(ok, true)) return;
  croq_failure *const record = ctx.failure;
  /* Only one of many failures is sent over the bus. */
  if (*static_cast<volatile croq_u32 *>(&record->kind) != CROQ_OK ||
      atomicCAS(&record->kind, static_cast<croq_u32>(CROQ_OK),
                static_cast<croq_u32>(CROQ_BEING_WRITTEN)) != CROQ_OK)
    return;
  fill(record, row, values...);
  *static_cast<volatile croq_u32 *>(&record->kind) = CROQ_CHECK;
}
#else
template <class... V> CROQ_DEVICE void check(context ctx, bool ok, check_row row, V... values) {
  require(ctx, ok, row, values...);
}
#endif

/* With CROQ_REPORT a wait that takes too long ends the launch; the clock is read every 65536 tries.
 * Otherwise there is no limit: it costs 15 instructions per wait. */
class wait_timer {
 public:
  CROQ_DEVICE void failed_try([[maybe_unused]] context ctx, [[maybe_unused]] croq_u32 what,
                              [[maybe_unused]] int line) {
#if defined(CROQ_REPORT)
    if (++tries % 65536 != 0) return;
    croq_u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (since == 0) since = now;
    if (ctx.wait_limit == 0 || now - since <= ctx.wait_limit) return;
    stop(ctx, CROQ_ENDLESS, {what, line});
#endif
  }

 private:
  [[maybe_unused]] croq_u32 tries = 0;
  [[maybe_unused]] croq_u64 since = 0;
};

/* All shared memory of a block is dynamic. */
CROQ_DEVICE unsigned char *shared_arena() {
  extern __shared__ __align__(1024) unsigned char croq_arena[];
  return croq_arena;
}

CROQ_DEVICE void barrier() { __syncthreads(); }
CROQ_DEVICE void barrier_named(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
/* The block barrier. Returns false if the thread detects a different value of another thread; if
 * two values differ, at least one thread detects it. */
CROQ_DEVICE bool same_in_block(bool value, idx) { return (__syncthreads_or(value) != 0) == value; }
/* Integers are compared with the value of one thread, at `at` bytes in the shared memory of the
 * block. */
CROQ_DEVICE bool same_in_block(idx value, idx at) {
  volatile idx *const one = reinterpret_cast<volatile idx *>(shared_arena() + at);
  *one = value;
  __syncthreads();
  /* The second barrier prevents that the next value is stored before all threads have compared this
   * one. */
  return __syncthreads_or(*one != value) == 0;
}
/* The number of threads at a named barrier that pass a true `value`. */
CROQ_DEVICE unsigned count_at_barrier(bool value, unsigned id, unsigned threads) {
  unsigned count;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "setp.ne.u32 p, %1, 0;\n\t"
               "bar.red.popc.u32 %0, %2, %3, p;\n\t}"
               : "=r"(count)
               : "r"(static_cast<unsigned>(value)), "r"(id), "r"(threads)
               : "memory");
  return count;
}
/* The same for the threads of a region or a warpgroup, at their barrier. */
CROQ_DEVICE bool same_in_region(bool value, unsigned id, unsigned threads, idx) {
  return count_at_barrier(value, id, threads) == (value ? threads : 0);
}
CROQ_DEVICE bool same_in_region(idx value, unsigned id, unsigned threads, idx at) {
  volatile idx *const one = reinterpret_cast<volatile idx *>(shared_arena() + at) + id;
  *one = value;
  barrier_named(id, threads);
  return count_at_barrier(*one != value, id, threads) == 0;
}
/* The same for the lanes of a warp in `mask`. */
CROQ_DEVICE bool same_in_warp(bool value, unsigned mask) {
  return (__any_sync(mask, value) != 0) == value;
}
CROQ_DEVICE bool same_in_warp(idx value, unsigned mask) {
  int same;
  __match_all_sync(mask, static_cast<unsigned long long>(value), &same);
  return same != 0;
}
/* Arrives at the barrier without waiting. */
CROQ_DEVICE void barrier_arrive(unsigned id, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
CROQ_DEVICE void barrier_warp(unsigned mask = 0xffffffffu) { __syncwarp(mask); }
CROQ_DEVICE void fence_block() { __threadfence_block(); }
CROQ_DEVICE void fence_device() { __threadfence(); }

/* Asserts that none is negative, so that division by a power of two is a shift. */
template <class... N> CROQ_DEVICE void extents(N... n) { (__builtin_assume(n >= 0), ...); }

/* The result for a zero divisor is that of the hardware; on the host, and with CROQ_REPORT, it is
 * 0. */
#if !defined(__CUDA_ARCH__) || defined(CROQ_REPORT)
#define CROQ_ZERO_DIVISORS
#endif
template <class T> CROQ_FN T div(T a, T b) {
#ifdef CROQ_ZERO_DIVISORS
  if constexpr (!native_float<T> && !narrow<T>)
    if (b == 0) return 0;
#endif
  return static_cast<T>(a / b);
}
template <class T> CROQ_FN T rem(T a, T b) {
#ifdef CROQ_ZERO_DIVISORS
  if (b == 0) return 0;
#endif
  return static_cast<T>(a % b);
}

/* For indices. If both operands are below 2^32, as is usual, the 64-bit division is avoided, a
 * function of a hundred instructions. */
CROQ_FN idx quotient(idx a, idx b) {
  if (((a | b) >> 32) == 0) return div(static_cast<unsigned>(a), static_cast<unsigned>(b));
  return div(a, b);
}
CROQ_FN idx remainder(idx a, idx b) {
  if (((a | b) >> 32) == 0) return rem(static_cast<unsigned>(a), static_cast<unsigned>(b));
  return rem(a, b);
}

/* On other targets the number of registers does not change. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CROQ_SET_REGISTERS(way, n)                                                                 \
  asm volatile("setmaxnreg." way ".sync.aligned.u32 %0;" : : "n"(n))
#else
#define CROQ_SET_REGISTERS(way, n) static_cast<void>(0)
#endif
/* Increases the number of registers per thread to N, by all threads of a warpgroup: waits until
 * released registers are available. */
template <unsigned N> CROQ_DEVICE void set_max_registers_up() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "multiples of 8 from 24 to 256");
  CROQ_SET_REGISTERS("inc", N);
}
/* Decreases the number of registers per thread to N; the others are released. */
template <unsigned N> CROQ_DEVICE void set_max_registers_down() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "multiples of 8 from 24 to 256");
  CROQ_SET_REGISTERS("dec", N);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
