/* TMA: copies of boxes between tensors in device memory and shared memory, issued by one thread
 * (sm_90). */
#ifndef CROQ_CUDA_TMA_H
#define CROQ_CUDA_TMA_H

namespace croq {
inline namespace CROQ_TARGET {

/* `CUtensorMap`, without the large header that defines it. The parameter of a kernel is
 * `CROQ_GRID_CONSTANT const croq::tensor_map map`. */
struct alignas(128) tensor_map {
  unsigned long long opaque[16];
};
#define CROQ_GRID_CONSTANT __grid_constant__

/* The type of `cuTensorMapEncodeTiled`; returns a `CUresult`. */
using encode_tiled = int(tensor_map *, int type, unsigned rank, void *memory,
                         const unsigned long long *extents, const unsigned long long *strides,
                         const unsigned *box, const unsigned *element_strides, int interleave,
                         int swizzle, int promotion, int fill);

/* The driver's function, to which the program is not linked; null if there is none. */
CROQ_ONCE inline encode_tiled *find_encode_tiled() {
  static encode_tiled *const found = [] {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult outcome;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                               12000, cudaEnableDefault, &outcome);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &outcome);
#endif
    if (error != cudaSuccess || outcome != cudaDriverEntryPointSuccess) function = nullptr;
    return reinterpret_cast<encode_tiled *>(function);
  }();
  return found;
}

/* The `CUtensorMapDataType`. */
template <class T> constexpr int tensor_map_type() {
  if constexpr (same<T, f16>) return 6;
  else if constexpr (same<T, bf16>) return 9;
  else if constexpr (same<T, float>) return 7;
  else if constexpr (same<T, double>) return 8;
  else if constexpr (sizeof(T) == 1) return 0;
  else if constexpr (sizeof(T) == 2) return 1;
  else if constexpr (sizeof(T) == 4) return is_signed<T> ? 3 : 2;
  else return is_signed<T> ? 5 : 4;
}

/* Everything that an encoded map depends on, padded with zeros. The first word is not 0. */
struct tensor_map_key {
  static constexpr unsigned count = 17;
  unsigned long long words[count];
  bool operator==(const tensor_map_key &other) const {
    for (unsigned i = 0; i < count; ++i)
      if (words[i] != other.words[i]) return false;
    return true;
  }
};

/* The maps of the most recent calls, because the driver takes longer to make one than the rest of a
 * launch. A map is a function of its key alone, so one that is found is right also if the memory was
 * freed and its address belongs to another tensor. */
class tensor_maps {
 public:
  /* Both do nothing while another thread is here: a map that is not found is made. */
  CROQ_ONCE bool find(const tensor_map_key &key, tensor_map &map) {
    if (!enter()) return false;
    const entry *found = nullptr;
    for (const entry &e : set(key).entries)
      if (e.key == key) found = &e;
    if (found != nullptr)
      for (unsigned i = 0; i < 16; ++i) map.opaque[i] = found->opaque[i];
    leave();
    return found != nullptr;
  }
  CROQ_ONCE void keep(const tensor_map_key &key, const tensor_map &map) {
    if (!enter()) return;
    entries_of_set &of = set(key);
    entry &e = of.entries[of.oldest++ % ways];
    e.key = key;
    for (unsigned i = 0; i < 16; ++i) e.opaque[i] = map.opaque[i];
    leave();
  }

 private:
  static constexpr unsigned sets = 16, ways = 4;
  struct entry {
    tensor_map_key key;
    unsigned long long opaque[16];
  };
  struct entries_of_set {
    entry entries[ways];
    unsigned oldest;
  };
  entries_of_set all[sets];
  int is_taken;

  entries_of_set &set(const tensor_map_key &key) {
    unsigned long long hash = 0;
    for (unsigned long long word : key.words) hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return all[hash >> 60];
  }
  bool enter() { return __atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE) == 0; }
  void leave() { __atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE); }
};
/* Zeros: no map is known. */
inline tensor_maps known_tensor_maps;

