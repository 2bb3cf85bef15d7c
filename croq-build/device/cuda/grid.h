/* The blocks of a grid that are all resident at once, waiting for each other; and launches that wait for the
 * host. */
#ifndef CROQ_CUDA_GRID_H
#define CROQ_CUDA_GRID_H

namespace croq {
inline namespace CROQ_TARGET {

/* A word of device memory, of the launch alone. The highest bit changes when all blocks have come; the rest,
 * which counts them, is 0 before and after. */
struct grid_barrier {
  unsigned *arrivals;
};

/* What any thread of the grid did before comes before what any does after: the barriers of the blocks hand it to
 * their first threads and back, which release and acquire it for the whole device. Only these look at the word. */
CROQ_DEVICE void barrier_grid(context ctx, grid_barrier all, int line = __builtin_LINE()) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned top = 0x80000000u, blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
    unsigned before, now;
    asm volatile("atom.release.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(all.arrivals), "r"(first ? top - (blocks - 1) : 1u)
                 : "memory");
    wait_timer timer;
    for (;;) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(all.arrivals) : "memory");
      if (((before ^ now) & top) != 0) break;
      timer.failed_try(ctx, CROQ_WAIT_GRID, line);
    }
  }
  __syncthreads();
}

/* An event of the host, as a launch knows it: where the host says how often it has triggered, and how often
 * launches before have waited. */
struct awaited {
  const unsigned *triggered;
  unsigned before;
};

/* Until the host has triggered once more than launches before this one, and this one `ordinal` times, have waited.
 * By one thread; the others wait for it. */
CROQ_DEVICE void await(context ctx, awaited e, unsigned ordinal, int line = __builtin_LINE()) {
  unsigned now;
  wait_timer timer;
  for (;;) {
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(e.triggered) : "memory");
    if (static_cast<int>(now - e.before - ordinal) > 0) break;
    timer.failed_try(ctx, CROQ_WAIT_HOST, line);
    __nanosleep(200);
  }
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
