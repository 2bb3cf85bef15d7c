/* Replaces CUDA's header for f16: the same names on both targets. */
#include "../croq_user.h"
