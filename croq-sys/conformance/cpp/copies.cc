/* Wide and asynchronous copies: the bytes that they move, when they are executed, and reports. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "copies.co"

/* Every width in every direction: global to shared to local to shared to global. */
template <unsigned V, class T>
CROQ_DEVICE void round_trip(croq::global<T> dst, croq::global<const T> src) {
  croq::shared<T> a = croq::shared_at<T>(0, 64, "a"), b = croq::shared_at<T>(1024, 64, "b");
  croq::local<T, 2 * V> mine;
  const croq::idx at = croq::tid() * V;
  croq::copy<V>(a, at, src, at);
  croq::copy<V>(mine, V, a, at);
  croq::copy<V>(mine, 0, mine, V);
  croq::copy<V>(b, at, mine, 0);
  croq::copy<V>(a, at, b, at);
  croq::copy<V>(dst, at, a, at);
  /* Threads access other elements with another width. */
  croq::barrier();
}
CROQ_KERNEL(4) void widths_0([[maybe_unused]] croq::context ctx, croq::global<unsigned char> d, croq::global<const unsigned char> s) {
  croq::global<short> d2 = croq::bind<short>(d.pointer(64), 64);
  croq::global<const short> s2 = croq::bind<const short>(s.pointer(64), 64);
  croq::global<float> d4 = croq::bind<float>(d.pointer(192), 64);
  croq::global<const float> s4 = croq::bind<const float>(s.pointer(192), 64);
  croq::global<double> d8 = croq::bind<double>(d.pointer(448), 64);
  croq::global<const double> s8 = croq::bind<const double>(s.pointer(448), 64);
  round_trip<16>(d, s);
  round_trip<8>(d2, s2);
  round_trip<4>(d4, s4);
  round_trip<2>(d8, s8);
  round_trip<8>(d, s);
  round_trip<4>(d2, s2);
  round_trip<2>(d4, s4);
  round_trip<1>(d8, s8);
  round_trip<4>(d, s);
  round_trip<2>(d2, s2);
  round_trip<2>(d, s);
  round_trip<1>(d, s);
}

/* The number of an illegal access. */
CROQ_KERNEL(1) void bad_access_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx what) {
  croq::watched<int> s = croq::watched_at<int>(0, 16, "s");
  croq::local<int, 8> mine;
  if (what == 0)
#line 50 "copies.co"
    croq::copy<4>(s, 4, d, 8);
  if (what == 1)
#line 52 "copies.co"
    croq::copy<4>(s, 6, d, 8);
  if (what == 2)
#line 54 "copies.co"
    croq::cp_async<2>(s, 4, d, 9);
  if (what == 3)
#line 56 "copies.co"
    croq::copy<4>(d, 12, s, 16);
  if (what == 4)
#line 58 "copies.co"
    croq::copy<4>(mine, 6, d, 0);
  if (what == 5)
#line 60 "copies.co"
    croq::cp_async_zfill<4>(s, 0, d, 16, true);
  if (what == 6)
#line 62 "copies.co"
    croq::cp_async_zfill<4>(s, 0, d, 1000000, false);
  croq::cp_async_commit();
  croq::cp_async_wait<0>();
}

/* Groups: of `at` copies, each its own group, the wait leaves three pending; raw pointers read. */
CROQ_KERNEL(32) void groups_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::global<const int> src, croq::idx copies) {
  croq::watched<int> s = croq::watched_at<int>(0, 32 * 16, "s");
  int *const raw = s.data() + croq::tid() * 16;
  for (croq::idx k = 0; k < 16; ++k) raw[k] = -1;
  for (croq::idx k = 0; k < copies; ++k) {
    croq::cp_async<1>(s, croq::tid() * 16 + k, src, croq::tid() * 16 + k);
    croq::cp_async_commit();
  }
  croq::cp_async_wait<3>();
  for (croq::idx k = 0; k < 16; ++k) d.store(croq::tid() * 16 + k, raw[k]);
  croq::cp_async_wait<0>();
}

/* A group without copies counts; a copy without a later commit is covered by no wait. */
CROQ_KERNEL(1) void empty_groups_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::global<const int> src, croq::idx) {
  croq::watched<int> s = croq::watched_at<int>(0, 16, "s");
  int *const raw = s.data();
  for (croq::idx k = 0; k < 16; ++k) raw[k] = -1;
  croq::cp_async<4>(s, 0, src, 0);
  croq::cp_async_commit();
  croq::cp_async_commit();
  croq::cp_async<4>(s, 4, src, 4);
  croq::cp_async_wait<2>();
  d.store(0, raw[0]);
  croq::cp_async_wait<1>();
  d.store(1, s.load(0));
  croq::cp_async_wait<0>();
  d.store(2, raw[4]);
  croq::cp_async_commit();
  croq::cp_async_wait<0>();
  d.store(3, s.load(4));
}

