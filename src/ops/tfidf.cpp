// TfIdfVectorizer: how often each n-gram of a pool occurs in a row.
#include <algorithm>
#include <map>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    required_attr("max_gram_length", AttrType::Int), required_attr("max_skip_count", AttrType::Int),
    required_attr("min_gram_length", AttrType::Int), required_attr("mode", AttrType::String),
    required_attr("ngram_counts", AttrType::Ints),   required_attr("ngram_indexes", AttrType::Ints),
    optional_attr("pool_int64s", AttrType::Ints),    optional_attr("pool_strings", AttrType::Strings),
    optional_attr("weights", AttrType::Floats),
};

void infer(Infer& in) {
  const Node& n = in.node;
  const std::string& mode = n.s("mode");
  in.require(mode == "TF" || mode == "IDF" || mode == "TFIDF", "mode '{}', wanted TF, IDF or TFIDF", mode);
  int64_t shortest = n.i("min_gram_length"), longest = n.i("max_gram_length");
  in.require(shortest >= 1 && longest >= shortest && n.i("max_skip_count") >= 0,
             "gram lengths {} to {} and skip count {}", shortest, longest, n.i("max_skip_count"));
  in.require(n.has("pool_int64s") != n.has("pool_strings"), "one of pool_int64s and pool_strings is wanted");
  in.require((in.dtype(0) == DType::String) == n.has("pool_strings"), "the pool is not of the input's type");
  in.require(in.dtype(0) == DType::String || is_int(in.dtype(0)), "input is {}", name(in.dtype(0)));
  const std::vector<int64_t>& indexes = n.ints("ngram_indexes");
  in.require(!indexes.empty(), "ngram_indexes is empty");
  in.require(!n.has("weights") || n.floats("weights").size() == indexes.size(), "{} weights for {} n-grams",
             n.has("weights") ? n.floats("weights").size() : 0, indexes.size());
  for (int64_t i : indexes) in.require(i >= 0 && i < int64_t{1} << 40, "ngram index {}", i);
  int64_t width = *std::max_element(indexes.begin(), indexes.end()) + 1;
  if (in.rank(0) < 0) return in.set(0, DType::F32);
  in.require(in.rank(0) == 1 || in.rank(0) == 2, "input has rank {}, wanted 1 or 2", in.rank(0));
  if (in.rank(0) == 1)
    in.set(0, DType::F32, Shape(Dims{width}));
  else
    in.set(0, DType::F32, Shape({in.shape(0)[0], width}));
}

// n-grams of the pool, to their number in it.
template <class T>
using Pool = std::map<std::vector<T>, size_t>;

// The pool lists all 1-grams, then all 2-grams, ...; ngram_counts says where each length starts.
template <class T>
Pool<T> pool_of(const Node& n, const std::vector<T>& items) {
  const std::vector<int64_t>& starts = n.ints("ngram_counts");
  const size_t count = n.ints("ngram_indexes").size();
  Pool<T> pool;
  size_t number = 0;
  for (size_t l = 0; l < starts.size(); ++l) {
    int64_t from = starts[l], to = l + 1 < starts.size() ? starts[l + 1] : static_cast<int64_t>(items.size());
    auto length = static_cast<int64_t>(l) + 1;
    if (from < 0 || to < from || to > static_cast<int64_t>(items.size()) || (to - from) % length)
      fail(Code::InvalidModel, "ngram_counts do not divide the pool of {} items", items.size());
    for (; from < to; from += length, ++number) {
      if (number >= count) fail(Code::InvalidModel, "more n-grams than the {} of ngram_indexes", count);
      if (length >= n.i("min_gram_length") && length <= n.i("max_gram_length"))
        pool.emplace(std::vector<T>(items.begin() + from, items.begin() + from + length), number);
    }
  }
  return pool;
}

// Counts in one row. Items of an n-gram are `1 + skip` apart; a single item has no distance and is counted once.
template <class T>
void count_row(const Node& n, const Pool<T>& pool, std::span<const T> row, std::vector<float>& counts) {
  const auto size = static_cast<int64_t>(row.size()), longest = std::min(n.i("max_gram_length"), size);
  const int64_t most_skips = std::min(n.i("max_skip_count"), size);
  std::vector<T> gram;
  for (int64_t skip = 0; skip <= most_skips; ++skip)
    for (int64_t from = 0; from < size; ++from) {
      gram.clear();
      for (int64_t at = from; at < size && static_cast<int64_t>(gram.size()) < longest; at += skip + 1) {
        gram.push_back(row[static_cast<size_t>(at)]);
        if (gram.size() == 1 && skip > 0) continue;
        if (auto it = pool.find(gram); it != pool.end()) ++counts[it->second];
      }
    }
}

template <class T>
void vectorize(Eval& e, std::span<const T> items, const std::vector<T>& pool_items) {
  const Node& n = e.node;
  const Pool<T> pool = pool_of(n, pool_items);
  const std::vector<int64_t>& indexes = n.ints("ngram_indexes");
  const bool binary = n.s("mode") == "IDF", weighted = n.s("mode") != "TF" && n.has("weights");
  const Dims &d = e.in(0).dims(), &out = e.out().dims();
  const int64_t rows = d.rank() == 2 ? d[0] : 1, length = d.back(), width = out.back();
  float* to = e.out().data<float>();
  std::fill_n(to, e.out().size(), 0.0f);
  std::vector<float> counts(indexes.size());
  for (int64_t r = 0; r < rows && length > 0; ++r) {
    std::fill(counts.begin(), counts.end(), 0.0f);
    count_row(n, pool, items.subspan(static_cast<size_t>(r * length), static_cast<size_t>(length)), counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      float v = binary ? std::min(counts[i], 1.0f) : counts[i];
      to[r * width + indexes[i]] += weighted ? v * n.floats("weights")[i] : v;
    }
  }
}

void reference(Eval& e) {
  if (e.in(0).dtype() == DType::String)
    return vectorize<std::string>(e, e.in(0).strings(), e.node.strings("pool_strings"));
  const std::vector<int64_t> items = to_ints(e.in(0));
  vectorize<int64_t>(e, items, e.node.ints("pool_int64s"));
}

constexpr OpDef defs[] = {
    {.name = "TfIdfVectorizer", .since = 9, .attrs = attrs, .infer = infer, .reference = reference}};

}  // namespace

std::span<const OpDef> tfidf_ops() { return defs; }

}  // namespace hf::ops
