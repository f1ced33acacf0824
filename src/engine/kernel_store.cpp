// The kernels of a device.
#include "engine/kernel_store.h"

#include "base/error.h"
#include "base/log.h"

namespace hf::engine {
namespace {

// What the code depends on: the device header is the same for all.
std::string key_of(const kernel::KernelSpec& spec) {
  std::string key = spec.entry;
  for (const std::string& define : spec.defines) key += ' ' + define;
  return key + '\n' + spec.source;
}

}  // namespace

std::string KernelStore::failure(const kernel::KernelSpec& spec) const {
  auto it = failed_.find(key_of(spec));
  return it == failed_.end() ? "" : it->second;
}

void KernelStore::want(const kernel::KernelSpec& spec) {
  std::string key = key_of(spec);
  if (!loaded_.contains(key) && !failed_.contains(key)) wanted_.emplace(std::move(key), spec);
}

bool KernelStore::load() {
  std::vector<gpu::Source> sources;
  std::vector<std::string> keys;
  for (const auto& [key, spec] : wanted_) {
    sources.push_back(gpu::source_of(spec));
    keys.push_back(key);
  }
  std::vector<gpu::CodeObject> objects;
  const std::string& arch = device_->info().arch;
  try {
    objects = gpu::compile_all(sources, arch, threads_);
  } catch (const Error& e) {
    if (e.code() != Code::Compile) throw;
    // One by one, to find out which; those that compiled are in the cache.
    for (size_t i = 0; i < sources.size(); ++i) {
      try {
        objects.push_back(gpu::compile(sources[i], arch));
      } catch (const Error& failure) {
        if (failure.code() != Code::Compile) throw;
        objects.emplace_back();
        failed_[keys[i]] = failure.what();
        log::warn("engine", "{}", failure.what());
      }
    }
  }
  bool all = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (failed_.contains(keys[i]))
      all = false;
    else
      loaded_[keys[i]] = std::make_shared<const gpu::Module>(device_, objects[i].bytes);
  }
  wanted_.clear();
  return all;
}

std::shared_ptr<const gpu::Module> KernelStore::get(const kernel::KernelSpec& spec) const {
  auto it = loaded_.find(key_of(spec));
  check(it != loaded_.end(), "a kernel is wanted before it is used");
  return it->second;
}

}  // namespace hf::engine
