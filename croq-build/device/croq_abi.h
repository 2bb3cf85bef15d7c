/* The contract between generated C++ (for the simulated GPU and for CUDA) and croq-sys.
 *
 * Includes nothing, so that libclang can read it without a sysroot. croq-sys mirrors it in
 * `src/abi.rs`; a test holds the two together. Change anything: raise CROQ_ABI_VERSION. */
#ifndef CROQ_ABI_H
#define CROQ_ABI_H

#define CROQ_ABI_VERSION 24

typedef __INT64_TYPE__ croq_i64;
typedef __UINT64_TYPE__ croq_u64;
typedef __UINT32_TYPE__ croq_u32;

/* What went wrong; the return value of a shim, and `kind` of a failure record. */
enum {
  CROQ_OK = 0,
  CROQ_CHECK = 1,         /* a check of the function's table failed; `check` is its row */
  CROQ_OUT_OF_BOUNDS = 2, /* a handle caught an access: values = index, extent */
  CROQ_MISALIGNED = 3,
  CROQ_DEADLOCK = 4,      /* sim: the text is kept by the runtime */
  CROQ_OUT_OF_MEMORY = 5, /* values = bytes */
  CROQ_CUDA_ERROR = 6,    /* values = cudaError_t */
  CROQ_NEEDS_CUDA = 7,    /* the kernel uses text that the simulated GPU can't run */
  CROQ_ABI_MISMATCH = 8,
  CROQ_HAZARD = 9, /* sim: accesses that nothing orders; the text is kept by the runtime */
  CROQ_ENDLESS = 10, /* a loop or a wait without end; on the sim the text is kept by the runtime. Of a wait on a
                      * GPU `check` says what was waited for: CROQ_WAIT_... */
  CROQ_BEING_WRITTEN = 0xffff /* by a kernel that goes on (CROQ_REPORT) */
};

/* What a wait on a GPU was for. */
enum {
  CROQ_WAIT_MBARRIER = 0, /* an event, or a copy of TMA */
  CROQ_WAIT_GRID = 1,     /* the other blocks of the grid */
  CROQ_WAIT_HOST = 2      /* an event that the host triggers */
};

typedef struct croq_failure {
  croq_u32 kind;
  croq_u32 check;
  croq_u32 line; /* in the .co file */
  croq_u32 thread;
  croq_u32 block[3];
  croq_u32 value_count;
  croq_i64 values[6];
  char what[64]; /* the buffer's or barrier's name, NUL-terminated, may be empty */
} croq_failure;

/* What threads of a block have done with an element that begins at this byte of shared memory: who wrote it
 * last, and who has read it since, in which epoch. `writer` and `reader`: the thread (10 bits), whether by an
 * atomic operation, whether several have, and the line (20 bits). */
typedef struct croq_sim_cell {
  croq_u32 written, writer, read, reader;
} croq_sim_cell;

/* How the accesses of a block's shared memory are ordered. */
typedef struct croq_sim_order {
  croq_u32 epoch; /* begins anew when all threads of the block have met */
  croq_u32 asks;  /* every access is told to the runtime, since some threads have met without the others */
  croq_u64 plane; /* the cell of byte `i` is number `i % 4 * plane + i / 4` */
  croq_sim_cell *cells;
} croq_sim_order;

/* What threads have done with an element of device memory, in which epoch (0: nobody has): who stored to it last, and
 * who has read it, of one block and of another. `writer` and the readers: the thread (10 bits), whether by an atomic
 * operation, whether several have, whether what was stored was there already, and the line (19 bits). */
typedef struct croq_sim_device_cell {
  croq_u32 written, writer, read, reader, read_too, reader_too;
  croq_u32 value; /* a digest of what was stored; after an atomic operation the epoch of another one, or 0 */
  croq_u32 other; /* and who that was */
} croq_sim_device_cell;

/* The cells of a buffer. */
typedef struct croq_sim_device_cells {
  croq_sim_device_cell *first; /* null where nobody looks */
  unsigned char *touched;      /* whether one of 128 cells has been used */
} croq_sim_device_cells;

/* How accesses of device memory by a block's threads are ordered. Each epoch belongs to one block, and begins when its
 * threads have met. */
typedef struct croq_sim_device {
  croq_u32 epoch;
  croq_u32 first;  /* those from here to `epoch` are of the same block */
  croq_u32 before; /* those below are ordered with all that comes now */
  croq_u32 *asks;  /* every access is told to the runtime */
  const croq_sim_device_cells *buffers;
} croq_sim_device;

