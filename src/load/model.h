// The way in: from an ONNX file to a graph of bound nodes in their newest form.
//
// This folder reads the file (model), names its values and captures (scope), expands functions and makes nodes
// (builder), and turns the schema's tensors, types and attributes into ours (tensor_data, types, attributes, external).
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "ir/graph.h"

namespace hf::load {

struct LoadOptions {
  /// The folder that external data must lie in. Default: the model file's; none for load_bytes, which then refuses it.
  std::filesystem::path folder;
  /// External data by its location, in place of files in a folder.
  std::map<std::string, FileBytes> external;
  /// Gets the external files that were read, by their locations. May be null.
  std::map<std::string, FileBytes>* external_read = nullptr;
  /// Operators that hipforge does not know become nodes without a definition, for inspection. Otherwise: Unsupported,
  /// with a list of them all.
  bool keep_unknown_operators = false;
};

/// Loads a model: functions inlined, captures explicit, nodes sorted, bound and upgraded; types as the file declares
/// them (nothing is inferred yet). Weights in external files are mapped, not read. Throws NotFound or Io (the file),
/// InvalidModel (what the file says), Unsupported (its operators, opset or types), OutOfMemory. Any bytes are survived.
ir::Model load_file(const std::filesystem::path& path, const LoadOptions& options = {});
/// The same from memory, which is no longer needed afterwards.
ir::Model load_bytes(std::span<const std::byte> bytes, const LoadOptions& options = {});

}  // namespace hf::load
