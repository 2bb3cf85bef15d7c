/* Replaces the reference's runtime: the same names on both targets. */
#include "../croq_user.h"
