// The device header's namespace pw against the standard library in double: random values, and every special one.
#include <algorithm>
#include <array>
#include <cfloat>
#include <functional>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

using Function = std::function<double(double, double)>;

struct Case {
  const char* expression;
  Function expected;
  double bound;                // relative, as the header states it
  float low = -20, high = 20;  // where random values lie
  bool of_x = false;           // the bound is relative to x
};

double unary_gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double tanh_gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double larger(double x, double y) { return x > y || std::isnan(x) ? x : y; }
double smaller(double x, double y) { return x < y || std::isnan(x) ? x : y; }
double floored(double x, double y) {
  double r = std::fmod(x, y);
  return r == 0 ? std::copysign(r, y) : (r < 0) != (y < 0) ? r + y : r;
}

const Case kCases[] = {
    {"acos(x)", [](double x, double) { return std::acos(x); }, 4e-7, -1, 1},
    {"acosh(x)", [](double x, double) { return std::acosh(x); }, 6e-7, 1, 50},
    {"acosh(x)", [](double x, double) { return std::acosh(x); }, 6e-7, 1, 1.01f},
    {"asin(x)", [](double x, double) { return std::asin(x); }, 4e-7, -1, 1},
    {"asinh(x)", [](double x, double) { return std::asinh(x); }, 6e-7, -5, 5},
    {"asinh(x)", [](double x, double) { return std::asinh(x); }, 6e-7, -9000, 9000},
    {"atan(x)", [](double x, double) { return std::atan(x); }, 4e-7, -4, 4},
    {"atanh(x)", [](double x, double) { return std::atanh(x); }, 6e-7, -1, 1},
    {"ceil(x)", [](double x, double) { return std::ceil(x); }, 0},
    {"cos(x)", [](double x, double) { return std::cos(x); }, 4e-7},
    {"cos(x)", [](double x, double) { return std::cos(x); }, 4e-7, -2e5f, 2e5f},
    {"cosh(x)", [](double x, double) { return std::cosh(x); }, 9e-7, -90, 90},
    {"divide(x, y)", [](double x, double y) { return x / y; }, 1e-7},
    {"erf(x)", [](double x, double) { return std::erf(x); }, 4e-7, -5, 5},
    {"exp(x)", [](double x, double) { return std::exp(x); }, 3e-7, -100, 100},
    {"expm1(x)", [](double x, double) { return std::expm1(x); }, 8e-7, -1.5f, 1.5f},
    {"expm1(x)", [](double x, double) { return std::expm1(x); }, 8e-7},
    {"floor(x)", [](double x, double) { return std::floor(x); }, 0},
    {"gelu(x, 0.f)", [](double x, double) { return unary_gelu(x); }, 5e-7, -8, 8, true},
    {"gelu(x, 1.f)", [](double x, double) { return tanh_gelu(x); }, 5e-7, -8, 8, true},
    {"isinf(x) ? 1.f : 0.f", [](double x, double) { return std::isinf(x) ? 1. : 0.; }, 0},
    {"log(x)", [](double x, double) { return std::log(x); }, 3e-7, 0, 3},
    {"log(x)", [](double x, double) { return std::log(x); }, 3e-7, 0, 1e30f},
    {"log1p(x)", [](double x, double) { return std::log1p(x); }, 4e-7, -1, 2},
    {"magnitude(x)", [](double x, double) { return std::abs(x); }, 0},
    {"maximum(x, y)", larger, 0},
    {"minimum(x, y)", smaller, 0},
    {"modulo(x, y, 0.f)", floored, 1e-7},
    {"modulo(x, y, 1.f)", [](double x, double y) { return std::fmod(x, y); }, 0, -1e6f, 1e6f},
    {"power(x, y)", [](double x, double y) { return std::pow(x, y); }, 6e-7, 0, 3},
    {"power(x, 64.f * y)", [](double x, double y) { return std::pow(x, 64 * y); }, 6e-7, 0.5f, 1.5f},
    {"power(x, rint(y))", [](double x, double y) { return std::pow(x, std::rint(y)); }, 6e-7},
    {"rint(x)", [](double x, double) { return std::rint(x); }, 0},
    {"sigmoid(x)", [](double x, double) { return 1 / (1 + std::exp(-x)); }, 4e-7, -90, 90},
    {"sin(x)", [](double x, double) { return std::sin(x); }, 4e-7},
    {"sin(x)", [](double x, double) { return std::sin(x); }, 4e-7, -2e5f, 2e5f},
    {"sin(x)", [](double x, double) { return std::sin(x); }, 4e-7, -3e38f, 3e38f},
    {"sinh(x)", [](double x, double) { return std::sinh(x); }, 9e-7, -2, 2},
    {"sinh(x)", [](double x, double) { return std::sinh(x); }, 9e-7, -90, 90},
    {"softplus(x)", [](double x, double) { return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x))); }, 6e-7, -60,
     60},
    {"sqrt(x)", [](double x, double) { return std::sqrt(x); }, 1e-7, 0, 100},
    {"tan(x)", [](double x, double) { return std::tan(x); }, 6e-7, -3000, 3000},
    {"tanh(x)", [](double x, double) { return std::tanh(x); }, 6e-7, -3, 3},
    {"unit_clamp(x)", [](double x, double) { return std::isnan(x) ? x : std::min(std::max(x, 0.), 1.); }, 0, -2, 3},
};

