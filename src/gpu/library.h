// Shared libraries that may or may not be there: where they are looked for, what was tried, their symbols.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hf::gpu {

/// Where a library can be. Everything is tried in this order: the folders of the setting, each with all of `below`; the
/// folders that match `patterns`; last the bare names, which is the loader's own search (LD_LIBRARY_PATH, its cache).
struct LibrarySearch {
  std::string_view what;                       // "the HIP runtime", for messages
  std::string_view setting;                    // member of settings.def: folders separated by ':'
  std::span<const std::string_view> below;     // folders below one of the setting's: "", "lib", ...
  std::span<const std::string_view> patterns;  // globs of folders: "/opt/rocm*/lib"; newest version first
  std::span<const std::string_view> names;     // file names, best first
};

/// An open library; closed never: GPU runtimes do not survive it.
class Library {
 public:
  /// Throws NotFound with each place and its error.
  static Library open(const LibrarySearch& search);
  /// The file that was opened, with its path where known.
  const std::string& path() const { return path_; }
  /// Null if there is none.
  void* find(const char* symbol) const;
  /// Throws Driver naming library and symbol if there is none: "'libamdhip64.so.5' has no 'hipMalloc'".
  void* get(const char* symbol) const;

 private:
  Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::string path_;
};

/// The folders of a search that exist, best first: for finding programs beside libraries.
std::vector<std::string> folders(const LibrarySearch& search);

}  // namespace hf::gpu
