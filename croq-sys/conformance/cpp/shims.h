/* Both builds of a text go into one program: their C functions differ in name. */
#ifndef CONF_SHIMS_H
#define CONF_SHIMS_H

#if defined(CROQ_CUDA)
#define CONF(name) conf_cuda_##name
#else
#define CONF(name) conf_##name
#endif

#endif
