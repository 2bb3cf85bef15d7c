/* MMAs by a warp. */
#ifndef CROQ_CUDA_MMA_H
#define CROQ_CUDA_MMA_H

namespace croq {
inline namespace CROQ_TARGET {

/* A thread's part of a matrix in the registers of a warp: `N` elements, in the order of the
 * instructions. */
template <class T, int N, bool = packed<T>> struct fragment_registers : local<T, N> {};
/* Elements of less than a byte, in whole registers. */
template <class T> inline constexpr int per_register = 4 / int(sizeof(T)) * int(per_byte<T>);
template <class T, int N> struct fragment_registers<T, N, true> {
  static constexpr int in_word = 4 * int(per_byte<T>), bits = 32 / in_word;
  unsigned first[(N + in_word - 1) / in_word];

  CROQ_DEVICE T load(idx i) const {
    const unsigned value = first[i / in_word] >> i % in_word * bits & ((1u << bits) - 1);
    return from_bits<T>(static_cast<unsigned char>(value));
  }
  CROQ_DEVICE void store(idx i, T v) {
    const unsigned shift = unsigned(i % in_word) * bits;
    const unsigned others = first[i / in_word] & ~(((1u << bits) - 1) << shift);
    first[i / in_word] = others | unsigned(v.bits) << shift;
  }
};
template <class T, int N> struct alignas(16) fragment : fragment_registers<T, N> {};
/* A register of adjacent elements. */
template <unsigned V, class T, int N>
CROQ_DEVICE void store_word(fragment_registers<T, N, true> &into, idx i, unsigned bits) {
  static_assert(V == per_register<T>, "a whole register");
  into.first[i / per_register<T>] = bits;
}
template <class T, int N, idx At> using fragment_at = fragment<T, N>;
template <class T, int N> struct tracked_fragment : fragment<T, N> {
  CROQ_DEVICE tracked_fragment(const char *, bool = false) {}
};
template <class T, int N, idx At> using tracked_fragment_at = tracked_fragment<T, N>;

/* The register whose first element is number `i`. */
template <class T, int N> CROQ_DEVICE unsigned register_of(const fragment<T, N> &from, idx i) {
  if constexpr (packed<T>) return from.first[i / per_register<T>];
  else {
    unsigned bits;
    __builtin_memcpy(&bits, from.first + i, sizeof bits);
    return bits;
  }
}
template <class T, int N> CROQ_DEVICE void set_register(fragment<T, N> &of, idx i, unsigned bits) {
  __builtin_memcpy(of.first + i, &bits, sizeof bits);
}

/* Loads `Count` matrices of 8 rows of 16 bytes from shared memory into the registers from element
 * `at` on; see matrices.h. `row` is the element at which this lane's row begins, plus `more`
 * elements. */
template <unsigned Count, bool Transposed = false, class T, int N>
CROQ_DEVICE void ldmatrix(fragment<T, N> &into, idx at, shared<T> memory, idx row, idx more = 0) {
  unsigned registers[Count];
  unsigned address = shared_address(memory.first + row);
  /* The asm hides the origin of the address. Otherwise nvcc adds each constant by an `or`
   * instruction, instead of as the offset of the load. */
  asm("" : "+r"(address));
  ldmatrix_at<Count, Transposed, T>(registers, address + unsigned(more) * unsigned(sizeof(T)));
  CROQ_UNROLL for (unsigned r = 0; r < Count; ++r)
    set_register(into, at + r * (4 / sizeof(T)), registers[r]);
}

/* The inverse operation (sm_90). */
template <unsigned Count, bool Transposed = false, class T, int N>
CROQ_DEVICE void stmatrix(shared<T> memory, idx row, const fragment<T, N> &from, idx at) {
  unsigned registers[Count];
  CROQ_UNROLL for (unsigned r = 0; r < Count; ++r)
    registers[r] = register_of(from, at + r * (4 / sizeof(T)));
  stmatrix<Count, Transposed>(memory, row, registers);
}

/* An element in the lower half of a register, with a zero beside it. */
template <class T, int N> CROQ_DEVICE unsigned register_of_one(const fragment<T, N> &from, idx i) {
  return unsigned(from.first[i].bits);
}

/* Registers of a, b and c as operands of one instruction. */
#define CROQ_A(n) "r"(register_of(a, ai + n * per_register<A>))
#define CROQ_B(n) "r"(register_of(b, bi + n * per_register<B>))
#define CROQ_AD(n) "d"(a.first[ai + n])
#define CROQ_BD(n) "d"(b.first[bi + n])
#define CROQ_C(kind, n) "+" kind(c.first[ci + n])
#define CROQ_C2(kind) CROQ_C(kind, 0), CROQ_C(kind, 1)
#define CROQ_C4(kind) CROQ_C2(kind), CROQ_C(kind, 2), CROQ_C(kind, 3)

/* The suffix is the number of registers of A, B and C. */
#define CROQ_MMA_112(text, kind)                                                                   \
  asm volatile(text " {%0, %1}, {%2}, {%3}, {%0, %1};" : CROQ_C2(kind) : CROQ_A(0), CROQ_B(0))
#define CROQ_MMA_214(text, kind)                                                                   \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                         \
               : CROQ_C4(kind)                                                                     \
               : CROQ_A(0), CROQ_A(1), CROQ_B(0))
#define CROQ_MMA_424(text, kind)                                                                   \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
               : CROQ_C4(kind)                                                                     \
               : CROQ_A(0), CROQ_A(1), CROQ_A(2), CROQ_A(3), CROQ_B(0), CROQ_B(1))
