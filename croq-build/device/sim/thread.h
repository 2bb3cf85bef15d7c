/* One thread of the simulated GPU: its indices, barriers, failures. */
#ifndef CROQ_SIM_THREAD_H
#define CROQ_SIM_THREAD_H

#define CROQ_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define CROQ_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
/* For functions that run after a failure only: keeps them out of the hot code. */
#define CROQ_COLD __attribute__((noinline, cold))
/* The fast TLS model even in a shared object; the variable is read at every id and every view. */
#define CROQ_THREAD_LOCAL thread_local __attribute__((tls_model("initial-exec")))

namespace croq {
inline namespace CROQ_TARGET {

/* The running thread. Set at entry, and after every call that may have run another thread. */
inline CROQ_THREAD_LOCAL croq_sim_thread *current = nullptr;
/* The table of the process; set by every launch, always to the same value. */
inline const croq_sim_api *sim_table = nullptr;

CROQ_FN const croq_sim_api *sim_api() { return __atomic_load_n(&sim_table, __ATOMIC_RELAXED); }

/* Values that a kernel gets from its launch; none here. */
struct __attribute__((unused)) context {};

/* Whether inline assembly runs here as it is written. */
CROQ_FN bool has_ptx() { return false; }
CROQ_FN idx tid() { return current->tid; }
CROQ_FN idx warp() { return current->tid / 32; }
/* Whether this is the elected lane of its warp. */
CROQ_FN bool elected() { return current->tid % 32 == 0; }
/* Asserts that none is negative; unused here. */
template <class... N> CROQ_FN void extents(N...) {}
CROQ_FN idx block_x() { return current->block[0]; }
CROQ_FN idx block_y() { return current->block[1]; }
CROQ_FN idx block_z() { return current->block[2]; }

/* `check` of a failure that is not in the function's table. */
inline constexpr croq_u32 no_row = 0xffffffffu;

CROQ_COLD inline croq_failure failure_of(croq_u32 kind, croq_u32 row, int line, const char *what,
                                         croq_u32 count, const croq_i64 *values) {
  croq_failure failure = {};
  failure.kind = kind;
  failure.check = row;
  failure.line = static_cast<croq_u32>(line);
  failure.value_count = count < 6 ? count : 6;
  for (croq_u32 i = 0; i < failure.value_count; ++i) failure.values[i] = values[i];
  for (croq_u32 i = 0; what[i] != 0 && i + 1 < sizeof failure.what; ++i) failure.what[i] = what[i];
  return failure;
}

[[noreturn]] CROQ_COLD inline void stop(croq_u32 kind, croq_u32 row, int line, const char *what,
                                        croq_u32 count, const croq_i64 *values) {
  const croq_failure failure = failure_of(kind, row, line, what, count, values);
  sim_api()->stop(current, &failure);
  __builtin_unreachable();
}

/* A failure after which the thread can continue; with CROQ_REPORT it does. */
CROQ_COLD inline void fail(croq_u32 kind, croq_u32 row, int line, const char *what, croq_u32 count,
                           const croq_i64 *values) {
#if defined(CROQ_REPORT)
  const croq_failure failure = failure_of(kind, row, line, what, count, values);
  sim_api()->report(current, &failure);
#else
  stop(kind, row, line, what, count, values);
#endif
}

[[noreturn]] CROQ_COLD inline void out_of_bounds(const char *name, idx index, idx extent, int line) {
  const croq_i64 values[] = {index, extent};
  stop(CROQ_OUT_OF_BOUNDS, no_row, line, name, 2, values);
}

/* Executed at the entry of a kernel, and of functions that call others of the file (CROQ_ENTER):
 * checks that the next frame fits on the stack, together with the runtime functions that it calls.
 * Frame sizes are limited at compile time. */
CROQ_COLD inline void stack_is_full(int line) {
  stop(CROQ_CHECK, no_row, line, "stack: calls of device functions are nested too deep", 0, nullptr);
}
CROQ_FN void enter(int line = __builtin_LINE()) {
  if (current == nullptr) return;
  const auto here = reinterpret_cast<croq_u64>(__builtin_frame_address(0));
  const auto end = reinterpret_cast<croq_u64>(current->stack_end);
  if (!CROQ_LIKELY(here - end >= CROQ_SIM_FRAME_BYTES + CROQ_SIM_RESERVE_BYTES)) stack_is_full(line);
}

/* A row of the function's table of checks, and the line of the check. */
struct check_row {
  croq_u32 row;
  int line;
  constexpr check_row(croq_u32 number, int at = __builtin_LINE()) : row(number), line(at) {}
};

template <class... V> CROQ_FN void check(context, bool ok, check_row row, V... values) {
  if (CROQ_LIKELY(ok)) return;
  const croq_i64 list[] = {to<idx>(values)..., 0};
  fail(CROQ_CHECK, row.row, row.line, "", sizeof...(values), list);
}

/* A check after which a kernel cannot continue. */
template <class... V> CROQ_FN void require(context, bool ok, check_row row, V... values) {
  if (CROQ_LIKELY(ok)) return;
  const croq_i64 list[] = {to<idx>(values)..., 0};
  stop(CROQ_CHECK, row.row, row.line, "", sizeof...(values), list);
}

CROQ_FN void barrier(int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  sim_api()->barrier(self, static_cast<croq_u32>(line));
  current = self;
}
CROQ_FN void barrier_named(unsigned id, unsigned threads, int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  sim_api()->barrier_named(self, id, threads, static_cast<croq_u32>(line));
  current = self;
}
/* Arrives at the barrier without waiting. */
CROQ_FN void barrier_arrive(unsigned id, unsigned threads, int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  sim_api()->barrier_arrive(self, id, threads, static_cast<croq_u32>(line));
  current = self;
}
CROQ_FN void barrier_warp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  sim_api()->barrier_warp(self, mask, static_cast<croq_u32>(line));
  current = self;
}
/* The threads of a block share an OS thread, so only the compiler could reorder accesses. */
CROQ_FN void fence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
CROQ_FN void fence_device() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  croq_sim_thread *const self = current;
  if (self == nullptr || self->device == nullptr) return;
  sim_api()->device_fence(self);
  current = self;
}

