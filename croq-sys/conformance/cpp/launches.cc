/* Launches: ids, order, limits, host operations. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "launches.co"

/* Every thread stores its ids, at its linear index. */
CROQ_KERNEL(1024) void ids_0([[maybe_unused]] croq::context ctx, croq::global<int> d) {
  const croq::idx block =
      croq::block_x() + static_cast<croq::idx>(gridDim.x) * (croq::block_y() + static_cast<croq::idx>(gridDim.y) * croq::block_z());
  const croq::idx i = (block * static_cast<croq::idx>(blockDim.x) + croq::tid()) * 4;
  d.add(i, croq::to<int>(croq::tid()));
  d.add(i + 1, croq::to<int>(croq::block_x()));
  d.add(i + 2, croq::to<int>(croq::block_y()));
  d.add(i + 3, croq::to<int>(croq::block_z()));
}

/* Appends its block to a list: the order in which blocks run. */
CROQ_KERNEL(2) void order_0([[maybe_unused]] croq::context ctx, croq::global<int> d) {
  if (croq::tid() != 0) return;
  const int at = d.load(0);
  d.store(0, at + 1);
  d.store(at + 1, croq::to<int>(croq::block_x()));
}

__device__ float scaled(const float *from, int at, float by) {
  return __fmaf_rn(__ldg(from + at), by, 0.0f);
}
__global__ void unused_by_croq(float *) {}

/* Plain CUDA code, as in `call` and `__cpp__`. */
CROQ_KERNEL(64) void foreign_0([[maybe_unused]] croq::context ctx, croq::global<float> d, croq::global<int> count) {
  __shared__ float tile[64];
  tile[threadIdx.x] = scaled(d.pointer(0), static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), 2.0f);
  __syncthreads();
  d.store(croq::block_x() * 64 + croq::tid(), tile[63 - threadIdx.x]);
  atomicAdd(count.pointer(0), 1);
}

/* Shuffles and votes; the last warp is incomplete. */
CROQ_KERNEL(64) void lanes_0([[maybe_unused]] croq::context ctx, croq::global<int> d) {
  const int tid = static_cast<int>(croq::tid()), lane = tid % 32;
  const unsigned all = tid < 32 ? 0xffffffffu : 0xffu;
  const croq::idx at = croq::tid() * 8;
  d.store(at, __shfl_sync(all, tid, 3));
  d.store(at + 1, __shfl_xor_sync(all, tid, 1));
  d.store(at + 2, __shfl_up_sync(all, tid, 2u));
  d.store(at + 3, __shfl_down_sync(all, tid, 2u, 4));
  d.store(at + 4, static_cast<int>(__ballot_sync(all, lane % 2 == 1)));
  d.store(at + 5, __any_sync(all, tid == 5) * 10 + __all_sync(all, tid < 32));
  double sum = tid;
  for (int by = 4; by > 0; by /= 2) sum += __shfl_xor_sync(all, sum, by);
  d.store(at + 6, static_cast<int>(sum));
}
#line 45 "launches.cc"
}  // namespace

template <unsigned M>
static croq_u32 ids(const croq_env *env, int *data, croq_i64 x, croq_i64 y, croq_i64 z,
                    croq_i64 threads, croq_i64 shared_bytes, croq::launch_mode<M> mode) {
  croq::host host(env, "launches.co");
  host.launch<decltype(&ids_0), &ids_0>("ids_0", croq::grid{x, y, z}, threads, shared_bytes, mode,
                                        croq::bind<int>(data, x * y * z * threads * 4, "d"));
  return host.status();
}
extern "C" croq_u32 CONF(ids)(const croq_env *env, int *data, croq_i64 x, croq_i64 y, croq_i64 z,
                             croq_i64 threads, croq_i64 shared_bytes, bool waits) {
  return waits ? ids(env, data, x, y, z, threads, shared_bytes, croq::waits)
               : ids(env, data, x, y, z, threads, shared_bytes, croq::plain);
}

extern "C" croq_u32 CONF(order)(const croq_env *env, int *data, croq_i64 blocks, bool waits) {
  croq::host host(env, "launches.co");
  const croq::global<int> d = croq::bind<int>(data, blocks + 1, "d");
  if (waits)
    host.launch<decltype(&order_0), &order_0>("order_0", croq::grid{blocks, 1, 1}, 2, 0,
                                              croq::waits | croq::ordered, d);
  else
    host.launch<decltype(&order_0), &order_0>("order_0", croq::grid{blocks, 1, 1}, 2, 0,
                                              croq::ordered, d);
  return host.status();
}

extern "C" croq_u32 CONF(foreign)(const croq_env *env, float *data, int *count, croq_i64 blocks) {
  croq::host host(env, "launches.co");
  host.launch<decltype(&foreign_0), &foreign_0>("foreign_0", croq::grid{blocks, 1, 1}, 64, 0,
                                                croq::waits, croq::bind<float>(data, blocks * 64),
                                                croq::bind<int>(count, 1));
  return host.status();
}

extern "C" croq_u32 CONF(lanes)(const croq_env *env, int *data) {
  croq::host host(env, "launches.co");
  host.launch<decltype(&lanes_0), &lanes_0>("lanes_0", croq::grid{1, 1, 1}, 40, 0, croq::waits,
                                            croq::bind<int>(data, 40 * 8));
  return host.status();
}

extern "C" croq_u32 CONF(host_check)(const croq_env *env, croq_i64 value) {
  croq::host host(env, "launches.co");
  if (!host.check(12, value > 3, 7, value, 3)) return host.status();
  return CROQ_OK;
}

extern "C" croq_u32 CONF(host_alloc)(const croq_env *env, croq_i64 extent, void **result) {
  croq::host host(env, "launches.co");
  croq::global<float> made;
  if (!host.alloc(made, extent, "made")) return host.status();
  *result = made.data();
  return host.status();
}

namespace {
/* Every thread stores to its element, but for one thread. */
CROQ_KERNEL(64) void whole_0([[maybe_unused]] croq::context ctx, croq::contended<int> d, croq::idx skipped) {
  const croq::idx i = croq::block_x() * 64 + croq::tid();
  if (i != skipped) d.store(i, croq::to<int>(i));
}
}  // namespace
extern "C" croq_u32 CONF(whole)(const croq_env *env, int *data, croq_i64 blocks, croq_i64 skipped) {
  croq::host host(env, "launches.co");
  const croq::global<int> d = croq::bind<int>(data, blocks * 64, "d");
  host.launch<decltype(&whole_0), &whole_0>("whole_0", croq::grid{blocks, 1, 1}, 64, 0, croq::plain,
                                            croq::contend<CROQ_RECORDS_UNWRITTEN>(d), skipped);
  return host.status();
}
