/* Memory: handles are bare pointers; accesses that were not proved to be in bounds are checked by
 * `croq::check`. */
#ifndef CROQ_CUDA_HANDLES_H
#define CROQ_CUDA_HANDLES_H

namespace croq {
inline namespace CROQ_TARGET {

/* Element access through `first`, a pointer or an array of T. */
#define CROQ_ACCESS(T, constness)                                                                  \
  CROQ_DEVICE T load(idx i) constness { return first[i]; }                                         \
  CROQ_DEVICE void store(idx i, T v) constness { first[i] = v; }                                   \
  CROQ_EACH_UPDATE(T, constness)
#define CROQ_EACH_UPDATE(T, constness)                                                             \
  CROQ_UPDATE(T, constness, add, e + v)                                                            \
  CROQ_UPDATE(T, constness, sub, e - v)                                                            \
  CROQ_UPDATE(T, constness, mul, e * v)                                                            \
  CROQ_UPDATE(T, constness, div, e / v)                                                            \
  CROQ_UPDATE(T, constness, rem, e % v)                                                            \
  CROQ_UPDATE(T, constness, shl, e << v)                                                           \
  CROQ_UPDATE(T, constness, shr, e >> v)                                                           \
  CROQ_UPDATE(T, constness, bit_and, e & v)                                                        \
  CROQ_UPDATE(T, constness, bit_or, e | v)                                                         \
  CROQ_UPDATE(T, constness, bit_xor, e ^ v)
#define CROQ_UPDATE(T, constness, name, ...)                                                       \
  CROQ_DEVICE void name(idx i, T v) constness {                                                    \
    auto &e = first[i];                                                                            \
    e = static_cast<T>(__VA_ARGS__);                                                               \
  }

template <class T> struct handle {
  using value = typename without_const<T>::type;
  T *first = nullptr;

  CROQ_DEVICE value load(idx i) const { return picked<value>(first[place_of<T>(i)], i); }
  /* Of elements that share a byte: where no other thread stores to the byte. */
  CROQ_DEVICE void store(idx i, value v) const {
    T &place = first[place_of<T>(i)];
    if constexpr (packed<T>) place = placed<value>(place, i, v);
    else place = v;
  }
  /* Both where another thread may store to another element of the byte. A load of the byte alone
   * would race with that: only accesses of the same size are atomic with respect to each other. */
  CROQ_DEVICE value peek(idx i) const {
    const unsigned long long at = reinterpret_cast<unsigned long long>(first + place_of<T>(i));
    const unsigned found = *reinterpret_cast<volatile unsigned *>(at & ~3ull);
    return picked<value>(from_bits<value>(static_cast<unsigned char>(found >> (at & 3) * 8)), i);
  }
  CROQ_DEVICE void swap(idx i, value v) const {
    const unsigned long long at = reinterpret_cast<unsigned long long>(first + place_of<T>(i));
    unsigned *const word = reinterpret_cast<unsigned *>(at & ~3ull);
    const unsigned shift = static_cast<unsigned>(at & 3) * 8 + first_bit<value>(i);
    const unsigned mask = ((1u << 8 / per_byte<T>) - 1) << shift;
    unsigned found = *static_cast<volatile unsigned *>(word), expected;
    do {
      expected = found;
      found = ::atomicCAS(word, expected, (expected & ~mask) | unsigned(v.bits) << shift);
    } while (found != expected);
  }
  CROQ_EACH_UPDATE(value, const)
  CROQ_ATOMICS(value)
  CROQ_DEVICE T *pointer(idx offset) const { return first + place_of<T>(offset); }
  CROQ_FN T *data() const { return first; }
};

/* Device memory. */
template <class T> struct global : handle<T> {};
/* Memory that is const in a kernel is not written while the kernel runs, so reads can be moved
 * across the kernel's writes. */
template <class T> struct global<const T> : handle<const T> {
  CROQ_DEVICE T load(idx i) const {
    const T *const from = this->first + place_of<T>(i);
    if constexpr (narrow<T> || small<T>) return picked<T>(from_bits<T>(__ldg(&from->bits)), i);
    else if constexpr (same<T, bool>) return *from;
    else return __ldg(from);
  }
};
/* Device memory that the simulated GPU checks for races, and its conversion; here the same as
 * `global`. */
template <class T> using contended = global<T>;
template <unsigned = 0, class T> CROQ_FN const global<T> &contend(const global<T> &memory) {
  return memory;
}
template <unsigned = 0, class M, class T>
CROQ_FN const M &contend(const M &map, const global<T> &) {
  return map;
}
template <class T> CROQ_FN const global<T> &escaping(const global<T> &memory) { return memory; }
/* Shared memory. */
template <class T> struct shared : handle<T> {
  CROQ_DEVICE void begin_anew(unsigned) const {}
};

template <class T> CROQ_FN global<T> bind(const void *memory, idx, const char * = "") {
  return {{static_cast<T *>(const_cast<void *>(memory))}};
}

/* The memory from element `i` on. */
template <class T> CROQ_FN global<T> from_element(const global<T> &memory, idx i) {
  return {{memory.first + i}};
}

/* Elements at `offset` bytes in the block's arena. */
template <class T>
CROQ_DEVICE shared<T> shared_at(idx offset, idx, const char * = "", unsigned = 0) {
  return {{reinterpret_cast<T *>(shared_arena() + offset)}};
}

/* Memory of the thread. */
template <class T, int N> struct local {
  T first[N];

  CROQ_ACCESS(T, )
  CROQ_DEVICE T *pointer(idx offset) { return first + offset; }
  CROQ_DEVICE T *data() { return first; }
};
/* Elements `at` and `at + 1` of memory of the thread. */
template <class T, class M> CROQ_DEVICE void store_pair(M &memory, idx at, float a, float b) {
  const rounded<T> both = round_two<T>(a, b);
  memory.store(at, both.first);
  memory.store(at + 1, both.second);
}
#define CROQ_STORE_PAIR(T, memory, at, a, b) croq::store_pair<T>(memory, at, a, b)
/* An array that the simulated GPU stores in the thread's arena, `At` bytes from its start. */
template <class T, int N, idx At> using local_at = local<T, N>;
#undef CROQ_UPDATE
#undef CROQ_EACH_UPDATE
#undef CROQ_ACCESS

/* Elements that may be read before they are written, and variables that may have such values. The
 * simulated GPU tracks them; here they are plain elements and variables. */
inline constexpr unsigned phased = 0;
CROQ_FN constexpr unsigned marked_by(unsigned) { return 0; }
inline constexpr unsigned in_memory = 0, in_condition = 0, in_address = 0, in_atomic = 0, in_call = 0,
                          in_print = 0, in_check = 0;
template <class T, int N> struct tracked_local : local<T, N> {
  CROQ_DEVICE tracked_local(const char *, bool = false) {}
  CROQ_DEVICE void begin_anew(unsigned) {}
};
template <class T, int N, idx At> using tracked_local_at = tracked_local<T, N>;
template <class T> using tracked = T;
template <class T> CROQ_FN T value_of(T v) { return v; }
template <class T> CROQ_FN T written(T v, unsigned) { return v; }
template <class F> CROQ_DEVICE auto written_argument(F expression) { return expression(); }
template <class T> CROQ_FN T trusted(T v) { return v; }

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
