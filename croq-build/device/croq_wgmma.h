/* MMAs by a warpgroup. Generated code that uses them includes this after `croq.h`, once for each
 * number of columns, which it defines as CROQ_WGMMA_N, or as CROQ_WGMMA_SP_N for a sparse A. Other
 * code does not have the compile time. */
#ifndef CROQ_WGMMA_H
#define CROQ_WGMMA_H
#if defined(CROQ_CUDA)
#include "cuda/wgmma.h"
#else
#include "sim/wgmma.h"
#endif
#endif

#if defined(CROQ_WGMMA_N)
#if defined(CROQ_CUDA)
#include "cuda/wgmma_n.h"
#endif
#undef CROQ_WGMMA_N
#endif

#if defined(CROQ_WGMMA_SP_N)
#if defined(CROQ_CUDA)
#include "cuda/wgmma_sp_n.h"
#endif
#undef CROQ_WGMMA_SP_N
#endif
