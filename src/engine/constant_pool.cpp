// What sessions on one device share.
#include "engine/constant_pool.h"

#define XXH_INLINE_ALL
#include <fmt/core.h>
#include <xxhash.h>

namespace hf::engine {

std::shared_ptr<ConstantPool> ConstantPool::of(const std::shared_ptr<gpu::Device>& device) {
  static std::mutex mutex;
  static std::map<std::weak_ptr<gpu::Device>, std::weak_ptr<ConstantPool>, std::owner_less<>> pools;
  std::lock_guard lock(mutex);
  std::erase_if(pools, [](const auto& entry) { return entry.first.expired(); });
  auto& known = pools[device];
  auto pool = known.lock();
  if (!pool) known = pool = std::make_shared<ConstantPool>();
  return pool;
}

std::shared_ptr<const void> ConstantPool::find(const std::string& key) const {
  std::lock_guard lock(mutex_);
  auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : it->second.lock();
}

void ConstantPool::add(const std::string& key, const std::shared_ptr<const void>& data) {
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) { return entry.second.expired(); });
  entries_[key] = data;
}

std::string content_key(std::span<const Tensor> tensors) {
  std::string key;
  for (const Tensor& t : tensors) {
    XXH128_hash_t hash = XXH3_128bits(t.raw(), static_cast<size_t>(t.size_bytes()));
    key += fmt::format("{} {:016x}{:016x};", t.text(), hash.high64, hash.low64);
  }
  return key;
}

}  // namespace hf::engine