/* Accumulators in f16, two in a register. */
#define CROQ_MMA_HALVES(text, placed, ...)                                                         \
  do {                                                                                             \
    unsigned s0 = register_of(c, ci), s1 = register_of(c, ci + 2);                                 \
    asm volatile(text placed : "+r"(s0), "+r"(s1) : __VA_ARGS__);                                  \
    set_register(c, ci, s0);                                                                       \
    set_register(c, ci + 2, s1);                                                                   \
  } while (0)
#define CROQ_MMA_212(text, kind)                                                                   \
  CROQ_MMA_HALVES(text, " {%0, %1}, {%2, %3}, {%4}, {%0, %1};", CROQ_A(0), CROQ_A(1), CROQ_B(0))
#define CROQ_MMA_422(text, kind)                                                                   \
  CROQ_MMA_HALVES(text, " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};", CROQ_A(0), CROQ_A(1),  \
                  CROQ_A(2), CROQ_A(3), CROQ_B(0), CROQ_B(1))
/* Of f16 and 8 x 8 x 4, as a part of 16 x 8 x 8: a thread's element along K has a zero beside it,
 * and the lower rows of A and C are zeros. */
#define CROQ_MMA_ONE(n) "r"(register_of_one(n, n##i))
#define CROQ_MMA_PADDED_F32(text)                                                                  \
  do {                                                                                             \
    [[maybe_unused]] float below[2];                                                               \
    asm volatile(text " {%0, %1, %2, %3}, {%4, %6}, {%5}, {%0, %1, %7, %7};"                       \
                 : CROQ_C2("f"), "=f"(below[0]), "=f"(below[1])                                    \
                 : CROQ_MMA_ONE(a), CROQ_MMA_ONE(b), "r"(0), "f"(0.0f));                           \
  } while (0)
#define CROQ_MMA_PADDED_F16(text)                                                                  \
  do {                                                                                             \
    [[maybe_unused]] unsigned below;                                                               \
    unsigned sums = register_of(c, ci);                                                            \
    asm volatile(text " {%0, %1}, {%2, %4}, {%3}, {%0, %4};"                                       \
                 : "+r"(sums), "=r"(below)                                                         \
                 : CROQ_MMA_ONE(a), CROQ_MMA_ONE(b), "r"(0));                                      \
    set_register(c, ci, sums);                                                                     \
  } while (0)
#define CROQ_MMA_D112(text, kind)                                                                  \
  asm volatile(text " {%0, %1}, {%2}, {%3}, {%0, %1};" : CROQ_C2(kind) : CROQ_AD(0), CROQ_BD(0))
#define CROQ_MMA_D214(text, kind)                                                                  \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                         \
               : CROQ_C4(kind)                                                                     \
               : CROQ_AD(0), CROQ_AD(1), CROQ_BD(0))
#define CROQ_MMA_D424(text, kind)                                                                  \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
               : CROQ_C4(kind)                                                                     \
               : CROQ_AD(0), CROQ_AD(1), CROQ_AD(2), CROQ_AD(3), CROQ_BD(0), CROQ_BD(1))
