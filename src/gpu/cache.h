// Compiled kernels on disk, shared by processes: found by what they are made of, never wrong, at worst made again.
#pragma once
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/compiler.h"

namespace hf::gpu {

/// Names what a compiler makes of a source for an architecture: 32 hexadecimal digits (XXH3, 128 bits).
std::string cache_key(const Source& source, std::string_view arch, std::string_view compiler);

/// A folder of files KEY.hfco: a header with a checksum, then the bytes. Entries appear whole (written beside,
/// renamed); damaged, cut off or foreign ones are not found, and replaced by the next store(). Where the folder cannot
/// be made or written, one warning says so and nothing is stored. Any thread and any number of processes may use one
/// folder.
class CodeCache {
 public:
  /// An empty folder name: no cache. When the entries outgrow `most_bytes`, those used longest ago are removed.
  CodeCache(std::filesystem::path folder, int64_t most_bytes);
  std::optional<std::string> find(const std::string& key);
  void store(const std::string& key, std::string_view bytes);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  bool write(const std::string& key, std::string_view bytes);
  void prune();
  void give_up(const std::string& why);

  std::filesystem::path folder_;
  const int64_t most_bytes_;
  std::atomic<bool> writable_;
  std::mutex mutex_;
  int64_t used_bytes_ = -1;  // as far as this process knows; -1: not looked yet
};

/// The process's cache, by the settings.
CodeCache& code_cache();

}  // namespace hf::gpu