/* Integer division. A zero divisor stops a kernel; on the host the result is 0, because a check
 * comes first. */
CROQ_COLD inline void divided_by_zero(int line) {
  if (current != nullptr) fail(CROQ_CHECK, no_row, line, "division by zero", 0, nullptr);
}
template <class T> CROQ_FN T div(T a, T b, int line = __builtin_LINE()) {
  if constexpr (native_float<T> || narrow<T>) return a / b;
  else {
    if (!CROQ_LIKELY(b != 0)) {
      divided_by_zero(line);
      return 0;
    }
    /* The one quotient that does not fit wraps, as on a GPU. */
    if constexpr (is_signed<T>)
      if (b == T(-1)) return static_cast<T>(0 - static_cast<unsigned long long>(a));
    return static_cast<T>(a / b);
  }
}
template <class T> CROQ_FN T rem(T a, T b, int line = __builtin_LINE()) {
  if (!CROQ_LIKELY(b != 0)) {
    divided_by_zero(line);
    return 0;
  }
  if constexpr (is_signed<T>)
    if (b == T(-1)) return 0;
  return static_cast<T>(a % b);
}

/* For indices. */
CROQ_FN idx quotient(idx a, idx b, int line = __builtin_LINE()) { return div<idx>(a, b, line); }
CROQ_FN idx remainder(idx a, idx b, int line = __builtin_LINE()) { return rem<idx>(a, b, line); }

/* Sets the number of registers per thread, by all threads of a warpgroup; no effect here. */
template <unsigned N> CROQ_FN void set_max_registers_up() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "multiples of 8 from 24 to 256");
}
template <unsigned N> CROQ_FN void set_max_registers_down() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "multiples of 8 from 24 to 256");
}

}  // namespace CROQ_TARGET
}  // namespace croq
/* A name that no macro of a `.co` file can have, because it is used in the user's own code. */
CROQ_FN void croq_enter(int line = __builtin_LINE()) { croq::enter(line); }
#define CROQ_ENTER                                                                                 \
  if (!__builtin_is_constant_evaluated()) croq_enter();
#endif
