/* Atomic operations on one word: relaxed, with device scope. */
#ifndef CROQ_CUDA_ATOMICS_H
#define CROQ_CUDA_ATOMICS_H

namespace croq {
inline namespace CROQ_TARGET {

/* CUDA has the bitwise operations of 64 bits for unsigned numbers only. */
template <class T> struct bits_of {
  using type = T;
};
template <> struct bits_of<long long> {
  using type = unsigned long long;
};

template <class T> CROQ_DEVICE T atomic_sum(T *p, T v) {
  if constexpr (same<T, f16>) {
    f16 old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old.bits) : "l"(p), "h"(v.bits) : "memory");
    return old;
  } else return ::atomicAdd(p, v);
}

template <unsigned Bytes> struct word_of {
  using type = unsigned long long;
};
template <> struct word_of<2> {
  using type = unsigned short;
};
template <> struct word_of<4> {
  using type = unsigned;
};
/* What the hardware has no instruction for: `next` makes the new value of the old one. */
template <class T, class F> CROQ_DEVICE T replaced(T *p, F next) {
  using bits = typename word_of<sizeof(T)>::type;
  auto *const word = reinterpret_cast<bits *>(p);
  bits seen = *reinterpret_cast<volatile bits *>(word);
  for (;;) {
    const bits wanted = bits_as<bits>(next(bits_as<T>(seen)));
    const bits before = wanted == seen ? seen : ::atomicCAS(word, seen, wanted);
    if (before == seen) return bits_as<T>(seen);
    seen = before;
  }
}
template <class T> CROQ_DEVICE T atomic_least(T *p, T v) {
  if constexpr (native_float<T> || narrow<T>) return replaced(p, [=](T e) { return croq::min(e, v); });
  else return ::atomicMin(p, v);
}
template <class T> CROQ_DEVICE T atomic_largest(T *p, T v) {
  if constexpr (native_float<T> || narrow<T>) return replaced(p, [=](T e) { return croq::max(e, v); });
  else return ::atomicMax(p, v);
}

/* Methods of a handle; each returns the old value. */
#define CROQ_ATOMICS(T)                                                                            \
  CROQ_ATOMIC(T, add, atomic_sum(p, v))                                                            \
  CROQ_ATOMIC(T, sub, ::atomicSub(p, v))                                                           \
  CROQ_ATOMIC(T, exch, ::atomicExch(p, v))                                                         \
  CROQ_ATOMIC(T, min, atomic_least(p, v))                                                          \
  CROQ_ATOMIC(T, max, atomic_largest(p, v))                                                        \
  CROQ_BITWISE(T, and, ::atomicAnd)                                                                \
  CROQ_BITWISE(T, or, ::atomicOr)                                                                  \
  CROQ_BITWISE(T, xor, ::atomicXor)                                                                \
  CROQ_DEVICE T atomic_cas(idx i, T compare, T v) const {                                          \
    return ::atomicCAS(first + i, compare, v);                                                     \
  }
#define CROQ_ATOMIC(T, name, ...)                                                                  \
  CROQ_DEVICE T atomic_##name(idx i, T v) const {                                                  \
    T *const p = first + i;                                                                        \
    return __VA_ARGS__;                                                                            \
  }
#define CROQ_BITWISE(T, name, function)                                                            \
  CROQ_DEVICE T atomic_##name(idx i, T v) const {                                                  \
    using bits = typename bits_of<T>::type;                                                        \
    return static_cast<T>(function(reinterpret_cast<bits *>(first + i), static_cast<bits>(v)));    \
  }

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
