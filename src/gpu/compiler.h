// Kernel text to code objects: hipRTC or clang for AMD, NVRTC for NVIDIA, the host's compiler for the emulator.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hf::gpu {

struct Source {
  std::string name;                  // letters, digits, '_', '-': names the files of a failure
  std::string text;                  // complete: device header and kernels
  std::vector<std::string> entries;  // the kernels in it that will be looked up
  std::vector<std::string> defines;  // "HF_COLS=128"
};

struct CodeObject {
  std::string bytes;  // for Device::module_load
  std::string log;    // warnings; usually empty
};

/// A compiler that was found on this machine. May be used by many threads.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// "hiprtc", "clang", "nvrtc" or "host".
  virtual std::string_view name() const = 0;
  /// What makes two builds of one source differ: version and file. Part of the cache's key.
  virtual const std::string& identity() const = 0;
  /// Compiles for DeviceInfo::arch. Throws Compile, after keeping the source, the log and the command that repeats it
  /// in a folder that the message names.
  CodeObject compile(const Source& source, std::string_view arch);

 protected:
  /// One attempt: true, or false with `out.log` saying why not.
  virtual bool try_compile(const Source& source, const std::string& arch, CodeObject& out) = 0;
  /// The command line that compiles `file` as try_compile() does.
  virtual std::vector<std::string> command(const Source& source, const std::string& arch, const std::string& file,
                                           const std::string& out) const = 0;
  /// The text as it is compiled; for the kept file.
  virtual std::string text_of(const Source& source) const { return source.text; }
};

/// The compiler of this name. Searched once a process; throws NotFound with what was tried, also later.
Compiler& compiler(std::string_view name);
/// The first compiler for an architecture ("gfx942", "sm_90", "emu:gfx942") that is there. Throws NotFound with what
/// was tried for each, Unsupported for an architecture of another form.
Compiler& compiler_for(std::string_view arch);

/// From a package (packaged.h), else through the cache (cache.h): compiles only what is in neither.
CodeObject compile(const Source& source, std::string_view arch);
/// Told how many of how many sources are compiled; by one thread at a time, not always the same.
using CompileProgress = std::function<void(size_t done, size_t all)>;
/// The same for many at once on up to `threads` threads (0: as many as the machine has). Results in order; if some
/// fail, throws the first failure in the order of the sources when all threads have stopped, and begins no more.
std::vector<CodeObject> compile_all(std::span<const Source> sources, std::string_view arch, int threads = 0,
                                    const CompileProgress& progress = {});

}  // namespace hf::gpu
