/* Thread block clusters (sm_90): positions, barriers, and mbarriers in the shared memory of other
 * blocks of the cluster. */
#ifndef CROQ_CUDA_CLUSTERS_H
#define CROQ_CUDA_CLUSTERS_H

namespace croq {
inline namespace CROQ_TARGET {

/* A special register; 0 before sm_90, where each block is a cluster. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CROQ_SPECIAL(name)                                                                         \
  unsigned value;                                                                                  \
  asm("mov.u32 %0, %" name ";" : "=r"(value));                                                     \
  return value
#else
#define CROQ_SPECIAL(name) return 0
#endif
/* The block's position in its cluster. */
CROQ_DEVICE idx cluster_x() { CROQ_SPECIAL("%cluster_ctaid.x"); }
CROQ_DEVICE idx cluster_y() { CROQ_SPECIAL("%cluster_ctaid.y"); }
CROQ_DEVICE idx cluster_z() { CROQ_SPECIAL("%cluster_ctaid.z"); }
/* The same as one number, x fastest. */
CROQ_DEVICE unsigned cluster_rank() { CROQ_SPECIAL("%cluster_ctarank"); }
#undef CROQ_SPECIAL

/* What this thread did before happens before what the others do after their `cluster_wait`. Each
 * thread of the cluster alternates between arriving and waiting. */
CROQ_DEVICE void cluster_arrive() {
  CROQ_SM_90(asm volatile("barrier.cluster.arrive.release;" : : : "memory"));
}
CROQ_DEVICE void cluster_wait() {
  CROQ_SM_90(asm volatile("barrier.cluster.wait.acquire;" : : : "memory"));
}
CROQ_DEVICE void barrier_cluster() {
  cluster_arrive();
  cluster_wait();
}

#define CROQ_ARRIVE_THERE(how)                                                                     \
  CROQ_SM_90(asm volatile("{\n"                                                                    \
                          ".reg .b32 there;\n"                                                     \
                          "mapa.shared::cluster.u32 there, %0, %1;\n"                              \
                          "mbarrier.arrive" how ".shared::cluster.b64 _, [there];\n"               \
                          "}"                                                                      \
                          :                                                                        \
                          : "r"(all.at(slot)), "r"(rank)                                           \
                          : "memory"))
/* Arrives at the same mbarrier of another block of the cluster. */
CROQ_DEVICE void mbarrier_arrive_remote([[maybe_unused]] mbarriers all, [[maybe_unused]] idx slot,
                                        [[maybe_unused]] unsigned rank) {
  CROQ_ARRIVE_THERE(".release.cluster");
}
/* The same where the thread's block has written nothing that other blocks may read after the wait. It is
 * a release at the scope of the block, which orders reads alone for other blocks. At the scope of the
 * cluster each arrival waits until the thread's writes are visible to the whole GPU. */
CROQ_DEVICE void mbarrier_arrive_remote_read([[maybe_unused]] mbarriers all, [[maybe_unused]] idx slot,
                                             [[maybe_unused]] unsigned rank) {
  CROQ_ARRIVE_THERE("");
}
#undef CROQ_ARRIVE_THERE
/* Arrives at this mbarrier of each of the cluster's blocks; `blocks` is their number. The first block,
 * which loads for all where they do not share the load, is the last one. */
template <unsigned blocks>
CROQ_DEVICE void mbarrier_arrive_cluster(mbarriers all, idx slot) {
#pragma unroll
  for (unsigned rank = blocks; rank-- > 0;) mbarrier_arrive_remote(all, slot, rank);
}
template <unsigned blocks>
CROQ_DEVICE void mbarrier_arrive_cluster_read(mbarriers all, idx slot) {
#pragma unroll
  for (unsigned rank = blocks; rank-- > 0;) mbarrier_arrive_remote_read(all, slot, rank);
}
/* The same by the `leader` of a unit, for all its threads; `mbarrier_arrive_by` has the conditions. */
#define CROQ_ARRIVE_THERE_BY(how)                                                                  \
  CROQ_SM_90(asm volatile("{\n"                                                                    \
                          ".reg .b32 there;\n"                                                     \
                          "mapa.shared::cluster.u32 there, %0, %1;\n"                              \
                          "mbarrier.arrive" how ".shared::cluster.b64 _, [there], %2;\n"           \
                          "}"                                                                      \
                          :                                                                        \
                          : "r"(all.at(slot)), "r"(rank), "n"(unit)                                \
                          : "memory"))
template <unsigned blocks, unsigned unit>
CROQ_DEVICE void mbarrier_arrive_cluster_by([[maybe_unused]] mbarriers all,
                                            [[maybe_unused]] idx slot,
                                            [[maybe_unused]] bool leader) {
  if constexpr (unit == 32) __syncwarp();
  if (!leader) return;
#pragma unroll
  for (unsigned rank = blocks; rank-- > 0;) CROQ_ARRIVE_THERE_BY(".release.cluster");
}
template <unsigned blocks, unsigned unit>
CROQ_DEVICE void mbarrier_arrive_cluster_read_by([[maybe_unused]] mbarriers all,
                                                 [[maybe_unused]] idx slot,
                                                 [[maybe_unused]] bool leader) {
  if constexpr (unit == 32) __syncwarp();
  if (!leader) return;
#pragma unroll
  for (unsigned rank = blocks; rank-- > 0;) CROQ_ARRIVE_THERE_BY("");
}
#undef CROQ_ARRIVE_THERE_BY
/* Whether the phase of this parity is complete. If it is, everything that threads of other blocks
 * did before they arrived is visible. */
CROQ_DEVICE bool mbarrier_try_wait_cluster([[maybe_unused]] mbarriers all, [[maybe_unused]] idx slot,
                                           [[maybe_unused]] unsigned parity) {
  unsigned over = 0;
  CROQ_SM_90(asm volatile("{\n"
                          ".reg .pred p;\n"
                          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                          "selp.u32 %0, 1, 0, p;\n"
                          "}"
                          : "=r"(over)
                          : "r"(all.at(slot)), "r"(parity)
                          : "memory"));
  return over != 0;
}
/* Waits until it is complete. */
CROQ_DEVICE void mbarrier_wait_cluster(context ctx, mbarriers all, idx slot, unsigned parity,
                                       int line = __builtin_LINE()) {
  wait_timer timer;
  while (!mbarrier_try_wait_cluster(all, slot, parity))
    timer.failed_try(ctx, CROQ_WAIT_MBARRIER, line);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
