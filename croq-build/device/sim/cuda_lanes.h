/* Exchanges between the lanes of a warp, by CUDA's names for the operations. */
#ifndef CROQ_SIM_CUDA_LANES_H
#define CROQ_SIM_CUDA_LANES_H

/* All values are stored before `read` runs, and remain until all lanes have read. `here`: the lanes
 * that take part. */
template <class T, class R>
CROQ_OPERATION auto croq_exchange(unsigned mask, croq_u32 kind, T value, int line, R read) {
  static_assert(sizeof(T) <= 8, "lanes exchange at most 64 bits");
  const unsigned tid = croq::current->tid;
  const auto lanes = reinterpret_cast<unsigned long long *>(croq::current->lanes);
  memcpy(&lanes[tid], &value, sizeof value);
  /* The unwritten values that the enclosing expression has read so far belong to this thread, not
   * to threads that run meanwhile. */
  const croq_u32 others = croq::take_unwritten();
  const unsigned here = croq::lanes_named(mask, kind, line);
  const auto result = read(&lanes[tid & ~31u], here);
  croq::lanes_here(mask, kind, line);
  croq::unwritten = others;
  return result;
}
/* If the source lane does not take part, the hardware's result is undefined. */
template <class T>
CROQ_OPERATION T croq_shuffle(unsigned mask, croq_u32 kind, T v, unsigned from, int line) {
  return croq_exchange(
      mask, kind, v, line, [from, mask, line](const unsigned long long *lanes, unsigned here) {
        if (CROQ_UNLIKELY((here >> (from & 31) & 1) == 0))
          croq::absent("shuffle: reads lane {0}, which is not there (mask {1})", from & 31, mask, line);
        T found;
        memcpy(&found, &lanes[from & 31], sizeof found);
        return found;
      });
}
CROQ_OPERATION unsigned croq_lane() { return croq::current->tid & 31; }
template <class T>
CROQ_OPERATION T __shfl_sync(unsigned mask, T v, int from, int width = 32, int line = __builtin_LINE()) {
  const unsigned last = static_cast<unsigned>(width - 1);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE, v,
                      (croq_lane() & ~last) | (static_cast<unsigned>(from) & last), line);
}
template <class T>
CROQ_OPERATION T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32,
                          int line = __builtin_LINE()) {
  const unsigned lane = croq_lane(), from = lane ^ static_cast<unsigned>(with);
  const unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + static_cast<unsigned>(width);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE_XOR, v, from < end ? from : lane, line);
}
template <class T>
CROQ_OPERATION T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32,
                         int line = __builtin_LINE()) {
  const unsigned lane = croq_lane(), place = lane & static_cast<unsigned>(width - 1);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE_UP, v, place >= by ? lane - by : lane, line);
}
template <class T>
CROQ_OPERATION T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32,
                           int line = __builtin_LINE()) {
  const unsigned lane = croq_lane(), place = lane & static_cast<unsigned>(width - 1);
  return croq_shuffle(mask, CROQ_LANES_SHUFFLE_DOWN, v,
                      place + by < static_cast<unsigned>(width) ? lane + by : lane, line);
}
/* As in hardware, lanes that the block does not have do not vote. */
CROQ_OPERATION unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return croq_exchange(mask, CROQ_LANES_VOTE, predicate, line,
                       [](const unsigned long long *lanes, unsigned here) {
                         unsigned votes = 0;
                         for (unsigned lane = 0; lane < 32; ++lane)
                           if ((here >> lane & 1) != 0 && static_cast<unsigned>(lanes[lane]) != 0)
                             votes |= 1u << lane;
                         return votes;
                       });
}
CROQ_OPERATION int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
CROQ_OPERATION int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate == 0, line) == 0;
}
/* `fold` of the values of all lanes in `mask`, in the order of the lanes. */
template <class T, class F>
CROQ_OPERATION T croq_reduce(unsigned mask, T value, int line, F fold) {
  return croq_exchange(mask, CROQ_LANES_VOTE, value, line,
                       [fold](const unsigned long long *lanes, unsigned here) {
                         T all{}, v;
                         bool first = true;
                         for (unsigned lane = 0; lane < 32; ++lane) {
                           if ((here >> lane & 1) == 0) continue;
                           memcpy(&v, &lanes[lane], sizeof v);
                           all = first ? v : fold(all, v);
                           first = false;
                         }
                         return all;
                       });
}
#define CROQ_REDUCE(name, T, ...)                                                                  \
  CROQ_FN T __reduce_##name##_sync(unsigned mask, T value, int line = __builtin_LINE()) {          \
    return croq_reduce(mask, value, line, [](T a, T b) { return static_cast<T>(__VA_ARGS__); });   \
  }
CROQ_REDUCE(add, unsigned, a + b)
CROQ_REDUCE(add, int, static_cast<unsigned>(a) + static_cast<unsigned>(b))
CROQ_REDUCE(min, unsigned, b < a ? b : a)
CROQ_REDUCE(min, int, b < a ? b : a)
CROQ_REDUCE(max, unsigned, a < b ? b : a)
CROQ_REDUCE(max, int, a < b ? b : a)
CROQ_REDUCE(and, unsigned, a & b)
CROQ_REDUCE(or, unsigned, a | b)
CROQ_REDUCE(xor, unsigned, a ^ b)
#undef CROQ_REDUCE
/* The lanes with the same value. */
template <class T>
CROQ_OPERATION unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE()) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  return croq_exchange(mask, CROQ_LANES_VOTE, bits, line,
                       [bits](const unsigned long long *lanes, unsigned here) {
                         unsigned same = 0;
                         for (unsigned lane = 0; lane < 32; ++lane)
                           if ((here >> lane & 1) != 0 && lanes[lane] == bits) same |= 1u << lane;
                         return same;
                       });
}
template <class T>
CROQ_OPERATION unsigned __match_all_sync(unsigned mask, T value, int *all, int line = __builtin_LINE()) {
  const bool same = __match_any_sync(mask, value, line) == mask;
  *all = same ? 1 : 0;
  return same ? mask : 0;
}

/* The number of threads of the block with a true predicate. Each thread has its own slot. */
CROQ_OPERATION int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  const auto lanes = reinterpret_cast<unsigned long long *>(croq::current->lanes);
  lanes[croq::current->tid] = predicate != 0 ? 1 : 0;
  croq::barrier(line);
  int count = 0;
  for (unsigned tid = 0; tid < croq::current->threads; ++tid) count += lanes[tid] != 0 ? 1 : 0;
  croq::barrier(line);
  return count;
}
CROQ_OPERATION int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return __syncthreads_count(predicate, line) != 0;
}
CROQ_OPERATION int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return __syncthreads_count(predicate == 0, line) == 0;
}

#endif
