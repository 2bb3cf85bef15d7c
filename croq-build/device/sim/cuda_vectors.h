/* CUDA's vectors of two to four numbers. */
#ifndef CROQ_SIM_CUDA_VECTORS_H
#define CROQ_SIM_CUDA_VECTORS_H

/* With CUDA's alignments: the size of the vector if it is a power of two up to 16 bytes. */
#define CROQ_VECTORS(name, T, of_2, of_4)                                                          \
  struct name##1 {                                                                                 \
    T x;                                                                                           \
  };                                                                                               \
  struct __attribute__((aligned(of_2))) name##2 {                                                  \
    T x, y;                                                                                        \
  };                                                                                               \
  struct name##3 {                                                                                 \
    T x, y, z;                                                                                     \
  };                                                                                               \
  struct __attribute__((aligned(of_4))) name##4 {                                                  \
    T x, y, z, w;                                                                                  \
  };                                                                                               \
  CROQ_FN name##1 make_##name##1(T x) { return {x}; }                                              \
  CROQ_FN name##2 make_##name##2(T x, T y) { return {x, y}; }                                      \
  CROQ_FN name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                              \
  CROQ_FN name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CROQ_VECTORS(char, signed char, 2, 4)
CROQ_VECTORS(uchar, unsigned char, 2, 4)
CROQ_VECTORS(short, short, 4, 8)
CROQ_VECTORS(ushort, unsigned short, 4, 8)
CROQ_VECTORS(int, int, 8, 16)
CROQ_VECTORS(uint, unsigned, 8, 16)
CROQ_VECTORS(long, long, 16, 16)
CROQ_VECTORS(ulong, unsigned long, 16, 16)
CROQ_VECTORS(longlong, long long, 16, 16)
CROQ_VECTORS(ulonglong, unsigned long long, 16, 16)
CROQ_VECTORS(float, float, 8, 16)
CROQ_VECTORS(double, double, 16, 16)
#undef CROQ_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

#endif
