// The kernels of a device.
#include "engine/kernel_store.h"

#include "base/error.h"
#include "base/log.h"

namespace hf::engine {

std::string code_key(const kernel::KernelSpec& spec) {
  std::string key = spec.entry;
  for (const std::string& define : spec.defines) key += ' ' + define;
  return key + '\n' + spec.source;
}

std::string KernelStore::failure(const kernel::KernelSpec& spec) const {
  auto it = failed_.find(code_key(spec));
  return it == failed_.end() ? "" : it->second;
}

void KernelStore::want(const kernel::KernelSpec& spec) {
  std::string key = code_key(spec);
  if (!made_.contains(key) && !failed_.contains(key)) wanted_.emplace(std::move(key), spec);
}

// All that compile; the others are noted in failed_.
std::vector<gpu::CodeObject> KernelStore::compile(std::span<const gpu::Source> sources,
                                                  std::span<const std::string> keys) {
  auto is_failure = [&](const Error& e) {
    return e.code() == Code::Compile || (e.code() == Code::NotFound && !packaged_for_.empty());
  };
  try {
    return gpu::compile_all(sources, arch_, threads_, progress_);
  } catch (const Error& e) {
    if (!is_failure(e)) throw;
  }
  // One by one, to find out which; those that compiled are in the cache.
  std::vector<gpu::CodeObject> objects;
  int missing = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    try {
      objects.push_back(gpu::compile(sources[i], arch_));
    } catch (const Error& failure) {
      if (!is_failure(failure)) throw;
      objects.emplace_back();
      if (failure.code() == Code::Compile) {
        failed_[keys[i]] = failure.what();
        log::warn("engine", "{}", failure.what());
      } else {
        failed_[keys[i]] =
            fmt::format("it is not in the package, which is for {}, and no compiler is here", packaged_for_);
        if (++missing == 1) log::info("engine", "{}", failure.what());
      }
    }
  }
  if (missing) log::info("engine", "{} kernels of {} are not in the package", missing, sources.size());
  return objects;
}

bool KernelStore::load() {
  std::vector<gpu::Source> sources;
  std::vector<std::string> keys;
  for (const auto& [key, spec] : wanted_) {
    sources.push_back(gpu::source_of(spec));
    keys.push_back(key);
  }
  std::vector<gpu::CodeObject> objects = compile(sources, keys);
  bool all = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (failed_.contains(keys[i]))
      all = false;
    else if (device_)
      made_[keys[i]].module = std::make_shared<const gpu::Module>(device_, objects[i].bytes);
    else
      made_[keys[i]].code = std::move(objects[i].bytes);
  }
  wanted_.clear();
  return all;
}

const KernelStore::Made& KernelStore::made(const kernel::KernelSpec& spec) const {
  auto it = made_.find(code_key(spec));
  check(it != made_.end(), "a kernel is wanted before it is used");
  return it->second;
}

std::shared_ptr<const gpu::Module> KernelStore::get(const kernel::KernelSpec& spec) const { return made(spec).module; }
const std::string& KernelStore::code(const kernel::KernelSpec& spec) const { return made(spec).code; }

}  // namespace hf::engine