constexpr float kSpecial[] = {0,        -0.f,      1,           -1,      0.5f,       -0.5f,       2,        -2,
                              3,        -3,        2.5f,        1e5f,    -1e5f,      100000.01f,  3e38f,    -3e38f,
                              INFINITY, -INFINITY, NAN,         1e-30f,  -1e-30f,    1e-40f,      16777216, 89,
                              -104,     0.7f,      0.41421357f, 4096.5f, 1.0000001f, 0.99999994f, 1e-6f};

// Block (f, b) computes case f on its 256 values.
std::string source() {
  std::string cases;
  int k = 0;
  for (const Case& c : kCases) cases += fmt::format("  case {}: return {};\n", k++, c.expression);
  return "namespace pw { DEV float one(int which, float x, float y) {\n  switch (which) {\n" + cases +
         "  }\n  return 0; } }\n"
         "KERNEL(256, 2) all(const float* x, const float* y, float* z, int per_case) {\n"
         "  int at = block_y() * per_case + block_x() * 256 + thread_x();\n"
         "  z[at] = pw::one(block_y(), x[at], y[at]);\n}\n";
}

class DevicePointwise : public KernelTest {};

TEST_P(DevicePointwise, EveryFunctionIsAsExactAsItSays) {
  constexpr int special = static_cast<int>(std::size(kSpecial)), per_case = 2048;
  std::vector<float> x, y;
  for (const Case& c : kCases) {
    std::vector<float> a = random_floats(per_case, c.low, c.high, 5), b = random_floats(per_case, -20, 20, 6);
    for (int i = 0; i < special * special; ++i) {
      a[static_cast<size_t>(i)] = kSpecial[i / special];
      b[static_cast<size_t>(i)] = kSpecial[i % special];
    }
    x.insert(x.end(), a.begin(), a.end());
    y.insert(y.end(), b.begin(), b.end());
  }
  KernelSpec spec{
      .family = "test",
      .variant = "pointwise",
      .source = source(),
      .entry = "all",
      .grid = {per_case / 256, static_cast<uint32_t>(std::size(kCases)), 1},
      .block = {256, 1, 1},
      .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::int32(per_case)}};
  auto z = floats(run(spec, {stored(x, Element::F32), stored(y, Element::F32)}, {x.size() * 4})[0], Element::F32);
  const double hardware = GetParam().starts_with("emu") ? 0 : 2.4e-7;
  size_t first = 0;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.expression);
    int wrong = 0;
    for (size_t i = 0; i < per_case && wrong < 8; ++i) {
      const size_t at = first + i;
      const double a = x[at], b = y[at], want = c.expected(a, b), got = z[at];
      if (std::isnan(want)) {
        wrong += !std::isnan(got);
        EXPECT_TRUE(std::isnan(got)) << a << ", " << b << ": " << got;
      } else if (std::isinf(want) || (std::abs(want) > FLT_MAX && std::isinf(got))) {
        wrong += !(std::isinf(got) && (got < 0) == (want < 0));
        EXPECT_TRUE(std::isinf(got) && (got < 0) == (want < 0)) << a << ", " << b << ": " << got << ", wanted " << want;
      } else {
        double bound =
            (c.bound + (c.bound > 0 ? hardware : 0)) * std::abs(c.of_x ? a : want) + (c.bound > 0 ? FLT_MIN : 0);
        wrong += !(std::abs(got - want) <= bound);
        EXPECT_LE(std::abs(got - want), bound)
            << a << ", " << b << ": " << got << ", wanted " << want << ", error " << std::abs(got / want - 1);
      }
    }
    first += per_case;
  }
}

