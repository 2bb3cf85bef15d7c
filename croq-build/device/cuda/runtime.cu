/* The CUDA runtime as a table of functions: croq-sys itself links without CUDA.
 *
 * Compiled once into a program's CUDA half, with -DCROQ_CUDA_TABLE=<name of the function>. */
#include "croq_abi.h"

#include <cuda_runtime.h>

namespace {

cudaStream_t stream_of(void *stream) { return static_cast<cudaStream_t>(stream); }

int device_count(int *count) { return cudaGetDeviceCount(count); }

int device_info(int device, croq_cuda_device_info *info) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  *info = {};
  for (unsigned i = 0; i + 1 < sizeof info->name && properties.name[i] != 0; ++i)
    info->name[i] = properties.name[i];
  info->major = static_cast<croq_u32>(properties.major);
  info->minor = static_cast<croq_u32>(properties.minor);
  info->memory_bytes = properties.totalGlobalMem;
  info->shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  info->multiprocessors = static_cast<croq_u32>(properties.multiProcessorCount);
  return cudaSuccess;
}

/* The memory pool of a device keeps freed memory. By default it returns all of it to the system at
 * every wait for a stream, and the next call must obtain it again. */
cudaError_t keep_freed_memory(int device) {
  static unsigned long long done;
  const unsigned long long bit = 1ull << (device & 63);
  if (device > 63 || (__atomic_load_n(&done, __ATOMIC_ACQUIRE) & bit) != 0) return cudaSuccess;
  cudaMemPool_t pool;
  cudaError_t error = cudaDeviceGetDefaultMemPool(&pool, device);
  if (error != cudaSuccess) return error;
  unsigned long long most = ~0ull;
  error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most);
  if (error == cudaSuccess) __atomic_fetch_or(&done, bit, __ATOMIC_RELEASE);
  return error;
}

int set_device(int device) {
  const cudaError_t error = cudaSetDevice(device);
  return error == cudaSuccess ? keep_freed_memory(device) : error;
}

/* Not ordered with the legacy default stream, which other libraries of the program may use. */
int stream_create(void **stream) {
  cudaStream_t made = nullptr;
  const cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
  *stream = made;
  return error;
}
int stream_destroy(void *stream) { return cudaStreamDestroy(stream_of(stream)); }
int stream_synchronize(void *stream) { return cudaStreamSynchronize(stream_of(stream)); }

/* Not an error, but CUDA keeps it as the last error, which would be reported for the next launch. */
int over_or_error(cudaError_t error, croq_u32 *over) {
  *over = error == cudaSuccess;
  if (error != cudaErrorNotReady) return error;
  if (cudaPeekAtLastError() == cudaErrorNotReady) cudaGetLastError();
  return cudaSuccess;
}

int stream_query(void *stream, croq_u32 *over) {
  return over_or_error(cudaStreamQuery(stream_of(stream)), over);
}

/* Not `cudaLaunchHostFunc`, whose function is not called after a failure: nobody would be told of it. */
int stream_add_callback(void *stream, void (*function)(void *stream, int error, void *data),
                        void *data) {
  const auto callback = reinterpret_cast<cudaStreamCallback_t>(function);
  return cudaStreamAddCallback(stream_of(stream), callback, data, 0);
}

cudaEvent_t event_of(void *event) { return static_cast<cudaEvent_t>(event); }

int stream_wait_event(void *stream, void *event) {
  return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0);
}
int record(void **event, void *stream, unsigned flags) {
  cudaEvent_t made = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&made, flags);
  if (error != cudaSuccess) return error;
  error = cudaEventRecord(made, stream_of(stream));
  if (error != cudaSuccess) {
    cudaEventDestroy(made);
    return error;
  }
  *event = made;
  return cudaSuccess;
}
int event_record(void **event, void *stream) {
  return record(event, stream, cudaEventDisableTiming);
}
int event_record_timed(void **event, void *stream) {
  return record(event, stream, cudaEventDefault);
}
int event_elapsed(float *milliseconds, void *from, void *to) {
  return cudaEventElapsedTime(milliseconds, event_of(from), event_of(to));
}
int event_query(void *event, croq_u32 *over) {
  return over_or_error(cudaEventQuery(event_of(event)), over);
}
int event_synchronize(void *event) { return cudaEventSynchronize(event_of(event)); }
int event_destroy(void *event) { return cudaEventDestroy(event_of(event)); }

