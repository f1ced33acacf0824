// Dims: arithmetic on extents with overflow checks.
#include "base/dims.h"

#include <algorithm>

#include "base/error.h"

namespace hf {

Dims::Dims(std::span<const int64_t> dims) {
  for (int64_t d : dims) push_back(d);
}

Dims Dims::filled(int rank, int64_t fill) {
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(fill);
  return d;
}

void Dims::push_back(int64_t d) {
  if (rank_ == kMaxRank) fail(Code::Unsupported, "a tensor of rank over {}", kMaxRank);
  d_[rank_++] = d;
}

void Dims::insert(int at, int64_t d) {
  push_back(d);
  std::rotate(d_ + at, d_ + rank_ - 1, d_ + rank_);
}

void Dims::erase(int at) {
  std::copy(d_ + at + 1, d_ + rank_, d_ + at);
  d_[--rank_] = 0;
}

int64_t Dims::count() const { return count(0, rank_); }

int64_t Dims::count(int from, int to) const {
  int64_t n = 1;
  bool zero = false;
  for (int i = from; i < to; ++i) {
    if (d_[i] < 0) fail(Code::InvalidModel, "shape {} has a negative extent", text());
    zero |= d_[i] == 0;
    if (d_[i] == 0) continue;
    if (n > (int64_t{1} << 62) / d_[i]) fail(Code::InvalidModel, "shape {} has more than 2^62 elements", text());
    n *= d_[i];
  }
  return zero ? 0 : n;
}

Dims Dims::strides() const {
  Dims s = Dims::filled(rank_, 1);
  for (int i = rank_ - 2; i >= 0; --i) s[i] = s[i + 1] * std::max<int64_t>(d_[i + 1], 1);
  return s;
}

bool Dims::operator==(const Dims& o) const { return rank_ == o.rank_ && std::equal(begin(), end(), o.begin()); }

std::string Dims::text() const {
  std::string s = "[";
  for (int i = 0; i < rank_; ++i) s += (i ? ", " : "") + std::to_string(d_[i]);
  return s + "]";
}

Dims broadcast(const Dims& a, const Dims& b) {
  int rank = std::max(a.rank(), b.rank());
  Dims out = Dims::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1)
      fail(Code::InvalidArgument, "shapes {} and {} do not broadcast", a.text(), b.text());
    out[i] = da == 1 ? db : da;
  }
  return out;
}

int normalize_axis(int64_t axis, int rank, const char* name) {
  if (axis < -rank || axis >= rank) fail(Code::InvalidModel, "{} {} is outside [{}, {}]", name, axis, -rank, rank - 1);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace hf
