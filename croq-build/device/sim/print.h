/* `print`: each call makes one contiguous piece of output. */
#ifndef CROQ_SIM_PRINT_H
#define CROQ_SIM_PRINT_H

#include <cstdio>

namespace croq {
inline namespace CROQ_TARGET {

struct print_buffer {
  /* Null on the host. */
  croq_sim_thread *thread;
  char text[1024];
  unsigned length;

  void flush() {
    if (length != 0) sim_api()->print(thread, text, length);
    length = 0;
  }
  template <class V> void format(const char *pattern, V v) {
    char part[400]; /* the longest f64 has 309 digits before its point */
    std::snprintf(part, sizeof part, pattern, v);
    put(part);
  }
  void put(const char *part) {
    for (; *part != 0; ++part) {
      if (length == sizeof text) flush();
      text[length++] = *part;
    }
  }
  void put(bool v) { put(v ? "true" : "false"); }
  void put(int v) { format("%d", v); }
  void put(long v) { format("%ld", v); }
  void put(long long v) { format("%lld", v); }
  void put(unsigned v) { format("%u", v); }
  void put(unsigned long v) { format("%lu", v); }
  void put(unsigned long long v) { format("%llu", v); }
  void put(double v) { format("%f", v); }
#define CROQ_NARROW_PUT(T, name)                                                                   \
  void name(T v) { name(to<double>(v)); }
  CROQ_EACH_NARROW(CROQ_NARROW_PUT, put)
#undef CROQ_NARROW_PUT
#define CROQ_SMALL_PUT(T, name)                                                                    \
  void name(T v) { name(static_cast<int>(v)); }
  CROQ_EACH_SMALL(CROQ_SMALL_PUT, put)
#undef CROQ_SMALL_PUT
  void put(const void *v) { format("%p", v); }
};

template <class... P> CROQ_COLD void print(context, P... parts) {
  print_buffer buffer{current, {}, 0};
  (buffer.put(parts), ...);
  buffer.flush();
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
