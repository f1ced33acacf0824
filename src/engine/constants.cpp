// Constants on the device.
#include "engine/constants.h"

#include <cstring>

#include "base/convert.h"

namespace hf::engine {
namespace {

Tensor in_dtype(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  Tensor out(dtype, t.dims());
  ReadAs<float> values(t);
  write_elements(values.data(), out);
  return out;
}

std::string key_of(std::span<const Tensor> tensors) {
  std::string key;
  for (const Tensor& t : tensors) key += fmt::format("{}:{};", t.raw(), t.text());
  return key;
}

// The elements in the order of a channels-last layout, padding zero.
std::vector<std::byte> channels_last(const Tensor& t, int64_t pitch) {
  size_t size = static_cast<size_t>(t.size_bytes() / std::max<int64_t>(t.size(), 1));
  int64_t images = t.dims()[0], channels = t.dims()[1], positions = t.dims().count(2, t.rank());
  std::vector<std::byte> out(static_cast<size_t>(images * positions * pitch) * size);
  const auto* from = static_cast<const std::byte*>(t.raw());
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < positions; ++p, from += size)
        std::memcpy(&out[static_cast<size_t>((n * positions + p) * pitch + c) * size], from, size);
  return out;
}

}  // namespace

Constants::Constants(std::shared_ptr<gpu::Device> device, std::shared_ptr<MemoryBook> book)
    : device_(std::move(device)), book_(std::move(book)), pool_(ConstantPool::of(device_)), stream_(device_) {}

std::shared_ptr<void> Constants::upload(const void* bytes, int64_t count) {
  auto memory = book_->allocate(count, "a constant", &DeviceMemory::constants_bytes);
  if (count) device_->copy_to_device(memory.get(), bytes, count, stream_.get());
  stream_.synchronize();
  return memory;
}

std::shared_ptr<const void> Constants::get(const std::string& name, std::span<const Tensor> of,
                                           const std::function<std::shared_ptr<const void>()>& make) {
  std::string key = name + "|" + key_of(of);
  if (auto it = entries_.find(key); it != entries_.end()) return it->second.data;
  std::string content = name + "|" + content_key(of);
  std::shared_ptr<const void> data = pool_->find(content);
  if (!data) {
    data = make();
    pool_->add(content, data);
  }
  entries_[key] = {{of.begin(), of.end()}, data};
  return data;
}

std::shared_ptr<const void> Constants::place(const Tensor& tensor, const lower::DeviceLayout& layout) {
  return get(layout.text(), {&tensor, 1}, [&]() -> std::shared_ptr<const void> {
    Tensor stored = in_dtype(tensor, layout.stored);
    if (!layout.channels_last()) return upload(stored.raw(), stored.size_bytes());
    std::vector<std::byte> bytes = channels_last(stored, layout.pitch);
    return upload(bytes.data(), static_cast<int64_t>(bytes.size()));
  });
}

std::shared_ptr<const void> Constants::pack(const lower::Packing& packing, std::span<const Tensor> inputs,
                                            const KernelStore& kernels) {
  return get(packing.key, inputs, [&]() -> std::shared_ptr<const void> {
    if (packing.host) {
      std::vector<std::byte> bytes = packing.host();
      return upload(bytes.data(), static_cast<int64_t>(bytes.size()));
    }
    std::vector<std::shared_ptr<void>> sources;
    std::vector<void*> in;
    for (const Tensor& t : inputs) {
      sources.push_back(upload(t.raw(), t.size_bytes()));
      in.push_back(sources.back().get());
    }
    auto memory = book_->allocate(packing.bytes, "packed weights", &DeviceMemory::constants_bytes);
    void* out = memory.get();
    gpu::LoadedKernel(kernels.get(packing.kernel), packing.kernel)
        .launch(stream_, {.inputs = in, .outputs = {&out, 1}});
    stream_.synchronize();
    return memory;
  });
}

}  // namespace hf::engine
