// Constants on the device: uploaded and packed once, whatever number of nodes, plans and sessions want them.
#pragma once
#include <functional>
#include <map>

#include "engine/constant_pool.h"
#include "engine/kernel_store.h"
#include "engine/memory.h"
#include "lower/lowering.h"

namespace hf::engine {

/// Not thread-safe: the engine locks.
class Constants {
 public:
  Constants(std::shared_ptr<gpu::Device> device, std::shared_ptr<MemoryBook> book);

  /// The constant in a device layout.
  std::shared_ptr<const void> place(const Tensor& tensor, const lower::DeviceLayout& layout);
  /// Packed data of a node. `inputs` are the packing's constants, in its order; its kernel, if any, is in `kernels`.
  std::shared_ptr<const void> pack(const lower::Packing& packing, std::span<const Tensor> inputs,
                                   const KernelStore& kernels);

 private:
  struct Entry {
    std::vector<Tensor> of;  // keeps their addresses from being used anew
    std::shared_ptr<const void> data;
  };
  std::shared_ptr<void> upload(const void* bytes, int64_t count);
  /// The data of this name and these constants: kept here, shared through the pool, or what `make` makes.
  std::shared_ptr<const void> get(const std::string& name, std::span<const Tensor> of,
                                  const std::function<std::shared_ptr<const void>()>& make);

  std::shared_ptr<gpu::Device> device_;
  std::shared_ptr<MemoryBook> book_;
  std::shared_ptr<ConstantPool> pool_;
  gpu::Stream stream_;
  std::map<std::string, Entry> entries_;
};

}  // namespace hf::engine
