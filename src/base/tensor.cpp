// Tensor: storage.
#include "base/tensor.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/error.h"

namespace hf {
namespace {

std::atomic<int64_t> limit_bytes{int64_t{1} << 36};  // 64 GiB

constexpr int64_t kMany = int64_t{1} << 28;

// Bytes of memory and swap that are free or can be freed.
int64_t spare_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t spare = 0, kilobytes = 0;
  bool known = false;
  while (file >> word) {
    if (word != "MemAvailable:" && word != "SwapFree:") continue;
    if (!(file >> kilobytes)) break;
    spare += kilobytes * 1024;
    known |= word == "MemAvailable:";
  }
  return known ? spare : INT64_MAX;
}

std::shared_ptr<void> allocate(int64_t bytes) {
  size_t rounded = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  void* p = !may_allocate(bytes) ? nullptr : std::aligned_alloc(64, rounded ? rounded : 64);
  if (!p) fail(Code::OutOfMemory, "a tensor of {} bytes could not be allocated", bytes);
  return {p, std::free};
}

}  // namespace

void set_tensor_limit(int64_t bytes) { limit_bytes = bytes; }
int64_t tensor_limit() { return limit_bytes; }
bool may_allocate(int64_t bytes) { return bytes <= tensor_limit() && (bytes < kMany || bytes <= spare_bytes()); }

int64_t storage_bytes(DType dtype, int64_t count) { return (count * bits(dtype) + 7) / 8; }

Tensor::Tensor(DType dtype, const Dims& dims) : dtype_(dtype), dims_(dims), size_(dims.count()) {
  if (dtype == DType::String) {
    if (size_ > tensor_limit() / static_cast<int64_t>(sizeof(std::string)))
      fail(Code::OutOfMemory, "a tensor of {} strings could not be allocated", size_);
    auto strings = std::make_shared<std::vector<std::string>>(static_cast<size_t>(size_));
    data_ = strings.get();
    owner_ = std::move(strings);
    return;
  }
  if (bits(dtype) > 8 && size_ > (int64_t{1} << 58)) fail(Code::OutOfMemory, "a tensor of {} elements", size_);
  auto storage = allocate(storage_bytes(dtype, size_));
  data_ = storage.get();
  owner_ = std::move(storage);
}

Tensor Tensor::view(DType dtype, const Dims& dims, const void* data, std::shared_ptr<const void> owner) {
  check(dtype != DType::String, "a view is not of strings");
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = dims;
  t.size_ = dims.count();
  t.data_ = const_cast<void*>(data);
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::ints(std::span<const int64_t> values) {
  Tensor t(DType::I64, {static_cast<int64_t>(values.size())});
  if (!values.empty()) std::memcpy(t.raw(), values.data(), values.size_bytes());
  return t;
}

int64_t Tensor::size_bytes() const { return storage_bytes(dtype_, size_); }

void Tensor::expect_size(size_t bytes) const {
  check(bits(dtype_) == static_cast<int>(bytes * 8), "the element size asked for is the tensor's");
}

const std::vector<std::string>& Tensor::strings() const {
  check(dtype_ == DType::String, "strings() is for string tensors");
  return *static_cast<const std::vector<std::string>*>(data_);
}

std::vector<std::string>& Tensor::strings() {
  check(dtype_ == DType::String, "strings() is for string tensors");
  return *static_cast<std::vector<std::string>*>(data_);
}

Tensor Tensor::clone() const {
  if (!defined()) return {};
  Tensor t(dtype_, dims_);
  if (dtype_ == DType::String)
    t.strings() = strings();
  else if (size_bytes())
    std::memcpy(t.raw(), raw(), static_cast<size_t>(size_bytes()));
  return t;
}

Tensor Tensor::reshaped(const Dims& dims) const {
  check(dims.count() == size_, "a reshape keeps the number of elements");
  Tensor t = *this;
  t.dims_ = dims;
  return t;
}

std::string Tensor::text() const { return fmt::format("{} {}", name(dtype_), dims_.text()); }

}  // namespace hf
