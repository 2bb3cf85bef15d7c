/* Unwritten values. Where the compiler cannot prove that an element is written before it is read,
 * the element has a mark. Reading such an element is allowed, and so is computing with it: the
 * result of the statement is marked in turn. It is an error to store the value in device memory, to
 * use it in a condition or an address, or to pass it to an atomic operation or a call.
 *
 * During the evaluation of an expression, `unwritten` is nonzero if a value that it has read was
 * marked. The statement of the expression takes the number and resets it, so `unwritten` is 0
 * between statements. */
#ifndef CROQ_SIM_UNWRITTEN_H
#define CROQ_SIM_UNWRITTEN_H

namespace croq {
inline namespace CROQ_TARGET {

/* Uses of a value. */
inline constexpr croq_u32 in_memory = 0, in_condition = 1, in_address = 2, in_atomic = 3, in_call = 4,
                          in_print = 5, in_check = 6;

/* An unwritten element that was read. */
struct unwritten_element {
  const char *name;
  idx index;
  int declared, line;
};
/* The most recent ones; reports name the element that the value came from. */
inline constexpr croq_u32 most_unwritten = 256;
inline thread_local unwritten_element last_unwritten[most_unwritten];
inline thread_local croq_u32 unwritten_count = 0;
/* The number of an unwritten element that the current expression has read, or 0. */
inline CROQ_THREAD_LOCAL croq_u32 unwritten = 0;

CROQ_COLD inline void read_unwritten(const char *name, idx i, int declared, int line) {
  croq_u32 number = ++unwritten_count;
  if (number == 0) number = ++unwritten_count;
  last_unwritten[number % most_unwritten] = {name, i, declared, line};
  unwritten = number;
}
[[noreturn]] CROQ_COLD inline void use_unwritten(croq_u32 number, croq_u32 use, int line) {
  const unwritten_element &element = last_unwritten[number % most_unwritten];
  const croq_sim_unwritten what = {element.name,
                                   element.index,
                                   static_cast<croq_u32>(element.declared),
                                   static_cast<croq_u32>(element.line),
                                   static_cast<croq_u32>(line),
                                   use};
  unwritten = 0;
  sim_api()->use_unwritten(current, &what);
  __builtin_unreachable();
}

/* Returns and resets `unwritten`; the caller becomes responsible for it. */
CROQ_FN croq_u32 take_unwritten() {
  const croq_u32 number = unwritten;
  if (!CROQ_LIKELY(number == 0)) unwritten = 0;
  return number;
}

/* A variable whose value may be marked. */
template <class T> struct tracked {
  T bits;
  croq_u32 number;

  CROQ_FN tracked() : bits(), number(0) {}
  CROQ_FN tracked(T v) : bits(v), number(take_unwritten()) {}
};
template <class T> CROQ_FN T value_of(const tracked<T> &v) {
  if (!CROQ_LIKELY(v.number == 0)) unwritten = v.number;
  return v.bits;
}
template <class T> CROQ_FN T value_of(T v) { return v; }

/* The value, which must have been written. */
template <class T> CROQ_FN T written(T v, croq_u32 use, int line = __builtin_LINE()) {
  if (!CROQ_LIKELY(unwritten == 0)) use_unwritten(unwritten, use, line);
  return v;
}
template <class T>
CROQ_FN T written(const tracked<T> &v, croq_u32 use, int line = __builtin_LINE()) {
  if (!CROQ_LIKELY(v.number == 0)) use_unwritten(v.number, use, line);
  return v.bits;
}
/* An argument inside an expression; the other parts of the expression may be unwritten. */
template <class F> CROQ_FN auto written_argument(F expression, int line = __builtin_LINE()) {
  const croq_u32 others = take_unwritten();
  const auto v = written(expression(), in_call, line);
  unwritten = others;
  return v;
}
/* The value, which is stored where there are no marks. */
template <class T> CROQ_FN T trusted(T v) {
  take_unwritten();
  return v;
}

/* Properties of shared memory: `phased` if barriers of the whole block separate reads and writes;
 * the number of a buffer with marks, from 1 on. */
inline constexpr croq_u32 phased = 0x100;
CROQ_FN constexpr croq_u32 marked_by(croq_u32 number) { return (number - 1) % 255 + 1; }

/* Whether `B` bytes of marks are all this number. */
template <unsigned B> CROQ_FN bool are_marked(const unsigned char *marks, croq_u32 number) {
  if constexpr (B == 16) return are_marked<8>(marks, number) && are_marked<8>(marks + 8, number);
  else {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, marks, B);
    return bits == number * (0x0101010101010101ull >> (64 - 8 * B));
  }
}

/* The marks of a shared buffer: each written byte has the buffer's number as its mark. Marks of
 * other buffers in the same memory are different numbers, so they do not count. */
struct shared_marks {
  /* Null if written bytes are not tracked. */
  unsigned char *bytes = nullptr;
  croq_u32 number = 0;
  int declared = 0;

  template <unsigned B> CROQ_FN bool has(idx i) const {
    return CROQ_LIKELY(bytes == nullptr) || CROQ_LIKELY(are_marked<B>(bytes + i * idx(B), number));
  }
  template <unsigned B> CROQ_FN void put(idx i, bool is_written) const {
    if (bytes != nullptr) __builtin_memset(bytes + i * idx(B), is_written ? int(number) : 0, B);
  }
  /* The same for an element of less than a byte. It has a bit behind the marks of all bytes, which
   * counts if the byte has the buffer's mark. */
  CROQ_FN bool has_bit(idx byte, unsigned bit) const {
    return CROQ_LIKELY(bytes == nullptr) ||
           CROQ_LIKELY(bytes[byte] == number && (bits_of(byte) >> bit & 1) != 0);
  }
  CROQ_FN void put_bit(idx byte, unsigned bit, bool is_written) const {
    if (bytes == nullptr) return;
    const unsigned others = bytes[byte] == number ? bits_of(byte) & ~(1u << bit) : 0;
    bytes[byte] = static_cast<unsigned char>(number);
    bits_of(byte) = static_cast<unsigned char>(others | unsigned(is_written) << bit);
  }
  CROQ_FN unsigned char &bits_of(idx byte) const { return bytes[byte + idx(current->shared_bytes)]; }
  /* The declaration is executed again: earlier writes do not count any more. `buffers` is the
   * number of numbered buffers. */
  CROQ_FN void begin_anew(croq_u32 buffers) {
    if (bytes != nullptr) number = (number - 1 + buffers) % (255 / buffers * buffers) + 1;
  }
};

CROQ_FN shared_marks marks_at(idx offset, croq_u32 how, int line) {
  const croq_u32 number = how & 0xff;
  if (number == 0 || current->written == nullptr) return {};
  return {current->written + offset, number, line};
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
