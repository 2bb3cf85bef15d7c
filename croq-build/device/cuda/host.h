/* The host's part of a call: device memory, checks, launches. */
#ifndef CROQ_CUDA_HOST_H
#define CROQ_CUDA_HOST_H

/* If the table's name is defined, this object registers the CUDA runtime with croq-sys before
 * `main`. */
#ifdef CROQ_CUDA_TABLE
extern "C" const croq_cuda_api *CROQ_CUDA_TABLE(void);
extern "C" void croq_register_cuda(const croq_cuda_api *api);
namespace {
struct croq_registration {
  croq_registration() { croq_register_cuda(CROQ_CUDA_TABLE()); }
};
const croq_registration croq_registered;
}  // namespace
#endif

/* Included only where needed, for compile time. */
#ifdef CROQ_HOST_PRINTS
#include <cstdio>
#endif

namespace croq {
inline namespace CROQ_TARGET {

/* Blocks along x, y and z, and the line of the launch. */
struct grid {
  idx x, y, z;
  int line;
  grid(idx along_x, idx along_y, idx along_z, int at = __builtin_LINE())
      : x(along_x), y(along_y), z(along_z), line(at) {}
};

/* A grid of clusters; `cluster` has the blocks of one along x, y and z (sm_90). */
struct clustered {
  grid blocks, cluster;
};

/* A cooperative grid: its blocks wait for each other, so all of them are resident at once. */
struct together {
  grid blocks;
  int line;
};

/* Properties of a launch for the simulated GPU; ignored here. */
template <unsigned F, idx L = 0> struct launch_mode {};
template <unsigned A, idx L, unsigned B, idx M>
constexpr launch_mode<A | B, L + M> operator|(launch_mode<A, L>, launch_mode<B, M>) {
  return {};
}
/* The number of bytes of arrays that each thread has in addition to its stack. */
template <idx L> inline constexpr launch_mode<0, L> arena{};
inline constexpr launch_mode<0> plain{};
inline constexpr launch_mode<CROQ_LAUNCH_WAITS> waits{};
inline constexpr launch_mode<CROQ_LAUNCH_ORDERED> ordered{};
inline constexpr launch_mode<CROQ_LAUNCH_SPINS | CROQ_LAUNCH_WAITS> spins{};
inline constexpr launch_mode<CROQ_LAUNCH_TRACKS> with_marks{};
inline constexpr launch_mode<CROQ_LAUNCH_ASYNC | CROQ_LAUNCH_WAITS> asynchronous{};
inline constexpr launch_mode<CROQ_LAUNCH_PROXIES | CROQ_LAUNCH_ASYNC | CROQ_LAUNCH_WAITS>
    async_proxy{};

/* What CUDA says about a kernel on each device, asked for once: 0 is unknown. Threads may find it at the
 * same time: all find the same. */
struct kernel_on_devices {
  static constexpr int most_devices = 64;
  /* Of the code that the device runs: 90 for sm_90. */
  int architecture[most_devices];
  /* The most bytes of dynamic shared memory, plus 1. So many are allowed from then on: allowing each
   * launch its own number would take it away from launches of other threads. */
  int shared[most_devices];
  /* 1: clusters of more than 8 blocks are allowed. */
  int large_clusters[most_devices];

  static int load(const int &place) { return __atomic_load_n(&place, __ATOMIC_ACQUIRE); }
  static void store(int &place, int value) { __atomic_store_n(&place, value, __ATOMIC_RELEASE); }
};

/* That of kernel `K`. Zeros: nothing is known. */
template <class F, F K> inline kernel_on_devices on_devices;

/* A kernel as CUDA's functions take it. What a launch does is compiled once for all kernels of a file:
 * only the types of the arguments are those of one kernel. */
struct kernel_code {
  const void *function;
  kernel_on_devices &known;
};
template <class F, F K> kernel_code code_of() {
  return {reinterpret_cast<const void *>(K), on_devices<F, K>};
}

/* Each name takes the memory of the next, and the last takes that of the first. */
template <class M, class... Others> void exchange(M &first, M &second, Others &...others) {
  const M kept = first;
  first = second;
  second = kept;
  if constexpr (sizeof...(others) != 0) exchange(second, others...);
}

/* Compiled once for a file, and to few instructions: a launch takes longer than its calls. */
#define CROQ_ONCE __attribute__((noinline, cold))

class event;
template <class T> class mirror;
template <class F> struct parameters;

class host {
 public:
  CROQ_ONCE host(const croq_env *environment, const char *)
      : env(environment), queues{{environment->stream, true, false, nullptr}},
        next{environment->stream, true, false, nullptr} {
    if (env->abi_version != CROQ_ABI_VERSION) fail(CROQ_ABI_MISMATCH, no_row, 0, "");
    else steps_left = env->steps;
  }

  /* CROQ_OK, or the kind of the failure that made a step return false. It is the last call. */
  CROQ_ONCE croq_u32 status() {
    settled();
    return result;
  }

  /* Allocates device memory of `extent` elements, all zero bits. */
  template <class T> bool alloc(global<T> &memory, idx extent, const char *name = "") {
    return allocate(memory, extent, name, true);
  }
  /* The same for memory that the launch which uses it first writes whole: it is not cleared. */
  template <class T> bool alloc_unwritten(global<T> &memory, idx extent, const char *name) {
    return allocate(memory, extent, name, false);
  }
  template <class T> bool allocate(global<T> &memory, idx extent, const char *name, bool clear) {
    const idx most = most_bytes / static_cast<idx>(sizeof(T));
    const idx bytes = packed<T> ? bytes_for<T>(extent) : bytes_of(extent, sizeof(T));
    void *const found = reserve(extent >= 1 && extent <= most, bytes, name, clear);
    if (found != nullptr) memory = bind<T>(found, extent, name);
    return found != nullptr;
  }

  /* Checks a row of the function's table of checks. */
  template <class... V> bool check(int line, bool ok, croq_u32 row, V... values) {
    if (result != CROQ_OK) return false;
    return ok || fail(CROQ_CHECK, row, line, "", to<idx>(values)...);
  }

  /* Counts the iterations of a loop on the host; false if they exceed the call's limit. Their
   * number may not fit in an index. */
  CROQ_ONCE bool steps(int line, idx first, idx end) {
    if (end <= first) return true;
    const croq_u64 count = static_cast<croq_u64>(end) - static_cast<croq_u64>(first);
    if (count <= steps_left) {
      steps_left -= count;
      return true;
    }
    return result == CROQ_OK &&
           fail(CROQ_ENDLESS, no_row, line, "host", static_cast<croq_i64>(env->steps));
  }
  bool steps(int line, idx trips) { return steps(line, 0, trips); }

#ifdef CROQ_HOST_PRINTS
  template <class... P> void print(P... parts) {
    if (result != CROQ_OK) return;
    (put(parts), ...);
    ::fflush(stdout);
  }
#endif

  /* Reports the failure of a check of the device API; returns false. */
  template <class... V> bool refuse(int line, const char *what, V... values) {
    if (result != CROQ_OK) return false;
    return fail(CROQ_CHECK, no_row, line, what, to<idx>(values)...);
  }

  /* Waits for all launches so far. */
  CROQ_ONCE bool synchronize() {
    if (!settled() || !may_wait_for_device()) return false;
    for (unsigned at = 0; at < queue_count; ++at)
      if (!finish(queues[at])) return false;
    return true;
  }

  /* The next launch goes to `stream`; null is the call's own stream. With `overlaps` it may run
   * concurrently with other such launches on other streams; without, it begins after everything
   * before it. */
  CROQ_ONCE void next_on(void *stream, bool overlaps) {
    next = {stream == nullptr ? env->stream : stream, true, overlaps, nullptr};
  }

  /* Loads the code of `K` to the GPU. Loading it later could wait for launches that wait for the
   * host. */
  template <class F, F K> bool load() {
    int architecture = 0;
    return result == CROQ_OK && find_architecture(code_of<F, K>(), architecture);
  }

  /* Whether the code of `K` that this GPU runs is for `sm` (as in sm_90) or newer. */
  template <class F, F K> bool needs(int line, int sm) { return needs(code_of<F, K>(), line, sm); }

  /* `blocks` is a `grid`, or `clustered` or `together`. */
  template <class F, F K, class G, unsigned M, idx L, class... A>
  bool launch(const char *, const G &blocks, idx threads, idx shared_bytes, launch_mode<M, L>,
              const A &...arguments) {
    const launch_size size = {code_of<F, K>(), threads, shared_bytes};
    return parameters<F>::launch(*this, size, blocks, arguments...);
  }

 private:
  friend class event;
  template <class T> friend class mirror;
  template <class F> friend struct parameters;
  /* The most recently constructed event. */
  event *events = nullptr;

  /* Reports a failure if launches wait for events more often than the host has triggered them; with
   * `may_wait` this is allowed. */
  CROQ_ONCE bool settled(bool may_wait = false);
  /* Triggers events so that launches that wait for the host end. */
  CROQ_ONCE void release();

  /* A stream; `busy` if work is on it that has not been waited for. */
  struct queue {
    void *stream;
    bool busy, overlaps;
    /* The arrival word of grid barriers; launches of one queue run one after another. */
    unsigned *arrivals;
  };
  static constexpr unsigned most_queues = 8;

  const croq_env *env;
  croq_u32 result = CROQ_OK;
  croq_u64 steps_left = 0;
  /* The call's own stream is the first: copies to the device and allocations are on it. */
  queue queues[most_queues], next;
  unsigned queue_count = 1;

  /* Launches that are recorded for a graph have not run. */
  bool may_wait_for_device() {
    return env->mode != CROQ_MODE_RECORD || fail(CROQ_NOT_RECORDED, no_row, 0, "");
  }

  CROQ_ONCE bool finish(queue &q) {
    if (!q.busy) return true;
    q.busy = false;
    return succeeded(cudaStreamSynchronize(static_cast<cudaStream_t>(q.stream)));
  }

  /* A launch without its grid. */
  struct launch_size {
    kernel_code kernel;
    idx threads, shared_bytes;
  };

  /* Launches. `values` has the address of each parameter; those of the first ones, which every kernel
   * of the kind has, are set here. */
  CROQ_ONCE bool start(const launch_size &size, const grid &blocks, const void **values) {
    if (result != CROQ_OK || !within_limits(size, blocks)) return false;
    if (is_empty(blocks)) return true;
    return wait_for_predecessors() && start(size, blocks, nullptr, values);
  }
  CROQ_ONCE bool start(const launch_size &size, const clustered &of, const void **values) {
    if (result != CROQ_OK || !within_limits(size, of.blocks)) return false;
    if (is_empty(of.blocks)) return true;
    const grid b = of.blocks, c = of.cluster;
    const idx count = c.x * c.y * c.z;
    if (count < 1 || count > 16 || b.x % c.x != 0 || b.y % c.y != 0 || b.z % c.z != 0)
      return fail(CROQ_CHECK, no_row, b.line, "cluster: {0} x {1} x {2} blocks do not fit the grid",
                  c.x, c.y, c.z);
    /* Cluster sizes that not every GPU of the class supports must be enabled. */
    if (count > 8 && !allow_large_clusters(size.kernel)) return false;
    if (!wait_for_predecessors()) return false;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(c.x);
    attribute.val.clusterDim.y = static_cast<unsigned>(c.y);
    attribute.val.clusterDim.z = static_cast<unsigned>(c.z);
    return start(size, b, &attribute, values);
  }
  CROQ_ONCE bool start(const launch_size &size, const together &of, const void **values) {
    if (result != CROQ_OK || !within_limits(size, of.blocks)) return false;
    if (is_empty(of.blocks)) return true;
    unsigned *arrivals = nullptr;
    if (!has_room(size, of) || !count_arrivals(arrivals) || !wait_for_predecessors()) return false;
    for (unsigned at = 0; at < queue_count; ++at)
      if (queues[at].stream == next.stream) queues[at].arrivals = arrivals;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    const grid_barrier barrier = {arrivals};
    values[1] = &barrier;
    return start(size, of.blocks, &attribute, values);
  }
  CROQ_ONCE bool start(const launch_size &size, const grid &blocks, cudaLaunchAttribute *attribute,
             const void **values) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks.x), static_cast<unsigned>(blocks.y),
                          static_cast<unsigned>(blocks.z));
    config.blockDim = dim3(static_cast<unsigned>(size.threads));
    config.dynamicSmemBytes = static_cast<size_t>(size.shared_bytes);
    config.stream = static_cast<cudaStream_t>(next.stream);
    config.attrs = attribute;
    config.numAttrs = attribute != nullptr ? 1 : 0;
    const context from_launch = {env->device_failure, env->wait_limit};
    values[0] = &from_launch;
    /* Its result is that of this launch. `<<<>>>` reports through the last error, which may be that
     * of an earlier call of someone else. */
    const cudaError_t error =
        cudaLaunchKernelExC(&config, size.kernel.function, const_cast<void **>(values));
    next_on(nullptr, false);
    return succeeded(error);
  }

  /* Device memory of so many bytes, or null after a failure. */
  CROQ_ONCE void *reserve(bool possible, idx bytes, const char *name, bool clear) {
    if (result != CROQ_OK) return nullptr;
    void *const found =
        possible ? env->alloc(env, static_cast<croq_u64>(bytes), clear ? 1 : 0) : nullptr;
    if (found == nullptr) {
      fail(CROQ_OUT_OF_MEMORY, no_row, 0, name, bytes);
      return nullptr;
    }
    queues[0].busy = true;
    queues[0].overlaps = false;
    return found;
  }

  CROQ_ONCE bool needs(const kernel_code &kernel, int line, int sm) {
    int have = 0;
    if (result != CROQ_OK || !find_architecture(kernel, have)) return false;
    return have >= sm ||
           refuse(line, "GPU: the kernel needs sm_{0}, its text here is for sm_{1}", sm, have);
  }

  /* Whether all blocks can be resident at once. */
  CROQ_ONCE bool has_room(const launch_size &size, const together &of) {
    int device = 0, multiprocessors = 0, each = 0;
    if (!succeeded(cudaGetDevice(&device)) ||
        !succeeded(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)) ||
        !succeeded(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, size.kernel.function, static_cast<int>(size.threads),
            static_cast<size_t>(size.shared_bytes))))
      return false;
    const idx blocks = of.blocks.x * of.blocks.y * of.blocks.z;
    const idx room = static_cast<idx>(each) * multiprocessors;
    return blocks <= room ||
           refuse(of.line, "cooperative grid: {0} blocks, this GPU holds {1} at once", blocks, room);
  }

  /* The next launch's word for `grid_barrier`. After the launch, it is ready for the next one. */
  CROQ_ONCE bool count_arrivals(unsigned *&arrivals) {
    for (unsigned at = 0; at < queue_count; ++at)
      if (queues[at].stream == next.stream) arrivals = queues[at].arrivals;
    if (arrivals != nullptr) return true;
    global<unsigned> made;
    if (!alloc(made, 1, "grid barrier")) return false;
    arrivals = made.data();
    return true;
  }

  /* Waits for the launches that the next one must follow, except those that its stream orders. */
  CROQ_ONCE bool wait_for_predecessors() {
    if (!settled(next.overlaps)) return false;
    unsigned own = queue_count;
    for (unsigned at = 0; at < queue_count; ++at) {
      queue &other = queues[at];
      if (other.stream == next.stream) own = at;
      else if (!(next.overlaps && other.overlaps) && !finish(other)) return false;
    }
    if (own == queue_count) {
      if (queue_count == most_queues) {
        if (!synchronize()) return false;
        queue_count = 1;
        own = 1;
      }
      queues[own] = {next.stream, false, true, nullptr};
      ++queue_count;
    }
    /* If one launch of a queue does not overlap, others wait for the whole queue. */
    queue &mine = queues[own];
    mine.overlaps = next.overlaps && (mine.overlaps || !mine.busy);
    mine.busy = true;
    return true;
  }

