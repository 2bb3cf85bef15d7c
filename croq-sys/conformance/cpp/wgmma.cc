/* WGMMA: the contents of shared memory and the positions of operands come from the test; each
 * thread's registers are loaded from memory unchanged, and stored back. */
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

/* Of an operand: address, layout, and the number of bytes from one step along K to the next. */
struct operand_place {
  croq::idx at;
  unsigned swizzle, leading, stride, step;
};
struct product_place {
  int which; /* index of the MMA among those with these accumulators */
  operand_place a, b;
  croq::idx bytes; /* of shared memory; the last of them are the threads' parts of A in registers */
  int steps;
  bool accumulate;
};

constexpr bool of_shared = false, of_registers = true;
constexpr croq::idx bytes_of_a = 128 * 16;

/* Shared memory as bytes. */
CROQ_DEVICE croq::watched<unsigned char> image_0(const croq::global<const int> &memory,
                                                 croq::idx bytes) {
  const croq::watched<int> words = croq::watched_at<int>(0, bytes / 4, "words");
  for (croq::idx i = croq::tid(); i < bytes / 4; i += 128) words.store(i, memory.load(i));
  croq::fence_proxy_async();
  croq::barrier();
  return croq::watched_at<unsigned char>(0, bytes, "image");
}
CROQ_DEVICE croq::matrix_descriptor describe_0(const croq::watched<unsigned char> &memory,
                                               operand_place at) {
  return croq::describe(memory, at.at, at.swizzle, at.leading, at.stride);
}

/* The accumulators begin at `before`, not at 0, because positions are arguments. */
template <unsigned N, class A, class B, bool AT, bool BT, bool Registers, class C, int CN>
CROQ_DEVICE void product_0(croq::fragment<C, CN> &z, croq::idx before, croq::matrix_descriptor x,
                           croq::matrix_descriptor y, const product_place &at) {
  constexpr unsigned K = 32 / sizeof(A);
  if constexpr (Registers) {
    /* One step. */
    constexpr int of_a = 16 / sizeof(A);
    constexpr croq::idx size = sizeof(A);
    const croq::watched<A> image = croq::watched_at<A>(0, at.bytes / size, "image");
    const croq::idx own = (at.bytes - bytes_of_a) / size + croq::tid() * of_a;
    croq::fragment<A, 2 * of_a> r;
    CROQ_UNROLL for (int e = 0; e < of_a; ++e) r.store(e, A{});
    CROQ_UNROLL for (int e = 0; e < of_a; ++e) r.store(of_a + e, image.load(own + e));
    croq::wgmma_fence(z, r);
    croq::wgmma<N, K, B, BT>(z, before, r, of_a, y, at.accumulate);
    croq::wgmma_commit();
    croq::wgmma_wait<0>(z, r);
  } else {
    croq::wgmma_fence(z);
    croq::wgmma<N, K, A, B, AT, BT>(z, before, x, y, at.accumulate);
    if constexpr (N == 8 || N == 96)
      for (int s = 1; s < at.steps; ++s) {
        const unsigned step = static_cast<unsigned>(s);
        croq::wgmma<N, K, A, B, AT, BT>(z, before, croq::advance(x, step * at.a.step),
                                        croq::advance(y, step * at.b.step), true);
      }
    croq::wgmma_commit();
    croq::wgmma_wait<0>(z);
  }
}

/* Every combination of types, by accumulator type, as in the test. Those with one number of columns
 * share a kernel, so the code for the accumulators is compiled once for all. */
#define CONF_OF_TWO_BYTES(each, T)                                                                 \
  each(T, T, false, false, of_shared) each(T, T, false, true, of_shared)                           \
  each(T, T, true, false, of_shared) each(T, T, true, true, of_shared)                             \
  each(T, T, false, false, of_registers) each(T, T, false, true, of_registers)
#define CONF_OF_OTHERS(each, A, B)                                                                 \
  each(A, B, false, false, of_shared) each(A, B, false, false, of_registers)
#define CONF_OF_EIGHTS(each)                                                                       \
  CONF_OF_OTHERS(each, croq::f8_e4m3, croq::f8_e4m3)                                               \
  CONF_OF_OTHERS(each, croq::f8_e4m3, croq::f8_e5m2)                                               \
  CONF_OF_OTHERS(each, croq::f8_e5m2, croq::f8_e4m3)                                               \
  CONF_OF_OTHERS(each, croq::f8_e5m2, croq::f8_e5m2)
#define CONF_TO_FLOAT(each)                                                                        \
  CONF_OF_TWO_BYTES(each, croq::f16) CONF_OF_TWO_BYTES(each, croq::bf16)                           \
  CONF_OF_OTHERS(each, float, float) CONF_OF_EIGHTS(each)