/* Ragged rows: elements outside become zero, for each width. */
template <unsigned V, class T>
CROQ_DEVICE void ragged(croq::global<T> d, croq::global<const T> src, croq::idx end) {
  croq::watched<T> s = croq::watched_at<T>(0, 256, "s");
  for (croq::idx at = croq::tid() * V; at < 256; at += 32 * V)
    croq::cp_async_zfill<V>(s, at, src, at, at < end);
  croq::cp_async_commit();
  croq::cp_async_wait<0>();
  croq::barrier();
  for (croq::idx i = croq::tid(); i < 256; i += 32) d.store(i, s.load((i + 37) % 256));
  croq::barrier();
}
CROQ_KERNEL(32) void zfill_0([[maybe_unused]] croq::context ctx, croq::global<unsigned char> d, croq::global<const unsigned char> src, croq::idx width) {
  if (width == 1) ragged<1>(d, src, 80);
  if (width == 2) ragged<2>(d, src, 80);
  if (width == 4) ragged<4>(d, src, 80);
  if (width == 8) ragged<8>(d, src, 80);
  if (width == 16) ragged<16>(d, src, 80);
}

/* A ring of three buffers, refilled while the others are used; `slip` omits one step. */
CROQ_KERNEL(64) void ring_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::global<const int> src, croq::idx slip) {
  croq::watched<int> s = croq::watched_at<int>(0, 3 * 256, "ring");
  const croq::idx steps = 8, own = croq::tid() * 4;
  for (croq::idx k = 0; k < 2; ++k) {
#line 130 "copies.co"
    croq::cp_async<4>(s, k * 256 + own, src, k * 256 + own);
    croq::cp_async_commit();
  }
  int sum = 0;
  for (croq::idx k = 0; k < steps; ++k) {
    if (slip == 1) croq::cp_async_wait<2>();
    else croq::cp_async_wait<1>();
    croq::barrier();
    if (k + 2 < steps) {
      const croq::idx to = slip == 2 ? k + 1 : k + 2;
#line 140 "copies.co"
      croq::cp_async<4>(s, to % 3 * 256 + own, src, (k + 2) * 256 + own);
    }
    if (slip != 3 || k != 3) croq::cp_async_commit();
    for (croq::idx i = 0; i < 4; ++i)
#line 144 "copies.co"
      sum += s.load(k % 3 * 256 + (own + i + 1) % 256);
  }
  d.store(croq::tid(), sum);
  if (slip == 3) croq::cp_async_wait<0>();
}

CROQ_KERNEL(32) void races_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx what) {
  croq::watched<int> s = croq::watched_at<int>(0, 128, "s");
  const croq::idx own = croq::tid() * 4;
#line 160 "copies.co"
  croq::cp_async<4>(s, own, d, own);
  croq::cp_async_commit();
  if (what == 1)
#line 163 "copies.co"
    s.store((own + 4) % 128, 1);
  if (what == 2)
#line 165 "copies.co"
    s.add(own + 3, 1);
  if (what == 3)
#line 167 "copies.co"
    croq::cp_async<2>(s, own + 2, d, own);
  if (what == 4)
#line 169 "copies.co"
    d.store(own, 12345);
  if (what == 5) return;
  if (what == 6)
#line 172 "copies.co"
    croq::copy<2>(d, own, s, own + 2);
  croq::barrier();
  croq::cp_async_wait<0>();
}

/* Shared memory of a launch that is not asynchronous. */
CROQ_KERNEL(1) void untold_0([[maybe_unused]] croq::context ctx, croq::global<int>, croq::idx) {
#line 180 "copies.co"
  croq::watched_at<int>(0, 16, "s");
}
#line 182 "copies.cc"
}  // namespace

#define SHIM_OF_COPIES(name, threads, mode)                                                        \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, croq_i64 extent, croq_i64 at) {  \
    croq::host host(env, "copies.co");                                                             \
    host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{1, 1, 1}, threads, 3072,    \
                                                mode, croq::bind<int>(data, extent, "data"),       \
                                                croq::idx(at));                                    \
    return host.status();                                                                          \
  }
SHIM_OF_COPIES(bad_access, 1, croq::asynchronous)
SHIM_OF_COPIES(races, 32, croq::asynchronous)
SHIM_OF_COPIES(untold, 1, croq::waits)

#define SHIM_WITH_SOURCE(name, T, blocks, threads)                                                 \
  extern "C" croq_u32 CONF(name)(const croq_env *env, T *data, const T *src, croq_i64 extent,     \
                                  croq_i64 at) {                                                   \
    croq::host host(env, "copies.co");                                                             \
    host.launch<decltype(&name##_0), &name##_0>(                                                   \
        #name "_0", croq::grid{blocks, 1, 1}, threads, 3072, croq::asynchronous,                   \
        croq::bind<T>(data, extent, "data"), croq::bind<const T>(src, extent, "src"),              \
        croq::idx(at));                                                                            \
    return host.status();                                                                          \
  }
SHIM_WITH_SOURCE(groups, int, 1, 32)
SHIM_WITH_SOURCE(empty_groups, int, 1, 1)
SHIM_WITH_SOURCE(zfill, unsigned char, 1, 32)
SHIM_WITH_SOURCE(ring, int, 4, 64)

extern "C" croq_u32 CONF(widths)(const croq_env *env, unsigned char *data,
                                const unsigned char *src, croq_i64 extent) {
  croq::host host(env, "copies.co");
  host.launch<decltype(&widths_0), &widths_0>(
      "widths_0", croq::grid{1, 1, 1}, 4, 2048, croq::waits,
      croq::bind<unsigned char>(data, extent, "data"),
      croq::bind<const unsigned char>(src, extent, "src"));
  return host.status();
}
