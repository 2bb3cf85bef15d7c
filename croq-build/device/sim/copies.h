/* Copies of several adjacent elements as one access, synchronous or asynchronous, and sums of them. */
#ifndef CROQ_SIM_COPIES_H
#define CROQ_SIM_COPIES_H

namespace croq {
inline namespace CROQ_TARGET {

[[noreturn]] CROQ_COLD inline void misaligned(const char *name, idx i, idx bytes, int line) {
  const croq_i64 values[] = {i, bytes};
  stop(CROQ_MISALIGNED, no_row, line, name, 2, values);
}
template <unsigned Bytes> CROQ_FN void check_aligned(const void *at, const char *name, idx i, int line) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 || Bytes == 16,
                "one access moves 1, 2, 4, 8 or 16 bytes");
  if (!CROQ_LIKELY(reinterpret_cast<unsigned long long>(at) % Bytes == 0))
    misaligned(name, i, Bytes, line);
}

/* The first of `V` adjacent elements of one access, after all checks of the access. */
template <unsigned V, class T> CROQ_FN T *reach(const handle<T> &memory, idx i, bool, int line) {
  const idx extent = memory.extent;
  if (!CROQ_LIKELY(extent >= V && static_cast<unsigned long long>(i) <=
                                      static_cast<unsigned long long>(extent - V)))
    out_of_bounds(memory.name, i < 0 || i >= extent ? i : extent, extent, line);
  T *const at = memory.first + place_of<T>(i);
  check_aligned<bytes_of_vector<T, V>>(at, memory.name, i, line);
  CROQ_TRACE(memory.name, i, at, bytes_of_vector<T, V>, line);
  return at;
}
template <unsigned V, class T>
CROQ_FN T *reach(const shared<T> &memory, idx i, bool writes, int line) {
  T *const at = reach<V>(static_cast<const handle<T> &>(memory), i, writes, line);
  if (writes || !memory.is_phased)
    in_order<V>(memory.name, i, at, writes ? CROQ_ACCESS_WRITES : CROQ_ACCESS_READS, line);
  return at;
}
template <unsigned V, class T>
CROQ_FN T *reach(const contended<T> &memory, idx i, bool writes, int line) {
  T *const at = reach<V>(static_cast<const handle<T> &>(memory), i, writes, line);
  /* Stores are recorded by the caller, which has the values. */
  for (unsigned e = 0; !writes && e < V; ++e) memory.note_read(i + e, line);
  return at;
}
template <unsigned V, class T>
CROQ_FN T *reach(const watched<T> &memory, idx i, bool writes, int line) {
  const croq_u32 kind = writes ? CROQ_ACCESS_WRITES : CROQ_ACCESS_READS;
  T *const at = memory.template reach<V>(i, kind, line);
  check_aligned<bytes_of_vector<T, V>>(at, memory.name, i, line);
  return at;
}
/* A thread's own memory represents registers, which have no alignment. */
template <unsigned V, class T, int N, idx At>
CROQ_FN T *reach(local<T, N, At> &memory, idx i, bool, int line) {
  if (!CROQ_LIKELY(N >= V && static_cast<unsigned long long>(i) <=
                                 static_cast<unsigned long long>(N - static_cast<int>(V))))
    out_of_bounds("local", i < 0 || i >= N ? i : N, N, line);
  return memory.elements + i;
}

template <unsigned V, class T, int N, idx At>
CROQ_FN T *reach(fragment<T, N, At> &memory, idx i, bool writes, int line) {
  T *const at = reach<V>(static_cast<local<T, N, At> &>(memory), i, writes, line);
  if (!CROQ_LIKELY(current->wgmma_fences == 0))
    use_registers(memory.registers, at, i, V, V * sizeof(T), line);
  return at;
}

