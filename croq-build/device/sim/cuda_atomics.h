/* CUDA's atomic functions on pointers. */
#ifndef CROQ_SIM_CUDA_ATOMICS_H
#define CROQ_SIM_CUDA_ATOMICS_H

/* For race detection, operations on pointers order accesses to other memory like all other atomic
 * operations. */
template <class T, class F> CROQ_FN T croq_atomically(T *p, F next) {
  if (croq::current != nullptr && croq::current->device != nullptr) croq::note_atomic_at(p);
  return croq::atomically(p, next);
}
/* For all scopes that CUDA has; all blocks of the simulated GPU share one memory. */
#define CROQ_ATOMIC_FUNCTION(name, types, ...)                                                     \
  template <class T> CROQ_FN T name(T *p, croq::itself<T> v) {                                     \
    static_assert(types<T>, #name " of these elements does not exist");                            \
    return croq_atomically(p, [v](T old) { return __VA_ARGS__; });                                 \
  }                                                                                                \
  template <class T> CROQ_FN T name##_block(T *p, croq::itself<T> v) { return name(p, v); }        \
  template <class T> CROQ_FN T name##_system(T *p, croq::itself<T> v) { return name(p, v); }
template <class T> inline constexpr bool croq_any = true;
template <class T> inline constexpr bool croq_integer = !croq::native_float<T> && !croq::narrow<T>;
CROQ_ATOMIC_FUNCTION(atomicAdd, croq_any, static_cast<T>(old + v))
CROQ_ATOMIC_FUNCTION(atomicSub, croq_integer, static_cast<T>(old - v))
CROQ_ATOMIC_FUNCTION(atomicMin, croq_integer, v < old ? v : old)
CROQ_ATOMIC_FUNCTION(atomicMax, croq_integer, old < v ? v : old)
CROQ_ATOMIC_FUNCTION(atomicExch, croq_any, (static_cast<void>(old), v))
CROQ_ATOMIC_FUNCTION(atomicAnd, croq_integer, static_cast<T>(old & v))
CROQ_ATOMIC_FUNCTION(atomicOr, croq_integer, static_cast<T>(old | v))
CROQ_ATOMIC_FUNCTION(atomicXor, croq_integer, static_cast<T>(old ^ v))
CROQ_ATOMIC_FUNCTION(atomicInc, croq_integer, old >= v ? T(0) : static_cast<T>(old + 1))
CROQ_ATOMIC_FUNCTION(atomicDec, croq_integer,
                     old == 0 || old > v ? v : static_cast<T>(old - 1))
#undef CROQ_ATOMIC_FUNCTION
template <class T> CROQ_FN T atomicCAS(T *p, croq::itself<T> expected, croq::itself<T> v) {
  static_assert(croq_integer<T>, "atomicCAS of these elements does not exist");
  return croq_atomically(p, [=](T old) { return old == expected ? v : old; });
}
template <class T> CROQ_FN T atomicCAS_block(T *p, croq::itself<T> expected, croq::itself<T> v) {
  return atomicCAS(p, expected, v);
}
template <class T> CROQ_FN T atomicCAS_system(T *p, croq::itself<T> expected, croq::itself<T> v) {
  return atomicCAS(p, expected, v);
}

#endif
