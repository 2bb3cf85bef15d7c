/* `libcudart_static.a` of the test toolkit: the functions of the CUDA runtime, which call those of
 * the PTX machine's shared library. Structures of CUDA are read and filled here, as the headers of the
 * toolkit define them.
 *
 * The library is opened at the first call: $CROQ_PTX_RUNTIME, or the file that CROQ_PTX_LIBRARY names
 * at compile time. A program without it runs, but has no CUDA device; with CROQ_PTX_RUNTIME=off that is
 * no error. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CROQ_PTX_LIBRARY
#error "CROQ_PTX_LIBRARY is the path of the shared library"
#endif

static void *library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_library(void) {
  const char *path = getenv("CROQ_PTX_RUNTIME");
  if (path == NULL || path[0] == 0) path = CROQ_PTX_LIBRARY;
  if (strcmp(path, "off") == 0) return;
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "PTX machine: no CUDA device: %s\n", dlerror());
}

static void *find(const char *name) {
  pthread_once(&opened, open_library);
  if (library == NULL) return NULL;
  void *const found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "PTX machine: the library has no function %s\n", name);
  return found;
}

/* Calls a function of the library; its type is that of `name`'s declaration here. */
#define LIBRARY(type, name, parameters, arguments, missing)                                        \
  static type name parameters {                                                                    \
    static type(*found) parameters;                                                                \
    if (found == NULL) found = (type(*) parameters)find(#name);                                    \
    if (found == NULL) return missing;                                                             \
    return found arguments;                                                                        \
  }
#define CALLS(name, parameters, arguments)                                                         \
  LIBRARY(cudaError_t, name, parameters, arguments, cudaErrorInsufficientDriver)
/* A function of CUDA with the same parameters. */
#define FORWARD(name, parameters, arguments)                                                       \
  CALLS(ptxrt_##name, parameters, arguments)                                                       \
  cudaError_t name parameters { return ptxrt_##name arguments; }

/* Errors */

FORWARD(cudaGetLastError, (void), ())
FORWARD(cudaPeekAtLastError, (void), ())
LIBRARY(const char *, ptxrt_cudaGetErrorString, (cudaError_t code), (code),
        "the PTX machine's library is missing")
const char *cudaGetErrorString(cudaError_t code) { return ptxrt_cudaGetErrorString(code); }
LIBRARY(const char *, ptxrt_cudaGetErrorName, (cudaError_t code), (code), "unknown")
const char *cudaGetErrorName(cudaError_t code) { return ptxrt_cudaGetErrorName(code); }

/* Devices: there is one. */

FORWARD(cudaSetDevice, (int device), (device))
FORWARD(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
        (value, attribute, device))
FORWARD(cudaDeviceSynchronize, (void), ())
LIBRARY(const char *, ptxrt_name, (void), (), NULL)

cudaError_t cudaGetDeviceCount(int *count) {
  *count = ptxrt_name() != NULL;
  return *count == 1 ? cudaSuccess : cudaErrorInsufficientDriver;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return ptxrt_name() != NULL ? cudaSuccess : cudaErrorInsufficientDriver;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
  *version = ptxrt_name() != NULL ? CUDART_VERSION : 0;
  return cudaSuccess;
}

CALLS(ptxrt_cudaMemGetInfo, (size_t *available, size_t *total), (available, total))
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  return ptxrt_cudaMemGetInfo(available, total);
}

static int attribute(enum cudaDeviceAttr number) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, number, 0) == cudaSuccess ? value : 0;
}

static cudaError_t fill_properties(struct cudaDeviceProp *p) {
  const char *const name = ptxrt_name();
  if (name == NULL) return cudaErrorInsufficientDriver;
  memset(p, 0, sizeof *p);
  strncpy(p->name, name, sizeof p->name - 1);
  p->totalGlobalMem = (size_t)80 << 30;
  p->sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
  p->warpSize = attribute(cudaDevAttrWarpSize);
  p->memPitch = attribute(cudaDevAttrMaxPitch);
  p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = attribute((enum cudaDeviceAttr)(cudaDevAttrMaxBlockDimX + i));
    p->maxGridSize[i] = attribute((enum cudaDeviceAttr)(cudaDevAttrMaxGridDimX + i));
  }
  p->totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
  p->major = attribute(cudaDevAttrComputeCapabilityMajor);
  p->minor = attribute(cudaDevAttrComputeCapabilityMinor);
  p->textureAlignment = attribute(cudaDevAttrTextureAlignment);
  p->texturePitchAlignment = attribute(cudaDevAttrTexturePitchAlignment);
  p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
  p->canMapHostMemory = 1;
  p->surfaceAlignment = attribute(cudaDevAttrSurfaceAlignment);
  p->concurrentKernels = 1;
  p->asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
  p->unifiedAddressing = 1;
  p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
  p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
  p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = 1;
  p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
  p->cooperativeLaunch = 1;
  p->sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  p->reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  p->canUseHostPointerForRegisteredMem = 1;
  p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