/* In which order blocks and threads run that wait for nobody: number `i` of `n` is `(start + i * step) % n`. Steps
 * have no divisor in common with `n`; `first_thread` is below `thread_step`. */
typedef struct croq_sim_schedule {
  croq_u64 start, step;
  croq_u32 first_thread, thread_step;
} croq_sim_schedule;

/* One thread of the simulated GPU. The C++ side keeps the running one in a thread-local. */
typedef struct croq_sim_thread {
  croq_u32 tid;
  croq_u32 block[3];
  croq_u32 grid[3];
  croq_u32 threads;
  unsigned char *shared;
  croq_u64 shared_bytes;
  /* A byte for each of `shared`, zero where nothing is in flight; null unless CROQ_LAUNCH_ASYNC. */
  unsigned char *marks;
  /* For each 16 bytes of `shared` the last ordinary write: line (32 bits), tid + 1 (12), `fences` of
   * the thread at that time (20), or 0; null unless CROQ_LAUNCH_PROXIES. */
  croq_u64 *writers;
  /* For each byte of `shared` the number of the buffer as part of which it was written, or 0; null unless
   * CROQ_LAUNCH_TRACKS. */
  unsigned char *written;
  croq_sim_order *order; /* null where nobody looks */
  croq_sim_device *device; /* the same of device memory */
  croq_sim_schedule schedule;
  croq_u32 fences; /* how many fence.proxy.async the thread has executed, modulo 2^20 */
  croq_u32 cluster; /* blocks of one along x (lowest 8 bits), y and z */
  croq_u32 wgmma_fences; /* how many wgmma_fence it has executed */
  croq_u32 iterations;   /* iterations of loops without a known trip count until the runtime looks */
  croq_u32 changes; /* atomic operations of the thread that changed memory, modulo 2^32 */
  croq_i64 steps;   /* iterations of loops with a known trip count until the runtime looks */
  croq_i64 budget;  /* steps of one block, where no thread waits */
  croq_u64 *lanes;  /* what the lanes of a warp exchange; one for each thread of the block */
  /* Its own arrays that are not on its stack. */
  unsigned char *arena;
  croq_u64 arena_bytes;
  unsigned char *stack_end; /* the lowest byte of its stack */
  croq_u32 finds_unwritten; /* whether marks are kept of what was written */
  void *runtime; /* the scheduler's own record */
} croq_sim_thread;

enum {
  CROQ_LAUNCH_WAITS = 1,  /* some thread can wait for another: a coroutine per thread */
  CROQ_LAUNCH_ORDERED = 2, /* blocks must run one after another (order-dependent atomics) */
  CROQ_LAUNCH_ASYNC = 4,   /* something is moved asynchronously, and shared memory is watched */
  CROQ_LAUNCH_PROXIES = 8, /* the async proxy reads shared memory, whose writers are noted down */
  CROQ_LAUNCH_TOGETHER = 16, /* blocks wait for each other: all of the grid are resident at once */
  CROQ_LAUNCH_TRACKS = 32, /* marks are kept of what was written in shared memory */
  CROQ_LAUNCH_SPINS = 128 /* threads may wait in loops for device memory that other blocks write */
};

/* Of a thread's stack. */
enum {
  CROQ_SIM_FRAME_BYTES = 32 << 10,  /* the most that one function's frame may have */
  CROQ_SIM_RESERVE_BYTES = 32 << 10 /* for what device text calls: the runtime, the C++ library */
};

/* Device memory that the launch writes and that two of its threads may touch. */
typedef struct croq_sim_tracked {
  const char *name;
  void *memory;
  croq_u64 count;
  croq_u32 element_bytes;
  croq_u32 escapes; /* text that the compiler can't see into has its address: nobody looks */
} croq_sim_tracked;

typedef struct croq_sim_launch {
  const char *kernel;
  const char *file;
  croq_u32 grid[3];
  croq_u32 cluster[3]; /* blocks of one along x, y, z; 1 each where there are no clusters */
  croq_u32 threads;
  croq_u64 shared_bytes;
  croq_u64 arena_bytes; /* of each thread */
  croq_u32 flags;
  croq_u32 tracked_count;
  const croq_sim_tracked *tracked; /* within the closure */
  void *closure;
  /* Runs the one thread described by `thread`. */
  void (*run)(void *closure, croq_sim_thread *thread);
  /* Runs every thread of the blocks `first <= linear < last` (x fastest), one after another;
   * only for kernels that don't wait. `thread->shared` is one block's arena, reused. */
  void (*run_blocks)(void *closure, croq_sim_thread *thread, croq_u64 first, croq_u64 last);
} croq_sim_launch;

