// Transposes that move no byte: between the orders of channels-last and channels-first values, and of extents of one.
#include "lower/table.h"

namespace hf::lower {
namespace {

bool is_to_last(const std::vector<int64_t>& perm) {
  int64_t rank = static_cast<int64_t>(perm.size());
  for (int64_t i = 1; i + 1 < rank; ++i)
    if (perm[static_cast<size_t>(i)] != i + 1) return false;
  return rank >= 3 && perm[0] == 0 && perm.back() == 1;
}

bool is_to_first(const std::vector<int64_t>& perm) {
  int64_t rank = static_cast<int64_t>(perm.size());
  for (int64_t i = 2; i < rank; ++i)
    if (perm[static_cast<size_t>(i)] != i - 1) return false;
  return rank >= 3 && perm[0] == 0 && perm[1] == rank - 1;
}

// The axes that are longer than one keep their order.
bool keeps_order(const std::vector<int64_t>& perm, const Dims& dims) {
  int64_t last = -1;
  for (int64_t axis : perm) {
    if (dims[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

Answer lower_transpose_alias(const Request& r) {
  if (!r.node.has("perm")) return Refusal{"reversed axes"};
  const std::vector<int64_t>& perm = r.node.ints("perm");
  Lowered l;
  l.alias = 0;
  l.text = "alias";
  DType stored = r.stored_input(0);
  Dims in = r.dims(0), out = r.out_dims();
  Layout last_in = device_channels_last(in, stored), last_out = device_channels_last(out, stored);
  // Whole channels only: the padding of others is no part of the transposed value.
  if (is_to_last(perm) && r.is_channels_last(0) && device_layout(last_in)->pitch == in[1]) {
    l.inputs = {last_in};
    l.outputs = {device_rows(out, stored)};
  } else if (is_to_first(perm) && device_layout(last_out)->pitch == out[1] && !r.is_channels_last(0)) {
    l.inputs = {device_rows(in, stored)};
    l.outputs = {last_out};
  } else if (keeps_order(perm, in) && !r.is_channels_last(0)) {
    l.inputs = {device_rows(in, stored)};
    l.outputs = {device_rows(out, stored)};
  } else {
    return Refusal{"bytes move"};
  }
  return l;
}

}  // namespace hf::lower
