/* ldmatrix and stmatrix: the bytes of each lane, and reports. */
#include "croq.h"
#include "shims.h"

namespace {
#line 1 "matrices.co"

/* The start of a lane's row: in any order, with gaps. */
CROQ_FN croq::idx row_of(croq::idx lane) { return (lane * 5 + 3) % 32 * 24; }

template <unsigned N, bool Transposed>
CROQ_DEVICE void load(croq::global<int> d, croq::watched<short> s) {
  unsigned got[N];
  croq::ldmatrix<N, Transposed>(got, s, row_of(croq::tid()));
  for (unsigned m = 0; m < N; ++m)
    d.store(croq::tid() * 4 + m, static_cast<int>(got[m]));
}
template <unsigned N, bool Transposed> CROQ_DEVICE void put(croq::watched<short> s) {
  unsigned given[N];
  for (unsigned m = 0; m < N; ++m) given[m] = static_cast<unsigned>(croq::tid() * 4 + m) * 0x10003u;
  croq::stmatrix<N, Transposed>(s, row_of(croq::tid()), given);
}

/* `which` selects the number of matrices, and whether they are transposed. */
CROQ_KERNEL(32) void load_matrices_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx which) {
  croq::watched<short> s = croq::watched_at<short>(0, 768, "s");
  for (croq::idx i = croq::tid(); i < 768; i += 32) s.store(i, static_cast<short>(i));
  croq::barrier();
  if (which == 0) load<1, false>(d, s);
  if (which == 1) load<1, true>(d, s);
  if (which == 2) load<2, false>(d, s);
  if (which == 3) load<2, true>(d, s);
  if (which == 4) load<4, false>(d, s);
  if (which == 5) load<4, true>(d, s);
}
CROQ_KERNEL(32) void store_matrices_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx which) {
  croq::watched<short> s = croq::watched_at<short>(0, 768, "s");
  for (croq::idx i = croq::tid(); i < 768; i += 32) s.store(i, -1);
  croq::barrier();
  if (which == 0) put<1, false>(s);
  if (which == 1) put<1, true>(s);
  if (which == 2) put<2, false>(s);
  if (which == 3) put<2, true>(s);
  if (which == 4) put<4, false>(s);
  if (which == 5) put<4, true>(s);
  croq::barrier();
  for (croq::idx i = croq::tid(); i < 768; i += 32) d.store(i, s.load(i));
}

/* Illegal rows; lanes whose address is not used may pass any. */
CROQ_KERNEL(32) void bad_rows_0([[maybe_unused]] croq::context ctx, croq::global<int> d, croq::idx which) {
  croq::watched<short> s = croq::watched_at<short>(0, 256, "s");
  s.store(croq::tid() * 8, 7);
  croq::barrier();
  unsigned got[2] = {0, 0};
  const croq::idx lane = croq::tid(), bad = which == 0 ? 256 : which == 1 ? 4 : -8;
  const croq::idx from = which == 3 ? 16 : 9;
#line 60 "matrices.co"
  croq::ldmatrix<2>(got, s, lane >= from ? bad : lane * 8);
  d.store(lane, static_cast<int>(got[0]));
}
#line 68 "matrices.cc"
}  // namespace

#define SHIM_OF_MATRICES(name)                                                                     \
  extern "C" croq_u32 CONF(name)(const croq_env *env, int *data, croq_i64 extent, croq_i64 at) {  \
    croq::host host(env, "matrices.co");                                                           \
    host.launch<decltype(&name##_0), &name##_0>(#name "_0", croq::grid{1, 1, 1}, 32, 2048,         \
                                                croq::asynchronous,                                \
                                                croq::bind<int>(data, extent, "data"),             \
                                                croq::idx(at));                                    \
    return host.status();                                                                          \
  }
SHIM_OF_MATRICES(load_matrices)
SHIM_OF_MATRICES(store_matrices)
SHIM_OF_MATRICES(bad_rows)
