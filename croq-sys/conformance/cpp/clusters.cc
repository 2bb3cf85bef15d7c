/* Clusters: positions, the order by their barrier and by remote arrivals, multicasts. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "clusters.co"

/* Every block stores its position. */
CROQ_KERNEL(32) void members_0([[maybe_unused]] croq::context ctx, croq::global<int> d) {
  if (croq::tid() != 0) return;
  const croq::idx block =
      croq::block_x() + static_cast<croq::idx>(gridDim.x) * (croq::block_y() + static_cast<croq::idx>(gridDim.y) * croq::block_z());
  const croq::idx at = block * 4;
  d.add(at, croq::to<int>(croq::cluster_rank()));
  d.add(at + 1, croq::to<int>(croq::cluster_x()));
  d.add(at + 2, croq::to<int>(croq::cluster_y()));
  d.add(at + 3, croq::to<int>(croq::cluster_z()));
}

/* In each round, each block writes its part of `d`, and adds up the parts of the others after a
 * barrier; a third of the threads of the last block exits early. */
CROQ_KERNEL(48) void gather_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::global<int> sums,
                              croq::idx blocks, croq::idx rounds) {
  const croq::idx rank = croq::cluster_rank(), t = croq::tid();
  const croq::idx cluster = croq::block_x() / blocks * blocks;
  int sum = 0;
  for (croq::idx k = 0; k < rounds; ++k) {
    if (rank == blocks - 1 && t >= 32 && k > 0) return;
    d.store((cluster + rank) * 48 + t, croq::to<int>(k * 1000 + rank * 100 + t));
    croq::cluster_arrive();
    sum *= 3;
    croq::cluster_wait();
    for (croq::idx r = 0; r < blocks; ++r) sum += d.load((cluster + r) * 48 + (t + 1) % 32);
    croq::barrier_cluster();
  }
  sums.store((cluster + rank) * 48 + t, sum);
}

/* A token goes around the blocks of a cluster: each arrives at the mbarrier of the next. */
CROQ_KERNEL(32) void baton_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx blocks,
                             croq::idx rounds) {
  croq::mbarriers b = croq::mbarriers_at(16, 2, "baton");
  const croq::idx rank = croq::cluster_rank();
  const croq::idx cluster = croq::block_x() / blocks;
  if (croq::tid() == 0) {
    croq::mbarrier_init(b, 1, 1);
    croq::fence_mbarrier_init();
  }
  croq::barrier_cluster();
  if (croq::tid() == 0)
    for (croq::idx k = 0; k < rounds; ++k) {
      if (rank != 0 || k != 0)
        croq::mbarrier_wait_cluster(ctx, b, 1, static_cast<unsigned>((rank == 0 ? k - 1 : k) & 1));
      const croq::idx at = d.load(cluster * 256);
      d.store(cluster * 256, croq::to<int>(at + 1));
      d.store(cluster * 256 + 1 + at, croq::to<int>(rank));
      croq::fence_device();
      if (rank != blocks - 1 || k != rounds - 1)
        croq::mbarrier_arrive_remote(b, 1, static_cast<unsigned>((rank + 1) % blocks));
    }
  /* The block must not exit before the last arrival at its mbarrier. */
  croq::barrier_cluster();
}

/* In each round, boxes of 8 rows by 32 ints for the blocks whose bits are set; then all of shared
 * memory is stored. */
CROQ_KERNEL(32) void boxes_for_all_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<int> d, croq::idx mask,
                                     croq::idx rounds) {
  croq::watched<int> s = croq::watched_at<int>(1024, 512, "s");
  croq::mbarriers b = croq::mbarriers_at(0, 1, "b");
  const croq::idx rank = croq::cluster_rank();
  const bool takes = (mask >> rank & 1) != 0;
  for (croq::idx i = croq::tid(); i < 512; i += 32) s.store(i, -1);
  croq::fence_proxy_async();
  if (croq::tid() == 0) {
    croq::mbarrier_init(b, 0, 1);
    croq::fence_mbarrier_init();
  }
  croq::barrier_cluster();
  for (croq::idx k = 0; k < rounds; ++k) {
    const croq::idx from = k * 8 + 16 * (croq::block_x() - rank);
    if (croq::tid() == 0) {
      if (takes) croq::mbarrier_arrive_expect_tx(b, 0, 1024);
      if (rank == 0)
        croq::tma_load_multicast<2>(s, 256, map, {0, from}, b, 0, static_cast<unsigned>(mask));
    }
    if (takes) croq::mbarrier_wait(ctx, b, 0, static_cast<unsigned>(k & 1));
    for (croq::idx i = croq::tid(); i < 512; i += 32)
      d.store((croq::block_x() * rounds + k) * 512 + i, s.load(i));
    croq::barrier_cluster();
  }
}

