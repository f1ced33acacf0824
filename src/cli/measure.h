// Repeating a run until its latency is known.
#pragma once
#include <functional>
#include <vector>

#include "cli/timing.h"

namespace hf::cli {

/// Milliseconds of runs, after a warm-up: until `seconds` are used, there are at least 10 runs, and the medians of both
/// halves agree within 5%; at most three times `seconds` for that. Runs that are slow for `seconds` stop at 3.
std::vector<double> measure(const std::function<void()>& run, double seconds,
                            const std::function<void(double done)>& show);

/// The largest resident memory of this process since the last reset, in MiB.
double peak_mib();
/// Starts the peak anew, where the system can.
void reset_peak();

}  // namespace hf::cli
