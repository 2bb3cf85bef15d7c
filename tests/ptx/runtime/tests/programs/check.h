/* Conditions of the programs: each that does not hold is printed with its line. */
#include <cstdio>
#include <cuda_runtime.h>

static int failures = 0;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::printf("%d: %s\n", __LINE__, #condition);                                               \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (false)

/* A call with this result. */
#define GIVES(expected, call)                                                                      \
  do {                                                                                             \
    const cudaError_t error_of_call = (call);                                                              \
    if (error_of_call != (expected)) {                                                                     \
      std::printf("%d: %s gives %d\n", __LINE__, #call, static_cast<int>(error_of_call));          \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (false)

#define OK(call) GIVES(cudaSuccess, call)

static int finish() {
  std::printf("%d failures\n", failures);
  return failures != 0;
}
