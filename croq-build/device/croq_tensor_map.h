/* The contents of a tensor map, and the hardware's requirements on it (PTX ISA,
 * cuTensorMapEncodeTiled). */
#ifndef CROQ_TENSOR_MAP_H
#define CROQ_TENSOR_MAP_H

namespace croq {
inline namespace CROQ_TARGET {

/* A tensor in device memory and the box that one copy moves: innermost dimension first, in
 * elements. */
template <unsigned R> struct tensor_layout {
  static_assert(R >= 1 && R <= 5, "a tensor map has 1 to 5 dimensions");
  idx extents[R];
  /* The innermost is 1. */
  idx strides[R];
  idx box[R];
  /* 0, 32, 64 or 128 */
  unsigned swizzle;
  /* Bytes that a miss loads into L2: 64, 128 or 256. */
  unsigned promotion = 128;
};

/* The same without the number of dimensions in its type, for code that is compiled once. */
struct tensor_box {
  static constexpr unsigned most = 5;
  unsigned rank;
  const idx *extents, *strides, *box;
  unsigned swizzle, promotion;
  template <unsigned R>
  tensor_box(const tensor_layout<R> &of)
      : rank(R), extents(of.extents), strides(of.strides), box(of.box), swizzle(of.swizzle),
        promotion(of.promotion) {}
};

/* The L2 cache policy for a box. */
enum class cache_hint { none, evict_first, evict_last };

/* Why a tensor map is not possible; `what` is null if it is. */
struct tensor_map_fault {
  const char *what;
  idx dimension, value;
};

/* `memory` is the address of the tensor, `bytes` the size of an element. */
inline tensor_map_fault check_tensor_map(const tensor_box &layout, unsigned long long memory,
                                         idx bytes) {
  if (memory % 16 != 0) return {"tensor map: not at a multiple of 16 bytes", 0, 0};
  if (layout.strides[0] != 1)
    return {"tensor map: innermost elements are apart", 0, layout.strides[0]};
  for (unsigned d = 0; d < layout.rank; ++d) {
    const idx extent = layout.extents[d], stride = layout.strides[d], box = layout.box[d];
    /* Maps have extents up to 2^32, but coordinates are signed numbers of 32 bits: the second half of
     * such a dimension would be out of bounds. */
    if (extent < 1 || extent > 0x7fffffff)
      return {"tensor map: extent not in 1..2^31-1", d, extent};
    if (box < 1 || box > 256) return {"tensor map: box not in 1..256", d, box};
    if (d == 0) continue;
    if (stride < 1 || stride >= (1ll << 40) / bytes)
      return {"tensor map: stride not below 2^40 bytes", d, stride};
    if (stride * bytes % 16 != 0)
      return {"tensor map: stride not a multiple of 16 bytes", d, stride * bytes};
  }
  const idx inner = layout.box[0] * bytes;
  if (inner % 16 != 0) return {"tensor map: inner box not a multiple of 16 bytes", 0, inner};
  const idx swizzle = static_cast<idx>(layout.swizzle);
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return {"tensor map: swizzle is not 0, 32, 64 or 128", 0, swizzle};
  /* The hardware also allows narrower boxes, with rows padded to the swizzle's width; they are not
   * supported. */
  if (swizzle != 0 && inner != swizzle)
    return {"tensor map: inner box is not as wide as the swizzle", 0, inner};
  return {nullptr, 0, 0};
}

}  // namespace CROQ_TARGET
}  // namespace croq
#endif
