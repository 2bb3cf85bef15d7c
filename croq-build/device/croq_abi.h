/* The interface between generated C++ (for the simulated GPU and for CUDA) and croq-sys.
 *
 * Includes nothing, so that libclang can read it without a sysroot. croq-sys mirrors it in
 * `src/abi.rs`; a test compares the two. Any change requires a new CROQ_ABI_VERSION. */
#ifndef CROQ_ABI_H
#define CROQ_ABI_H

#define CROQ_ABI_VERSION 28

typedef __INT64_TYPE__ croq_i64;
typedef __UINT64_TYPE__ croq_u64;
typedef __UINT32_TYPE__ croq_u32;

/* The kind of a failure: the return value of a shim, and `kind` of a failure record. */
enum {
  CROQ_OK = 0,
  CROQ_CHECK = 1,         /* a check of the function's table failed; `check` is its row */
  CROQ_OUT_OF_BOUNDS = 2, /* a handle detected an access out of bounds: values = index, extent */
  CROQ_MISALIGNED = 3,
  CROQ_DEADLOCK = 4,      /* sim: croq-sys has the text of the report */
  CROQ_OUT_OF_MEMORY = 5, /* values = bytes */
  CROQ_CUDA_ERROR = 6,    /* values = cudaError_t */
  CROQ_NEEDS_CUDA = 7,    /* the kernel uses code that the simulated GPU cannot run */
  CROQ_ABI_MISMATCH = 8,
  CROQ_HAZARD = 9, /* sim: unordered accesses; croq-sys has the text of the report */
  /* a loop or a wait that does not end. On the simulated GPU, croq-sys has the text of the report;
   * on a GPU, `check` is the kind of the wait: CROQ_WAIT_... */
  CROQ_ENDLESS = 10,
  CROQ_NOT_RECORDED = 11, /* a step that waits for the device cannot be a part of a graph */
  /* the record is being written by a kernel that continues (CROQ_REPORT) */
  CROQ_BEING_WRITTEN = 0xffff
};

