// EmbedLayerNormalization of com.microsoft: the embeddings' sum in the workspace, then its rows normalised.
#include "kernel/embedding.h"
#include "kernel/row_norm.h"
#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::Argument;

enum Inputs { kIds, kSegments, kWordTable, kPositionTable, kSegmentTable, kGamma, kBeta, kMask, kPositions };

std::optional<Refusal> refused(const Request& r) {
  if (auto refusal = refused_size(r)) return refusal;
  for (int i : {kSegments, kMask, kPositions})
    if (r.has(i) && r.dtype(i) != r.dtype(kIds)) return Refusal{"indices of several types"};
  if (r.dtype(kIds) != DType::I32 && r.dtype(kIds) != DType::I64)
    return Refusal{fmt::format("indices of {}", name(r.dtype(kIds)))};
  for (int i : {kWordTable, kPositionTable, kSegmentTable, kGamma, kBeta})
    if (r.has(i) && !is_float_element(r.stored_input(i)))
      return Refusal{fmt::format("input {} is {}", i, name(r.stored_input(i)))};
  return std::nullopt;
}

kernel::EmbeddingTable table(const Request& r, int i) {
  return {.rows = r.dims(i)[0], .type = element_of(r.stored_input(i))};
}

}  // namespace

Answer lower_embed_layer_norm(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  const Dims ids = r.dims(kIds), out = r.out_dims();
  const int bits = r.dtype(kIds) == DType::I64 ? 64 : 32;
  kernel::EmbeddingProblem p{.batch = ids[0],
                             .length = ids[1],
                             .width = out[2],
                             .words = table(r, kWordTable),
                             .positions = table(r, kPositionTable),
                             .has_segments = r.has(kSegments) && r.has(kSegmentTable),
                             .has_positions = r.has(kPositions),
                             .index_bits = bits,
                             .sums = r.wants(2)};
  std::vector<int> sources = {kIds, kWordTable, kPositionTable};
  if (p.has_positions) {
    p.positions_are_shared = r.dims(kPositions).count() != ids.count();
    sources.push_back(kPositions);
  }
  if (p.has_segments) {
    p.segments = table(r, kSegmentTable);
    sources.insert(sources.end(), {kSegments, kSegmentTable});
  }
  if (p.sums) p.out = element_of(r.stored_output(2));
  std::vector<kernel::Candidates> sum = {kernel::embedding(p, r.target)};
  renumber(sum, sources, {2});

  const kernel::RowNormProblem norm{.rows = ids.count(),
                                    .cols = out[2],
                                    .epsilon = r.node.f("epsilon"),
                                    .out = element_of(r.stored_output()),
                                    .scale = true,
                                    .bias = true,
                                    .scale_type = element_of(r.stored_input(kGamma)),
                                    .bias_type = element_of(r.stored_input(kBeta))};
  std::vector<kernel::Candidates> rows = {kernel::row_norm(norm, r.target)};
  renumber(rows, {kIds, kGamma, kBeta});
  for (kernel::KernelSpec& spec : rows[0])
    for (Argument& a : spec.arguments)
      if (a.kind == Argument::Kind::Input && a.index == kIds) a = Argument::workspace();

  Lowered l;
  l.launches = {sum[0], rows[0]};
  l.outputs.resize(r.node.outputs().size());
  for (int o : {0, 1, 2})
    if (r.wants(o)) l.outputs[static_cast<size_t>(o)] = r.out_rows(o);
  if (r.wants(1)) {
    const kernel::MaskCountProblem count{
        .batch = ids[0], .length = ids[1], .index_bits = bits, .has_mask = r.has(kMask)};
    std::vector<kernel::Candidates> launch = {kernel::mask_count(count, r.target)};
    renumber(launch, {kMask}, {1});
    l.launches.push_back(std::move(launch[0]));
  }
  l.inputs.resize(r.node.inputs().size());
  for (int i = kIds; i <= kPositions; ++i)
    if (r.has(i)) l.inputs[static_cast<size_t>(i)] = r.rows(i);
  l.text = "embedding + row norm";
  return l;
}

}  // namespace hf::lower
