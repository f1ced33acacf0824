// Mapping of files.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace hf {

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    int error = errno;
    fail(error == ENOENT || error == ENOTDIR ? Code::NotFound : Code::Io, "'{}' cannot be opened: {}", path.string(),
         std::strerror(error));
  }
  return adopt(descriptor, path.string());
}

std::shared_ptr<const MappedFile> MappedFile::adopt(int descriptor, const std::string& name) {
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(Code::Io, "'{}' cannot be examined: {}", name, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail(Code::Io, "'{}' is a folder, wanted a file", name);
  if (!S_ISREG(status.st_mode)) fail(Code::Io, "'{}' is not a regular file", name);
  auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile(nullptr, 0));
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) fail(Code::Io, "'{}' ({} bytes) cannot be mapped: {}", name, size, std::strerror(errno));
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace hf
