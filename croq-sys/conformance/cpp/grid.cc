/* Cooperative grids. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "grid.co"

/* In each round each thread writes its own element, and adds up those of the next block and of the
 * last block after the barrier. */
CROQ_KERNEL(64) void rounds_0([[maybe_unused]] croq::context ctx, croq::grid_barrier together, croq::global<int> d,
                              croq::global<int> sums, croq::idx count) {
  const croq::idx x = gridDim.x, y = gridDim.y, z = gridDim.z, blocks = x * y * z;
  const croq::idx block = croq::block_x() + x * (croq::block_y() + y * croq::block_z());
  const croq::idx t = croq::tid(), threads = blockDim.x;
  int sum = 0;
  for (croq::idx k = 0; k < count; ++k) {
    d.store(block * threads + t, croq::to<int>(k * 1000 + block * 10 + t));
    croq::barrier_grid(ctx, together);
    sum = sum * 3 + d.load((block + 1) % blocks * threads + t) + d.load((blocks - 1) * threads + (t + 1) % threads);
    croq::barrier_grid(ctx, together);
  }
  sums.store(block * threads + t, sum);
}

/* The last block deviates. */
CROQ_KERNEL(64) void apart_0([[maybe_unused]] croq::context ctx, croq::grid_barrier together, croq::idx what) {
  const bool last = croq::block_x() + 1 == gridDim.x && croq::block_y() + 1 == gridDim.y;
  if (last && what == 1) return;
  if (last && what == 2 && croq::tid() >= 32)
#line 105 "grid.co"
    croq::barrier_named(3, 64);
#line 107 "grid.co"
  croq::barrier_grid(ctx, together);
}
#line 37 "grid.cc"
}  // namespace

extern "C" croq_u32 CONF(rounds)(const croq_env *env, int *data, int *sums, const croq_i64 *n) {
  croq::host host(env, "grid.co");
  const croq_i64 elements = n[0] * n[1] * n[2] * n[3];
  /* Two launches with the same barrier word, and one without a barrier. */
  for (int time = 0; time < 2; ++time)
    host.launch<decltype(&rounds_0), &rounds_0>(
        "rounds_0", croq::together{{n[0], n[1], n[2]}, 7}, n[3], 0, croq::waits,
        croq::bind<int>(data, elements, "data"), croq::bind<int>(sums, elements, "sums"),
        croq::idx(n[4]));
  return host.status();
}

extern "C" croq_u32 CONF(apart)(const croq_env *env, croq_i64 x, croq_i64 y, croq_i64 threads,
                                croq_i64 shared_bytes, croq_i64 what) {
  croq::host host(env, "grid.co");
  host.launch<decltype(&apart_0), &apart_0>("apart_0", croq::together{{x, y, 1}, 9}, threads,
                                            shared_bytes, croq::waits, croq::idx(what));
  return host.status();
}
