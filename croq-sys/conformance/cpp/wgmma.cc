/* Products of matrices by a warpgroup: shared memory comes as it is from the test, which also says where
 * operands lie in it; each thread's registers come from memory as they are and go back there. */
#include "croq.h"
#include "shims.h"

#define CROQ_WGMMA_N 8
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 16
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 24
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 32
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 40
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 48
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 56
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 64
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 72
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 80
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 88
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 96
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 104
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 112
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 120
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 128
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 136
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 144
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 152
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 160
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 168
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 176
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 184
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 192
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 200
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 208
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 216
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 224
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 232
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 240
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 248
#include "croq_wgmma.h"
#define CROQ_WGMMA_N 256
#include "croq_wgmma.h"

namespace {
#line 1 "wgmma.co"

/* Of an operand: where it is, how, and by how many bytes each step along K goes on. */
struct operand_place {
  croq::idx at;
  unsigned swizzle, leading, stride, step;
};
struct product_place {
  operand_place a, b;
  croq::idx bytes; /* of shared memory */
  int steps;
  bool accumulate;
};

constexpr bool of_shared = false, of_registers = true;

/* As the bytes of shared memory are. */
template <class T>
CROQ_DEVICE croq::watched<T> image_0(const croq::global<const int> &memory, croq::idx bytes) {
  const croq::watched<int> words = croq::watched_at<int>(0, bytes / 4, "words");
  for (croq::idx i = croq::tid(); i < bytes / 4; i += 128) words.store(i, memory.load(i));
  croq::fence_proxy_async();
  croq::barrier();
  return croq::watched_at<T>(0, bytes / static_cast<croq::idx>(sizeof(T)), "image");
}
template <class T>
CROQ_DEVICE croq::matrix_descriptor describe_0(const croq::watched<T> &memory, operand_place at) {
  return croq::describe(memory, at.at / static_cast<croq::idx>(sizeof(T)), at.swizzle, at.leading,
                        at.stride);
}

template <unsigned N, class A, class B, class C, bool AT, bool BT, bool Registers>
CROQ_KERNEL(128) void warpgroup_0([[maybe_unused]] croq::context ctx, croq::global<C> c,
                                  croq::global<const A> a, croq::global<const int> memory,
                                  product_place at) {
  constexpr int of_c = N / 2, of_a = 16 / sizeof(A), before = 4;
  constexpr unsigned K = 32 / sizeof(A);
  const croq::idx thread = croq::tid();
  const croq::watched<A> image = image_0<A>(memory, at.bytes);
  /* Not at the beginning of the fragments: the places are arguments. */
  croq::fragment<C, before + of_c> z;
  CROQ_UNROLL for (int e = 0; e < before; ++e) z.store(e, C{});
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) z.store(before + e, c.load(thread * of_c + e));
  const croq::matrix_descriptor y = describe_0(image, at.b);
  if constexpr (Registers) {
    /* One step. */
    croq::fragment<A, 2 * of_a> x;
    CROQ_UNROLL for (int e = 0; e < of_a; ++e) x.store(e, A{});
    CROQ_UNROLL for (int e = 0; e < of_a; ++e) x.store(of_a + e, a.load(thread * of_a + e));
    croq::wgmma_fence(z, x);
    croq::wgmma<N, K, B, BT>(z, before, x, of_a, y, at.accumulate);
    croq::wgmma_commit();
    croq::wgmma_wait<0>(z, x);
  } else {
    const croq::matrix_descriptor x = describe_0(image, at.a);
    croq::wgmma_fence(z);
    for (int s = 0; s < at.steps; ++s) {
      const unsigned step = static_cast<unsigned>(s);
      croq::wgmma<N, K, A, B, AT, BT>(z, before, croq::advance(x, step * at.a.step),
                                      croq::advance(y, step * at.b.step), at.accumulate || s > 0);
    }
    croq::wgmma_commit();
    croq::wgmma_wait<0>(z);
  }
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) c.store(thread * of_c + e, z.load(before + e));
}
#line 139 "wgmma.cc"
}  // namespace

/* Every combination of types for two numbers of columns, and every number for some of them. The test has
 * the same list. */
#define CONF_OF_TWO_BYTES(each, N, T, C)                                                           \
  each(N, T, T, C, false, false, of_shared) each(N, T, T, C, false, true, of_shared)               \
  each(N, T, T, C, true, false, of_shared) each(N, T, T, C, true, true, of_shared)                 \
  each(N, T, T, C, false, false, of_registers) each(N, T, T, C, false, true, of_registers)
#define CONF_OF_OTHERS(each, N, A, B, C)                                                           \
  each(N, A, B, C, false, false, of_shared) each(N, A, B, C, false, false, of_registers)
