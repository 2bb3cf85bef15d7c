/* Device memory that a launch writes and that two of its threads may access: every access is
 * recorded, and unordered accesses are detected. The rules are in `croq-sys/src/sim/device/`; this
 * file decides the simple cases in which an access is certainly ordered. Buffers whose elements are
 * accessed by one thread each are `global`, without any cost. */
#ifndef CROQ_SIM_CONTENDED_H
#define CROQ_SIM_CONTENDED_H

namespace croq {
inline namespace CROQ_TARGET {

/* Fields of `writer` and of the readers of a cell. */
inline constexpr croq_u32 device_thread = 0x3ff, device_atomic = 1u << 10, device_many = 1u << 11,
                          device_same = 1u << 12, device_line = 13, device_lines = 0x7ffff;

/* Stores of equal values have equal digests. */
template <class T> CROQ_FN croq_u32 digest(const T &value) {
  static_assert(sizeof(T) <= 8, "an element has at most 64 bits");
  croq_u64 bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return static_cast<croq_u32>(bits) ^ static_cast<croq_u32>(bits >> 32) * 0x9e3779b1u;
}

/* Whether accesses of that epoch happen before what the block does now: there was none (epoch 0),
 * or a barrier of the block or of the whole grid has been executed since. */
CROQ_FN bool is_past(const croq_sim_device &order, croq_u32 epoch) {
  return epoch < order.before || (epoch >= order.first && epoch < order.epoch);
}

CROQ_FN void note_reader(const croq_sim_device &order, croq_u32 &read, croq_u32 &reader, croq_u32 who) {
  if (read == order.epoch) {
    if (((reader ^ who) & device_thread) != 0) reader |= device_many;
  } else if (is_past(order, read)) {
    read = order.epoch;
    reader = who;
  }
}

/* Whether the read is ordered with all stores; if so, it is recorded. */
CROQ_FN bool reads_in_order(const croq_sim_device &order, croq_sim_device_cell &cell, croq_u32 who) {
  if (cell.written != 0) {
    if ((cell.writer & device_atomic) != 0) return false;
    const bool own = cell.written == order.epoch &&
                     ((cell.writer ^ who) & (device_thread | device_many)) == 0;
    if (!own && !is_past(order, cell.written)) return false;
  }
  if (cell.read == order.epoch || is_past(order, cell.read))
    note_reader(order, cell.read, cell.reader, who);
  else note_reader(order, cell.read_too, cell.reader_too, who);
  return true;
}

/* The same for a store; `same`: of a value equal to the one in memory. */
CROQ_FN bool stores_in_order(const croq_sim_device &order, croq_sim_device_cell &cell, croq_u32 who,
                             bool same, croq_u32 value) {
  if (cell.written != 0) {
    if ((cell.writer & device_atomic) != 0) return false;
    const bool own = cell.written == order.epoch &&
                     ((cell.writer ^ who) & (device_thread | device_many)) == 0;
    if (!own && !is_past(order, cell.written)) return false;
  }
  const bool alone = is_past(order, cell.read) ||
                     (cell.read == order.epoch &&
                      ((cell.reader ^ who) & (device_thread | device_many)) == 0);
  if (!alone || !is_past(order, cell.read_too)) return false;
  /* An earlier store that changed the element must stay in the record. */
  if (same && cell.written >= order.before) return true;
  cell.written = order.epoch;
  cell.writer = who | (same ? device_same : 0);
  cell.value = value;
  return true;
}

template <class T> struct __attribute__((unused)) contended : global<T> {
  using value = typename global<T>::value;
  /* The buffer's number in the launch. */
  croq_u32 number = 0;
  croq_u32 records = CROQ_RECORDS_RACES;

  CROQ_FN croq_u32 who(int line) const {
    return current->tid | (static_cast<croq_u32>(line) & device_lines) << device_line;
  }
  CROQ_COLD void report(idx i, croq_u32 kind, croq_u32 stored, int line) const {
    croq_sim_thread *const self = current;
    const croq_sim_access access = {this->name, i, this->first + place_of<T>(i), sizeof(T),
                                    static_cast<croq_u32>(line)};
    sim_api()->device_access(self, &access, number, kind, stored);
    current = self;
  }
  /* The cell of an element; null if the element is not checked. */
  CROQ_FN croq_sim_device_cell *cell(const croq_sim_device *order, idx i) const {
    if (order == nullptr) return nullptr;
    const croq_sim_device_cells &cells = order->buffers[number];
    if (cells.first == nullptr ||
        static_cast<unsigned long long>(i) >= static_cast<unsigned long long>(this->extent))
      return nullptr;
    cells.touched[i >> 7] = 1;
    return cells.first + i;
  }
  CROQ_FN void note_read(idx i, int line) const {
    const croq_sim_device *const order = current->device;
    croq_sim_device_cell *const at = cell(order, i);
    if (at == nullptr) return;
    if (CROQ_LIKELY(*order->reports_all == 0 && reads_in_order(*order, *at, who(line)))) return;
    report(i, CROQ_ACCESS_READS, 0, line);
  }
  CROQ_FN void note_store(idx i, const value &v, int line) const {
    const croq_sim_device *const order = current->device;
    croq_sim_device_cell *const at = cell(order, i);
    if (at == nullptr) return;
    const value there = picked<value>(this->first[place_of<T>(i)], i);
    const bool same = __builtin_memcmp(&there, &v, sizeof v) == 0;
    const croq_u32 stored = digest(v);
    if (CROQ_LIKELY(*order->reports_all == 0 && stores_in_order(*order, *at, who(line), same, stored)))
      return;
    report(i, same ? CROQ_ACCESS_SAME : CROQ_ACCESS_WRITES, stored, line);
  }
  /* For an expression `e`, element `i`. */
  CROQ_FN void note_atomic(idx i, int line) const {
    const croq_sim_device *const order = current->device;
    if (cell(order, i) != nullptr) report(i, CROQ_ACCESS_ATOMIC, 0, line);
  }

  CROQ_FN value load(idx i, int line = __builtin_LINE()) const {
    value &e = this->element(i, line);
    note_read(i, line);
    must_be_value(e, line);
    return picked<value>(e, i);
  }
  CROQ_FN void store(idx i, value v, int line = __builtin_LINE()) const {
    value &e = this->element(i, line);
    note_store(i, v, line);
    put(e, i, v);
  }
  CROQ_FN void swap(idx i, value v, int line = __builtin_LINE()) const { store(i, v, line); }
  CROQ_FN value peek(idx i, int line = __builtin_LINE()) const { return load(i, line); }
#define CROQ_TRACKED_UPDATE(name, ...)                                                             \
  CROQ_FN void name(idx i, value v, int line = __builtin_LINE()) const {                           \
    value &place = this->element(i, line);                                                         \
    note_read(i, line);                                                                            \
    value e = place;                                                                               \
    e = static_cast<value>(__VA_ARGS__);                                                           \
    note_store(i, e, line);                                                                        \
    place = e;                                                                                     \
  }
  CROQ_TRACKED_UPDATE(add, e + v)
  CROQ_TRACKED_UPDATE(sub, e - v)
  CROQ_TRACKED_UPDATE(mul, e *v)
  CROQ_TRACKED_UPDATE(div, croq::div<value>(e, v, line))
  CROQ_TRACKED_UPDATE(rem, croq::rem<value>(e, v, line))
  CROQ_TRACKED_UPDATE(shl, e << v)
  CROQ_TRACKED_UPDATE(shr, e >> v)
  CROQ_TRACKED_UPDATE(bit_and, e &v)
  CROQ_TRACKED_UPDATE(bit_or, e | v)
  CROQ_TRACKED_UPDATE(bit_xor, e ^ v)
#undef CROQ_TRACKED_UPDATE
#define CROQ_TRACKED_ATOMIC(name)                                                                  \
  CROQ_FN value atomic_##name(idx i, value v, int line = __builtin_LINE()) const {                 \
    this->element(i, line);                                                                        \
    note_atomic(i, line);                                                                          \
    return global<T>::atomic_##name(i, v, line);                                                   \
  }
  CROQ_TRACKED_ATOMIC(add)
  CROQ_TRACKED_ATOMIC(sub)
  CROQ_TRACKED_ATOMIC(exch)
  CROQ_TRACKED_ATOMIC(min)
  CROQ_TRACKED_ATOMIC(max)
  CROQ_TRACKED_ATOMIC(and)
  CROQ_TRACKED_ATOMIC(or)
  CROQ_TRACKED_ATOMIC(xor)
#undef CROQ_TRACKED_ATOMIC
  CROQ_FN value atomic_cas(idx i, value compare, value v, int line = __builtin_LINE()) const {
    this->element(i, line);
    note_atomic(i, line);
    return global<T>::atomic_cas(i, compare, v, line);
  }
};

CROQ_COLD inline void note_atomic_at(const void *p) {
  croq_sim_thread *const self = current;
  sim_api()->device_atomic(self, p);
  current = self;
}

template <class T> CROQ_FN croq_sim_tracked track(const global<T> &memory, croq_u32 records) {
  return {memory.name, const_cast<void *>(static_cast<const void *>(memory.first)),
          static_cast<croq_u64>(memory.extent), sizeof(T), per_byte<T>, records};
}

/* The launch argument for a parameter that is `contended`; and for one that is not, because code
 * that is opaque to the compiler has its address. */
template <croq_u32 Records = CROQ_RECORDS_RACES, class T>
CROQ_FN contended<T> contend(const global<T> &memory) {
  return {memory, 0, Records};
}
/* The same for memory that a kernel accesses by TMA only: a tensor map, and the tensor's memory. */
template <class M> struct contended_map : M {
  croq_sim_tracked memory;
};
template <croq_u32 Records = CROQ_RECORDS_RACES, class M, class T>
CROQ_FN contended_map<M> contend(const M &map, const global<T> &memory) {
  return {map, track(memory, Records)};
}
template <class T> struct __attribute__((unused)) escaped : global<T> {};
template <class T> CROQ_FN escaped<T> escaping(const global<T> &memory) { return {memory}; }

/* The tracked buffers among a launch's arguments. */
struct contended_list {
  template <class A> static constexpr unsigned counts(const A *) { return 0; }
  template <class T> static constexpr unsigned counts(const contended<T> *) { return 1; }
  template <class T> static constexpr unsigned counts(const escaped<T> *) { return 1; }
  template <class M> static constexpr unsigned counts(const contended_map<M> *) { return 1; }

  croq_sim_tracked *end;
  croq_u32 count;

  template <class A> void add(A &) {}
  template <class T> void add(contended<T> &memory) {
    memory.number = count;
    end[count++] = track(memory, memory.records);
  }
  template <class T> void add(escaped<T> &memory) { end[count++] = track(memory, 0); }
  template <class M> void add(contended_map<M> &map) { end[count++] = map.memory; }
};

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
