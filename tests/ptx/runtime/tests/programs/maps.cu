// Tensor maps that croq's host part keeps: each is that of its tensor, also if another tensor was at the
// address before. Prints the number of failures.
#include "croq.h"

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using croq::idx;

struct outcome {
  croq::tensor_map map;
  bool is_made;
};

template <class T, unsigned R> outcome made(idx address, const croq::tensor_layout<R> &layout) {
  croq_failure failure = {};
  croq_env env = {};
  env.abi_version = CROQ_ABI_VERSION;
  env.failure = &failure;
  croq::host host(&env, "");
  const croq::global<T> memory = croq::bind<T>(reinterpret_cast<void *>(address), 1 << 20, "tensor");
  outcome found;
  found.is_made = croq::make_tensor_map(host, found.map, memory, layout);
  return found;
}

// Maps that differ in one respect each, from the first or from the one before.
std::vector<outcome> all(idx at) {
  using croq::tensor_layout;
  return {
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 128, 128}),
      made<float>(at + 16, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 128, 128}),
      made<float>(at, tensor_layout<2>{{60, 16}, {1, 64}, {32, 8}, 128, 128}),
      made<float>(at, tensor_layout<2>{{64, 15}, {1, 64}, {32, 8}, 128, 128}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 68}, {32, 8}, 128, 128}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 9}, 128, 128}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 0, 128}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {16, 8}, 0, 128}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {16, 8}, 64, 128}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 128, 64}),
      made<float>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 128, 256}),
      made<int>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 128, 128}),
      made<unsigned>(at, tensor_layout<2>{{64, 16}, {1, 64}, {32, 8}, 128, 128}),
      made<float>(at, tensor_layout<1>{{64}, {1}, {32}, 128, 128}),
      made<float>(at, tensor_layout<3>{{64, 16, 1}, {1, 64, 1024}, {32, 8, 1}, 128, 128}),
      made<float>(at, tensor_layout<3>{{64, 16, 2}, {1, 64, 1024}, {32, 8, 1}, 128, 128}),
      made<float>(at, tensor_layout<5>{{64, 16, 2, 2, 2}, {1, 64, 1024, 2048, 4096}, {32, 8, 1, 1, 1}, 128, 128}),
      made<float>(at, tensor_layout<5>{{64, 16, 2, 2, 3}, {1, 64, 1024, 2048, 4096}, {32, 8, 1, 1, 1}, 128, 128}),
      made<float>(at, tensor_layout<5>{{64, 16, 2, 2, 2}, {1, 64, 1024, 2048, 4100}, {32, 8, 1, 1, 1}, 128, 128}),
      made<float>(at, tensor_layout<5>{{64, 16, 2, 2, 2}, {1, 64, 1024, 2048, 4096}, {32, 8, 1, 1, 2}, 128, 128}),
  };
}

bool same(const outcome &a, const outcome &b) {
  return std::memcmp(&a.map, &b.map, sizeof a.map) == 0;
}

}  // namespace

int main() {
  int failures = 0;
  const idx at = 1 << 20;
  const std::vector<outcome> first = all(at);
  for (const outcome &a : first) {
    failures += !a.is_made;
    for (const outcome &b : first) failures += &a != &b && same(a, b);
  }
  // Known ones, and those that others have replaced; several threads at the same time.
  int wrong[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 1000; ++round) {
        const std::vector<outcome> again = all(at);
        for (size_t i = 0; i < first.size(); ++i) wrong[t] += !same(first[i], again[i]);
        all(at + 4096 * (4 * round + t + 1));
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (int w : wrong) failures += w;
  std::fprintf(stdout, "%d failures\n", failures);
  return failures != 0;
}
