/* In place of CUDA's header, on the simulated GPU: what device text uses of it is known already. */
