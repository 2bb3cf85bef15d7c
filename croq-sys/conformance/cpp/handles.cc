/* Handles: updates, bounds, names, lines. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "handles.co"

CROQ_KERNEL(1) void updates_0([[maybe_unused]] croq::context ctx, croq::global<int> d) {
  d.add(0, 3);
  d.sub(1, 3);
  d.mul(2, 3);
  d.div(3, 3);
  d.rem(4, 3);
  d.shl(5, 3);
  d.shr(6, 3);
  d.bit_and(7, 3);
  d.bit_or(8, 3);
  d.bit_xor(9, 3);
  d.store(10, d.load(9) + d.pointer(8)[1] + d.data()[9]);
  croq::local<int, 4> own;
  own.store(3, 5);
  own.add(3, 6);
  own.pointer(2)[0] = 7;
  d.store(11, own.load(3) + own.data()[2]);
}

CROQ_KERNEL(64) void global_bounds_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  const croq::idx i = croq::block_x() * 64 + croq::tid();
  if (i == 64 * 5 + 7)
#line 27 "handles.co"
    d.store(at, 1);
  if (i == 64 * 9 + 3) d.store(-100, 1);
}

CROQ_KERNEL(64) void shared_bounds_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  croq::shared<int> strip = croq::shared_at<int>(64, 16, "strip");
  croq::barrier();
  if (croq::tid() == 40 && croq::block_x() == 2)
#line 35 "handles.co"
    d.store(0, strip.load(at));
  croq::barrier();
}

CROQ_KERNEL(1) void local_bounds_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
  croq::local<int, 4> own;
  own.store(0, 1);
#line 42 "handles.co"
  d.store(0, own.load(at));
}

CROQ_KERNEL(1) void arena_bounds_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
#line 46 "handles.co"
  croq::shared<int> strip = croq::shared_at<int>(at, 16, "strip");
  strip.store(0, 1);
  d.store(0, 1);
}

CROQ_KERNEL(1) void division_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx at) {
#line 52 "handles.co"
  d.store(0, croq::div(7, croq::to<int>(at)));
}

CROQ_KERNEL(32) void checks_0(croq::context ctx, croq::global<int> d, croq::idx at) {
#line 56 "handles.co"
  croq::check(ctx, croq::tid() < at, 5, croq::tid(), at, 2.75f);
  d.store(croq::tid(), 1);
}

CROQ_KERNEL(1) void misused_barrier_0([[maybe_unused]] croq::context ctx, croq::global<int>, croq::idx) {
#line 61 "handles.co"
  croq::barrier();
}

CROQ_KERNEL(4) void prints_0(croq::context ctx, croq::global<int> d, croq::idx at) {
  if (croq::tid() == 2)
    croq::print(ctx, "at ", at, " ", true, false, " ", 1.5f, " ", 0.1, " ",
                croq::to<croq::f16>(0.25f), " ", static_cast<signed char>(-3), " ",
                static_cast<unsigned char>(200), " ", d.load(0), "\n");
}

CROQ_KERNEL(32) void poison_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx waits) {
  croq::shared<int> s = croq::shared_at<int>(0, 32);
  const croq::idx i = croq::block_x() * 32 + croq::tid();
  d.store(i, s.load(croq::tid()));
  if (waits != 0) croq::barrier();
  s.store(croq::tid(), 77);
}
#line 83 "handles.cc"
}  // namespace

extern "C" croq_u32 CONF(updates)(const croq_env *env, int *data) {
  croq::host host(env, "handles.co");
  host.launch<decltype(&updates_0), &updates_0>("updates_0", croq::grid{1, 1, 1}, 1, 0, croq::plain,
                                                croq::bind<int>(data, 12, "d"));
  return host.status();
}

#define SHIM_OF_HANDLES(name, blocks, threads, shared_bytes, mode)                                            \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, croq_i64 extent, croq_i64 at) {  \
    croq::host host(env, "handles.co");                                                            \
    host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{blocks, 1, 1}, threads,     \
                                                shared_bytes, mode,                                \
                                                croq::bind<int>(data, extent, "data"),             \
                                                croq::idx(at));                                    \
    return host.status();                                                                          \
  }
SHIM_OF_HANDLES(global_bounds, 100, 64, 0, croq::plain)
SHIM_OF_HANDLES(shared_bounds, 4, 64, 128, croq::waits)
SHIM_OF_HANDLES(local_bounds, 1, 1, 0, croq::plain)
SHIM_OF_HANDLES(arena_bounds, 1, 1, 128, croq::plain)
SHIM_OF_HANDLES(division, 1, 1, 0, croq::plain)
SHIM_OF_HANDLES(checks, 1, 32, 0, croq::plain)
SHIM_OF_HANDLES(misused_barrier, 1, 32, 0, croq::plain)
SHIM_OF_HANDLES(prints, 1, 4, 0, croq::plain)

extern "C" croq_u32 CONF(poison)(const croq_env *env, int *data, croq_i64 extent, croq_i64 waits) {
  croq::host host(env, "handles.co");
  const croq::global<int> d = croq::bind<int>(data, extent, "data");
  const croq::grid blocks{extent / 32, 1, 1};
  if (waits != 0)
    host.launch<decltype(&poison_0), &poison_0>("poison_0", blocks, 32, 128, croq::waits, d,
                                                croq::idx(waits));
  else
    host.launch<decltype(&poison_0), &poison_0>("poison_0", blocks, 32, 128, croq::plain, d,
                                                croq::idx(waits));
  return host.status();
}
