// Tensor: a typed, dense, row-major array; a cheap handle on shared storage.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"

namespace hf {

/// A typed dense array. Copies share the storage; clone() copies it. 4-bit and 2-bit elements are packed as ONNX packs
/// them, lowest bits first, and the last byte padded. Not thread-safe to write while others read.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised storage, aligned to 64 bytes (strings are empty). Throws OutOfMemory, naming the size wanted.
  Tensor(DType dtype, const Dims& dims);
  /// A view of `data` that keeps `owner` alive (null: the caller does). Not for strings.
  static Tensor view(DType dtype, const Dims& dims, const void* data, std::shared_ptr<const void> owner = {});
  template <class T>
  static Tensor of(const Dims& dims, std::initializer_list<T> values);
  /// A 1-D int64 tensor.
  static Tensor ints(std::span<const int64_t> values);
  template <class T>
  static Tensor scalar(T value);

  bool defined() const { return dtype_ != DType::Undefined; }
  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int rank() const { return dims_.rank(); }
  /// Number of elements.
  int64_t size() const { return size_; }
  /// Bytes of the storage; 0 for strings.
  int64_t size_bytes() const;

  const void* raw() const { return data_; }
  void* raw() { return data_; }
  /// The elements as T, whose size must be that of the dtype (checked).
  template <class T>
  const T* data() const {
    expect_size(sizeof(T));
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* data() {
    expect_size(sizeof(T));
    return static_cast<T*>(data_);
  }
  const std::vector<std::string>& strings() const;
  std::vector<std::string>& strings();

  Tensor clone() const;
  /// The same elements under other extents of the same count (checked).
  Tensor reshaped(const Dims& dims) const;
  /// "float32 [1, 3, 224, 224]"
  std::string text() const;

 private:
  void expect_size(size_t bytes) const;

  DType dtype_ = DType::Undefined;
  Dims dims_;
  int64_t size_ = 0;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// Bytes that `count` elements take; sub-byte types rounded up.
int64_t storage_bytes(DType dtype, int64_t count);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::I8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::I16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::I32;
  else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, long long>)
    return DType::I64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::U8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::U16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::U32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::U64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BF16;
  else
    static_assert(sizeof(T) == 0, "no ONNX type for this C++ type");
}

template <class T>
Tensor Tensor::of(const Dims& dims, std::initializer_list<T> values) {
  Tensor t(dtype_of<T>(), dims);
  T* out = t.data<T>();
  for (const T& v : values) *out++ = v;
  return t;
}

template <class T>
Tensor Tensor::scalar(T value) {
  return of<T>({}, {value});
}

/// Allocation beyond this many bytes is refused before it is tried: a setting, for models from elsewhere.
void set_tensor_limit(int64_t bytes);
int64_t tensor_limit();
/// Whether that many bytes are within the limit and, where they are many, within what the machine has left: the system
/// itself promises more memory than there is, and ends the program that believes it.
bool may_allocate(int64_t bytes);

}  // namespace hf
