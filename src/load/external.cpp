// External data: files that are certainly inside the model's folder.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "load/tensor_data.h"

namespace hf::load {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  void reset(int descriptor) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
  }

 private:
  int descriptor_;
};

[[noreturn]] void fail_open(const std::string& part, int error) {
  if (error == ENOENT) fail(Code::NotFound, "'{}' does not exist in the model's folder", part);
  if (error == ELOOP || error == ENOTDIR)
    fail(Code::InvalidModel,
         "'{}' is a link or no folder; data must be real files in the model's folder: "
         "copy the model with its links resolved",
         part);
  fail(Code::Io, "'{}' cannot be opened: {}", part, std::strerror(error));
}

// The components of a path that stays inside; InvalidModel otherwise.
std::vector<std::string> components(const std::string& location) {
  std::filesystem::path path(location);
  if (location.empty()) fail(Code::InvalidModel, "the location is empty");
  if (location.find('\0') != std::string::npos) fail(Code::InvalidModel, "the location holds a zero byte");
  if (path.is_absolute())
    fail(Code::InvalidModel, "the location is an absolute path, wanted one in the model's folder");
  std::vector<std::string> parts;
  for (const auto& part : path) {
    if (part == "..") fail(Code::InvalidModel, "the location leads out of the model's folder");
    if (part.empty()) fail(Code::InvalidModel, "the location ends in '/', wanted a file");
    if (part != ".") parts.push_back(part.string());
  }
  if (parts.empty()) fail(Code::InvalidModel, "the location names no file");
  return parts;
}

}  // namespace

const FileBytes& ExternalFiles::open(const std::string& location) {
  auto where = context([&] { return fmt::format("external data '{}'", location); });
  if (auto it = open_.find(location); it != open_.end()) return it->second;
  if (folder_.empty()) fail(Code::InvalidModel, "a model from memory has no folder; name one to load external data");
  std::vector<std::string> parts = components(location);
  Descriptor at(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) fail(Code::Io, "folder '{}' cannot be opened: {}", folder_.string(), std::strerror(errno));
  // One component at a time, none of them a link: no check by name can be overtaken by a rename.
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    int next = ::openat(at.get(), parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) fail_open(parts[i], errno);
    at.reset(next);
  }
  // Looked at before it is opened, as opening a device can act on it; and once more after.
  struct stat status {};
  if (::fstatat(at.get(), parts.back().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail_open(parts.back(), errno);
  if (S_ISLNK(status.st_mode)) fail_open(parts.back(), ELOOP);
  if (!S_ISREG(status.st_mode)) fail(Code::InvalidModel, "it is not a regular file");
  Descriptor file(::openat(at.get(), parts.back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) fail_open(parts.back(), errno);
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    fail(Code::InvalidModel, "it is not a regular file");
  if (status.st_nlink > 1)
    fail(Code::InvalidModel, "it has {} hard links and so may be a file from elsewhere: copy it", status.st_nlink);
  std::shared_ptr<const MappedFile> mapped = MappedFile::adopt(file.release(), location);
  return open_[location] = {mapped->bytes(), mapped};
}

}  // namespace hf::load
