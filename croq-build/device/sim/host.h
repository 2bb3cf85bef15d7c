/* The host's part of a call: device memory, checks, launches. */
#ifndef CROQ_SIM_HOST_H
#define CROQ_SIM_HOST_H

namespace croq {
inline namespace CROQ_TARGET {

/* Blocks along x, y and z, and the line of the launch. */
struct grid {
  idx x, y, z;
  int line;
  grid(idx along_x, idx along_y, idx along_z, int at = __builtin_LINE())
      : x(along_x), y(along_y), z(along_z), line(at) {}
};

/* A grid of clusters; `cluster` has the blocks of one along x, y and z. */
struct clustered {
  grid blocks, cluster;
};

/* A cooperative grid: its blocks wait for each other, so all of them are resident at once. */
struct together {
  grid blocks;
  int line;
};

/* How the blocks of a launch run; `waits | ordered` is both. */
template <unsigned F, idx L = 0> struct launch_mode {};
template <unsigned A, idx L, unsigned B, idx M>
constexpr launch_mode<A | B, L + M> operator|(launch_mode<A, L>, launch_mode<B, M>) {
  return {};
}
/* The number of bytes of arrays that each thread has in addition to its stack. */
template <idx L> inline constexpr launch_mode<0, L> arena{};
/* No thread waits for another. */
inline constexpr launch_mode<0> plain{};
/* A thread may wait: there is a barrier, or code that is opaque to the compiler. */
inline constexpr launch_mode<CROQ_LAUNCH_WAITS> waits{};
/* The result depends on the order of the blocks. */
inline constexpr launch_mode<CROQ_LAUNCH_ORDERED> ordered{};
/* Threads may wait in loops for device memory that other blocks write. */
inline constexpr launch_mode<CROQ_LAUNCH_SPINS | CROQ_LAUNCH_WAITS> spins{};
/* Written bytes of shared memory are tracked. */
inline constexpr launch_mode<CROQ_LAUNCH_TRACKS> with_marks{};
/* Asynchronous operations access shared memory, which is `watched`. */
inline constexpr launch_mode<CROQ_LAUNCH_ASYNC | CROQ_LAUNCH_WAITS> asynchronous{};
/* The async proxy (TMA stores, wgmma) also reads shared memory. */
inline constexpr launch_mode<CROQ_LAUNCH_PROXIES | CROQ_LAUNCH_ASYNC | CROQ_LAUNCH_WAITS>
    async_proxy{};

/* Each name takes the memory of the next, and the last takes that of the first. */
template <class M, class... Others> void exchange(M &first, M &second, Others &...others) {
  const M kept = first;
  first = second;
  second = kept;
  if constexpr (sizeof...(others) != 0) exchange(second, others...);
}

class event;
template <class T> class mirror;

class host {
 public:
  /* `file` is the `.co` file, as reports show it. */
  host(const croq_env *environment, const char *file) : env(environment), co_file(file) {
    if (env->abi_version != CROQ_ABI_VERSION || env->sim == nullptr ||
        env->sim->abi_version != CROQ_ABI_VERSION)
      fail(CROQ_ABI_MISMATCH, no_row, 0, "");
    else {
      __atomic_store_n(&sim_table, env->sim, __ATOMIC_RELAXED);
      steps_left = env->steps;
    }
  }

  /* CROQ_OK, or the kind of the failure that made a step return false. It is the last call. */
  croq_u32 status() {
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
    if (result != CROQ_OK) return false;
    const idx most = most_bytes / static_cast<idx>(sizeof(T));
    const idx bytes = packed<T> ? bytes_for<T>(extent) : bytes_of(extent, sizeof(T));
    if (extent < 1 || extent > most) return fail(CROQ_OUT_OF_MEMORY, no_row, 0, name, bytes);
    void *const found = env->alloc(env, static_cast<croq_u64>(bytes), clear ? 1 : 0);
    if (found == nullptr) return fail(CROQ_OUT_OF_MEMORY, no_row, 0, name, bytes);
    memory = bind<T>(found, extent, name);
    return true;
  }

  /* Checks a row of the function's table of checks. */
  template <class... V> bool check(int line, bool ok, croq_u32 row, V... values) {
    if (result != CROQ_OK) return false;
    return ok || fail(CROQ_CHECK, row, line, "", to<idx>(values)...);
  }

  /* Counts the iterations of a loop on the host; false if they exceed the call's limit. Their
   * number may not fit in an index. */
  bool steps(int line, idx first, idx end) {
    if (end <= first) return true;
    const croq_u64 count = static_cast<croq_u64>(end) - static_cast<croq_u64>(first);
    if (CROQ_LIKELY(count <= steps_left)) {
      steps_left -= count;
      return true;
    }
    return result == CROQ_OK && fail(CROQ_ENDLESS, no_row, line, "host", env->steps);
  }
  bool steps(int line, idx trips) { return steps(line, 0, trips); }

  template <class... P> void print(P... parts) {
    /* As on a GPU, where host code is not a part of a graph. */
    if (result != CROQ_OK || env->mode == CROQ_MODE_REPLAY) return;
    print_buffer buffer{nullptr, {}, 0};
    (buffer.put(parts), ...);
    buffer.flush();
  }

  /* Reports the failure of a check of the device API; returns false. */
  template <class... V> bool refuse(int line, const char *what, V... values) {
    if (result != CROQ_OK) return false;
    return fail(CROQ_CHECK, no_row, line, what, to<idx>(values)...);
  }

  /* Waits for all launches so far; here a launch is complete when it returns. */
  bool synchronize() { return settled() && may_wait_for_device(); }

  /* Selects the queue of the next launch. Here a launch is complete when it returns, except
   * `.async` launches that wait for the host: these, and the `.async` launches after them, run when
   * their events have been triggered. */
  void next_on(void *, bool overlaps) { may_wait = overlaps; }

  template <class F, F K> bool load() { return result == CROQ_OK; }

  /* Whether the code of `K` that this GPU runs is for `sm` (as in sm_90) or newer. */
  template <class F, F K> bool needs(int, int) { return result == CROQ_OK; }

  template <class F, F K, unsigned M, idx L, class... A>
  bool launch(const char *name, grid blocks, idx threads, idx shared_bytes, launch_mode<M, L> mode,
              A... arguments) {
    return launch<F, K>(name, clustered{blocks, {1, 1, 1}}, threads, shared_bytes, mode,
                        arguments...);
  }
  template <class F, F K, unsigned M, idx L, class... A>
  bool launch(const char *name, together of, idx threads, idx shared_bytes, launch_mode<M, L>,
              A... arguments) {
    /* Blocks that do not wait may run one after another. */
    constexpr unsigned mode = (M & CROQ_LAUNCH_WAITS) != 0 ? M | CROQ_LAUNCH_TOGETHER : M;
    return result == CROQ_OK && within_limits(of.blocks, threads, shared_bytes) &&
           has_room(of, threads, shared_bytes) &&
           launch<F, K>(name, clustered{of.blocks, {1, 1, 1}}, threads, shared_bytes,
                        launch_mode<mode, L>{}, grid_barrier{}, arguments...);
  }
  template <class F, F K, unsigned M, idx L, class... A>
  bool launch(const char *name, clustered of, idx threads, idx shared_bytes, launch_mode<M, L>,
              A... arguments) {
    const bool overlaps = may_wait;
    may_wait = false;
    if (result != CROQ_OK) return false;
    const grid blocks = of.blocks, cluster = of.cluster;
    if (!within_limits(blocks, threads, shared_bytes)) return false;
    if (is_empty(blocks) || env->mode == CROQ_MODE_RECORD) return true;

    constexpr unsigned tracked_count =
        (0 + ... + contended_list::counts(static_cast<const A *>(nullptr)));
    croq_sim_tracked tracked[tracked_count + 1] = {};
    contended_list list{tracked, 0};
    (list.add(arguments), ...);
    auto text = [=] { K(context{}, arguments...); };
    closure<decltype(text), tracked_count + 1> body{text, {}};
    __builtin_memcpy(body.tracked, tracked, sizeof tracked);
    croq_sim_launch launch = {};
    launch.tracked = body.tracked;
    launch.tracked_count = list.count;
    launch.kernel = name;
    launch.file = co_file;
    launch.grid[0] = static_cast<croq_u32>(blocks.x);
    launch.grid[1] = static_cast<croq_u32>(blocks.y);
    launch.grid[2] = static_cast<croq_u32>(blocks.z);
    launch.cluster[0] = static_cast<croq_u32>(cluster.x);
    launch.cluster[1] = static_cast<croq_u32>(cluster.y);
    launch.cluster[2] = static_cast<croq_u32>(cluster.z);
    launch.threads = static_cast<croq_u32>(threads);
    launch.shared_bytes = static_cast<croq_u64>(shared_bytes);
    launch.arena_bytes = static_cast<croq_u64>(L);
    launch.flags = M;
    launch.closure = &body;
    if constexpr ((M & CROQ_LAUNCH_WAITS) != 0) launch.run = run_thread<decltype(text)>;
    else launch.run_blocks = run_blocks<decltype(text)>;
    if (overlaps && !is_settled()) return defer(launch, &body, sizeof body);
    return settled() && run(launch);
  }

 private:
  friend class event;
  template <class T> friend class mirror;
  const croq_env *env;
  const char *co_file;
  croq_u32 result = CROQ_OK;
  bool may_wait = false;
  croq_u64 steps_left = 0;
  /* The most recently constructed event. */
  event *events = nullptr;
  /* Deferred launches, in order, each followed by its closure in memory. */
  struct deferred {
    croq_sim_launch launch;
    deferred *next;
  };
  deferred *first = nullptr, **end = &first;

  bool run(const croq_sim_launch &launch) {
    result = env->sim->launch(env->device, &launch, env->failure);
    /* Control returns to host code, which is not a thread of the GPU. */
    current = nullptr;
    return result == CROQ_OK;
  }

  bool defer(const croq_sim_launch &launch, const void *closure, croq_u64 bytes) {
    const croq_u64 begin = (sizeof(deferred) + 63) / 64 * 64;
    auto *const memory = static_cast<unsigned char *>(__builtin_malloc(begin + bytes));
    if (memory == nullptr)
      return fail(CROQ_OUT_OF_MEMORY, no_row, 0, "", static_cast<croq_i64>(bytes));
    auto *const kept = reinterpret_cast<deferred *>(memory);
    *kept = {launch, nullptr};
    /* The closure consists of handles and numbers, so it can be copied. */
    __builtin_memcpy(memory + begin, closure, bytes);
    kept->launch.closure = memory + begin;
    kept->launch.tracked = reinterpret_cast<const croq_sim_tracked *>(
        memory + begin +
        (reinterpret_cast<const unsigned char *>(launch.tracked) -
         static_cast<const unsigned char *>(closure)));
    *end = kept;
    end = &kept->next;
    return true;
  }

  /* Runs the deferred launches, unless the call has failed. */
  bool run_deferred() {
    while (first != nullptr) {
      deferred *const kept = first;
      first = kept->next;
      if (result == CROQ_OK) run(kept->launch);
      __builtin_free(kept);
    }
    end = &first;
    return result == CROQ_OK;
  }

  /* The function that a launch runs, and the device memory that is checked meanwhile. */
  template <class Text, unsigned Tracked> struct closure {
    Text text;
    croq_sim_tracked tracked[Tracked];
  };

  /* Launches that are recorded for a graph have not run. */
  bool may_wait_for_device() {
    return env->mode != CROQ_MODE_RECORD || fail(CROQ_NOT_RECORDED, no_row, 0, "");
  }

  bool is_settled() const;
  /* Whether all events that launches wait for have been triggered. */
  bool settled();

  /* Whether an H100 could hold all blocks at once, by threads and shared memory. */
  bool has_room(together of, idx threads, idx shared_bytes) {
    const idx multiprocessors = 132, lanes = (threads + 31) / 32 * 32, bytes = shared_bytes + 1024;
    idx each = 32;
    if (lanes > 0 && 2048 / lanes < each) each = 2048 / lanes;
    if (228 * 1024 / bytes < each) each = 228 * 1024 / bytes;
    /* A launch that no GPU supports is reported by another check. */
    if (each < 1) each = 1;
    const idx blocks = of.blocks.x * of.blocks.y * of.blocks.z, room = multiprocessors * each;
    return is_empty(of.blocks) || blocks <= room ||
           refuse(of.line, "cooperative grid: {0} blocks, an H100 holds {1} at once", blocks, room);
  }

  static bool is_empty(grid blocks) { return blocks.x <= 0 || blocks.y <= 0 || blocks.z <= 0; }
  bool within_limits(grid blocks, idx threads, idx shared_bytes) {
    if (blocks.x > 0x7fffffff || blocks.y > 65535 || blocks.z > 65535)
      return fail(CROQ_CHECK, no_row, blocks.line, "grid: {0} x {1} x {2} blocks do not fit",
                  blocks.x, blocks.y, blocks.z);
    if (is_empty(blocks)) return true;
    if (threads < 1 || threads > most_threads)
      return fail(CROQ_CHECK, no_row, blocks.line, "threads: {0} in a block, of at most {1}",
                  threads, most_threads);
    return (shared_bytes >= 0 && shared_bytes <= most_shared_bytes) ||
           fail(CROQ_CHECK, no_row, blocks.line, "shared memory: {0} bytes a block, of at most {1}",
                shared_bytes, most_shared_bytes);
  }

  template <class... V>
  CROQ_COLD bool fail(croq_u32 kind, croq_u32 row, int line, const char *what, V... values) {
    const croq_i64 list[] = {static_cast<croq_i64>(values)..., 0};
    croq_failure failure = {};
    failure.kind = kind;
    failure.check = row;
    failure.line = static_cast<croq_u32>(line);
    failure.value_count = sizeof...(values) < 6 ? sizeof...(values) : 6;
    for (croq_u32 i = 0; i < failure.value_count; ++i) failure.values[i] = list[i];
    for (croq_u32 i = 0; what[i] != 0 && i + 1 < sizeof failure.what; ++i)
      failure.what[i] = what[i];
    *env->failure = failure;
    result = kind;
    return false;
  }

  template <class B> static void run_thread(void *closure, croq_sim_thread *thread) {
    current = thread;
    enter(0);
    unwritten = 0;
    const B body = *static_cast<const B *>(closure);
    body();
  }

  template <class B>
  static void run_blocks(void *closure, croq_sim_thread *thread, croq_u64 first, croq_u64 last) {
    current = thread;
    enter(0);
    unwritten = 0;
    const B body = *static_cast<const B *>(closure);
    const croq_u64 rows = thread->grid[0], planes = rows * thread->grid[1];
    const croq_sim_schedule order = thread->schedule;
    const croq_u64 count = last - first;
    const croq_u32 threads = thread->threads;
    croq_u64 turn = order.start;
    for (croq_u64 i = 0; i < count; ++i) {
      const croq_u64 block = first + turn;
      turn += order.step;
      if (turn >= count) turn -= count;
      thread->block[0] = static_cast<croq_u32>(block % rows);
      thread->block[1] = static_cast<croq_u32>(block % planes / rows);
      thread->block[2] = static_cast<croq_u32>(block / planes);
      if (thread->shared_bytes != 0)
        __builtin_memset(thread->shared, 0xff, thread->shared_bytes);
      if (thread->written != nullptr) __builtin_memset(thread->written, 0, thread->shared_bytes);
      if (thread->order != nullptr) ++thread->order->epoch;
      thread->steps = thread->budget;
      thread->iterations = CROQ_ITERATIONS;
      if (thread->device != nullptr) thread->device->first = ++thread->device->epoch;
      /* The step is coprime to the number of threads and at most that number, so the first thread
       * comes again after the last one, and the number is in range whenever it wraps around. */
      croq_u32 tid = order.first_thread;
      do {
        do {
          thread->tid = tid;
          body();
          tid += order.thread_step;
        } while (tid < threads);
        tid -= threads;
      } while (tid != order.first_thread);
    }
  }
};

/* An event of the host. */
class event {
 public:
  /* `missing` is the text of the failure when {1} triggers are too few for {0} waits. */
  event(host &owner, const char *missing, unsigned ready)
      : on(owner), before(owner.events), text(missing), triggered(ready) {
    on.events = this;
    if (on.result == CROQ_OK) on.may_wait_for_device();
  }
  event(const event &) = delete;
  event &operator=(const event &) = delete;
  /* At the end of a call, only failures leave launches deferred. */
  ~event() {
    on.run_deferred();
    on.events = before;
  }

  bool trigger() {
    ++triggered;
    return on.is_settled() ? on.run_deferred() : on.result == CROQ_OK;
  }

  /* For a launch that waits this many times. */
  croq::awaited awaited(unsigned times, int line) {
    waits += times;
    launched = line;
    return {};
  }

 private:
  friend class host;
  host &on;
  event *const before;
  const char *const text;
  unsigned triggered, waits = 0;
  int launched = 0;
};

inline bool host::is_settled() const {
  for (const event *e = events; e != nullptr; e = e->before)
    if (e->triggered < e->waits) return false;
  return true;
}

inline bool host::settled() {
  if (result != CROQ_OK) return false;
  for (const event *e = events; e != nullptr; e = e->before)
    if (e->triggered < e->waits) return refuse(e->launched, e->text, e->waits, e->triggered);
  return true;
}

/* Device memory whose elements the host accesses, in a copy of the host's: as on a GPU, so that a step which is
 * missing shows. */
template <class T> class mirror {
 public:
  using value = typename without_const<T>::type;
  mirror(host &owner, const global<T> &memory, idx extent)
      : on(owner), of(memory), bytes(packed<T> ? bytes_for<T>(extent) : bytes_of(extent, sizeof(T))) {}
  mirror(const mirror &) = delete;
  mirror &operator=(const mirror &) = delete;
  ~mirror() { __builtin_free(copy); }

  /* Waits for the launches so far, if one of them may have written. */
  bool fetch() {
    if (is_fresh) return on.result == CROQ_OK;
    if (!on.synchronize()) return false;
    if (copy == nullptr)
      copy = static_cast<value *>(__builtin_malloc(static_cast<croq_u64>(bytes)));
    if (copy == nullptr) return on.fail(CROQ_OUT_OF_MEMORY, no_row, 0, "", bytes);
    __builtin_memcpy(copy, of.data(), static_cast<croq_u64>(bytes));
    return is_fresh = true;
  }
  /* Has the device's memory as the host has changed it. */
  bool flush() {
    if (!is_changed) return on.result == CROQ_OK;
    is_changed = false;
    if (!on.synchronize()) return false;
    __builtin_memcpy(const_cast<value *>(of.data()), copy, static_cast<croq_u64>(bytes));
    return true;
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
  const idx bytes;
  value *copy = nullptr;
  bool is_fresh = false, is_changed = false;
};

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
