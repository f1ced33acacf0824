// Shape: what is known of a value's extents before it exists.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/dims.h"

namespace hf::ir {

/// One extent: known (value >= 0), named by a symbol such as "batch", or unknown (value < 0 and no symbol). Two extents
/// with the same symbol are equal at run time.
struct Dim {
  int64_t value = -1;
  std::string symbol;

  Dim() = default;
  Dim(int64_t v) : value(v) {}
  static Dim named(std::string symbol) {
    Dim d;
    d.symbol = std::move(symbol);
    return d;
  }
  bool known() const { return value >= 0; }
  /// True if both are certainly the same extent.
  bool same(const Dim& o) const { return known() ? value == o.value : !symbol.empty() && symbol == o.symbol; }
  /// "3", "batch" or "?"
  std::string text() const;
};

/// A list of extents, or nothing at all (unranked).
class Shape {
 public:
  Shape() = default;  // unranked
  Shape(std::vector<Dim> dims) : ranked_(true), dims_(std::move(dims)) {}
  Shape(const Dims& dims) : ranked_(true), dims_(dims.begin(), dims.end()) {}
  static Shape unknown_of_rank(int rank) { return Shape(std::vector<Dim>(static_cast<size_t>(rank))); }

  bool ranked() const { return ranked_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  Dim& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  const std::vector<Dim>& dims() const { return dims_; }
  std::vector<Dim>& dims() { return dims_; }
  /// Every extent is known.
  bool is_static() const;
  /// The extents; Internal error unless is_static().
  Dims get() const;
  /// Number of elements if static.
  std::optional<int64_t> count() const;
  /// "[batch, 3, ?, 224]", or "[...]" when unranked.
  std::string text() const;

 private:
  bool ranked_ = false;
  std::vector<Dim> dims_;
};

/// Could both hold of one value? False if two known extents or the ranks differ.
bool compatible(const Shape& a, const Shape& b);

/// What is certain when both hold of one value: known beats named beats unknown. Throws InvalidModel if two known
/// extents or the ranks differ.
Shape merge(const Shape& a, const Shape& b);

}  // namespace hf::ir
