/* All test kernels that a GPU can run in one file, because nvcc needs a second for each file; and a
 * table of them, through which the same call runs either build. */
#include "handles.cc"
#include "barriers.cc"
#include "launches.cc"
#include "speed.cc"
#include "copies.cc"
#include "matrices.cc"
#include "mma.cc"
#include "mbarriers.cc"
#include "tma.cc"
#include "atomics.cc"
#include "clusters.cc"
#include "grid.cc"
#include "primitives.cc"
#include "sparse.cc"

/* In a separate file that takes as long as all others. */
extern "C" croq_u32 CONF(warpgroup)(const croq_env *env, void *c, const void *memory,
                                    const croq_i64 *n);

#if defined(CROQ_CUDA)
/* Compares the constants of cuda/tma.h with the driver's header. */
#include <cuda.h>
static_assert(sizeof(croq::tensor_map) == sizeof(CUtensorMap) &&
              alignof(croq::tensor_map) >= alignof(CUtensorMap));
static_assert(croq::tensor_map_type<croq::f16>() == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
              croq::tensor_map_type<croq::bf16>() == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 &&
              croq::tensor_map_type<float>() == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 &&
              croq::tensor_map_type<double>() == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 &&
              croq::tensor_map_type<croq::f8_e4m3>() == CU_TENSOR_MAP_DATA_TYPE_UINT8 &&
              croq::tensor_map_type<bool>() == CU_TENSOR_MAP_DATA_TYPE_UINT8 &&
              croq::tensor_map_type<short>() == CU_TENSOR_MAP_DATA_TYPE_UINT16 &&
              croq::tensor_map_type<int>() == CU_TENSOR_MAP_DATA_TYPE_INT32 &&
              croq::tensor_map_type<unsigned>() == CU_TENSOR_MAP_DATA_TYPE_UINT32 &&
              croq::tensor_map_type<long long>() == CU_TENSOR_MAP_DATA_TYPE_INT64 &&
              croq::tensor_map_type<unsigned long long>() == CU_TENSOR_MAP_DATA_TYPE_UINT64);
static_assert(CU_TENSOR_MAP_SWIZZLE_32B == 1 && CU_TENSOR_MAP_SWIZZLE_64B == 2 &&
              CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_L2_PROMOTION_L2_128B == 2 &&
              CU_TENSOR_MAP_INTERLEAVE_NONE == 0 && CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE == 0);
#endif

namespace {

using shim = croq_u32 (*)(const croq_env *, void *const *memory, const croq_i64 *numbers);

struct entry {
  const char *name;
  shim call;
};

int *ints(void *memory) { return static_cast<int *>(memory); }

#define WITH_EXTENT(name)                                                                          \
  {#name, [](const croq_env *env, void *const *memory, const croq_i64 *n) {                        \
     return CONF(name)(env, ints(memory[0]), n[0], n[1]);                                          \
   }}

#define WITH_SOURCE(name, T)                                                                       \
  {#name, [](const croq_env *env, void *const *memory, const croq_i64 *n) {                        \
     return CONF(name)(env, static_cast<T *>(memory[0]), static_cast<const T *>(memory[1]), n[0],  \
                       n[1]);                                                                      \
   }}

const entry entries[] = {
    {"convert", CONF(convert)},
    {"compute", CONF(compute)},
    {"math", CONF(math)},
    {"atomics", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(atomics)(env, memory[0], memory[1], memory[2], n[0], n[1]);
     }},
    {"vector_sums", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(vector_sums)(env, memory[0], memory[1], n[0]);
     }},
    {"misplaced_sums", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(misplaced_sums)(env, memory[0], n[0]);
     }},
    {"updates", [](const croq_env *env, void *const *memory, const croq_i64 *) {
       return CONF(updates)(env, ints(memory[0]));
     }},
    {"rotate", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(rotate)(env, ints(memory[0]), n[0], n[1], n[2]);
     }},
    {"ids", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(ids)(env, ints(memory[0]), n[0], n[1], n[2], n[3], n[4], n[5] != 0);
     }},
    {"foreign", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(foreign)(env, static_cast<float *>(memory[0]), ints(memory[1]), n[0]);
     }},
    {"lanes", [](const croq_env *env, void *const *memory, const croq_i64 *) {
       return CONF(lanes)(env, ints(memory[0]));
     }},
    WITH_EXTENT(named),
    WITH_EXTENT(warps),
    WITH_EXTENT(agree),
    WITH_EXTENT(leave),
    WITH_EXTENT(checks),
    WITH_EXTENT(stop_among_waiters),
    {"widths", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(widths)(env, static_cast<unsigned char *>(memory[0]),
                           static_cast<const unsigned char *>(memory[1]), n[0]);
     }},
    {"tma_load", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(tma_load)(env, memory[0], memory[1], n);
     }},
    {"tma_store", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(tma_store)(env, memory[0], memory[1], n);
     }},
    {"ring_of_boxes", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(ring_of_boxes)(env, ints(memory[0]), ints(memory[1]), n[0], n[1]);
     }},
    {"multiply", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(multiply)(env, memory[0], memory[1], memory[2], n[0]);
     }},
    WITH_EXTENT(into_fragments),
    {"multiply_sparse", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(multiply_sparse)(env, memory[0], memory[1], memory[2], memory[3], n[0]);
     }},
    {"warpgroup_sparse", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(warpgroup_sparse)(env, memory[0], memory[1], memory[2], n);
     }},
    {"warpgroup", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(warpgroup)(env, memory[0], memory[1], n);
     }},
    {"members", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(members)(env, ints(memory[0]), n);
     }},
    {"rounds", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(rounds)(env, ints(memory[0]), ints(memory[1]), n);
     }},
    {"gather", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(gather)(env, ints(memory[0]), ints(memory[1]), n[0], n[1], n[2]);
     }},
    {"baton", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(baton)(env, ints(memory[0]), n[0], n[1], n[2]);
     }},
    {"boxes_for_all", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(boxes_for_all)(env, ints(memory[0]), ints(memory[1]), n);
     }},
    {"box_for_both", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(box_for_both)(env, ints(memory[0]), ints(memory[1]), n[0]);
     }},
    WITH_EXTENT(load_matrices),
    WITH_EXTENT(store_matrices),
    WITH_EXTENT(phases),
    WITH_EXTENT(pipeline),
    WITH_SOURCE(zfill, unsigned char),
    WITH_SOURCE(ring, int),
};

}  // namespace

/* The entry with this name, or null. */
extern "C" shim CONF(find)(const char *name) {
  for (const entry &e : entries) {
    const char *a = e.name, *b = name;
    while (*a != 0 && *a == *b) ++a, ++b;
    if (*a == *b) return e.call;
  }
  return nullptr;
}
