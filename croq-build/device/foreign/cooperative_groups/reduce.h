/* Replaces CUDA's <cooperative_groups/reduce.h>. */
#include "../cooperative_groups.h"
