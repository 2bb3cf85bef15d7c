// A product of matrices with CUTLASS, for the peers that instantiate it: its host code, inputs from a
// seed, and a comparison with sums in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"

namespace peer {

// d = alpha * a @ b + beta * c: a of m x k by rows, b of k x n by columns, c and d by rows. Without c if
// its type is void.
template <class Tile, class Cluster, class Schedule, class EpilogueSchedule,
          class Operand = cutlass::half_t, class Source = float, class Result = float>
struct Gemm {
  static constexpr int kOperands = 16 / sizeof(Operand), kResults = 16 / sizeof(Result);
  using Rows = cutlass::layout::RowMajor;
  using Columns = cutlass::layout::ColumnMajor;

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, Source, Rows, kResults, Result,
      Rows, kResults, EpilogueSchedule>::CollectiveOp;
  using Stages = cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
      sizeof(typename Epilogue::SharedStorage))>;
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Operand, Rows, kOperands, Operand,
      Columns, kOperands, float, Tile, Cluster, Stages, Schedule>::CollectiveOp;
  using Kernel =
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
  using Device = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};

// The n-th of a series of numbers from -1 to 1, all of them multiples of 1/64.
inline float number(uint32_t seed, uint32_t n) {
  uint32_t bits = (n + seed * 7919u) * 2654435761u;
  bits ^= bits >> 15;
  bits *= 2246822519u;
  bits ^= bits >> 13;
  return static_cast<float>(static_cast<int>(bits % 129u) - 64) / 64.0f;
}

// A copy of host values in device memory.
template <class Element>
struct Buffer {
  Element* at = nullptr;
  size_t bytes;
  explicit Buffer(const std::vector<Element>& values) : bytes(values.size() * sizeof(Element)) {
    cudaMalloc(reinterpret_cast<void**>(&at), bytes);
    cudaMemcpy(at, values.data(), bytes, cudaMemcpyHostToDevice);
  }
  ~Buffer() { cudaFree(at); }
};

struct Case {
  int m, n, k;
  float alpha, beta;
  // Where the persistent blocks run: with few of them each has several tiles.
  int multiprocessors;
};

// Elements that are wrong, or -1 if CUTLASS or the runtime refuses.
template <class Device>
int run(const Case& sizes) {
  auto [m, n, k, alpha, beta, multiprocessors] = sizes;
  using Operand = typename Device::ElementA;
  using Result = typename Device::ElementD;
  std::vector<Operand> a(size_t(m) * k), b(size_t(n) * k);
  std::vector<float> c(size_t(m) * n);
  std::vector<Result> d(size_t(m) * n, Result(NAN));
  for (size_t i = 0; i < a.size(); ++i) a[i] = Operand(number(1, uint32_t(i)));
  for (size_t i = 0; i < b.size(); ++i) b[i] = Operand(number(2, uint32_t(i)));
  for (size_t i = 0; i < c.size(); ++i) c[i] = number(3, uint32_t(i));
  Buffer<Operand> on_a(a), on_b(b);
  Buffer<float> on_c(c);
  Buffer<Result> on_d(d);

  // Of a product without a batch.
  auto by_rows = [](int width) { return cute::make_stride(int64_t(width), cute::_1{}, int64_t(0)); };
  cutlass::KernelHardwareInfo hardware;
  cudaGetDevice(&hardware.device_id);
  hardware.sm_count = multiprocessors;
  typename Device::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {m, n, k, 1},
                                       {on_a.at, by_rows(k), on_b.at, by_rows(k)},
                                       {{alpha, beta}, on_c.at, by_rows(n), on_d.at, by_rows(n)},
                                       hardware};
  Device gemm;
  std::vector<uint8_t> workspace(Device::get_workspace_size(arguments) + 16);
  Buffer<uint8_t> on_workspace(workspace);
  cutlass::Status status = gemm.can_implement(arguments);
  if (status == cutlass::Status::kSuccess) status = gemm.initialize(arguments, on_workspace.at);
  if (status == cutlass::Status::kSuccess) status = gemm.run();
  cudaError_t error = cudaDeviceSynchronize();
  if (status != cutlass::Status::kSuccess || error != cudaSuccess) {
    std::printf("%d x %d x %d: CUTLASS: %s, CUDA: %s\n", m, n, k, cutlassGetStatusString(status),
                cudaGetErrorString(error));
    return -1;
  }
  cudaMemcpy(d.data(), on_d.at, on_d.bytes, cudaMemcpyDeviceToHost);

  // Products are multiples of 1/4096 and their sums below 4096, but for the last bits exact in f32. A
  // result of 16 bits is rounded once more.
  const double rounding = sizeof(Result) == 2 ? 0x1p-11 : 0;
  std::vector<double> left(a.size()), right(b.size());
  for (size_t i = 0; i < a.size(); ++i) left[i] = float(a[i]);
  for (size_t i = 0; i < b.size(); ++i) right[i] = float(b[i]);
  int wrong = 0;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      const double *in_row = &left[size_t(row) * k], *in_column = &right[size_t(column) * k];
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += in_row[i] * in_column[i];
      size_t at = size_t(row) * n + column;
      double exact = alpha * sum + beta * double(c[at]), found = float(d[at]);
      if (std::fabs(found - exact) <= 1e-6 * (std::fabs(exact) + 1) + rounding * std::fabs(exact)) {
        continue;
      }
      if (wrong++ == 0) {
        std::printf("%d x %d x %d: element %d, %d is %g, not %g\n", m, n, k, row, column, found, exact);
      }
    }
  }
  return wrong;
}

// Whole tiles, edges in all three directions, several tiles for a block, and as many steps that the
// rings of buffers begin again. The exit status of the program.
template <class Device>
int run_all() {
  const Case cases[] = {
      {128, 128, 64, 1, 0, 132}, {256, 256, 256, 0.5f, 0, 2}, {384, 256, 128, 1, -2, 4},
      {200, 136, 72, 2, 1, 132}, {129, 260, 648, 1, 0, 2},    {8, 8, 8, 1, 0, 132},
  };
  int failed = 0;
  for (const Case& sizes : cases) {
    int wrong = run<Device>(sizes);
    std::printf("%d x %d x %d: %s\n", sizes.m, sizes.n, sizes.k, wrong == 0 ? "right" : "wrong");
    failed += wrong != 0;
  }
  return failed == 0 ? 0 : 1;
}

// One product, m x n x k from the command line, on as many blocks as a GPU has multiprocessors.
template <class Device>
int run_one(int count, char** words) {
  if (count != 4) {
    std::printf("usage: %s M N K\n", words[0]);
    return 2;
  }
  Case sizes{std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3]), 1, 0, 132};
  int wrong = run<Device>(sizes);
  std::printf("%d x %d x %d: %s\n", sizes.m, sizes.n, sizes.k, wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}

}  // namespace peer
