// A model out of a package, and the package's kernels on offer.
#pragma once
#include "gpu/driver.h"
#include "ir/graph.h"
#include "session/package.h"

namespace hf {

/// Reads the package and loads its model. Throws as read_package() and load::load_bytes().
ir::Model load_package(const std::filesystem::path& path, const std::shared_ptr<const MappedFile>& file,
                       std::shared_ptr<const Package>& package);

/// Lets the compilers find the package's kernels as long as it lives.
void offer_kernels(const Package& package);

struct PackagedKernels {
  const Package::Code* code = nullptr;
  std::string made_for;  // "input [1, 3, 32, 32] in float32"
  std::string why_not;   // if there are none
};
/// The kernels for a device.
PackagedKernels kernels_for(const Package& package, const gpu::DeviceInfo& device);

}  // namespace hf
