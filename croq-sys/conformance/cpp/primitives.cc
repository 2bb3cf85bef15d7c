/* Functions of the device API, one element per thread: conversions, arithmetic, math. */
#include "croq.h"
#include "shims.h"

namespace {

/* Every type, with its number. */
#define CONF_FLOATS(M)                                                                             \
  M(0, double) M(1, float) M(2, croq::f16) M(3, croq::bf16) M(4, croq::f8_e4m3)                    \
  M(5, croq::f8_e5m2)
#define CONF_NUMBERS(M)                                                                            \
  CONF_FLOATS(M) M(6, long long) M(7, int) M(8, short) M(9, signed char)                           \
  M(10, unsigned long long) M(11, unsigned) M(12, unsigned short) M(13, unsigned char)
#define CONF_TYPES(M) CONF_NUMBERS(M) M(14, bool)

constexpr croq::idx per_block = 256;

CROQ_DEVICE croq::idx element() { return croq::block_x() * per_block + croq::tid(); }

template <class S>
CROQ_KERNEL(256) void convert_0([[maybe_unused]] croq::context ctx, croq::global<const S> from,
                                croq::global<unsigned char> to, croq::idx count, croq::idx type) {
  const croq::idx i = element();
  if (i >= count) return;
  const S v = from.load(i);
  switch (type) {
#define TO(number, T)                                                                              \
  case number: croq::bind<T>(to.data(), count).store(i, croq::to<T>(v)); break;
    CONF_TYPES(TO)
#undef TO
  }
}

template <class T> inline constexpr bool has_fraction = croq::native_float<T> || croq::narrow<T>;

template <class T> CROQ_DEVICE T computed(croq::idx op, T a, T b) {
  switch (op) {
    case 0: return static_cast<T>(a + b);
    case 1: return static_cast<T>(a - b);
    case 2: return static_cast<T>(a * b);
    case 3: return croq::div(a, b);
    case 4: return croq::min(a, b);
    case 5: return croq::max(a, b);
    case 6:
      if constexpr (has_fraction<T>) return croq::fma(a, b, a);
      else return croq::rem(a, b);
    case 7: return static_cast<T>(-a);
    default: return croq::to<T>((a < b) + (a <= b) * 2 + (a == b) * 4 + (a != b) * 8);
  }
}

template <class T>
CROQ_KERNEL(256) void compute_0([[maybe_unused]] croq::context ctx, croq::global<const T> a,
                                croq::global<const T> b, croq::global<T> to, croq::idx count,
                                croq::idx op) {
  const croq::idx i = element();
  if (i < count) to.store(i, computed(op, a.load(i), b.load(i)));
}

/* The functions that are not exact to the last bit come last. */
#define CONF_FUNCTIONS(M)                                                                          \
  M(0, ceil) M(1, fabs) M(2, floor) M(3, round) M(4, sign) M(5, sqrt) M(6, recip) M(7, acos)       \
  M(8, asin) M(9, atan) M(10, cos) M(11, cosh) M(12, exp) M(13, exp2) M(14, expm1) M(15, gelu)     \
  M(16, log) M(17, log1p) M(18, rsqrt) M(19, sigmoid) M(20, sin) M(21, sinh) M(22, softplus)       \
  M(23, tan) M(24, tanh)

template <class T>
CROQ_KERNEL(256) void math_0([[maybe_unused]] croq::context ctx, croq::global<const T> from,
                             croq::global<T> to, croq::idx count, croq::idx function) {
  const croq::idx i = element();
  if (i >= count) return;
  const T x = from.load(i);
  switch (function) {
#define CASE(number, name) case number: to.store(i, croq::name(x)); break;
    CONF_FUNCTIONS(CASE)
#undef CASE
  }
}

croq::grid blocks_of(croq::idx count) { return {croq::cdiv(count, per_block), 1, 1}; }

}  // namespace

extern "C" croq_u32 CONF(convert)(const croq_env *env, void *const *memory, const croq_i64 *n) {
  croq::host host(env, "primitives.co");
  const auto to = croq::bind<unsigned char>(memory[1], n[0] * 8);
  switch (n[1]) {
#define FROM(number, S)                                                                            \
  case number:                                                                                     \
    host.launch<decltype(&convert_0<S>), &convert_0<S>>("convert_0", blocks_of(n[0]), per_block, 0, \
                                                        croq::plain,                               \
                                                        croq::bind<const S>(memory[0], n[0]), to,  \
                                                        croq::idx(n[0]), croq::idx(n[2]));         \
    break;
    CONF_TYPES(FROM)
#undef FROM
  }
  return host.status();
}

extern "C" croq_u32 CONF(compute)(const croq_env *env, void *const *memory, const croq_i64 *n) {
  croq::host host(env, "primitives.co");
  switch (n[1]) {
#define OF(number, T)                                                                              \
  case number:                                                                                     \
    host.launch<decltype(&compute_0<T>), &compute_0<T>>(                                           \
        "compute_0", blocks_of(n[0]), per_block, 0, croq::plain,                                   \
        croq::bind<const T>(memory[0], n[0]), croq::bind<const T>(memory[1], n[0]),                \
        croq::bind<T>(memory[2], n[0]), croq::idx(n[0]), croq::idx(n[2]));                         \
    break;
    CONF_NUMBERS(OF)
#undef OF
  }
  return host.status();
}

extern "C" croq_u32 CONF(math)(const croq_env *env, void *const *memory, const croq_i64 *n) {
  croq::host host(env, "primitives.co");
  switch (n[1]) {
#define OF(number, T)                                                                              \
  case number:                                                                                     \
    host.launch<decltype(&math_0<T>), &math_0<T>>(                                                 \
        "math_0", blocks_of(n[0]), per_block, 0, croq::plain,                                      \
        croq::bind<const T>(memory[0], n[0]), croq::bind<T>(memory[1], n[0]), croq::idx(n[0]),     \
        croq::idx(n[2]));                                                                          \
    break;
    CONF_FLOATS(OF)
#undef OF
  }
  return host.status();
}
