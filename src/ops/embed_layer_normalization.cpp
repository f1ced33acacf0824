// EmbedLayerNormalization of com.microsoft: the sum of BERT's embeddings, normalised.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    float_attr("epsilon", 1e-12f),
    int_attr("mask_index_type", 0),
};

enum Inputs { kIds, kSegments, kWordTable, kPositionTable, kSegmentTable, kGamma, kBeta, kMask, kPositions };

void infer(Infer& in) {
  in.require(is_float(in.dtype(kWordTable)), "word_embedding is {}, wanted a float type", name(in.dtype(kWordTable)));
  in.require(in.has(kSegments) == in.has(kSegmentTable), "segment_ids and segment_embedding go together");
  DType type = in.dtype(kWordTable);
  in.set(0, type);
  in.set(1, in.dtype(kIds));
  in.set(2, type);
  const Shape &ids = in.shape(kIds), &table = in.shape(kWordTable);
  if (!ids.ranked() || !table.ranked()) return;
  ir::merge(ids, Shape::unknown_of_rank(2));
  ir::merge(table, Shape::unknown_of_rank(2));
  for (int i : {kSegments, kMask})
    if (in.has(i)) ir::merge(in.shape(i), ids);
  if (in.has(kPositions) && in.shape(kPositions).ranked()) {
    Shape wanted = ids;
    if (in.rank(kPositions) == 2 && in.shape(kPositions)[0].value == 1) wanted[0] = 1;
    ir::merge(in.shape(kPositions), wanted);
  }
  for (int i : {kPositionTable, kSegmentTable})
    if (in.has(i)) ir::merge(in.shape(i), Shape({Dim(), table[1]}));
  for (int i : {kGamma, kBeta}) ir::merge(in.shape(i), Shape(std::vector<Dim>{table[1]}));
  Shape out({ids[0], ids[1], table[1]});
  in.set(0, type, out);
  in.set(1, in.dtype(kIds), Shape(std::vector<Dim>{ids[0]}));
  in.set(2, type, out);
}

// A table of rows to add by index.
template <class T>
struct Table {
  ReadAs<T> rows;
  int64_t count, width;
  explicit Table(const Tensor& t) : rows(t), count(t.dims()[0]), width(t.dims()[1]) {}
  void add(int64_t id, const char* what, T* to) const {
    if (id < 0 || id >= count) fail(Code::InvalidArgument, "{} id {}, wanted 0 to {}", what, id, count - 1);
    for (int64_t l = 0; l < width; ++l) to[l] += rows[id * width + l];
  }
};

template <class T>
void normalize(const T* x, int64_t n, T epsilon, const T* gamma, const T* beta, T* y) {
  T mean = 0, variance = 0;
  for (int64_t i = 0; i < n; ++i) mean += x[i];
  mean /= T(n);
  for (int64_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean);
  T scale = 1 / std::sqrt(variance / T(n) + epsilon);
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

// How many ones each row of the mask has: 0 without a mask.
void count_mask(Eval& e) {
  Tensor& out = e.out(1);
  int64_t length = e.in(kIds).dims()[1];
  std::vector<int64_t> counts(static_cast<size_t>(out.size())), mask;
  if (e.has(kMask)) mask = to_ints(e.in(kMask));
  for (size_t i = 0; i < mask.size(); ++i) counts[i / static_cast<size_t>(length)] += mask[i] == 1;
  write_elements(counts.data(), out);
}

template <class T>
void embed(Eval& e) {
  const Tensor& ids_tensor = e.in(kIds);
  int64_t length = ids_tensor.dims()[1], width = e.in(kWordTable).dims()[1];
  std::vector<int64_t> ids = to_ints(ids_tensor), segments, positions;
  if (e.has(kSegments)) segments = to_ints(e.in(kSegments));
  if (e.has(kPositions)) positions = to_ints(e.in(kPositions));
  Table<T> words(e.in(kWordTable)), places(e.in(kPositionTable));
  std::optional<Table<T>> segment_table;
  if (e.has(kSegmentTable)) segment_table.emplace(e.in(kSegmentTable));
  ReadAs<T> gamma(e.in(kGamma)), beta(e.in(kBeta));
  Tensor sum(dtype_of<T>(), e.out().dims());
  T* sums = sum.template data<T>();
  std::fill_n(sums, sum.size(), T(0));
  WriteAs<T> out(e.out());
  for (size_t i = 0; i < ids.size() && width > 0; ++i) {
    T* row = sums + static_cast<int64_t>(i) * width;
    words.add(ids[i], "word", row);
    places.add(positions.empty() ? static_cast<int64_t>(i) % length : positions[i % positions.size()], "position", row);
    if (segment_table) segment_table->add(segments[i], "segment", row);
    normalize(row, width, T(e.node.f("epsilon")), gamma.data(), beta.data(),
              out.data() + static_cast<int64_t>(i) * width);
  }
  out.commit();
  if (e.wants(1)) count_mask(e);
  if (e.wants(2)) write_elements(sums, e.out(2));
}

void reference(Eval& e) {
  dispatch_float(e.in(kWordTable).dtype(), [&]<class T>(T) { embed<T>(e); });
}

constexpr OpDef defs[] = {
    {.name = "EmbedLayerNormalization",
     .domain = "com.microsoft",
     .min_inputs = 1,
     .max_inputs = 9,
     .max_outputs = 3,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> embed_layer_normalization_ops() { return defs; }

}  // namespace hf::ops
