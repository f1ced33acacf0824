// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include "kernel/quantize.h"

#include "lower/integers.h"
#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

// How the scales are shared out, for values that lie channels last or row-major. A reason if no kernel does it so.
std::string share_scales(const Request& r, bool last, kernel::QuantizeProblem& p) {
  const Dims x = r.dims(0), scale = r.dims(1);
  const bool blocks = r.node.has("block_size") && r.node.i("block_size") != 0;
  if (last) p.pitch = channel_pitch(x[1]), p.channels = x[1];
  if (scale.count() == 1 && (!blocks || scale.rank() == 0)) return "";
  if (blocks) return "a scale for each block";
  const int axis = x.rank() == 1 ? 0 : normalize_axis(r.node.i("axis"), x.rank());
  if (last && axis != 1) return fmt::format("scales along axis {} of a value that lies channels last", axis);
  p.inner = last ? 1 : x.count(axis + 1, x.rank());
  p.extent = last ? p.pitch : x[axis];
  return "";
}

Answer lower(const Request& r, bool to_integer) {
  if (r.empty()) return Refusal{"a tensor without elements"};
  const DType y = r.node.output(0)->dtype, whole = to_integer ? y : r.dtype(0), real = to_integer ? r.dtype(0) : y;
  const auto integer = integer_of(whole);
  if (!integer || (to_integer && whole == DType::I32) || !is_float_element(r.stored(real)) ||
      !is_float_element(r.dtype(1)))
    return Refusal{fmt::format("quantising {} to {}", name(r.dtype(0)), name(y))};
  if (r.has(2) && r.dtype(2) != whole) return Refusal{fmt::format("a zero point of {}", name(r.dtype(2)))};
  const bool last = r.is_channels_last(0);
  kernel::QuantizeProblem p{
      .to_integer = to_integer,
      .count =
          last ? r.dims(0)[0] * r.dims(0).count(2, r.dims(0).rank()) * channel_pitch(r.dims(0)[1]) : r.dims(0).count(),
      .integer = *integer,
      .has_zero = r.has(2)};
  if (std::string why = share_scales(r, last, p); !why.empty()) return Refusal{why};
  p.real = element_of(to_integer ? r.stored_input(0) : r.stored_output());
  const int64_t precision = r.node.has("precision") ? r.node.i("precision") : 0;
  if (to_integer) {
    const DType quotient = precision ? static_cast<DType>(precision) : r.dtype(1);
    if (!is_float_element(quotient)) return Refusal{fmt::format("a quotient of {}", name(quotient))};
    p.quotient = element_of(quotient);
  }
  Lowered l;
  l.launches = {kernel::quantize(p, r.target)};
  l.inputs = {last ? r.channels_last(0) : r.rows(0), device_rows(r.dims(1), DType::F32)};
  if (r.has(2)) l.inputs.push_back(r.rows(2));
  l.inputs.resize(r.node.inputs().size());
  l.outputs = {last ? r.out_channels_last() : r.out_rows()};
  l.text = to_integer ? "quantize" : "dequantize";
  return l;
}

}  // namespace

Answer lower_quantize(const Request& r) { return lower(r, true); }
Answer lower_dequantize(const Request& r) { return lower(r, false); }

Answer lower_dynamic_quantize(const Request& r) {
  if (r.empty() || !r.wants(0)) return Refusal{"a tensor without elements"};
  if (!is_float_element(r.stored_input(0))) return Refusal{fmt::format("quantising {}", name(r.dtype(0)))};
  Lowered l;
  l.launches = kernel::dynamic_quantize({.count = r.dims(0).count(), .real = element_of(r.stored_input(0))}, r.target);
  l.inputs = {r.rows(0)};
  l.outputs = {r.out_rows(0)};
  // The scale keeps all its bits.
  for (int i = 1; i < static_cast<int>(r.node.outputs().size()); ++i)
    l.outputs.push_back(r.wants(i) ? device_rows(r.out_dims(i), r.node.output(i)->dtype) : Layout());
  l.text = "dynamic quantize";
  return l;
}

}  // namespace hf::lower
