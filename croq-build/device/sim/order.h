/* Detection of unordered accesses to shared memory by different threads. The rules are in
 * `croq-sys/src/sim/order.rs`; this file decides the simple cases in which an access is certainly
 * ordered. */
#ifndef CROQ_SIM_ORDER_H
#define CROQ_SIM_ORDER_H

namespace croq {
inline namespace CROQ_TARGET {

inline constexpr croq_u32 cell_thread = 0x3ff, cell_many = 1u << 11, cell_line = 12;

CROQ_COLD inline void ask_order(const char *name, idx i, const void *at, croq_u32 bytes,
                                croq_u32 size, croq_u32 kind, int line) {
  croq_sim_thread *const self = current;
  const croq_sim_access access = {name, i, const_cast<void *>(at), bytes,
                                  static_cast<croq_u32>(line)};
  sim_api()->shared_access(self, &access, size, kind);
  current = self;
}

/* Whether no other thread has made a conflicting access to this element in the current epoch; if
 * so, the access is recorded. */
CROQ_FN bool is_alone(croq_sim_cell &cell, croq_u32 epoch, croq_u32 who, croq_u32 kind) {
  const bool own = ((cell.writer ^ who) & (cell_thread | cell_many)) == 0;
  if (cell.written == epoch && !own) return false;
  if (kind == CROQ_ACCESS_READS) {
    if (cell.read != epoch) {
      cell.read = epoch;
      cell.reader = who;
    } else if ((cell.reader & cell_many) == 0 && ((cell.reader ^ who) & cell_thread) != 0) {
      cell.reader |= cell_many;
    }
    return true;
  }
  if (kind == CROQ_ACCESS_ATOMIC ||
      (cell.read == epoch && ((cell.reader ^ who) & (cell_thread | cell_many)) != 0))
    return false;
  cell.written = epoch;
  cell.writer = who;
  return true;
}

/* The same for `count` elements that share bytes. */
template <class T>
CROQ_COLD inline void ask_packed_order(const char *name, idx i, const void *at, croq_u32 count,
                                       croq_u32 kind, int line) {
  croq_sim_thread *const self = current;
  const croq_sim_access access = {name, i, const_cast<void *>(at),
                                  static_cast<croq_u32>(bytes_for<T>(count)),
                                  static_cast<croq_u32>(line)};
  sim_api()->packed_access(self, &access, per_byte<T>, count, kind);
  current = self;
}

/* An access to `V` adjacent elements; stops the thread if it is unordered with one of another
 * thread. */
template <unsigned V, class T>
CROQ_FN void in_order(const char *name, idx i, const T *at, croq_u32 kind, int line) {
  const croq_sim_order *const order = current->order;
  if (CROQ_LIKELY(order == nullptr)) return;
  bool harmless = order->reports_all == 0;
  const croq_u32 who = current->tid | static_cast<croq_u32>(line) << cell_line;
  croq_u64 offset = static_cast<croq_u64>(reinterpret_cast<const unsigned char *>(at) -
                                          current->shared);
  if constexpr (packed<T>) {
    /* The first such access of a launch has cells allocated. */
    harmless = harmless && order->parts >= per_byte<T>;
    for (unsigned element = 0; harmless && element < V; ++element) {
      const unsigned part = static_cast<unsigned>((i + element) % per_byte<T>);
      const croq_u64 byte = offset + (static_cast<unsigned>(i % per_byte<T>) + element) / per_byte<T>;
      harmless = is_alone(order->cells[(part * 4 + byte % 4) * order->plane + byte / 4],
                          order->epoch, who, kind);
    }
    if (!CROQ_LIKELY(harmless)) ask_packed_order<T>(name, i, at, V, kind, line);
    return;
  }
  for (unsigned element = 0; harmless && element < V; ++element, offset += sizeof(T))
    harmless = is_alone(order->cells[offset % 4 * order->plane + offset / 4], order->epoch, who, kind);
  if (!CROQ_LIKELY(harmless)) ask_order(name, i, at, V * sizeof(T), sizeof(T), kind, line);
}

/* A store of a value equal to the one in memory is distinguished: it changes nothing. */
template <class T> CROQ_FN croq_u32 store_kind(const T &there, const T &value) {
  if (CROQ_LIKELY(current->order == nullptr)) return CROQ_ACCESS_WRITES;
  return __builtin_memcmp(&there, &value, sizeof(T)) == 0 ? CROQ_ACCESS_SAME : CROQ_ACCESS_WRITES;
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
