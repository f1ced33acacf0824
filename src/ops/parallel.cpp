// parallel_for over the process's OpenMP team, which oneDNN uses too, so that a run never has two teams of threads.
#include <omp.h>

#include <algorithm>
#include <exception>

#include "ops/op.h"

namespace hf::ops {

void parallel_for(int64_t count, double cost_ns, const std::function<void(int64_t, int64_t)>& f) {
  constexpr double kWorthNs = 20000;  // about five times what waking a team costs
  if (count <= 0) return;
  int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  double wanted = static_cast<double>(count) * cost_ns / kWorthNs;
  threads = static_cast<int>(std::min({static_cast<double>(threads), wanted, static_cast<double>(count)}));
  if (threads <= 1) return f(0, count);
  std::exception_ptr error;  // an exception may not leave a parallel region
#pragma omp parallel num_threads(threads)
  {
    int64_t n = omp_get_num_threads(), id = omp_get_thread_num();
    try {
      f(count * id / n, count * (id + 1) / n);
    } catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace hf::ops
