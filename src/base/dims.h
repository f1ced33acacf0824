// Dims: the extents of a tensor, kept inline so that the run path never allocates for them.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace hf {

/// The largest rank handled. ONNX has no limit; nothing known exceeds 8.
inline constexpr int kMaxRank = 16;

/// Extents, outermost first; rank 0 is a scalar. A plain value.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> dims) : Dims(std::span<const int64_t>(dims.begin(), dims.size())) {}
  /// Throws InvalidArgument if there are more than kMaxRank.
  explicit Dims(std::span<const int64_t> dims);
  /// `rank` times the extent `fill`.
  static Dims filled(int rank, int64_t fill);

  int rank() const { return rank_; }
  int64_t operator[](int i) const { return d_[i]; }
  int64_t& operator[](int i) { return d_[i]; }
  const int64_t* begin() const { return d_; }
  const int64_t* end() const { return d_ + rank_; }
  int64_t* begin() { return d_; }
  int64_t* end() { return d_ + rank_; }
  int64_t back() const { return d_[rank_ - 1]; }
  const int64_t* data() const { return d_; }
  operator std::span<const int64_t>() const { return {d_, static_cast<size_t>(rank_)}; }

  void push_back(int64_t d);
  void insert(int at, int64_t d);
  void erase(int at);

  /// Product of the extents (1 for a scalar). Throws InvalidModel on a negative extent or if it passes 2^62.
  int64_t count() const;
  /// Product of the extents [from, to).
  int64_t count(int from, int to) const;
  /// Row-major strides in elements.
  Dims strides() const;
  bool operator==(const Dims& o) const;

  /// "[1, 3, 224, 224]"
  std::string text() const;

 private:
  int64_t d_[kMaxRank] = {};
  int rank_ = 0;
};

/// Numpy/ONNX multidirectional broadcast of two shapes. Throws InvalidArgument if they do not fit.
Dims broadcast(const Dims& a, const Dims& b);

/// An axis attribute in [-rank, rank-1] as [0, rank-1]. Throws InvalidModel outside it.
int normalize_axis(int64_t axis, int rank, const char* name = "axis");

}  // namespace hf
