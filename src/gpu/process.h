// Other programs: compilers are run, never through a shell.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hf::gpu {

struct ProcessResult {
  int status = 0;      // of exit; 128 + the number of the signal that ended it
  std::string output;  // standard output and standard error together
};

/// Runs a program (a path, or a name looked up in PATH) with empty standard input, and waits for it. Throws NotFound if
/// it cannot be started. Output beyond `most_output` bytes is dropped.
ProcessResult run_process(const std::vector<std::string>& arguments, size_t most_output = 1 << 20);

/// The file of this name in the folders of PATH that may be executed.
std::optional<std::string> find_program(const std::string& name);

/// The command as a line for a shell, for people to repeat.
std::string shell_line(const std::vector<std::string>& arguments);

/// A new folder that is removed with all in it. Throws Io.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A whole file. Both throw Io.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace hf::gpu
