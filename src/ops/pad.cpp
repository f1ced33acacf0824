// Pad and CenterCropPad: a tensor inside a larger or smaller one.
#include <algorithm>
#include <array>
#include <optional>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef pad_attrs[] = {
    string_attr("mode", "constant"),
    required_attr("pads", AttrType::Ints, 2, 10),
    float_attr("value", 0, 2, 10),
};
constexpr AttrDef center_attrs[] = {optional_attr("axes", AttrType::Ints)};

void upgrade(ir::Graph& g, Node& n, int opset) {
  if (opset >= 11) return;
  const float value = n.f("value");
  n.attrs.erase("value");
  attr_to_input(g, n, "pads", 1);
  if (value != 0) set_constant_input(g, n, 2, Tensor::scalar(value));  // converted to the data's dtype when used
}

enum class Mode { Constant, Reflect, Edge, Wrap };

Mode mode_of(const Node& n) {
  constexpr std::array<std::string_view, 4> names = {"constant", "reflect", "edge", "wrap"};
  const auto at = std::find(names.begin(), names.end(), n.s("mode"));
  if (at == names.end()) fail(Code::InvalidModel, "mode '{}' is none of constant, reflect, edge, wrap", n.s("mode"));
  return static_cast<Mode>(at - names.begin());
}

// What is added in front of and behind an axis; taken away where negative.
struct Pads {
  int64_t begin = 0, end = 0;
};

std::vector<Pads> pads_of(const Tensor& pads, const Tensor* axes, int rank) {
  std::vector<int> on;
  if (axes)
    on = normalize_axes(to_ints(*axes), rank);
  else
    for (int i = 0; i < rank; ++i) on.push_back(i);
  if (pads.size() != 2 * static_cast<int64_t>(on.size()))
    fail(Code::InvalidModel, "{} pads for {} axes, wanted two for each", pads.size(), on.size());
  const std::vector<int64_t> given = to_ints(pads);
  for (int64_t v : given)
    if (std::max(v, -(v + 1)) > INT64_MAX / 4) fail(Code::InvalidModel, "a pad of {}", v);
  std::vector<Pads> all(static_cast<size_t>(rank));
  for (size_t i = 0; i < on.size(); ++i) all[static_cast<size_t>(on[i])] = {given[i], given[on.size() + i]};
  return all;
}

int64_t padded(int64_t extent, const Pads& p) {
  const int64_t out = add_extents(add_extents(extent, p.begin), p.end);
  if (out < 0) fail(Code::InvalidModel, "pads [{}, {}] of an axis of {}", p.begin, p.end, extent);
  return out;
}

void infer(Infer& in) {
  mode_of(in.node);
  in.require(in.has(1), "pads are missing");
  Shape out = in.shape(0);
  if (!out.ranked()) return in.set(0, in.dtype(0));
  if (!in.constant(1) || (in.has(3) && !in.constant(3)))
    return in.set(0, in.dtype(0), Shape::unknown_of_rank(out.rank()));
  const std::vector<Pads> pads = pads_of(*in.constant(1), in.constant(3), out.rank());
  for (int i = 0; i < out.rank(); ++i) {
    const Pads& p = pads[static_cast<size_t>(i)];
    if (out[i].known())
      out[i] = padded(out[i].value, p);
    else if (add_extents(p.begin, p.end) != 0)
      out[i] = Dim();
  }
  in.set(0, in.dtype(0), out);
}

// A piece of one axis of the output: `count` positions from `to` on, read from `from` on in steps of `step`.
struct Piece {
  int64_t to, from, step, count;
};

// The piece at position `p` of the periodic continuation of [0, c), c > 1, not longer than `most`.
Piece reflected(int64_t p, int64_t c, int64_t most) {
  const int64_t period = 2 * (c - 1), r = ((p % period) + period) % period;
  if (r < c - 1) return {0, r, 1, std::min(c - 1 - r, most)};
  return {0, period - r, -1, std::min(period - r, most)};
}

Piece wrapped(int64_t p, int64_t c, int64_t most) {
  const int64_t r = ((p % c) + c) % c;
  return {0, r, 1, std::min(c - r, most)};
}

