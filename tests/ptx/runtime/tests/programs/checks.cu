/* Kernels that CROQ_PTX_CHECKS is about; the argument says which. */
#include <cstring>

#include "check.h"

__global__ void race(int *to) { *to = threadIdx.x; }

__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

int main(int, char **arguments) {
  int *first, *second, *last;
  OK(cudaMalloc(&first, 64));
  OK(cudaMalloc(&second, 64));
  OK(cudaMalloc(&last, 64));
  if (std::strcmp(arguments[1], "race") == 0) {
    race<<<1, 64>>>(first);
  } else {
    if (std::strcmp(arguments[1], "filled") == 0) OK(cudaMemset(first, 0, 64));
    /* A copy of unwritten bytes is unwritten. */
    OK(cudaMemcpy(second, first, 64, cudaMemcpyDeviceToDevice));
    copy<<<1, 16>>>(last, second);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return finish();
}
