/* Shared memory of kernels with asynchronous operations: every access checks whether an operation
 * is in flight on its bytes. Kernels without such operations use `shared`, which has no such
 * checks. */
#ifndef CROQ_SIM_WATCHED_H
#define CROQ_SIM_WATCHED_H

namespace croq {
inline namespace CROQ_TARGET {

/* Whether one of `B` bytes of marks is set. */
template <unsigned B> CROQ_FN bool marked(const unsigned char *marks) {
  if constexpr (B == 16) return marked<8>(marks) || marked<8>(marks + 8);
  else {
    static_assert(B == 1 || B == 2 || B == 4 || B == 8, "an access is of 1, 2, 4, 8 or 16 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, marks, B);
    return bits != 0;
  }
}

/* An access to marked bytes; stops the thread unless the access is legal. */
CROQ_COLD inline void touch(const char *name, idx i, void *at, croq_u32 bytes, bool writes,
                            int line) {
  croq_sim_thread *const self = current;
  const croq_sim_access access = {name, i, at, bytes, static_cast<croq_u32>(line)};
  sim_api()->touch(self, &access, writes ? 1 : 0);
  current = self;
}

template <class T> struct watched;
template <class T> CROQ_FN void mark_updated(const watched<T> &memory, idx i) {
  mark_updated_shared(memory, i);
}

template <class T> struct __attribute__((unused)) watched {
  T *first = nullptr;
  idx extent = 0;
  const char *name = "";
  unsigned char *marks = nullptr;
  /* Null unless the launch is `async_proxy`. */
  croq_u64 *writers = nullptr;
  bool is_phased = false;
  shared_marks written = {};

  /* `V` adjacent elements, as one access. */
  template <unsigned V = 1> CROQ_FN T *find(idx i, bool writes, int line) const {
    if (!CROQ_LIKELY(extent >= V && static_cast<unsigned long long>(i) <=
                                        static_cast<unsigned long long>(extent - V)))
      out_of_bounds(name, i < 0 || i >= extent ? i : extent, extent, line);
    constexpr unsigned bytes = bytes_of_vector<T, V>;
    T *const at = first + place_of<T>(i);
    if (!CROQ_LIKELY(!marked<bytes>(marks + place_of<T>(i) * static_cast<idx>(sizeof(T)))))
      touch(name, i, at, bytes, writes, line);
    if (writes && writers != nullptr) note_write(i, line);
    CROQ_TRACE(name, i, at, bytes, line);
    return at;
  }
  template <unsigned V = 1> CROQ_FN T *reach(idx i, croq_u32 kind, int line) const {
    T *const at = find<V>(i, kind != CROQ_ACCESS_READS, line);
    if (!is_phased || kind != CROQ_ACCESS_READS) in_order<V>(name, i, at, kind, line);
    if (kind == CROQ_ACCESS_ATOMIC) must_be_written(*this, i, line);
    return at;
  }
  /* Records for these 16 bytes the last writer, and the number of proxy fences that it had
   * executed. */
  CROQ_FN void note_write(idx i, int line) const {
    const unsigned long long offset = static_cast<unsigned long long>(
        reinterpret_cast<const unsigned char *>(first + place_of<T>(i)) - current->shared);
    writers[offset / 16] = static_cast<croq_u64>(line) << 32 |
                           static_cast<croq_u64>(current->tid + 1) << 20 | current->fences;
  }
  CROQ_FN T load(idx i, int line = __builtin_LINE()) const {
    const T e = *reach(i, CROQ_ACCESS_READS, line);
    if (!is_written<T>(written, i)) read_unwritten(name, i, written.declared, line);
    return picked<T>(e, i);
  }
  CROQ_FN void store(idx i, T v, int line = __builtin_LINE()) const {
    T *const e = find(i, true, line);
    in_order<1>(name, i, e, store_kind(picked<T>(*e, i), v), line);
    put(*e, i, v);
    if (written.bytes != nullptr) mark_written<T>(written, i, take_unwritten() == 0);
  }
  CROQ_FN void swap(idx i, T v, int line = __builtin_LINE()) const { store(i, v, line); }
  CROQ_FN T peek(idx i, int line = __builtin_LINE()) const { return load(i, line); }
  CROQ_FN void begin_anew(croq_u32 buffers) { written.begin_anew(buffers); }
  CROQ_UPDATES(T, const, *reach(i, CROQ_ACCESS_WRITES, line))
  CROQ_ATOMICS(T, *reach(i, CROQ_ACCESS_ATOMIC, line))
  /* For code that is opaque to the compiler; its accesses are not checked. */
  CROQ_FN T *pointer(idx offset, int line = __builtin_LINE()) const {
    if (!CROQ_LIKELY(static_cast<unsigned long long>(offset) <=
                     static_cast<unsigned long long>(extent)))
      out_of_bounds(name, offset, extent, line);
    return first + place_of<T>(offset);
  }
  CROQ_FN T *data() const { return first; }
};

/* `extent` elements at `offset` bytes in the block's arena, in a launch that is `asynchronous`. */
template <class T>
CROQ_FN watched<T> watched_at(idx offset, idx extent, const char *name = "shared",
                              croq_u32 how = 0, int line = __builtin_LINE()) {
  const shared<T> memory = shared_at<T>(offset, extent, name, how, line);
  if (!CROQ_LIKELY(current->marks != nullptr || extent == 0))
    stop(CROQ_CHECK, no_row, line, "watched memory in a launch that is not asynchronous", 0,
         nullptr);
  return {memory.first,     extent,           name,          current->marks + offset,
          current->writers, memory.is_phased, memory.written};
}

#undef CROQ_UPDATE
#undef CROQ_UPDATES

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
