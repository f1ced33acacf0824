// RandomNormal, RandomUniform, their Like forms, Bernoulli and Multinomial.
#include "ops/random.h"

#include <algorithm>
#include <cmath>

namespace hf::ops {
namespace {

constexpr AttrDef normal_attrs[] = {
    int_attr("dtype", 1),
    float_attr("mean", 0),
    float_attr("scale", 1),
    optional_attr("seed", AttrType::Float),
    required_attr("shape", AttrType::Ints),
};
constexpr AttrDef uniform_attrs[] = {
    int_attr("dtype", 1),
    float_attr("low", 0),
    float_attr("high", 1),
    optional_attr("seed", AttrType::Float),
    required_attr("shape", AttrType::Ints),
};
constexpr AttrDef normal_like_attrs[] = {
    optional_attr("dtype", AttrType::Int),
    float_attr("mean", 0),
    float_attr("scale", 1),
    optional_attr("seed", AttrType::Float),
};
constexpr AttrDef uniform_like_attrs[] = {
    optional_attr("dtype", AttrType::Int),
    float_attr("low", 0),
    float_attr("high", 1),
    optional_attr("seed", AttrType::Float),
};
constexpr AttrDef bernoulli_attrs[] = {optional_attr("dtype", AttrType::Int), optional_attr("seed", AttrType::Float)};
constexpr AttrDef multinomial_attrs[] = {
    int_attr("dtype", 6),
    int_attr("sample_size", 1),
    optional_attr("seed", AttrType::Float),
};

DType dtype_of_node(const Infer& in) {
  if (!in.node.has("dtype")) return in.dtype(0);
  const int64_t t = in.node.i("dtype");
  in.require(t > 0 && t < kDTypeCount && bits(static_cast<DType>(t)) > 0, "dtype is {}, which is no number type", t);
  return static_cast<DType>(t);
}

void infer_shaped(Infer& in) {
  const Dims dims(in.node.ints("shape"));
  dims.count();  // refuses negative extents
  in.set(0, dtype_of_node(in), dims);
}

void infer_like(Infer& in) { in.set(0, dtype_of_node(in), in.shape(0)); }

void infer_multinomial(Infer& in) {
  in.require(in.rank(0) < 0 || in.rank(0) == 2, "the input has rank {}, wanted 2", in.rank(0));
  in.require(in.node.i("sample_size") > 0, "sample_size is {}", in.node.i("sample_size"));
  in.set(0, dtype_of_node(in), std::vector<Dim>{in.rank(0) == 2 ? in.shape(0)[0] : Dim(), in.node.i("sample_size")});
}

void normal(Eval& e) {
  Random random(e.node);
  const double mean = e.node.f("mean"), scale = e.node.f("scale");
  WriteAs<double> out(e.out());
  for (int64_t i = 0; i < e.out().size(); ++i) out[i] = mean + scale * random.normal();
  out.commit();
}

void uniform(Eval& e) {
  Random random(e.node);
  const double low = e.node.f("low"), high = e.node.f("high");
  WriteAs<double> out(e.out());
  for (int64_t i = 0; i < e.out().size(); ++i) out[i] = low + (high - low) * random.uniform();
  out.commit();
}

void bernoulli(Eval& e) {
  Random random(e.node);
  ReadAs<double> p(e.in(0));
  WriteAs<float> out(e.out());
  for (int64_t i = 0; i < p.size(); ++i) out[i] = random.uniform() < p[i] ? 1.0f : 0.0f;
  out.commit();
}

// Each row holds logarithms of probabilities that need not add up to 1.
void multinomial(Eval& e) {
  Random random(e.node);
  const int64_t classes = e.in(0).dims()[1], samples = e.out().dims()[1];
  if (classes == 0) fail(Code::InvalidArgument, "there are no classes to draw from");
  ReadAs<double> x(e.in(0));
  WriteAs<int64_t> out(e.out());
  std::vector<double> upto(static_cast<size_t>(classes));
  for (int64_t r = 0; r < e.in(0).dims()[0]; ++r) {
    const double* row = x.data() + r * classes;
    const double top = *std::max_element(row, row + classes);
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) upto[static_cast<size_t>(c)] = total += std::exp(row[c] - top);
    for (int64_t s = 0; s < samples; ++s) {
      const auto at = std::upper_bound(upto.begin(), upto.end(), random.uniform() * total) - upto.begin();
      out[r * samples + s] = std::min<int64_t>(at, classes - 1);
    }
  }
  out.commit();
}

constexpr OpDef defs[] = {
    {.name = "RandomNormal",
     .min_inputs = 0,
     .max_inputs = 0,
     .attrs = normal_attrs,
     .infer = infer_shaped,
     .reference = normal,
     .random = true},
    {.name = "RandomNormalLike", .attrs = normal_like_attrs, .infer = infer_like, .reference = normal, .random = true},
    {.name = "RandomUniform",
     .min_inputs = 0,
     .max_inputs = 0,
     .attrs = uniform_attrs,
     .infer = infer_shaped,
     .reference = uniform,
     .random = true},
    {.name = "RandomUniformLike",
     .attrs = uniform_like_attrs,
     .infer = infer_like,
     .reference = uniform,
     .random = true},
    {.name = "Bernoulli",
     .since = 15,
     .attrs = bernoulli_attrs,
     .infer = infer_like,
     .reference = bernoulli,
     .random = true},
    {.name = "Multinomial",
     .since = 7,
     .attrs = multinomial_attrs,
     .infer = infer_multinomial,
     .reference = multinomial,
     .random = true},
};

uint32_t seed_of(const Node& n) {
  const auto it = n.attrs.find("seed");
  if (it == n.attrs.end()) return std::random_device()();
  if (const int64_t* seed = std::get_if<int64_t>(&it->second)) return static_cast<uint32_t>(*seed);
  const float seed = std::get<float>(it->second);
  return std::fabs(seed) < 9e18f ? static_cast<uint32_t>(static_cast<int64_t>(seed)) : 0;
}

}  // namespace

Random::Random(const Node& n) : Random(seed_of(n)) {}

double Random::uniform() {
  const uint32_t high = engine_() >> 5, low = engine_() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double Random::normal() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  double x, y, r;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    r = x * x + y * y;
  } while (r >= 1 || r == 0);
  const double f = std::sqrt(-2 * std::log(r) / r);
  kept_ = f * x;
  has_kept_ = true;
  return f * y;
}

std::span<const OpDef> random_ops() { return defs; }

}  // namespace hf::ops
