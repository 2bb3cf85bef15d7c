/* The kernels of the benchmark. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "speed.co"

CROQ_KERNEL(256) void threads_0([[maybe_unused]] croq::context ctx, croq::global<int> d) {
  const croq::idx i = croq::block_x() * 256 + croq::tid();
  d.store(i, croq::to<int>(i));
}

CROQ_KERNEL(1024) void crossings_0([[maybe_unused]] croq::context ctx, croq::idx rounds) {
  for (croq::idx k = 0; k < rounds; ++k) croq::barrier();
}

/* A thread per element of the result, accumulated in a register. */
CROQ_KERNEL(64) void matmul_register_0([[maybe_unused]] croq::context ctx, croq::global<const float> lhs,
                                       croq::global<const float> rhs, croq::global<float> dst, croq::idx n) {
  const croq::idx i = croq::block_x() * 8 + croq::tid() / 8, j = croq::block_y() * 8 + croq::tid() % 8;
  float sum = 0;
  for (croq::idx k = 0; k < n; ++k) sum += lhs.load(i * n + k) * rhs.load(k * n + j);
  dst.store(i * n + j, sum);
}

/* The same, accumulated in memory. */
CROQ_KERNEL(64) void matmul_memory_0([[maybe_unused]] croq::context ctx, croq::global<const float> lhs,
                                     croq::global<const float> rhs, croq::global<float> dst, croq::idx n) {
  const croq::idx i = croq::block_x() * 8 + croq::tid() / 8, j = croq::block_y() * 8 + croq::tid() % 8;
  for (croq::idx k = 0; k < n; ++k) dst.add(i * n + j, lhs.load(i * n + k) * rhs.load(k * n + j));
}

/* Tiles of 32 by 32 through shared memory. */
CROQ_KERNEL(256) void matmul_tiled_0([[maybe_unused]] croq::context ctx, croq::global<const float> lhs,
                                     croq::global<const float> rhs, croq::global<float> dst, croq::idx n) {
  croq::shared<float> a = croq::shared_at<float>(0, 1024, "a");
  croq::shared<float> b = croq::shared_at<float>(4096, 1024, "b");
  croq::local<float, 4> sum;
  for (croq::idx q = 0; q < 4; ++q) sum.store(q, 0.0f);
  const croq::idx row = croq::tid() / 32, column = croq::tid() % 32;
  for (croq::idx t = 0; t < n; t += 32) {
    for (croq::idx e = croq::tid(); e < 1024; e += 256) {
      a.store(e, lhs.load((croq::block_x() * 32 + e / 32) * n + t + e % 32));
      b.store(e, rhs.load((t + e / 32) * n + croq::block_y() * 32 + e % 32));
    }
    croq::barrier();
    for (croq::idx q = 0; q < 4; ++q)
      for (croq::idx k = 0; k < 32; ++k)
        sum.add(q, a.load((row + q * 8) * 32 + k) * b.load(k * 32 + column));
    croq::barrier();
  }
  for (croq::idx q = 0; q < 4; ++q)
    dst.store((croq::block_x() * 32 + row + q * 8) * n + croq::block_y() * 32 + column, sum.load(q));
}
#line 60 "speed.cc"
}  // namespace

extern "C" croq_u32 CONF(speed_threads)(const croq_env *env, int *data, croq_i64 blocks) {
  croq::host host(env, "speed.co");
  host.launch<decltype(&threads_0), &threads_0>("threads_0", croq::grid{blocks, 1, 1}, 256, 0,
                                                croq::plain, croq::bind<int>(data, blocks * 256));
  return host.status();
}

extern "C" croq_u32 CONF(speed_crossings)(const croq_env *env, croq_i64 blocks, croq_i64 threads,
                                         croq_i64 rounds) {
  croq::host host(env, "speed.co");
  host.launch<decltype(&crossings_0), &crossings_0>("crossings_0", croq::grid{blocks, 1, 1},
                                                    threads, 0, croq::waits, croq::idx(rounds));
  return host.status();
}

extern "C" croq_u32 CONF(speed_matmul)(const croq_env *env, int which, const float *lhs,
                                      const float *rhs, float *dst, croq_i64 n) {
  croq::host host(env, "speed.co");
  const auto a = croq::bind<const float>(lhs, n * n, "lhs");
  const auto b = croq::bind<const float>(rhs, n * n, "rhs");
  const auto c = croq::bind<float>(dst, n * n, "dst");
  const croq::grid small{n / 8, n / 8, 1}, tiles{n / 32, n / 32, 1};
  const croq::idx size = n;
  if (which == 0)
    host.launch<decltype(&matmul_register_0), &matmul_register_0>("matmul_register_0", small, 64, 0,
                                                                  croq::plain, a, b, c, size);
  else if (which == 1)
    host.launch<decltype(&matmul_memory_0), &matmul_memory_0>("matmul_memory_0", small, 64, 0,
                                                              croq::plain, a, b, c, size);
  else
    host.launch<decltype(&matmul_tiled_0), &matmul_tiled_0>("matmul_tiled_0", tiles, 256, 8192,
                                                            croq::waits, a, b, c, size);
  return host.status();
}
