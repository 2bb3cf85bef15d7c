/* Kernels that CROQ_PTX_CHECKS is about; the argument says which. */
#include <cstring>

#include "check.h"

__global__ void race(int *to) { *to = threadIdx.x; }

__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void some(int *to, unsigned count) {
  if (threadIdx.x < count) to[threadIdx.x] = 1;
}

int main(int, char **arguments) {
  int *first, *second, *last;
  OK(cudaMalloc(&first, 64));
  OK(cudaMalloc(&second, 64));
  OK(cudaMalloc(&last, 64));
  if (std::strcmp(arguments[1], "race") == 0) {
    race<<<1, 64>>>(first);
  } else if (std::strcmp(arguments[1], "fetched") == 0) {
    int fetched[16];
    some<<<1, 16>>>(first, 16);
    OK(cudaMemcpy(fetched, first, 64, cudaMemcpyDeviceToHost));
    some<<<1, 16>>>(second, 15);
    OK(cudaMemcpy(fetched, second, 60, cudaMemcpyDeviceToHost));
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy(fetched, second, 64, cudaMemcpyDeviceToHost)));
  } else {
    if (std::strcmp(arguments[1], "filled") == 0) OK(cudaMemset(first, 0, 64));
    /* A copy of unwritten bytes is unwritten. */
    OK(cudaMemcpy(second, first, 64, cudaMemcpyDeviceToDevice));
    copy<<<1, 16>>>(last, second);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return finish();
}
