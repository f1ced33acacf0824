// A node's epilogue for kernels that see their result as rows and columns.
#include <bit>

#include "lower/lowering.h"

namespace hf::lower {
namespace {

using kernel::Operand;

// The operand's extents aligned with the result's, 1 where it has none.
Dims aligned(const Dims& dims, int rank) {
  Dims d = Dims::filled(rank, 1);
  for (int i = 0; i < dims.rank(); ++i) d[rank - dims.rank() + i] = dims[i];
  return d;
}

// The product of the result's extents over axes [from, to) where the operand has them all, 1 where it has none of them,
// -1 for a mixture.
int64_t covered(const Dims& operand, const Dims& result, int from, int to) {
  int64_t all = result.count(from, to), has = operand.count(from, to);
  return has == all ? all : has == 1 ? 1 : -1;
}

// Row-major view: rows are the axes but the last. The operand may repeat along inner or outer groups of them.
std::optional<Operand> in_rows(const Dims& o, const Dims& result, int64_t columns) {
  int last = result.rank() - 1;
  int column_stride = last >= 0 && o[last] == columns && columns > 1 ? 1 : 0;
  int64_t stride = column_stride ? columns : 1;
  if (last <= 0) return Operand{.column_stride = column_stride};
  for (int cut = 0; cut <= last; ++cut) {  // axes [0, cut) vary, [cut, last) repeat
    if (covered(o, result, 0, cut) != result.count(0, cut) || covered(o, result, cut, last) == -1) continue;
    if (o.count(cut, last) != 1 && result.count(cut, last) != 1) continue;
    if (o.count(0, last) == 1) return Operand{.column_stride = column_stride};
    return Operand{.row_divisor = result.count(cut, last), .row_stride = stride, .column_stride = column_stride};
  }
  return std::nullopt;
}

// Channels-last view: rows are images and positions, columns channels.
std::optional<Operand> in_positions(const Dims& o, const Dims& result, int64_t operand_pitch) {
  int rank = result.rank();
  int column_stride = o[1] == result[1] && result[1] > 1 ? 1 : 0;
  int64_t positions = covered(o, result, 2, rank), images = covered(o, result, 0, 1);
  int64_t all = result.count(2, rank), stride = column_stride ? operand_pitch : 1;
  if (positions == -1 || images == -1) return std::nullopt;
  if (o[0] * o.count(2, rank) == 1) return Operand{.column_stride = column_stride};
  if (o.count(2, rank) == all && o[0] == result[0])
    return Operand{.row_stride = stride, .column_stride = column_stride};
  if (o.count(2, rank) == 1 && o[0] == result[0])
    return Operand{.row_divisor = all, .row_stride = stride, .column_stride = column_stride};
  return std::nullopt;
}

// A constant of one value as text: the kernel then reads no memory for that operand.
std::string known_value(int reg, const Tensor& t) {
  return fmt::format("r{} = as_float({:#x}u);\n", reg, std::bit_cast<uint32_t>(ReadAs<float>(t)[0]));
}

}  // namespace

std::variant<kernel::Epilogue, Refusal> epilogue_of(const Request& r, bool channels_last, std::vector<Layout>& inputs) {
  kernel::Epilogue e;
  if (!r.node.epilogue) return e;
  e.expression = expression_of(*r.node.epilogue);
  Dims result = r.out_dims();
  for (int k = 0; k < r.node.epilogue_inputs; ++k) {
    int at = r.node.own_inputs() + k;
    DType stored = r.stored_input(at);
    if (!is_float_element(stored)) return Refusal{fmt::format("epilogue operand {} is {}", k, name(stored))};
    Dims dims = r.dims(at), o = aligned(dims, result.rank());
    // An operand of lower rank, or one that does not vary over positions, lies alike either way.
    bool last = channels_last && dims.rank() == result.rank() && dims.count(2, dims.rank()) > 1;
    Layout layout = last ? device_channels_last(dims, stored) : device_rows(dims, stored);
    int64_t pitch = device_layout(layout)->channels_last() ? device_layout(layout)->pitch : o.rank() > 1 ? o[1] : 1;
    auto operand =
        channels_last ? in_positions(o, result, pitch) : in_rows(o, result, result.rank() ? result.back() : 1);
    if (!operand) return Refusal{fmt::format("epilogue operand {} {} repeats in no simple way", k, dims.text())};
    operand->type = element_of(stored);
    e.operands.push_back(*operand);
    if (const Tensor* t = r.constant(at); t && t->size() == 1) e.expression.body.insert(0, known_value(k + 1, *t));
    inputs[static_cast<size_t>(at)] = layout;
  }
  return e;
}

}  // namespace hf::lower