int malloc_async(void **memory, croq_u64 bytes, void *stream) {
  return cudaMallocAsync(memory, bytes, stream_of(stream));
}
int free_async(void *memory, void *stream) { return cudaFreeAsync(memory, stream_of(stream)); }

int copy_to_device(void *dst, const void *src, croq_u64 bytes, void *stream) {
  return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, stream_of(stream));
}
int copy_to_host(void *dst, const void *src, croq_u64 bytes, void *stream) {
  return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream_of(stream));
}
int copy_on_device(void *dst, const void *src, croq_u64 bytes, void *stream) {
  return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream_of(stream));
}
int copy_rows_on_device(void *dst, croq_u64 dst_pitch, const void *src, croq_u64 src_pitch,
                        croq_u64 width, croq_u64 height, void *stream) {
  return cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, cudaMemcpyDeviceToDevice,
                           stream_of(stream));
}
int copy_to_peer(void *dst, int dst_device, const void *src, int src_device, croq_u64 bytes,
                 void *stream) {
  return cudaMemcpyPeerAsync(dst, dst_device, src, src_device, bytes, stream_of(stream));
}
int memset_async(void *dst, int byte, croq_u64 bytes, void *stream) {
  return cudaMemsetAsync(dst, byte, bytes, stream_of(stream));
}

int host_alloc_mapped(void **host, void **device, croq_u64 bytes) {
  const cudaError_t error = cudaHostAlloc(host, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
  if (error != cudaSuccess) return error;
  return cudaHostGetDevicePointer(device, *host, 0);
}
int host_free(void *host) { return cudaFreeHost(host); }

/* Relaxed: other threads, and operations on other streams, are not restricted meanwhile. */
int graph_begin(void *stream) {
  return cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeRelaxed);
}
int graph_end(void *stream, void **graph) {
  *graph = nullptr;
  cudaGraph_t recorded = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream_of(stream), &recorded);
  if (error != cudaSuccess) return error;
  cudaGraphExec_t made = nullptr;
  error = cudaGraphInstantiate(&made, recorded, 0);
  cudaGraphDestroy(recorded);
  if (error == cudaSuccess) *graph = made;
  return error;
}
cudaGraphExec_t graph_of(void *graph) { return static_cast<cudaGraphExec_t>(graph); }
int graph_launch(void *graph, void *stream) {
  return cudaGraphLaunch(graph_of(graph), stream_of(stream));
}
int graph_destroy(void *graph) { return cudaGraphExecDestroy(graph_of(graph)); }

const char *error_string(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

const croq_cuda_api table = {
    CROQ_ABI_VERSION,
    CUDART_VERSION,
    device_count,
    device_info,
    set_device,
    stream_create,
    stream_destroy,
    stream_synchronize,
    stream_query,
    stream_add_callback,
    stream_wait_event,
    event_record,
    event_record_timed,
    event_elapsed,
    event_query,
    event_synchronize,
    event_destroy,
    malloc_async,
    free_async,
    copy_to_device,
    copy_to_host,
    copy_on_device,
    copy_rows_on_device,
    copy_to_peer,
    memset_async,
    host_alloc_mapped,
    host_free,
    graph_begin,
    graph_end,
    graph_launch,
    graph_destroy,
    error_string,
};

}  // namespace

extern "C" __attribute__((weak)) const croq_cuda_api *CROQ_CUDA_TABLE(void) { return &table; }