#define CROQ_MMA_D844(text, kind)                                                                  \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}," \
                    " {%0, %1, %2, %3};"                                                           \
               : CROQ_C4(kind)                                                                     \
               : CROQ_AD(0), CROQ_AD(1), CROQ_AD(2), CROQ_AD(3), CROQ_AD(4), CROQ_AD(5),           \
                 CROQ_AD(6), CROQ_AD(7), CROQ_BD(0), CROQ_BD(1), CROQ_BD(2), CROQ_BD(3))

/* Code that uses an instruction which the target does not have traps. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define CROQ_SINCE_SM_80(form, text, kind) form(text, kind)
#else
#define CROQ_SINCE_SM_80(form, text, kind) __trap()
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define CROQ_SINCE_SM_89(form, text, kind) form(text, kind)
#else
#define CROQ_SINCE_SM_89(form, text, kind) __trap()
#endif
/* Before sm_90 f64 has the shape 8x8x4 only; larger shapes are computed by several of these. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CROQ_SINCE_SM_90(form, text, kind) form(text, kind)
#else
#define CROQ_SINCE_SM_90(form, text, kind)                                                         \
  CROQ_UNROLL for (unsigned k = 0; k < K / 4; ++k)                                                 \
      CROQ_UNROLL for (unsigned half = 0; half < 2; ++half)                                        \
          mma<8, 8, 4>(c, ci + 2 * half, a, ai + 2 * k + half, b, bi + k)
#endif
#define CROQ_SINCE_SM_75(form, text, kind) form(text, kind)

/* c += a b: `M` x `N` sums over `K` products each. The thread's elements of c, a and b begin at
 * `ci`, `ai` and `bi`; the PTX ISA defines their positions in the matrices. Operands in f32 are
 * used as tf32. */
