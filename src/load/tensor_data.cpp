// TensorProto: raw bytes, typed fields, external files; and sparse tensors.
#include "load/tensor_data.h"

#include <onnx.pb.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/convert.h"
#include "base/error.h"

namespace hf::load {
namespace {

// Where the bytes of small tensors go, for alignment.
constexpr int64_t kCopyBelow = 1024;

Dims dims_of(const pb::TensorProto& p) {
  return Dims(std::span<const int64_t>(p.dims().data(), static_cast<size_t>(p.dims_size())));
}

// A bool is 0 or 1 in memory; files hold any byte.
Tensor with_proper_bools(Tensor t) {
  if (t.dtype() != DType::Bool) return t;
  const auto* from = static_cast<const uint8_t*>(static_cast<const Tensor&>(t).raw());
  if (std::all_of(from, from + t.size(), [](uint8_t b) { return b <= 1; })) return t;
  Tensor proper(DType::Bool, t.dims());
  std::transform(from, from + t.size(), static_cast<uint8_t*>(proper.raw()), [](uint8_t b) { return b != 0; });
  return proper;
}

// A view of `data`, or a copy where it is small or not aligned for its type.
Tensor from_bytes(DType dtype, const Dims& dims, const void* data, std::shared_ptr<const void> owner) {
  int64_t bytes = storage_bytes(dtype, dims.count());
  auto alignment = static_cast<size_t>(std::clamp(bits(dtype) / 8, 1, 8));
  if (bytes >= kCopyBelow && reinterpret_cast<uintptr_t>(data) % alignment == 0)
    return with_proper_bools(Tensor::view(dtype, dims, data, std::move(owner)));
  Tensor t(dtype, dims);
  if (bytes) std::memcpy(t.raw(), data, static_cast<size_t>(bytes));
  return with_proper_bools(std::move(t));
}

uint64_t to_uint(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(Code::InvalidModel, "external data: {} '{}' is not a number of bytes", key, text);
  return value;
}

Tensor external_tensor(const pb::TensorProto& p, DType dtype, const Dims& dims, ExternalFiles& files) {
  if (dtype == DType::String) fail(Code::InvalidModel, "strings cannot be external data");
  std::string location;
  uint64_t offset = 0, wanted = static_cast<uint64_t>(storage_bytes(dtype, dims.count())), length = wanted;
  for (const auto& entry : p.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = to_uint("offset", entry.value());
    if (entry.key() == "length") length = to_uint("length", entry.value());
  }
  if (length != wanted)
    fail(Code::InvalidModel, "external data '{}' has length {}, wanted {} for {} {}", location, length, wanted,
         name(dtype), dims.text());
  const FileBytes& file = files.open(location);
  uint64_t size = file.bytes.size();
  if (offset > size || length > size - offset)
    fail(Code::InvalidModel, "external data '{}' has {} bytes, wanted {} from {} on", location, size, length, offset);
  return from_bytes(dtype, dims, file.bytes.data() + offset, file.owner);
}

Tensor raw_tensor(pb::TensorProto& p, DType dtype, const Dims& dims) {
  if (dtype == DType::String) fail(Code::InvalidModel, "strings cannot be raw data");
  auto size = static_cast<int64_t>(p.raw_data().size());
  if (size != storage_bytes(dtype, dims.count()))
    fail(Code::InvalidModel, "{} bytes of raw data, wanted {} for {} {}", size, storage_bytes(dtype, dims.count()),
         name(dtype), dims.text());
  std::shared_ptr<const std::string> owner(p.release_raw_data());
  return from_bytes(dtype, dims, owner->data(), owner);
}

// One of the typed fields: `count` numbers for elements of `dtype`, of which each takes `parts`.
template <class Field>
Tensor same_type(const Field& field, int parts, DType dtype, const Dims& dims, const char* field_name) {
  int64_t wanted = dims.count() * parts;
  if (field.size() != wanted)
    fail(Code::InvalidModel, "{} numbers of {}, wanted {} for {} {}", field.size(), field_name, wanted, name(dtype),
         dims.text());
  Tensor t(dtype, dims);
  if (wanted) std::memcpy(t.raw(), field.data(), static_cast<size_t>(t.size_bytes()));
  return t;
}

// Numbers stored as wider ones, each in [low, high]; sub-byte types are packed in bytes already.
template <class To, class Field>
Tensor narrowed(const Field& field, int64_t low, int64_t high, DType dtype, const Dims& dims, const char* field_name) {
  int64_t wanted = is_sub_byte(dtype) ? storage_bytes(dtype, dims.count()) : dims.count();
  if (field.size() != wanted)
    fail(Code::InvalidModel, "{} numbers of {}, wanted {} for {} {}", field.size(), field_name, wanted, name(dtype),
         dims.text());
  for (auto v : field)
    if (static_cast<int64_t>(v) < low || static_cast<int64_t>(v) > high)
      fail(Code::InvalidModel, "{} holds {}, which is no {}", field_name, v, name(dtype));
  Tensor t(dtype, dims);
  std::transform(field.begin(), field.end(), static_cast<To*>(t.raw()), [](auto v) { return static_cast<To>(v); });
  return with_proper_bools(std::move(t));
}

Tensor string_tensor(pb::TensorProto& p, const Dims& dims) {
  if (p.string_data_size() != dims.count())
    fail(Code::InvalidModel, "{} strings, wanted {} for shape {}", p.string_data_size(), dims.count(), dims.text());
  Tensor t(DType::String, dims);
  std::move(p.mutable_string_data()->begin(), p.mutable_string_data()->end(), t.strings().begin());
  return t;
}

// Which field holds a dtype is part of the format.
Tensor typed_tensor(pb::TensorProto& p, DType dtype, const Dims& dims) {
  switch (dtype) {
    case DType::String: return string_tensor(p, dims);
    case DType::F32: return same_type(p.float_data(), 1, dtype, dims, "float_data");
    case DType::C64: return same_type(p.float_data(), 2, dtype, dims, "float_data");
    case DType::F64: return same_type(p.double_data(), 1, dtype, dims, "double_data");
    case DType::C128: return same_type(p.double_data(), 2, dtype, dims, "double_data");
    case DType::I32: return same_type(p.int32_data(), 1, dtype, dims, "int32_data");
    case DType::I64: return same_type(p.int64_data(), 1, dtype, dims, "int64_data");
    case DType::U64: return same_type(p.uint64_data(), 1, dtype, dims, "uint64_data");
    case DType::U32: return narrowed<uint32_t>(p.uint64_data(), 0, UINT32_MAX, dtype, dims, "uint64_data");
    default: break;
  }
  // Signed values and bit patterns share int32_data, so a byte may come as -1 or as 255.
  if (bits(dtype) == 16) return narrowed<uint16_t>(p.int32_data(), INT16_MIN, UINT16_MAX, dtype, dims, "int32_data");
  return narrowed<uint8_t>(p.int32_data(), INT8_MIN, UINT8_MAX, dtype, dims, "int32_data");
}

}  // namespace

DType to_dtype(int64_t number) {
  if (number <= 0 || number >= kDTypeCount) fail(Code::InvalidModel, "element type {} is not known", number);
  return static_cast<DType>(number);
}

Tensor take_tensor(pb::TensorProto& p, ExternalFiles& files) {
  if (p.has_segment()) fail(Code::Unsupported, "a tensor in segments");
  DType dtype = to_dtype(p.data_type());
  Dims dims = dims_of(p);
  int64_t count = dims.count();
  // Past this, a number of bytes or of parts could overflow.
  if (count > std::numeric_limits<int64_t>::max() / 256)
    fail(Code::InvalidModel, "shape {} has too many elements", dims.text());
  if (p.data_location() == 1) return external_tensor(p, dtype, dims, files);
  if (p.data_location() != 0) fail(Code::Unsupported, "data location {}", p.data_location());
  if (!p.raw_data().empty()) return raw_tensor(p, dtype, dims);
  return typed_tensor(p, dtype, dims);
}

}  // namespace hf::load
