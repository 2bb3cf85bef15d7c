/* Step counts of loops: a thread calls the runtime when it has executed many iterations
 * (`croq-sys/src/sim/steps.rs`). */
#ifndef CROQ_SIM_LOOPS_H
#define CROQ_SIM_LOOPS_H

namespace croq {
inline namespace CROQ_TARGET {

CROQ_COLD inline void count(croq_u32 reason, int line) {
  croq_sim_thread *const self = current;
  /* Unwritten values read by the enclosing expression of the user's function. */
  const croq_u32 others = take_unwritten();
  sim_api()->count(self, reason, static_cast<croq_u32>(line));
  unwritten = others;
  current = self;
}

/* An iteration of a loop whose trip count is not known at its entry. It also appears in constant
 * expressions, and in code that runs on the host, where there is no thread. */
CROQ_FN constexpr void turn(int line = __builtin_LINE()) {
  if (__builtin_is_constant_evaluated()) return;
  croq_sim_thread *const self = current;
  if (self != nullptr && CROQ_UNLIKELY(--self->iterations == 0)) count(CROQ_COUNT_ITERATIONS, line);
}

/* The entry of a loop from `first` to below `end`, whose iterations cost `weight` steps each. */
CROQ_FN void steps(int line, idx first, idx end, idx by = 1, croq_u32 weight = 1) {
  /* More than any budget, and small enough that the product with a weight fits. */
  constexpr unsigned long long most = 1ull << 40;
  unsigned long long trips =
      end > first ? static_cast<unsigned long long>(end) - static_cast<unsigned long long>(first) : 0;
  if (by > 1) trips /= static_cast<unsigned long long>(by);
  trips = trips < most ? trips : most;
  croq_sim_thread *const self = current;
  self->steps -= static_cast<croq_i64>(trips * weight);
  if (CROQ_UNLIKELY(self->steps < 0)) count(CROQ_COUNT_STEPS, line);
}
CROQ_FN void steps(int line, idx trips) { steps(line, 0, trips); }
#define CROQ_STEPS(...) croq::steps(__LINE__, __VA_ARGS__)

/* A loop that may wait for memory to change. Its body stores nothing. If an iteration leaves all
 * values that it `carried` over unchanged, the thread's state is as before, so it yields to other
 * threads. */
class spin {
 public:
  CROQ_FN explicit spin(int at = __builtin_LINE()) : line(at) {}
  template <class... V> CROQ_FN void again(V... carried) {
    unsigned long long now = 0x9e3779b97f4a7c15ull;
    ((now = (now ^ bits(carried)) * 0x100000001b3ull), ...);
    const bool same = iterated && now == before;
    iterated = true;
    before = now;
    if (same) count(CROQ_COUNT_SPIN, line);
    else turn(line);
  }

 private:
  template <class V> static CROQ_FN unsigned long long bits(const V &value) {
    static_assert(sizeof value <= 8, "a scalar");
    unsigned long long all = 0;
    __builtin_memcpy(&all, &value, sizeof value);
    return all;
  }
  template <class T> static CROQ_FN unsigned long long bits(const tracked<T> &value) {
    return bits(value.bits);
  }
  int line;
  bool iterated = false;
  unsigned long long before = 0;
};

/* The thread yields. */
CROQ_FN void pause(int line = __builtin_LINE()) { count(CROQ_COUNT_PAUSE, line); }

/* The lanes in `mask` that execute this together, and that have not exited. */
CROQ_OPERATION unsigned lanes_here(unsigned mask, croq_u32 kind, int line) {
  croq_sim_thread *const self = current;
  const unsigned here = sim_api()->lanes(self, mask, kind, static_cast<croq_u32>(line));
  current = self;
  return here;
}
[[noreturn]] CROQ_COLD inline void absent(const char *what, unsigned lane, unsigned mask, int line) {
  const croq_i64 values[] = {static_cast<croq_i64>(lane), static_cast<croq_i64>(mask)};
  stop(CROQ_CHECK, no_row, line, what, 2, values);
}
/* The same where each lane of the block in `mask` must arrive. If one has exited or does not
 * arrive, hardware leaves the result undefined, so it is an error. An incomplete last warp of a
 * block has fewer lanes. */
CROQ_OPERATION unsigned lanes_named(unsigned mask, croq_u32 kind, int line) {
  const unsigned here = lanes_here(mask, kind, line);
  const unsigned of_warp = current->threads - current->tid / 32 * 32;
  const unsigned away = mask & ~here & (of_warp < 32 ? (1u << of_warp) - 1 : 0xffffffffu);
  if (CROQ_UNLIKELY(away != 0))
    absent(kind == CROQ_LANES_VOTE ? "vote: lane {0}, which mask {1} names, has left the kernel"
                                   : "shuffle: lane {0}, which mask {1} names, has left the kernel",
           static_cast<unsigned>(__builtin_ctz(away)), mask, line);
  return here;
}
/* Stops the thread unless all lanes of its warp execute this together. */
CROQ_OPERATION void all_lanes_here(unsigned here, int line) {
  if (CROQ_LIKELY(here == 0xffffffffu)) return;
  const croq_i64 values[] = {__builtin_ctz(~here)};
  stop(CROQ_CHECK, no_row, line, "warp: a matrix operation needs all lanes, lane {0} has left", 1,
       values);
}
CROQ_FN void whole_warp(int line) {
  all_lanes_here(lanes_here(0xffffffffu, CROQ_LANES_MATRIX, line), line);
}

/* The block barrier; returns whether all threads passed the same value. The GPU compares integers
 * in shared memory, at `at`. */
template <class T> CROQ_OPERATION bool same_in_block(T value, idx at, int line = __builtin_LINE()) {
  static_cast<void>(at);
  croq_sim_thread *const self = current;
  const croq_u32 others = take_unwritten();
  const croq_u32 same =
      sim_api()->agree(self, static_cast<croq_i64>(value), static_cast<croq_u32>(line));
  unwritten = others;
  current = self;
  return same != 0;
}
/* The same for the threads of a region or a warpgroup, at their barrier. */
template <class T>
CROQ_OPERATION bool same_in_region(T value, unsigned id, unsigned threads, idx at,
                            int line = __builtin_LINE()) {
  static_cast<void>(at);
  croq_sim_thread *const self = current;
  const croq_u32 others = take_unwritten();
  const croq_u32 same = sim_api()->agree_named(self, static_cast<croq_i64>(value), id, threads,
                                               static_cast<croq_u32>(line));
  unwritten = others;
  current = self;
  return same != 0;
}
/* The same for the lanes of a warp in `mask` that have not exited. */
template <class T>
CROQ_OPERATION bool same_in_warp(T value, unsigned mask, int line = __builtin_LINE()) {
  const unsigned tid = current->tid;
  const auto own = static_cast<croq_u64>(value);
  croq_u64 *const lanes = &current->lanes[tid & ~31u];
  lanes[tid & 31u] = own;
  const croq_u32 others = take_unwritten();
  const unsigned here = lanes_here(mask, CROQ_LANES_VOTE, line);
  bool same = true;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((here >> lane & 1) != 0) same &= lanes[lane] == own;
  /* No lane overwrites its slot before the others have read it. */
  lanes_here(mask, CROQ_LANES_VOTE, line);
  unwritten = others;
  return same;
}

}  // namespace CROQ_TARGET
}  // namespace croq
/* A name that no macro of a `.co` file can have, because it is used in the user's own code. */
CROQ_FN constexpr void croq_turn(int line = __builtin_LINE()) { croq::turn(line); }
#endif
