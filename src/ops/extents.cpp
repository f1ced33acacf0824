// Extents: products, sums, axes, short lists.
#include "ops/extents.h"

#include <algorithm>

namespace hf::ops {

int64_t add_extents(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) fail(Code::InvalidModel, "extent {} + {} is out of range", a, b);
  return r;
}

int64_t multiply_extents(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) fail(Code::InvalidModel, "extent {} * {} is out of range", a, b);
  return r;
}

Dim product(const Shape& s, int from, int to) {
  Dim open;
  int64_t known = 1;
  int opens = 0;
  for (int i = from; i < to; ++i) {
    if (s[i].value == 0) return 0;
    if (s[i].known())
      known = multiply_extents(known, s[i].value);
    else
      open = s[i], ++opens;
  }
  if (!opens) return known;
  return opens == 1 && known == 1 ? open : Dim();
}

std::vector<int> normalize_axes(std::span<const int64_t> axes, int rank) {
  std::vector<int> out;
  for (int64_t a : axes) {
    int axis = normalize_axis(a, rank, "axis");
    if (std::find(out.begin(), out.end(), axis) != out.end()) fail(Code::InvalidModel, "axis {} comes twice", a);
    out.push_back(axis);
  }
  return out;
}

int list_length(const Infer& in, int i) {
  const Shape& s = in.shape(i);
  in.require(is_int(in.dtype(i)) || in.dtype(i) == DType::Undefined, "input {} is {}, wanted integers", i,
             name(in.dtype(i)));
  if (!s.ranked()) return -1;
  in.require(s.rank() == 1, "input {} has shape {}, wanted one axis", i, s.text());
  if (!s[0].known()) return -1;
  if (s[0].value > kMaxRank)
    fail(Code::Unsupported, "input {} has {} elements, at most {} are handled", i, s[0].value, kMaxRank);
  return static_cast<int>(s[0].value);
}

std::vector<int64_t> list_of(const Infer& in, int i) {
  const Tensor& t = *in.constant(i);
  in.require(is_int(t.dtype()), "input {} is {}, wanted integers", i, t.text());
  in.require(t.rank() <= 1, "input {} is {}, wanted one axis", i, t.text());
  if (t.size() > kMaxRank)
    fail(Code::Unsupported, "input {} has {} elements, at most {} are handled", i, t.size(), kMaxRank);
  return to_ints(t);
}

}  // namespace hf::ops
