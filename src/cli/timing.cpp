// Describing latencies, sizes and counts.
#include "cli/timing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace hf::cli {
namespace {

double percentile(const std::vector<double>& sorted, double fraction) {
  double place = fraction * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

std::string three_digits(double value) {
  double size = std::fabs(value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

struct Unit {
  double size;
  const char* name;
};

std::string in_units(double value, std::span<const Unit> units) {
  for (const Unit& u : units)
    if (std::fabs(value) >= u.size || &u == &units.back())
      return fmt::format("{} {}", three_digits(value / u.size), u.name);
  return {};
}

}  // namespace

Latency describe(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  auto count = static_cast<double>(samples.size());
  Latency l;
  l.min = samples.front();
  l.median = percentile(samples, 0.5);
  l.p95 = percentile(samples, 0.95);
  l.p99 = percentile(samples, 0.99);
  l.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (double s : samples) squares += (s - l.mean) * (s - l.mean);
  l.std = samples.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return l;
}

std::string time_text(double ms) {
  static constexpr Unit kUnits[] = {{1000, "s"}, {1, "ms"}, {1e-3, "us"}};
  return in_units(ms, kUnits);
}

std::string bytes_text(double bytes) {
  static constexpr Unit kUnits[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
  return bytes < 1024 ? fmt::format("{:.0f} B", bytes) : in_units(bytes, kUnits);
}

std::string count_text(double count) {
  static constexpr Unit kUnits[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  return count < 1000 ? fmt::format("{:.0f}", count) : in_units(count, kUnits);
}

}  // namespace hf::cli
