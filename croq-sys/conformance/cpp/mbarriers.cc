/* mbarriers: phases, their parity, counts of arrivals and bytes, and what is reported. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "mbarriers.co"

/* By one thread: the result of `try_wait` for each parity after each step. */
CROQ_KERNEL(1) void phases_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx) {
  croq::mbarriers b = croq::mbarriers_at(64, 2, "b");
  croq::idx at = 0;
  auto look = [&] {
    for (unsigned parity = 0; parity < 2; ++parity)
      d.store(at++, croq::mbarrier_try_wait(b, 1, parity) ? 1 : 0);
  };
  croq::mbarrier_init(b, 1, 3);
  look();
  croq::mbarrier_arrive(b, 1);
  croq::mbarrier_arrive(b, 1);
  look();
  croq::mbarrier_arrive(b, 1);
  look();
  for (int i = 0; i < 3; ++i) croq::mbarrier_arrive(b, 1);
  look();
  croq::mbarrier_inval(b, 1);
  croq::mbarrier_init(b, 1, 1);
  look();
  croq::mbarrier_expect_tx(b, 1, 0);
  croq::mbarrier_arrive_expect_tx(b, 1, 0);
  look();
}

/* A producer warp and a consumer warp with a ring of `slots` slots, as events are lowered. */
CROQ_KERNEL(64) void pipeline_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx slots) {
  croq::watched<int> ring = croq::watched_at<int>(0, 4 * 32, "ring");
  croq::mbarriers full = croq::mbarriers_at(512, 4, "full");
  croq::mbarriers empty = croq::mbarriers_at(544, 4, "empty");
  const croq::idx steps = 40, lane = croq::tid() % 32;
  if (croq::tid() == 0) {
    for (croq::idx s = 0; s < slots; ++s) {
      croq::mbarrier_init(full, s, 32);
      croq::mbarrier_init(empty, s, 32);
    }
    croq::fence_mbarrier_init();
  }
  croq::barrier();
  if (croq::tid() < 32) {
    for (croq::idx k = 0; k < steps; ++k) {
      const croq::idx s = k % slots;
      croq::mbarrier_wait(ctx, empty, s, static_cast<unsigned>(k / slots) & 1u);
      ring.store(s * 32 + lane, static_cast<int>(k * 32 + lane));
      croq::mbarrier_arrive(full, s);
    }
  } else {
    for (croq::idx s = 0; s < slots; ++s) croq::mbarrier_arrive(empty, s);
    int sum = 0;
    for (croq::idx k = 0; k < steps; ++k) {
      const croq::idx s = k % slots;
      croq::mbarrier_wait(ctx, full, s, static_cast<unsigned>(k / slots) & 1u);
      sum += ring.load(s * 32 + 31 - lane);
      croq::mbarrier_arrive(empty, s);
    }
    d.store(lane, sum);
  }
}

/* The first thread polls while the second works. */
CROQ_KERNEL(2) void poll_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx gives_up) {
  croq::mbarriers b = croq::mbarriers_at(0, 1, "b");
  if (croq::tid() == 0) croq::mbarrier_init(b, 0, 1);
  croq::barrier();
  if (croq::tid() == 1) {
    for (int i = 0; i < 10; ++i) croq::barrier_warp(2);
    if (gives_up == 0) croq::mbarrier_arrive(b, 0);
    if (gives_up == 2)
#line 80 "mbarriers.co"
      while (!croq::mbarrier_try_wait(b, 0, 0)) {
      }
  } else if (gives_up == 1) {
    d.store(0, croq::mbarrier_try_wait(b, 0, 0) ? 1 : 2);
  } else {
#line 86 "mbarriers.co"
    while (!croq::mbarrier_try_wait(b, 0, 0)) {
    }
    d.store(0, 3);
  }
}

