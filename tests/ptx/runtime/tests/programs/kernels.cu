/* Kernels with results that the host computes, too. */
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

__global__ void axpy(float a, const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void product(const float *a, const float *b, float *c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__global__ void row_sums(const int *x, int *sums, int columns) {
  extern __shared__ int part[];
  int sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[blockIdx.x * columns + i];
  part[threadIdx.x] = sum;
  for (int reach = blockDim.x / 2; reach > 0; reach /= 2) {
    __syncthreads();
    if (threadIdx.x < reach) part[threadIdx.x] += part[threadIdx.x + reach];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__device__ int counters[4];
__constant__ int steps[4];

__global__ void count() { atomicAdd(&counters[threadIdx.x % 4], steps[threadIdx.x % 4]); }

__global__ void greet(int n, const char *) { printf("thread %d of %d: %.2f\n", threadIdx.x, n, 0.25 * threadIdx.x); }

/* Waits for the host, then stores what it found. */
__global__ void await(const volatile int *flag, const volatile int *data, int *out) {
  while (*flag == 0) __nanosleep(100);
  *out = *data;
}

/* Each block waits for all others. */
__global__ void meet(unsigned *arrived, int *out) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned *>(arrived) < gridDim.x) __nanosleep(100);
    out[blockIdx.x] = *arrived;
  }
}

template <class T> static T *upload(const std::vector<T> &values) {
  T *memory = nullptr;
  OK(cudaMalloc(&memory, values.size() * sizeof(T)));
  OK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

template <class T> static std::vector<T> download(const T *memory, size_t count) {
  std::vector<T> values(count);
  OK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

static void elementwise_and_products() {
  const int n = 50;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i % 7 - 3, b[i] = i % 5 - 2;
  float *const da = upload(a), *const db = upload(b), *dc;
  OK(cudaMalloc(&dc, n * n * sizeof(float)));
  product<<<dim3(4, 7), dim3(16, 8)>>>(da, db, dc, n);
  OK(cudaGetLastError());
  const std::vector<float> c = download(dc, n * n);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      CHECK(c[row * n + column] == sum);
    }
  axpy<<<(n * n + 63) / 64, 64>>>(2.0f, da, db, n * n);
  const std::vector<float> y = download(db, n * n);
  for (int i = 0; i < n * n; ++i) CHECK(y[i] == b[i] + 2 * a[i]);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(dc));
  GIVES(cudaErrorInvalidValue, cudaFree(dc));
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
}

static void reductions_and_atomics() {
  const int rows = 5, columns = 1000;
  std::vector<int> x(rows * columns);
  for (int i = 0; i < rows * columns; ++i) x[i] = i * 37 % 101;
  int *const dx = upload(x), *sums;
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMallocAsync(&sums, rows * sizeof(int), stream));
  row_sums<<<rows, 128, 128 * sizeof(int), stream>>>(dx, sums, columns);
  int *pinned;
  OK(cudaMallocHost(&pinned, rows * sizeof(int)));
  OK(cudaMemcpyAsync(pinned, sums, rows * sizeof(int), cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(sums, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaStreamQuery(stream));
  for (int row = 0; row < rows; ++row) {
    int sum = 0;
    for (int i = 0; i < columns; ++i) sum += x[row * columns + i];
    CHECK(pinned[row] == sum);
  }
  OK(cudaFreeHost(pinned));
  OK(cudaStreamDestroy(stream));
  const int by[4] = {1, 10, 100, 1000};
  OK(cudaMemcpyToSymbol(steps, by, sizeof by));
  count<<<3, 32>>>();
  int found[4], *address;
  OK(cudaMemcpyFromSymbol(found, counters, sizeof found));
  for (int i = 0; i < 4; ++i) CHECK(found[i] == 24 * by[i]);
  OK(cudaGetSymbolAddress(reinterpret_cast<void **>(&address), counters));
  OK(cudaMemset(address, 0, 8));
  OK(cudaMemcpyFromSymbol(found, counters, 8, 4));
  CHECK(found[0] == 0 && found[1] == 2400);
}

static void the_host_and_kernels() {
  int *shared, *seen, *out;
  OK(cudaHostAlloc(&shared, 8, cudaHostAllocMapped));
  std::memset(shared, 0, 8);
  OK(cudaHostGetDevicePointer(reinterpret_cast<void **>(&seen), shared, 0));
  OK(cudaMalloc(&out, 64));
  cudaStream_t one, other;
  OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  await<<<1, 1, 0, one>>>(seen, seen + 1, out);
  cudaEvent_t event;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  OK(cudaEventRecord(event, one));
  GIVES(cudaErrorNotReady, cudaEventQuery(event));
  cudaGetLastError();
  /* Another stream is not delayed by it. */
  axpy<<<1, 1, 0, other>>>(1.0f, reinterpret_cast<float *>(out), reinterpret_cast<float *>(out), 0);
  OK(cudaStreamSynchronize(other));
  OK(cudaStreamWaitEvent(other, event));
  int late = 0;
  OK(cudaMemcpyAsync(out + 1, out, 4, cudaMemcpyDeviceToDevice, other));
  shared[1] = 42;
  __atomic_store_n(shared, 1, __ATOMIC_RELEASE);
  OK(cudaStreamSynchronize(other));
  OK(cudaEventQuery(event));
  OK(cudaMemcpy(&late, out + 1, 4, cudaMemcpyDeviceToHost));
  CHECK(late == 42);
  OK(cudaEventDestroy(event));
  OK(cudaFreeHost(shared));
}

static void cooperation() {
  const int blocks = 20;
  unsigned *arrived;
  int *out;
  OK(cudaMalloc(&arrived, 4));
  OK(cudaMemset(arrived, 0, 4));
  OK(cudaMalloc(&out, blocks * 4));
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaLaunchKernelEx(&config, meet, arrived, out));
  for (const int seen : download(out, blocks)) CHECK(seen == blocks);
  config.gridDim = 132 * 32 + 1;
  GIVES(cudaErrorCooperativeLaunchTooLarge, cudaLaunchKernelEx(&config, meet, arrived, out));
  GIVES(cudaErrorCooperativeLaunchTooLarge, cudaGetLastError());
}

static void threads_of_the_host() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      const std::vector<float> x(100, t + 1.0f);
      float *const memory = upload(x);
      for (int i = 0; i < 5; ++i) axpy<<<2, 64>>>(1.0f, memory, memory, 100);
      OK(cudaGetLastError());
      for (const float y : download(memory, 100)) CHECK(y == 32.0f * (t + 1));
    });
  for (std::thread &thread : threads) thread.join();
}

int main() {
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  CHECK(devices == 1 && properties.major == 9 && properties.minor == 0);
  CHECK(properties.multiProcessorCount == 132 && properties.sharedMemPerBlockOptin == 232448);
  elementwise_and_products();
  reductions_and_atomics();
  the_host_and_kernels();
  cooperation();
  threads_of_the_host();
  greet<<<1, 2>>>(7, "");
  OK(cudaDeviceSynchronize());
  return finish();
}
