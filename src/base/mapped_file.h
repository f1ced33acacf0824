// A file's bytes, mapped read-only: nothing is copied, and pages are read when they are touched.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace hf {

/// An open mapping; shared by all who view its bytes. If another process cuts the file off while it is mapped, reading
/// the lost part ends the program (SIGBUS): a limit of memory mapping, as for program code.
class MappedFile {
 public:
  /// Maps a regular file. Throws NotFound if there is none, Io if it is a folder, a device, a pipe or unreadable.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  /// Maps an open descriptor of a regular file, and closes it in any case. `name` is for messages.
  static std::shared_ptr<const MappedFile> adopt(int descriptor, const std::string& name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_;
  size_t size_;
};

/// A file's bytes in memory, and what keeps them there.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

}  // namespace hf
