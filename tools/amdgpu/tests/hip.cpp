// Opens the libraries, runs scenarios.
#include "tests/hip.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace amdgpu::tests {

#define HIP(result, name, ...) result (*name)(__VA_ARGS__);
#define HIPRTC(result, name, ...) result (*name)(__VA_ARGS__);
#include "tests/functions.def"

namespace {

void* open_library(const char* name) {
  void* library = dlopen((std::string(AMDGPU_LIBRARIES "/") + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(99);
  }
  return library;
}

template <class F>
void resolve(F& function, void* library, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function) return;
  fprintf(stderr, "missing %s\n", name);
  exit(99);
}

void open_libraries() {
  void *hip = open_library("libamdhip64.so"), *hiprtc = open_library("libhiprtc.so");
#define HIP(result, name, ...) resolve(name, hip, #name);
#define HIPRTC(result, name, ...) resolve(name, hiprtc, #name);
#include "tests/functions.def"
}

// Forks; the child's stderr comes back as text.
int run_child(const std::function<void()>& body, std::string& text) {
  int ends[2];
  if (pipe(ends)) return -1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], 2);
    close(ends[1]);
    body();
    fflush(stdout);
    exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(ends[1]);
  char block[4096];
  for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;) text.append(block, static_cast<size_t>(n));
  close(ends[0]);
  int status;
  waitpid(child, &status, 0);
  return status;
}

void skip_without_compiler() {
  if (!*AMDGPU_CLANG) GTEST_SKIP() << "clang-19 and lld-19 are not installed";
}

}  // namespace

std::string arch() {
  const char* v = getenv("AMDEMU_ARCH");
  const std::string all = v ? v : "gfx942";
  return all.substr(0, all.find(','));
}
int wave() { return arch().compare(0, 4, "gfx9") == 0 ? 64 : 32; }

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string kernel_file(const std::string& name) { return AMDGPU_KERNELS "/kernels." + name + ".co"; }

std::string read_file(const std::string& path) {
  std::string text;
  FILE* f = fopen(path.c_str(), "rb");
  if (!f) return text;
  char block[65536];
  for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) text.append(block, n);
  fclose(f);
  return text;
}

ModuleHandle load(const std::string& name) {
  ModuleHandle m = nullptr;
  EXPECT_OK(hipModuleLoad(&m, kernel_file(name).c_str()));
  return m;
}
Function function(ModuleHandle module, const char* name) {
  Function f = nullptr;
  EXPECT_OK(hipModuleGetFunction(&f, module, name));
  return f;
}

std::string compile_offline(const std::string& source, const std::string& options) {
  char folder[] = "/tmp/amdgpu-test-XXXXXX";
  if (!mkdtemp(folder)) {
    ADD_FAILURE() << "no temporary folder";
    return "";
  }
  const std::string base = folder, text = base + "/k.hip", object = base + "/k.co";
  FILE* f = fopen(text.c_str(), "wb");
  fwrite(source.data(), 1, source.size(), f);
  fclose(f);
  const std::string command =
      std::string(AMDGPU_CLANG) +
      " -x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -w --offload-arch=" + arch() + " " +
      options + " -c " + text + " -o " + object;
  EXPECT_EQ(system(command.c_str()), 0) << command;
  std::string code = read_file(object);
  remove(text.c_str());
  remove(object.c_str());
  rmdir(folder);
  return code;
}

void scenario(const Environment& environment, const std::function<void()>& body) {
  std::string text;
  const int status = run_child(
      [&] {
        for (const std::string& e : environment) {
          const size_t equals = e.find('=');
          setenv(e.substr(0, equals).c_str(), e.c_str() + equals + 1, 1);
        }
        open_libraries();
        body();
      },
      text);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status) << "\n" << text;
  if (WIFEXITED(status)) EXPECT_EQ(WEXITSTATUS(status), 0) << text;
}

End end_of(const std::function<void()>& body) {
  End end{0, ""};
  const int status = run_child(
      [&] {
        signal(SIGSEGV, SIG_DFL);
        body();
      },
      end.text);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

void WithKernels::SetUp() { skip_without_compiler(); }
void OnEachArch::SetUp() { skip_without_compiler(); }

}  // namespace amdgpu::tests