/* Tensors of every rank, to a cluster of two. */
template <unsigned R> struct everywhere;
#define EVERYWHERE(dimensions, ...)                                                                \
  template <> struct everywhere<dimensions> {                                                      \
    static CROQ_DEVICE void load(croq::watched<int> s, const croq::tensor_map &map,                \
                                 croq::mbarriers b) {                                              \
      croq::tma_load_multicast<dimensions>(s, 0, map, {__VA_ARGS__}, b, 0, 3);                     \
    }                                                                                              \
  };
EVERYWHERE(1, 4)
EVERYWHERE(2, 4, 1)
EVERYWHERE(3, 4, 1, 1)
EVERYWHERE(4, 4, 1, 1, 1)
EVERYWHERE(5, 4, 1, 1, 1, 1)
template <unsigned R>
CROQ_KERNEL(32) void box_for_both_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<int> d) {
  croq::watched<int> s = croq::watched_at<int>(0, 256, "s");
  croq::mbarriers b = croq::mbarriers_at(1024, 1, "b");
  if (croq::tid() == 0) {
    croq::mbarrier_init(b, 0, 1);
    croq::fence_mbarrier_init();
  }
  croq::barrier_cluster();
  if (croq::tid() == 0) {
    croq::mbarrier_arrive_expect_tx(b, 0, 16 << (R - 1));
    if (croq::cluster_rank() == 0) everywhere<R>::load(s, map, b);
  }
  croq::mbarrier_wait(ctx, b, 0, 0);
  for (croq::idx i = croq::tid(); i < 4 << (R - 1); i += 32)
    d.store(croq::block_x() * 64 + i, s.load(i));
  croq::barrier_cluster();
}

CROQ_KERNEL(64) void misused_clusters_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<int> d, croq::idx what) {
  croq::watched<int> s = croq::watched_at<int>(1024, 512, "s");
  croq::mbarriers b = croq::mbarriers_at(0, 2, "b");
  const croq::idx rank = croq::cluster_rank();
  if (what == 0 && rank == 1 && croq::tid() >= 32) return;
  if (what == 0 && rank == 1)
#line 205 "clusters.co"
    croq::barrier();
  if (what == 0 && rank == 0 && croq::tid() == 5)
#line 207 "clusters.co"
    croq::barrier_warp(0x60);
  if (what == 1)
#line 209 "clusters.co"
    croq::cluster_wait();
  if (what == 2) {
    croq::cluster_arrive();
#line 212 "clusters.co"
    croq::cluster_arrive();
  }
  if (croq::tid() == 0) {
    croq::mbarrier_init(b, 0, 1);
    if (what != 3 || rank == 0) croq::fence_mbarrier_init();
  }
#line 218 "clusters.co"
  croq::barrier_cluster();
  if (croq::tid() == 0 && rank == 0) {
    if (what == 4)
#line 221 "clusters.co"
      croq::mbarrier_arrive_remote(b, 0, 2);
    if (what == 5)
#line 223 "clusters.co"
      croq::mbarrier_arrive_remote(b, 1, 1);
    if (what == 3 || what == 6)
#line 225 "clusters.co"
      croq::tma_load_multicast<2>(s, 0, map, {0, 0}, b, 0, what == 6 ? 7 : 3);
    if (what == 7)
#line 227 "clusters.co"
      croq::tma_load_multicast<2>(s, 0, map, {0, 0}, b, 0, 3);
  }
  /* No block exits. */
  if (what == 3 || (what >= 5 && what <= 7)) croq::barrier_cluster();
  if (what == 7) {
    /* The other block has not announced bytes, and exits. */
    if (rank == 1) return;
    if (croq::tid() == 0) croq::mbarrier_arrive_expect_tx(b, 0, 1024);
    croq::mbarrier_wait(ctx, b, 0, 0);
  }
  if (what == 8) {
    if (rank == 1) return;
    for (int k = 0; k < 4; ++k) croq::barrier();
    if (croq::tid() == 0)
#line 240 "clusters.co"
      croq::mbarrier_arrive_remote(b, 0, 1);
  }
  d.store(croq::tid(), 1);
}
#line 166 "clusters.cc"

croq::clustered in_clusters(croq_i64 blocks, croq_i64 size) {
  return {{blocks, 1, 1}, {size, 1, 1}};
}

