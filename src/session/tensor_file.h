// Tensors in files, for whoever feeds a model: NumPy's .npy, and ONNX's TensorProto (.pb) as its backend tests use it.
#pragma once
#include <filesystem>

#include "base/tensor.h"

namespace hf {

/// Reads either format, told apart by the first bytes and not by the suffix. `wanted` is the dtype that the tensor is
/// for: one that NumPy lacks is converted from the type that write_npy() gives it; otherwise the file's dtype stays.
/// Throws NotFound or Io (the file), InvalidArgument (what it holds), Unsupported (types that are none of ours),
/// OutOfMemory. Any bytes are survived.
Tensor load_tensor(const std::filesystem::path& path, DType wanted = DType::Undefined);

}  // namespace hf
