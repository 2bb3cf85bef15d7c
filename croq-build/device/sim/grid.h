/* The blocks of a grid that are all resident at once, waiting for each other; and launches that wait for the
 * host. */
#ifndef CROQ_SIM_GRID_H
#define CROQ_SIM_GRID_H

namespace croq {
inline namespace CROQ_TARGET {

/* Which launch: the runtime knows. */
struct grid_barrier {};

/* What any thread of the grid did before comes before what any does after. */
CROQ_FN void barrier_grid(context, grid_barrier, int line = __builtin_LINE()) { barrier_cluster(line); }

/* An event of the host, as a launch knows it: one that runs has all that it waits for. */
struct awaited {};
CROQ_FN void await(context, awaited, unsigned) {}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
