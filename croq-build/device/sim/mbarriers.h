/* Barriers in shared memory that count arrivals and bytes; threads wait for the parity of a
 * phase. */
#ifndef CROQ_SIM_MBARRIERS_H
#define CROQ_SIM_MBARRIERS_H

namespace croq {
inline namespace CROQ_TARGET {

/* An array of mbarriers, of 8 bytes each. */
struct __attribute__((unused)) mbarriers {
  unsigned long long *first = nullptr;
  idx extent = 0;
  const char *name = "";

  CROQ_FN croq_sim_access at(idx slot, int line) const {
    if (!CROQ_LIKELY(static_cast<unsigned long long>(slot) <
                     static_cast<unsigned long long>(extent)))
      out_of_bounds(name, slot, extent, line);
    return {name, slot, first + slot, 8, static_cast<croq_u32>(line)};
  }
};

/* `extent` mbarriers at `offset` bytes in the block's arena, in a launch that is `asynchronous`. */
CROQ_OPERATION mbarriers mbarriers_at(idx offset, idx extent, const char *name = "mbarrier",
                               int line = __builtin_LINE()) {
  const watched<unsigned long long> memory =
      watched_at<unsigned long long>(offset, extent, name, line);
  return {memory.first, extent, name};
}

CROQ_OPERATION croq_u32 mbarrier_operation(const mbarriers &all, idx slot, croq_u32 operation,
                                    croq_i64 value, int line) {
  croq_sim_thread *const self = current;
  const croq_sim_access access = all.at(slot, line);
  const croq_u32 result = sim_api()->mbarrier(self, &access, operation, value);
  current = self;
  return result;
}

/* A phase ends after `count` arrivals. Before other threads use the mbarrier: `fence_mbarrier_init`
 * and a barrier. */
CROQ_OPERATION void mbarrier_init(const mbarriers &all, idx slot, unsigned count,
                           int line = __builtin_LINE()) {
  mbarrier_operation(all, slot, CROQ_MBARRIER_INIT, count, line);
}
/* The mbarrier's memory can be used for other data. */
CROQ_OPERATION void mbarrier_inval(const mbarriers &all, idx slot, int line = __builtin_LINE()) {
  mbarrier_operation(all, slot, CROQ_MBARRIER_INVALIDATE, 0, line);
}
/* For reports: the mbarriers are the slots of an event, and this line triggers it, by these
 * threads. */
CROQ_OPERATION void event_site(const mbarriers &all, croq_u32 flags, const char *threads,
                        int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  const croq_sim_access access = all.at(0, line);
  sim_api()->event_site(self, &access, static_cast<croq_u32>(all.extent), flags, threads);
  current = self;
}
CROQ_OPERATION void mbarrier_arrive(const mbarriers &all, idx slot, int line = __builtin_LINE()) {
  mbarrier_operation(all, slot, CROQ_MBARRIER_ARRIVE, 0, line);
}
/* On GPUs one thread of a unit may arrive for all of them; here each arrives, so that each one's
 * accesses are ordered by its own arrival. */
template <unsigned unit>
CROQ_OPERATION void mbarrier_arrive_by(const mbarriers &all, idx slot, bool,
                                int line = __builtin_LINE()) {
  mbarrier_arrive(all, slot, line);
}
/* Keeps an arrival behind the computation of the value on GPUs; here statements are executed in
 * order. */
CROQ_OPERATION bool is_computed(float) { return true; }
/* The phase also waits for `bytes` of a copy. */
CROQ_OPERATION void mbarrier_expect_tx(const mbarriers &all, idx slot, unsigned bytes,
                                int line = __builtin_LINE()) {
  mbarrier_operation(all, slot, CROQ_MBARRIER_EXPECT, bytes, line);
}
CROQ_OPERATION void mbarrier_arrive_expect_tx(const mbarriers &all, idx slot, unsigned bytes,
                                       int line = __builtin_LINE()) {
  mbarrier_operation(all, slot, CROQ_MBARRIER_ARRIVE_EXPECT, bytes, line);
}
/* Whether the phase of this parity is complete; may block for a limited time. It is the current
 * phase if that has this parity, otherwise the previous one (parity 1 for a new mbarrier). */
CROQ_OPERATION bool mbarrier_try_wait(const mbarriers &all, idx slot, unsigned parity,
                               int line = __builtin_LINE()) {
  return mbarrier_operation(all, slot, CROQ_MBARRIER_TRY_WAIT, parity, line) != 0;
}
/* What a wait waits for: a parity, or, for an event, the phase of this number or the one after that
 * of the thread's last wait. Hardware knows only the parity of either. */
struct awaited_phase {
  croq_u32 operation;
  croq_i64 value;

  CROQ_FN awaited_phase(unsigned parity) : operation(CROQ_MBARRIER_WAIT), value(parity) {}
  CROQ_FN awaited_phase(croq_u32 how, croq_i64 what) : operation(how), value(what) {}
};
CROQ_OPERATION awaited_phase phase(idx number) { return {CROQ_MBARRIER_WAIT_PHASE, number}; }
CROQ_OPERATION awaited_phase next_phase(unsigned parity) { return {CROQ_MBARRIER_WAIT_NEXT, parity}; }
/* Waits until it is complete. */
CROQ_OPERATION void mbarrier_wait(context, const mbarriers &all, idx slot, awaited_phase what,
                           int line = __builtin_LINE()) {
  mbarrier_operation(all, slot, what.operation, what.value, line);
}

/* Makes this thread's initialisations of mbarriers visible to copies that arrive there. */
CROQ_OPERATION void fence_mbarrier_init() {
  croq_sim_thread *const self = current;
  sim_api()->fence(self, CROQ_FENCE_MBARRIER_INIT);
  current = self;
}
/* Orders this thread's accesses to shared memory before later accesses of the async proxy (TMA,
 * wgmma). */
CROQ_OPERATION void fence_proxy_async() {
  croq_sim_thread *const self = current;
  sim_api()->fence(self, CROQ_FENCE_PROXY_ASYNC);
  current = self;
}
/* The same, for accesses to device memory as well; the simulated GPU checks shared memory only. */
CROQ_OPERATION void fence_proxy_async_everywhere() { fence_proxy_async(); }

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
