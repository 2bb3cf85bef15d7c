// Tiles of 128 x 256 by two warpgroups, in clusters of two blocks that share the tiles of b: what
// CUTLASS's profiler finds fastest for large products.
#include "../gemm.h"

using Peer = peer::Gemm<cute::Shape<cute::_128, cute::_256, cute::_64>,
                        cute::Shape<cute::_2, cute::_1, cute::_1>,
                        cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                        cutlass::epilogue::TmaWarpSpecializedCooperative, cutlass::half_t, void,
                        cutlass::half_t>;

int main(int count, char** words) { return peer::run_one<Peer::Device>(count, words); }
