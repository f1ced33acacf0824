// Repeated runs, and peak memory from /proc.
#include "cli/measure.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace hf::cli {
namespace {

constexpr size_t kFewest = 10, kFewestSlow = 3;
constexpr double kStable = 0.05;     // medians of the halves
constexpr double kPatience = 3;      // times the seconds, for a stable median
constexpr double kWarmUpPart = 0.1;  // of the seconds
constexpr int kWarmUpFewest = 2;

bool stable(const std::vector<double>& samples) {
  auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  double early = describe({samples.begin(), middle}).median, late = describe({middle, samples.end()}).median;
  return std::fabs(early - late) <= kStable * std::max(early, late);
}

bool enough(const std::vector<double>& samples, double used_ms, double wanted_ms) {
  if (used_ms < wanted_ms) return false;
  bool late = used_ms >= kPatience * wanted_ms;
  if (samples.size() < kFewest) return late && samples.size() >= kFewestSlow;
  return late || stable(samples);
}

}  // namespace

std::vector<double> measure(const std::function<void()>& run, double seconds, const std::function<void(double)>& show) {
  double wanted_ms = seconds * 1e3;
  Stopwatch warm_up;
  for (int i = 0; i < kWarmUpFewest || warm_up.ms() < kWarmUpPart * wanted_ms; ++i) {
    run();
    // The second run is as warm as any where one takes all of the time.
    if (warm_up.ms() > wanted_ms) break;
  }
  std::vector<double> samples;
  Stopwatch all;
  while (!enough(samples, all.ms(), wanted_ms)) {
    Stopwatch one;
    run();
    samples.push_back(one.ms());
    // Shown seldom, so that it costs nothing where runs are short.
    if (samples.back() > 10 || samples.size() % 64 == 0) show(all.ms() / wanted_ms);
  }
  return samples;
}

double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void reset_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace hf::cli
