/* Sizes and offsets of the ABI, as the header lays them out. */
#include "croq_abi.h"

#include <cstddef>

#define FIELD(type, field) {#type "." #field, offsetof(type, field)}
#define SIZE(type) {#type, sizeof(type)}

namespace {
struct place {
  const char *name;
  std::size_t bytes;
};
const place places[] = {
    SIZE(croq_failure), FIELD(croq_failure, kind), FIELD(croq_failure, check),
    FIELD(croq_failure, line), FIELD(croq_failure, thread), FIELD(croq_failure, block),
    FIELD(croq_failure, value_count), FIELD(croq_failure, values), FIELD(croq_failure, what),
    SIZE(croq_sim_thread), FIELD(croq_sim_thread, tid), FIELD(croq_sim_thread, block),
    FIELD(croq_sim_thread, grid),
    FIELD(croq_sim_thread, threads), FIELD(croq_sim_thread, shared),
    FIELD(croq_sim_thread, shared_bytes), FIELD(croq_sim_thread, marks),
    FIELD(croq_sim_thread, writers), FIELD(croq_sim_thread, written), FIELD(croq_sim_thread, order), FIELD(croq_sim_thread, device), FIELD(croq_sim_thread, schedule), FIELD(croq_sim_thread, fences),
    FIELD(croq_sim_thread, cluster), FIELD(croq_sim_thread, product_fences),
    FIELD(croq_sim_thread, turns), FIELD(croq_sim_thread, changes), FIELD(croq_sim_thread, steps), FIELD(croq_sim_thread, budget), FIELD(croq_sim_thread, lanes),
    FIELD(croq_sim_thread, arena), FIELD(croq_sim_thread, arena_bytes), FIELD(croq_sim_thread, stack_end), FIELD(croq_sim_thread, finds_unwritten), FIELD(croq_sim_thread, runtime),
    SIZE(croq_sim_cell), FIELD(croq_sim_cell, written), FIELD(croq_sim_cell, writer),
    FIELD(croq_sim_cell, read), FIELD(croq_sim_cell, reader),
    SIZE(croq_sim_order), FIELD(croq_sim_order, epoch), FIELD(croq_sim_order, asks),
    FIELD(croq_sim_order, plane), FIELD(croq_sim_order, cells),
    SIZE(croq_sim_device_cell), FIELD(croq_sim_device_cell, written),
    FIELD(croq_sim_device_cell, writer), FIELD(croq_sim_device_cell, read),
    FIELD(croq_sim_device_cell, reader), FIELD(croq_sim_device_cell, read_too),
    FIELD(croq_sim_device_cell, reader_too), FIELD(croq_sim_device_cell, value),
    FIELD(croq_sim_device_cell, other),
    SIZE(croq_sim_device_cells), FIELD(croq_sim_device_cells, first),
    FIELD(croq_sim_device_cells, touched),
    SIZE(croq_sim_device), FIELD(croq_sim_device, epoch), FIELD(croq_sim_device, first),
    FIELD(croq_sim_device, before), FIELD(croq_sim_device, asks), FIELD(croq_sim_device, buffers),
    SIZE(croq_sim_schedule), FIELD(croq_sim_schedule, start), FIELD(croq_sim_schedule, step),
    FIELD(croq_sim_schedule, first_thread), FIELD(croq_sim_schedule, thread_step),
    SIZE(croq_sim_tracked), FIELD(croq_sim_tracked, name), FIELD(croq_sim_tracked, memory),
    FIELD(croq_sim_tracked, count), FIELD(croq_sim_tracked, element_bytes),
    FIELD(croq_sim_tracked, escapes),
    SIZE(croq_sim_launch), FIELD(croq_sim_launch, kernel), FIELD(croq_sim_launch, file),
    FIELD(croq_sim_launch, grid), FIELD(croq_sim_launch, cluster),
    FIELD(croq_sim_launch, threads),
    FIELD(croq_sim_launch, shared_bytes), FIELD(croq_sim_launch, arena_bytes), FIELD(croq_sim_launch, flags),
    FIELD(croq_sim_launch, closure), FIELD(croq_sim_launch, run),
    FIELD(croq_sim_launch, run_blocks),
    SIZE(croq_sim_api), FIELD(croq_sim_api, abi_version), FIELD(croq_sim_api, launch),
    FIELD(croq_sim_api, barrier), FIELD(croq_sim_api, barrier_named),
    FIELD(croq_sim_api, barrier_arrive), FIELD(croq_sim_api, barrier_warp), FIELD(croq_sim_api, stop), FIELD(croq_sim_api, print),
    FIELD(croq_sim_api, touch), FIELD(croq_sim_api, copy_async),
    FIELD(croq_sim_api, commit_copies), FIELD(croq_sim_api, wait_copies),
    FIELD(croq_sim_api, mbarrier), FIELD(croq_sim_api, event_site), FIELD(croq_sim_api, fence),
    FIELD(croq_sim_api, tma_load), FIELD(croq_sim_api, tma_store),
    FIELD(croq_sim_api, bulk_commit), FIELD(croq_sim_api, bulk_wait), FIELD(croq_sim_api, trace),
    FIELD(croq_sim_api, cluster_barrier), FIELD(croq_sim_api, arrive_remote),
    FIELD(croq_sim_api, product), FIELD(croq_sim_api, commit_products),
    FIELD(croq_sim_api, wait_products), FIELD(croq_sim_api, touch_registers),
    FIELD(croq_sim_api, shared_access), FIELD(croq_sim_api, count), FIELD(croq_sim_api, lanes), FIELD(croq_sim_api, use_unwritten),
    FIELD(croq_sim_api, report),
    FIELD(croq_sim_api, device_access),
    FIELD(croq_sim_api, device_atomic), FIELD(croq_sim_api, device_fence),
    SIZE(croq_sim_registers), FIELD(croq_sim_registers, pending),
    FIELD(croq_sim_registers, fences), FIELD(croq_sim_registers, first),
    FIELD(croq_sim_registers, end), FIELD(croq_sim_registers, line), FIELD(croq_sim_registers, unwritten),
    SIZE(croq_sim_unwritten), FIELD(croq_sim_unwritten, name), FIELD(croq_sim_unwritten, index),
    FIELD(croq_sim_unwritten, declared), FIELD(croq_sim_unwritten, read),
    FIELD(croq_sim_unwritten, used), FIELD(croq_sim_unwritten, use_of),
    SIZE(croq_sim_part), FIELD(croq_sim_part, registers), FIELD(croq_sim_part, at),
    FIELD(croq_sim_part, first), FIELD(croq_sim_part, count), FIELD(croq_sim_part, bytes),
    SIZE(croq_sim_factors), FIELD(croq_sim_factors, shared), FIELD(croq_sim_factors, a),
    FIELD(croq_sim_factors, b), FIELD(croq_sim_factors, sums),
    FIELD(croq_sim_factors, registers),
    FIELD(croq_sim_factors, columns),
    FIELD(croq_sim_factors, accumulate), FIELD(croq_sim_factors, written),
    FIELD(croq_sim_factors, number_of_a), FIELD(croq_sim_factors, number_of_b),
    FIELD(croq_sim_factors, unwritten_sums), FIELD(croq_sim_factors, unwritten_a),
    SIZE(croq_sim_product), FIELD(croq_sim_product, a), FIELD(croq_sim_product, b),
    FIELD(croq_sim_product, sums), FIELD(croq_sim_product, registers),
    FIELD(croq_sim_product, columns), FIELD(croq_sim_product, flags),
    FIELD(croq_sim_product, line), FIELD(croq_sim_product, carry_out),
    SIZE(croq_sim_tensor_map), FIELD(croq_sim_tensor_map, memory),
    FIELD(croq_sim_tensor_map, extents), FIELD(croq_sim_tensor_map, strides),
    FIELD(croq_sim_tensor_map, box_extents), FIELD(croq_sim_tensor_map, rank),
    FIELD(croq_sim_tensor_map, element_bytes), FIELD(croq_sim_tensor_map, swizzle),
    SIZE(croq_sim_access), FIELD(croq_sim_access, name), FIELD(croq_sim_access, index),
    FIELD(croq_sim_access, at), FIELD(croq_sim_access, bytes), FIELD(croq_sim_access, line),
    SIZE(croq_env), FIELD(croq_env, abi_version), FIELD(croq_env, device), FIELD(croq_env, stream),
    FIELD(croq_env, sim), FIELD(croq_env, failure), FIELD(croq_env, device_failure),
    FIELD(croq_env, alloc), FIELD(croq_env, steps),
    SIZE(croq_cuda_device_info), FIELD(croq_cuda_device_info, name),
    FIELD(croq_cuda_device_info, major), FIELD(croq_cuda_device_info, minor),
    FIELD(croq_cuda_device_info, memory_bytes),
    FIELD(croq_cuda_device_info, shared_bytes_per_block),
    FIELD(croq_cuda_device_info, multiprocessors),
    SIZE(croq_cuda_api), FIELD(croq_cuda_api, abi_version), FIELD(croq_cuda_api, runtime_version),
    FIELD(croq_cuda_api, device_count), FIELD(croq_cuda_api, device_info),
    FIELD(croq_cuda_api, set_device), FIELD(croq_cuda_api, stream_create),
    FIELD(croq_cuda_api, stream_destroy), FIELD(croq_cuda_api, stream_synchronize),
    FIELD(croq_cuda_api, stream_wait_event), FIELD(croq_cuda_api, event_record),
    FIELD(croq_cuda_api, event_query), FIELD(croq_cuda_api, event_synchronize),
    FIELD(croq_cuda_api, event_destroy),
    FIELD(croq_cuda_api, malloc_async), FIELD(croq_cuda_api, free_async),
    FIELD(croq_cuda_api, copy_to_device), FIELD(croq_cuda_api, copy_to_host),
    FIELD(croq_cuda_api, copy_on_device), FIELD(croq_cuda_api, memset_async),
    FIELD(croq_cuda_api, host_alloc_mapped), FIELD(croq_cuda_api, host_free),
    FIELD(croq_cuda_api, error_string),
};
const place values[] = {
    {"CROQ_ABI_VERSION", CROQ_ABI_VERSION}, {"CROQ_OK", CROQ_OK}, {"CROQ_CHECK", CROQ_CHECK},
    {"CROQ_OUT_OF_BOUNDS", CROQ_OUT_OF_BOUNDS}, {"CROQ_MISALIGNED", CROQ_MISALIGNED},
    {"CROQ_DEADLOCK", CROQ_DEADLOCK}, {"CROQ_OUT_OF_MEMORY", CROQ_OUT_OF_MEMORY},
    {"CROQ_CUDA_ERROR", CROQ_CUDA_ERROR}, {"CROQ_NEEDS_CUDA", CROQ_NEEDS_CUDA},
    {"CROQ_ABI_MISMATCH", CROQ_ABI_MISMATCH},
    {"CROQ_HAZARD", CROQ_HAZARD}, {"CROQ_LAUNCH_ASYNC", CROQ_LAUNCH_ASYNC}, {"CROQ_LAUNCH_PROXIES", CROQ_LAUNCH_PROXIES},
    {"CROQ_MBARRIER_INIT", CROQ_MBARRIER_INIT},
    {"CROQ_MBARRIER_INVALIDATE", CROQ_MBARRIER_INVALIDATE},
    {"CROQ_MBARRIER_ARRIVE", CROQ_MBARRIER_ARRIVE},
    {"CROQ_MBARRIER_EXPECT", CROQ_MBARRIER_EXPECT},
    {"CROQ_MBARRIER_ARRIVE_EXPECT", CROQ_MBARRIER_ARRIVE_EXPECT},
    {"CROQ_MBARRIER_WAIT", CROQ_MBARRIER_WAIT},
    {"CROQ_MBARRIER_TRY_WAIT", CROQ_MBARRIER_TRY_WAIT},
    {"CROQ_SITE_READY", CROQ_SITE_READY}, {"CROQ_SITE_CLUSTER", CROQ_SITE_CLUSTER},
    {"CROQ_FENCE_MBARRIER_INIT", CROQ_FENCE_MBARRIER_INIT},
    {"CROQ_FENCE_PROXY_ASYNC", CROQ_FENCE_PROXY_ASYNC}, {"CROQ_LAUNCH_WAITS", CROQ_LAUNCH_WAITS},
    {"CROQ_LAUNCH_ORDERED", CROQ_LAUNCH_ORDERED}, {"CROQ_CLUSTER_ARRIVE", CROQ_CLUSTER_ARRIVE},
    {"CROQ_CLUSTER_WAIT", CROQ_CLUSTER_WAIT},
    {"CROQ_PRODUCT_TRANSPOSED_A", CROQ_PRODUCT_TRANSPOSED_A},
    {"CROQ_PRODUCT_TRANSPOSED_B", CROQ_PRODUCT_TRANSPOSED_B},
    {"CROQ_PRODUCT_ACCUMULATES", CROQ_PRODUCT_ACCUMULATES},
};
}  // namespace

/* The place numbered `index`, then the constants; null after the last. */
extern "C" const char *conf_layout(std::size_t index, std::size_t *bytes) {
  const std::size_t count = sizeof places / sizeof *places;
  const std::size_t constants = sizeof values / sizeof *values;
  if (index >= count + constants) return nullptr;
  const place &found = index < count ? places[index] : values[index - count];
  *bytes = found.bytes;
  return found.name;
}
