// hipRTC and NVRTC: compilers as libraries.
#include "base/error.h"
#include "gpu/compilers.h"
#include "gpu/library.h"
#include "gpu/places.h"

namespace hf::gpu {
namespace {

struct RtcKind {
  std::string_view name;
  LibrarySearch (*search)();
  bool hip;
  std::string_view arch_option;
  std::span<const std::string_view> options;
  std::string_view command;  // the program that does the same to a file
  std::span<const std::string_view> command_options;
};

constexpr std::string_view kHipOptions[] = {"-std=c++17", "-O3"};
constexpr std::string_view kHipCommand[] = {
    "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-std=c++17", "-O3", "-c"};
// 177: a function or variable that this kernel does not use.
constexpr std::string_view kCudaOptions[] = {"-std=c++17", "-default-device", "-diag-suppress=177"};
constexpr std::string_view kCudaCommand[] = {"-x", "cu", "-std=c++17", "-cubin"};
constexpr RtcKind kHiprtc{"hiprtc", hiprtc_search, true, "--offload-arch=", kHipOptions, "clang++", kHipCommand};
constexpr RtcKind kNvrtc{"nvrtc", nvrtc_search, false, "--gpu-architecture=", kCudaOptions, "nvcc", kCudaCommand};

// What the compiler calls an architecture. Hopper's matrix instructions are in sm_90a, which is the same device.
std::string compiled_arch(const std::string& arch) { return arch == "sm_90" ? "sm_90a" : arch; }

class Rtc final : public Compiler {
 public:
  explicit Rtc(const RtcKind& kind) : kind_(kind), library_(Library::open(kind.search())) {
    auto bind = [&](auto& function, const char* hip, const char* nv) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(library_.get(kind.hip ? hip : nv));
    };
#define RTC(member, hip, nv, ...) bind(member##_, hip, nv);
#include "gpu/rtc.def"
#undef RTC
    int major = 0, minor = 0;
    version_(&major, &minor);
    identity_ = fmt::format("{} {}.{} ({})", kind.hip ? "hipRTC" : "NVRTC", major, minor, library_.path());
  }

  std::string_view name() const override { return kind_.name; }
  const std::string& identity() const override { return identity_; }

 protected:
  bool try_compile(const Source& source, const std::string& arch, CodeObject& out) override {
    std::vector<std::string> options{std::string(kind_.arch_option) + compiled_arch(arch)};
    for (std::string_view option : kind_.options) options.emplace_back(option);
    for (const std::string& define : source.defines) options.push_back("-D" + define);
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());

    void* program = nullptr;
    std::string file = source.name + ".hip";
    if (int status = create_(&program, source.text.c_str(), file.c_str(), 0, nullptr, nullptr)) {
      out.log = fmt::format("error: the compiler did not take the source (status {})", status);
      return false;
    }
    struct Destroy {
      Rtc& rtc;
      void*& program;
      ~Destroy() { rtc.destroy_(&program); }
    } destroy{*this, program};
    int status = compile_(program, static_cast<int>(pointers.size()), pointers.data());
    get(program, log_size_, log_, out.log);
    while (!out.log.empty() && (out.log.back() == '\0' || out.log.back() == '\n')) out.log.pop_back();
    if (status == 0 && get(program, code_size_, code_, out.bytes) && !out.bytes.empty()) return true;
    if (out.log.empty()) out.log = fmt::format("error: the compiler failed without a word (status {})", status);
    return false;
  }

  std::vector<std::string> command(const Source& source, const std::string& arch, const std::string& file,
                                   const std::string& out) const override {
    std::vector<std::string> line{std::string(kind_.command)};
    for (std::string_view option : kind_.command_options) line.emplace_back(option);
    line.push_back(kind_.hip ? "--offload-arch=" + arch : "-arch=" + compiled_arch(arch));
    for (const std::string& define : source.defines) line.push_back("-D" + define);
    line.insert(line.end(), {file, "-o", out});
    return line;
  }

 private:
  static bool get(void* program, int (*size)(void*, size_t*), int (*read)(void*, char*), std::string& text) {
    size_t bytes = 0;
    if (size(program, &bytes) != 0) return false;
    text.resize(bytes);
    return bytes == 0 || read(program, text.data()) == 0;
  }

  const RtcKind& kind_;
  Library library_;
  std::string identity_;
#define RTC(member, hip, nv, ...) int (*member##_)(__VA_ARGS__) = nullptr;
#include "gpu/rtc.def"
#undef RTC
};

}  // namespace

std::unique_ptr<Compiler> make_hiprtc() { return std::make_unique<Rtc>(kHiprtc); }
std::unique_ptr<Compiler> make_nvrtc() { return std::make_unique<Rtc>(kNvrtc); }

}  // namespace hf::gpu
