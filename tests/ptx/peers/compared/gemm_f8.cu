// Operands of 8 bits, sums in the accumulators of the tensor cores alone, results of f32: tiles of
// 128 x 128 by two warpgroups.
#include "../gemm.h"

using Peer = peer::Gemm<cute::Shape<cute::_128, cute::_128, cute::_128>,
                        cute::Shape<cute::_1, cute::_1, cute::_1>,
                        cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8FastAccum,
                        cutlass::epilogue::TmaWarpSpecializedCooperative, cutlass::float_e4m3_t,
                        void, float>;

int main(int count, char** words) { return peer::run_one<Peer::Device>(count, words); }