/* `type` and `size` of an element in bytes. */
CROQ_ONCE inline bool make_tensor_map(host &on, tensor_map &map, const void *memory, int type, idx size,
                                      const tensor_box &layout, int line) {
  constexpr unsigned most = tensor_box::most;
  const unsigned rank = layout.rank;
  const unsigned long long address = reinterpret_cast<unsigned long long>(memory);
  const tensor_map_fault fault = check_tensor_map(layout, address, size);
  if (fault.what != nullptr) return on.refuse(line, fault.what, fault.dimension, fault.value);
  encode_tiled *const encode = find_encode_tiled();
  if (encode == nullptr) return on.refuse(line, "tensor map: the driver can't make any");
  unsigned long long extents[most], strides[most];
  unsigned box[most], ones[most];
  for (unsigned d = 0; d < rank; ++d) {
    extents[d] = static_cast<unsigned long long>(layout.extents[d]);
    /* The innermost stride is not passed. */
    if (d > 0) strides[d - 1] = static_cast<unsigned long long>(layout.strides[d] * size);
    box[d] = static_cast<unsigned>(layout.box[d]);
    ones[d] = 1;
  }
  strides[rank - 1] = 0;
  const unsigned s = layout.swizzle;
  const unsigned swizzle = s == 128 ? 3 : s == 64 ? 2 : s == 32 ? 1 : 0;
  const unsigned promotion = layout.promotion == 256 ? 3 : layout.promotion == 64 ? 1 : 2;
  /* The driver may encode for the thread's device. */
  int device = 0;
  const bool is_kept = cudaGetDevice(&device) == cudaSuccess;
  const unsigned kind = static_cast<unsigned>(type) << 24 | rank << 16 | swizzle << 8 | promotion;
  tensor_map_key key = {{static_cast<unsigned long long>(device) << 32 | kind, address}};
  for (unsigned d = 0; d < rank; ++d) {
    key.words[2 + d] = extents[d];
    key.words[7 + d] = strides[d];
    key.words[12 + d] = box[d];
  }
  if (is_kept && known_tensor_maps.find(key, map)) return true;
  /* No interleaving; elements out of bounds are zero. */
  const int result = encode(&map, type, rank, const_cast<void *>(memory), extents, strides, box, ones, 0,
                            static_cast<int>(swizzle), static_cast<int>(promotion), 0);
  if (result != 0) return on.refuse(line, "tensor map: refused by the driver", result);
  if (is_kept) known_tensor_maps.keep(key, map);
  return true;
}
template <unsigned R, class T>
bool make_tensor_map(host &on, tensor_map &map, const global<T> &memory,
                     const tensor_layout<R> &layout, int line = __builtin_LINE()) {
  constexpr int type = tensor_map_type<typename without_const<T>::type>();
  return make_tensor_map(on, map, memory.first, type, sizeof(T), layout, line);
}

/* The end of code for GPUs before sm_90, on which the host does not launch it (`host::needs`). */
CROQ_DEVICE void only_from_sm_90() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
  __builtin_unreachable();
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CROQ_BULK(...) asm volatile(__VA_ARGS__)
#else
/* Code for a GPU before sm_90 traps. */
#define CROQ_BULK(...) __trap()
#endif

