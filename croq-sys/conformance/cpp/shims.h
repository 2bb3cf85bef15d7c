/* Both builds of a file are in one program: their C functions have different names. */
#ifndef CONF_SHIMS_H
#define CONF_SHIMS_H

#if defined(CROQ_CUDA)
#define CONF(name) conf_cuda_##name
#else
#define CONF(name) conf_##name
#endif

#endif
