// How many cores this process may use.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include "cpu/backend.h"

namespace hf::cpu {
namespace {

// Cores' worth of time per period that the control group allows; 0 for no limit. Version 2, then version 1.
double quota() {
  std::string limit;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> limit >> period)
    return limit == "max" || period <= 0 ? 0 : std::atof(limit.c_str()) / period;
  double time = -1;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> time;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  return time > 0 && period > 0 ? time / period : 0;
}

// The hyperthreads of one core share this text.
std::string core_of(int cpu) {
  std::string siblings;
  std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list") >> siblings;
  return siblings.empty() ? std::to_string(cpu) : siblings;
}

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cores.insert(core_of(cpu));
  int count = std::max<int>(1, static_cast<int>(cores.size()));
  double limit = quota();
  return limit > 0 ? std::clamp(static_cast<int>(std::ceil(limit)), 1, count) : count;
}

}  // namespace hf::cpu
