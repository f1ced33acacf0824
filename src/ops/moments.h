// Mean and variance of a run of elements, for the normalisations.
#pragma once
#include <cstdint>

namespace hf::ops {

struct Moments {
  double mean = 0, variance = 0;  // of the population
};

/// Adds up in eight lanes of double: accurate for long runs, and what a compiler can vectorise.
template <class T, class F>
double sum_of(const T* x, int64_t n, F value) {
  double lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; ++j) lanes[j] += value(static_cast<double>(x[i + j]));
  for (; i < n; ++i) lanes[0] += value(static_cast<double>(x[i]));
  double total = 0;
  for (double lane : lanes) total += lane;
  return total;
}

/// In two passes, so that a large mean does not eat the variance.
template <class T>
Moments moments(const T* x, int64_t n) {
  const double count = static_cast<double>(n);
  const double mean = sum_of(x, n, [](double v) { return v; }) / count;
  return {mean, sum_of(x, n, [&](double v) { return (v - mean) * (v - mean); }) / count};
}

}  // namespace hf::ops