/* Some of a block's shared memory, as text reaches it. */
typedef struct croq_sim_access {
  const char *name; /* of the handle */
  croq_i64 index;   /* of the first element */
  void *at;
  croq_u32 bytes;
  croq_u32 line;
} croq_sim_access;

/* An element that nothing has written, and what its value is used for. */
typedef struct croq_sim_unwritten {
  const char *name;
  croq_i64 index;
  croq_u32 declared, read, used; /* lines */
  croq_u32 use_of; /* stored, in a condition, an address, an atomic operation, a call, a print, a check */
} croq_sim_unwritten;

/* A tensor in device memory and a box of it, innermost dimension first. */
typedef struct croq_sim_tensor_map {
  void *memory;
  croq_u64 extents[5];
  croq_u64 strides[5]; /* in bytes */
  croq_u32 box_extents[5];
  croq_u32 rank;
  croq_u32 element_bytes;
  croq_u32 swizzle; /* 0, 32, 64 or 128 */
} croq_sim_tensor_map;

/* A thread's fragment: what a warpgroup's products may be doing with its registers. */
typedef struct croq_sim_registers {
  croq_u32 pending; /* products that have some of them */
  /* What the thread itself has reached for since its last fence: the elements `first <= i < end`, when it
   * had executed so many fences, and the line. */
  croq_u32 fences, first, end, line;
  unsigned char *unwritten; /* for each element whether it is; null where nobody asks */
} croq_sim_registers;

/* Some of a fragment. */
typedef struct croq_sim_part {
  croq_sim_registers *registers;
  void *at; /* the first element */
  croq_u32 first, count, bytes;
} croq_sim_part;

/* What carries out a product: where in shared memory the pieces of 16 bytes of A and B lie, and, for each
 * thread of the warpgroup, its sums and its part of A. */
typedef struct croq_sim_factors {
  const unsigned char *shared;
  const croq_u32 *a, *b;
  void *const *sums;
  void *const *registers;
  croq_u32 columns;
  croq_u32 accumulate;
  /* Marks of what was written beside `shared`, or null; which of them are those of A's and B's buffers; and of
   * each thread's sums and its part of A, the first one's mark or null. */
  const unsigned char *written;
  croq_u32 number_of_a, number_of_b;
  unsigned char *const *unwritten_accumulators;
  unsigned char *const *unwritten_a;
  /* Of a sparse A: each thread's part of the metadata, and its mark or null. */
  void *const *metadata;
  unsigned char *const *unwritten_metadata;
} croq_sim_factors;

/* A product of matrices by a warpgroup, as one of its threads takes part in it. */
typedef struct croq_sim_wgmma {
  croq_u64 a, b; /* descriptors */
  croq_sim_part sums;
  croq_sim_part registers; /* of A; `at` is null when A is in shared memory */
  croq_sim_part metadata;  /* `at` is null when A is not sparse */
  croq_u32 columns;
  croq_u32 flags;
  croq_u32 line;
  void (*carry_out)(const croq_sim_factors *factors);
} croq_sim_wgmma;

enum {
  CROQ_WGMMA_TRANSPOSED_A = 1,
  CROQ_WGMMA_TRANSPOSED_B = 2,
  CROQ_WGMMA_ACCUMULATES = 4
};

/* What is done to an mbarrier, and with which value. */
enum {
  CROQ_MBARRIER_INIT = 0, /* the number of arrivals of a phase */
  CROQ_MBARRIER_INVALIDATE = 1,
  CROQ_MBARRIER_ARRIVE = 2,
  CROQ_MBARRIER_EXPECT = 3,        /* bytes */
  CROQ_MBARRIER_ARRIVE_EXPECT = 4, /* bytes */
  CROQ_MBARRIER_WAIT = 5,          /* a parity */
  CROQ_MBARRIER_TRY_WAIT = 6       /* a parity */
};

/* Of a place that triggers an event. */
enum {
  CROQ_SITE_READY = 1,  /* generation 0 of the event needs no arrival */
  CROQ_SITE_CLUSTER = 2 /* threads of all blocks of the cluster arrive */
};

/* What a thread does with elements of memory. */
enum {
  CROQ_ACCESS_READS = 0,
  CROQ_ACCESS_WRITES = 1,
  CROQ_ACCESS_ATOMIC = 2,
  CROQ_ACCESS_SAME = 3 /* stores what is there already */
};

enum {
  CROQ_FENCE_MBARRIER_INIT = 0,
  CROQ_FENCE_PROXY_ASYNC = 1
};