#if CUDART_VERSION >= 12000
  p->clusterLaunch = 1;
#endif
  return cudaSuccess;
}

/* CUDA 12 renames it by a macro. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  return device == 0 ? fill_properties(properties) : cudaErrorInvalidDevice;
}

/* Memory */

#define ADDRESS(name, parameters, arguments)                                                       \
  CALLS(ptxrt_##name, parameters, arguments)                                                       \
  cudaError_t name parameters { return ptxrt_##name arguments; }

ADDRESS(cudaMalloc, (void **memory, size_t bytes), (memory, bytes))
ADDRESS(cudaFree, (void *memory), (memory))
ADDRESS(cudaMallocAsync, (void **memory, size_t bytes, cudaStream_t stream),
        (memory, bytes, stream))
ADDRESS(cudaFreeAsync, (void *memory, cudaStream_t stream), (memory, stream))
ADDRESS(cudaHostAlloc, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
ADDRESS(cudaFreeHost, (void *memory), (memory))
ADDRESS(cudaHostRegister, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags))
ADDRESS(cudaHostUnregister, (void *memory), (memory))
ADDRESS(cudaHostGetDevicePointer, (void **device, void *host, unsigned flags),
        (device, host, flags))
cudaError_t cudaMallocHost(void **memory, size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }

CALLS(ptxrt_copy,
      (void *to, const void *from, size_t bytes, int kind, cudaStream_t stream, int waits),
      (to, from, bytes, kind, stream, waits))
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  return ptxrt_copy(to, from, bytes, kind, NULL, 1);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return ptxrt_copy(to, from, bytes, kind, stream, 0);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  for (size_t row = 0; row < height && width != 0; ++row) {
    const cudaError_t error = cudaMemcpyAsync((char *)to + row * to_pitch,
                                              (const char *)from + row * from_pitch, width, kind, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
/* There is one device. */
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
CALLS(ptxrt_fill, (void *to, int byte, size_t bytes, cudaStream_t stream, int waits),
      (to, byte, bytes, stream, waits))
cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
  return ptxrt_fill(to, byte, bytes, NULL, 1);
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
  return ptxrt_fill(to, byte, bytes, stream, 0);
}

CALLS(ptxrt_copy_variable,
      (const void *symbol, const void *host, size_t bytes, size_t offset, int writes,
       cudaStream_t stream),
      (symbol, host, bytes, offset, writes, stream))
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
  (void)kind;
  return ptxrt_copy_variable(symbol, from, bytes, offset, 1, NULL);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
  (void)kind;
  return ptxrt_copy_variable(symbol, to, bytes, offset, 0, NULL);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  return ptxrt_copy_variable(symbol, from, bytes, offset, 1, stream);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  return ptxrt_copy_variable(symbol, to, bytes, offset, 0, stream);
}
CALLS(ptxrt_variable, (void **address, size_t *bytes, const void *symbol),
      (address, bytes, symbol))
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  size_t bytes;
  return ptxrt_variable(address, &bytes, symbol);
}
cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  void *address;
  const cudaError_t error = ptxrt_variable(&address, bytes, symbol);
  return error == cudaErrorNotSupported ? cudaSuccess : error;
}

LIBRARY(int, ptxrt_memory_type, (const void *address), (address), 0)
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *found, const void *address) {
  memset(found, 0, sizeof *found);
  found->type = (enum cudaMemoryType)ptxrt_memory_type(address);
  if (found->type != cudaMemoryTypeUnregistered) found->devicePointer = (void *)address;
  if (found->type != cudaMemoryTypeDevice) found->hostPointer = (void *)address;
  return cudaSuccess;
}

