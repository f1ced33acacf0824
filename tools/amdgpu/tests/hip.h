// The emulated HIP runtime and hipRTC as a program without any ROCm dependency sees them: dlopen and dlsym only. Each
// scenario runs in a process of its own, since the library reads its settings once.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace amdgpu::tests {

using Stream = void*;
using Event = void*;
using ModuleHandle = void*;
using Function = void*;
using GraphHandle = void*;
using Exec = void*;
using Program = void*;

#define HIP(result, name, ...) extern result (*name)(__VA_ARGS__);
#define HIPRTC(result, name, ...) extern result (*name)(__VA_ARGS__);
#include "tests/functions.def"

/// The errors by HIP's names without "hipError".
namespace error {
#define ERROR(name, value, text) constexpr int name = value;
#include "hip/errors.def"
}  // namespace error

#define EXPECT_OK(call) EXPECT_EQ((call), 0)

/// hipMemcpyKind
enum Copy : int { HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, ByAddress = 4 };

/// The first architecture of AMDEMU_ARCH, inside a scenario.
std::string arch();
/// Lanes of a wave there.
int wave();
double seconds();

/// Where the test kernels of an architecture are, or of "bundle".
std::string kernel_file(const std::string& name);
std::string read_file(const std::string& path);

/// Loads the test kernels of an architecture.
ModuleHandle load(const std::string& arch_name);
Function function(ModuleHandle module, const char* name);

template <class... A>
int run(Function f, unsigned grid, unsigned block, unsigned lds, Stream stream, A... arguments) {
  void* p[] = {static_cast<void*>(&arguments)..., nullptr};
  return hipModuleLaunchKernel(f, grid, 1, 1, block, 1, 1, lds, stream, p, nullptr);
}

template <class T>
T* device_array(size_t n) {
  void* p = nullptr;
  EXPECT_OK(hipMalloc(&p, n * sizeof(T)));
  return static_cast<T*>(p);
}
template <class T>
T* device_copy(const std::vector<T>& v) {
  T* p = device_array<T>(v.size());
  EXPECT_OK(hipMemcpy(p, v.data(), v.size() * sizeof(T), HostToDevice));
  return p;
}
template <class T>
std::vector<T> read_array(const T* p, size_t n) {
  std::vector<T> v(n);
  EXPECT_OK(hipMemcpy(v.data(), p, n * sizeof(T), DeviceToHost));
  return v;
}
/// A value at an offset of a structure.
template <class T>
T at(const void* p, size_t offset) {
  T v;
  memcpy(&v, static_cast<const char*>(p) + offset, sizeof v);
  return v;
}

/// Compiles a device program offline for the scenario's architecture. Fails the test if the compiler does.
std::string compile_offline(const std::string& source, const std::string& options);

using Environment = std::vector<std::string>;  // "NAME=value"
/// Runs the body in a process with these variables and the libraries opened. Its failures are those of the test; what
/// it wrote to stderr is shown then.
void scenario(const Environment& environment, const std::function<void()>& body);

/// How a function ends that may crash: the signal, or 0; and what it wrote to stderr.
struct End {
  int signal;
  std::string text;
};
End end_of(const std::function<void()>& body);

/// Skips without the compiler of the test kernels.
class WithKernels : public testing::Test {
 protected:
  void SetUp() override;
};
class OnEachArch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override;
  /// A scenario on the test's architecture.
  void on_arch(const std::function<void()>& body) const { scenario({std::string("AMDEMU_ARCH=") + GetParam()}, body); }
};
/// One of each family.
inline const auto kArchs = testing::Values("gfx942", "gfx90a", "gfx1100", "gfx1201", "gfx1030");
inline std::string arch_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace amdgpu::tests
