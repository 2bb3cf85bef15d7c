/* TMA copies of boxes: the bytes that they move, and reports. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "tma.co"

/* A tensor as described by tests: rank, element bytes, swizzle; then five each of extents, strides,
 * box extents and coordinates; then the number of bytes to expect. */
struct request {
  croq::idx rank, element_bytes, swizzle, extents[5], strides[5], box[5], at[5], expected;
};
struct place {
  croq::idx at[5];
};

template <unsigned R> struct first_of;
#define FIRST_OF(dimensions, ...)                                                                        \
  template <> struct first_of<dimensions> {                                                              \
    template <class T>                                                                             \
    static CROQ_DEVICE void load(croq::watched<T> s, const croq::tensor_map &map, place p,         \
                                 croq::mbarriers b) {                                              \
      croq::tma_load<dimensions>(s, 0, map, {__VA_ARGS__}, b, 0);                                        \
    }                                                                                              \
    template <class T>                                                                             \
    static CROQ_DEVICE void store(const croq::tensor_map &map, place p, croq::watched<T> s) {      \
      croq::tma_store<dimensions>(map, {__VA_ARGS__}, s, 0);                                             \
    }                                                                                              \
  };
FIRST_OF(1, p.at[0])
FIRST_OF(2, p.at[0], p.at[1])
FIRST_OF(3, p.at[0], p.at[1], p.at[2])
FIRST_OF(4, p.at[0], p.at[1], p.at[2], p.at[3])
FIRST_OF(5, p.at[0], p.at[1], p.at[2], p.at[3], p.at[4])

/* A box, and the whole shared memory around it, byte by byte. */
template <unsigned R, class T>
CROQ_KERNEL(32) void load_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<unsigned char> d, place p, croq::idx expected) {
  croq::watched<T> s = croq::watched_at<T>(0, 32768 / sizeof(T), "s");
  croq::watched<unsigned char> bytes = croq::watched_at<unsigned char>(0, 32768, "bytes");
  croq::mbarriers b = croq::mbarriers_at(32768, 1, "b");
  for (croq::idx i = croq::tid(); i < 32768; i += 32) bytes.store(i, 0xee);
  croq::fence_proxy_async();
  if (croq::tid() == 0) {
    croq::mbarrier_init(b, 0, 1);
    croq::fence_mbarrier_init();
  }
  croq::barrier();
  if (croq::tid() == 0) {
    croq::mbarrier_arrive_expect_tx(b, 0, static_cast<unsigned>(expected));
    first_of<R>::load(s, map, p, b);
  }
  croq::mbarrier_wait(ctx, b, 0, 0);
  for (croq::idx i = croq::tid(); i < 32768; i += 32) d.store(i, bytes.load(i));
}

template <unsigned R, class T>
CROQ_KERNEL(32) void store_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<const unsigned char> src, place p) {
  croq::watched<T> s = croq::watched_at<T>(0, 32768 / sizeof(T), "s");
  croq::watched<unsigned char> bytes = croq::watched_at<unsigned char>(0, 32768, "bytes");
  for (croq::idx i = croq::tid(); i < 32768; i += 32) bytes.store(i, src.load(i));
  croq::fence_proxy_async();
  croq::barrier();
  if (croq::tid() == 0) {
    first_of<R>::store(map, p, s);
    croq::bulk_commit();
    croq::bulk_wait_read<0>();
  }
}

/* A producer thread keeps four boxes in flight while the others add them up. */
CROQ_KERNEL(96) void ring_of_boxes_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<int> d, croq::idx steps) {
  croq::watched<int> ring = croq::watched_at<int>(0, 4 * 256, "ring");
  croq::mbarriers full = croq::mbarriers_at(8192, 4, "full");
  croq::mbarriers empty = croq::mbarriers_at(8224, 4, "empty");
  if (croq::tid() == 0) {
    for (croq::idx s = 0; s < 4; ++s) {
      croq::mbarrier_init(full, s, 1);
      croq::mbarrier_init(empty, s, 64);
    }
    croq::fence_mbarrier_init();
  }
  croq::barrier();
  if (croq::tid() < 32) {
    if (croq::tid() == 0)
      for (croq::idx k = 0; k < steps; ++k) {
        const croq::idx s = k % 4;
        croq::mbarrier_wait(ctx, empty, s, (static_cast<unsigned>(k / 4) & 1u) ^ 1u);
        croq::mbarrier_arrive_expect_tx(full, s, 1024);
        croq::tma_load<2>(ring, s * 256, map, {0, k * 8}, full, s);
      }
  } else {
    int sum = 0;
    for (croq::idx k = 0; k < steps; ++k) {
      const croq::idx s = k % 4;
      croq::mbarrier_wait(ctx, full, s, static_cast<unsigned>(k / 4) & 1u);
      for (croq::idx i = 0; i < 4; ++i)
        sum += ring.load(s * 256 + croq::swizzle<128>(((croq::tid() - 32) * 4 + i) * 4) / 4);
      croq::mbarrier_arrive(empty, s);
    }
    d.store(croq::tid() - 32, sum);
  }
}

