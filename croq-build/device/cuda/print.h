/* `print`: one `printf` per call, so that the output of several threads is not mixed within it. */
#ifndef CROQ_CUDA_PRINT_H
#define CROQ_CUDA_PRINT_H

extern "C" __device__ int printf(const char *, ...);

namespace croq {
inline namespace CROQ_TARGET {

template <char... C> struct letters {
  /* The format, in device memory as `printf` requires. */
  static __device__ __forceinline__ const char *text() {
    static const char format[] = {C..., 0};
    return format;
  }
};
template <char... A, char... B>
__host__ __device__ letters<A..., B...> operator+(letters<A...>, letters<B...>);

template <class T> struct print_part {
  using format = letters<'%', 'l', 'l', 'd'>;
  static CROQ_DEVICE long long value(T v) { return static_cast<long long>(v); }
};
template <> struct print_part<unsigned long long> {
  using format = letters<'%', 'l', 'l', 'u'>;
  static CROQ_DEVICE unsigned long long value(unsigned long long v) { return v; }
};
template <> struct print_part<const char *> {
  using format = letters<'%', 's'>;
  static CROQ_DEVICE const char *value(const char *v) { return v; }
};
template <> struct print_part<bool> {
  using format = letters<'%', 's'>;
  static CROQ_DEVICE const char *value(bool v) { return v ? "true" : "false"; }
};
template <class T> struct print_part<T *> {
  using format = letters<'%', 'p'>;
  static CROQ_DEVICE const void *value(const void *v) { return v; }
};
#define CROQ_PRINT_FLOAT(T, name)                                                                  \
  template <> struct name<T> {                                                                     \
    using format = letters<'%', 'f'>;                                                              \
    static CROQ_DEVICE double value(T v) { return to<double>(v); }                                 \
  };
CROQ_PRINT_FLOAT(float, print_part)
CROQ_PRINT_FLOAT(double, print_part)
CROQ_EACH_NARROW(CROQ_PRINT_FLOAT, print_part)
#undef CROQ_PRINT_FLOAT

template <class... P> CROQ_DEVICE void print(context, P... parts) {
  using format = decltype((letters<>{} + ... + typename print_part<P>::format{}));
  ::printf(format::text(), print_part<P>::value(parts)...);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