bool rows_of(croq::host &host, croq::tensor_map &map, int *rows, croq_i64 count) {
  const croq::tensor_layout<2> layout = {{32, count}, {1, 32}, {32, 8}, 0};
  return croq::make_tensor_map(host, map, croq::bind<int>(rows, count * 32, "rows"), layout, 7);
}

/* A tensor of `R` dimensions whose box is 4 by 2 by 2 …. */
template <unsigned R> void both(croq::host &host, int *data, int *source) {
  croq::tensor_layout<R> layout;
  croq::idx stride = 1;
  for (unsigned d = 0; d < R; ++d) {
    layout.extents[d] = d == 0 ? 12 : 3;
    layout.strides[d] = stride;
    layout.box[d] = d == 0 ? 4 : 2;
    stride *= layout.extents[d];
  }
  layout.swizzle = 0;
  croq::tensor_map map;
  if (croq::make_tensor_map(host, map, croq::bind<int>(source, 12 * 81, "source"), layout, 7))
    host.launch<decltype(&box_for_both_0<R>), &box_for_both_0<R>>(
        "box_for_both_0", in_clusters(2, 2), 32, 1032, croq::async_proxy, map,
        croq::bind<int>(data, 128, "data"));
}
}  // namespace

extern "C" croq_u32 CONF(members)(const croq_env *env, int *data, const croq_i64 *n) {
  croq::host host(env, "clusters.co");
  const croq::clustered of = {{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
  const auto d = croq::bind<int>(data, n[0] * n[1] * n[2] * 4, "data");
  using kernel = decltype(&members_0);
  if (n[6] != 0) host.launch<kernel, &members_0>("members_0", of, 32, 0, croq::waits, d);
  else host.launch<kernel, &members_0>("members_0", of, 32, 0, croq::plain, d);
  return host.status();
}

extern "C" croq_u32 CONF(gather)(const croq_env *env, int *data, int *sums, croq_i64 blocks,
                                croq_i64 size, croq_i64 rounds) {
  croq::host host(env, "clusters.co");
  host.launch<decltype(&gather_0), &gather_0>(
      "gather_0", in_clusters(blocks, size), 48, 0, croq::waits,
      croq::bind<int>(data, blocks * 48, "data"), croq::bind<int>(sums, blocks * 48, "sums"),
      croq::idx(size), croq::idx(rounds));
  return host.status();
}

extern "C" croq_u32 CONF(baton)(const croq_env *env, int *data, croq_i64 blocks, croq_i64 size,
                               croq_i64 rounds) {
  croq::host host(env, "clusters.co");
  host.launch<decltype(&baton_0), &baton_0>(
      "baton_0", in_clusters(blocks, size), 32, 32, croq::asynchronous,
      croq::bind<int>(data, blocks / size * 256, "data"), croq::idx(size), croq::idx(rounds));
  return host.status();
}

extern "C" croq_u32 CONF(boxes_for_all)(const croq_env *env, int *data, int *rows,
                                        const croq_i64 *n) {
  croq::host host(env, "clusters.co");
  const croq_i64 count = n[0], blocks = n[1], size = n[2], mask = n[3], rounds = n[4];
  croq::tensor_map map;
  if (rows_of(host, map, rows, count))
    host.launch<decltype(&boxes_for_all_0), &boxes_for_all_0>(
        "boxes_for_all_0", in_clusters(blocks, size), 32, 3072, croq::async_proxy, map,
        croq::bind<int>(data, blocks * rounds * 512, "data"), croq::idx(mask), croq::idx(rounds));
  return host.status();
}

extern "C" croq_u32 CONF(box_for_both)(const croq_env *env, int *data, int *source, croq_i64 rank) {
  croq::host host(env, "clusters.co");
  if (rank == 1) both<1>(host, data, source);
  if (rank == 2) both<2>(host, data, source);
  if (rank == 3) both<3>(host, data, source);
  if (rank == 4) both<4>(host, data, source);
  if (rank == 5) both<5>(host, data, source);
  return host.status();
}

extern "C" croq_u32 CONF(misused_clusters)(const croq_env *env, int *data, int *rows, croq_i64 count,
                                           croq_i64 what) {
  croq::host host(env, "clusters.co");
  croq::tensor_map map;
  if (rows_of(host, map, rows, count))
    host.launch<decltype(&misused_clusters_0), &misused_clusters_0>(
        "misused_clusters_0", in_clusters(4, 2), 64, 3072, croq::async_proxy, map,
        croq::bind<int>(data, 64, "data"), croq::idx(what));
  return host.status();
}
