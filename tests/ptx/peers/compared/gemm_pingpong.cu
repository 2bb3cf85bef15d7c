// Tiles of 64 x 256 by two warpgroups that take turns.
#include "../gemm.h"

using Peer = peer::Gemm<cute::Shape<cute::_64, cute::_256, cute::_64>,
                        cute::Shape<cute::_1, cute::_1, cute::_1>,
                        cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                        cutlass::epilogue::TmaWarpSpecialized, cutlass::half_t, void,
                        cutlass::half_t>;

int main(int count, char** words) { return peer::run_one<Peer::Device>(count, words); }
