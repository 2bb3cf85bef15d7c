/* Barriers: what they order, and the reports of misuse. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "barriers.co"

/* Neighbours exchange via shared memory: each round rotates the block's values by one. */
CROQ_KERNEL(1024) void rotate_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx rounds) {
  const croq::idx n = static_cast<croq::idx>(blockDim.x);
  croq::shared<int> s = croq::shared_at<int>(0, n);
  const croq::idx i = croq::block_x() * n + croq::tid();
  s.store(croq::tid(), d.load(i));
  for (croq::idx k = 0; k < rounds; ++k) {
    croq::barrier();
    const int next = s.load((croq::tid() + 1) % n);
    croq::barrier();
    s.store(croq::tid(), next);
  }
  d.store(i, s.load(croq::tid()));
}

/* Two halves of the block iterate independently, at different speeds. */
CROQ_KERNEL(256) void named_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx rounds) {
  croq::shared<int> s = croq::shared_at<int>(0, 256);
  const croq::idx half = croq::tid() / 128, lane = croq::tid() % 128;
  s.store(croq::tid(), d.load(croq::tid()));
  for (croq::idx k = 0; k < rounds * (half + 1); ++k) {
    croq::barrier_named(static_cast<unsigned>(half + 1), 128);
    const int next = s.load(half * 128 + (lane + 1) % 128);
    croq::barrier_named(static_cast<unsigned>(half + 1), 128);
    s.store(croq::tid(), next);
  }
  d.store(croq::tid(), s.load(croq::tid()));
}

/* The number of iterations of a warp is its number. */
CROQ_KERNEL(256) void warps_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx rounds) {
  croq::shared<int> s = croq::shared_at<int>(0, 256);
  const croq::idx warp = croq::tid() / 32, lane = croq::tid() % 32;
  s.store(croq::tid(), d.load(croq::tid()));
  for (croq::idx k = 0; k < rounds * warp; ++k) {
    croq::barrier_warp();
    const int next = s.load(warp * 32 + (lane + 1) % 32);
    __syncwarp();
    s.store(croq::tid(), next);
  }
  d.store(croq::tid(), s.load(croq::tid()));
}

/* Thread `apart` has another value. At least one thread of its unit detects it. */
CROQ_KERNEL(128) void agree_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx apart) {
  croq::shared<int> s = croq::shared_at<int>(0, 128);
  const croq::idx tid = croq::tid();
  const bool usual = tid != apart;
  const croq::idx value = usual ? 7 : 7 + (croq::idx(1) << 40);
  const unsigned id = tid < 32 ? 1 : 2, threads = tid < 32 ? 32 : 96;
  int same = croq::same_in_block(usual, 512) ? 1 : 0;
  same |= croq::same_in_block(value, 512) ? 2 : 0;
  same |= croq::same_in_region(usual, id, threads, 512) ? 4 : 0;
  same |= croq::same_in_region(value, id, threads, 512) ? 8 : 0;
  same |= croq::same_in_warp(usual, 0xffffffffu) ? 16 : 0;
  same |= croq::same_in_warp(value, 0xffffffffu) ? 32 : 0;
  s.store(tid, same);
  croq::barrier();
  for (croq::idx other = 0; other < 128; ++other) {
    const int theirs = s.load(other);
    same &= theirs | ~3;
    if ((other < 32) == (tid < 32)) same &= theirs | ~12;
    if (other / 32 == tid / 32) same &= theirs | ~48;
  }
  d.store(tid, same);
}

/* Odd threads exit; the others continue to use the barrier. */
CROQ_KERNEL(64) void leave_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx rounds) {
  if (croq::tid() % 2 == 1) return;
  for (croq::idx k = 0; k < rounds; ++k) {
    croq::barrier();
    croq::barrier_warp();
  }
  d.store(croq::tid(), 1);
}

/* All threads wait before some exit: the exit of these releases the others. */
CROQ_KERNEL(64) void leave_late_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx last) {
  if (croq::tid() < last) croq::barrier();
  d.store(croq::tid(), 1);
}

CROQ_KERNEL(96) void stuck_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx part) {
  if (croq::tid() >= part && croq::tid() < part + 32) return;
  if (croq::tid() < 32)
#line 71 "barriers.co"
    croq::barrier_named(3, 64);
  else
#line 73 "barriers.co"
    croq::barrier();
  d.store(croq::tid(), 1);
}

CROQ_KERNEL(64) void stuck_warp_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx) {
  if (croq::tid() == 5)
#line 79 "barriers.co"
    croq::barrier();
  else
#line 81 "barriers.co"
    croq::barrier_warp();
  d.store(croq::tid(), 1);
}

CROQ_KERNEL(64) void bad_count_0([[maybe_unused]] croq::context ctx, croq::global<int>, croq::idx) {
#line 86 "barriers.co"
  croq::barrier_named(2, croq::tid() < 32 ? 64u : 32u);
}

CROQ_KERNEL(64) void bad_number_0([[maybe_unused]] croq::context ctx, croq::global<int>, croq::idx at) {
#line 90 "barriers.co"
  croq::barrier_named(static_cast<unsigned>(at), 64);
}

CROQ_KERNEL(64) void stop_among_waiters_0(croq::context ctx, croq::global<int>, croq::idx at) {
#line 94 "barriers.co"
  if (croq::tid() == at) croq::check(ctx, false, 2, at);
  croq::barrier();
}
#line 100 "barriers.cc"
}  // namespace

#define SHIM_OF_BARRIERS(name, blocks, threads, shared_bytes)                                                  \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, croq_i64 extent, croq_i64 at) {  \
    croq::host host(env, "barriers.co");                                                           \
    host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{blocks, 1, 1}, threads,     \
                                                shared_bytes, croq::waits,                         \
                                                croq::bind<int>(data, extent, "data"),             \
                                                croq::idx(at));                                    \
    return host.status();                                                                          \
  }
SHIM_OF_BARRIERS(named, 1, 256, 1024)
SHIM_OF_BARRIERS(warps, 1, 256, 1024)
SHIM_OF_BARRIERS(agree, 1, 128, 640)
SHIM_OF_BARRIERS(leave, 1, 64, 0)
SHIM_OF_BARRIERS(leave_late, 1, 64, 0)
SHIM_OF_BARRIERS(stuck, 3, 96, 0)
SHIM_OF_BARRIERS(stuck_warp, 1, 64, 0)
SHIM_OF_BARRIERS(bad_count, 1, 64, 0)
SHIM_OF_BARRIERS(bad_number, 1, 64, 0)
SHIM_OF_BARRIERS(stop_among_waiters, 4, 64, 0)

extern "C" croq_u32 CONF(rotate)(const croq_env *env, int *data, croq_i64 blocks, croq_i64 threads,
                                croq_i64 rounds) {
  croq::host host(env, "barriers.co");
  host.launch<decltype(&rotate_0), &rotate_0>("rotate_0", croq::grid{blocks, 1, 1}, threads,
                                              threads * 4, croq::waits,
                                              croq::bind<int>(data, blocks * threads, "data"),
                                              croq::idx(rounds));
  return host.status();
}
