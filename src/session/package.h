// .hfp files: a model with its external data, and kernels compiled for targets. What `hipforge compile` writes.
//
// The file is a header, a table of sections and the sections, each aligned and with a checksum, so that weights are
// used where they are mapped. All numbers are little-endian. A package holds programs: open only those that you trust.
#pragma once
#include <filesystem>
#include <map>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/mapped_file.h"
#include "gpu/packaged.h"
#include "kernel/kernel_spec.h"

namespace hf {

using Shapes = std::map<std::string, Dims>;  // of a model's inputs

struct Package {
  struct Code {
    kernel::Target target;  // that the nodes were lowered for
    std::shared_ptr<const gpu::CodePackage> objects;
  };
  std::string name;                           // the model's file, for messages
  std::string kernels;                        // names the device header: packages of others have none of our kernels
  DType precision = DType::F32;               // that it was compiled for
  std::vector<Shapes> shapes;                 // likewise
  FileBytes model;                            // an ONNX file
  std::map<std::string, FileBytes> external;  // its external data, by location
  std::vector<Code> code;
};

/// The bytes begin as a package does.
bool is_package(std::span<const std::byte> bytes);

/// Reads a package; what it returns views the file. Throws InvalidModel where the file is damaged, cut off or of a
/// format that this version does not know. Any bytes are survived.
Package read_package(const std::shared_ptr<const MappedFile>& file);

/// Writes a package: beside its place, then renamed, so that it is whole or not there. Throws Io.
void write_package(const std::filesystem::path& path, const Package& package);

/// That of a section, and of the table.
uint64_t section_checksum(std::string_view bytes);

/// Package::kernels of this version.
std::string kernels_name();

}  // namespace hf