template <unsigned M, unsigned N, unsigned K, class C, int CN, class A, int AN, class B, int BN>
CROQ_DEVICE void mma(fragment<C, CN> &c, idx ci, const fragment<A, AN> &a, idx ai,
                     const fragment<B, BN> &b, idx bi) {
#define CROQ_CASE(since, m, n, k, TA, TB, TC, form, types, kind)                                   \
  if constexpr (M == m && N == n && K == k && same<A, TA> && same<B, TB> && same<C, TC>)           \
    CROQ_SINCE_SM_##since(CROQ_MMA_##form,                                                         \
                          "mma.sync.aligned.m" #m "n" #n "k" #k ".row.col." types, kind);          \
  else
#define CROQ_FLOATS(since, k, TA, TB, types, fours, twos)                                          \
  CROQ_CASE(since, 16, 8, k, TA, TB, float, fours, "f32." types ".f32", "f")                       \
  CROQ_CASE(since, 16, 8, k, TA, TB, f16, twos, "f16." types ".f16", "r")
#define CROQ_INTEGERS(TA, TB, types)                                                               \
  CROQ_CASE(75, 8, 8, 16, TA, TB, int, 112, "s32." types ".s32", "r")                              \
  CROQ_CASE(80, 16, 8, 16, TA, TB, int, 214, "s32." types ".s32", "r")                             \
  CROQ_CASE(80, 16, 8, 32, TA, TB, int, 424, "s32." types ".s32", "r")
#define CROQ_NIBBLES(TA, TB, types)                                                                \
  CROQ_CASE(75, 8, 8, 32, TA, TB, int, 112, "s32." types ".s32", "r")                              \
  CROQ_CASE(80, 16, 8, 32, TA, TB, int, 214, "s32." types ".s32", "r")                             \
  CROQ_CASE(80, 16, 8, 64, TA, TB, int, 424, "s32." types ".s32", "r")
  if constexpr (M == 8 && N == 8 && K == 4 && same<A, f16> && same<B, f16> && same<C, float>)
    CROQ_MMA_PADDED_F32("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
  else if constexpr (M == 8 && N == 8 && K == 4 && same<A, f16> && same<B, f16> && same<C, f16>)
    CROQ_MMA_PADDED_F16("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16");
  else
  CROQ_FLOATS(75, 8, f16, f16, "f16.f16", 214, 212)
  CROQ_FLOATS(80, 16, f16, f16, "f16.f16", 424, 422)
  CROQ_CASE(80, 16, 8, 8, bf16, bf16, float, 214, "f32.bf16.bf16.f32", "f")
  CROQ_CASE(80, 16, 8, 16, bf16, bf16, float, 424, "f32.bf16.bf16.f32", "f")
  CROQ_CASE(80, 16, 8, 4, float, float, float, 214, "f32.tf32.tf32.f32", "f")
  CROQ_CASE(80, 16, 8, 8, float, float, float, 424, "f32.tf32.tf32.f32", "f")
  CROQ_CASE(80, 8, 8, 4, double, double, double, D112, "f64.f64.f64.f64", "d")
  CROQ_CASE(90, 16, 8, 4, double, double, double, D214, "f64.f64.f64.f64", "d")
  CROQ_CASE(90, 16, 8, 8, double, double, double, D424, "f64.f64.f64.f64", "d")
  CROQ_CASE(90, 16, 8, 16, double, double, double, D844, "f64.f64.f64.f64", "d")
  CROQ_INTEGERS(signed char, signed char, "s8.s8")
  CROQ_INTEGERS(signed char, unsigned char, "s8.u8")
  CROQ_INTEGERS(unsigned char, signed char, "u8.s8")
  CROQ_INTEGERS(unsigned char, unsigned char, "u8.u8")
  CROQ_NIBBLES(s4, s4, "s4.s4")
  CROQ_NIBBLES(s4, u4, "s4.u4")
  CROQ_NIBBLES(u4, s4, "u4.s4")
  CROQ_NIBBLES(u4, u4, "u4.u4")
  CROQ_CASE(80, 8, 8, 128, u1, u1, int, 112, "s32.b1.b1.s32.and.popc", "r")
  CROQ_CASE(80, 16, 8, 128, u1, u1, int, 214, "s32.b1.b1.s32.and.popc", "r")
  CROQ_CASE(80, 16, 8, 256, u1, u1, int, 424, "s32.b1.b1.s32.and.popc", "r")
  CROQ_FLOATS(89, 16, f8_e4m3, f8_e4m3, "e4m3.e4m3", 214, 212)
  CROQ_FLOATS(89, 16, f8_e4m3, f8_e5m2, "e4m3.e5m2", 214, 212)
  CROQ_FLOATS(89, 16, f8_e5m2, f8_e4m3, "e5m2.e4m3", 214, 212)
  CROQ_FLOATS(89, 16, f8_e5m2, f8_e5m2, "e5m2.e5m2", 214, 212)
  CROQ_FLOATS(89, 32, f8_e4m3, f8_e4m3, "e4m3.e4m3", 424, 422)
  CROQ_FLOATS(89, 32, f8_e4m3, f8_e5m2, "e4m3.e5m2", 424, 422)
  CROQ_FLOATS(89, 32, f8_e5m2, f8_e4m3, "e5m2.e4m3", 424, 422)
  CROQ_FLOATS(89, 32, f8_e5m2, f8_e5m2, "e5m2.e5m2", 424, 422)
  static_assert(M == 0, "there is no such instruction");
#undef CROQ_INTEGERS
#undef CROQ_NIBBLES
#undef CROQ_FLOATS
#undef CROQ_CASE
}

/* With metadata, and the selector of the threads that provide it. The suffix is the number of
 * registers of A, which is that of B, and of C. */
#define CROQ_MMA_SP_44(text, kind)                                                                 \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3},"   \
                    " %12, %13;"                                                                   \
               : CROQ_C4(kind)                                                                     \
               : CROQ_A(0), CROQ_A(1), CROQ_A(2), CROQ_A(3), CROQ_B(0), CROQ_B(1), CROQ_B(2),      \
                 CROQ_B(3), "r"(e.first[ei]), "n"(F))
#define CROQ_MMA_SP_24(text, kind)                                                                 \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;"             \
               : CROQ_C4(kind)                                                                     \
               : CROQ_A(0), CROQ_A(1), CROQ_B(0), CROQ_B(1), "r"(e.first[ei]), "n"(F))
#define CROQ_MMA_SP_42(text, kind)                                                                 \
  CROQ_MMA_HALVES(text,                                                                            \
                  " {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10, %11;", CROQ_A(0), \
                  CROQ_A(1), CROQ_A(2), CROQ_A(3), CROQ_B(0), CROQ_B(1), CROQ_B(2), CROQ_B(3),     \
                  "r"(e.first[ei]), "n"(F))
