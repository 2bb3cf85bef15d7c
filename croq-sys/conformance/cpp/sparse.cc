/* MMAs with a sparse A: each thread's elements and metadata are loaded from memory unchanged, and
 * the accumulators are stored back. The contents of shared memory also come from the test. */
#include "croq.h"
#include "shims.h"

#define CROQ_WGMMA_SP_N 8
#include "croq_wgmma.h"
#define CROQ_WGMMA_SP_N 40
#include "croq_wgmma.h"
#define CROQ_WGMMA_SP_N 96
#include "croq_wgmma.h"
#define CROQ_WGMMA_SP_N 256
#include "croq_wgmma.h"

namespace {
#line 1 "sparse.co"

template <unsigned K, unsigned F, class A, class B, class C>
CROQ_KERNEL(64) void multiply_sparse_0([[maybe_unused]] croq::context ctx, croq::global<C> c,
                                       croq::global<const A> a, croq::global<const B> b,
                                       croq::global<const unsigned> e) {
  constexpr int of_a = 16 * (K / 2) / 32, of_b = 8 * K / 32, of_c = 4;
  const croq::idx thread = croq::tid();
  /* Not at the start of the fragments, because the positions are arguments. */
  croq::fragment<A, 2 * of_a> x;
  croq::fragment<B, 2 * of_b> y;
  croq::fragment<C, 2 * of_c> z;
  croq::fragment<unsigned, 2> w;
  CROQ_UNROLL for (int i = 0; i < of_a; ++i) x.store(i, A{});
  CROQ_UNROLL for (int i = 0; i < of_b; ++i) y.store(i, B{});
  CROQ_UNROLL for (int i = 0; i < of_c; ++i) z.store(i, C{});
  w.store(0, 0);
  CROQ_UNROLL for (int i = 0; i < of_a; ++i) x.store(of_a + i, a.load(thread * of_a + i));
  CROQ_UNROLL for (int i = 0; i < of_b; ++i) y.store(of_b + i, b.load(thread * of_b + i));
  CROQ_UNROLL for (int i = 0; i < of_c; ++i) z.store(of_c + i, c.load(thread * of_c + i));
  w.store(1, e.load(thread));
  croq::mma_sp<16, 8, K, F>(z, of_c, x, of_a, y, of_b, w, 1);
  CROQ_UNROLL for (int i = 0; i < of_c; ++i) c.store(thread * of_c + i, z.load(of_c + i));
}

/* Of an operand: address, layout, and the number of bytes from one step along K to the next. */
struct sparse_place {
  croq::idx at;
  unsigned swizzle, leading, stride, step;
};
struct sparse_product {
  int which; /* index of the MMA among those with these accumulators */
  sparse_place a, b;
  croq::idx bytes; /* of shared memory; the last of them are the threads' parts of A in registers */
  int steps;
  bool accumulate;
};

constexpr bool sparse_in_shared = false, sparse_in_registers = true;

/* Shared memory as bytes. */
CROQ_DEVICE croq::watched<unsigned char> sparse_image_0(const croq::global<const int> &memory,
                                                        croq::idx bytes) {
  const croq::watched<int> words = croq::watched_at<int>(0, bytes / 4, "words");
  for (croq::idx i = croq::tid(); i < bytes / 4; i += 128) words.store(i, memory.load(i));
  croq::fence_proxy_async();
  croq::barrier();
  return croq::watched_at<unsigned char>(0, bytes, "image");
}
CROQ_DEVICE croq::matrix_descriptor sparse_describe_0(const croq::watched<unsigned char> &memory,
                                                      sparse_place at) {
  return croq::describe(memory, at.at, at.swizzle, at.leading, at.stride);
}

template <unsigned N, unsigned F, class A, class B, bool AT, bool BT, bool Registers, class C, int CN>
CROQ_DEVICE void sparse_product_0(croq::fragment<C, CN> &z, croq::idx before, croq::matrix_descriptor x,
                                  croq::matrix_descriptor y, croq::fragment<unsigned, 2> &w,
                                  const sparse_product &at) {
  constexpr unsigned K = 64 / sizeof(A);
  if constexpr (Registers) {
    /* One step. */
    constexpr int of_a = 16 / sizeof(A);
    constexpr croq::idx size = sizeof(A), bytes_of_a = 128 * 16;
    const croq::watched<A> image = croq::watched_at<A>(0, at.bytes / size, "image");
    const croq::idx own = (at.bytes - bytes_of_a) / size + croq::tid() * of_a;
    croq::fragment<A, 2 * of_a> r;
    CROQ_UNROLL for (int i = 0; i < of_a; ++i) r.store(i, A{});
    CROQ_UNROLL for (int i = 0; i < of_a; ++i) r.store(of_a + i, image.load(own + i));
    croq::wgmma_fence(z, r, w);
    croq::wgmma_sp<N, K, F, B, BT>(z, before, r, of_a, y, w, 1, at.accumulate);
    croq::wgmma_commit();
    croq::wgmma_wait<0>(z, r, w);
  } else {
    croq::wgmma_fence(z, w);
    croq::wgmma_sp<N, K, F, A, B, AT, BT>(z, before, x, y, w, 1, at.accumulate);
    if constexpr (N == 8 || N == 96)
      for (int s = 1; s < at.steps; ++s) {
        const unsigned step = static_cast<unsigned>(s);
        croq::wgmma_sp<N, K, F, A, B, AT, BT>(z, before, croq::advance(x, step * at.a.step),
                                              croq::advance(y, step * at.b.step), w, 1, true);
      }
    croq::wgmma_commit();
    croq::wgmma_wait<0>(z, w);
  }
}

/* Every combination of types, by accumulator type; the test has the same list. */
#define CONF_SP_BY_F(each, F, T)                                                                   \
  each(F, T, T, false, false, sparse_in_shared) each(F, T, T, false, true, sparse_in_shared)       \
  each(F, T, T, true, false, sparse_in_shared) each(F, T, T, true, true, sparse_in_shared)         \
  each(F, T, T, false, false, sparse_in_registers) each(F, T, T, false, true, sparse_in_registers)
#define CONF_SP_OF_TWO_BYTES(each, T) CONF_SP_BY_F(each, 0, T) CONF_SP_BY_F(each, 1, T)
#define CONF_SP_OF_OTHERS(each, A, B)                                                              \
  each(0, A, B, false, false, sparse_in_shared) each(0, A, B, false, false, sparse_in_registers)
#define CONF_SP_OF_EIGHTS(each)                                                                    \
  CONF_SP_OF_OTHERS(each, croq::f8_e4m3, croq::f8_e4m3)                                            \
  CONF_SP_OF_OTHERS(each, croq::f8_e4m3, croq::f8_e5m2)                                            \
  CONF_SP_OF_OTHERS(each, croq::f8_e5m2, croq::f8_e4m3)                                            \
  CONF_SP_OF_OTHERS(each, croq::f8_e5m2, croq::f8_e5m2)
#define CONF_SP_TO_FLOAT(each)                                                                     \
  CONF_SP_OF_TWO_BYTES(each, croq::f16) CONF_SP_OF_TWO_BYTES(each, croq::bf16)                     \
  CONF_SP_OF_EIGHTS(each)
#define CONF_SP_TO_HALF(each) CONF_SP_OF_TWO_BYTES(each, croq::f16) CONF_SP_OF_EIGHTS(each)

template <unsigned N, class C>
CROQ_KERNEL(128) void warpgroup_sparse_0([[maybe_unused]] croq::context ctx, croq::global<C> c,
                                         croq::global<const int> memory,
                                         croq::global<const unsigned> e, sparse_product at) {
  constexpr int of_c = N / 2, before = 4;
  const croq::idx thread = croq::tid();
  const croq::watched<unsigned char> image = sparse_image_0(memory, at.bytes);
  const croq::matrix_descriptor x = sparse_describe_0(image, at.a),
                                y = sparse_describe_0(image, at.b);
  croq::fragment<C, before + of_c> z;
  croq::fragment<unsigned, 2> w;
  w.store(0, 0);
  w.store(1, e.load(thread));
  CROQ_UNROLL for (int i = 0; i < before; ++i) z.store(i, C{});
  CROQ_UNROLL for (int i = 0; i < of_c; ++i) z.store(before + i, c.load(thread * of_c + i));
  int number = 0;
#define CONF_CASE(F, A, B, AT, BT, R)                                                              \
  if (at.which == number++) sparse_product_0<N, F, A, B, AT, BT, R>(z, before, x, y, w, at);
  if constexpr (croq::same<C, float>) { CONF_SP_TO_FLOAT(CONF_CASE) }
  else { CONF_SP_TO_HALF(CONF_CASE) }
#undef CONF_CASE
  CROQ_UNROLL for (int i = 0; i < of_c; ++i) c.store(thread * of_c + i, z.load(before + i));
}
#line 150 "sparse.cc"
}  // namespace

