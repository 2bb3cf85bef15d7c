/* Which PTX the device executes, and what it says of itself. */
#include "check.h"

__global__ void which(int *to) {
#ifdef __CUDA_ARCH__
  *to = __CUDA_ARCH__;
#endif
}

int main() {
  int *to, architecture = 0, major = 0, shared = 0;
  OK(cudaMalloc(&to, sizeof *to));
  which<<<1, 1>>>(to);
  OK(cudaMemcpy(&architecture, to, sizeof *to, cudaMemcpyDeviceToHost));
  OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  OK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  std::printf("%d %d %d\n", architecture, major, shared / 1024);
  return finish();
}
