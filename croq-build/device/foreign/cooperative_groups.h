/* Replaces CUDA's <cooperative_groups.h>: groups within a block, on both targets. */
#ifndef CROQ_COOPERATIVE_GROUPS_H
#define CROQ_COOPERATIVE_GROUPS_H

#include "../croq_user.h"

namespace cooperative_groups {

/* The threads of the block. */
struct thread_block {
  static CROQ_DEVICE void sync() { __syncthreads(); }
  static CROQ_DEVICE unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static CROQ_DEVICE unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static CROQ_DEVICE unsigned num_threads() { return size(); }
  static CROQ_DEVICE dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static CROQ_DEVICE dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static CROQ_DEVICE dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
CROQ_DEVICE thread_block this_thread_block() { return {}; }

/* N adjacent lanes of a warp. */
template <unsigned N, class Parent = void> struct thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static CROQ_DEVICE unsigned thread_rank() { return thread_block::thread_rank() % N; }
  static CROQ_DEVICE unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
  static CROQ_DEVICE unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  static constexpr CROQ_DEVICE unsigned size() { return N; }
  static constexpr CROQ_DEVICE unsigned num_threads() { return N; }
  static CROQ_DEVICE unsigned mask() {
    const unsigned first = thread_block::thread_rank() % 32 / N * N;
    return (N == 32 ? 0xffffffffu : (1u << (N % 32)) - 1u) << first;
  }
  static CROQ_DEVICE void sync() { __syncwarp(mask()); }
  template <class T> static CROQ_DEVICE T shfl(T v, int from) {
    return __shfl_sync(mask(), v, from, N);
  }
  template <class T> static CROQ_DEVICE T shfl_xor(T v, int with) {
    return __shfl_xor_sync(mask(), v, with, N);
  }
  template <class T> static CROQ_DEVICE T shfl_up(T v, unsigned by) {
    return __shfl_up_sync(mask(), v, by, N);
  }
  template <class T> static CROQ_DEVICE T shfl_down(T v, unsigned by) {
    return __shfl_down_sync(mask(), v, by, N);
  }
  static CROQ_DEVICE int any(int predicate) { return __any_sync(mask(), predicate); }
  static CROQ_DEVICE int all(int predicate) { return __all_sync(mask(), predicate); }
  static CROQ_DEVICE unsigned ballot(int predicate) {
    const unsigned first = thread_block::thread_rank() % 32 / N * N;
    return __ballot_sync(mask(), predicate) >> first;
  }
};
template <unsigned N, class G> CROQ_DEVICE thread_block_tile<N, G> tiled_partition(const G &) {
  return {};
}
template <class G> CROQ_DEVICE void sync(const G &group) { group.sync(); }

template <class T> struct plus {
  CROQ_DEVICE T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  CROQ_DEVICE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  CROQ_DEVICE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  CROQ_DEVICE T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
  CROQ_DEVICE T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
  CROQ_DEVICE T operator()(T a, T b) const { return a ^ b; }
};
/* The same with the result in every lane of the tile: a butterfly. */
template <unsigned N, class P, class T, class F>
CROQ_DEVICE T reduce(const thread_block_tile<N, P> &tile, T v, F op) {
  for (unsigned with = N / 2; with > 0; with /= 2) v = op(v, tile.shfl_xor(v, static_cast<int>(with)));
  return v;
}

}  // namespace cooperative_groups

#endif
