// Pointwise kernels against plain loops over all positions.
#include "kernel/pointwise.h"

#include <algorithm>
#include <functional>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using Values = std::vector<double>;
using Function = std::function<double(const double*)>;

Element element_of(DType t) { return t == DType::F32 ? Element::F32 : t == DType::F16 ? Element::F16 : Element::BF16; }
bool is_real(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }

Bytes stored_as(const Values& v, DType t) {
  if (is_real(t)) return stored(std::vector<float>(v.begin(), v.end()), element_of(t));
  size_t n = static_cast<size_t>(bits(t)) / 8;
  Bytes out(v.size() * n);
  for (size_t i = 0; i < v.size(); ++i) {
    int64_t whole = static_cast<int64_t>(v[i]);
    std::memcpy(&out[i * n], &whole, n);
  }
  return out;
}
Values values_of(const Bytes& b, DType t) {
  if (is_real(t)) {
    std::vector<float> f = floats(b, element_of(t));
    return {f.begin(), f.end()};
  }
  size_t n = static_cast<size_t>(bits(t)) / 8;
  Values v(b.size() / n);
  for (size_t i = 0; i < v.size(); ++i) {
    int64_t whole = 0;
    std::memcpy(&whole, &b[i * n], n);
    unsigned shift = 64 - static_cast<unsigned>(n) * 8;
    bool is_unsigned = t == DType::Bool || t == DType::U8 || t == DType::U16 || t == DType::U32;
    v[i] = static_cast<double>(
        is_unsigned || !shift ? whole : static_cast<int64_t>(static_cast<uint64_t>(whole) << shift) >> shift);
  }
  return v;
}

class Pointwise : public KernelTest {
 protected:
  // Inputs are random in [-range, range]; the padding of a padded input holds what must not matter.
  void check(const PointwiseProblem& p, const Function& f, double range = 8, double extra = 4e-6) {
    std::vector<Values> x;
    std::vector<Bytes> given;
    for (const PointwiseInput& in : p.inputs) {
      int64_t last = 0;
      for (size_t k = 0; k < p.extents.size(); ++k) last += (p.extents[k] - 1) * in.strides[k];
      if (p.valid >= 0 && !in.padded) last -= (p.extents.back() - p.valid) * in.strides.back();
      auto r = static_cast<float>(range);
      auto random = random_floats(static_cast<size_t>(last + 1), -r, r, static_cast<unsigned>(x.size() + 7));
      Values v(random.begin(), random.end());
      if (in.type == DType::Bool)
        for (double& d : v) d = d > 0;
      given.push_back(stored_as(v, in.type));
      x.push_back(values_of(given.back(), in.type));
    }
    int64_t count = 1;
    for (int64_t e : p.extents) count *= e;
    const size_t n = static_cast<size_t>(bits(p.out)) / 8;
    for (const KernelSpec& spec : pointwise(p, target())) {
      SCOPED_TRACE(spec.variant + spec.source.substr(spec.source.find("KERNEL")));
      seen += spec.variant;
      Values got = values_of(run(spec, given, {static_cast<size_t>(count) * n})[0], p.out);
      for (int64_t i = 0; i < count; ++i) {
        double args[4] = {};
        int64_t rest = i, inner = i % p.extents.back();
        std::vector<int64_t> at(p.inputs.size());
        for (size_t k = p.extents.size(); k-- > 0; rest /= p.extents[k])
          for (size_t a = 0; a < at.size(); ++a) at[a] += rest % p.extents[k] * p.inputs[a].strides[k];
        const bool value = p.valid < 0 || inner < p.valid;
        for (size_t a = 0; a < at.size() && value; ++a) args[a] = x[a][static_cast<size_t>(at[a])];
        double want = value ? f(args) : 0, g = got[static_cast<size_t>(i)];
        double bound = is_real(p.out) ? std::abs(want) * unit_of(element_of(p.out)) + extra : 0;
        ASSERT_LE(std::abs(g - want), value ? bound : 0) << "element " << i << ": " << g << ", wanted " << want;
      }
    }
  }
  std::string seen;
};

