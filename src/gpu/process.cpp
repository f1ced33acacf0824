// posix_spawn with a pipe.
#include "gpu/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/settings.h"

extern char** environ;

namespace hf::gpu {
namespace {

struct Actions {
  Actions() { posix_spawn_file_actions_init(&value); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, size_t most_output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(Code::Io, "no pipe to run '{}': {}", arguments.at(0), strerror(errno));
  Actions actions;
  posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.value, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions.value, ends[1], 2);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  int error = posix_spawnp(&pid, argv[0], &actions.value, nullptr, argv.data(), environ);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    fail(Code::NotFound, "'{}' cannot be run: {}", arguments[0], strerror(error));
  }
  ProcessResult result;
  char buffer[65536];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0 && result.output.size() < most_output) result.output.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::optional<std::string> find_program(const std::string& name) {
  std::string path = setting("path");
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    std::string file = path.substr(at, end - at) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return std::nullopt;
}

std::string shell_line(const std::vector<std::string>& arguments) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
  std::string line;
  for (const std::string& a : arguments) {
    if (!line.empty()) line += ' ';
    if (!a.empty() && a.find_first_not_of(kPlain) == a.npos) {
      line += a;
      continue;
    }
    line += '\'';
    for (char c : a) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = setting("tmp") + "/hipforge-XXXXXX";
  if (!mkdtemp(name.data())) fail(Code::Io, "no temporary folder in '{}': {}", setting("tmp"), strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) fail(Code::Io, "'{}' cannot be read", path.string());
  return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(Code::Io, "'{}' cannot be written", path.string());
}

}  // namespace hf::gpu
