// Fourier transforms of any length in O(n log n), for DFT and STFT.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace hf::ops {

/// A plan for transforms of length n >= 1 (Cooley and Tukey's for powers of two; Bluestein's for the others, by one of
/// a power of two of at least 2 n - 1). Thread-safe once made.
class Fft {
 public:
  explicit Fft(int64_t n);
  /// X[k] = sum over j of x[j] exp(-2 pi i j k / n), in place.
  void forward(std::complex<double>* x) const;
  /// x[j] = sum over k of X[k] exp(2 pi i j k / n), in place: without the factor 1 / n.
  void inverse(std::complex<double>* x) const;

 private:
  void radix2(std::complex<double>* x) const;
  void bluestein(std::complex<double>* x) const;

  int64_t n_;
  std::vector<std::complex<double>> roots_;   // powers of two: exp(-2 pi i k / n), k < n / 2; else the chirp, k < n
  std::vector<std::complex<double>> kernel_;  // Bluestein: the transform of the conjugate chirp
  std::unique_ptr<Fft> inner_;                // Bluestein: the power of two
};

}  // namespace hf::ops
