// Single tensors in files of ONNX's form: what the backend tests keep their data in.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/tensor.h"

namespace hf::load {

/// Reads a TensorProto file. External data must lie in the file's folder. Throws NotFound or Io (the file), Unsupported
/// for a SequenceProto or OptionalProto, InvalidModel for anything else that is no tensor.
Tensor read_tensor(const std::filesystem::path& path);
/// The same from memory; external data is refused.
Tensor tensor_from_bytes(std::span<const std::byte> bytes);

/// Writes a TensorProto file, replacing one that is there. Throws Io.
void write_tensor(const std::filesystem::path& path, const Tensor& tensor, const std::string& name = "");
/// The same into memory. Throws Unsupported for a tensor over protobuf's limit of 2 GiB.
std::string tensor_to_bytes(const Tensor& tensor, const std::string& name = "");

}  // namespace hf::load
