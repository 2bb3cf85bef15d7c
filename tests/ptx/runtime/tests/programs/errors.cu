/* Errors as the CUDA runtime API documents them. */
#include <atomic>
#include <cstring>
#include <thread>

#include "check.h"

__global__ void fills(int *x, int n) {
  extern __shared__ int part[];
  part[n - 1] = 7;
  x[0] = part[n - 1];
}
__global__ void __launch_bounds__(64) bounded(int *x) { x[threadIdx.x] = 1; }
__global__ void has_static(int *x) {
  __shared__ int part[2048];
  part[threadIdx.x] = 1;
  x[0] = part[0];
}
/* Writes to mapped host memory before it traps. */
__global__ void traps(int *record, int line) {
  record[1] = line;
  __threadfence_system();
  record[0] = 1;
  __trap();
}

static void last_errors(int *x) {
  GIVES(cudaErrorInvalidValue, cudaMemcpy(x, nullptr, 4, cudaMemcpyHostToDevice));
  GIVES(cudaErrorInvalidValue, cudaPeekAtLastError());
  /* A launch that succeeds does not clear it, so its error check finds the error of an earlier call. */
  bounded<<<1, 64>>>(x);
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaGetLastError());
  GIVES(cudaErrorMemoryAllocation, cudaMalloc(&x, size_t(1) << 45));
  CHECK(std::strcmp(cudaGetErrorString(cudaGetLastError()), "out of memory") == 0);
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0);
  GIVES(cudaErrorInvalidDevice, cudaSetDevice(1));
  GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(&x)));
  GIVES(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

static void configurations(int *x) {
  bounded<<<0, 1>>>(x);
  GIVES(cudaErrorInvalidConfiguration, cudaGetLastError());
  bounded<<<1, 1025>>>(x);
  GIVES(cudaErrorInvalidConfiguration, cudaGetLastError());
  bounded<<<dim3(1, 65536), 1>>>(x);
  GIVES(cudaErrorInvalidConfiguration, cudaGetLastError());
  bounded<<<1, dim3(1, 1, 65)>>>(x);
  GIVES(cudaErrorInvalidConfiguration, cudaGetLastError());
  /* More threads than its launch bounds. */
  bounded<<<1, 96>>>(x);
  GIVES(cudaErrorLaunchOutOfResources, cudaGetLastError());
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {9, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = 18;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  GIVES(cudaErrorInvalidClusterSize, cudaLaunchKernelEx(&config, bounded, x));
  attribute.val.clusterDim = {4, 1, 1};
  GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernelEx(&config, bounded, x));
  cudaGetLastError();
  GIVES(cudaErrorInvalidDeviceFunction, cudaFuncSetAttribute(&last_errors, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  cudaGetLastError();
}

static void shared_memory(int *x) {
  const int most = 227 * 1024, usual = 48 * 1024;
  cudaFuncAttributes found;
  OK(cudaFuncGetAttributes(&found, fills));
  CHECK(found.maxDynamicSharedSizeBytes == usual && found.sharedSizeBytes == 0);
  CHECK(found.ptxVersion == 90 && found.binaryVersion == 90 && found.maxThreadsPerBlock == 1024);
  fills<<<1, 1, usual>>>(x, usual / 4);
  OK(cudaGetLastError());
  fills<<<1, 1, usual + 4>>>(x, usual / 4 + 1);
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  fills<<<1, 1, most>>>(x, most / 4);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  /* The attribute persists, until another call lowers it. */
  OK(cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000));
  fills<<<1, 1, 50004>>>(x, 1);
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
  GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute(fills, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
  GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute(has_static, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  OK(cudaFuncSetAttribute(has_static, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 8192));
  OK(cudaFuncGetAttributes(&found, has_static));
  CHECK(found.maxDynamicSharedSizeBytes == most - 8192 && found.sharedSizeBytes == 8192);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, has_static, 64, most - 8192));
  CHECK(blocks == 1);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 64, 0));
  CHECK(blocks == 4);
  cudaGetLastError();
}

static void the_pool() {
  cudaMemPool_t pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long most = ~0ull, reserved = 0;
  for (const bool keeps : {false, true}) {
    if (keeps) OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most));
    void *memory;
    OK(cudaMallocAsync(&memory, 4096, nullptr));
    OK(cudaFreeAsync(memory, nullptr));
    OK(cudaStreamSynchronize(nullptr));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    CHECK(reserved == (keeps ? 4096 : 0));
  }
}

static int called, last_status;
static void CUDART_CB is_called(cudaStream_t, cudaError_t status, void *data) {
  last_status = status;
  ++*static_cast<int *>(data);
}
static void CUDART_CB counts(void *data) { ++*static_cast<int *>(data); }
static void CUDART_CB waits(void *data) {
  while (!static_cast<std::atomic<bool> *>(data)->load()) std::this_thread::yield();
}

static void callbacks() {
  GIVES(cudaErrorInvalidValue, cudaStreamAddCallback(nullptr, is_called, &called, 1));
  OK(cudaStreamAddCallback(nullptr, is_called, &called, 0));
  OK(cudaStreamSynchronize(nullptr));
  CHECK(called == 1 && last_status == cudaSuccess);
}

/* Rows of columns 1 and 2 of a matrix with 4 columns. */
static void rows(int *x) {
  int all[12], part[6] = {};
  for (int i = 0; i < 12; ++i) all[i] = i;
  OK(cudaMemcpy(x, all, sizeof all, cudaMemcpyHostToDevice));
  GIVES(cudaErrorInvalidPitchValue,
        cudaMemcpy2DAsync(x + 16, 4, x + 1, 16, 8, 3, cudaMemcpyDeviceToDevice, nullptr));
  OK(cudaMemcpy2DAsync(x + 16, 8, x + 1, 16, 8, 3, cudaMemcpyDeviceToDevice, nullptr));
  OK(cudaMemcpy(part, x + 16, sizeof part, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 6; ++i) CHECK(part[i] == i / 2 * 4 + i % 2 + 1);
}

/* The last: nothing works after it. */
static void a_trap(int *x) {
  int *record, value = 0;
  OK(cudaHostAlloc(&record, 8, cudaHostAllocMapped));
  record[0] = record[1] = 0;
  /* Any later call may be the first to return the failure. */
  static int host_calls;
  static std::atomic<bool> enqueued;
  OK(cudaLaunchHostFunc(nullptr, waits, &enqueued));
  traps<<<1, 32>>>(record, 17);
  OK(cudaLaunchHostFunc(nullptr, counts, &host_calls));
  OK(cudaStreamAddCallback(nullptr, is_called, &called, 0));
  enqueued = true;
  GIVES(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  CHECK(record[0] == 1 && record[1] == 17);
  /* Only this one is told of a failure. */
  CHECK(host_calls == 0 && called == 2 && last_status == cudaErrorLaunchFailure);
  GIVES(cudaErrorLaunchFailure, cudaGetLastError());
  GIVES(cudaErrorLaunchFailure, cudaGetLastError());
  GIVES(cudaErrorLaunchFailure, cudaSetDevice(0));
  GIVES(cudaErrorLaunchFailure, cudaMalloc(&record, 4));
  GIVES(cudaErrorLaunchFailure, cudaMemcpy(&value, x, 4, cudaMemcpyDeviceToHost));
  bounded<<<1, 1>>>(x);
  GIVES(cudaErrorLaunchFailure, cudaGetLastError());
}

int main() {
  int *x;
  OK(cudaMalloc(&x, 4096));
  last_errors(x);
  configurations(x);
  shared_memory(x);
  the_pool();
  callbacks();
  rows(x);
  a_trap(x);
  return finish();
}
