/* Loops are counted on the simulated GPU only. */
#ifndef CROQ_CUDA_LOOPS_H
#define CROQ_CUDA_LOOPS_H

namespace croq {
inline namespace CROQ_TARGET {

CROQ_DEVICE void turn() {}
#define CROQ_STEPS(...) static_cast<void>(0)

struct spin {
  template <class... V> CROQ_DEVICE void again(V...) {}
};

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
