// TensorProto files.
#include "load/tensor_proto.h"

#include <onnx.pb.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "load/limits.h"
#include "load/tensor_data.h"

namespace hf::load {
namespace {

// How many elements a tensor without raw data has by its shape, and holds.
bool is_complete(const pb::TensorProto& p) {
  double wanted = 1;
  for (int64_t d : p.dims()) wanted *= static_cast<double>(d);
  int held = p.float_data_size() + p.int32_data_size() + p.int64_data_size() + p.double_data_size() +
             p.uint64_data_size() + p.string_data_size();
  return p.data_location() != 0 || wanted == held;
}

// The messages of sequences and optionals begin with a name where a tensor has its dims, and hold a tensor where it has
// a segment; empty ones hold nothing but a kind.
bool is_container(std::span<const std::byte> bytes, const pb::TensorProto& p) {
  constexpr std::byte kName{1 << 3 | 2};  // field 1 with a length; packed dims look the same
  bool named = !bytes.empty() && bytes[0] == kName, empty = p.dims_size() == 0 && p.has_data_type();
  return p.has_segment() || ((named || empty) && p.raw_data().empty() && !is_complete(p));
}

Tensor parse(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  if (bytes.size() > static_cast<size_t>(kLimits.file_bytes))
    fail(Code::Unsupported, "{} bytes, over protobuf's limit of 2 GiB", bytes.size());
  pb::TensorProto proto;
  bool whole = proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (whole && is_container(bytes, proto)) fail(Code::Unsupported, "a sequence or optional, only tensors are handled");
  if (!whole) fail(Code::InvalidModel, "this is not a TensorProto, or it is damaged");
  ExternalFiles files(folder);
  return take_tensor(proto, files);
}

}  // namespace

Tensor read_tensor(const std::filesystem::path& path) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  auto where = context([&] { return path.filename().string(); });
  return parse(file->bytes(), path.has_parent_path() ? path.parent_path() : ".");
}

Tensor tensor_from_bytes(std::span<const std::byte> bytes) { return parse(bytes, {}); }

std::string tensor_to_bytes(const Tensor& tensor, const std::string& name) {
  check(tensor.defined(), "a tensor to write is defined");
  pb::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (int64_t d : tensor.dims()) proto.add_dims(d);
  if (tensor.size_bytes() > kLimits.file_bytes / 2)
    fail(Code::Unsupported, "tensor {} is over protobuf's limit of 2 GiB", tensor.text());
  if (tensor.dtype() == DType::String) {
    for (const std::string& s : tensor.strings()) proto.add_string_data(s);
  } else {
    proto.set_raw_data(tensor.raw(), static_cast<size_t>(tensor.size_bytes()));
  }
  return proto.SerializeAsString();
}

void write_tensor(const std::filesystem::path& path, const Tensor& tensor, const std::string& name) {
  std::string bytes = tensor_to_bytes(tensor, name);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(Code::Io, "'{}' cannot be written: {}", path.string(), std::strerror(errno));
}

}  // namespace hf::load
