// Quantising kernels against the operators' formulas on the host.
#include "kernel/quantize.h"

#include <algorithm>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using P = QuantizeProblem;

struct Range {
  float low, high;
};
Range range_of(Integer type) {
  constexpr Range ranges[] = {{0, 255}, {-128, 127}, {0, 65535}, {-32768, 32767}};
  return ranges[static_cast<size_t>(type)];
}
template <class T>
void append(Bytes& bytes, int64_t value) {
  T v = static_cast<T>(value);
  auto* p = reinterpret_cast<const uint8_t*>(&v);
  bytes.insert(bytes.end(), p, p + sizeof v);
}
Bytes stored(const std::vector<int64_t>& values, Integer type) {
  Bytes bytes;
  for (int64_t v : values)
    size_of(type) == 1   ? append<uint8_t>(bytes, v)
    : size_of(type) == 2 ? append<uint16_t>(bytes, v)
                         : append<uint32_t>(bytes, v);
  return bytes;
}
template <class T>
int64_t at(const Bytes& bytes, size_t i) {
  T v;
  std::memcpy(&v, &bytes[i * sizeof v], sizeof v);
  return static_cast<int64_t>(v);
}
int64_t integer_at(const Bytes& b, size_t i, Integer type) {
  switch (type) {
    case Integer::U8: return at<uint8_t>(b, i);
    case Integer::I8: return at<int8_t>(b, i);
    case Integer::U16: return at<uint16_t>(b, i);
    case Integer::I16: return at<int16_t>(b, i);
    case Integer::I32: return at<int32_t>(b, i);
  }
  return 0;
}

class Quantize : public KernelTest {
 protected:
  size_t scale_of(const P& p, size_t i) { return i / static_cast<size_t>(p.inner) % static_cast<size_t>(p.extent); }
  bool padding(const P& p, size_t i) {
    return p.pitch && i % static_cast<size_t>(p.pitch) >= static_cast<size_t>(p.channels);
  }

  void check(P p) {
    auto n = static_cast<size_t>(p.count),
         scales = static_cast<size_t>(p.pitch && p.extent > 1 ? p.channels : p.extent);
    std::vector<float> scale = random_floats(scales, 0.01f, 0.2f, 3);
    Range r = p.integer == Integer::I32 ? Range{-100000, 100000} : range_of(p.integer);
    std::vector<int64_t> zero;
    for (size_t i = 0; i < scales; ++i)
      zero.push_back(p.integer == Integer::U8 ? 100 + static_cast<int64_t>(i)
                                              : -3 + static_cast<int64_t>(i) * (p.integer == Integer::U16));
    if (p.integer == Integer::U16) std::fill(zero.begin(), zero.end(), 40000);
    auto z = [&](size_t s) { return p.has_zero ? zero[s] : 0; };
    std::vector<Bytes> inputs(2);
    inputs[1] = kernel::stored(scale, Element::F32);
    if (p.has_zero) inputs.push_back(stored(zero, p.integer));
    if (p.to_integer) {
      std::vector<float> x = rounded(random_floats(n, -40, 40, 1), p.real);
      x[n / 2] = 1e30f, x[n / 3] = -INFINITY, x[n - 1] = NAN;
      x = rounded(x, p.real);
      inputs[0] = kernel::stored(x, p.real);
      Bytes y = run(quantize(p, target())[0], inputs, {n * static_cast<size_t>(size_of(p.integer))})[0];
      for (size_t i = 0; i < n; ++i) {
        size_t s = padding(p, i) ? 0 : scale_of(p, i);
        float q = rounded({x[i] / scale[s]}, p.quotient)[0];
        double v = std::isnan(q) ? -1e9 : std::nearbyint(double{q}) + static_cast<double>(z(s));
        double want = padding(p, i) ? 0 : std::clamp(v, double{r.low}, double{r.high});
        ASSERT_EQ(static_cast<double>(integer_at(y, i, p.integer)), want) << i << " " << x[i] << " / " << scale[s];
      }
    } else {
      std::vector<int64_t> x;
      for (float v : random_floats(n, r.low, r.high, 2)) x.push_back(static_cast<int64_t>(v));
      inputs[0] = stored(x, p.integer);
      std::vector<float> y =
          floats(run(quantize(p, target())[0], inputs, {n * static_cast<size_t>(size_of(p.real))})[0], p.real);
      for (size_t i = 0; i < n; ++i) {
        size_t s = padding(p, i) ? 0 : scale_of(p, i);
        double want = padding(p, i) ? 0 : static_cast<double>(x[i] - z(s)) * scale[s];
        ASSERT_NEAR(y[i], want, std::abs(want) * (unit_of(p.real) + 1e-7)) << i;
      }
    }
  }
};