enum {
  CROQ_CLUSTER_ARRIVE = 0,
  CROQ_CLUSTER_WAIT = 1
};

/* What `turns` of a thread begins with. */
enum { CROQ_ITERATIONS = 4096 };

/* Why a thread asks the runtime to look at its loops. */
enum {
  CROQ_COUNT_ITERATIONS = 0, /* `iterations` has come to 0 */
  CROQ_COUNT_STEPS = 1, /* `steps` is below 0 */
  CROQ_COUNT_SPIN = 2,  /* an iteration that changed nothing but by atomic operations */
  CROQ_COUNT_PAUSE = 3  /* the thread has nothing to do for now */
};

/* What the lanes of a warp do together; those of one kind meet. */
enum {
  CROQ_LANES_SHUFFLE = 1,
  CROQ_LANES_SHUFFLE_UP = 2,
  CROQ_LANES_SHUFFLE_DOWN = 3,
  CROQ_LANES_SHUFFLE_XOR = 4,
  CROQ_LANES_VOTE = 5,
  CROQ_LANES_MATRIX = 6
};

/* What the simulated GPU gives to device text; one table per process. */
typedef struct croq_sim_api {
  croq_u32 abi_version;
  croq_u32 (*launch)(void *device, const croq_sim_launch *launch, croq_failure *failure);
  void (*barrier)(croq_sim_thread *thread, croq_u32 line);
  void (*barrier_named)(croq_sim_thread *thread, croq_u32 id, croq_u32 threads, croq_u32 line);
  void (*barrier_arrive)(croq_sim_thread *thread, croq_u32 id, croq_u32 threads, croq_u32 line);
  void (*barrier_warp)(croq_sim_thread *thread, croq_u32 mask, croq_u32 line);
  /* Records the failure and suspends the thread for good: never returns. */
  void (*stop)(croq_sim_thread *thread, const croq_failure *failure);
  void (*print)(croq_sim_thread *thread, const char *text, croq_u64 length);
  /* An access of bytes that are not all unmarked: returns if it does no harm. */
  void (*touch)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 writes);
  /* At most 16 bytes of device memory, or zeros when `source` is null. */
  void (*copy_async)(croq_sim_thread *thread, const croq_sim_access *dest, const void *source);
  void (*commit_copies)(croq_sim_thread *thread);
  /* All groups of the thread but the `pending` youngest. */
  void (*wait_copies)(croq_sim_thread *thread, croq_u32 pending);
  /* For CROQ_MBARRIER_TRY_WAIT: whether the phase is over. */
  croq_u32 (*mbarrier)(croq_sim_thread *thread, const croq_sim_access *at, croq_u32 operation,
                       croq_i64 value);
  /* For reports: the mbarriers from `at` on, `slots` of them, are an event, which is triggered on the line of
   * `at` by `threads`, such as "0..31, 64" or "all"; "" is whoever comes. */
  void (*event_site)(croq_sim_thread *thread, const croq_sim_access *at, croq_u32 slots,
                     croq_u32 flags, const char *threads);
  void (*fence)(croq_sim_thread *thread, croq_u32 kind);
  /* Of the box that begins at the five coordinates `at`; to the same place of each block of the cluster
   * whose bit is set in `blocks`, or to the thread's own if none is. */
  void (*tma_load)(croq_sim_thread *thread, const croq_sim_access *dest,
                   const croq_sim_tensor_map *map, const croq_i64 *at,
                   const croq_sim_access *arrival, croq_u32 blocks);
  void (*tma_store)(croq_sim_thread *thread, const croq_sim_access *source,
                    const croq_sim_tensor_map *map, const croq_i64 *at);
  void (*bulk_commit)(croq_sim_thread *thread);
  void (*bulk_wait)(croq_sim_thread *thread, croq_u32 pending, croq_u32 only_read);
  /* An access of shared memory, told by text that is compiled with CROQ_SIM_TRACE. */
  void (*trace)(const croq_sim_thread *thread, const croq_sim_access *access);
  /* The barrier of the threads of a cluster; with CROQ_LAUNCH_TOGETHER, of the grid. */
  void (*cluster_barrier)(croq_sim_thread *thread, croq_u32 operation, croq_u32 line);
  /* Arrives at the mbarrier that is at the same place in the block of this rank. */
  void (*arrive_remote)(croq_sim_thread *thread, const croq_sim_access *at, croq_u32 rank);
  /* Comes back when all threads of the warpgroup have come to it. */
  void (*wgmma)(croq_sim_thread *thread, const croq_sim_wgmma *wgmma);
  void (*commit_wgmma)(croq_sim_thread *thread);
  /* All groups of the thread but the `pending` youngest. */
  void (*wait_wgmma)(croq_sim_thread *thread, croq_u32 pending);
  /* The thread reaches for registers some of which a product has: returns if it hasn't these. */
  void (*touch_registers)(croq_sim_thread *thread, const croq_sim_part *part, croq_u32 line);
  /* An access of elements of `size` bytes that others of the block may be at: returns if it is ordered. */
  void (*shared_access)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 size,
                        croq_u32 kind);
  /* Returns unless the block's steps are spent; other threads may have run meanwhile. */
  void (*count)(croq_sim_thread *thread, croq_u32 reason, croq_u32 line);
  /* Waits for the lanes in `mask` that have not left the kernel; those that came. */
  croq_u32 (*lanes)(croq_sim_thread *thread, croq_u32 mask, croq_u32 kind, croq_u32 line);
  /* Stops the thread for good, which is about to use a value that nothing has written. */
  void (*use_unwritten)(croq_sim_thread *thread, const croq_sim_unwritten *what);
  /* Records a failure after which the thread goes on: what the lowest block of the first launch had first is the
   * call's failure. */
  void (*report)(croq_sim_thread *thread, const croq_failure *failure);
  /* An access of an element of the launch's tracked buffer of this number; `value` is a digest of what is stored. */
  void (*device_access)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 buffer,
                        croq_u32 kind, croq_u32 value);
  /* An atomic operation by text that has a pointer. */
  void (*device_atomic)(croq_sim_thread *thread, const void *at);
  /* A fence for all of the device. */
  void (*device_fence)(croq_sim_thread *thread);
  /* The block barrier; whether all threads came to it with this value. */
  croq_u32 (*agree)(croq_sim_thread *thread, croq_i64 value, croq_u32 line);
  /* The same at a named barrier of so many threads. */
  croq_u32 (*agree_named)(croq_sim_thread *thread, croq_i64 value, croq_u32 id, croq_u32 threads,
                          croq_u32 line);
} croq_sim_api;

