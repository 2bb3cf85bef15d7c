/* Atomic operations on one word. The threads of a block share an OS thread; those of other blocks
 * may run on others. */
#ifndef CROQ_SIM_ATOMICS_H
#define CROQ_SIM_ATOMICS_H

namespace croq {
inline namespace CROQ_TARGET {

/* Replaces the old value by `next` of it, atomically; returns the old value. */
template <class T, class F> CROQ_FN T atomically(T *p, F next) {
  T old;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  T fresh = next(old);
  while (!__atomic_compare_exchange(p, &old, &fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    fresh = next(old);
  /* Threads that wait for memory to change are resumed when this counter changes. */
  current->changes += __builtin_memcmp(&old, &fresh, sizeof(T)) != 0;
  return old;
}

/* A subnormal number becomes a zero of its sign. */
CROQ_FN float flushed(float v) { return __builtin_fabsf(v) < 0x1p-126f ? v * 0.0f : v; }

/* Methods of a handle; each returns the old value. `element` is the expression for element `i`. */
#define CROQ_ATOMICS(T, element)                                                                   \
  CROQ_ATOMIC(T, element, add, static_cast<T>(e + v))                                              \
  CROQ_ATOMIC(T, element, sub, static_cast<T>(e - v))                                              \
  CROQ_ATOMIC(T, element, exch, (static_cast<void>(e), v))                                         \
  CROQ_ATOMIC(T, element, min, croq::min(e, v))                                                    \
  CROQ_ATOMIC(T, element, max, croq::max(e, v))                                                    \
  CROQ_ATOMIC(T, element, and, static_cast<T>(e & v))                                              \
  CROQ_ATOMIC(T, element, or, static_cast<T>(e | v))                                               \
  CROQ_ATOMIC(T, element, xor, static_cast<T>(e ^ v))                                              \
  CROQ_FN T atomic_cas(idx i, T compare, T v, int line = __builtin_LINE()) const {                 \
    return atomically(&element, [=](T e) { return e == compare ? v : e; });                        \
  }
#define CROQ_ATOMIC(T, element, name, ...)                                                         \
  CROQ_FN T atomic_##name(idx i, T v, int line = __builtin_LINE()) const {                         \
    return atomically(&element, [=](T e) { return __VA_ARGS__; });                                 \
  }

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