#define CROQ_MMA_SP_22(text, kind)                                                                 \
  CROQ_MMA_HALVES(text, " {%0, %1}, {%2, %3}, {%4, %5}, {%0, %1}, %6, %7;", CROQ_A(0), CROQ_A(1),  \
                  CROQ_B(0), CROQ_B(1), "r"(e.first[ei]), "n"(F))

/* The same with a sparse A: of every four elements of A along K two are stored; `K` counts all of
 * them. Register `ei` of e has the positions: with K 16, thread `F` of each four provides them;
 * with K 32, threads 0 and 1, or with `F` 1 the other two; with K 64 all four do. */
template <unsigned M, unsigned N, unsigned K, unsigned F, class C, int CN, class A, int AN, class B,
          int BN, int EN>
CROQ_DEVICE void mma_sp(fragment<C, CN> &c, idx ci, const fragment<A, AN> &a, idx ai,
                        const fragment<B, BN> &b, idx bi, const fragment<unsigned, EN> &e, idx ei) {
  static_assert(M == 16 && N == 8 && F < 64 / K, "there is no such instruction");
#define CROQ_CASE(since, k, TA, TB, TC, form, types, kind)                                         \
  if constexpr (K == k && same<A, TA> && same<B, TB> && same<C, TC>)                               \
    CROQ_SINCE_SM_##since(CROQ_MMA_SP_##form,                                                      \
                          "mma.sp::ordered_metadata.sync.aligned.m16n8k" #k ".row.col." types,     \
                          kind);                                                                   \
  else
  CROQ_CASE(80, 16, f16, f16, float, 24, "f32.f16.f16.f32", "f")
  CROQ_CASE(80, 16, f16, f16, f16, 22, "f16.f16.f16.f16", "r")
  CROQ_CASE(80, 16, bf16, bf16, float, 24, "f32.bf16.bf16.f32", "f")
  CROQ_CASE(80, 32, f16, f16, float, 44, "f32.f16.f16.f32", "f")
  CROQ_CASE(80, 32, f16, f16, f16, 42, "f16.f16.f16.f16", "r")
  CROQ_CASE(80, 32, bf16, bf16, float, 44, "f32.bf16.bf16.f32", "f")
  CROQ_CASE(89, 64, f8_e4m3, f8_e4m3, float, 44, "f32.e4m3.e4m3.f32", "f")
  CROQ_CASE(89, 64, f8_e4m3, f8_e5m2, float, 44, "f32.e4m3.e5m2.f32", "f")
  CROQ_CASE(89, 64, f8_e5m2, f8_e4m3, float, 44, "f32.e5m2.e4m3.f32", "f")
  CROQ_CASE(89, 64, f8_e5m2, f8_e5m2, float, 44, "f32.e5m2.e5m2.f32", "f")
  static_assert(M == 0, "there is no such instruction");
#undef CROQ_CASE
}
#undef CROQ_MMA_SP_44
#undef CROQ_MMA_SP_24
#undef CROQ_MMA_SP_42
#undef CROQ_MMA_SP_22
#undef CROQ_SINCE_SM_75
#undef CROQ_SINCE_SM_80
#undef CROQ_SINCE_SM_89
#undef CROQ_SINCE_SM_90
#undef CROQ_MMA_112
#undef CROQ_MMA_214
#undef CROQ_MMA_424
#undef CROQ_MMA_HALVES
#undef CROQ_MMA_212
#undef CROQ_MMA_422
#undef CROQ_MMA_ONE
#undef CROQ_MMA_PADDED_F32
#undef CROQ_MMA_PADDED_F16
#undef CROQ_MMA_D112
#undef CROQ_MMA_D214
#undef CROQ_MMA_D424
#undef CROQ_MMA_D844
#undef CROQ_A
#undef CROQ_B
#undef CROQ_AD
#undef CROQ_BD
#undef CROQ_C
#undef CROQ_C2
#undef CROQ_C4

/* The value of the lane whose number differs from this one's in these bits. */
template <class T> CROQ_DEVICE T of_lane_across(T v, unsigned bits) {
  if constexpr (narrow<T>)
    return from_bits<T>(
        static_cast<decltype(v.bits)>(__shfl_xor_sync(0xffffffffu, unsigned(v.bits), bits)));
  else return __shfl_xor_sync(0xffffffffu, v, bits);
}
template <class T> CROQ_DEVICE T tracked_of_lane_across(T v, unsigned bits) {
  return of_lane_across(v, bits);
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
