// Fourier transforms. References: Cooley and Tukey 1965; Bluestein 1970.
#include "ops/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace hf::ops {
namespace {

using Complex = std::complex<double>;

Complex root(int64_t numerator, int64_t denominator) {  // exp(-2 pi i numerator / denominator)
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator));
}

}  // namespace

Fft::Fft(int64_t n) : n_(n) {
  if (std::has_single_bit(static_cast<uint64_t>(n))) {
    for (int64_t k = 0; k < n / 2; ++k) roots_.push_back(root(k, n));
    return;
  }
  // j k = (j^2 + k^2 - (k - j)^2) / 2 makes the sum a convolution with a chirp. Squares are reduced modulo 2 n, which
  // keeps the angles exact.
  uint64_t square = 0, period = 2 * static_cast<uint64_t>(n);
  for (int64_t k = 0; k < n; ++k) {
    roots_.push_back(root(static_cast<int64_t>(square), 2 * n));
    square = (square + 2 * static_cast<uint64_t>(k) + 1) % period;
  }
  inner_ = std::make_unique<Fft>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1))));
  kernel_.resize(static_cast<size_t>(inner_->n_));
  for (int64_t k = 0; k < n; ++k) {
    Complex c = std::conj(roots_[static_cast<size_t>(k)]);
    kernel_[static_cast<size_t>(k)] = c;
    if (k) kernel_[static_cast<size_t>(inner_->n_ - k)] = c;
  }
  inner_->forward(kernel_.data());
}

void Fft::radix2(Complex* x) const {
  for (int64_t i = 1, j = 0; i < n_; ++i) {  // j is i with its bits reversed
    int64_t bit = n_ >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (int64_t half = 1; half < n_; half *= 2)
    for (int64_t block = 0; block < n_; block += 2 * half)
      for (int64_t k = 0; k < half; ++k) {
        Complex a = x[block + k], b = x[block + k + half] * roots_[static_cast<size_t>(k * (n_ / 2 / half))];
        x[block + k] = a + b;
        x[block + k + half] = a - b;
      }
}

void Fft::bluestein(Complex* x) const {
  std::vector<Complex> work(kernel_.size());
  for (int64_t k = 0; k < n_; ++k) work[static_cast<size_t>(k)] = x[k] * roots_[static_cast<size_t>(k)];
  inner_->forward(work.data());
  for (size_t k = 0; k < work.size(); ++k) work[k] *= kernel_[k];
  inner_->inverse(work.data());
  double scale = 1.0 / static_cast<double>(inner_->n_);
  for (int64_t k = 0; k < n_; ++k) x[k] = work[static_cast<size_t>(k)] * roots_[static_cast<size_t>(k)] * scale;
}

void Fft::forward(Complex* x) const {
  if (inner_)
    bluestein(x);
  else
    radix2(x);
}

void Fft::inverse(Complex* x) const {  // the conjugate of the forward transform of the conjugate
  for (int64_t k = 0; k < n_; ++k) x[k] = std::conj(x[k]);
  forward(x);
  for (int64_t k = 0; k < n_; ++k) x[k] = std::conj(x[k]);
}

}  // namespace hf::ops