/* Two groups of stores from two sources; writes to the sources after the wait for the first. */
CROQ_KERNEL(32) void groups_of_stores_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::idx what) {
  croq::watched<int> s = croq::watched_at<int>(0, 512, "s");
  for (croq::idx i = croq::tid(); i < 512; i += 32) s.store(i, static_cast<int>(i));
  croq::fence_proxy_async();
  croq::barrier();
  if (croq::tid() == 0) {
#line 118 "tma.co"
    croq::tma_store<2>(map, {0, 0}, s, 0);
    croq::bulk_commit();
#line 120 "tma.co"
    croq::tma_store<2>(map, {0, 8}, s, 256);
    croq::bulk_commit();
    if (what == 1)
#line 123 "tma.co"
      s.store(0, -1);
    croq::bulk_wait_read<1>();
    if (what == 2) s.store(0, -1);
    if (what == 3)
#line 127 "tma.co"
      s.store(511, -1);
    if (what != 4) croq::bulk_wait<0>();
  }
}

CROQ_KERNEL(32) void misused_boxes_0([[maybe_unused]] croq::context ctx, CROQ_GRID_CONSTANT const croq::tensor_map map, croq::global<int> d, croq::idx what) {
  croq::watched<int> s = croq::watched_at<int>(0, 1024, "s");
  croq::mbarriers b = croq::mbarriers_at(8192, 2, "b");
  if (croq::tid() == 0) {
#line 140 "tma.co"
    croq::mbarrier_init(b, 0, 1);
    if (what != 5) croq::fence_mbarrier_init();
  }
  croq::barrier();
  if (what <= 2 || what == 13) {
#line 145 "tma.co"
    s.store(croq::tid() * 8, 1);
    if (what == 0 || what == 13 || (what == 2 && croq::tid() == 0)) croq::fence_proxy_async();
    croq::barrier();
    if (croq::tid() == 0) {
#line 149 "tma.co"
      croq::tma_store<2>(map, {0, what == 13 ? -1 : 0}, s, 0);
      croq::bulk_commit();
      croq::bulk_wait<0>();
    }
    return;
  }
  if (croq::tid() == 0) {
#line 156 "tma.co"
    croq::mbarrier_arrive_expect_tx(b, 0, what == 3 ? 1000 : what == 4 ? 1040 : 1024);
#line 157 "tma.co"
    croq::tma_load<2>(s, what == 6 ? 16 : what == 7 ? 32 : 0, map, {0, what == 8 ? 1ll << 31 : 0}, b, 0);
    if (what == 9)
#line 159 "tma.co"
      croq::tma_load<2>(s, 0, map, {0, 0}, b, 0);
  }
  if (what == 10)
#line 162 "tma.co"
    d.store(croq::tid(), s.load(croq::tid()));
  if (what == 11) return;
#line 164 "tma.co"
  croq::mbarrier_wait(ctx, b, 0, 0);
  d.store(croq::tid(), s.load(croq::tid()));
}
#line 168 "tma.cc"

template <unsigned R, class T, class B>
bool make(croq::host &host, croq::tensor_map &map, const croq::global<B> &memory,
          const request &r) {
  croq::tensor_layout<R> layout;
  for (unsigned d = 0; d < R; ++d) {
    layout.extents[d] = r.extents[d];
    layout.strides[d] = r.strides[d];
    layout.box[d] = r.box[d];
  }
  layout.swizzle = static_cast<unsigned>(r.swizzle);
  return croq::make_tensor_map(host, map, memory, layout, 7);
}