/* What a wait on a GPU waited for. */
enum {
  CROQ_WAIT_MBARRIER = 0, /* an event, or a TMA copy */
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

/* The last accesses by threads of the block to the element that begins at this byte of shared
 * memory: the last write, the reads since then, and the epoch of each. `writer` and `reader`
 * contain the thread (10 bits), whether the access was atomic, whether there were several threads,
 * and the line (20 bits). */
typedef struct croq_sim_cell {
  croq_u32 written, writer, read, reader;
} croq_sim_cell;

/* The state of race detection for a block's shared memory. */
typedef struct croq_sim_order {
  croq_u32 epoch; /* a new one begins at each barrier of all threads of the block */
  /* nonzero: every access is reported to the runtime, because a subset of the threads has
   * synchronised */
  croq_u32 reports_all;
  croq_u64 plane; /* the cell of byte `i` is number `i % 4 * plane + i / 4` */
  croq_sim_cell *cells;
  /* how many elements of a byte have cells: that of element `p` is `4 * p * plane` cells behind the
   * one of the byte */
  croq_u32 parts;
} croq_sim_order;

/* The last accesses by threads to an element of device memory, with the epoch of each (0: none):
 * the last store, and reads by one block and by another. `writer` and the readers contain the
 * thread (10 bits), whether the access was atomic, whether there were several threads, whether the
 * stored value was equal to the previous one, and the line (19 bits). */
typedef struct croq_sim_device_cell {
  croq_u32 written, writer, read, reader, read_too, reader_too;
  /* a digest of the stored value; after an atomic operation the epoch of another one, or of an
   * earlier store by the same block, or 0 */
  croq_u32 value;
  croq_u32 other; /* that other access, like `writer` */
} croq_sim_device_cell;

/* The cells of a buffer. */
typedef struct croq_sim_device_cells {
  croq_sim_device_cell *first; /* null if the buffer is not checked */
  unsigned char *touched;      /* for each 128 cells, whether one of them has been used */
} croq_sim_device_cells;

/* The state of race detection for device memory, of one block. Each epoch belongs to one block, and
 * begins at a barrier of its threads. */
typedef struct croq_sim_device {
  croq_u32 epoch;
  croq_u32 first;  /* epochs from here to `epoch` are of the same block */
  croq_u32 before; /* epochs below this one happened before all further accesses */
  croq_u32 *reports_all;  /* nonzero: every access is reported to the runtime */
  const croq_sim_device_cells *buffers;
} croq_sim_device;

/* The order in which blocks and threads run that do not wait: number `i` of `n` is `(start + i *
 * step) % n`. `step` is coprime to `n`; `first_thread` is below `thread_step`. */
typedef struct croq_sim_schedule {
  croq_u64 start, step;
  croq_u32 first_thread, thread_step;
} croq_sim_schedule;

/* One thread of the simulated GPU. The C++ side keeps the running one in a thread-local
 * variable. */
typedef struct croq_sim_thread {
  croq_u32 tid;
  croq_u32 block[3];
  croq_u32 grid[3];
  croq_u32 threads;
  unsigned char *shared;
  croq_u64 shared_bytes;
  /* One byte per byte of `shared`, zero where no asynchronous operation is in flight; null unless
   * CROQ_LAUNCH_ASYNC. */
  unsigned char *marks;
  /* For each 16 bytes of `shared` the last write by the generic proxy: line (32 bits), tid + 1
   * (12), `fences` of the thread at that time (20), or 0; null unless CROQ_LAUNCH_PROXIES. */
  croq_u64 *writers;
  /* For each byte of `shared` the number of the buffer through which it was written, or 0; then for
   * each byte a bit for each element in it, for buffers whose elements share bytes. Null unless
   * CROQ_LAUNCH_TRACKS. */
  unsigned char *written;
  croq_sim_order *order; /* null if shared memory is not checked for races */
  croq_sim_device *device; /* the same for device memory */
  croq_sim_schedule schedule;
  croq_u32 fences; /* number of fence.proxy.async that the thread has executed, modulo 2^20 */
  croq_u32 cluster; /* extents of a cluster in blocks: along x (lowest 8 bits), y and z */
  croq_u32 wgmma_fences; /* number of wgmma_fence that the thread has executed */
  /* iterations of loops without a known trip count until the next call of the runtime */
  croq_u32 iterations;
  croq_u32 changes; /* atomic operations of the thread that changed memory, modulo 2^32 */
  /* iterations of loops with a known trip count until the next call of the runtime */
  croq_i64 steps;
  croq_i64 budget;  /* step limit of one block in which no thread waits */
  croq_u64 *lanes;  /* values that the lanes of a warp exchange; one per thread of the block */
  /* Memory of the thread's arrays that are not on its stack. */
  unsigned char *arena;
  croq_u64 arena_bytes;
  unsigned char *stack_end; /* the lowest address of its stack */
  croq_u32 finds_unwritten; /* whether reads of unwritten elements are detected */
  void *runtime; /* the scheduler's record of the thread */
} croq_sim_thread;

enum {
  CROQ_LAUNCH_WAITS = 1,  /* a thread may wait for another one: each thread is a coroutine */
  CROQ_LAUNCH_ORDERED = 2, /* blocks must run one after another (order-dependent atomics) */
  /* asynchronous operations access shared memory, so accesses to it are checked */
  CROQ_LAUNCH_ASYNC = 4,
  CROQ_LAUNCH_PROXIES = 8, /* the async proxy reads shared memory, so the writers are recorded */
  CROQ_LAUNCH_TOGETHER = 16, /* blocks wait for each other: the whole grid is resident */
  CROQ_LAUNCH_TRACKS = 32, /* written bytes of shared memory are tracked */
  CROQ_LAUNCH_SPINS = 128 /* threads may wait in loops for device memory that other blocks write */
};

/* Limits of a thread's stack. */
enum {
  CROQ_SIM_FRAME_BYTES = 32 << 10,  /* the maximum frame size of one function */
  /* for functions that device code calls: the runtime, the C++ library */
  CROQ_SIM_RESERVE_BYTES = 32 << 10
};

/* What the accesses of a buffer are recorded for. */
enum {
  /* two threads may access one of its elements */
  CROQ_RECORDS_RACES = 1,
  /* it was allocated without initialisation for the launch, which must write all of it */
  CROQ_RECORDS_UNWRITTEN = 2
};

/* Device memory that the launch writes, and whose accesses are recorded. */
typedef struct croq_sim_tracked {
  const char *name;
  void *memory;
  croq_u64 count;
  croq_u32 element_bytes;
  croq_u32 per_byte; /* the elements that share these bytes */
  /* 0: code that is opaque to the compiler has its address, so the buffer is not checked */
  croq_u32 records;
} croq_sim_tracked;

typedef struct croq_sim_launch {
  const char *kernel;
  const char *file;
  croq_u32 grid[3];
  croq_u32 cluster[3]; /* extents of a cluster in blocks along x, y, z; all 1 without clusters */
  croq_u32 threads;
  croq_u64 shared_bytes;
  croq_u64 arena_bytes; /* of each thread */
  croq_u32 flags;
  croq_u32 tracked_count;
  const croq_sim_tracked *tracked; /* within the closure */
  void *closure;
  /* Runs the one thread that `thread` describes. */
  void (*run)(void *closure, croq_sim_thread *thread);
  /* Runs every thread of the blocks `first <= linear < last` (x fastest), one after another; only
   * for kernels that do not wait. `thread->shared` is the arena of one block, used for all of
   * them. */
  void (*run_blocks)(void *closure, croq_sim_thread *thread, croq_u64 first, croq_u64 last);
} croq_sim_launch;

/* An accessed range of a block's shared memory. */
typedef struct croq_sim_access {
  const char *name; /* name of the handle */
  croq_i64 index;   /* index of the first element */
  void *at;
  croq_u32 bytes;
  croq_u32 line;
} croq_sim_access;

/* A read of an element that has not been written, and the use of its value. */
typedef struct croq_sim_unwritten {
  const char *name;
  croq_i64 index;
  croq_u32 declared, read, used; /* lines */
  croq_u32 use_of; /* the use: store, condition, address, atomic operation, call, print, check */
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

/* A thread's fragment: its registers that MMAs of a warpgroup may be accessing. */
typedef struct croq_sim_registers {
  croq_u32 pending; /* number of MMAs in flight that access some of them */
  /* The thread's own accesses since its last fence: the elements `first <= i < end`, the number of
   * fences executed before, and the line. */
  croq_u32 fences, first, end, line;
  /* for each element, whether it is unwritten; null if this is not tracked */
  unsigned char *unwritten;
} croq_sim_registers;

/* A range of a fragment's elements. */
typedef struct croq_sim_part {
  croq_sim_registers *registers;
  void *at; /* the first element */
  croq_u32 first, count, bytes;
} croq_sim_part;

/* The operands of an MMA: for each piece of 16 bytes of A and B its offset in shared memory, and
 * for each thread of the warpgroup its accumulators and its part of A. */
typedef struct croq_sim_factors {
  const unsigned char *shared;
  const croq_u32 *a, *b;
  void *const *sums;
  void *const *registers;
  croq_u32 columns;
  croq_u32 accumulate;
  /* Which bytes of `shared` were written (buffer numbers), or null; the numbers of A's and B's
   * buffers; and for each thread the first mark of its accumulators and of its part of A, or
   * null. */
  const unsigned char *written;
  croq_u32 number_of_a, number_of_b;
  unsigned char *const *unwritten_accumulators;
  unsigned char *const *unwritten_a;
  /* For a sparse A: each thread's part of the metadata, and its mark or null. */
  void *const *metadata;
  unsigned char *const *unwritten_metadata;
} croq_sim_factors;

/* An MMA by a warpgroup, as one of its threads executes it. */
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

/* Operations on an mbarrier; each comment describes the operation's value. */
enum {
  CROQ_MBARRIER_INIT = 0, /* number of arrivals per phase */
  CROQ_MBARRIER_INVALIDATE = 1,
  CROQ_MBARRIER_ARRIVE = 2,
  CROQ_MBARRIER_EXPECT = 3,        /* bytes */
  CROQ_MBARRIER_ARRIVE_EXPECT = 4, /* bytes */
  CROQ_MBARRIER_WAIT = 5,          /* a parity */
  CROQ_MBARRIER_TRY_WAIT = 6,      /* a parity */
  /* The phase after that of the thread's last such wait for the mbarrier; at first phase 0, or with
   * parity 1 the one before it, which is complete. */
  CROQ_MBARRIER_WAIT_NEXT = 7, /* the parity */
  CROQ_MBARRIER_WAIT_PHASE = 8 /* the number of the phase; -1 is complete from the start */
};

/* Flags of a statement that triggers an event. */
enum {
  CROQ_SITE_READY = 1,   /* generation 0 of the event needs no arrival */
  CROQ_SITE_CLUSTER = 2, /* threads of all blocks of the cluster arrive */
  CROQ_SITE_SLOT = 4     /* times the number of the only slot that it triggers, from 1 */
};

/* Kinds of accesses by a thread. */
enum {
  CROQ_ACCESS_READS = 0,
  CROQ_ACCESS_WRITES = 1,
  CROQ_ACCESS_ATOMIC = 2,
  CROQ_ACCESS_SAME = 3 /* a store of a value equal to the one in memory */
};

enum {
  CROQ_FENCE_MBARRIER_INIT = 0,
  CROQ_FENCE_PROXY_ASYNC = 1
};

enum {
  CROQ_CLUSTER_ARRIVE = 0,
  CROQ_CLUSTER_WAIT = 1
};

/* The initial value of `iterations` of a thread. */
enum { CROQ_ITERATIONS = 4096 };

/* Why a thread calls `count`. */
enum {
  CROQ_COUNT_ITERATIONS = 0, /* `iterations` is 0 */
  CROQ_COUNT_STEPS = 1, /* `steps` is below 0 */
  CROQ_COUNT_SPIN = 2,  /* an iteration that changed memory only by atomic operations */
  CROQ_COUNT_PAUSE = 3  /* the thread waits, and other threads may run */
};

/* Operations of the lanes of a warp; lanes with the same kind of operation synchronise with each
 * other. */
enum {
  CROQ_LANES_SHUFFLE = 1,
  CROQ_LANES_SHUFFLE_UP = 2,
  CROQ_LANES_SHUFFLE_DOWN = 3,
  CROQ_LANES_SHUFFLE_XOR = 4,
  CROQ_LANES_VOTE = 5,
  CROQ_LANES_MATRIX = 6
};

/* Functions of the simulated GPU that device code calls; one table per process. */
typedef struct croq_sim_api {
  croq_u32 abi_version;
  croq_u32 (*launch)(void *device, const croq_sim_launch *launch, croq_failure *failure);
  void (*barrier)(croq_sim_thread *thread, croq_u32 line);
  void (*barrier_named)(croq_sim_thread *thread, croq_u32 id, croq_u32 threads, croq_u32 line);
  void (*barrier_arrive)(croq_sim_thread *thread, croq_u32 id, croq_u32 threads, croq_u32 line);
  void (*barrier_warp)(croq_sim_thread *thread, croq_u32 mask, croq_u32 line);
  /* Records the failure and suspends the thread: never returns. */
  void (*stop)(croq_sim_thread *thread, const croq_failure *failure);
  void (*print)(croq_sim_thread *thread, const char *text, croq_u64 length);
  /* An access to bytes of which some are marked: returns if it is legal. */
  void (*touch)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 writes);
  /* Copies at most 16 bytes of device memory, or zeros if `source` is null. */
  void (*copy_async)(croq_sim_thread *thread, const croq_sim_access *dest, const void *source);
  void (*commit_copies)(croq_sim_thread *thread);
  /* Waits for all groups of the thread except the `pending` youngest. */
  void (*wait_copies)(croq_sim_thread *thread, croq_u32 pending);
  /* For CROQ_MBARRIER_TRY_WAIT: returns whether the phase is complete. */
  croq_u32 (*mbarrier)(croq_sim_thread *thread, const croq_sim_access *at, croq_u32 operation,
                       croq_i64 value);
  /* For reports: the `slots` mbarriers from `at` on are an event that is triggered on the line of
   * `at` by `threads`, such as "0..31, 64" or "all"; "" if the set of threads is not known. */
  void (*event_site)(croq_sim_thread *thread, const croq_sim_access *at, croq_u32 slots,
                     croq_u32 flags, const char *threads);
  void (*fence)(croq_sim_thread *thread, croq_u32 kind);
  /* Loads the box at the coordinates `at` into the same address of each block of the cluster whose
   * bit is set in `blocks`, or of the thread's own block if no bit is set. */
  void (*tma_load)(croq_sim_thread *thread, const croq_sim_access *dest,
                   const croq_sim_tensor_map *map, const croq_i64 *at,
                   const croq_sim_access *arrival, croq_u32 blocks);
  void (*tma_store)(croq_sim_thread *thread, const croq_sim_access *source,
                    const croq_sim_tensor_map *map, const croq_i64 *at);
  void (*bulk_commit)(croq_sim_thread *thread);
  void (*bulk_wait)(croq_sim_thread *thread, croq_u32 pending, croq_u32 only_read);
  /* An access to shared memory, reported by code that is compiled with CROQ_SIM_TRACE. */
  void (*trace)(const croq_sim_thread *thread, const croq_sim_access *access);
  /* The barrier of the threads of a cluster, or of the grid with CROQ_LAUNCH_TOGETHER. */
  void (*cluster_barrier)(croq_sim_thread *thread, croq_u32 operation, croq_u32 line);
  /* Arrives at the mbarrier at the same address of the block with this rank. */
  void (*arrive_remote)(croq_sim_thread *thread, const croq_sim_access *at, croq_u32 rank);
  /* Returns when all threads of the warpgroup have called it. */
  void (*wgmma)(croq_sim_thread *thread, const croq_sim_wgmma *wgmma);
  void (*commit_wgmma)(croq_sim_thread *thread);
  /* Waits for all groups of the thread except the `pending` youngest. */
  void (*wait_wgmma)(croq_sim_thread *thread, croq_u32 pending);
  /* An access to a fragment that in-flight MMAs use: returns if they do not use these elements. */
  void (*touch_registers)(croq_sim_thread *thread, const croq_sim_part *part, croq_u32 line);
  /* An access to elements of `size` bytes that other threads of the block may access: returns if it
   * is ordered with theirs. */
  void (*shared_access)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 size,
                        croq_u32 kind);
  /* The same for `count` elements of which `per_byte` share a byte; the first is in the first byte. */
  void (*packed_access)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 per_byte,
                        croq_u32 count, croq_u32 kind);
  /* Returns unless the block has reached its step limit; other threads may have run meanwhile. */
  void (*count)(croq_sim_thread *thread, croq_u32 reason, croq_u32 line);
  /* Waits for the lanes in `mask` that have not exited; returns the lanes that arrived. */
  croq_u32 (*lanes)(croq_sim_thread *thread, croq_u32 mask, croq_u32 kind, croq_u32 line);
  /* Stops the thread permanently, because it is about to use the value of an unwritten element. */
  void (*use_unwritten)(croq_sim_thread *thread, const croq_sim_unwritten *what);
  /* Records a failure after which the thread continues. The call's failure is the first one of the
   * lowest block in the first launch with one. */
  void (*report)(croq_sim_thread *thread, const croq_failure *failure);
  /* An access to an element of the launch's tracked buffer of this number; `value` is a digest of
   * the stored value. */
  void (*device_access)(croq_sim_thread *thread, const croq_sim_access *access, croq_u32 buffer,
                        croq_u32 kind, croq_u32 value);
  /* An atomic operation through a pointer. */
  void (*device_atomic)(croq_sim_thread *thread, const void *at);
  /* A fence with device scope. */
  void (*device_fence)(croq_sim_thread *thread);
  /* The block barrier; returns whether all threads passed the same value. */
  croq_u32 (*agree)(croq_sim_thread *thread, croq_i64 value, croq_u32 line);
  /* The same at a named barrier of this many threads. */
  croq_u32 (*agree_named)(croq_sim_thread *thread, croq_i64 value, croq_u32 id, croq_u32 threads,
                          croq_u32 line);
} croq_sim_api;

