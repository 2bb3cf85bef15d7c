/* All texts that a GPU can run as one file, because nvcc takes its second for each; and kernels for
 * what the others only use on the host. */
#include "handles.cc"
#include "barriers.cc"
#include "launches.cc"
#include "speed.cc"
#include "copies.cc"

namespace {
template <class T, class S> CROQ_DEVICE void convert(croq::global<T> to, croq::global<const S> from) {
  to.store(croq::tid(), croq::to<T>(from.load(croq::tid())));
}
template <class S> CROQ_DEVICE void convert_all(void *memory, const void *from) {
  const croq::global<const S> s{{static_cast<const S *>(from)}};
#define TO(T) convert(croq::global<T>{{static_cast<T *>(memory)}}, s);
  TO(double) TO(float) TO(croq::f16) TO(croq::bf16) TO(croq::f8_e4m3) TO(croq::f8_e5m2)
  TO(long long) TO(int) TO(short) TO(signed char) TO(bool)
  TO(unsigned long long) TO(unsigned) TO(unsigned short) TO(unsigned char)
#undef TO
}
template <class T> CROQ_DEVICE void compute(croq::global<T> d) {
  T v = d.load(0);
  const T w = d.load(1);
  v += croq::acos(v) - croq::asin(v) * croq::atan(v) / croq::ceil(v);
  v += croq::cos(v) + croq::cosh(v) + croq::exp(v) + croq::exp2(v) + croq::expm1(v);
  v += croq::fabs(v) + croq::floor(v) + croq::recip(v) + croq::gelu(v) + croq::log(v);
  v += croq::log1p(v) + croq::round(v) + croq::rsqrt(v) + croq::sigmoid(v) + croq::sign(v);
  v += croq::sin(v) + croq::sinh(v) + croq::softplus(v) + croq::sqrt(v) + croq::tan(v);
  v += croq::tanh(v) + croq::atan2(v, w) + croq::pow(v, w) + croq::min(v, w) + croq::max(v, w);
  d.store(2, croq::is_finite(v) ? croq::fma(v, w, -v) : v);
  if (v < w || v <= w || v > w || v >= w || v == w || v != w) d.add(3, v);
}

CROQ_KERNEL(64) void conversions_0([[maybe_unused]] croq::context ctx, croq::global<unsigned char> to,
                                   croq::global<unsigned char> from) {
#define FROM(S) convert_all<S>(to.data(), from.data());
  FROM(double) FROM(float) FROM(croq::f16) FROM(croq::bf16) FROM(croq::f8_e4m3)
  FROM(croq::f8_e5m2) FROM(long long) FROM(int) FROM(short) FROM(signed char) FROM(bool)
  FROM(unsigned long long) FROM(unsigned) FROM(unsigned short) FROM(unsigned char)
#undef FROM
}
CROQ_KERNEL(64) void math_0([[maybe_unused]] croq::context ctx, croq::global<float> f,
                            croq::global<double> d, croq::global<croq::f16> h,
                            croq::global<croq::bf16> b) {
  compute(f);
  compute(d);
  compute(h);
  compute(b);
}
}  // namespace

extern "C" croq_u32 conf_compiles(const croq_env *env, void *p) {
  croq::host host(env, "everything.co");
  const auto bytes = croq::bind<unsigned char>(p, 0);
  host.launch<decltype(&conversions_0), &conversions_0>("conversions_0", croq::grid{1, 1, 1}, 64, 0,
                                                        croq::plain, bytes, bytes);
  host.launch<decltype(&math_0), &math_0>("math_0", croq::grid{1, 1, 1}, 64, 100 * 1024,
                                          croq::plain, croq::bind<float>(p, 0),
                                          croq::bind<double>(p, 0), croq::bind<croq::f16>(p, 0),
                                          croq::bind<croq::bf16>(p, 0));
  return host.status();
}