// Integers: x, y, then divide, modulo (floored, truncated), power, magnitude, shifts to the left and right.
TEST_P(DevicePointwise, Integers) {
  const std::vector<std::array<int64_t, 9>> rows = {
      {7, 2, 3, 1, 1, 49, 7, 28, 1}, {-7, 2, -3, 1, -1, 49, 7, -28, -2}, {7, -2, -3, -1, 1, 0, 7, 0, 0},
      {5, 0, 0, 0, 0, 1, 5, 5, 5},   {5, -1, -5, 0, 0, 0, 5, 0, 0},      {-1, -3, 0, -1, -1, -1, 1, 0, -1},
      {3, 64, 0, 3, 3, 0, 3, 0, 0},  {1, -9, 0, -8, 1, 1, 1, 0, 0},      {-8, 3, -2, 1, -2, -512, 8, -64, -1},
  };
  const std::string source =
      "namespace pw { DEV void all(i64 x, i64 y, i64* z) {\n"
      "  z[0] = divide(x, y); z[1] = modulo(x, y, 0ll); z[2] = modulo(x, y, 1ll); z[3] = power(x, y);\n"
      "  z[4] = magnitude(x); z[5] = shift(x, y, 1ll); z[6] = shift(x, y, 0ll); } }\n"
      "KERNEL(64, 1) all(const i64* x, i64* z, int count) {\n"
      "  int i = thread_x();\n  if (i < count) pw::all(x[2 * i], x[2 * i + 1], z + 7 * i);\n}\n";
  std::vector<int64_t> x, want;
  for (const auto& row : rows) {
    x.insert(x.end(), row.begin(), row.begin() + 2);
    want.insert(want.end(), row.begin() + 2, row.end());
  }
  // 3 to the 64 wraps.
  uint64_t p = 1;
  for (int i = 0; i < 64; ++i) p *= 3;
  want[6 * 7 + 3] = static_cast<int64_t>(p);
  Bytes in(x.size() * 8), out;
  std::memcpy(in.data(), x.data(), in.size());
  KernelSpec spec{
      .family = "test",
      .variant = "integers",
      .source = source,
      .entry = "all",
      .block = {64, 1, 1},
      .arguments = {Argument::input(0), Argument::output(0), Argument::int32(static_cast<int64_t>(rows.size()))}};
  out = run(spec, {in}, {want.size() * 8})[0];
  std::vector<int64_t> got(want.size());
  std::memcpy(got.data(), out.data(), out.size());
  EXPECT_EQ(got, want);
}

HF_ON_ALL_DEVICES(DevicePointwise);

}  // namespace
}  // namespace hf::kernel
