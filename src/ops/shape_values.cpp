// Shape arithmetic on symbols: a walk up the nodes that compute a list of extents.
#include "ops/shape_values.h"

#include <algorithm>

namespace hf::ops {
namespace {

using Entries = std::vector<ShapeEntry>;
using Maybe = std::optional<Entries>;

// The walk gives up after this many values, since a graph may join the same value again and again.
constexpr int kMostVisits = 128;

class Walk {
 public:
  Maybe of(const ir::Value* v) {
    if (!v || ++visits_ > kMostVisits) return std::nullopt;
    Maybe entries = v->is_constant() ? of_constant(v->constant)
                    : v->producer()  ? of_node(*v->producer())
                                     : std::nullopt;
    if (entries && entries->size() <= kMaxRank) return entries;
    if (!v->shape.ranked() || v->shape.rank() > 1) return std::nullopt;
    const int64_t count = v->shape.rank() == 0 ? 1 : v->shape[0].value;
    return count >= 0 && count <= kMaxRank ? Maybe(Entries(static_cast<size_t>(count))) : std::nullopt;
  }

  static Maybe of_constant(const Tensor& t) {
    if (!is_int(t.dtype()) || t.rank() > 1 || t.size() > kMaxRank) return std::nullopt;
    Entries out;
    for (int64_t n : to_ints(t)) out.push_back({n, ""});
    return out;
  }

 private:
  using Rule = Maybe (Walk::*)(const Node&);

  Maybe of_node(const Node& n) {
    static constexpr std::pair<std::string_view, Rule> rules[] = {
        {"Add", &Walk::arithmetic}, {"Cast", &Walk::same},     {"Concat", &Walk::concat},  {"Div", &Walk::arithmetic},
        {"Gather", &Walk::gather},  {"Identity", &Walk::same}, {"Mul", &Walk::arithmetic}, {"Reshape", &Walk::same},
        {"Shape", &Walk::shape},    {"Slice", &Walk::slice},   {"Squeeze", &Walk::same},   {"Sub", &Walk::arithmetic},
        {"Unsqueeze", &Walk::same},
    };
    if (!n.domain.empty()) return std::nullopt;
    for (const auto& [op, rule] : rules)
      if (n.op == op) return (this->*rule)(n);
    return std::nullopt;
  }

  // The result has the elements of input 0. (Whether it is still a list its own shape says.)
  Maybe same(const Node& n) {
    const ir::Value* out = n.output();
    if (!out || !is_int(out->dtype) || !out->shape.ranked() || out->shape.rank() > 1) return std::nullopt;
    return of(n.input(0));
  }

  Maybe shape(const Node& n) {
    const Shape& s = n.input(0)->shape;
    if (!s.ranked()) return std::nullopt;
    auto at = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + s.rank() : axis, 0, s.rank()); };
    Entries out;
    for (int64_t i = at(n.i("start")), end = n.has("end") ? at(n.i("end")) : s.rank(); i < end; ++i) {
      const Dim& d = s[static_cast<int>(i)];
      out.push_back({d.known() ? std::optional(d.value) : std::nullopt, d.symbol});
    }
    return out;
  }

  Maybe concat(const Node& n) {
    Entries out;
    for (const ir::Value* v : n.inputs()) {
      const Maybe part = of(v);
      if (!part || out.size() + part->size() > kMaxRank) return std::nullopt;
      out.insert(out.end(), part->begin(), part->end());
    }
    return out;
  }

  Maybe gather(const Node& n) {
    const Maybe from = of(n.input(0)), indices = of(n.input(1));
    if (!from || !indices) return std::nullopt;
    Entries out;
    for (const ShapeEntry& i : *indices) {
      const auto size = static_cast<int64_t>(from->size());
      if (!i.number || *i.number < -size || *i.number >= size) return std::nullopt;
      out.push_back((*from)[static_cast<size_t>(*i.number < 0 ? *i.number + size : *i.number)]);
    }
    return out;
  }

  Maybe slice(const Node& n) {  // with step 1
    const Maybe from = of(n.input(0)), start = of(n.input(1)), end = of(n.input(2));
    const Maybe step = n.input(4) ? of(n.input(4)) : Maybe(Entries{{1, ""}});
    for (const Maybe* m : {&start, &end, &step})
      if (!*m || (*m)->size() != 1 || !(**m)[0].number) return std::nullopt;
    if (!from || (*step)[0].number != 1) return std::nullopt;
    const auto size = static_cast<int64_t>(from->size());
    auto at = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
    const int64_t first = at(*(*start)[0].number), last = std::max(first, at(*(*end)[0].number));
    return Entries(from->begin() + first, from->begin() + last);
  }

  static std::optional<int64_t> computed(const std::string& op, int64_t a, int64_t b) {
    int64_t r = 0;
    bool over = op == "Add"   ? __builtin_add_overflow(a, b, &r)
                : op == "Sub" ? __builtin_sub_overflow(a, b, &r)
                : op == "Mul" ? __builtin_mul_overflow(a, b, &r)
                              : b <= 0 || a < 0;
    if (over) return std::nullopt;
    return op == "Div" ? a / b : r;
  }

  Maybe arithmetic(const Node& n) {
    const Maybe a = of(n.input(0)), b = of(n.input(1));
    if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
    Entries out(a->size() == 1 ? b->size() : a->size());
    for (size_t i = 0; i < out.size(); ++i) {
      const ShapeEntry &x = (*a)[a->size() == 1 ? 0 : i], &y = (*b)[b->size() == 1 ? 0 : i];
      const int64_t neutral = n.op == "Mul" || n.op == "Div" ? 1 : 0;
      if (x.number && y.number)
        out[i].number = computed(n.op, *x.number, *y.number);
      else if (y.number == neutral)
        out[i] = x;
      else if (x.number == neutral && (n.op == "Add" || n.op == "Mul"))
        out[i] = y;
    }
    return out;
  }

  int visits_ = 0;
};

}  // namespace

std::optional<std::vector<ShapeEntry>> shape_entries(const Infer& in, int i) {
  if (const Tensor* t = in.constant(i)) return Walk::of_constant(*t);
  return Walk().of(in.node.input(i));
}

}  // namespace hf::ops
