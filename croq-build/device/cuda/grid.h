/* Barriers of a grid whose blocks are all resident, and launches that wait for the host. */
#ifndef CROQ_CUDA_GRID_H
#define CROQ_CUDA_GRID_H

namespace croq {
inline namespace CROQ_TARGET {

/* A word of device memory that only this launch uses. The highest bit changes when all blocks have
 * arrived; the other bits count arrivals, and are 0 before and after. */
struct grid_barrier {
  unsigned *arrivals;
};

/* Everything that any thread of the grid did before happens before everything that any thread does
 * after. The first thread of each block releases and acquires the word with device scope; block
 * barriers before and after extend the order to the other threads. */
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

/* An event of the host in device code: the address of the host's number of triggers, and the number
 * of waits by earlier launches. */
struct awaited {
  const unsigned *triggered;
  unsigned before;
};

/* Waits until the host has triggered the event once more than the number of waits so far: those of
 * earlier launches plus `ordinal` of this one. Called by one thread; the others wait for it at a
 * barrier. */
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
