/* Atomic operations: every thread of a few blocks executes one on an element of device memory, and
 * one on an element of its block's shared memory; the returned values are kept. */
#include "croq.h"
#include "shims.h"

namespace {

constexpr int atomic_threads = 64;
constexpr int atomic_blocks = 4;

/* The types of which CUDA has all operations. */
template <class T> inline constexpr bool atomic_word = croq::same<T, int> || croq::same<T, unsigned>;
template <class T>
inline constexpr bool atomic_bits =
    atomic_word<T> || croq::same<T, long long> || croq::same<T, unsigned long long>;
template <class T>
inline constexpr bool atomic_swap = atomic_word<T> || croq::same<T, unsigned long long>;
template <class T>
inline constexpr bool atomic_sum =
    atomic_swap<T> || croq::same<T, float> || croq::same<T, double> || croq::same<T, croq::f16>;

/* By the number of the operation; writes a marker if it does not exist. */
template <class T, class M> CROQ_DEVICE T atomic_of(M memory, croq::idx op, croq::idx at, T v) {
  if constexpr (atomic_sum<T>)
    if (op == 0) return memory.atomic_add(at, v);
  if constexpr (atomic_word<T>)
    if (op == 1) return memory.atomic_sub(at, v);
  if constexpr (atomic_swap<T> || croq::same<T, float>)
    if (op == 2) return memory.atomic_exch(at, v);
  if constexpr (atomic_bits<T>) {
    if (op == 3) return memory.atomic_min(at, v);
    if (op == 4) return memory.atomic_max(at, v);
    if (op == 5) return memory.atomic_and(at, v);
    if (op == 6) return memory.atomic_or(at, v);
    if (op == 7) return memory.atomic_xor(at, v);
  }
  /* An addition by compare-and-swap, repeated until no other thread interferes. */
  if constexpr (atomic_swap<T> || croq::same<T, unsigned short>)
    if (op == 8)
      for (T expected = 0;;) {
        const T seen = memory.atomic_cas(at, expected, static_cast<T>(expected + v));
        if (seen == expected) return seen;
        expected = seen;
      }
  memory.store(at, croq::to<T>(99));
  return v;
}

template <class T>
CROQ_KERNEL(atomic_threads) void atomics_0([[maybe_unused]] croq::context ctx, croq::global<const T> v,
                                           croq::global<T> ends, croq::global<T> before,
                                           croq::idx op) {
  const croq::shared<T> own = croq::shared_at<T>(0, 2, "own");
  const croq::idx t = croq::tid(), i = croq::block_x() * atomic_threads + t;
  if (t == 0) own.store(1, ends.load(1 + croq::block_x()));
  croq::barrier();
  before.store(2 * i, atomic_of<T>(ends, op, 0, v.load(i)));
  before.store(2 * i + 1, atomic_of<T>(own, op, 1, v.load(i)));
  croq::barrier();
  if (t == 0) ends.store(1 + croq::block_x(), own.load(1));
}

template <class T>
void run_atomics(croq::host &host, const void *v, void *ends, void *before, croq::idx op) {
  constexpr int all = atomic_blocks * atomic_threads;
  host.launch<decltype(&atomics_0<T>), &atomics_0<T>>(
      "atomics_0", croq::grid{atomic_blocks, 1, 1}, atomic_threads, 2 * sizeof(T), croq::waits,
      croq::bind<const T>(v, all, "v"), croq::bind<T>(ends, 1 + atomic_blocks, "ends"),
      croq::bind<T>(before, 2 * all, "before"), croq::idx(op));
}

/* Sums of several elements by one instruction (sm_90): four threads of each eight add to other
 * elements, and the first of `own` is not added. */
template <unsigned V, class T>
CROQ_KERNEL(atomic_threads) void vector_sums_0([[maybe_unused]] croq::context ctx,
                                               croq::global<const T> v, croq::global<T> ends) {
  const croq::idx i = croq::block_x() * atomic_threads + croq::tid();
  croq::local<T, V + 1> own{};
  for (unsigned e = 0; e < V; ++e) own.store(1 + e, v.load((i + e) % (atomic_blocks * atomic_threads)));
  croq::add_all<V>(ends, i % 4 * V, own, 1);
}

template <unsigned V, class T> void run_vector_sums(croq::host &host, const void *v, void *ends) {
  host.launch<decltype(&vector_sums_0<V, T>), &vector_sums_0<V, T>>(
      "vector_sums_0", croq::grid{atomic_blocks, 1, 1}, atomic_threads, 0, croq::waits,
      croq::bind<const T>(v, atomic_blocks * atomic_threads, "v"), croq::bind<T>(ends, 4 * V, "ends"));
}

/* Beginning at element `at`. */
CROQ_KERNEL(1) void misplaced_sums_0([[maybe_unused]] croq::context ctx, croq::global<float> ends,
                                     croq::idx at) {
  croq::local<float, 4> own{};
  croq::add_all<4>(ends, at, own, 0);
}

}  // namespace

extern "C" croq_u32 CONF(vector_sums)(const croq_env *env, const void *v, void *ends, croq_i64 which) {
  croq::host host(env, "atomics.co");
  switch (which) {
    case 0: run_vector_sums<2, float>(host, v, ends); break;
    case 1: run_vector_sums<4, float>(host, v, ends); break;
    case 2: run_vector_sums<2, croq::f16>(host, v, ends); break;
    case 3: run_vector_sums<4, croq::f16>(host, v, ends); break;
    default: run_vector_sums<8, croq::f16>(host, v, ends); break;
  }
  return host.status();
}

extern "C" croq_u32 CONF(misplaced_sums)(const croq_env *env, void *ends, croq_i64 at) {
  croq::host host(env, "atomics.co");
  host.launch<decltype(&misplaced_sums_0), &misplaced_sums_0>(
      "misplaced_sums_0", croq::grid{1, 1, 1}, 1, 0, croq::waits, croq::bind<float>(ends, 8, "ends"),
      croq::idx(at));
  return host.status();
}

extern "C" croq_u32 CONF(atomics)(const croq_env *env, const void *v, void *ends, void *before,
                                  croq_i64 type, croq_i64 op) {
  croq::host host(env, "atomics.co");
  switch (type) {
    case 0: run_atomics<double>(host, v, ends, before, op); break;
    case 1: run_atomics<float>(host, v, ends, before, op); break;
    case 2: run_atomics<croq::f16>(host, v, ends, before, op); break;
    case 3: run_atomics<long long>(host, v, ends, before, op); break;
    case 4: run_atomics<int>(host, v, ends, before, op); break;
    case 5: run_atomics<unsigned long long>(host, v, ends, before, op); break;
    case 6: run_atomics<unsigned>(host, v, ends, before, op); break;
    default: run_atomics<unsigned short>(host, v, ends, before, op); break;
  }
  return host.status();
}
