// The folder of a compilation, the command line, the process.
#include "hiprtc/compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hiprtc/elf_symbols.h"

extern char** environ;

namespace amdgpu {

namespace {

// Headers that programs include and the prelude stands for.
constexpr const char* kProvided[] = {"hip/hip_runtime.h",      "hip/hip_fp16.h",          "hip/hip_bf16.h",
                                     "hip/hip_bfloat16.h",     "hip/hip_common.h",        "hip/hip_complex.h",
                                     "hip/hip_vector_types.h", "hip/hip_math_constants.h"};
constexpr const char* kArchOptions[] = {"--offload-arch=", "--gpu-architecture=", "-arch="};
constexpr char kExpressionVariable[] = "amdemu_name_expr_";

std::string env_text(const char* name, const char* otherwise) {
  const char* v = getenv(name);
  return v && *v ? v : otherwise;
}

// The folder of this library, where the prelude lies too.
std::string own_folder() {
  Dl_info info;
  char path[PATH_MAX];
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !realpath(info.dli_fname, path)) return ".";
  const std::string s = path;
  return s.substr(0, s.rfind('/'));
}

std::string read_file(const std::string& path) {
  std::string text;
  FILE* f = fopen(path.c_str(), "rb");
  if (!f) return text;
  char block[65536];
  for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) text.append(block, n);
  fclose(f);
  return text;
}

// A temporary folder, removed at the end unless AMDEMU_KEEP is set.
class Folder {
 public:
  Folder() {
    path_ = env_text("TMPDIR", "/tmp") + "/amdemu-rtc-XXXXXX";
    valid_ = mkdtemp(path_.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    if (!valid_ || getenv("AMDEMU_KEEP")) return;
    auto remove_one = [](const char* p, const struct stat*, int, struct FTW*) { return remove(p); };
    nftw(path_.c_str(), remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // Also makes the folders that the name contains.
  void write(const std::string& name, const std::string& text) {
    const std::string path = *this / name;
    for (size_t i = path_.size() + 1; i < path.size(); i++)
      if (path[i] == '/') mkdir(path.substr(0, i).c_str(), 0700);
    FILE* f = fopen(path.c_str(), "wb");
    const bool written = f && fwrite(text.data(), 1, text.size(), f) == text.size();
    valid_ &= written;
    if (f && fclose(f)) valid_ = false;
  }
  bool valid() const { return valid_; }

 private:
  std::string path_;
  bool valid_ = false;
};

std::string variable_of(size_t expression) { return kExpressionVariable + std::to_string(expression); }

// The program, and for each expression a variable that points to what it names.
std::string full_source(const Compilation& c) {
  std::string s = "#line 1 \"" + c.name.substr(c.name.rfind('/') + 1) + "\"\n" + c.source + "\n";
  for (size_t i = 0; i < c.expressions.size(); i++)
    s += "#line 1 \"name expression\"\n"
         "extern \"C\" __attribute__((used, device, visibility(\"default\"))) const void* " +
         variable_of(i) + " = (const void*)(" + c.expressions[i] + ");\n";
  return s;
}

bool is_arch_option(const std::string& option, std::string& arch) {
  for (const char* prefix : kArchOptions) {
    const size_t n = strlen(prefix);
    if (option.compare(0, n, prefix) || option.size() == n) continue;
    arch = option.substr(n);
    return true;
  }
  return false;
}

std::vector<std::string> command_line(const Compilation& c, const Folder& folder) {
  std::string arch = env_text("AMDEMU_ARCH", "gfx942");
  arch = arch.substr(0, arch.find(','));
  std::vector<std::string> user;
  for (const std::string& o : c.options)
    if (!is_arch_option(o, arch)) user.push_back(o);
  std::vector<std::string> a = {env_text("AMDEMU_CLANG", "clang++-19"),
                                "-x",
                                "hip",
                                "--cuda-device-only",
                                "--no-gpu-bundle-output",
                                "-nogpuinc",
                                "-nogpulib",
                                "-std=c++17",
                                "-O3",
                                "-D__HIPCC_RTC__=1",
                                "-D__HIP_PLATFORM_AMD__=1",
                                "-Wno-unused-command-line-argument",
                                "--offload-arch=" + arch,
                                "-include",
                                own_folder() + "/hiprtc_prelude.h",
                                "-I" + folder / "include",
                                "-I" + folder / "headers"};
  a.insert(a.end(), user.begin(), user.end());
  a.insert(a.end(), {"-c", folder / "program.hip", "-o", folder / "program.co"});
  return a;
}

// Runs a program with its output in a file. An error number if it cannot be started.
int run_program(std::vector<std::string>& arguments, const std::string& output, int& status) {
  std::vector<char*> argv, env;
  for (std::string& s : arguments) argv.push_back(s.data());
  argv.push_back(nullptr);
  // What makes the caller use this library must not reach the compiler.
  for (char** e = environ; *e; e++)
    if (strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "LD_LIBRARY_PATH=", 16)) env.push_back(*e);
  env.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t child;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return failed;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

// A kernel's symbol is that of its descriptor.
std::string symbol_of(const std::string& code, size_t expression) {
  std::string s = pointee(code, variable_of(expression));
  if (s.size() > 3 && s.compare(s.size() - 3, 3, ".kd") == 0) s.resize(s.size() - 3);
  return s;
}

}  // namespace

Compiled compile(const Compilation& c) {
  Compiled r;
  for (const std::string& o : c.options)
    if (o == "-fgpu-rdc") {
      r.outcome = Outcome::BadOption;
      r.log = "error: -fgpu-rdc (bitcode output) is not supported\n";
      return r;
    }
  Folder folder;
  for (const char* h : kProvided) folder.write(std::string("include/") + h, "// provided by the prelude\n");
  for (const SourceFile& h : c.headers) {
    if (h.name.find("..") != std::string::npos) {
      r.outcome = Outcome::BadInput;
      return r;
    }
    folder.write("headers/" + h.name, h.text);
  }
  folder.write("program.hip", full_source(c));
  if (!folder.valid()) return r;

  std::vector<std::string> arguments = command_line(c, folder);
  int status = 0;
  if (const int failed = run_program(arguments, folder / "log", status)) {
    r.log = "error: cannot run " + arguments[0] + ": " + strerror(failed) + "\n";
    return r;
  }
  r.log = read_file(folder / "log");
  r.outcome = Outcome::CompileError;
  if (!WIFEXITED(status) || WEXITSTATUS(status)) {
    if (r.log.empty()) r.log = "error: the compiler failed\n";
    return r;
  }
  r.code = read_file(folder / "program.co");
  if (r.code.empty()) return r;
  for (size_t i = 0; i < c.expressions.size(); i++) r.symbols.push_back(symbol_of(r.code, i));
  r.outcome = Outcome::Ok;
  return r;
}

}  // namespace amdgpu
