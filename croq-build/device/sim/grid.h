/* Barriers of a grid whose blocks are all resident, and launches that wait for the host. */
#ifndef CROQ_SIM_GRID_H
#define CROQ_SIM_GRID_H

namespace croq {
inline namespace CROQ_TARGET {

/* Empty: the runtime knows which launch a thread belongs to. */
struct grid_barrier {};

/* Everything that any thread of the grid did before happens before everything that any thread does
 * after. */
CROQ_FN void barrier_grid(context, grid_barrier, int line = __builtin_LINE()) { barrier_cluster(line); }

/* An event of the host in device code. Empty: a launch does not start before its events are
 * triggered. */
struct awaited {};
CROQ_FN void await(context, awaited, unsigned) {}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
