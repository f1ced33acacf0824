// BatchNormalization with given statistics, as elementwise work; and LRN.
#include <algorithm>

#include "kernel/lrn.h"
#include "lower/elementwise.h"
#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {

Answer lower_batch_norm(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  const ir::Node& n = r.node;
  if (n.i("training_mode")) return Refusal{"it is training"};
  for (size_t i = 1; i < n.outputs().size(); ++i)
    if (n.outputs()[i]) return Refusal{"statistics are wanted"};
  if (n.has("spatial") && n.i("spatial") == 0) return Refusal{"statistics of every element"};
  const Dims d = r.dims(0);
  const int64_t channels = d.rank() > 1 ? d[1] : 1;
  const int x[] = {0};
  const Layout to = result_layout(r, x);
  Lowered l;
  l.inputs = {operand_layout(r, 0, to)};
  l.outputs = {to};
  std::vector<Source> sources = {{kernel::Argument::input(0), l.inputs[0]}};
  for (int i = 1; i < 5; ++i) {
    if (r.dims(i).count() != channels) return Refusal{fmt::format("input {} has {} elements", i, r.dims(i).count())};
    const DType stored = r.constant(i) ? DType::F32 : r.stored_input(i);
    l.inputs.push_back(device_rows(r.dims(i), stored));
    Dims along = Dims::filled(std::max(d.rank() - 1, 1), 1);
    along[0] = channels;
    sources.push_back({kernel::Argument::input(i), device_rows(along, stored)});
  }
  kernel::Expression e{.inputs = 5};
  e.body = fmt::format("return (r0 - r3) * (r1 / sqrt(r4 + {:a}f)) + r2;", n.f("epsilon"));
  auto launch = pointwise_launch(e, sources, to, kernel::Argument::output(0), r.target);
  if (auto* refusal = std::get_if<Refusal>(&launch)) return *refusal;
  l.launches = {std::get<kernel::Candidates>(std::move(launch))};
  l.text = "batch norm";
  return l;
}

Answer lower_lrn(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  if (!is_float_element(r.stored_input(0))) return Refusal{fmt::format("it is of {}", name(r.stored_input(0)))};
  const Dims d = r.dims(0);
  const DeviceLayout* now = r.is_channels_last(0) ? device_layout(r.layouts[0]) : nullptr;
  const kernel::LrnProblem p{.images = d[0],
                             .channels = d[1],
                             .positions = d.count(2, d.rank()),
                             .pitch = now ? now->pitch : 0,
                             .size = r.node.i("size"),
                             .alpha = r.node.f("alpha"),
                             .beta = r.node.f("beta"),
                             .bias = r.node.f("bias"),
                             .in = element_of(r.stored_input(0)),
                             .out = element_of(r.stored_output())};
  Lowered l;
  l.inputs = {now ? device_channels_last(d, now->stored, now->pitch) : r.rows(0)};
  l.outputs = {now ? device_channels_last(d, r.stored_output(), now->pitch) : r.out_rows()};
  l.launches = {kernel::lrn(p, r.target)};
  l.text = "lrn " + l.launches[0][0].variant;
  return l;
}

}  // namespace hf::lower
