// Latencies: taking them and describing them.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace hf::cli {

class Stopwatch {
 public:
  double ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Milliseconds of repeated runs.
struct Latency {
  double min = 0, median = 0, mean = 0, p95 = 0, p99 = 0, std = 0;
};

/// Percentiles interpolate linearly between the nearest ranks, as numpy.percentile does; `std` is the sample's standard
/// deviation, 0 for one sample. All 0 for none.
Latency describe(std::vector<double> samples_ms);

/// "12.3 ms", "45.1 us", "2.35 s": three digits and a fitting unit.
std::string time_text(double ms);
/// "512 B", "3.4 MiB"
std::string bytes_text(double bytes);
/// "1.23 G", "4.65 M", "17"
std::string count_text(double count);

}  // namespace hf::cli
