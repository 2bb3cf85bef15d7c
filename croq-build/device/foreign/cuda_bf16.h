/* Replaces CUDA's header for bf16: the same names on both targets. */
#include "../croq_user.h"
