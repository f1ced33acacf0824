// The packages on offer.
#include "gpu/packaged.h"

#include <algorithm>
#include <mutex>

#include "gpu/cache.h"
#include "kernel/target_facts.h"

namespace hf::gpu {
namespace {

using Packages = std::vector<std::shared_ptr<const CodePackage>>;

std::mutex& mutex() {
  static std::mutex m;
  return m;
}
std::vector<std::weak_ptr<const CodePackage>>& offered() {
  static std::vector<std::weak_ptr<const CodePackage>> all;
  return all;
}

// Those of an architecture that are still held.
Packages packages_of(std::string_view arch) {
  std::string_view plain = kernel::plain_arch(arch);
  Packages found;
  std::lock_guard lock(mutex());
  std::erase_if(offered(), [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : offered())
    if (auto package = weak.lock(); package && package->arch == plain) found.push_back(std::move(package));
  return found;
}

}  // namespace

std::string package_key(const Source& source) { return cache_key(source, "packaged", ""); }

void offer(const std::shared_ptr<const CodePackage>& package) {
  std::lock_guard lock(mutex());
  offered().push_back(package);
}

std::optional<std::string> find_packaged(const Source& source, std::string_view arch) {
  Packages packages = packages_of(arch);
  if (packages.empty()) return std::nullopt;
  std::string key = package_key(source);
  for (const auto& package : packages)
    if (auto it = package->objects.find(key); it != package->objects.end()) return std::string(it->second);
  return std::nullopt;
}

}  // namespace hf::gpu
