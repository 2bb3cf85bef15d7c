/* Replaces CUDA's header for f8: the same names on both targets. */
#include "../croq_user.h"