#define CONF_TO_HALF(each) CONF_OF_TWO_BYTES(each, croq::f16) CONF_OF_EIGHTS(each)
#define CONF_TO_INT(each)                                                                          \
  CONF_OF_OTHERS(each, signed char, signed char) CONF_OF_OTHERS(each, signed char, unsigned char)  \
  CONF_OF_OTHERS(each, unsigned char, signed char)                                                 \
  CONF_OF_OTHERS(each, unsigned char, unsigned char)

template <unsigned N, class C>
CROQ_KERNEL(128) void warpgroup_0([[maybe_unused]] croq::context ctx, croq::global<C> c,
                                  croq::global<const int> memory, product_place at) {
  constexpr int of_c = N / 2, before = 4;
  const croq::idx thread = croq::tid();
  const croq::watched<unsigned char> image = image_0(memory, at.bytes);
  const croq::matrix_descriptor x = describe_0(image, at.a), y = describe_0(image, at.b);
  croq::fragment<C, before + of_c> z;
  CROQ_UNROLL for (int e = 0; e < before; ++e) z.store(e, C{});
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) z.store(before + e, c.load(thread * of_c + e));
  int number = 0;
#define CONF_CASE(A, B, AT, BT, R)                                                                 \
  if (at.which == number++) product_0<N, A, B, AT, BT, R>(z, before, x, y, at);
  if constexpr (croq::same<C, float>) { CONF_TO_FLOAT(CONF_CASE) }
  else if constexpr (croq::same<C, croq::f16>) { CONF_TO_HALF(CONF_CASE) }
  else { CONF_TO_INT(CONF_CASE) }
#undef CONF_CASE
  CROQ_UNROLL for (int e = 0; e < of_c; ++e) c.store(thread * of_c + e, z.load(before + e));
}
#line 176 "wgmma.cc"
}  // namespace

#define CONF_ONE(A, B, AT, BT, R) +1
#define CONF_FLOATS(each, N)                                                                       \
  each(N, float, CONF_TO_FLOAT(CONF_ONE)) each(N, croq::f16, CONF_TO_HALF(CONF_ONE))
#define CONF_ALL(each, N) CONF_FLOATS(each, N) each(N, int, CONF_TO_INT(CONF_ONE))
/* Integers have some of the widths only. */
#define CONF_WARPGROUP_PRODUCTS(each)                                                              \
  CONF_ALL(each, 8) CONF_ALL(each, 16) CONF_ALL(each, 24) CONF_ALL(each, 32)                       \
  CONF_FLOATS(each, 40) CONF_ALL(each, 48) CONF_FLOATS(each, 56) CONF_ALL(each, 64)                \
  CONF_FLOATS(each, 72) CONF_ALL(each, 80) CONF_FLOATS(each, 88) CONF_ALL(each, 96)                \
  CONF_FLOATS(each, 104) CONF_ALL(each, 112) CONF_FLOATS(each, 120) CONF_ALL(each, 128)            \
  CONF_FLOATS(each, 136) CONF_ALL(each, 144) CONF_FLOATS(each, 152) CONF_ALL(each, 160)            \
  CONF_FLOATS(each, 168) CONF_ALL(each, 176) CONF_FLOATS(each, 184) CONF_ALL(each, 192)            \
  CONF_FLOATS(each, 200) CONF_ALL(each, 208) CONF_FLOATS(each, 216) CONF_ALL(each, 224)            \
  CONF_FLOATS(each, 232) CONF_ALL(each, 240) CONF_FLOATS(each, 248) CONF_ALL(each, 256)

/* numbers: index of the MMA; for A and then for B: start, swizzle, leading, stride, step; bytes of
 * shared memory, steps, accumulate. */
extern "C" croq_u32 CONF(warpgroup)(const croq_env *env, void *c, const void *memory,
                                    const croq_i64 *n) {
  croq::host host(env, "wgmma.co");
  const auto operand = [](const croq_i64 *m) {
    const auto narrow = [=](int i) { return static_cast<unsigned>(m[i]); };
    return operand_place{static_cast<croq::idx>(m[0]), narrow(1), narrow(2), narrow(3), narrow(4)};
  };
  product_place at = {static_cast<int>(n[0]), operand(n + 1),           operand(n + 6),
                      static_cast<croq::idx>(n[11]), static_cast<int>(n[12]), n[13] != 0};
#define CONF_LAUNCH(N, C, count)                                                                   \
  if (at.which >= 0 && at.which < 0 count)                                                         \
    host.launch<decltype(&warpgroup_0<N, C>), &warpgroup_0<N, C>>(                                 \
        "warpgroup_0", croq::grid{1, 1, 1}, 128, at.bytes, croq::async_proxy,                      \
        croq::bind<C>(c, N * 64, "c"), croq::bind<const int>(memory, at.bytes / 4, "memory"), at); \
  at.which -= 0 count;
  CONF_WARPGROUP_PRODUCTS(CONF_LAUNCH)
#undef CONF_LAUNCH
  return host.status();
}
