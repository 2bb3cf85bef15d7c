/* In place of CUDA's f16: the same names on both targets. */
#include "../croq_user.h"
