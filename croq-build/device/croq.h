/* The device API that generated code is written against: one interface, two implementations.
 *
 * `sim` runs on the host's processor, on the simulated GPU of croq-sys; `cuda` is compiled by nvcc.
 * Each is in an inline namespace of its own, because a program may link both. */
#ifndef CROQ_H
#define CROQ_H

#include "croq_abi.h"

#if defined(CROQ_CUDA)
/* Code compiled with CROQ_REPORT continues after a failed check. Its functions are in a namespace
 * of their own, because a program may link both variants. */
#if defined(CROQ_REPORT)
#define CROQ_TARGET cuda_report
#else
#define CROQ_TARGET cuda
#endif
#define CROQ_SHIM(name) croq_cuda_##name
/* The namespace of one file's generated code. */
#define CROQ_SPACE(hash) croq_##hash##_cuda
/* The number of threads per block, then the other arguments of `__launch_bounds__`. */
#define CROQ_KERNEL(...) static __global__ __launch_bounds__(__VA_ARGS__)
/* CUDA allows either launch bounds or a number of registers, not both. */
#define CROQ_KERNEL_WITH_REGISTERS(registers, ...) static __global__ __maxnreg__(registers)
/* On the host launches alone call these, a few times each: inlined they only take the compiler's time. */
#if defined(__CUDA_ARCH__)
#define CROQ_FN __host__ __device__ __forceinline__
#else
#define CROQ_FN __host__ __device__ inline
#endif
#define CROQ_DEVICE __device__ __forceinline__
#define CROQ_UNROLL _Pragma("unroll")
#define CROQ_UNROLL_BY(n) CROQ_PRAGMA(unroll n)
#else
#if defined(CROQ_REPORT)
#define CROQ_TARGET sim_report
#else
#define CROQ_TARGET sim
#endif
#define CROQ_SHIM(name) croq_sim_##name
#define CROQ_SPACE(hash) croq_##hash##_sim
#define CROQ_KERNEL(...) static
#define CROQ_KERNEL_WITH_REGISTERS(registers, ...) static
#define CROQ_FN inline __attribute__((always_inline))
#define CROQ_DEVICE inline __attribute__((always_inline))
/* What takes much longer than a call: inlined everywhere it would be most of what a large kernel compiles to.
 * Internal, because objects of other options, or of another version of croq, may be in the program. */
#define CROQ_OPERATION static inline
#define CROQ_UNROLL
#define CROQ_UNROLL_BY(n)
#endif
/* Objects that agree in everything they depend on define the same symbol, for example in two
 * packages; the linker may take any of them. On CUDA such a function only launches kernels: it is
 * compiled to few instructions. On the simulated GPU the kernels are part of it. */
#if defined(CROQ_CUDA)
#define CROQ_WEAK __attribute__((weak, cold))
#else
#define CROQ_WEAK __attribute__((weak))
#endif
#define CROQ_PRAGMA(text) _Pragma(#text)
/* Inline assembly: what CUDA compiles, in parentheses, and an expression in parentheses that does the
 * same on the simulated GPU. */
#define CROQ_WITHOUT_PARENTHESES(...) __VA_ARGS__
#if defined(CROQ_CUDA)
#define CROQ_ASSEMBLY(cuda, sim) CROQ_WITHOUT_PARENTHESES cuda
#else
#define CROQ_ASSEMBLY(cuda, sim) sim
#endif
/* The same for instructions from sm_90 on: code for a GPU before that traps, and the host does not
 * launch it. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CROQ_ASSEMBLY_FROM_SM_90(cuda, sim) __trap()
#else
#define CROQ_ASSEMBLY_FROM_SM_90(cuda, sim) CROQ_ASSEMBLY(cuda, sim)
#endif
/* Another spelling of `__device__` that a `.co` file may use. */
#define __co_device__ __device__

#include "croq_types.h"
#include "croq_exact.h"
#include "croq_swizzle.h"
#include "croq_tensor_map.h"

#if defined(CROQ_CUDA)
#include "cuda/thread.h"
#include "cuda/loops.h"
#include "croq_math.h"
#include "cuda/atomics.h"
#include "cuda/handles.h"
#include "cuda/copies.h"
#include "cuda/matrices.h"
#include "cuda/mma.h"
#include "cuda/mbarriers.h"
#include "cuda/clusters.h"
#include "cuda/grid.h"
#include "cuda/print.h"
#include "cuda/host.h"
#include "cuda/tma.h"
#else
#include "sim/thread.h"
#include "sim/unwritten.h"
#include "sim/loops.h"
#include "croq_math.h"
#include "sim/atomics.h"
#include "sim/order.h"
#include "sim/handles.h"
#include "sim/contended.h"
#include "sim/watched.h"
#include "sim/copies.h"
#include "sim/mbarriers.h"
#include "sim/clusters.h"
#include "sim/grid.h"
#include "sim/print.h"
#include "sim/host.h"
#include "sim/tma.h"
#include "sim/cuda_names.h"
#include "sim/cuda_vectors.h"
#include "sim/cuda_numbers.h"
#include "sim/cuda_lanes.h"
#include "sim/cuda_atomics.h"
#include "sim/assembly.h"
#include "sim/matrices.h"
#include "sim/mma.h"
#include "sim/sparse.h"
#endif

/* Steps of a launch shim. A step that fails ends the call; the shim's `host` has recorded the
 * failure. */
#define CROQ_TRY(...)                                                                              \
  if (!(__VA_ARGS__)) return host.status()
/* A condition, the row of the check's message, and values for the message. */
#define CROQ_REQUIRE(...) CROQ_TRY(host.check(__LINE__, __VA_ARGS__))
/* Requires that the code of the kernel that this GPU runs is for `sm` or newer. */
#define CROQ_NEEDS(kernel, sm) CROQ_TRY(host.needs<decltype(&kernel), &kernel>(__LINE__, sm))
/* Grid, threads per block, bytes of shared memory, launch mode of the simulated GPU; then the
 * kernel's own arguments. */
#define CROQ_LAUNCH(kernel, ...)                                                                   \
  CROQ_TRY(host.launch<decltype(&kernel), &kernel>(#kernel, __VA_ARGS__))

#endif
