/* Functions that CUDA's headers for narrow floats declare for device code only: shuffles, loads,
 * atomics. */
#ifndef CROQ_CUDA_NARROW_H
#define CROQ_CUDA_NARROW_H

namespace croq {
inline namespace CROQ_TARGET {

template <class T> CROQ_FN unsigned exchanged_bits(T v) {
  if constexpr (sizeof(T) == 4) return pair_bits(v);
  else return v.bits;
}
template <class T> CROQ_FN T from_exchanged(unsigned bits) {
  if constexpr (sizeof(T) == 4) return pair_from_bits<T>(bits);
  else return from_bits<T>(static_cast<unsigned short>(bits));
}
/* By compare-and-swap on the word, for operations without an instruction. */
template <class T, class Word, class F> CROQ_DEVICE T swapped(T *p, F next) {
  Word *const word = reinterpret_cast<Word *>(p);
  // Other threads may change it at any time.
  Word seen = *static_cast<volatile Word *>(word), before;
  do {
    before = seen;
    const Word fresh = static_cast<Word>(exchanged_bits(next(from_exchanged<T>(before))));
    seen = ::atomicCAS(word, before, fresh);
  } while (seen != before);
  return from_exchanged<T>(before);
}

}  // namespace CROQ_TARGET
}  // namespace croq

#define CROQ_NARROW_LANES(T)                                                                       \
  CROQ_DEVICE T __shfl_sync(unsigned mask, T v, int from, int width = 32) {                        \
    return croq::from_exchanged<T>(__shfl_sync(mask, croq::exchanged_bits(v), from, width));       \
  }                                                                                                \
  CROQ_DEVICE T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32) {                    \
    return croq::from_exchanged<T>(__shfl_xor_sync(mask, croq::exchanged_bits(v), with, width));   \
  }                                                                                                \
  CROQ_DEVICE T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) {                  \
    return croq::from_exchanged<T>(__shfl_up_sync(mask, croq::exchanged_bits(v), by, width));      \
  }                                                                                                \
  CROQ_DEVICE T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) {                \
    return croq::from_exchanged<T>(__shfl_down_sync(mask, croq::exchanged_bits(v), by, width));    \
  }
#define CROQ_NARROW_LOADS(T, Word)                                                                 \
  CROQ_NARROW_LOAD(T, Word, __ldg)                                                                 \
  CROQ_NARROW_LOAD(T, Word, __ldca)                                                                \
  CROQ_NARROW_LOAD(T, Word, __ldcg)                                                                \
  CROQ_NARROW_LOAD(T, Word, __ldcs)                                                                \
  CROQ_NARROW_STORE(T, Word, __stcg)                                                               \
  CROQ_NARROW_STORE(T, Word, __stcs)
#define CROQ_NARROW_LOAD(T, Word, name)                                                            \
  CROQ_DEVICE T name(const T *p) {                                                                 \
    return croq::from_exchanged<T>(name(reinterpret_cast<const Word *>(p)));                       \
  }
#define CROQ_NARROW_STORE(T, Word, name)                                                           \
  CROQ_DEVICE void name(T *p, T v) {                                                               \
    name(reinterpret_cast<Word *>(p), static_cast<Word>(croq::exchanged_bits(v)));                 \
  }
CROQ_NARROW_LANES(__half)
CROQ_NARROW_LANES(__half2)
CROQ_NARROW_LANES(__nv_bfloat16)
CROQ_NARROW_LANES(__nv_bfloat162)
CROQ_NARROW_LOADS(__half, unsigned short)
CROQ_NARROW_LOADS(__half2, unsigned)
CROQ_NARROW_LOADS(__nv_bfloat16, unsigned short)
CROQ_NARROW_LOADS(__nv_bfloat162, unsigned)
#undef CROQ_NARROW_LANES
#undef CROQ_NARROW_LOADS
#undef CROQ_NARROW_LOAD
#undef CROQ_NARROW_STORE

CROQ_DEVICE __half atomicAdd(__half *p, __half v) { return croq::atomic_sum(p, v); }
CROQ_DEVICE __half2 atomicAdd(__half2 *p, __half2 v) {
  unsigned old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(p), "r"(croq::pair_bits(v))
               : "memory");
  return croq::pair_from_bits<__half2>(old);
}
CROQ_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v) {
  return croq::swapped<__nv_bfloat16, unsigned short>(p, [v](__nv_bfloat16 e) { return e + v; });
}
CROQ_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v) {
  return croq::swapped<__nv_bfloat162, unsigned>(p, [v](__nv_bfloat162 e) { return e + v; });
}
CROQ_DEVICE __half atomicExch(__half *p, __half v) {
  return croq::swapped<__half, unsigned short>(p, [v](__half) { return v; });
}
CROQ_DEVICE __nv_bfloat16 atomicExch(__nv_bfloat16 *p, __nv_bfloat16 v) {
  return croq::swapped<__nv_bfloat16, unsigned short>(p, [v](__nv_bfloat16) { return v; });
}

#endif