template <unsigned V, class T> CROQ_FN void move_elements(T *to, const T *from) {
  /* Through a temporary: the two ranges may overlap. */
  unsigned char bytes[bytes_of_vector<T, V>];
  __builtin_memcpy(bytes, from, sizeof bytes);
  __builtin_memcpy(to, bytes, sizeof bytes);
}
/* Whether memory is a thread's own, in which elements do not share bytes. */
template <class T, int N, idx At> constexpr bool is_own(const local<T, N, At> *) { return true; }
constexpr bool is_own(const void *) { return false; }
/* Whether an element is marked as unwritten; only some kinds of memory have marks. */
template <class M> CROQ_FN bool is_unwritten(const M &, idx) { return false; }
template <class T> CROQ_FN bool is_unwritten(const shared<T> &memory, idx i) {
  return !is_written<T>(memory.written, i);
}
template <class T> CROQ_FN bool is_unwritten(const watched<T> &memory, idx i) {
  return !is_written<T>(memory.written, i);
}
template <class T, int N, idx At> CROQ_FN bool is_unwritten(const tracked_local<T, N, At> &memory, idx i) {
  return memory.marks.elements[i] != 0;
}
template <class T, int N, idx At> CROQ_FN bool is_unwritten(const tracked_fragment<T, N, At> &memory, idx i) {
  return memory.marks.elements[i] != 0;
}
template <class M> CROQ_FN int declared_line(const M &) { return 0; }
template <class T> CROQ_FN int declared_line(const shared<T> &memory) { return memory.written.declared; }
template <class T> CROQ_FN int declared_line(const watched<T> &memory) { return memory.written.declared; }
template <class T, int N, idx At> CROQ_FN int declared_line(const tracked_local<T, N, At> &memory) {
  return memory.declared;
}
template <class T, int N, idx At> CROQ_FN int declared_line(const tracked_fragment<T, N, At> &memory) {
  return memory.declared;
}
template <class M> CROQ_FN const char *name_of(const M &memory) { return memory.name; }
template <class T, int N, idx At> CROQ_FN const char *name_of(const local<T, N, At> &) { return "local"; }
template <class T, int N, idx At> CROQ_FN const char *name_of(const fragment<T, N, At> &) { return "fragment"; }
template <class T, int N, idx At> CROQ_FN const char *name_of(const tracked_local<T, N, At> &memory) {
  return memory.name;
}
template <class T, int N, idx At> CROQ_FN const char *name_of(const tracked_fragment<T, N, At> &memory) {
  return memory.name;
}
/* Marks an element as written or unwritten; memory without marks is unchanged. */
template <class M> CROQ_FN void mark(const M &, idx, bool) {}
template <class T> CROQ_FN void mark(const shared<T> &memory, idx i, bool is_written) {
  mark_written<T>(memory.written, i, is_written);
}
template <class T> CROQ_FN void mark(const watched<T> &memory, idx i, bool is_written) {
  mark_written<T>(memory.written, i, is_written);
}
template <class T, int N, idx At> CROQ_FN void mark(tracked_local<T, N, At> &memory, idx i, bool is_written) {
  memory.marks.elements[i] = !is_written;
}
template <class T, int N, idx At> CROQ_FN void mark(tracked_fragment<T, N, At> &memory, idx i, bool is_written) {
  memory.marks.elements[i] = !is_written;
}
template <class M> inline constexpr bool is_device_memory = false;
template <class T> inline constexpr bool is_device_memory<global<T>> = true;
template <class T> inline constexpr bool is_device_memory<contended<T>> = true;
template <class M> inline constexpr bool is_contended = false;
template <class T> inline constexpr bool is_contended<contended<T>> = true;

template <class M> struct without_qualifiers {
  using type = M;
};
template <class M> struct without_qualifiers<const M> : without_qualifiers<M> {};
template <class M> struct without_qualifiers<M &> : without_qualifiers<M> {};

/* Element `e` of a vector whose first element is number `i`. */
template <class T> CROQ_FN auto element_of(const T *from, idx i, unsigned e) {
  using value = typename without_const<T>::type;
  if constexpr (packed<T>) return picked<value>(from[e / per_byte<T>], i + e);
  else return from[e];
}