#define CONF_OF_EIGHTS(each, N, A, B)                                                              \
  CONF_OF_OTHERS(each, N, A, B, float) CONF_OF_OTHERS(each, N, A, B, croq::f16)
#define CONF_ALL_TYPES(each, N)                                                                    \
  CONF_OF_TWO_BYTES(each, N, croq::f16, float)                                                     \
  CONF_OF_TWO_BYTES(each, N, croq::f16, croq::f16)                                                 \
  CONF_OF_TWO_BYTES(each, N, croq::bf16, float)                                                    \
  CONF_OF_OTHERS(each, N, float, float, float)                                                     \
  CONF_OF_EIGHTS(each, N, croq::f8_e4m3, croq::f8_e4m3)                                            \
  CONF_OF_EIGHTS(each, N, croq::f8_e4m3, croq::f8_e5m2)                                            \
  CONF_OF_EIGHTS(each, N, croq::f8_e5m2, croq::f8_e4m3)                                            \
  CONF_OF_EIGHTS(each, N, croq::f8_e5m2, croq::f8_e5m2)                                            \
  CONF_OF_OTHERS(each, N, signed char, signed char, int)                                           \
  CONF_OF_OTHERS(each, N, signed char, unsigned char, int)                                         \
  CONF_OF_OTHERS(each, N, unsigned char, signed char, int)                                         \
  CONF_OF_OTHERS(each, N, unsigned char, unsigned char, int)
#define CONF_WIDE(each, N)                                                                         \
  each(N, croq::f16, croq::f16, float, false, true, of_shared)                                     \
  each(N, croq::f8_e4m3, croq::f8_e4m3, croq::f16, false, false, of_shared)
#define CONF_EVEN(each, N)                                                                         \
  CONF_WIDE(each, N) each(N, signed char, signed char, int, false, false, of_shared)
#define CONF_WARPGROUP_PRODUCTS(each)                                                              \
  CONF_ALL_TYPES(each, 8) CONF_ALL_TYPES(each, 96)                                                 \
  CONF_EVEN(each, 16) CONF_EVEN(each, 24) CONF_EVEN(each, 32) CONF_WIDE(each, 40)                  \
  CONF_EVEN(each, 48) CONF_WIDE(each, 56) CONF_EVEN(each, 64) CONF_WIDE(each, 72)                  \
  CONF_EVEN(each, 80) CONF_WIDE(each, 88) CONF_WIDE(each, 104) CONF_EVEN(each, 112)                \
  CONF_WIDE(each, 120) CONF_EVEN(each, 128) CONF_WIDE(each, 136) CONF_EVEN(each, 144)              \
  CONF_WIDE(each, 152) CONF_EVEN(each, 160) CONF_WIDE(each, 168) CONF_EVEN(each, 176)              \
  CONF_WIDE(each, 184) CONF_EVEN(each, 192) CONF_WIDE(each, 200) CONF_EVEN(each, 208)              \
  CONF_WIDE(each, 216) CONF_EVEN(each, 224) CONF_WIDE(each, 232) CONF_EVEN(each, 240)              \
  CONF_WIDE(each, 248) CONF_EVEN(each, 256)

/* numbers: which; of A and then of B where, swizzle, leading, stride, step; bytes of shared memory, steps,
 * accumulate. */
extern "C" croq_u32 CONF(warpgroup)(const croq_env *env, void *c, const void *a, const void *memory,
                                    const croq_i64 *n) {
  croq::host host(env, "wgmma.co");
  const auto operand = [](const croq_i64 *m) {
    const auto narrow = [=](int i) { return static_cast<unsigned>(m[i]); };
    return operand_place{static_cast<croq::idx>(m[0]), narrow(1), narrow(2), narrow(3), narrow(4)};
  };
  const product_place at = {operand(n + 1), operand(n + 6), static_cast<croq::idx>(n[11]),
                            static_cast<int>(n[12]), n[13] != 0};
  int number = 0;
#define CONF_LAUNCH(N, A, B, C, AT, BT, R)                                                         \
  if (n[0] == number++)                                                                            \
    host.launch<decltype(&warpgroup_0<N, A, B, C, AT, BT, R>), &warpgroup_0<N, A, B, C, AT, BT, R>>( \
        "warpgroup_0", croq::grid{1, 1, 1}, 128, at.bytes, croq::async_proxy,                      \
        croq::bind<C>(c, N * 64, "c"), croq::bind<const A>(a, 128 * 16 / sizeof(A), "a"),          \
        croq::bind<const int>(memory, at.bytes / 4, "memory"), at);
  CONF_WARPGROUP_PRODUCTS(CONF_LAUNCH)
#undef CONF_LAUNCH
  return host.status();
}
