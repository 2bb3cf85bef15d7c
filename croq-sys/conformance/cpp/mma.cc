/* MMAs: each thread's elements are loaded from memory unchanged, and stored back. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "mma.co"

template <unsigned M, unsigned N, unsigned K, class A, class B, class C>
CROQ_KERNEL(64) void multiply_0([[maybe_unused]] croq::context ctx, croq::global<C> c,
                                croq::global<const A> a, croq::global<const B> b) {
  constexpr int of_a = M * K / 32, of_b = N * K / 32, of_c = M * N / 32;
  const croq::idx thread = croq::tid();
  /* Not at the start of the fragments, because the positions are arguments. */
  croq::fragment<A, 2 * of_a> x;
  croq::fragment<B, 2 * of_b> y;
  croq::fragment<C, 2 * of_c> z;
  CROQ_UNROLL for (int e = 0; e < of_a; ++e) x.store(e, A{});
  CROQ_UNROLL for (int e = 0; e < of_b; ++e) y.store(e, B{});
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) z.store(e, C{});
  CROQ_UNROLL for (int e = 0; e < of_a; ++e) x.store(of_a + e, a.load(thread * of_a + e));
  CROQ_UNROLL for (int e = 0; e < of_b; ++e) y.store(of_b + e, b.load(thread * of_b + e));
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) z.store(of_c + e, c.load(thread * of_c + e));
  croq::mma<M, N, K>(z, of_c, x, of_a, y, of_b);
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) c.store(thread * of_c + e, z.load(of_c + e));
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) z.load(e);
}

/* A matrix of 16-bit elements into later registers, and values of neighbouring lanes. */
CROQ_KERNEL(32) void into_fragments_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx) {
  croq::watched<croq::f16> s = croq::watched_at<croq::f16>(0, 256, "s");
  const croq::idx lane = croq::tid();
  CROQ_UNROLL for (int e = 0; e < 8; ++e)
    s.store(lane * 8 + e, croq::from_bits<croq::f16>(static_cast<unsigned short>(lane * 8 + e)));
  croq::barrier();
  croq::fragment<croq::f16, 6> x;
  croq::ldmatrix<2, false>(x, 2, s, lane * 8);
  CROQ_UNROLL for (int e = 0; e < 4; ++e) d.store(lane * 8 + e, x.load(2 + e).bits);
  const croq::f16 across = croq::of_lane_across(x.load(2), 2);
  d.store(lane * 8 + 4, across.bits);
  d.store(lane * 8 + 5, croq::of_lane_across(static_cast<int>(lane), 5));
  d.store(lane * 8 + 6, static_cast<int>(croq::of_lane_across(static_cast<double>(lane), 1)));
  d.store(lane * 8 + 7, static_cast<int>(croq::of_lane_across(static_cast<float>(lane), 16)));
}
#line 51 "mma.cc"
}  // namespace

/* Every instruction, by number: shape, types of A, B and C. The test has the same list. */
#define CONF_PRODUCTS(each)                                                                        \
  each(8, 8, 4, croq::f16, croq::f16, float) each(8, 8, 4, croq::f16, croq::f16, croq::f16)        \
  each(16, 8, 8, croq::f16, croq::f16, float) each(16, 8, 8, croq::f16, croq::f16, croq::f16)      \
  each(16, 8, 16, croq::f16, croq::f16, float) each(16, 8, 16, croq::f16, croq::f16, croq::f16)    \
  each(16, 8, 8, croq::bf16, croq::bf16, float) each(16, 8, 16, croq::bf16, croq::bf16, float)     \
  each(16, 8, 4, float, float, float) each(16, 8, 8, float, float, float)                          \
  each(8, 8, 4, double, double, double) each(16, 8, 4, double, double, double)                     \
  each(16, 8, 8, double, double, double) each(16, 8, 16, double, double, double)                   \
  CONF_INTEGERS(each, signed char, signed char) CONF_INTEGERS(each, signed char, unsigned char)    \
  CONF_INTEGERS(each, unsigned char, signed char)                                                  \
  CONF_INTEGERS(each, unsigned char, unsigned char)                                                \
  CONF_NIBBLES(each, croq::s4, croq::s4) CONF_NIBBLES(each, croq::s4, croq::u4)                    \
  CONF_NIBBLES(each, croq::u4, croq::s4) CONF_NIBBLES(each, croq::u4, croq::u4)                    \
  each(8, 8, 128, croq::u1, croq::u1, int) each(16, 8, 128, croq::u1, croq::u1, int)               \
  each(16, 8, 256, croq::u1, croq::u1, int)                                                        \
  CONF_EIGHTS(each, croq::f8_e4m3, croq::f8_e4m3) CONF_EIGHTS(each, croq::f8_e4m3, croq::f8_e5m2)  \
  CONF_EIGHTS(each, croq::f8_e5m2, croq::f8_e4m3) CONF_EIGHTS(each, croq::f8_e5m2, croq::f8_e5m2)
#define CONF_INTEGERS(each, A, B)                                                                  \
  each(8, 8, 16, A, B, int) each(16, 8, 16, A, B, int) each(16, 8, 32, A, B, int)
#define CONF_NIBBLES(each, A, B)                                                                   \
  each(8, 8, 32, A, B, int) each(16, 8, 32, A, B, int) each(16, 8, 64, A, B, int)
#define CONF_EIGHTS(each, A, B)                                                                    \
  each(16, 8, 16, A, B, float) each(16, 8, 16, A, B, croq::f16)                                    \
  each(16, 8, 32, A, B, float) each(16, 8, 32, A, B, croq::f16)

extern "C" croq_u32 CONF(multiply)(const croq_env *env, void *c, const void *a, const void *b,
                                   croq_i64 which) {
  croq::host host(env, "mma.co");
  int number = 0;
#define CONF_LAUNCH(M, N, K, A, B, C)                                                              \
  if (which == number++)                                                                           \
    host.launch<decltype(&multiply_0<M, N, K, A, B, C>), &multiply_0<M, N, K, A, B, C>>(           \
        "multiply_0", croq::grid{1, 1, 1}, 64, 0, croq::waits,                                     \
        croq::bind<C>(c, M * N * 2, "c"), croq::bind<const A>(a, M * K * 2, "a"),                  \
        croq::bind<const B>(b, N * K * 2, "b"));
  CONF_PRODUCTS(CONF_LAUNCH)
#undef CONF_LAUNCH
  return host.status();
}

extern "C" croq_u32 CONF(into_fragments)(const croq_env *env, int *data, croq_i64 extent,
                                         croq_i64) {
  croq::host host(env, "mma.co");
  host.launch<decltype(&into_fragments_0), &into_fragments_0>(
      "into_fragments_0", croq::grid{1, 1, 1}, 32, 512, croq::asynchronous,
      croq::bind<int>(data, extent, "data"), croq::idx(0));
  return host.status();
}