/* Copies `V` adjacent elements. */
template <unsigned V, class D, class S>
CROQ_FN void copy(D &&dst, idx di, S &&src, idx si, int line = __builtin_LINE()) {
  const auto *const from = reach<V>(src, si, false, line);
  auto *const to = reach<V>(dst, di, true, line);
  if constexpr (is_contended<typename without_qualifiers<D>::type>)
    for (unsigned e = 0; e < V; ++e) dst.note_store(di + e, element_of(from, si, e), line);
  constexpr typename without_qualifiers<D>::type *kind = nullptr;
  using T = typename without_const<typename without_qualifiers<decltype(*to)>::type>::type;
  if constexpr (packed<T> && is_own(kind))
    for (unsigned e = 0; e < V; ++e) to[e] = element_of(from, si, e);
  else move_elements<V>(to, from);
  for (unsigned e = 0; e < V; ++e) {
    const bool bad = is_unwritten(src, si + e);
    if constexpr (is_device_memory<typename without_qualifiers<D>::type>) {
      if (!CROQ_LIKELY(!bad)) {
        read_unwritten(name_of(src), si + e, declared_line(src), line);
        use_unwritten(take_unwritten(), in_memory, line);
      }
    } else mark(dst, di + e, !bad);
  }
}

CROQ_FN constexpr bool adds_vectors() { return true; }
/* `to[ti + e] += from[fi + e]` for each `e` below `V`, by an atomic operation each; the place is aligned
 * to all of them. */
template <unsigned V, class D, class S>
CROQ_FN void add_all(const D &to, idx ti, S &&from, idx fi, int line = __builtin_LINE()) {
  static_assert(is_device_memory<D>, "in device memory");
  using T = typename D::value;
  reach<V>(static_cast<const handle<T> &>(to), ti, true, line);
  const auto *const own = reach<V>(from, fi, false, line);
  for (unsigned e = 0; e < V; ++e) {
    if (!CROQ_LIKELY(!is_unwritten(from, fi + e))) {
      read_unwritten(name_of(from), fi + e, declared_line(from), line);
      use_unwritten(take_unwritten(), in_atomic, line);
    }
    to.atomic_add(ti + e, own[e], line);
  }
}

/* Until the wait that covers the copy, the destination must not be accessed and the source must not
 * be written. */
template <unsigned V, class T>
CROQ_OPERATION void copy_async(const watched<T> &dst, idx di, const void *from, int line) {
  constexpr croq_u32 bytes = bytes_of_vector<T, V>;
  if (!CROQ_LIKELY(dst.extent >= V && static_cast<unsigned long long>(di) <=
                                          static_cast<unsigned long long>(dst.extent - V)))
    out_of_bounds(dst.name, di < 0 || di >= dst.extent ? di : dst.extent, dst.extent, line);
  T *const at = dst.first + place_of<T>(di);
  check_aligned<bytes>(at, dst.name, di, line);
  CROQ_TRACE(dst.name, di, at, bytes, line);
  in_order<V>(dst.name, di, at, CROQ_ACCESS_WRITES, line);
  croq_sim_thread *const self = current;
  const croq_sim_access access = {dst.name, di, at, bytes, static_cast<croq_u32>(line)};
  sim_api()->copy_async(self, &access, from);
  current = self;
  /* Reads before the copy has arrived are detected separately. */
  for (unsigned e = 0; e < V; ++e) mark(dst, di + e, true);
}
template <unsigned V, class T, class S>
CROQ_FN void cp_async(const watched<T> &dst, idx di, const S &src, idx si,
                      int line = __builtin_LINE()) {
  static_assert(is_device_memory<S>, "from device memory");
  copy_async<V>(dst, di, reach<V>(src, si, false, line), line);
}
/* If `inside` is false, zeros are written, and the source is not accessed. */
template <unsigned V, class T, class S>
CROQ_FN void cp_async_zfill(const watched<T> &dst, idx di, const S &src, idx si, bool inside,
                            int line = __builtin_LINE()) {
  static_assert(is_device_memory<S>, "from device memory");
  copy_async<V>(dst, di, inside ? reach<V>(src, si, false, line) : nullptr, line);
}

/* Closes the group of this thread's copies since the last commit. */
CROQ_FN void cp_async_commit() {
  croq_sim_thread *const self = current;
  sim_api()->commit_copies(self);
  current = self;
}
/* Waits for all of this thread's groups except the `N` youngest. */
template <unsigned N> CROQ_FN void cp_async_wait() {
  croq_sim_thread *const self = current;
  sim_api()->wait_copies(self, N);
  current = self;
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
