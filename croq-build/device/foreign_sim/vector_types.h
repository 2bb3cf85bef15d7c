/* Replaces the CUDA header on the simulated GPU; croq.h defines the names that device code uses. */
