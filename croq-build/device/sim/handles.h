/* Memory, accessed only through handles with an extent: every access is checked. */
#ifndef CROQ_SIM_HANDLES_H
#define CROQ_SIM_HANDLES_H

namespace croq {
inline namespace CROQ_TARGET {

/* Stores element `i` to the place or, if elements share bytes, to the byte of it: as one operation,
 * because another thread may store to another element of the byte. */
template <class T> CROQ_FN void put(T &place, idx i, T v) {
  if constexpr (packed<T>) {
    unsigned char old = __atomic_load_n(&place.bits, __ATOMIC_RELAXED), fresh;
    do fresh = placed<T>(from_bits<T>(old), i, v).bits;
    while (!__atomic_compare_exchange_n(&place.bits, &old, fresh, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  } else place = v;
}

/* With CROQ_SIM_TRACE every access to shared memory is reported, for the counts of bank
 * conflicts. */
#ifdef CROQ_SIM_TRACE
CROQ_FN void trace(const char *name, idx i, const void *at, unsigned long long bytes, int line) {
  const croq_sim_access access = {name, i, const_cast<void *>(at), static_cast<croq_u32>(bytes),
                                  static_cast<croq_u32>(line)};
  sim_api()->trace(current, &access);
}
#define CROQ_TRACE(...) trace(__VA_ARGS__)
#else
#define CROQ_TRACE(...) static_cast<void>(0)
#endif

/* Element access through `element(i, line)`; T is an element type, never const. */
#define CROQ_ACCESS(T, constness)                                                                  \
  CROQ_FN T load(idx i, int line = __builtin_LINE()) constness { return element(i, line); }        \
  CROQ_FN void store(idx i, T v, int line = __builtin_LINE()) constness { element(i, line) = v; }  \
  CROQ_UPDATES(T, constness, element(i, line))
/* `place` is the expression for element `i`. */
#define CROQ_UPDATES(T, constness, place)                                                          \
  CROQ_UPDATE(T, constness, place, add, e + v)                                                     \
  CROQ_UPDATE(T, constness, place, sub, e - v)                                                     \
  CROQ_UPDATE(T, constness, place, mul, e *v)                                                      \
  CROQ_UPDATE(T, constness, place, div, croq::div<T>(e, v, line))                                  \
  CROQ_UPDATE(T, constness, place, rem, croq::rem<T>(e, v, line))                                  \
  CROQ_UPDATE(T, constness, place, shl, e << v)                                                    \
  CROQ_UPDATE(T, constness, place, shr, e >> v)                                                    \
  CROQ_UPDATE(T, constness, place, bit_and, e &v)                                                  \
  CROQ_UPDATE(T, constness, place, bit_or, e | v)                                                  \
  CROQ_UPDATE(T, constness, place, bit_xor, e ^ v)
#define CROQ_UPDATE(T, constness, place, name, ...)                                                \
  CROQ_FN void name(idx i, T v, int line = __builtin_LINE()) constness {                           \
    auto &e = place;                                                                               \
    e = static_cast<T>(__VA_ARGS__);                                                               \
    mark_updated(*this, i);                                                                        \
  }
/* For memory without marks. */
template <class M> CROQ_FN void mark_updated(const M &, idx) {}
/* An update of an unwritten element leaves it unwritten. */
template <class M> CROQ_FN void mark_updated_shared(const M &memory, idx i) {
  using T = typename without_const<decltype(memory.load(0))>::type;
  if (memory.written.bytes == nullptr) return;
  const bool was_written = memory.written.template has<sizeof(T)>(i);
  memory.written.template put<sizeof(T)>(i, take_unwritten() == 0 && was_written);
}
template <class T> struct shared;
template <class T> CROQ_FN void mark_updated(const shared<T> &memory, idx i) {
  mark_updated_shared(memory, i);
}
/* The operand of an atomic operation must be written. */
template <class M> CROQ_FN void must_be_written(const M &memory, idx i, int line) {
  using T = typename without_const<decltype(memory.load(0))>::type;
  if (memory.written.template has<sizeof(T)>(i)) return;
  read_unwritten(memory.name, i, memory.written.declared, line);
  use_unwritten(take_unwritten(), in_atomic, line);
}

template <class T> CROQ_FN bool is_written(const shared_marks &written, idx i) {
  if constexpr (packed<T>) return written.has_bit(place_of<T>(i), first_bit<T>(i));
  else return written.template has<sizeof(T)>(i);
}
template <class T> CROQ_FN void mark_written(const shared_marks &written, idx i, bool yes) {
  if constexpr (packed<T>) written.put_bit(place_of<T>(i), first_bit<T>(i), yes);
  else written.template put<sizeof(T)>(i, yes);
}

template <class T> struct __attribute__((unused)) handle {
  using value = typename without_const<T>::type;
  T *first = nullptr;
  idx extent = 0;
  const char *name = "";

  CROQ_FN T &element(idx i, int line) const {
    if (!CROQ_LIKELY(static_cast<unsigned long long>(i) < static_cast<unsigned long long>(extent)))
      out_of_bounds(name, i, extent, line);
    CROQ_TRACE(name, i, first + place_of<T>(i), sizeof(T), line);
    return first[place_of<T>(i)];
  }
  CROQ_FN value load(idx i, int line = __builtin_LINE()) const {
    return picked<value>(element(i, line), i);
  }
  CROQ_FN void store(idx i, value v, int line = __builtin_LINE()) const {
    put(element(i, line), i, v);
  }
  CROQ_FN void swap(idx i, value v, int line = __builtin_LINE()) const { store(i, v, line); }
  CROQ_FN value peek(idx i, int line = __builtin_LINE()) const { return load(i, line); }
  CROQ_UPDATES(value, const, element(i, line))
  CROQ_ATOMICS(value, element(i, line))
  /* For code that is opaque to the compiler; its accesses are not checked. */
  CROQ_FN T *pointer(idx offset, int line = __builtin_LINE()) const {
    if (!CROQ_LIKELY(static_cast<unsigned long long>(offset) <=
                     static_cast<unsigned long long>(extent)))
      out_of_bounds(name, offset, extent, line);
    return first + place_of<T>(offset);
  }
  CROQ_FN T *data() const { return first; }
};

/* C++ code may have written another byte than 0 and 1 to an element of type `bool`. */
template <class T> CROQ_FN void must_be_value(const T &e, int line) {
  if constexpr (same<typename without_const<T>::type, bool>) {
    const auto byte = reinterpret_cast<const unsigned char &>(e);
    if (CROQ_LIKELY(byte <= 1)) return;
    const croq_i64 values[] = {byte};
    stop(CROQ_CHECK, no_row, line, "bool: the byte {0} is neither 0 nor 1", 1, values);
  }
}
/* The value of an element that may be unwritten. */
template <class T> CROQ_FN typename without_const<T>::type whatever_is(const T &e) {
  if constexpr (same<typename without_const<T>::type, bool>)
    return (reinterpret_cast<const unsigned char &>(e) & 1) != 0;
  else return e;
}

/* Device memory. */
template <class T> struct __attribute__((unused)) global : handle<T> {
  CROQ_FN typename handle<T>::value load(idx i, int line = __builtin_LINE()) const {
    const T &e = this->element(i, line);
    must_be_value(e, line);
    return picked<typename handle<T>::value>(e, i);
  }
  /* Sums in f32 flush subnormal numbers (PTX `atom.add`). */
  using value = typename handle<T>::value;
  CROQ_FN value atomic_add(idx i, value v, int line = __builtin_LINE()) const {
    if constexpr (same<value, float>)
      return atomically(&this->element(i, line),
                        [=](value e) { return flushed(flushed(e) + flushed(v)); });
    else return handle<T>::atomic_add(i, v, line);
  }
};
/* Shared memory. */
template <class T> struct __attribute__((unused)) shared : handle<T> {
  using value = typename handle<T>::value;
  bool is_phased = false;
  shared_marks written = {};

  CROQ_FN T &reach(idx i, croq_u32 kind, int line) const {
    T &e = this->element(i, line);
    if (!is_phased || kind != CROQ_ACCESS_READS) in_order<1>(this->name, i, &e, kind, line);
    if (kind == CROQ_ACCESS_ATOMIC) must_be_written(*this, i, line);
    return e;
  }
  CROQ_FN value load(idx i, int line = __builtin_LINE()) const {
    const value e = whatever_is(reach(i, CROQ_ACCESS_READS, line));
    if (!is_written<T>(written, i)) read_unwritten(this->name, i, written.declared, line);
    return picked<value>(e, i);
  }
  CROQ_FN void store(idx i, value v, int line = __builtin_LINE()) const {
    T &e = this->element(i, line);
    in_order<1>(this->name, i, &e, store_kind(picked<value>(e, i), v), line);
    put(e, i, v);
    if (written.bytes != nullptr) mark_written<T>(written, i, take_unwritten() == 0);
  }
  CROQ_FN void swap(idx i, value v, int line = __builtin_LINE()) const { store(i, v, line); }
  CROQ_FN value peek(idx i, int line = __builtin_LINE()) const { return load(i, line); }
  CROQ_FN void begin_anew(croq_u32 buffers) { written.begin_anew(buffers); }
  CROQ_UPDATES(value, const, reach(i, CROQ_ACCESS_WRITES, line))
  CROQ_ATOMICS(value, reach(i, CROQ_ACCESS_ATOMIC, line))
};

template <class T>
CROQ_FN global<T> bind(const void *memory, idx extent, const char *name = "") {
  return {{static_cast<T *>(const_cast<void *>(memory)), extent, name}};
}

/* The memory from element `i` on. */
template <class T> CROQ_FN global<T> from_element(const global<T> &memory, idx i) {
  return {{memory.first + i, memory.extent - i, memory.name}};
}

/* `extent` elements at `offset` bytes in the block's arena. */
template <class T>
CROQ_FN shared<T> shared_at(idx offset, idx extent, const char *name = "shared", croq_u32 how = 0,
                            int line = __builtin_LINE()) {
  const idx end = offset + bytes_for<T>(extent);
  if (!CROQ_LIKELY(offset >= 0 && extent >= 0 && end <= static_cast<idx>(current->shared_bytes)))
    out_of_bounds(name, end, static_cast<idx>(current->shared_bytes), line);
  return {{reinterpret_cast<T *>(current->shared + offset), extent, name},
          (how & phased) != 0,
          marks_at(offset, how, line)};
}

/* The place of a thread's array: the stack frame of the kernel, or the arena of the thread, `At`
 * bytes from its start. */
inline constexpr idx in_frame = -1;
template <class T, int N, idx At> struct own_memory {
  T *const elements = static_cast<T *>(own_bytes(At, static_cast<idx>(sizeof(T)) * N));
  own_memory() = default;
  own_memory(const own_memory &) = delete;
  own_memory &operator=(const own_memory &) = delete;

 private:
  CROQ_FN static void *own_bytes(idx at, idx bytes) {
    if (!CROQ_LIKELY(static_cast<croq_u64>(at + bytes) <= current->arena_bytes))
      out_of_bounds("arena", at + bytes, static_cast<idx>(current->arena_bytes), 0);
    return current->arena + at;
  }
};
template <class T, int N> struct own_memory<T, N, in_frame> {
  T elements[N];
};

/* Memory of the thread. */
template <class T, int N, idx At = in_frame>
struct __attribute__((unused)) local : own_memory<T, N, At> {
  CROQ_FN T &element(idx i, int line) {
    if (!CROQ_LIKELY(static_cast<unsigned long long>(i) < static_cast<unsigned long long>(N)))
      out_of_bounds("local", i, N, line);
    return this->elements[i];
  }
  CROQ_ACCESS(T, )
  CROQ_FN T *pointer(idx offset, int line = __builtin_LINE()) {
    if (!CROQ_LIKELY(static_cast<unsigned long long>(offset) <= static_cast<unsigned long long>(N)))
      out_of_bounds("local", offset, N, line);
    return this->elements + offset;
  }
  CROQ_FN T *data() { return this->elements; }
};
template <class T, int N, idx At> using local_at = local<T, N, At>;

/* The place of the marks of such an array. */
template <class T, int N, idx At>
inline constexpr idx behind = At == in_frame ? in_frame : At + N * static_cast<idx>(sizeof(T));
/* Element access of a thread's own memory with a mark for each element, which a load checks and a
 * store sets. */
#define CROQ_MARKED_ACCESS(T)                                                                      \
  CROQ_FN T load(idx i, int line = __builtin_LINE()) {                                             \
    const T e = this->element(i, line);                                                            \
    if (!CROQ_LIKELY(marks.elements[i] == 0)) read_unwritten(name, i, declared, line);             \
    return e;                                                                                      \
  }                                                                                                \
  CROQ_FN void store(idx i, T v, int line = __builtin_LINE()) {                                    \
    this->element(i, line) = v;                                                                    \
    marks.elements[i] = take_unwritten() != 0;                                                     \
  }                                                                                                \
  CROQ_UPDATES(T, , this->element(i, line))
/* Memory of the thread with elements that may be read before they are written. Without tracking
 * too, such an element never has a value of another thread. */
template <class T, int N, idx At = in_frame>
struct __attribute__((unused)) tracked_local : local<T, N, At> {
  own_memory<unsigned char, N, behind<T, N, At>> marks;
  const char *name;
  int declared;

  /* `escapes`: the address is passed to code that is opaque to the compiler, so all elements count
   * as written. */
  CROQ_FN tracked_local(const char *of, bool escapes = false, int line = __builtin_LINE())
      : name(of), declared(line) {
    begin_anew(0, escapes);
  }
  CROQ_FN void begin_anew(croq_u32, bool escapes = false) {
    __builtin_memset(this->data(), 0xff, N * sizeof(T));
    __builtin_memset(marks.elements, !escapes && current->finds_unwritten != 0, N);
  }
  CROQ_MARKED_ACCESS(T)
};
template <class T, int N, idx At>
CROQ_FN void mark_updated(tracked_local<T, N, At> &memory, idx i) {
  if (!CROQ_LIKELY(take_unwritten() == 0)) memory.marks.elements[i] = 1;
}
template <class T, int N, idx At> using tracked_local_at = tracked_local<T, N, At>;

/* An access by the thread to registers that an MMA in flight may use, or that the next MMA may
 * use. */
CROQ_COLD inline void use_registers(croq_sim_registers &all, void *at, idx i, unsigned count,
                                    croq_u32 bytes, int line) {
  croq_sim_thread *const self = current;
  const croq_u32 first = static_cast<croq_u32>(i), end = first + count;
  if (all.pending != 0) {
    const croq_sim_part part = {&all, at, first, count, bytes};
    sim_api()->touch_registers(self, &part, static_cast<croq_u32>(line));
    current = self;
  }
  const bool fresh = all.fences != self->wgmma_fences;
  all.first = fresh || first < all.first ? first : all.first;
  all.end = fresh || end > all.end ? end : all.end;
  all.fences = self->wgmma_fences;
  all.line = static_cast<croq_u32>(line);
}

/* A thread's part of a matrix in the registers of a warp or a warpgroup: `N` elements, in the order
 * of the instructions. */
template <class T, int N, idx At = in_frame>
struct __attribute__((unused)) fragment : local<T, N, At> {
  croq_sim_registers registers = {};
  /* For each element whether it is unwritten; null if all are written before they are read. */
  unsigned char *unwritten_elements = nullptr;

  CROQ_FN T &element(idx i, int line) {
    T &e = local<T, N, At>::element(i, line);
    /* Without MMAs of warpgroups no such fence is executed. */
    if (!CROQ_LIKELY(current->wgmma_fences == 0))
      use_registers(registers, &e, i, 1, sizeof(T), line);
    return e;
  }
  CROQ_ACCESS(T, )
  /* For code that may access all of them. */
  CROQ_FN T *pointer(idx offset, int line = __builtin_LINE()) {
    if (!CROQ_LIKELY(current->wgmma_fences == 0))
      use_registers(registers, this->data(), 0, N, sizeof(T), line);
    return local<T, N, At>::pointer(offset, line);
  }
};
/* Two statements, because marks of unwritten values are those of a statement. */
#define CROQ_STORE_PAIR(T, memory, at, a, b)                                                       \
  do {                                                                                             \
    memory.store(at, croq::to<T>(a));                                                              \
    memory.store((at) + 1, croq::to<T>(b));                                                        \
  } while (false)
template <class T, int N, idx At> using fragment_at = fragment<T, N, At>;
/* A fragment whose elements may be read before they are written. */
template <class T, int N, idx At = in_frame>
struct __attribute__((unused)) tracked_fragment : fragment<T, N, At> {
  own_memory<unsigned char, N, behind<T, N, At>> marks;
  const char *name;
  int declared;

  CROQ_FN tracked_fragment(const char *of, bool escapes = false, int line = __builtin_LINE())
      : name(of), declared(line) {
    __builtin_memset(this->elements, 0xff, N * sizeof(T));
    __builtin_memset(marks.elements, !escapes && current->finds_unwritten != 0, N);
    this->unwritten_elements = marks.elements;
    this->registers.unwritten = marks.elements;
  }
  CROQ_MARKED_ACCESS(T)
};
template <class T, int N, idx At>
CROQ_FN void mark_updated(tracked_fragment<T, N, At> &memory, idx i) {
  if (!CROQ_LIKELY(take_unwritten() == 0)) memory.marks.elements[i] = 1;
}
template <class T, int N, idx At> using tracked_fragment_at = tracked_fragment<T, N, At>;
#undef CROQ_MARKED_ACCESS
#undef CROQ_ACCESS

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
