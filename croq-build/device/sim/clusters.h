/* Thread block clusters: positions, barriers, and mbarriers in the shared memory of other blocks of
 * the cluster. */
#ifndef CROQ_SIM_CLUSTERS_H
#define CROQ_SIM_CLUSTERS_H

namespace croq {
inline namespace CROQ_TARGET {

/* The cluster's extent in blocks along x, y or z. */
CROQ_FN croq_u32 cluster_extent(unsigned axis) { return current->cluster >> 8 * axis & 0xff; }
/* The block's position in its cluster. */
CROQ_FN idx cluster_x() { return current->block[0] % cluster_extent(0); }
CROQ_FN idx cluster_y() { return current->block[1] % cluster_extent(1); }
CROQ_FN idx cluster_z() { return current->block[2] % cluster_extent(2); }
/* The same as one number, x fastest. */
CROQ_FN unsigned cluster_rank() {
  return static_cast<unsigned>(
      cluster_x() + cluster_extent(0) * (cluster_y() + cluster_extent(1) * cluster_z()));
}

/* What this thread did before happens before what the others do after their `cluster_wait`. Each
 * thread of the cluster alternates between arriving and waiting. */
CROQ_FN void cluster_arrive(int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  sim_api()->cluster_barrier(self, CROQ_CLUSTER_ARRIVE, static_cast<croq_u32>(line));
  current = self;
}
CROQ_FN void cluster_wait(int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  sim_api()->cluster_barrier(self, CROQ_CLUSTER_WAIT, static_cast<croq_u32>(line));
  current = self;
}
CROQ_FN void barrier_cluster(int line = __builtin_LINE()) {
  cluster_arrive(line);
  cluster_wait(line);
}

/* Arrives at the same mbarrier of another block of the cluster. */
CROQ_OPERATION void mbarrier_arrive_remote(const mbarriers &all, idx slot, unsigned rank,
                                    int line = __builtin_LINE()) {
  croq_sim_thread *const self = current;
  const croq_sim_access access = all.at(slot, line);
  sim_api()->arrive_remote(self, &access, rank);
  current = self;
}
/* Arrives at this mbarrier of each of the cluster's blocks; `blocks` is their number. */
template <unsigned blocks>
CROQ_FN void mbarrier_arrive_cluster(const mbarriers &all, idx slot, int line = __builtin_LINE()) {
  for (unsigned rank = 0; rank < blocks; ++rank) mbarrier_arrive_remote(all, slot, rank, line);
}
/* The same where the thread's block has written nothing that other blocks may read after the wait. */
template <unsigned blocks>
CROQ_FN void mbarrier_arrive_cluster_read(const mbarriers &all, idx slot,
                                          int line = __builtin_LINE()) {
  mbarrier_arrive_cluster<blocks>(all, slot, line);
}
/* Each thread of the unit arrives, as in `mbarrier_arrive_by`. */
template <unsigned blocks, unsigned unit>
CROQ_FN void mbarrier_arrive_cluster_by(const mbarriers &all, idx slot, bool,
                                        int line = __builtin_LINE()) {
  mbarrier_arrive_cluster<blocks>(all, slot, line);
}
template <unsigned blocks, unsigned unit>
CROQ_FN void mbarrier_arrive_cluster_read_by(const mbarriers &all, idx slot, bool,
                                             int line = __builtin_LINE()) {
  mbarrier_arrive_cluster<blocks>(all, slot, line);
}
/* Waits until the phase is complete; then everything that threads of other blocks
 * did before they arrived is visible. */
CROQ_FN void mbarrier_wait_cluster(context ctx, const mbarriers &all, idx slot, awaited_phase what,
                                   int line = __builtin_LINE()) {
  mbarrier_wait(ctx, all, slot, what, line);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