#ifdef CROQ_HOST_PRINTS
  static void put(const char *v) { ::fputs(v, stdout); }
  static void put(const void *v) { ::fprintf(stdout, "%p", v); }
  static void put(bool v) { put(v ? "true" : "false"); }
  static void put(unsigned long long v) { ::fprintf(stdout, "%llu", v); }
  template <class T> static void put(T v) {
    if constexpr (native_float<T> || narrow<T>) ::fprintf(stdout, "%f", to<double>(v));
    else ::fprintf(stdout, "%lld", to<idx>(v));
  }
#endif

  static bool is_empty(grid blocks) { return blocks.x <= 0 || blocks.y <= 0 || blocks.z <= 0; }
  CROQ_ONCE bool within_limits(const launch_size &size, const grid &blocks) {
    const idx threads = size.threads, shared_bytes = size.shared_bytes;
    if (blocks.x > 0x7fffffff || blocks.y > 65535 || blocks.z > 65535)
      return fail(CROQ_CHECK, no_row, blocks.line, "grid: {0} x {1} x {2} blocks do not fit",
                  blocks.x, blocks.y, blocks.z);
    if (is_empty(blocks)) return true;
    if (threads < 1 || threads > most_threads)
      return fail(CROQ_CHECK, no_row, blocks.line, "threads: {0} in a block, of at most {1}",
                  threads, most_threads);
    if (shared_bytes < 0 || shared_bytes > most_shared_bytes)
      return fail(CROQ_CHECK, no_row, blocks.line, "shared memory: {0} bytes a block, of at most {1}",
                  shared_bytes, most_shared_bytes);
    /* More than 48 KiB must be enabled. */
    if (shared_bytes <= 48 * 1024) return true;
    int most = 0;
    if (!allow_shared(size.kernel, most)) return false;
    return shared_bytes <= most ||
           fail(CROQ_CHECK, no_row, blocks.line, "shared memory: {0} bytes a block, this GPU has {1}",
                shared_bytes, most);
  }

  CROQ_ONCE bool find_architecture(const kernel_code &kernel, int &found) {
    using known = kernel_on_devices;
    int device = 0;
    if (!succeeded(cudaGetDevice(&device))) return false;
    const bool is_kept = device < known::most_devices;
    if (is_kept) found = known::load(kernel.known.architecture[device]);
    if (found != 0) return true;
    cudaFuncAttributes attributes;
    if (!succeeded(cudaFuncGetAttributes(&attributes, kernel.function))) return false;
    const int ptx = attributes.ptxVersion, binary = attributes.binaryVersion;
    found = ptx < binary ? ptx : binary;
    if (is_kept) known::store(kernel.known.architecture[device], found);
    return true;
  }

  /* Allows all shared memory that a block can have. */
  CROQ_ONCE bool allow_shared(const kernel_code &kernel, int &most) {
    using known = kernel_on_devices;
    int device = 0;
    if (!succeeded(cudaGetDevice(&device))) return false;
    const bool is_kept = device < known::most_devices;
    const int kept = is_kept ? known::load(kernel.known.shared[device]) : 0;
    most = kept - 1;
    if (kept != 0) return true;
    cudaFuncAttributes attributes;
    int of_block = 0;
    if (!succeeded(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) ||
        !succeeded(cudaFuncGetAttributes(&attributes, kernel.function)))
      return false;
    most = of_block - static_cast<int>(attributes.sharedSizeBytes);
    if (!succeeded(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, most)))
      return false;
    if (is_kept) known::store(kernel.known.shared[device], most + 1);
    return true;
  }

  CROQ_ONCE bool allow_large_clusters(const kernel_code &kernel) {
    using known = kernel_on_devices;
    int device = 0;
    if (!succeeded(cudaGetDevice(&device))) return false;
    const bool is_kept = device < known::most_devices;
    if (is_kept && known::load(kernel.known.large_clusters[device]) != 0) return true;
    if (!succeeded(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1))) return false;
    if (is_kept) known::store(kernel.known.large_clusters[device], 1);
    return true;
  }

  bool succeeded(cudaError_t error) {
    return error == cudaSuccess || fail(CROQ_CUDA_ERROR, no_row, 0, "", static_cast<idx>(error));
  }

  template <class... V>
  bool fail(croq_u32 kind, croq_u32 row, int line, const char *what, V... values) {
    const croq_i64 list[] = {static_cast<croq_i64>(values)..., 0};
    return record(kind, row, line, what, list, sizeof...(values));
  }
  CROQ_ONCE bool record(croq_u32 kind, croq_u32 row, int line, const char *what, const croq_i64 *values,
              croq_u32 count) {
    croq_failure failure = {};
    failure.kind = kind;
    failure.check = row;
    failure.line = static_cast<croq_u32>(line);
    failure.value_count = count < 6 ? count : 6;
    for (croq_u32 i = 0; i < failure.value_count; ++i) failure.values[i] = values[i];
    for (croq_u32 i = 0; what[i] != 0 && i + 1 < sizeof failure.what; ++i)
      failure.what[i] = what[i];
    *env->failure = failure;
    result = kind;
    release();
    return false;
  }
};

