// Code objects that came with a model: compile() takes them before it looks at the cache or for a compiler.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "gpu/compiler.h"

namespace hf::gpu {

/// Names what a source compiles to, whichever compiler does it: 32 hexadecimal digits.
std::string package_key(const Source& source);

/// The code objects of one architecture.
struct CodePackage {
  std::string arch;                                 // without features: "gfx942", "emu:gfx942"
  std::map<std::string, std::string_view> objects;  // by package_key()
  std::shared_ptr<const void> owner;                // of the bytes
};

/// From now on and as long as anyone holds the package, compile() finds its objects, in this whole process.
/// Thread-safe.
void offer(const std::shared_ptr<const CodePackage>& package);
/// The object for a source; its architecture's features do not matter.
std::optional<std::string> find_packaged(const Source& source, std::string_view arch);

}  // namespace hf::gpu