/* The L2 cache policy as an operand. */
template <cache_hint H> CROQ_DEVICE unsigned long long cache_policy() {
  unsigned long long policy = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if constexpr (H == cache_hint::evict_first)
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (H == cache_hint::evict_last)
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/* The instruction of one thread; with `M` for the blocks of the cluster whose bits are set. */
template <unsigned R, cache_hint H, bool M, class T>
CROQ_DEVICE void load_box([[maybe_unused]] shared<T> dst, [[maybe_unused]] idx i,
                          [[maybe_unused]] const tensor_map &map,
                          [[maybe_unused]] const idx (&at)[R], [[maybe_unused]] mbarriers arrival,
                          [[maybe_unused]] idx slot, [[maybe_unused]] unsigned short blocks) {
#define CROQ_LOAD_AS(rank, how, numbers, last, ...)                                                \
  CROQ_BULK("cp.async.bulk.tensor." rank                                                           \
            "d.shared::cluster.global.mbarrier::complete_tx::bytes" how " [%0], [%1, {" numbers    \
            "}], [%2]" last ";"                                                                    \
            :                                                                                      \
            : "r"(shared_address(dst.first + i)), "l"(&map), "r"(arrival.at(slot)), __VA_ARGS__    \
            : "memory")
#define CROQ_LOAD(rank, numbers, last, ...)                                                        \
  do {                                                                                             \
    if constexpr (M)                                                                               \
      CROQ_LOAD_AS(rank, ".multicast::cluster", numbers, ", " last, __VA_ARGS__, "h"(blocks));     \
    else if constexpr (H == cache_hint::none) CROQ_LOAD_AS(rank, "", numbers, "", __VA_ARGS__);    \
    else                                                                                           \
      CROQ_LOAD_AS(rank, ".L2::cache_hint", numbers, ", " last, __VA_ARGS__,                       \
                   "l"(cache_policy<H>()));                                                        \
  } while (false)
#define CROQ_AT(d) "r"(static_cast<int>(at[d]))
  if constexpr (R == 1) CROQ_LOAD("1", "%3", "%4", CROQ_AT(0));
  else if constexpr (R == 2) CROQ_LOAD("2", "%3, %4", "%5", CROQ_AT(0), CROQ_AT(1));
  else if constexpr (R == 3) CROQ_LOAD("3", "%3, %4, %5", "%6", CROQ_AT(0), CROQ_AT(1), CROQ_AT(2));
  else if constexpr (R == 4)
    CROQ_LOAD("4", "%3, %4, %5, %6", "%7", CROQ_AT(0), CROQ_AT(1), CROQ_AT(2), CROQ_AT(3));
  else
    CROQ_LOAD("5", "%3, %4, %5, %6, %7", "%8", CROQ_AT(0), CROQ_AT(1), CROQ_AT(2), CROQ_AT(3),
              CROQ_AT(4));
#undef CROQ_LOAD
#undef CROQ_LOAD_AS
}
/* Loads the box at these coordinates to element `i`. Coordinates are innermost first, and need not
 * be inside the tensor; elements outside are zero. All bytes of the box, those outside included,
 * are counted by the mbarrier. */
template <unsigned R, cache_hint H = cache_hint::none, class T>
CROQ_DEVICE void tma_load(shared<T> dst, idx i, const tensor_map &map, const idx (&at)[R],
                          mbarriers arrival, idx slot) {
  load_box<R, H, false>(dst, i, map, at, arrival, slot, 0);
}
/* `tma_load` to the same address of each block of the cluster whose bit is set in `blocks`. The
 * bytes written to a block are counted by its own mbarrier. */
template <unsigned R, class T>
CROQ_DEVICE void tma_load_multicast(shared<T> dst, idx i, const tensor_map &map,
                                    const idx (&at)[R], mbarriers arrival, idx slot,
                                    unsigned blocks) {
  load_box<R, cache_hint::none, true>(dst, i, map, at, arrival, slot,
                                      static_cast<unsigned short>(blocks));
}
/* Stores the box at element `i` to these coordinates; elements outside of the tensor are not
 * written. Before: `fence_proxy_async` by all threads that wrote the box, and a barrier. After:
 * `bulk_commit` and a wait. */
template <unsigned R, class T>
CROQ_DEVICE void tma_store([[maybe_unused]] const tensor_map &map,
                           [[maybe_unused]] const idx (&at)[R], [[maybe_unused]] shared<T> src,
                           [[maybe_unused]] idx i) {
#define CROQ_STORE(rank, numbers, ...)                                                             \
  CROQ_BULK("cp.async.bulk.tensor." rank "d.global.shared::cta.bulk_group [%1, {" numbers          \
            "}], [%0];"                                                                            \
            :                                                                                      \
            : "r"(shared_address(src.first + i)), "l"(&map), __VA_ARGS__                           \
            : "memory")
  if constexpr (R == 1) CROQ_STORE("1", "%2", CROQ_AT(0));
  else if constexpr (R == 2) CROQ_STORE("2", "%2, %3", CROQ_AT(0), CROQ_AT(1));
  else if constexpr (R == 3) CROQ_STORE("3", "%2, %3, %4", CROQ_AT(0), CROQ_AT(1), CROQ_AT(2));
  else if constexpr (R == 4)
    CROQ_STORE("4", "%2, %3, %4, %5", CROQ_AT(0), CROQ_AT(1), CROQ_AT(2), CROQ_AT(3));
  else
    CROQ_STORE("5", "%2, %3, %4, %5, %6", CROQ_AT(0), CROQ_AT(1), CROQ_AT(2), CROQ_AT(3),
               CROQ_AT(4));
#undef CROQ_STORE
#undef CROQ_AT
}

/* Brings the map to the cache in which copies look for it. */
CROQ_DEVICE void prefetch_map([[maybe_unused]] const tensor_map &map) {
  CROQ_BULK("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
}
/* Closes the group of this thread's stores since the last commit. */
CROQ_DEVICE void bulk_commit() { CROQ_BULK("cp.async.bulk.commit_group;" : : : "memory"); }
/* Waits until all of this thread's groups except the `N` youngest have read shared memory. */
template <unsigned N> CROQ_DEVICE void bulk_wait_read() {
  CROQ_BULK("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}
/* Waits until they are complete. */
template <unsigned N> CROQ_DEVICE void bulk_wait() {
  CROQ_BULK("cp.async.bulk.wait_group %0;" : : "n"(N) : "memory");
}
#undef CROQ_BULK

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
