// From the schema's tensors to ours.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/tensor.h"

namespace hipforge::onnx {
class TensorProto;
class SparseTensorProto;
}  // namespace hipforge::onnx

namespace hf::load {

namespace pb = ::hipforge::onnx;

/// The files beside a model that hold its tensors' bytes; each is mapped once. Nothing outside the folder is opened.
class ExternalFiles {
 public:
  using Files = std::map<std::string, FileBytes>;
  /// An empty folder: no external data but what `given` holds, by location.
  explicit ExternalFiles(std::filesystem::path folder, Files given = {})
      : folder_(std::move(folder)), open_(std::move(given)) {}
  /// Maps `location`, relative to the folder. Throws InvalidModel for a path that is absolute, goes up, passes through
  /// a link or is no regular file with one name; NotFound if there is none.
  const FileBytes& open(const std::string& location);
  /// All that were opened or given.
  const Files& all() const { return open_; }

 private:
  std::filesystem::path folder_;
  Files open_;
};

/// ONNX's number as a dtype. Throws InvalidModel for one that is none.
DType to_dtype(int64_t number);

/// The tensor; takes raw bytes out of the message instead of copying them, so each message is read once. Lengths are
/// checked before anything is allocated. Throws InvalidModel where the message contradicts itself.
Tensor take_tensor(pb::TensorProto& proto, ExternalFiles& files);
/// A sparse tensor as a dense one. `budget_bytes` is what may still be allocated, and is reduced.
Tensor take_sparse(pb::SparseTensorProto& proto, ExternalFiles& files, int64_t& budget_bytes);

}  // namespace hf::load
