/* The WGMMA instructions for CROQ_WGMMA_N columns. Included once for each such number, so there is
 * no include guard. */

namespace croq {
inline namespace CROQ_TARGET {

#define CROQ_PASTE(a, b) a##b
#define CROQ_JOIN(a, b) CROQ_PASTE(a, b)
/* Under another name, because it is used inside an expansion of the other. */
#define CROQ_LIST(a, b) CROQ_LIST_OF(a, b)
#define CROQ_LIST_OF(a, b) a##b
#define CROQ_TEXT_OF(a) #a
#define CROQ_TEXT(a) CROQ_TEXT_OF(a)

#define CROQ_WORDS CROQ_JOIN(CROQ_WORDS_OF_, CROQ_WGMMA_N)
#define CROQ_HALVES CROQ_JOIN(CROQ_HALVES_OF_, CROQ_WGMMA_N)

/* An instruction; `a` and `b` name the operands. Whether the accumulators are added to is a constant
 * of the instruction where it is one of the program, else predicate p. */
#define CROQ_WGMMA_TEXT(count, shape, accumulated, a, b, rest)                                     \
  "wgmma.mma_async.sync.aligned.m64n" CROQ_TEXT(CROQ_WGMMA_N) shape " {"                           \
  CROQ_LIST(CROQ_NAMES_, count) "}, " a ", " b ", " accumulated rest ";"
#define CROQ_WGMMA(count, shape, accumulated, a, b, rest, ...)                                     \
  if constexpr (same<P, bool>)                                                                     \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " accumulated ", 0;\n"                          \
                 CROQ_WGMMA_TEXT(count, shape, "p", a, b, rest) "\n}"                              \
                 : CROQ_LIST(CROQ_SUMS_, count)                                                    \
                 : "r"(static_cast<unsigned>(accumulate)), __VA_ARGS__);                           \
  else                                                                                             \
    asm volatile(CROQ_WGMMA_TEXT(count, shape, accumulated, a, b, rest)                            \
                 : CROQ_LIST(CROQ_SUMS_, count)                                                    \
                 : "n"(int(P::value)), __VA_ARGS__)
/* Both operands in shared memory: types that can be transposed, other floats, integers. x0 and so
 * on name the operands after the accumulators. */
#define CROQ_SHARED_TRANS(x0, x1, x2, x3, x4, x5, x6, count, shape)                                \
  CROQ_WGMMA(count, shape, x0, x1, x2, ", 1, 1, " x3 ", " x4, "l"(a), "l"(b), "n"(AT), "n"(BT))
#define CROQ_SHARED_PLAIN(x0, x1, x2, x3, x4, x5, x6, count, shape)                                \
  CROQ_WGMMA(count, shape, x0, x1, x2, ", 1, 1", "l"(a), "l"(b))
#define CROQ_SHARED_WHOLE(x0, x1, x2, x3, x4, x5, x6, count, shape)                                \
  CROQ_WGMMA(count, shape, x0, x1, x2, "", "l"(a), "l"(b))
/* A in four registers. */
#define CROQ_A(n) "r"(register_of(a, ai + n * idx(4 / sizeof(A))))
#define CROQ_FOUR CROQ_A(0), CROQ_A(1), CROQ_A(2), CROQ_A(3)
#define CROQ_NAMES(x1, x2, x3, x4) "{" x1 ", " x2 ", " x3 ", " x4 "}"
#define CROQ_REGISTERS_TRANS(x0, x1, x2, x3, x4, x5, x6, count, shape)                             \
  CROQ_WGMMA(count, shape, x0, CROQ_NAMES(x1, x2, x3, x4), x5, ", 1, 1, " x6, CROQ_FOUR, "l"(b),   \
             "n"(BT))
#define CROQ_REGISTERS_PLAIN(x0, x1, x2, x3, x4, x5, x6, count, shape)                             \
  CROQ_WGMMA(count, shape, x0, CROQ_NAMES(x1, x2, x3, x4), x5, ", 1, 1", CROQ_FOUR, "l"(b))
#define CROQ_REGISTERS_WHOLE(x0, x1, x2, x3, x4, x5, x6, count, shape)                             \
  CROQ_WGMMA(count, shape, x0, CROQ_NAMES(x1, x2, x3, x4), x5, "", CROQ_FOUR, "l"(b))

#define CROQ_CASE(form, count, TA, TB, shape)                                                      \
  if constexpr (same<A, TA> && same<B, TB>) {                                                      \
    CROQ_JOIN(CROQ_BEHIND_, count)(form, count, shape);                                            \
  } else
#define CROQ_F16(form, count, c) CROQ_CASE(form, count, f16, f16, "k16." c ".f16.f16")
#define CROQ_EIGHTS(form, count, c)                                                                \
  CROQ_CASE(form, count, f8_e4m3, f8_e4m3, "k32." c ".e4m3.e4m3")                                  \
  CROQ_CASE(form, count, f8_e4m3, f8_e5m2, "k32." c ".e4m3.e5m2")                                  \
  CROQ_CASE(form, count, f8_e5m2, f8_e4m3, "k32." c ".e5m2.e4m3")                                  \
  CROQ_CASE(form, count, f8_e5m2, f8_e5m2, "k32." c ".e5m2.e5m2")
/* By the type of the accumulators. */
#define CROQ_TO_F32(trans, plain)                                                                  \
  CROQ_F16(trans, CROQ_WORDS, "f32")                                                               \
  CROQ_CASE(trans, CROQ_WORDS, bf16, bf16, "k16.f32.bf16.bf16")                                    \
  CROQ_CASE(plain, CROQ_WORDS, float, float, "k8.f32.tf32.tf32")                                   \
  CROQ_EIGHTS(plain, CROQ_WORDS, "f32")                                                            \
  static_assert(sizeof(A) == 0, "there is no such instruction")
#define CROQ_TO_F16(trans, plain)                                                                  \
  CROQ_F16(trans, CROQ_HALVES, "f16")                                                              \
  CROQ_EIGHTS(plain, CROQ_HALVES, "f16")                                                           \
  static_assert(sizeof(A) == 0, "there is no such instruction")
#define CROQ_TO_INT(whole)                                                                         \
  static_assert(columns <= 32 || columns % 16 == 0, "there is no such instruction");               \
  CROQ_CASE(whole, CROQ_WORDS, signed char, signed char, "k32.s32.s8.s8")                          \
  CROQ_CASE(whole, CROQ_WORDS, signed char, unsigned char, "k32.s32.s8.u8")                        \
  CROQ_CASE(whole, CROQ_WORDS, unsigned char, signed char, "k32.s32.u8.s8")                        \
  CROQ_CASE(whole, CROQ_WORDS, unsigned char, unsigned char, "k32.s32.u8.u8")                      \
  static_assert(sizeof(A) == 0, "there is no such instruction")

/* The heads of the two functions. */
#define CROQ_OF_SHARED(C)                                                                          \
  template <class A, class B, bool AT, bool BT, int CN, class P>                                   \
  static CROQ_DEVICE void of_shared(fragment<C, CN> &c, idx ci, matrix_descriptor a,               \
                                    matrix_descriptor b, [[maybe_unused]] P accumulate)
#define CROQ_OF_REGISTERS(C)                                                                       \
  template <class B, bool BT, int CN, class A, int AN, class P>                                    \
  static CROQ_DEVICE void of_registers(fragment<C, CN> &c, idx ci, const fragment<A, AN> &a,       \
                                       idx ai, matrix_descriptor b,                                \
                                       [[maybe_unused]] P accumulate)

template <> struct wgmma_of<CROQ_WGMMA_N> {
  static constexpr unsigned columns = CROQ_WGMMA_N;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CROQ_SUM(n) "+f"(c.first[ci + n])
  CROQ_OF_SHARED(float) { CROQ_TO_F32(CROQ_SHARED_TRANS, CROQ_SHARED_PLAIN); }
  CROQ_OF_REGISTERS(float) { CROQ_TO_F32(CROQ_REGISTERS_TRANS, CROQ_REGISTERS_PLAIN); }
#undef CROQ_SUM

#define CROQ_SUM(n) "+r"(c.first[ci + n])
  CROQ_OF_SHARED(int) { CROQ_TO_INT(CROQ_SHARED_WHOLE); }
  CROQ_OF_REGISTERS(int) { CROQ_TO_INT(CROQ_REGISTERS_WHOLE); }
#undef CROQ_SUM

  /* Two accumulators in a register. */
#define CROQ_SUM(n) "+r"(sums[n])
  CROQ_OF_SHARED(f16) {
    unsigned sums[CROQ_HALVES];
    CROQ_UNROLL for (int i = 0; i < CROQ_HALVES; ++i) sums[i] = register_of(c, ci + 2 * i);
    CROQ_TO_F16(CROQ_SHARED_TRANS, CROQ_SHARED_PLAIN);
    CROQ_UNROLL for (int i = 0; i < CROQ_HALVES; ++i) set_register(c, ci + 2 * i, sums[i]);
  }
  CROQ_OF_REGISTERS(f16) {
    unsigned sums[CROQ_HALVES];
    CROQ_UNROLL for (int i = 0; i < CROQ_HALVES; ++i) sums[i] = register_of(c, ci + 2 * i);
    CROQ_TO_F16(CROQ_REGISTERS_TRANS, CROQ_REGISTERS_PLAIN);
    CROQ_UNROLL for (int i = 0; i < CROQ_HALVES; ++i) set_register(c, ci + 2 * i, sums[i]);
  }
#undef CROQ_SUM
#else
  /* Code that uses an instruction which the target does not have traps. */
  template <class A, class B, bool AT, bool BT, class... T>
  static CROQ_DEVICE void of_shared(T &&...) {
    __trap();
  }
  template <class B, bool BT, class... T> static CROQ_DEVICE void of_registers(T &&...) { __trap(); }
#endif
};

#undef CROQ_PASTE
#undef CROQ_JOIN
#undef CROQ_LIST
#undef CROQ_LIST_OF
#undef CROQ_TEXT_OF
#undef CROQ_TEXT
#undef CROQ_WORDS
#undef CROQ_HALVES
#undef CROQ_WGMMA
#undef CROQ_WGMMA_TEXT
#undef CROQ_SHARED_TRANS
#undef CROQ_SHARED_PLAIN
#undef CROQ_SHARED_WHOLE
#undef CROQ_A
#undef CROQ_FOUR
#undef CROQ_NAMES
#undef CROQ_REGISTERS_TRANS
#undef CROQ_REGISTERS_PLAIN
#undef CROQ_REGISTERS_WHOLE
#undef CROQ_CASE
#undef CROQ_F16
#undef CROQ_EIGHTS
#undef CROQ_TO_F32
#undef CROQ_TO_F16
#undef CROQ_TO_INT
#undef CROQ_OF_SHARED
#undef CROQ_OF_REGISTERS

}  // namespace CROQ_TARGET
}  // namespace croq
