/* Misuse of WGMMA, to be detected by the simulated GPU. */
#include "croq.h"
#include "croq_wgmma.h"
#include "shims.h"

namespace {
#line 1 "misuse.co"

/* A has 64 rows and B 16, swizzled by 128 bytes, all ones; d gets each thread's first two
 * accumulators of this MMA, and those of a second one. */
CROQ_KERNEL(128) void misuse_0([[maybe_unused]] croq::context ctx, croq::global<float> d, croq::idx which) {
  const croq::watched<croq::f16> s = croq::watched_at<croq::f16>(0, 80 * 64, "s");
  const croq::idx thread = croq::tid();
  const croq::f16 one = croq::to<croq::f16>(1.0f), two = croq::to<croq::f16>(2.0f);
  for (croq::idx i = thread * 8; i < 80 * 64; i += i % 8 == 7 ? 128 * 8 - 7 : 1)
    s.store(i, one);
  if (which != 1 || thread != 73) croq::fence_proxy_async();
  croq::barrier();
  croq::fragment<float, 12> c;
  croq::fragment<croq::f16, 8> x;
  for (int e = 0; e < 12; ++e) c.store(e, 0.5f);
  for (int e = 0; e < 8; ++e) x.store(e, one);
  const croq::idx start = which == 2 ? 79 * 64 : which == 3 ? 64 * 72 : 0;
  const croq::matrix_descriptor a = croq::describe(s, start, 128, 16, 1024);
  const croq::matrix_descriptor b = croq::describe(s, 64 * 64, 128, 16, 1024);
  if (which != 4)
    croq::wgmma_fence(c, x);
  if (which == 5) c.store(3, 1.0f);
  if (which == 6 && thread >= 96) return;
  if (which == 7 && thread == 100)
    croq::wgmma<8, 16, croq::f16, croq::f16>(c, 0, croq::advance(a, 32), b, true);
  if (which == 8 || which == 13 || which == 14)
    croq::wgmma<8, 16, croq::f16>(c, 0, x, 0, b, true);
  croq::wgmma<8, 16, croq::f16, croq::f16>(c, 0, a, b, true);
  croq::wgmma_commit();
  if (which == 9) c.add(2, 1.0f);
  if (which == 10) c.store(8, 7.0f);
  if (which == 11 && thread == 9) s.store(64 * 64 + 1, two);
  if (which == 12) x.store(5, two);
  if (which == 13) x.load(5);
  if (which == 14) x.store(7, two);
  for (int e = 0; which == 15 && e < 32; ++e) *s.pointer(thread * 32 + e) = two;
  croq::barrier();
  if (which == 16) return;
  if (which == 17)
    croq::wgmma<16, 16, croq::f16, croq::f16>(c, 0, a, b, true);
  if (which == 18 && thread == 0) croq::wgmma_wait<0>(c);
  if (which == 18 && thread == 0) s.store(3, two);
  if (which == 19)
    croq::wgmma<8, 16, croq::f16, croq::f16>(c, 4, a, b, false);
  if (which == 20) {
    croq::wgmma<8, 16, croq::f16, croq::f16>(c, 4, a, b, false);
    croq::wgmma_commit();
    croq::wgmma_wait<1>(c);
    d.store(thread, c.load(0));
    d.store(thread + 128, c.load(4));
  }
  if (which == 21 && thread == 3) croq::cp_async<8>(s, 64, croq::bind<const croq::f16>(d.first, 256), 0);
  croq::wgmma_wait<0>(c, x);
  croq::barrier();
  s.store(thread, two);
  d.store(thread, c.load(0));
  d.store(thread + 128, c.load(4));
  if (which == 22) {
    croq::fence_proxy_async();
    croq::barrier();
    croq::wgmma<8, 16, croq::f16, croq::f16>(c, 0, a, b, true);
  }
}
/* Two warpgroups read the same operands, the first of them twice. */
CROQ_KERNEL(256) void readers_0([[maybe_unused]] croq::context ctx, croq::global<float> d, croq::idx which) {
  const croq::watched<croq::f16> s = croq::watched_at<croq::f16>(0, 80 * 64, "s");
  const croq::idx thread = croq::tid();
  const croq::f16 one = croq::to<croq::f16>(1.0f), two = croq::to<croq::f16>(2.0f);
  for (croq::idx i = thread; i < 80 * 64; i += 256) s.store(i, one);
  croq::fence_proxy_async();
  croq::barrier();
  const croq::matrix_descriptor a = croq::describe(s, 0, 128, 16, 1024);
  const croq::matrix_descriptor b = croq::describe(s, 64 * 64, 128, 16, 1024);
  croq::fragment<float, 4> c, e;
#line 80 "misuse.co"
  croq::wgmma_fence(c, e);
  croq::wgmma<8, 16, croq::f16, croq::f16>(c, 0, a, b, false);
  croq::wgmma_commit();
  if (thread < 128) {
    croq::wgmma<8, 16, croq::f16, croq::f16>(e, 0, a, b, false);
    croq::wgmma_commit();
    croq::wgmma_wait<1>(c);
    if (which != 1) croq::wgmma_wait<0>(e);
    croq::barrier_named(1, 128);
    if (which < 2) s.store(64 * 64, two);
    if (which == 1) croq::wgmma_wait<0>(e);
    croq::barrier();
  } else {
    if (which != 0) croq::wgmma_wait<0>(c);
    croq::barrier();
    if (which == 0) croq::wgmma_wait<0>(c);
  }
  s.store(64 * 64 + thread, two);
  d.store(thread, c.load(0));
}
#line 103 "wgmma_misuse.cc"
}  // namespace

extern "C" croq_u32 CONF(misuse)(const croq_env *env, float *data, croq_i64 which) {
  croq::host host(env, "misuse.co");
  const auto launch = [&](auto mode) {
    host.launch<decltype(&misuse_0), &misuse_0>("misuse_0", croq::grid{1, 1, 1},
                                                which == 23 ? 96 : 128, 80 * 128, mode,
                                                croq::bind<float>(data, 256, "data"),
                                                croq::idx(which));
  };
  if (which == 24) launch(croq::asynchronous);
  else launch(croq::async_proxy);
  return host.status();
}

extern "C" croq_u32 CONF(readers)(const croq_env *env, float *data, croq_i64 which) {
  croq::host host(env, "misuse.co");
  host.launch<decltype(&readers_0), &readers_0>(
      "readers_0", croq::grid{1, 1, 1}, 256, 80 * 128, croq::async_proxy,
      croq::bind<float>(data, 256, "data"), croq::idx(which));
  return host.status();
}