/* The parameters of a kernel after those that every kernel of the kind has; arguments are converted to
 * their types. */
template <class F> struct parameters;
template <class... P> struct parameters<void (*)(context, P...)> {
  template <class G>
  static bool launch(host &on, const host::launch_size &size, const G &blocks, const P &...values) {
    const void *addresses[] = {nullptr, &values...};
    return on.start(size, blocks, addresses);
  }
};
template <class... P> struct parameters<void (*)(context, grid_barrier, P...)> {
  static bool launch(host &on, const host::launch_size &size, const together &blocks,
                     const P &...values) {
    const void *addresses[] = {nullptr, nullptr, &values...};
    return on.start(size, blocks, addresses);
  }
};

/* An event of the host: a word of host memory with its number of triggers, which launches read. */
class event {
 public:
  /* `missing` is the text of the failure when {1} triggers are too few for {0} waits. */
  event(host &owner, const char *missing, unsigned ready)
      : on(owner), before(owner.events), text(missing), triggered(ready) {
    on.events = this;
    void *memory = nullptr, *seen = nullptr;
    if (on.result != CROQ_OK || !on.may_wait_for_device() ||
        !on.succeeded(cudaHostAlloc(&memory, sizeof(unsigned),
                                    cudaHostAllocMapped | cudaHostAllocPortable)))
      return;
    word = static_cast<unsigned *>(memory);
    publish(triggered);
    if (on.succeeded(cudaHostGetDevicePointer(&seen, memory, 0)))
      device = static_cast<unsigned *>(seen);
  }
  event(const event &) = delete;
  event &operator=(const event &) = delete;
  /* Waits for all launches, because they may read the word until they end. */
  ~event() {
    for (unsigned at = 0; at < on.queue_count && word != nullptr; ++at) on.finish(on.queues[at]);
    if (word != nullptr) cudaFreeHost(word);
    on.events = before;
  }

