/* CUDA's intrinsic functions on numbers: bits, conversions, integers. */
#ifndef CROQ_SIM_CUDA_NUMBERS_H
#define CROQ_SIM_CUDA_NUMBERS_H

CROQ_FN int __float_as_int(float v) { return static_cast<int>(croq::float_bits(v)); }
CROQ_FN unsigned __float_as_uint(float v) { return croq::float_bits(v); }
CROQ_FN float __int_as_float(int v) { return croq::float_from_bits(static_cast<unsigned>(v)); }
CROQ_FN float __uint_as_float(unsigned v) { return croq::float_from_bits(v); }
CROQ_FN long long __double_as_longlong(double v) {
  long long bits;
  memcpy(&bits, &v, 8);
  return bits;
}
CROQ_FN double __longlong_as_double(long long bits) {
  double v;
  memcpy(&v, &bits, 8);
  return v;
}
CROQ_FN int __double2hiint(double v) { return static_cast<int>(__double_as_longlong(v) >> 32); }
CROQ_FN int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
CROQ_FN double __hiloint2double(int high, int low) {
  const auto top = static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32;
  return __longlong_as_double(static_cast<long long>(top | static_cast<unsigned>(low)));
}

/* To integers: nearest, down, up, toward zero; values out of range are clamped, and a NaN gives
 * 0. */
#define CROQ_TO_INTEGER(S, from, suffix, name, T)                                                  \
  CROQ_FN T __##from##2##name##_rz(S v) { return croq::to<T>(v); }                                 \
  CROQ_FN T __##from##2##name##_rn(S v) { return croq::to<T>(::rint##suffix(v)); }                 \
  CROQ_FN T __##from##2##name##_rd(S v) { return croq::to<T>(::floor##suffix(v)); }                \
  CROQ_FN T __##from##2##name##_ru(S v) { return croq::to<T>(::ceil##suffix(v)); }
CROQ_TO_INTEGER(float, float, f, int, int)
CROQ_TO_INTEGER(float, float, f, uint, unsigned)
CROQ_TO_INTEGER(float, float, f, ll, long long)
CROQ_TO_INTEGER(float, float, f, ull, unsigned long long)
CROQ_TO_INTEGER(double, double, , int, int)
CROQ_TO_INTEGER(double, double, , uint, unsigned)
CROQ_TO_INTEGER(double, double, , ll, long long)
CROQ_TO_INTEGER(double, double, , ull, unsigned long long)
#undef CROQ_TO_INTEGER
CROQ_FN float __double2float_rn(double v) { return static_cast<float>(v); }
CROQ_FN float __int2float_rn(int v) { return static_cast<float>(v); }
CROQ_FN float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
CROQ_FN float __ll2float_rn(long long v) { return static_cast<float>(v); }
CROQ_FN float __ull2float_rn(unsigned long long v) { return static_cast<float>(v); }
CROQ_FN double __int2double_rn(int v) { return v; }
CROQ_FN double __uint2double_rn(unsigned v) { return v; }
CROQ_FN double __ll2double_rn(long long v) { return static_cast<double>(v); }
CROQ_FN double __ull2double_rn(unsigned long long v) { return static_cast<double>(v); }

CROQ_FN int __popc(unsigned v) { return __builtin_popcount(v); }
CROQ_FN int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
CROQ_FN int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v)); }
CROQ_FN int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v));
}
CROQ_FN int __ffs(int v) { return __builtin_ffs(v); }
CROQ_FN int __ffsll(long long v) { return __builtin_ffsll(v); }
CROQ_FN unsigned __brev(unsigned v) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (v >> bit & 1u) << (31 - bit);
  return reversed;
}
CROQ_FN unsigned long long __brevll(unsigned long long v) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32 |
         __brev(static_cast<unsigned>(v >> 32));
}
CROQ_FN int __mul24(int a, int b) {
  const int left = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
  const int right = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
  return static_cast<int>(static_cast<unsigned>(left) * static_cast<unsigned>(right));
}
CROQ_FN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
CROQ_FN int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
CROQ_FN unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
CROQ_FN long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
CROQ_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
CROQ_FN int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
CROQ_FN int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
CROQ_FN unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
CROQ_FN unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
CROQ_FN unsigned __sad(int a, int b, unsigned c) {
  const long long apart = static_cast<long long>(a) - b;
  return static_cast<unsigned>(apart < 0 ? -apart : apart) + c;
}
CROQ_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
/* A shift of the two words as one: `c` clamps the distance to 32, otherwise it is modulo 32. */
CROQ_FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (by & 31) >> 32);
}
CROQ_FN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (by < 32 ? by : 32) >> 32);
}
CROQ_FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (by & 31));
}
CROQ_FN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (by < 32 ? by : 32));
}
/* Bytes of the two words, each selected by three bits of four; the fourth bit selects the byte's
 * sign, repeated. */
CROQ_FN unsigned __byte_perm(unsigned low, unsigned high, unsigned choice) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  unsigned found = 0;
  for (int at = 0; at < 4; ++at) {
    const unsigned chosen = choice >> (4 * at) & 0xfu;
    unsigned byte = static_cast<unsigned>(both >> (8 * (chosen & 7))) & 0xffu;
    if ((chosen & 8) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;
    found |= byte << (8 * at);
  }
  return found;
}
/* Dot products of four bytes. */
CROQ_FN int __dp4a(int a, int b, int c) {
  unsigned sum = static_cast<unsigned>(c);
  for (int at = 0; at < 32; at += 8)
    sum += static_cast<unsigned>(static_cast<signed char>(a >> at) *
                                 static_cast<signed char>(b >> at));
  return static_cast<int>(sum);
}
CROQ_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int at = 0; at < 32; at += 8) c += (a >> at & 0xffu) * (b >> at & 0xffu);
  return c;
}
/* For operands of inline assembly. */
template <class T> CROQ_FN size_t __cvta_generic_to_shared(const T *p) {
  return reinterpret_cast<size_t>(p);
}
template <class T> CROQ_FN size_t __cvta_generic_to_global(const T *p) {
  return reinterpret_cast<size_t>(p);
}

#endif