template <unsigned R, class T>
void load(croq::host &host, void *data, const void *src, const request &r) {
  croq::tensor_map map;
  place p;
  for (int d = 0; d < 5; ++d) p.at[d] = r.at[d];
  if (make<R, T>(host, map, croq::bind<const T>(src, 65536 / sizeof(T), "src"), r))
    host.launch<decltype(&load_0<R, T>), &load_0<R, T>>(
        "load_0", croq::grid{1, 1, 1}, 32, 32768 + 8, croq::async_proxy, map,
        croq::bind<unsigned char>(data, 32768, "data"), p, r.expected);
}
template <unsigned R, class T>
void store(croq::host &host, void *data, const void *src, const request &r) {
  croq::tensor_map map;
  place p;
  for (int d = 0; d < 5; ++d) p.at[d] = r.at[d];
  if (make<R, T>(host, map, croq::bind<T>(data, 65536 / sizeof(T), "data"), r))
    host.launch<decltype(&store_0<R, T>), &store_0<R, T>>(
        "store_0", croq::grid{1, 1, 1}, 32, 32768, croq::async_proxy, map,
        croq::bind<const unsigned char>(src, 32768, "src"), p);
}

request read(const croq_i64 *n) {
  request r;
  r.rank = n[0], r.element_bytes = n[1], r.swizzle = n[2];
  for (int d = 0; d < 5; ++d) {
    r.extents[d] = n[3 + d];
    r.strides[d] = n[8 + d];
    r.box[d] = n[13 + d];
    r.at[d] = n[18 + d];
  }
  r.expected = n[23];
  return r;
}
}  // namespace

#define ONE_OF(function, dimensions, T)                                                            \
  if (r.rank == dimensions && r.element_bytes == sizeof(T)) function<dimensions, T>(host, data, src, r);
#define SHIM_OF_BOXES(name, function)                                                              \
  extern "C" croq_u32 CONF(name)(const croq_env *env, void *data, const void *src,                 \
                                 const croq_i64 *numbers) {                                        \
    croq::host host(env, "tma.co");                                                                \
    const request r = read(numbers);                                                               \
    ONE_OF(function, 1, float)                                                                     \
    ONE_OF(function, 2, unsigned char)                                                             \
    ONE_OF(function, 2, croq::bf16)                                                                \
    ONE_OF(function, 2, float)                                                                     \
    ONE_OF(function, 2, long long)                                                                 \
    ONE_OF(function, 3, croq::bf16)                                                                \
    ONE_OF(function, 4, float)                                                                     \
    ONE_OF(function, 5, unsigned char)                                                             \
    return host.status();                                                                          \
  }
SHIM_OF_BOXES(tma_load, load)
SHIM_OF_BOXES(tma_store, store)

/* A tensor of `rows` rows of 32 ints, in boxes of 8 rows. */
#define SHIM_OF_ROWS(name, swizzled, ...)                                                          \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, int *rows, croq_i64 count,        \
                                 croq_i64 at) {                                                    \
    croq::host host(env, "tma.co");                                                                \
    const auto memory = croq::bind<int>(rows, count * 32, "rows");                                 \
    [[maybe_unused]] const auto out = croq::bind<int>(data, 64, "data");                           \
    croq::tensor_map map;                                                                          \
    const croq::tensor_layout<2> layout = {{32, count}, {1, 32}, {32, 8}, swizzled};               \
    if (croq::make_tensor_map(host, map, memory, layout, 7))                                       \
      host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{1, 1, 1}, __VA_ARGS__,    \
                                                  croq::idx(at));                                  \
    return host.status();                                                                          \
  }
SHIM_OF_ROWS(ring_of_boxes, 128, 96, 8256, croq::asynchronous, map, out)
SHIM_OF_ROWS(groups_of_stores, 0, 32, 8256, croq::async_proxy, map)
SHIM_OF_ROWS(misused_boxes, (at == 7 ? 128u : 0u), 32, 8256, croq::async_proxy, map, out)

static_assert(croq::swizzle<0>(4711) == 4711 && croq::swizzle<128>(1023) == 911,
              "it is known to the compiler");
extern "C" croq_i64 CONF(swizzle)(croq_i64 width, croq_i64 at) {
  return width == 128  ? croq::swizzle<128>(at)
         : width == 64 ? croq::swizzle<64>(at)
         : width == 32 ? croq::swizzle<32>(at)
                       : croq::swizzle<0>(at);
}
extern "C" croq_i64 CONF(swizzled)(croq_i64 width, croq_i64 row, croq_i64 byte, croq_i64 rows) {
  return width == 128  ? croq::swizzled<128>(row, byte, rows)
         : width == 64 ? croq::swizzled<64>(row, byte, rows)
                       : croq::swizzled<32>(row, byte, rows);
}