TEST_P(Quantize, EveryType) {
  for (Integer type : {Integer::U8, Integer::I8, Integer::U16, Integer::I16})
    for (Element real : {Element::F32, Element::F16, Element::BF16})
      for (bool to : {true, false})
        check({.to_integer = to, .count = 1003, .real = real, .integer = type, .has_zero = true});
  check({.to_integer = false, .count = 77, .integer = Integer::I32});
}
TEST_P(Quantize, AScaleForEachSlice) {
  for (bool to : {true, false}) {
    check({.to_integer = to, .count = 5 * 7 * 6, .inner = 6, .extent = 7, .integer = Integer::I8, .has_zero = true});
    check({.to_integer = to,
           .count = 9 * 16,
           .extent = 16,
           .pitch = 16,
           .channels = 11,
           .real = Element::F16,
           .has_zero = true});
    check({.to_integer = to, .count = 9 * 8, .pitch = 8, .channels = 5, .has_zero = true});
  }
}
TEST_P(Quantize, QuotientsOfSmallFloats) { check({.count = 500, .integer = Integer::I8, .quotient = Element::F16}); }

TEST_P(Quantize, Dynamic) {
  for (size_t n : {1u, 1000u, 70001u})
    for (float low : {-3.f, 0.5f, -0.f}) {
      std::vector<float> x = random_floats(n, low, 5, 9);
      if (low == 0) std::fill(x.begin(), x.end(), 0.f);
      if (n > 1) x[1] = 0.25f;
      std::vector<Candidates> launches = dynamic_quantize({.count = static_cast<int64_t>(n)}, target());
      KernelSpec first = launches[0][0], second = launches[1][0];
      size_t parts = static_cast<size_t>(first.workspace_bytes);
      first.arguments[1] = Argument::output(0);
      Bytes ranges = run(first, {kernel::stored(x, Element::F32)}, {parts})[0];
      second.arguments[1] = Argument::input(1);
      std::vector<Bytes> out = run(second, {kernel::stored(x, Element::F32), ranges}, {n, 4, 1});
      float least = std::min(0.f, *std::min_element(x.begin(), x.end())),
            most = std::max(0.f, *std::max_element(x.begin(), x.end()));
      float scale = most == least ? 1 : (most - least) / 255,
            zero = std::clamp(std::nearbyint(-least / scale), 0.f, 255.f);
      EXPECT_EQ(floats(out[1], Element::F32)[0], scale);
      EXPECT_EQ(out[2][0], static_cast<uint8_t>(zero));
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(float{static_cast<float>(out[0][i])}, std::clamp(std::nearbyint(x[i] / scale) + zero, 0.f, 255.f))
            << i;
    }
}

HF_ON_ALL_DEVICES(Quantize);

const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (Integer type : {Integer::U8, Integer::I16})
    for (bool to : {true, false})
      for (KernelSpec& spec : quantize({.to_integer = to,
                              .count = 100000,
                              .inner = 49,
                              .extent = 96,
                              .real = Element::F16,
                              .integer = type,
                              .has_zero = true},
                                       target))
        all.push_back(std::move(spec));
  for (Candidates& launch : dynamic_quantize({.count = 100000}, target)) all.push_back(std::move(launch[0]));
  return all;
});

}  // namespace
}  // namespace hf::kernel
