/* Functions of a namespace, which kernels call by their plain names. */
#ifndef WRITTEN_DEVICE_H
#define WRITTEN_DEVICE_H

namespace written {
__device__ inline int outer(int v) { return v + 100; }
namespace device {
__device__ inline int folded(int v) { return v < 0 ? -v : v; }
template <class T> __device__ T twice(T v) { return v + v; }
}  // namespace device
}  // namespace written

#endif