/* Every instruction, by number: K, the threads that provide metadata, types of A, B and C. The test
 * has the same list. */
#define CONF_SPARSE_OF_TWO_BYTES(each, T, C)                                                       \
  each(16, 0, T, T, C) each(16, 1, T, T, C) each(16, 2, T, T, C) each(16, 3, T, T, C)              \
  each(32, 0, T, T, C) each(32, 1, T, T, C)
#define CONF_SPARSE_PRODUCTS(each)                                                                 \
  CONF_SPARSE_OF_TWO_BYTES(each, croq::f16, float)                                                 \
  CONF_SPARSE_OF_TWO_BYTES(each, croq::f16, croq::f16)                                             \
  CONF_SPARSE_OF_TWO_BYTES(each, croq::bf16, float)                                                \
  each(64, 0, croq::f8_e4m3, croq::f8_e4m3, float) each(64, 0, croq::f8_e4m3, croq::f8_e5m2, float) \
  each(64, 0, croq::f8_e5m2, croq::f8_e4m3, float) each(64, 0, croq::f8_e5m2, croq::f8_e5m2, float)

extern "C" croq_u32 CONF(multiply_sparse)(const croq_env *env, void *c, const void *a, const void *b,
                                          const void *e, croq_i64 which) {
  croq::host host(env, "sparse.co");
  int number = 0;
#define CONF_LAUNCH(K, F, A, B, C)                                                                 \
  if (which == number++)                                                                           \
    host.launch<decltype(&multiply_sparse_0<K, F, A, B, C>), &multiply_sparse_0<K, F, A, B, C>>(   \
        "multiply_sparse_0", croq::grid{1, 1, 1}, 64, 0, croq::waits,                              \
        croq::bind<C>(c, 16 * 8 * 2, "c"), croq::bind<const A>(a, 16 * K, "a"),                    \
        croq::bind<const B>(b, 8 * K * 2, "b"), croq::bind<const unsigned>(e, 64, "e"));
  CONF_SPARSE_PRODUCTS(CONF_LAUNCH)
#undef CONF_LAUNCH
  return host.status();
}

