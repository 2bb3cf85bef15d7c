/* From here on, loops of the user's own C++ are counted on the simulated GPU (sim/loops.h), until
 * `croq_loops_plain.h`. `CROQ_WHILE_DECLARES` replaces `while` where the condition declares a
 * variable. */
#if defined(CROQ_CUDA)
#define CROQ_WHILE_DECLARES while
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wempty-body"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wdangling-else"
#define while(...) while (croq_turn(), __VA_ARGS__)
#define CROQ_WHILE_DECLARES(...) for (; __VA_ARGS__;)
#define for(...) for (__VA_ARGS__) if (croq_turn(), false) {} else
#endif