/* Everything a shim needs of the run it is part of. */
typedef struct croq_env {
  croq_u32 abi_version;
  void *device;
  void *stream;            /* cudaStream_t; null on the sim */
  const croq_sim_api *sim; /* null on CUDA */
  croq_failure *failure;   /* where the host reads what went wrong */
  croq_failure *device_failure; /* the same record as the device sees it (host-mapped memory) */
  /* Device memory for this call, freed by the runtime; null when there is none. */
  void *(*alloc)(const struct croq_env *env, croq_u64 bytes, croq_u32 zero);
  croq_u64 steps; /* iterations of loops on the host until the call is given up */
  croq_u64 wait_limit; /* nanoseconds that a wait on a GPU may take; 0: no limit */
} croq_env;

/* The CUDA runtime as the nvcc-built part of the user's crate offers it to croq-sys. Every function
 * returns a cudaError_t as int. */
typedef struct croq_cuda_device_info {
  char name[256];
  croq_u32 major, minor;
  croq_u64 memory_bytes;
  croq_u64 shared_bytes_per_block; /* opt-in maximum */
  croq_u32 multiprocessors;
} croq_cuda_device_info;

typedef struct croq_cuda_api {
  croq_u32 abi_version;
  croq_u32 runtime_version;
  int (*device_count)(int *count);
  int (*device_info)(int device, croq_cuda_device_info *info);
  int (*set_device)(int device);
  int (*stream_create)(void **stream);
  int (*stream_destroy)(void *stream);
  int (*stream_synchronize)(void *stream);
  /* What is enqueued on the stream from now on begins after the event. */
  int (*stream_wait_event)(void *stream, void *event);
  /* A new event behind all that is on the stream. */
  int (*event_record)(void **event, void *stream);
  int (*event_query)(void *event, croq_u32 *over);
  int (*event_synchronize)(void *event);
  int (*event_destroy)(void *event);
  int (*malloc_async)(void **memory, croq_u64 bytes, void *stream);
  int (*free_async)(void *memory, void *stream);
  int (*copy_to_device)(void *dst, const void *src, croq_u64 bytes, void *stream);
  int (*copy_to_host)(void *dst, const void *src, croq_u64 bytes, void *stream);
  int (*copy_on_device)(void *dst, const void *src, croq_u64 bytes, void *stream);
  int (*memset_async)(void *dst, int byte, croq_u64 bytes, void *stream);
  int (*host_alloc_mapped)(void **host, void **device, croq_u64 bytes);
  int (*host_free)(void *host);
  const char *(*error_string)(int error);
} croq_cuda_api;

#endif