const Expression kSum{.inputs = 2, .body = "return r0 + r1 * 2.f;"};
double sum(const double* x) { return x[0] + x[1] * 2; }

TEST_P(Pointwise, OfEverySize) {
  for (int64_t n : {1, 3, 4, 5, 8, 1023, 1024, 1025, 2049})
    check({.extents = {n}, .out = DType::F16, .inputs = {{DType::F16, {1}}, {DType::F16, {1}}}, .expression = kSum},
          sum);
}

TEST_P(Pointwise, Broadcasts) {
  struct Shape {
    std::vector<int64_t> extents, a, b;
  };
  const Shape shapes[] = {
      {{6, 40}, {40, 1}, {0, 1}},             // a row
      {{6, 40}, {40, 1}, {1, 0}},             // a column
      {{6, 37}, {37, 1}, {0, 1}},             // of an odd length
      {{6, 37}, {1, 0}, {0, 1}},              // an outer sum
      {{2, 3, 16}, {48, 16, 1}, {16, 0, 1}},  // in the middle
      {{4, 5, 7}, {35, 7, 1}, {0, 1, 0}},     // channels of NCHW
      {{5, 5}, {5, 1}, {0, 0}},               // a scalar
      {{3, 8, 12}, {96, 12, 1}, {96, 1, 8}},  // turned
      {{2, 3, 5, 2, 3}, {0, 30, 0, 3, 1}, {90, 0, 6, 0, 2}},
      {{7}, {1}, {2}},
  };
  for (const Shape& s : shapes)
    for (DType t : {DType::F32, DType::F16})
      check({.extents = s.extents, .out = t, .inputs = {{t, s.a}, {DType::F32, s.b}}, .expression = kSum}, sum);
  EXPECT_TRUE(seen.find("vector") != seen.npos && seen.find("element") != seen.npos);
}

TEST_P(Pointwise, PaddingIsZero) {
  // 6 positions of 13 channels in 16: one of all, channels, positions, a scalar; the first also without padding.
  const Expression e{.inputs = 4, .body = "return (r0 + 1.f) * r1 + r2 + r3;"};
  auto f = [](const double* x) { return (x[0] + 1) * x[1] + x[2] + x[3]; };
  for (bool dense : {false, true})
    check({.extents = {6, 16},
           .valid = 13,
           .out = DType::F16,
           .inputs = {{DType::F16, {dense ? 13 : 16, 1}, !dense},
                      {DType::F32, {0, 1}},
                      {DType::F16, {1, 0}},
                      {DType::F32, {0, 0}}},
           .expression = e},
          f, 2, 1e-2);
  check({.extents = {1, 8}, .valid = 3, .inputs = {{DType::F32, {3, 1}}, {DType::F32, {0, 0}}}, .expression = kSum},
        sum);
  check({.extents = {3, 3}, .valid = 2, .inputs = {{DType::F32, {2, 1}}, {DType::F32, {0, 1}}}, .expression = kSum},
        sum);
}

TEST_P(Pointwise, IntegersAndTruthValues) {
  using D = DType;
  const Expression less{.inputs = 2, .body = "return r0 < r1;", .whole = true};
  const Expression arithmetic{
      .inputs = 2, .body = "return divide(r0 * 3 - 1, r1) + modulo(r0, r1, 0ll);", .whole = true};
  for (D t : {D::I8, D::U8, D::I16, D::U16, D::I32, D::U32, D::I64}) {
    double range = t == D::U8 || t == D::U16 || t == D::U32 ? 0 : 40;
    check(
        {.extents = {5, 33}, .out = D::Bool, .inputs = {{t, {33, 1}}, {t, {0, 1}}}, .expression = less},
        [](const double* x) { return x[0] < x[1]; }, range);
    check(
        {.extents = {5, 33}, .out = t, .inputs = {{t, {33, 1}}, {t, {0, 1}}}, .expression = arithmetic},
        [](const double* x) {
          if (x[1] == 0) return 0.0;
          return std::trunc((x[0] * 3 - 1) / x[1]) + x[0] - std::floor(x[0] / x[1]) * x[1];
        },
        range);
  }
  const Expression where{.inputs = 3, .body = "return r0 != 0.f ? r1 : r2;"};
  check({.extents = {70}, .inputs = {{D::Bool, {1}}, {D::F32, {1}}, {D::F16, {1}}}, .expression = where},
        [](const double* x) { return x[0] != 0 ? x[1] : x[2]; });
}

