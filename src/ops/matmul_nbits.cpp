// MatMulNBits of com.microsoft: a product with weights of 2, 4 or 8 bits, scaled in blocks.
#include <algorithm>
#include <optional>

#include "ops/op.h"
#include "ops/product.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    required_attr("K", AttrType::Int),
    required_attr("N", AttrType::Int),
    int_attr("accuracy_level", 0),  // a hint: how far A may be rounded
    int_attr("bits", 4),
    required_attr("block_size", AttrType::Int),
    int_attr("weight_prepacked", 0),
};

enum Inputs { kA, kB, kScales, kZeroPoints, kGroups, kBias };

struct Format {
  int64_t k, n, bits, block, blocks, row_bytes, zero_bytes;
};

Format format_of(const Node& node) {
  Format f{node.i("K"), node.i("N"), node.i("bits"), node.i("block_size"), 0, 0, 0};
  if (f.bits != 2 && f.bits != 4 && f.bits != 8) fail(Code::Unsupported, "{} bits, wanted 2, 4 or 8", f.bits);
  if (node.i("weight_prepacked")) fail(Code::Unsupported, "weights prepacked for a device");
  constexpr int64_t kMost = int64_t{1} << 31;
  if (f.k <= 0 || f.n <= 0 || f.k > kMost || f.n > kMost)
    fail(Code::InvalidModel, "K {} and N {}, wanted 1 to {}", f.k, f.n, kMost);
  if (f.block < 16 || f.block > kMost || (f.block & (f.block - 1)))
    fail(Code::InvalidModel, "block_size {}, wanted a power of two from 16", f.block);
  f.blocks = (f.k + f.block - 1) / f.block;
  f.row_bytes = f.blocks * (f.block * f.bits / 8);
  f.zero_bytes = (f.blocks * f.bits + 7) / 8;
  return f;
}

void infer(Infer& in) {
  Format f = format_of(in.node);
  in.require(is_float(in.dtype(kA)), "A is {}, wanted a float type", name(in.dtype(kA)));
  in.require(in.dtype(kB) == DType::U8, "B is {}, wanted uint8", name(in.dtype(kB)));
  in.set(0, in.dtype(kA));
  // Models write these in one to three extents; the number of elements is what matters.
  auto holds = [&](int i, const char* what, int64_t wanted) {
    if (in.has(i) && in.shape(i).is_static() && !(in.shape(kB).is_static() && in.shape(kB).get().count() == 0))
      in.require(in.shape(i).get().count() == wanted, "{} {} has not {} elements", what, in.shape(i).text(), wanted);
  };
  holds(kB, "B", f.n * f.row_bytes);
  holds(kScales, "scales", f.n * f.blocks);
  if (in.has(kZeroPoints))
    holds(kZeroPoints, "zero_points", f.n * (in.dtype(kZeroPoints) == DType::U8 ? f.zero_bytes : f.blocks));
  if (in.has(kBias)) ir::merge(in.shape(kBias), Shape(Dims{f.n}));
  if (in.rank(kA) < 0) return;
  in.require(in.rank(kA) >= 1, "A is a scalar");
  Shape out = in.shape(kA);
  Dim& last = out[out.rank() - 1];
  in.require(!last.known() || last.value == f.k, "A has {} features, K is {}", last.text(), f.k);
  last = f.n;
  in.set(0, in.dtype(kA), std::move(out));
}

int64_t field(const uint8_t* bytes, int64_t i, int64_t bits) {
  int64_t per_byte = 8 / bits;
  return bytes[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
}

// The weights as numbers, a row (of one output) at a time.
class Weights {
 public:
  Weights(Eval& e, const Format& f) : f_(f), b_(e.in(kB).data<uint8_t>()), scales_(e.in(kScales)) {
    if (e.has(kZeroPoints)) {
      if (e.in(kZeroPoints).dtype() == DType::U8)
        packed_zeros_ = e.in(kZeroPoints).data<uint8_t>();
      else
        zeros_.emplace(e.in(kZeroPoints));
    }
    if (!e.has(kGroups)) return;
    groups_ = to_ints(e.in(kGroups));
    if (static_cast<int64_t>(groups_.size()) < f.k)
      fail(Code::InvalidArgument, "g_idx has {} elements, K is {}", groups_.size(), f.k);
    for (int64_t g : groups_)
      if (g < 0 || g >= f.blocks) fail(Code::InvalidArgument, "g_idx {}, wanted 0 to {}", g, f.blocks - 1);
  }

  void row(int64_t n, float* to) const {
    for (int64_t k = 0; k < f_.k; ++k) {
      int64_t block = groups_.empty() ? k / f_.block : groups_[static_cast<size_t>(k)];
      auto q = static_cast<float>(field(b_ + n * f_.row_bytes, k, f_.bits));
      to[k] = (q - zero(n, block)) * scales_[n * f_.blocks + block];
    }
  }

 private:
  float zero(int64_t n, int64_t block) const {
    if (packed_zeros_) return static_cast<float>(field(packed_zeros_ + n * f_.zero_bytes, block, f_.bits));
    return zeros_ ? (*zeros_)[n * f_.blocks + block] : static_cast<float>(1 << (f_.bits - 1));
  }

  Format f_;
  const uint8_t* b_;
  ReadAs<float> scales_;
  const uint8_t* packed_zeros_ = nullptr;
  std::optional<ReadAs<float>> zeros_;
  std::vector<int64_t> groups_;
};

void reference(Eval& e) {
  Format f = format_of(e.node);
  if (e.out().size() == 0) return;
  ReadAs<float> a(e.in(kA));
  WriteAs<float> out(e.out());
  std::optional<ReadAs<float>> bias;
  if (e.has(kBias)) bias.emplace(e.in(kBias));
  std::optional<Weights> weights;  // none: a projection left out, whose product is zero
  if (e.in(kB).size()) weights.emplace(e, f);
  int64_t rows = e.out().size() / f.n;
  parallel_for(f.n, static_cast<double>(f.k) * static_cast<double>(rows + 8) / 4, [&](int64_t from, int64_t to) {
    std::vector<float> w(weights ? static_cast<size_t>(f.k) : 0);
    for (int64_t n = from; n < to; ++n) {
      if (weights) weights->row(n, w.data());
      for (int64_t m = 0; m < rows; ++m)
        out[m * f.n + n] = (weights ? dot(a.data() + m * f.k, w.data(), f.k) : 0) + (bias ? (*bias)[n] : 0);
    }
  });
  out.commit();
}

constexpr OpDef defs[] = {
    {.name = "MatMulNBits",
     .domain = "com.microsoft",
     .min_inputs = 3,
     .max_inputs = 6,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> matmul_nbits_ops() { return defs; }

}  // namespace hf::ops
