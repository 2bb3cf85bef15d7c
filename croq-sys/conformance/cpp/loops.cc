/* Loops that end late or never, and operations of lanes that have exited. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "loops.co"

/* No thread waits. */
CROQ_KERNEL(32) void doubles_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  int k = d.load(croq::tid());
#line 6 "loops.co"
  while (k < 1) {
    croq::turn();
    k = k * 2;
  }
  d.store(croq::tid(), k + static_cast<int>(at));
}

/* Each iteration costs one step. */
CROQ_KERNEL(32) void counted_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  int sum = 0;
#line 16 "loops.co"
  CROQ_STEPS(at);
  for (croq::idx k = 0; k < at; ++k) sum += d.load(32);
  d.store(croq::tid(), sum);
}

/* A while loop with `at` iterations. */
CROQ_KERNEL(32) void late_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  croq::idx k = 0;
#line 24 "loops.co"
  while (k < at) {
    croq::turn();
    k += d.load(32);
  }
  d.store(croq::tid(), static_cast<int>(k));
}

/* A lock that each thread takes; with `at`, thread 5 does not release it. */
CROQ_KERNEL(64) void lock_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
#line 33 "loops.co"
  for (croq::spin spin; d.atomic_cas(0, 0, 1) != 0; spin.again()) {
  }
  d.store(1, d.load(1) + 1);
  if (at == 0 || croq::tid() != 5) d.atomic_exch(0, 0);
}

/* The same in the user's own C++. */
#include "croq_loops_counted.h"
__device__ void acquire(int *lock) {
#line 43 "loops.co"
  while (atomicCAS(lock, 0, 1) != 0)
    ;
}
__device__ constexpr int bits(unsigned v) {
  int n = 0;
  while (v != 0) {
    v &= v - 1;
    ++n;
  }
  return n;
}
static_assert(bits(0xf0f0) == 8, "in constants nothing counts");
#define UNTIL(condition)                                                                           \
  do {                                                                                             \
  } while (!(condition))
__device__ int kinds(int n) {
  int list[4] = {1, 2, 3, 4}, sum = 0;
  for (int v : list)
    if (v != 3) sum += v;
    else continue;
  for (int i = 0, j = n; i < j; ++i, --j) sum += 1;
  do
    sum += 1;
  while (sum < 20);
  if (n > 0)
    while (n > 5) --n;
  else
    sum += 1000;
  CROQ_WHILE_DECLARES(const int left = n) {
    n -= left;
    sum += left;
    if (sum > 1000) break;
  }
  UNTIL(sum++ > 30);
  for (;;) {
    if (++sum > 40) break;
  }
  const auto twice = [](int x) {
    while (x < 50) x *= 2;
    return x;
  };
  return twice(sum);
}
#include "croq_loops_plain.h"
CROQ_KERNEL(64) void user_lock_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  acquire(d.pointer(0));
  d.store(1, d.load(1) + 1);
  if (at == 0 || croq::tid() != 5) d.atomic_exch(0, 0);
}
CROQ_KERNEL(1) void kinds_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  d.store(0, kinds(static_cast<int>(at)));
}

/* Lanes from `at` on have exited before the others shuffle. */
CROQ_KERNEL(64) void away_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  if (croq::tid() >= at) return;
#line 101 "loops.co"
  d.store(croq::tid(), __shfl_down_sync(0xffffffffu, static_cast<int>(croq::tid()), 1u));
}
/* The same with a vote; the last warp has 8 lanes. */
CROQ_KERNEL(40) void votes_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  d.store(croq::tid(), __all_sync(0xffffffffu, croq::tid() % 32 < 8));
  if (croq::tid() >= at) return;
#line 108 "loops.co"
  d.store(croq::tid(), static_cast<int>(__ballot_sync(0xffffffffu, 1)));
}
CROQ_KERNEL(40) void short_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
#line 111 "loops.co"
  d.store(croq::tid(), __shfl_xor_sync(0xffffffffu, static_cast<int>(croq::tid()), static_cast<int>(at)));
}
/* A lane that is not in the mask; lanes that execute another operation. */
CROQ_KERNEL(32) void unnamed_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
#line 114 "loops.co"
  if (croq::tid() < 8) d.store(croq::tid(), __shfl_sync(0xffu, 1, static_cast<int>(at)));
}
CROQ_KERNEL(32) void other_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
#line 117 "loops.co"
  if (croq::tid() < at) d.store(croq::tid(), __shfl_xor_sync(0xffffffffu, 1, 1));
  else __syncwarp();
}
#line 124 "loops.cc"
}  // namespace

#define SHIM_OF_LOOPS(name, threads, mode)                                                         \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, croq_i64 extent, croq_i64 at) {   \
    croq::host host(env, "loops.co");                                                              \
    host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{1, 1, 1}, threads, 0, mode, \
                                                croq::bind<int>(data, extent, "data"),             \
                                                croq::idx(at));                                    \
    return host.status();                                                                          \
  }
SHIM_OF_LOOPS(doubles, 32, croq::plain)
SHIM_OF_LOOPS(counted, 32, croq::plain)
SHIM_OF_LOOPS(late, 32, croq::waits)
SHIM_OF_LOOPS(lock, 64, croq::spins)
SHIM_OF_LOOPS(user_lock, 64, croq::waits)
SHIM_OF_LOOPS(kinds, 1, croq::plain)
SHIM_OF_LOOPS(away, 64, croq::waits)
SHIM_OF_LOOPS(votes, 40, croq::waits)
SHIM_OF_LOOPS(short, 40, croq::waits)
SHIM_OF_LOOPS(unnamed, 32, croq::waits)
SHIM_OF_LOOPS(other, 32, croq::waits)