#define CONF_SP_ONE(F, A, B, AT, BT, R) +1
#define CONF_SP_ALL(each, N)                                                                       \
  each(N, float, CONF_SP_TO_FLOAT(CONF_SP_ONE)) each(N, croq::f16, CONF_SP_TO_HALF(CONF_SP_ONE))

/* numbers: index of the MMA; for A and then for B: start, swizzle, leading, stride, step; bytes of
 * shared memory, steps, accumulate. */
extern "C" croq_u32 CONF(warpgroup_sparse)(const croq_env *env, void *c, const void *memory,
                                           const void *e, const croq_i64 *n) {
  croq::host host(env, "sparse.co");
  const auto operand = [](const croq_i64 *m) {
    const auto narrow = [=](int i) { return static_cast<unsigned>(m[i]); };
    return sparse_place{static_cast<croq::idx>(m[0]), narrow(1), narrow(2), narrow(3), narrow(4)};
  };
  sparse_product at = {static_cast<int>(n[0]), operand(n + 1),           operand(n + 6),
                       static_cast<croq::idx>(n[11]), static_cast<int>(n[12]), n[13] != 0};
#define CONF_LAUNCH(N, C, count)                                                                   \
  if (at.which >= 0 && at.which < 0 count)                                                         \
    host.launch<decltype(&warpgroup_sparse_0<N, C>), &warpgroup_sparse_0<N, C>>(                   \
        "warpgroup_sparse_0", croq::grid{1, 1, 1}, 128, at.bytes, croq::async_proxy,               \
        croq::bind<C>(c, N * 64, "c"), croq::bind<const int>(memory, at.bytes / 4, "memory"),      \
        croq::bind<const unsigned>(e, 128, "e"), at);                                              \
  at.which -= 0 count;
  CONF_SP_ALL(CONF_LAUNCH, 8)
  CONF_SP_ALL(CONF_LAUNCH, 40)
  CONF_SP_ALL(CONF_LAUNCH, 96)
  CONF_SP_ALL(CONF_LAUNCH, 256)
#undef CONF_LAUNCH
  return host.status();
}
