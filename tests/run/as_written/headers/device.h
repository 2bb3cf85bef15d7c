/* Functions of a namespace, which kernels call by their plain names. */
#ifndef WRITTEN_DEVICE_H
#define WRITTEN_DEVICE_H

namespace written {
__device__ inline int outer(int v) { return v + 100; }
/* Runs on CUDA only. */
__device__ inline unsigned lane_of_header() {
  unsigned lane;
  if (sizeof(lane) == 4) asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  else lane = 0;
  return lane;
}
__device__ inline unsigned negated_by_header(unsigned v) {
  asm("not.b32 %0, %0;" : "+r"(v));
  return v;
}
namespace device {
__device__ inline int folded(int v) { return v < 0 ? -v : v; }
template <class T> __device__ T twice(T v) { return v + v; }
}  // namespace device
}  // namespace written

#endif