  bool trigger() {
    if (on.result != CROQ_OK) return false;
    publish(++triggered);
    return true;
  }

  /* For a launch that waits this many times. */
  croq::awaited awaited(unsigned times, int line) {
    const croq::awaited found = {device, waits};
    waits += times;
    launched = line;
    return found;
  }

 private:
  friend class host;
  host &on;
  event *const before;
  const char *const text;
  unsigned *word = nullptr, *device = nullptr;
  unsigned triggered, waits = 0;
  int launched = 0;

  void publish(unsigned times) { __atomic_store_n(word, times, __ATOMIC_RELEASE); }
};

inline bool host::settled(bool may_wait) {
  if (result != CROQ_OK) return false;
  for (const event *e = events; e != nullptr && !may_wait; e = e->before)
    if (e->triggered < e->waits) return refuse(e->launched, e->text, e->waits, e->triggered);
  return true;
}

inline void host::release() {
  for (event *e = events; e != nullptr; e = e->before)
    if (e->word != nullptr && e->triggered < e->waits) e->publish(e->waits);
}

/* Device memory whose elements the host accesses, in a copy of the host's. */
template <class T> class mirror {
 public:
  using value = typename without_const<T>::type;
  mirror(host &owner, const global<T> &memory, idx extent)
      : on(owner), of(memory), bytes(static_cast<size_t>(packed<T> ? bytes_for<T>(extent) : bytes_of(extent, sizeof(T)))) {}
  mirror(const mirror &) = delete;
  mirror &operator=(const mirror &) = delete;
  ~mirror() { ::free(copy); }

  /* Waits for the launches so far, if one of them may have written. */
  bool fetch() {
    if (is_fresh) return on.result == CROQ_OK;
    if (!on.synchronize()) return false;
    if (copy == nullptr) copy = static_cast<value *>(::malloc(bytes));
    if (copy == nullptr)
      return on.fail(CROQ_OUT_OF_MEMORY, no_row, 0, "", static_cast<idx>(bytes));
    is_fresh = true;
    return on.succeeded(cudaMemcpy(copy, of.data(), bytes, cudaMemcpyDeviceToHost));
  }
  /* Has the device's memory as the host has changed it. */
  bool flush() {
    if (!is_changed) return on.result == CROQ_OK;
    is_changed = false;
    on.queues[0].busy = true;
    on.queues[0].overlaps = false;
    return on.succeeded(cudaMemcpyAsync(const_cast<value *>(of.data()), copy, bytes,
                                        cudaMemcpyHostToDevice,
                                        static_cast<cudaStream_t>(on.env->stream)));
  }
  /* The device may have written. */
  void stale() { is_fresh = false; }

  value load(idx i) const { return picked<value>(copy[place_of<value>(i)], i); }
  void store(idx i, value v) {
    if constexpr (packed<value>) copy[place_of<value>(i)] = placed<value>(copy[place_of<value>(i)], i, v);
    else copy[i] = v;
    is_changed = true;
  }

 private:
  host &on;
  const global<T> &of;
  const size_t bytes;
  value *copy = nullptr;
  bool is_fresh = false, is_changed = false;
};

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
