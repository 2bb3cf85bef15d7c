/* TMA: copies of boxes between tensors in device memory and shared memory, issued by one thread. */
#ifndef CROQ_SIM_TMA_H
#define CROQ_SIM_TMA_H

namespace croq {
inline namespace CROQ_TARGET {

/* The parameter of a kernel is `CROQ_GRID_CONSTANT const croq::tensor_map map`. */
struct tensor_map {
  croq_sim_tensor_map map = {};
};
#define CROQ_GRID_CONSTANT

template <unsigned R, class T>
bool make_tensor_map(host &on, tensor_map &map, const global<T> &memory,
                     const tensor_layout<R> &layout, int line = __builtin_LINE()) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(memory.first);
  const tensor_map_fault fault = check_tensor_map(layout, address, sizeof(T));
  if (fault.what != nullptr) return on.refuse(line, fault.what, fault.dimension, fault.value);
  croq_sim_tensor_map &made = map.map;
  made.memory = const_cast<void *>(static_cast<const void *>(memory.first));
  made.rank = R;
  made.element_bytes = sizeof(T);
  made.swizzle = layout.swizzle;
  idx last = 0;
  for (unsigned d = 0; d < R; ++d) {
    made.extents[d] = static_cast<croq_u64>(layout.extents[d]);
    made.strides[d] = static_cast<croq_u64>(layout.strides[d]) * sizeof(T);
    made.box_extents[d] = static_cast<croq_u32>(layout.box[d]);
    idx reach = 0;
    if (__builtin_mul_overflow(layout.extents[d] - 1, layout.strides[d], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      last = memory.extent;
  }
  if (last >= memory.extent)
    return on.refuse(line, "tensor map: reaches beyond the buffer", last, memory.extent);
  return true;
}

/* The simulated GPU has the features of the newest GPU. */
CROQ_OPERATION void only_from_sm_90() {}

CROQ_OPERATION idx box_elements(const tensor_map &map) {
  idx elements = 1;
  for (unsigned d = 0; d < map.map.rank; ++d) elements *= map.map.box_extents[d];
  return elements;
}

/* The address range of a box in shared memory. */
template <unsigned R, class T>
CROQ_OPERATION croq_sim_access box_access(const watched<T> &memory, idx i, const tensor_map &map,
                                   int line) {
  const idx elements = box_elements(map);
  if (!CROQ_LIKELY(map.map.rank == R && map.map.element_bytes == sizeof(T)))
    stop(CROQ_CHECK, no_row, line, "tensor map of another rank or element type", 0, nullptr);
  if (!CROQ_LIKELY(i >= 0 && i <= memory.extent - elements))
    out_of_bounds(memory.name, i < 0 || i >= memory.extent ? i : memory.extent, memory.extent,
                  line);
  return {memory.name, i, memory.first + i, static_cast<croq_u32>(elements * idx(sizeof(T))),
          static_cast<croq_u32>(line)};
}

/* `tma_load` to the same address of each block of the cluster whose bit is set in `blocks`. The
 * bytes written to a block are counted by its own mbarrier. */
template <unsigned R, class T>
CROQ_OPERATION void tma_load_multicast(const watched<T> &dst, idx i, const tensor_map &map,
                                const idx (&at)[R], const mbarriers &arrival, idx slot,
                                unsigned blocks, int line = __builtin_LINE()) {
  const croq_sim_access access = box_access<R>(dst, i, map, line);
  const croq_sim_access barrier = arrival.at(slot, line);
  croq_i64 coordinates[5] = {};
  for (unsigned d = 0; d < R; ++d) coordinates[d] = at[d];
  /* The runtime sets the marks of the other blocks. */
  if (dst.written.bytes != nullptr)
    __builtin_memset(dst.written.bytes + i * idx(sizeof(T)), int(dst.written.number), access.bytes);
  croq_sim_thread *const self = current;
  sim_api()->tma_load(self, &access, &map.map, coordinates, &barrier, blocks);
  current = self;
}
/* Loads the box at these coordinates to element `i`. Coordinates are innermost first, and need not
 * be inside the tensor; elements outside are zero. All bytes of the box, those outside included,
 * are counted by the mbarrier. */
template <unsigned R, cache_hint H = cache_hint::none, class T>
CROQ_OPERATION void tma_load(const watched<T> &dst, idx i, const tensor_map &map, const idx (&at)[R],
                      const mbarriers &arrival, idx slot, int line = __builtin_LINE()) {
  tma_load_multicast<R>(dst, i, map, at, arrival, slot, 0, line);
}
/* The part of the box that is inside the tensor must have been written. */
template <class T>
CROQ_OPERATION void check_box(const watched<T> &src, const croq_sim_access &access, const tensor_map &map,
                       const croq_i64 *at, int line) {
  const croq_sim_tensor_map &of = map.map;
  const unsigned char *const marks = src.written.bytes + access.index * idx(sizeof(T));
  const idx base = static_cast<const unsigned char *>(access.at) - current->shared;
  for (idx e = 0; e < idx(access.bytes / sizeof(T)); ++e) {
    bool inside = true;
    idx rest = e;
    for (unsigned d = 0; d < of.rank; ++d) {
      const idx place = at[d] + rest % of.box_extents[d];
      rest /= of.box_extents[d];
      inside = inside && place >= 0 && place < static_cast<idx>(of.extents[d]);
    }
    if (!inside) continue;
    const idx byte = base + e * idx(sizeof(T));
    const idx stored = of.swizzle == 128  ? swizzle<128>(byte)
                       : of.swizzle == 64 ? swizzle<64>(byte)
                       : of.swizzle == 32 ? swizzle<32>(byte)
                                          : byte;
    const idx offset = stored - base;
    if (CROQ_LIKELY(are_marked<sizeof(T)>(marks + offset, src.written.number))) continue;
    read_unwritten(src.name, access.index + offset / idx(sizeof(T)), src.written.declared, line);
    use_unwritten(take_unwritten(), in_memory, line);
  }
}
/* Stores the box at element `i` to these coordinates; elements outside of the tensor are not
 * written. Before: `fence_proxy_async` by all threads that wrote the box, and a barrier. After:
 * `bulk_commit` and a wait. */
template <unsigned R, class T>
CROQ_OPERATION void tma_store(const tensor_map &map, const idx (&at)[R], const watched<T> &src, idx i,
                       int line = __builtin_LINE()) {
  const croq_sim_access access = box_access<R>(src, i, map, line);
  croq_i64 coordinates[5] = {};
  for (unsigned d = 0; d < R; ++d) coordinates[d] = at[d];
  if (src.written.bytes != nullptr) check_box(src, access, map, coordinates, line);
  croq_sim_thread *const self = current;
  sim_api()->tma_store(self, &access, &map.map, coordinates);
  current = self;
}

/* There is no cache for maps. */
CROQ_OPERATION void prefetch_map(const tensor_map &) {}
/* Closes the group of this thread's stores since the last commit. */
CROQ_OPERATION void bulk_commit() {
  croq_sim_thread *const self = current;
  sim_api()->bulk_commit(self);
  current = self;
}
/* Waits until all of this thread's groups except the `N` youngest have read shared memory. */
template <unsigned N> CROQ_OPERATION void bulk_wait_read() {
  croq_sim_thread *const self = current;
  sim_api()->bulk_wait(self, N, 1);
  current = self;
}
/* Waits until they are complete. */
template <unsigned N> CROQ_OPERATION void bulk_wait() {
  croq_sim_thread *const self = current;
  sim_api()->bulk_wait(self, N, 0);
  current = self;
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
