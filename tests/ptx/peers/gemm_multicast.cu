// Clusters of two blocks share the tiles of b: each loads half of one and multicasts it to both. Two
// warpgroups work on one tile.
#include "gemm.h"

using Peer = peer::Gemm<cute::Shape<cute::_128, cute::_128, cute::_64>,
                        cute::Shape<cute::_2, cute::_1, cute::_1>,
                        cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                        cutlass::epilogue::TmaWarpSpecializedCooperative>;

int main() { return peer::run_all<Peer::Device>(); }
