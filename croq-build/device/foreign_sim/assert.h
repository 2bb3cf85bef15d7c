/* `assert` on the simulated GPU: a failure ends the call, not the process. Like the standard
 * header, it redefines the macro each time it is included. */
#undef assert
#if defined(NDEBUG)
#define assert(...) static_cast<void>(0)
#else
#define assert(...)                                                                                \
  ((__VA_ARGS__) ? static_cast<void>(0) : croq::assertion_failed("assert(" #__VA_ARGS__ ")", __LINE__))
#endif
