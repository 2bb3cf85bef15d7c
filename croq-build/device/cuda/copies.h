/* Copies of several adjacent elements as one access, synchronous or asynchronous (sm_80), and sums of
 * them (sm_90). */
#ifndef CROQ_CUDA_COPIES_H
#define CROQ_CUDA_COPIES_H

namespace croq {
inline namespace CROQ_TARGET {

/* On the simulated GPU, shared memory that asynchronous operations access has a type of its own. */
template <class T> using watched = shared<T>;
template <class T>
CROQ_DEVICE watched<T> watched_at(idx offset, idx extent, const char * = "", unsigned = 0) {
  return shared_at<T>(offset, extent);
}

/* The type of one access of this many bytes. */
template <unsigned Bytes> struct word;
template <> struct word<1> {
  using type = unsigned char;
};
template <> struct word<2> {
  using type = unsigned short;
};
template <> struct word<4> {
  using type = unsigned;
};
template <> struct word<8> {
  using type = uint2;
};
template <> struct word<16> {
  using type = uint4;
};

template <unsigned V, class T> CROQ_DEVICE auto load_word(const handle<T> &memory, idx i) {
  using bits = const typename word<bytes_of_vector<T, V>>::type;
  return *reinterpret_cast<bits *>(memory.first + place_of<T>(i));
}
template <unsigned V, class T> CROQ_DEVICE auto load_word(const global<const T> &memory, idx i) {
  using bits = const typename word<bytes_of_vector<T, V>>::type;
  return __ldg(reinterpret_cast<bits *>(memory.first + place_of<T>(i)));
}
/* A thread's own memory stays in registers if no address of it is cast. */
template <unsigned V, class T, int N>
CROQ_DEVICE auto load_word(const local<T, N> &memory, idx i) {
  T elements[V];
  CROQ_UNROLL for (unsigned e = 0; e < V; ++e) elements[e] = memory.first[i + e];
  typename word<V * sizeof(T)>::type bits;
  __builtin_memcpy(&bits, elements, sizeof bits);
  return bits;
}
template <unsigned V, class T, class W>
CROQ_DEVICE void store_word(const handle<T> &memory, idx i, W bits) {
  *reinterpret_cast<W *>(memory.first + place_of<T>(i)) = bits;
}
template <unsigned V, class T, int N, class W>
CROQ_DEVICE void store_word(local<T, N> &memory, idx i, W bits) {
  T elements[V];
  __builtin_memcpy(elements, &bits, sizeof bits);
  CROQ_UNROLL for (unsigned e = 0; e < V; ++e) memory.first[i + e] = elements[e];
}

/* Of registers to device memory: the compiler would store the parts of a word by one instruction
 * each, where it does not find out that they are adjacent and aligned. */
CROQ_DEVICE void store_whole(void *at, uint2 bits) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(at)), "r"(bits.x), "r"(bits.y)
               : "memory");
}
CROQ_DEVICE void store_whole(void *at, uint4 bits) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(at)), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)
               : "memory");
}

template <class M> inline constexpr bool is_device_memory = false;
template <class T> inline constexpr bool is_device_memory<global<T> &> = true;
template <class T> inline constexpr bool is_device_memory<const global<T> &> = true;
template <class M> inline constexpr bool is_own = false;
template <class T, int N> inline constexpr bool is_own<local<T, N> &> = true;
template <class T, int N> inline constexpr bool is_own<tracked_local<T, N> &> = true;

/* Copies `V` adjacent elements. */
template <unsigned V, class D, class S>
CROQ_DEVICE void copy(D &&dst, idx di, S &&src, idx si) {
  const auto bits = load_word<V>(src, si);
  if constexpr (sizeof bits >= 8 && is_device_memory<D &> && is_own<S &>)
    store_whole(dst.pointer(di), bits);
  else store_word<V>(dst, di, bits);
}

/* Whether there is an instruction for sums of several elements. */
CROQ_DEVICE constexpr bool adds_vectors() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  return true;
#else
  return false;
