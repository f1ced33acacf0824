// What sessions on one device share: constants, by their content.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/tensor.h"
#include "gpu/driver.h"

namespace hf::engine {

/// Thread-safe. Holds nothing alive: what no session uses any more is gone.
class ConstantPool {
 public:
  /// The pool of a device; it lives as long as someone holds it.
  static std::shared_ptr<ConstantPool> of(const std::shared_ptr<gpu::Device>& device);

  std::shared_ptr<const void> find(const std::string& key) const;
  void add(const std::string& key, const std::shared_ptr<const void>& data);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const void>> entries_;
};

/// The tensors' types, extents and contents (XXH3, 128 bits) as a key.
std::string content_key(std::span<const Tensor> tensors);

}  // namespace hf::engine
