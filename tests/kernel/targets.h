// The kernels that targets.cpp compiles for every target: each file of tests lists its family's.
#pragma once
#include <vector>

#include "kernel/kernel_spec.h"

namespace hf::kernel {

using KernelList = Candidates (*)(const Target&);

inline std::vector<KernelList>& kernel_lists() {
  static std::vector<KernelList> lists;
  return lists;
}
/// A static of this type adds a list.
struct OnEveryTarget {
  explicit OnEveryTarget(KernelList list) { kernel_lists().push_back(list); }
};

}  // namespace hf::kernel
