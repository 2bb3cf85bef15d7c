#undef CROQ_WHILE_DECLARES
#if !defined(CROQ_CUDA)
#undef while
#undef for
#pragma GCC diagnostic pop
#endif