TEST_P(Pointwise, ConvertsAsTheHostDoes) {
  std::vector<float> x = random_floats(2000, -70000, 70000);
  for (float v : {0.f, -0.f, 65504.f, 65519.9f, 65520.f, -65520.f, 1e-8f, 5.97e-8f, 2.98e-8f, 6.1e-5f, 6.09e-5f, 1e38f,
                  3.4e38f, INFINITY, -INFINITY, 1.00048828125f, 1.00146484375f})
    x.push_back(v);
  auto n = static_cast<int64_t>(x.size());
  for (DType in : {DType::F32, DType::F16, DType::BF16})
    for (DType out : {DType::F32, DType::F16, DType::BF16}) {
      SCOPED_TRACE(fmt::format("{} to {}", name(in), name(out)));
      auto got = run(pointwise({.extents = {n}, .out = out, .inputs = {{in, {1}}}}, target())[0],
                     {stored(x, element_of(in))}, {x.size() * static_cast<size_t>(bits(out)) / 8});
      EXPECT_EQ(floats(got[0], element_of(out)), rounded(rounded(x, element_of(in)), element_of(out)));
    }
  std::vector<float> real = {0.4f, -0.4f, 2.9f, -2.9f, 300, -300, 3e9f, -3e9f, 1e30f, -1e30f, NAN, INFINITY};
  auto whole = run(pointwise({.extents = {12}, .out = DType::I64, .inputs = {{DType::F32, {1}}}}, target())[0],
                   {stored(real, Element::F32)}, {96});
  std::vector<int64_t> want = {0, 0, 2, -2, 300, -300, 3000000000, -3000000000, INT64_MAX, INT64_MIN, 0, INT64_MAX},
                       got(12);
  std::memcpy(got.data(), whole[0].data(), 96);
  EXPECT_EQ(got, want);
  auto truth = run(pointwise({.extents = {12}, .out = DType::Bool, .inputs = {{DType::F32, {1}}}}, target())[0],
                   {stored({0, -0.f, 0.3f, NAN, 1, 0, 2, -1, 1e-30f, 0, 0, 5}, Element::F32)}, {12});
  EXPECT_EQ(truth[0], (Bytes{0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1}));
}

HF_ON_ALL_DEVICES(Pointwise);

TEST(PointwiseSpec, TextIsTheSameForEveryBatch) {
  auto at = [](int64_t n) {
    return pointwise({.extents = {n, 56, 64},
                      .inputs = {{DType::F32, {56 * 64, 64, 1}}, {DType::F32, {64, 0, 1}}},
                      .expression = kSum},
                     {})[0];
  };
  EXPECT_EQ(at(2).source, at(64).source);
  EXPECT_EQ(at(2).defines, at(64).defines);
}

const OnEveryTarget kTargets{[](const Target& target) {
  const Expression e{.inputs = 3, .body = "return gelu(r0 + r1, 0.f) * sin(r2) + power(r0, r1) + modulo(r0, r2, 1.f);"};
  Candidates all;
  for (DType t : {DType::F32, DType::F16, DType::BF16})
    for (int64_t inner : {64, 63})
      all.push_back(pointwise({.extents = {9, 10, inner},
                               .out = t,
                               .inputs = {{t, {10 * inner, inner, 1}}, {DType::F32, {0, 0, 1}}, {t, {10, 1, 0}}},
                               .expression = e},
                              target)[0]);
  all.push_back(
      pointwise({.extents = {100, 16},
                 .valid = 13,
                 .out = DType::Bool,
                 .inputs = {{DType::I32, {13, 1}}, {DType::I64, {0, 1}}},
                 .expression = {.inputs = 2, .body = "return divide(r0, r1) < shift(r0, r1, 1ll);", .whole = true}},
                target)[0]);
  return all;
}};

}  // namespace
}  // namespace hf::kernel
