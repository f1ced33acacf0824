// Shape: text and merging.
#include "ir/shape.h"

#include <algorithm>

#include "base/error.h"

namespace hf::ir {

std::string Dim::text() const { return known() ? std::to_string(value) : symbol.empty() ? "?" : symbol; }

bool Shape::is_static() const {
  return ranked_ && std::all_of(dims_.begin(), dims_.end(), [](const Dim& d) { return d.known(); });
}

Dims Shape::get() const {
  check(is_static(), "the shape is known");
  Dims d;
  for (const Dim& x : dims_) d.push_back(x.value);
  return d;
}

std::optional<int64_t> Shape::count() const {
  if (!is_static()) return std::nullopt;
  return get().count();
}

std::string Shape::text() const {
  if (!ranked_) return "[...]";
  std::string s = "[";
  for (size_t i = 0; i < dims_.size(); ++i) s += (i ? ", " : "") + dims_[i].text();
  return s + "]";
}

bool compatible(const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i].known() && b[i].known() && a[i].value != b[i].value) return false;
  return true;
}

Shape merge(const Shape& a, const Shape& b) {
  if (!a.ranked()) return b;
  if (!b.ranked()) return a;
  if (!compatible(a, b)) fail(Code::InvalidModel, "shape {} does not agree with shape {}", a.text(), b.text());
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i)
    if (b[i].known() || (!a[i].known() && a[i].symbol.empty())) out[i] = b[i];
  return out;
}

}  // namespace hf::ir
