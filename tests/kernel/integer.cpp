// Products and convolutions of 8-bit integers against plain loops.
#include <algorithm>

#include "kernel/integer_gemm.h"
#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

template <class T>
std::vector<T> draw(int64_t count, int low, int high, unsigned seed) {
  std::vector<T> all;
  for (float v : random_floats(static_cast<size_t>(count), static_cast<float>(low), static_cast<float>(high), seed))
    all.push_back(static_cast<T>(std::floor(v)));
  return all;
}
template <class T>
Bytes bytes(const std::vector<T>& v) {
  Bytes b(v.size() * sizeof(T));
  std::memcpy(b.data(), v.data(), b.size());
  return b;
}
template <class T>
std::vector<T> values(const Bytes& b) {
  std::vector<T> v(b.size() / sizeof(T));
  std::memcpy(v.data(), b.data(), b.size());
  return v;
}

class IntegerProduct : public KernelTest {};

TEST_P(IntegerProduct, RowsColumnsAndBatches) {
  for (int64_t m : {1, 65})
    for (int64_t k : {3, 40}) {
      const int64_t n = 70, batch = 2;
      IntegerGemmProblem p{.batch = batch, .m = m, .n = n, .k = k, .a_batch = m * k, .b_batch = k * n};
      p.types = {.a = Integer::U8, .b = Integer::I8, .a_zero = {2, true}, .b_zero = {3, true}};
      auto a = draw<uint8_t>(batch * m * k, 0, 256, 1), az = draw<uint8_t>(m, 0, 256, 3);
      auto b = draw<int8_t>(batch * k * n, -128, 128, 2), bz = draw<int8_t>(n, -128, 128, 4);
      auto y = values<int32_t>(run(integer_gemm(p, target())[0], {bytes(a), bytes(b), bytes(az), bytes(bz)},
                                   {static_cast<size_t>(batch * m * n) * 4})[0]);
      for (int64_t at = 0; at < batch * m * n; ++at) {
        int64_t q = at / n / m, i = at / n % m, j = at % n, want = 0;
        for (int64_t l = 0; l < k; ++l)
          want += (int64_t{a[static_cast<size_t>((q * m + i) * k + l)]} - az[static_cast<size_t>(i)]) *
                  (int64_t{b[static_cast<size_t>((q * k + l) * n + j)]} - bz[static_cast<size_t>(j)]);
        ASSERT_EQ(y[static_cast<size_t>(at)], want) << at;
      }
    }
}

// 1 x 1 products whose exact result lies next to the middle between two integers, where a float does not show it.
TEST_P(IntegerProduct, RoundsTheExactProduct) {
  IntegerGemmProblem p{.m = 250, .n = 250, .k = 1};
  p.types = {.a = Integer::U8,
             .b = Integer::U8,
             .out = Integer::I8,
             .a_scale = {2, false},
             .b_scale = {3, false},
             .y_scale = {4, false},
             .y_zero = {5, false}};
  std::vector<uint8_t> line(250);
  for (size_t i = 0; i < 250; ++i) line[i] = static_cast<uint8_t>(i);
  for (float scale : {0.0015f, 1.f / 510, 0.5f / 3}) {
    std::vector<float> a{scale}, one{1.f};
    auto y = values<int8_t>(
        run(integer_gemm(p, target())[0],
            {bytes(line), bytes(line), bytes(a), bytes(one), bytes(one), bytes(std::vector<int8_t>{-7})}, {62500})[0]);
    for (size_t i = 0; i < 62500; ++i) {
      double want =
          std::clamp(std::nearbyint(static_cast<double>((i / 250) * (i % 250)) * double{scale}) - 7, -128.0, 127.0);
      ASSERT_EQ(double{static_cast<double>(y[i])}, want) << i / 250 << " * " << i % 250 << " * " << scale;
    }
  }
}

TEST_P(IntegerProduct, Convolution) {
  SpatialAxis h{.input = 6, .output = 3, .kernel = 3, .stride = 2, .begin = 1},
      w{.input = 7, .output = 5, .kernel = 2, .dilation = 2};
  IntegerConvProblem p{.batch = 2, .groups = 2, .channels = 3, .filters = 4, .axes = {{}, h, w}};
  p.types = {.a = Integer::U8, .b = Integer::I8, .a_zero = {2, false}, .b_zero = {3, true}};
  auto x = draw<uint8_t>(2 * 6 * 42, 0, 256, 1), xz = draw<uint8_t>(1, 100, 101, 1);
  auto k = draw<int8_t>(8 * 3 * 6, -128, 128, 2), kz = draw<int8_t>(8, -9, 9, 3);
  auto y = values<int32_t>(
      run(integer_conv(p, target())[0], {bytes(x), bytes(k), bytes(xz), bytes(kz)}, {2 * 8 * 15 * 4})[0]);
  for (size_t at = 0; at < y.size(); ++at) {
    int64_t i = static_cast<int64_t>(at), q = i % 5, o = i / 5 % 3, f = i / 15 % 8, n = i / 120, want = 0;
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 2; ++s) {
          int64_t ih = o * 2 + r - 1, iw = q + 2 * s;
          if (ih < 0 || ih >= 6 || iw >= 7) continue;
          want += (int64_t{x[static_cast<size_t>(((n * 6 + f / 4 * 3 + c) * 6 + ih) * 7 + iw)]} - xz[0]) *
                  (int64_t{k[static_cast<size_t>(((f * 3 + c) * 3 + r) * 2 + s)]} - kz[static_cast<size_t>(f)]);
        }
    ASSERT_EQ(y[at], want) << at;
  }
}

HF_ON_ALL_DEVICES(IntegerProduct);

const OnEveryTarget listed([](const Target& target) {
  IntegerGemmProblem p{.m = 100, .n = 200, .k = 300};
  p.types = {.a_zero = {2, true}, .b_zero = {3, false}};
  Candidates all = integer_gemm(p, target);
  IntegerConvProblem c{.batch = 2, .channels = 8, .filters = 8};
  c.axes[1] = c.axes[2] = {.input = 28, .output = 28, .kernel = 3, .begin = 1};
  c.types = {.b = Integer::I8,
             .out = Integer::I8,
             .a_zero = {2},
             .a_scale = {3},
             .b_scale = {4, true},
             .y_scale = {5},
             .y_zero = {6},
             .bias = {7, true}};
  for (KernelSpec& spec : integer_conv(c, target)) all.push_back(std::move(spec));
  return all;
});

}  // namespace
}  // namespace hf::kernel
