// The CPU backend: oneDNN where it has the operator, vectorised kernels of our own, and each operator's reference last.
//
// candidates.cpp is the ordered table of what is tried for each operator. A candidate is one function; it accepts a
// node by returning a Prepared, or says why not.
#pragma once
#include <memory>

#include "plan/backend.h"

namespace hf::cpu {

struct CpuOptions {
  int threads = 0;  // 0: the physical cores that this process may use
};

/// A backend named "cpu". Takes every node that has a reference and neither subgraphs nor strings that are computed.
std::unique_ptr<plan::Backend> make_cpu_backend(const CpuOptions& options = {});

/// The processor and the threads used, for reports: "cpu (Intel(R) Xeon(R) Processor, 2 threads)". The backend must be
/// one of make_cpu_backend().
std::string describe(const plan::Backend& backend);

/// The kernels that may run an operator, best first: the names of its candidates. Control flow, which the executor
/// runs, is "control flow".
std::vector<std::string> kernel_names(std::string_view op, std::string_view domain);

/// Physical cores this process may use: its affinity and its control group's quota, one of each pair of hyperthreads.
int usable_cores();

}  // namespace hf::cpu
