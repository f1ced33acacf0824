#include "kernel/conv_case.h"

namespace hf::kernel {
namespace {

size_t z(int64_t v) { return static_cast<size_t>(v); }

// Pixels of `pitch` elements, zeros beyond c.
std::vector<float> pixels(int64_t count, int64_t c, int64_t pitch, Element type, unsigned seed) {
  std::vector<float> x = rounded(random_floats(z(count * pitch), -1, 1, seed), type);
  for (size_t i = 0; i < x.size(); ++i)
    if (z(pitch) > z(c) && i % z(pitch) >= z(c)) x[i] = 0;
  return x;
}

struct Sum {
  double value = 0, magnitude = 0;
  void add(double a, double b) { value += a * b, magnitude += std::abs(a * b); }
};

}  // namespace

void ConvTest::check(ConvProblem p, const std::function<double(double, size_t, size_t)>& after,
                     const std::vector<Bytes>& operands, size_t most) {
  if (!p.pitch) p.pitch = (p.c + 7) / 8 * 8;
  if (!p.out_pitch) p.out_pitch = (p.k + 7) / 8 * 8;
  if (p.c2 && !p.pitch2) p.pitch2 = (p.c2 + 7) / 8 * 8;
  const int64_t gc = p.c / p.groups, gk = p.k / p.groups;
  auto x = pixels(p.n * p.h * p.w, p.c, p.pitch, p.in, 1), x2 = pixels(p.n * p.h2 * p.w2, p.c2, p.pitch2, p.in, 2);
  auto w = rounded(random_floats(z(p.k * gc * p.r * p.s), -1, 1, 3), weights);
  auto w2 = rounded(random_floats(z(p.k * p.c2), -1, 1, 4), weights),
       b = rounded(random_floats(z(p.k), -1, 1, 5), weights);
  auto ww = rounded(w, p.in), ww2 = rounded(w2, p.in);  // the kernel has the weights in the input's type

  std::vector<Sum> sums(z(p.n * p.p * p.q * p.k));
  for (int64_t i = 0; i < p.n * p.p * p.q; ++i) {
    const int64_t n = i / (p.p * p.q), y = i / p.q % p.p, column = i % p.q;
    for (int64_t k = 0; k < p.k; ++k) {
      Sum& sum = sums[z(i * p.k + k)];
      if (p.bias) sum.add(b[z(k)], 1);
      for (int64_t r = 0; r < p.r; ++r)
        for (int64_t s = 0; s < p.s; ++s) {
          int64_t row = y * p.stride[0] - p.pad[0] + r * p.dilation[0],
                  col = column * p.stride[1] - p.pad[1] + s * p.dilation[1];
          if (row < 0 || row >= p.h || col < 0 || col >= p.w) continue;
          for (int64_t c = 0; c < gc; ++c)
            sum.add(x[z(((n * p.h + row) * p.w + col) * p.pitch + k / gk * gc + c)],
                    ww[z(((k * gc + c) * p.r + r) * p.s + s)]);
        }
      for (int64_t c = 0; c < p.c2; ++c)
        sum.add(x2[z(((n * p.h2 + y * p.stride2[0]) * p.w2 + column * p.stride2[1]) * p.pitch2 + c)],
                ww2[z(k * p.c2 + c)]);
    }
  }

  int64_t bytes = 0;
  std::string key;
  WeightSource source{
      .type = weights, .k_stride = gc * p.r * p.s, .c_stride = p.r * p.s, .r_stride = p.s, .s_stride = 1};
  WeightSource source2{.type = weights, .k_stride = p.c2, .c_stride = 1};
  KernelSpec pack = conv_weights(p, target_of_case(), source, source2, 1, bytes, key);
  std::vector<Bytes> constants = {stored(w, weights)};
  if (p.c2) constants.push_back(stored(w2, weights));
  std::vector<Bytes> packed = run(pack, constants, {z(bytes)});
  if (p.bias) {
    KernelSpec bias = conv_bias(p, target_of_case(), weights, false, false, 1, bytes, key);
    packed.push_back(run(bias, {stored(b, weights)}, {z(bytes)})[0]);
  }
  std::vector<Bytes> inputs = {stored(x, p.in)};
  if (p.c2) inputs.push_back(stored(x2, p.in));
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  const size_t count = z(p.n * p.p * p.q * p.out_pitch);
  for (const KernelSpec& spec : conv(p, target_of_case())) {
    if (most-- == 0) break;
    SCOPED_TRACE(spec.variant);
    std::vector<float> y = floats(run(spec, inputs, {count * z(size_of(p.out))}, packed)[0], p.out);
    for (size_t i = 0; i < count; ++i) {
      const size_t row = i / z(p.out_pitch), k = i % z(p.out_pitch);
      if (k >= z(p.k)) {
        ASSERT_EQ(y[i], 0) << "padding, row " << row;
        continue;
      }
      const Sum& sum = sums[row * z(p.k) + k];
      double want = after ? after(sum.value, row, k) : sum.value;
      ASSERT_NEAR(y[i], want, sum.magnitude * 2e-6 + std::abs(want) * unit_of(p.out) + 1e-7)
          << "row " << row << " channel " << k;
    }
  }
}

}  // namespace hf::kernel