// How one axis of the output is put together. Negative pads crop first; the other modes continue what is left.
std::vector<Piece> pieces_of(Mode mode, int64_t extent, const Pads& p) {
  const int64_t first = std::min(std::max<int64_t>(-p.begin, 0), extent);
  const int64_t last = std::max(extent - std::max<int64_t>(-p.end, 0), first);
  const int64_t left = std::max<int64_t>(p.begin, 0), right = std::max<int64_t>(p.end, 0), core = last - first;
  const int64_t out = padded(extent, p);
  std::vector<Piece> pieces;
  if (core > 0) pieces.push_back({left, first, 1, core});
  if (mode == Mode::Constant || out == 0) return pieces;
  if (core == 0)
    fail(Code::InvalidArgument, "pads [{}, {}] leave nothing of an axis of {} to continue", p.begin, p.end, extent);
  auto continue_over = [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t at = begin - left, most = end - begin;
      Piece piece = mode == Mode::Edge || core == 1 ? Piece{0, at < 0 ? 0 : core - 1, 0, most}
                    : mode == Mode::Wrap            ? wrapped(at, core, most)
                                                    : reflected(at, core, most);
      piece.from += first;
      piece.to = begin;
      pieces.push_back(piece);
      begin += piece.count;
    }
  };
  continue_over(0, left);
  continue_over(out - right, out);
  return pieces;
}

// Copies every combination of the axes' pieces from axis `axis` on.
void copy_pieces(const Tensor& x, int64_t from, Tensor& y, int64_t to, const std::vector<std::vector<Piece>>& pieces,
                 const Dims& from_strides, const Dims& to_strides, std::vector<CopyAxis>& axes) {
  const auto axis = static_cast<int>(axes.size());
  if (axis == x.rank()) return copy_strided(x, from, y, to, axes);
  for (const Piece& p : pieces[static_cast<size_t>(axis)]) {
    axes.push_back({p.count, p.step * from_strides[axis], to_strides[axis]});
    copy_pieces(x, from + p.from * from_strides[axis], y, to + p.to * to_strides[axis], pieces, from_strides,
                to_strides, axes);
    axes.pop_back();
  }
}

void pad(const Tensor& x, const std::vector<Pads>& pads, Mode mode, const Tensor& value, Tensor& y) {
  if (mode == Mode::Constant) fill(y, value);
  if (y.size() == 0) return;
  std::vector<std::vector<Piece>> pieces;
  for (int i = 0; i < x.rank(); ++i) pieces.push_back(pieces_of(mode, x.dims()[i], pads[static_cast<size_t>(i)]));
  std::vector<CopyAxis> axes;
  copy_pieces(x, 0, y, 0, pieces, x.dims().strides(), y.dims().strides(), axes);
}

// The constant in the dtype of the data; undefined (zero) if there is none.
Tensor constant_value(const Eval& e) {
  if (!e.has(2)) return {};
  const Tensor& given = e.in(2);
  if (given.size() != 1) fail(Code::InvalidArgument, "constant_value has {} elements, wanted 1", given.size());
  if (given.dtype() == e.in(0).dtype()) return given;
  Tensor value(e.in(0).dtype(), {});
  const double number = to_number(given);
  write_elements(&number, value);
  return value;
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  pad(x, pads_of(e.in(1), e.has(3) ? &e.in(3) : nullptr, x.rank()), mode_of(e.node), constant_value(e), e.out());
}

// ---- CenterCropPad

void infer_center(Infer& in) {
  Shape out = in.shape(0);
  if (!out.ranked()) return in.set(0, in.dtype(0));
  std::vector<int64_t> on = in.node.ints_or_empty("axes");
  if (!in.node.has("axes"))
    for (int i = 0; i < out.rank(); ++i) on.push_back(i);
  const std::vector<int> axes = normalize_axes(on, out.rank());
  const std::vector<int64_t> wanted = in.constant(1) ? list_of(in, 1) : std::vector<int64_t>();
  in.require(!in.constant(1) || wanted.size() == axes.size(), "{} extents for {} axes", wanted.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    in.require(wanted.empty() || wanted[i] >= 0, "extent {} to crop or pad to", wanted.empty() ? 0 : wanted[i]);
    out[axes[i]] = wanted.empty() ? Dim() : Dim(wanted[i]);
  }
  in.set(0, in.dtype(0), out);
}

// Half of the difference in front, rounded down; the rest behind.
void center(Eval& e) {
  std::vector<Pads> pads;
  for (int i = 0; i < e.in(0).rank(); ++i) {
    const int64_t from = e.in(0).dims()[i], to = e.out().dims()[i];
    const int64_t begin = (to - from) / 2;  // toward zero both ways
    pads.push_back({begin, to - from - begin});
  }
  pad(e.in(0), pads, Mode::Constant, {}, e.out());
}

constexpr OpDef defs[] = {
    {.name = "Pad", .max_inputs = 4, .attrs = pad_attrs, .upgrade = upgrade, .infer = infer, .reference = reference},
    {.name = "CenterCropPad",
     .since = 18,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = center_attrs,
     .infer = infer_center,
     .reference = center},
};

}  // namespace

std::span<const OpDef> pad_ops() { return defs; }

}  // namespace hf::ops
