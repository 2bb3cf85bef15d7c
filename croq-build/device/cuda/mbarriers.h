/* Barriers in shared memory that count arrivals (sm_80) and bytes (sm_90); threads wait for the
 * parity of a phase. */
#ifndef CROQ_CUDA_MBARRIERS_H
#define CROQ_CUDA_MBARRIERS_H

namespace croq {
inline namespace CROQ_TARGET {

/* An array of mbarriers, of 8 bytes each. */
struct mbarriers {
  unsigned long long *first = nullptr;

  CROQ_DEVICE unsigned at(idx slot) const { return shared_address(first + slot); }
};

/* Mbarriers at `offset` bytes in the block's arena. */
CROQ_DEVICE mbarriers mbarriers_at(idx offset, idx, const char * = "") {
  return {reinterpret_cast<unsigned long long *>(shared_arena() + offset)};
}

/* A phase ends after `count` arrivals. Before other threads use the mbarrier: `fence_mbarrier_init`
 * and a barrier. */
CROQ_DEVICE void mbarrier_init(mbarriers all, idx slot, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(all.at(slot)), "r"(count) : "memory");
}
/* The mbarrier's memory can be used for other data. */
CROQ_DEVICE void mbarrier_inval(mbarriers all, idx slot) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(all.at(slot)) : "memory");
}
/* Information about an event for reports of the simulated GPU. */
CROQ_DEVICE void event_site(mbarriers, unsigned, const char *) {}
CROQ_DEVICE void mbarrier_arrive(mbarriers all, idx slot) {
  asm volatile("{\n"
               ".reg .b64 state;\n"
               "mbarrier.arrive.shared.b64 state, [%0];\n"
               "}"
               :
               : "r"(all.at(slot))
               : "memory");
}

/* Bytes are counted from sm_90 on; code for an older GPU traps. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CROQ_SM_90(...) __VA_ARGS__
#else
#define CROQ_SM_90(...) __trap()
#endif
/* An arrival for all threads of a unit, by the one that is its `leader`; all of them call this
 * together. A warp is a unit whose threads may have accessed memory before: its barrier orders their
 * accesses before the arrival. Before sm_90 an arrival has no count, and each thread arrives. */
template <unsigned unit>
CROQ_DEVICE void mbarrier_arrive_by(mbarriers all, idx slot, [[maybe_unused]] bool leader) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if constexpr (unit == 32) __syncwarp();
  if (leader)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(all.at(slot)), "n"(unit)
                 : "memory");
#else
  mbarrier_arrive(all, slot);
#endif
}
/* True for each value, also for NaN, negative and infinite ones, which ptxas does not know: a statement
 * with this condition stays behind the computation of the value, and before later volatile ones. */
CROQ_DEVICE bool is_computed(float value) {
  unsigned is;
  asm("{\n"
      ".reg .f32 size;\n"
      ".reg .pred p;\n"
      "abs.f32 size, %1;\n"
      "setp.geu.f32 p, size, 0f00000000;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(is)
      : "f"(value));
  return is != 0;
}
/* The phase also waits for `bytes` of a copy. */
CROQ_DEVICE void mbarrier_expect_tx([[maybe_unused]] mbarriers all, [[maybe_unused]] idx slot,
                                    [[maybe_unused]] unsigned bytes) {
  CROQ_SM_90(asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                          :
                          : "r"(all.at(slot)), "r"(bytes)
                          : "memory"));
}
CROQ_DEVICE void mbarrier_arrive_expect_tx([[maybe_unused]] mbarriers all,
                                           [[maybe_unused]] idx slot,
                                           [[maybe_unused]] unsigned bytes) {
  CROQ_SM_90(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                          :
                          : "r"(all.at(slot)), "r"(bytes)
                          : "memory"));
}

/* Whether the phase of this parity is complete; may block for a limited time. It is the current
 * phase if that has this parity, otherwise the previous one (parity 1 for a new mbarrier). */
CROQ_DEVICE bool mbarrier_try_wait(mbarriers all, idx slot, unsigned parity) {
  unsigned over;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CROQ_TRY_WAIT "mbarrier.test_wait.parity.shared.b64"
#else
#define CROQ_TRY_WAIT "mbarrier.try_wait.parity.shared::cta.b64"
#endif
  asm volatile("{\n"
               ".reg .pred p;\n" CROQ_TRY_WAIT " p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p;\n"
               "}"
               : "=r"(over)
               : "r"(all.at(slot)), "r"(parity)
               : "memory");
#undef CROQ_TRY_WAIT
  return over != 0;
}
/* What a wait for an event waits for: the phase of this number, or the one after that of the
 * thread's last wait. Hardware knows its parity only; the simulated GPU compares the numbers. */
CROQ_DEVICE unsigned phase(idx number) { return static_cast<unsigned>(number) & 1u; }
CROQ_DEVICE unsigned next_phase(unsigned parity) { return parity; }
/* Waits until it is complete. */
CROQ_DEVICE void mbarrier_wait(context ctx, mbarriers all, idx slot, unsigned parity,
                               int line = __builtin_LINE()) {
  wait_timer timer;
  while (!mbarrier_try_wait(all, slot, parity)) timer.failed_try(ctx, CROQ_WAIT_MBARRIER, line);
}

/* Makes this thread's initialisations of mbarriers visible to copies that arrive there; before
 * sm_90 there are no such copies. */
CROQ_DEVICE void fence_mbarrier_init() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
#endif
}
/* Orders this thread's accesses to shared memory before later accesses of the async proxy (TMA,
 * wgmma). */
CROQ_DEVICE void fence_proxy_async() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
}
/* The same, for accesses to device memory as well. */
CROQ_DEVICE void fence_proxy_async_everywhere() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" : : : "memory");
#endif
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
