// One warp loads tiles, two warpgroups multiply them, each a tile of its own: CUTLASS calls it
// ping-pong. Blocks are persistent; there are no clusters.
#include "gemm.h"

using Peer = peer::Gemm<cute::Shape<cute::_64, cute::_128, cute::_64>,
                        cute::Shape<cute::_1, cute::_1, cute::_1>,
                        cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                        cutlass::epilogue::TmaWarpSpecialized>;

int main() { return peer::run_all<Peer::Device>(); }
