/* In place of CUDA's bf16: the same names on both targets. */
#include "../croq_user.h"