/* The only memory pool. */
static char pool;
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *found, int device) {
  *found = (cudaMemPool_t)&pool;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *found, int device) {
  return cudaDeviceGetDefaultMemPool(found, device);
}
CALLS(ptxrt_pool_attribute, (int attribute, unsigned long long *value), (attribute, value))
CALLS(ptxrt_set_pool_attribute, (int attribute, unsigned long long value), (attribute, value))
CALLS(ptxrt_trim_pool, (size_t least), (least))
static int is_flag(enum cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolReuseAllowInternalDependencies;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t of, enum cudaMemPoolAttr attribute, void *value) {
  if (of != (cudaMemPool_t)&pool) return cudaErrorInvalidValue;
  /* Freed memory is never used again here, so how it may be used has no effect. */
  if (is_flag(attribute)) return cudaSuccess;
  return ptxrt_set_pool_attribute(attribute, *(unsigned long long *)value);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t of, enum cudaMemPoolAttr attribute, void *value) {
  if (of != (cudaMemPool_t)&pool) return cudaErrorInvalidValue;
  if (is_flag(attribute)) {
    *(int *)value = 1;
    return cudaSuccess;
  }
  return ptxrt_pool_attribute(attribute, (unsigned long long *)value);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t of, size_t least) {
  return of == (cudaMemPool_t)&pool ? ptxrt_trim_pool(least) : cudaErrorInvalidValue;
}
cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t of,
                                    cudaStream_t stream) {
  return of == (cudaMemPool_t)&pool ? cudaMallocAsync(memory, bytes, stream)
                                    : cudaErrorInvalidValue;
}

/* Streams and events */

FORWARD(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned flags), (stream, flags))
FORWARD(cudaStreamDestroy, (cudaStream_t stream), (stream))
FORWARD(cudaStreamSynchronize, (cudaStream_t stream), (stream))
FORWARD(cudaStreamQuery, (cudaStream_t stream), (stream))
FORWARD(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
        (stream, event, flags))
FORWARD(cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned flags), (event, flags))
FORWARD(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
FORWARD(cudaEventQuery, (cudaEvent_t event), (event))
FORWARD(cudaEventSynchronize, (cudaEvent_t event), (event))
FORWARD(cudaEventDestroy, (cudaEvent_t event), (event))
FORWARD(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t from, cudaEvent_t until),
        (milliseconds, from, until))
FORWARD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data),
        (stream, function, data))
FORWARD(cudaStreamAddCallback,
        (cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned flags),
        (stream, function, data, flags))
/* Graphs */

FORWARD(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))
FORWARD(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph))
FORWARD(cudaGraphInstantiate, (cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags),
        (made, graph, flags))
FORWARD(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), (graph))
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return ptxrt_cudaGraphDestroy((cudaGraph_t)graph); }

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  (void)priority;
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

/* Kernels. The layout of `shape` is that of `Shape` in launch.rs. */

struct shape {
  unsigned grid[3], block[3], cluster[3], is_cooperative;
  unsigned long long dynamic_shared;
  cudaStream_t stream;
};

static struct shape shape_of(dim3 grid, dim3 block, size_t dynamic_shared, cudaStream_t stream) {
  return (struct shape){{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {0, 0, 0}, 0,
                        dynamic_shared, stream};
}

CALLS(ptxrt_launch, (const void *stub, const struct shape *shape, void **arguments),
      (stub, shape, arguments))
CALLS(ptxrt_push_configuration, (const struct shape *shape), (shape))
CALLS(ptxrt_pop_configuration, (struct shape *shape), (shape))
CALLS(ptxrt_kernel, (const void *stub), (stub))

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared, cudaStream_t stream) {
  const struct shape shape = shape_of(grid, block, dynamic_shared, stream);
  return ptxrt_launch(stub, &shape, arguments);
}
cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared, cudaStream_t stream) {
  struct shape shape = shape_of(grid, block, dynamic_shared, stream);
  shape.is_cooperative = 1;
  return ptxrt_launch(stub, &shape, arguments);
}

/* False for an attribute that changes what a launch does and is not known here. */
static int read_attributes(const cudaLaunchConfig_t *config, struct shape *shape) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute *const found = &config->attrs[i];
    switch (found->id) {
      case cudaLaunchAttributeCooperative:
        shape->is_cooperative = found->val.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        shape->cluster[0] = found->val.clusterDim.x;
        shape->cluster[1] = found->val.clusterDim.y;
        shape->cluster[2] = found->val.clusterDim.z;
        break;
      /* What follows decides how fast something is. A kernel that may begin before its predecessor
       * has ended begins after it. */
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
        break;
      default:
        fprintf(stderr, "PTX machine: the launch attribute %d is not implemented\n", found->id);
        return 0;
    }
  }
  return 1;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub,
                                void **arguments) {
  struct shape shape =
      shape_of(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
  if (!read_attributes(config, &shape)) return cudaErrorNotSupported;
  return ptxrt_launch(stub, &shape, arguments);
}

/* Layout of `Attributes` in api/execution.rs. */
struct attributes {
  unsigned long long static_shared, local;
  int most_threads, registers, ptx_version, binary_version, most_dynamic_shared, carveout,
      allows_any_cluster, cluster[3];
};
CALLS(ptxrt_attributes, (struct attributes *to, const void *stub), (to, stub))
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *to, const void *stub) {
  struct attributes found;
  const cudaError_t error = ptxrt_attributes(&found, stub);
  if (error != cudaSuccess) return error;
  memset(to, 0, sizeof *to);
  to->sharedSizeBytes = found.static_shared;
  to->localSizeBytes = found.local;
  to->maxThreadsPerBlock = found.most_threads;
  to->numRegs = found.registers;
  to->ptxVersion = found.ptx_version;
  to->binaryVersion = found.binary_version;
  to->maxDynamicSharedSizeBytes = found.most_dynamic_shared;
  to->preferredShmemCarveout = found.carveout;
#if CUDART_VERSION >= 12000
  to->clusterDimMustBeSet = found.cluster[0] != 0;
  to->requiredClusterWidth = found.cluster[0];
  to->requiredClusterHeight = found.cluster[1];
  to->requiredClusterDepth = found.cluster[2];
  to->nonPortableClusterSizeAllowed = found.allows_any_cluster;
#endif
  return cudaSuccess;
}
FORWARD(cudaFuncSetAttribute, (const void *stub, enum cudaFuncAttribute attribute, int value),
        (stub, attribute, value))
FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
        (int *blocks, const void *stub, int threads, size_t dynamic_shared),
        (blocks, stub, threads, dynamic_shared))
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
                                                                   int threads,
                                                                   size_t dynamic_shared,
                                                                   unsigned flags) {
  (void)flags;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, stub, threads, dynamic_shared);
}
CALLS(ptxrt_clusters, (int *clusters, const void *stub, const struct shape *shape),
      (clusters, stub, shape))
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *stub,
                                           const cudaLaunchConfig_t *config) {
  struct shape shape =
      shape_of(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
  if (!read_attributes(config, &shape)) return cudaErrorNotSupported;
  return ptxrt_clusters(clusters, stub, &shape);
}

/* Functions of the driver */

LIBRARY(void *, ptxrt_driver_function, (const char *name), (name), NULL)
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *outcome) {
  (void)version;
  (void)flags;
  *function = ptxrt_driver_function(name);
  const int is_found = *function != NULL;
  if (outcome != NULL)
    *outcome = is_found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return is_found || outcome != NULL ? cudaSuccess : cudaErrorSymbolNotFound;
}
#undef cudaGetDriverEntryPoint
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *outcome) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, outcome);
}

/* What nvcc's stubs call, as crt/host_runtime.h and crt/device_functions.h declare it. A handle of a
 * fat binary is made of the library's number of it, and never null. */

LIBRARY(size_t, ptxrt_registerFatBinary, (const void *wrapper), (wrapper), 0)
LIBRARY(int, ptxrt_unregisterFatBinary, (size_t binary), (binary), 0)
LIBRARY(int, ptxrt_registerFunction, (size_t binary, const void *stub, const char *name),
        (binary, stub, name), 0)
LIBRARY(int, ptxrt_registerVariable, (size_t binary, const void *host, const char *name),
        (binary, host, name), 0)

void **__cudaRegisterFatBinary(void *wrapper) {
  return (void **)((ptxrt_registerFatBinary(wrapper) + 1) * 8);
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
static size_t binary_of(void **handle) { return (size_t)handle / 8 - 1; }
void __cudaUnregisterFatBinary(void **handle) { ptxrt_unregisterFatBinary(binary_of(handle)); }
char __cudaInitModule(void **handle) {
  (void)handle;
  return 1;
}
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *name, int threads, uint3 *thread, uint3 *block,
                            dim3 *block_extents, dim3 *grid_extents, int *warp_size) {
  (void)device_function, (void)threads, (void)thread, (void)block, (void)block_extents;
  (void)grid_extents, (void)warp_size;
  ptxrt_registerFunction(binary_of(handle), stub, name);
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global) {
  (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
  ptxrt_registerVariable(binary_of(handle), host, name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared,
                                     struct CUstream_st *stream) {
  const struct shape shape = shape_of(grid, block, dynamic_shared, stream);
  return ptxrt_push_configuration(&shape);
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared,
                                       void *stream) {
  struct shape shape;
  const cudaError_t error = ptxrt_pop_configuration(&shape);
  if (error != cudaSuccess) return error;
  *grid = (dim3){shape.grid[0], shape.grid[1], shape.grid[2]};
  *block = (dim3){shape.block[0], shape.block[1], shape.block[2]};
  *dynamic_shared = shape.dynamic_shared;
  *(cudaStream_t *)stream = shape.stream;
  return cudaSuccess;
}
/* A kernel's handle is the address of its stub. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub) {
  *kernel = (cudaKernel_t)stub;
  return ptxrt_kernel(stub);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t dynamic_shared, cudaStream_t stream) {
  return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_shared, stream);
}