CROQ_KERNEL(64) void misused_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx what) {
  croq::mbarriers b = croq::mbarriers_at(0, 2, "b");
  croq::watched<int> raw = croq::watched_at<int>(0, 4, "raw");
  if (croq::tid() == 0)
#line 100 "mbarriers.co"
    croq::mbarrier_init(b, 0, 32);
  croq::barrier();
  if (what == 1 && croq::tid() < 33)
#line 103 "mbarriers.co"
    croq::mbarrier_arrive(b, 0);
  if (what == 2 && croq::tid() < 31)
#line 105 "mbarriers.co"
    croq::mbarrier_arrive(b, 0);
  if (what == 2)
#line 107 "mbarriers.co"
    croq::mbarrier_wait(ctx, b, 0, 0);
  if (what == 3 && croq::tid() == 0)
#line 109 "mbarriers.co"
    croq::mbarrier_arrive(b, 1);
  if (what == 4 && croq::tid() == 0)
#line 111 "mbarriers.co"
    croq::mbarrier_init(b, 0, 32);
  if (what == 5 && croq::tid() == 0)
#line 113 "mbarriers.co"
    croq::mbarrier_init(b, 1, 0);
  if (what == 6 && croq::tid() == 0)
#line 115 "mbarriers.co"
    d.store(0, raw.load(1));
  if (what == 7 && croq::tid() == 0)
#line 117 "mbarriers.co"
    croq::mbarrier_arrive(b, 2);
  if (what == 8 && croq::tid() < 32)
#line 119 "mbarriers.co"
    croq::mbarrier_arrive_expect_tx(b, 0, croq::tid() == 5 ? 64 : 0);
  if (what == 8)
#line 121 "mbarriers.co"
    croq::mbarrier_wait(ctx, b, 0, 0);
  if (what == 9 && croq::tid() == 0)
#line 123 "mbarriers.co"
    croq::mbarrier_expect_tx(b, 0, 16);
  if (what == 10 && croq::tid() == 0) {
    croq::mbarrier_expect_tx(b, 0, 1u << 19);
#line 126 "mbarriers.co"
    croq::mbarrier_expect_tx(b, 0, 1u << 19);
  }
  if (what == 11 || what == 12) {
    if (croq::tid() == 0)
#line 128 "mbarriers.co"
      croq::event_site(b, CROQ_SITE_READY, "0..31");
    croq::barrier();
    if (croq::tid() < 32 && (what == 11 || croq::tid() != 5))
#line 131 "mbarriers.co"
      croq::mbarrier_arrive_expect_tx(b, 0, croq::tid() == 6 ? 64 : 0);
#line 133 "mbarriers.co"
    croq::mbarrier_wait(ctx, b, 0, 0);
  }
}

/* Two phases end before thread 1, which waits for the first, checks again. */
CROQ_KERNEL(2) void lagging_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx lags) {
  croq::mbarriers b = croq::mbarriers_at(0, 1, "b");
  if (croq::tid() == 0) croq::mbarrier_init(b, 0, 1);
  croq::barrier();
  if (croq::tid() == 1) {
#line 140 "mbarriers.co"
    croq::mbarrier_wait(ctx, b, 0, 0);
    d.store(0, 1);
  } else {
    croq::mbarrier_arrive(b, 0);
    if (lags != 0) croq::mbarrier_arrive(b, 0);
  }
}
#line 152 "mbarriers.cc"
}  // namespace

#define SHIM_OF_MBARRIERS(name, threads)                                                           \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, croq_i64 extent, croq_i64 at) {  \
    croq::host host(env, "mbarriers.co");                                                          \
    host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{1, 1, 1}, threads, 1024,    \
                                                croq::asynchronous,                                \
                                                croq::bind<int>(data, extent, "data"),             \
                                                croq::idx(at));                                    \
    return host.status();                                                                          \
  }
SHIM_OF_MBARRIERS(phases, 1)
SHIM_OF_MBARRIERS(pipeline, 64)
SHIM_OF_MBARRIERS(poll, 2)
SHIM_OF_MBARRIERS(misused, 64)
SHIM_OF_MBARRIERS(lagging, 2)
