/* In place of CUDA's f8: the same names on both targets. */
#include "../croq_user.h"
