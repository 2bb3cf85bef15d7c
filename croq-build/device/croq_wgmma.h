/* Products of matrices by a warpgroup. Texts that have some include this after `croq.h`, once for each
 * number of columns, which they define as CROQ_WGMMA_N, or with a sparse A as CROQ_WGMMA_SP_N: no other text pays
 * for it. */
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