#endif
}
/* Adds up to 16 bytes of elements, each atomically by itself: relaxed, with device scope. */
template <unsigned V> CROQ_DEVICE void add_floats(float *at, const float *v) {
  static_assert(V == 2 || V == 4, "8 or 16 bytes");
  const auto to = __cvta_generic_to_global(at);
  if constexpr (V == 2)
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};"
                 :
                 : "l"(to), "f"(v[0]), "f"(v[1])
                 : "memory");
  else
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                 : "memory");
}
CROQ_FN unsigned two_halves(const f16 *v) {
  return static_cast<unsigned>(v[0].bits) | static_cast<unsigned>(v[1].bits) << 16;
}
template <unsigned V> CROQ_DEVICE void add_halves(f16 *at, const f16 *v) {
  static_assert(V == 2 || V == 4 || V == 8, "4, 8 or 16 bytes");
  const auto to = __cvta_generic_to_global(at);
  if constexpr (V == 2)
    asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;"
                 :
                 : "l"(to), "r"(two_halves(v))
                 : "memory");
  else if constexpr (V == 4)
    asm volatile("red.relaxed.gpu.global.add.noftz.v2.f16x2 [%0], {%1, %2};"
                 :
                 : "l"(to), "r"(two_halves(v)), "r"(two_halves(v + 2))
                 : "memory");
  else
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(two_halves(v)), "r"(two_halves(v + 2)), "r"(two_halves(v + 4)),
                   "r"(two_halves(v + 6))
                 : "memory");
}
/* `to[ti + e] += from[fi + e]` for each `e` below `V`; the place is aligned to all of them. */
template <unsigned V, class T, int N>
CROQ_DEVICE void add_all(const global<T> &to, idx ti, const local<T, N> &from, idx fi) {
  T *const at = to.first + ti;
  T v[V];
  CROQ_UNROLL for (unsigned e = 0; e < V; ++e) v[e] = from.first[fi + e];
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if constexpr (same<T, float>) add_floats<V>(at, v);
  else add_halves<V>(at, v);
#else
  CROQ_UNROLL for (unsigned e = 0; e < V; ++e) atomic_sum(at + e, v[e]);
#endif
}

/* The address in the shared state space, for PTX. */
CROQ_DEVICE unsigned shared_address(const void *at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/* Until the wait that covers the copy, the destination must not be accessed and the source must not
 * be written. */
template <unsigned Bytes> CROQ_DEVICE void copy_async(void *dst, const void *src, bool inside) {
  /* If fewer bytes are read than written, the rest is zeros. */
  const unsigned read = inside ? Bytes : 0;
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(dst)), "l"(__cvta_generic_to_global(src)), "r"(read)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(shared_address(dst)), "l"(__cvta_generic_to_global(src)), "n"(Bytes),
                   "r"(read)
                 : "memory");
}
/* There is no such instruction for 1 and 2 bytes: these are copied synchronously. */
template <unsigned V, class T, class S>
CROQ_DEVICE void cp_async(shared<T> dst, idx di, global<S> src, idx si) {
  constexpr unsigned bytes = bytes_of_vector<T, V>;
  if constexpr (bytes < 4) copy<V>(dst, di, src, si);
  else copy_async<bytes>(dst.first + place_of<T>(di), src.first + place_of<T>(si), true);
}
/* If `inside` is false, zeros are written, and the source is not accessed. */
template <unsigned V, class T, class S>
CROQ_DEVICE void cp_async_zfill(shared<T> dst, idx di, global<S> src, idx si, bool inside) {
  constexpr unsigned bytes = bytes_of_vector<T, V>;
  if constexpr (bytes < 4) {
    typename word<bytes>::type bits = 0;
    if (inside) bits = load_word<V>(src, si);
    store_word<V>(dst, di, bits);
  } else copy_async<bytes>(dst.first + place_of<T>(di), src.first + place_of<T>(si), inside);
}

/* Closes the group of this thread's copies since the last commit. */
CROQ_DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }
/* Waits for all of this thread's groups except the `N` youngest. */
template <unsigned N> CROQ_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