/* The environment of a shim's call. */
typedef struct croq_env {
  croq_u32 abi_version;
  void *device;
  void *stream;            /* cudaStream_t; null on the sim */
  const croq_sim_api *sim; /* null on CUDA */
  croq_failure *failure;   /* read by the host after a failure */
  croq_failure *device_failure; /* the same record at its device address (host-mapped memory) */
  /* Device memory for this call, freed by the runtime; null on failure. */
  void *(*alloc)(const struct croq_env *env, croq_u64 bytes, croq_u32 zero);
  croq_u64 steps; /* iteration limit of loops on the host */
  croq_u64 wait_limit; /* time limit of a wait on a GPU in nanoseconds; 0: no limit */
  croq_u32 mode; /* CROQ_MODE_… */
} croq_env;

/* What a call does with its launches. */
#define CROQ_MODE_RUN 0
/* They are recorded for a graph: the stream captures them; the simulated GPU only prepares them. Steps
 * that wait for the device are CROQ_NOT_RECORDED. */
#define CROQ_MODE_RECORD 1
/* The simulated GPU executes them again. */
#define CROQ_MODE_REPLAY 2

/* The CUDA runtime, which croq-sys calls through this table of the nvcc-built part of the user's
 * crate. Every function returns a cudaError_t as int. */
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
  int (*stream_query)(void *stream, croq_u32 *over);
  /* Calls the function on a thread of CUDA after all work on the stream, also after a failure. It
   * calls no CUDA function. */
  int (*stream_add_callback)(void *stream,
                             void (*function)(void *stream, int error, void *data), void *data);
  /* Later work on the stream begins after the event. */
  int (*stream_wait_event)(void *stream, void *event);
  /* Creates an event after all work on the stream. */
  int (*event_record)(void **event, void *stream);
  /* The same with a time. */
  int (*event_record_timed)(void **event, void *stream);
  int (*event_elapsed)(float *milliseconds, void *from, void *to);
  int (*event_query)(void *event, croq_u32 *over);
  int (*event_synchronize)(void *event);
  int (*event_destroy)(void *event);
  int (*malloc_async)(void **memory, croq_u64 bytes, void *stream);
  int (*free_async)(void *memory, void *stream);
  int (*copy_to_device)(void *dst, const void *src, croq_u64 bytes, void *stream);
  int (*copy_to_host)(void *dst, const void *src, croq_u64 bytes, void *stream);
  int (*copy_on_device)(void *dst, const void *src, croq_u64 bytes, void *stream);
  /* `height` rows of `width` bytes; rows begin every so many bytes. */
  int (*copy_rows_on_device)(void *dst, croq_u64 dst_pitch, const void *src, croq_u64 src_pitch,
                             croq_u64 width, croq_u64 height, void *stream);
  int (*copy_to_peer)(void *dst, int dst_device, const void *src, int src_device, croq_u64 bytes,
                      void *stream);
  int (*memset_async)(void *dst, int byte, croq_u64 bytes, void *stream);
  int (*host_alloc_mapped)(void **host, void **device, croq_u64 bytes);
  int (*host_free)(void *host);
  /* Work that is enqueued on the stream from now on is recorded, and not executed. */
  int (*graph_begin)(void *stream);
  /* The recorded work, which is null after an error. Ends the recording in any case. */
  int (*graph_end)(void *stream, void **graph);
  int (*graph_launch)(void *graph, void *stream);
  int (*graph_destroy)(void *graph);
  const char *(*error_string)(int error);
} croq_cuda_api;

#endif
