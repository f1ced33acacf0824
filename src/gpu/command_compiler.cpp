// Compilers that are programs: clang for AMD targets without ROCm, the host's compiler for the emulator.
#include <charconv>

#include "base/error.h"
#include "base/settings.h"
#include "gpu/compilers.h"
#include "gpu/places.h"
#include "gpu/process.h"

namespace hf::gpu {
namespace {

constexpr int kOldestClang = 17;

class CommandCompiler : public Compiler {
 public:
  const std::string& identity() const override { return identity_; }

 protected:
  CommandCompiler(std::string program, const std::string& version) : program_(std::move(program)) {
    identity_ = fmt::format("{} ({})", version.substr(0, version.find('\n')), program_);
  }

  bool try_compile(const Source& source, const std::string& arch, CodeObject& out) override {
    TemporaryFolder folder;
    std::string file = (folder.path() / (source.name + ".hip")).string(), object = (folder.path() / "out").string();
    write_file(file, text_of(source));
    ProcessResult result = run_process(command(source, arch, file, object));
    out.log = std::move(result.output);
    if (result.status != 0) {
      if (out.log.empty()) out.log = fmt::format("error: the compiler ended with status {}", result.status);
      return false;
    }
    out.bytes = read_file(object);
    return true;
  }

  std::string program_;

 private:
  std::string identity_;
};

class Clang final : public CommandCompiler {
 public:
  Clang(std::string program, const std::string& version) : CommandCompiler(std::move(program), version) {}
  std::string_view name() const override { return "clang"; }

 protected:
  std::vector<std::string> command(const Source& source, const std::string& arch, const std::string& file,
                                   const std::string& out) const override {
    std::vector<std::string> line{program_,
                                  "-x",
                                  "hip",
                                  "--cuda-device-only",
                                  "--no-gpu-bundle-output",
                                  "--offload-arch=" + arch,
                                  "-nogpuinc",
                                  "-nogpulib",
                                  "-std=c++17",
                                  "-O3"};
    for (const std::string& define : source.defines) line.push_back("-D" + define);
    line.insert(line.end(), {"-c", file, "-o", out});
    return line;
  }
};

class HostCompiler final : public CommandCompiler {
 public:
  HostCompiler(std::string program, const std::string& version) : CommandCompiler(std::move(program), version) {}
  std::string_view name() const override { return "host"; }

 protected:
  std::vector<std::string> command(const Source& source, const std::string& arch, const std::string& file,
                                   const std::string& out) const override {
    // Contraction would make results depend on the host: fma is written where it is meant. Kernels read 16 bytes of
    // elements as one vector, which compilers for GPUs allow.
    std::vector<std::string> line{program_,
                                  "-x",
                                  "c++",
                                  "-std=c++17",
                                  "-O2",
                                  "-fPIC",
                                  "-shared",
                                  "-w",
                                  "-fno-math-errno",
                                  "-ffp-contract=off",
                                  "-fno-strict-aliasing",
                                  "-DHF_EMU=1",
                                  fmt::format("-DHF_EMU_WAVE={}", wave_size(arch))};
#ifdef __SANITIZE_ADDRESS__
    line.push_back("-fsanitize=address");  // as this program is: kernels' accesses are then checked too
#endif
    for (const std::string& define : source.defines) line.push_back("-D" + define);
    line.insert(line.end(), {file, "-o", out});
    return line;
  }

  // The entries' trampolines: one pointer an argument becomes a call.
  std::string text_of(const Source& source) const override {
    std::string text = source.text + R"(
template <int... I> struct HfIndices {};
template <int N, int... I> struct HfUpTo : HfUpTo<N - 1, N - 1, I...> {};
template <int... I> struct HfUpTo<0, I...> { typedef HfIndices<I...> type; };
template <class... P, int... I> static void hf_call(void (*f)(P...), void** args, HfIndices<I...>) {
  f(*(P*)args[I]...);
}
template <auto* F> struct HfEntry;
template <class... P, void (*F)(P...)> struct HfEntry<F> {
  static void call(void** args) { hf_call(F, args, typename HfUpTo<sizeof...(P)>::type()); }
  static unsigned sizes(unsigned* out) {
    unsigned all[] = {sizeof(P)..., 0};
    for (unsigned i = 0; out && i < sizeof...(P); i++) out[i] = all[i];
    return sizeof...(P);
  }
};
)";
    for (const std::string& entry : source.entries)
      text += fmt::format(
          "extern \"C\" void hf_emu_entry_{0}(void** args) {{ HfEntry<&{0}>::call(args); }}\n"
          "extern \"C\" unsigned hf_emu_args_{0}(unsigned* sizes) {{ return HfEntry<&{0}>::sizes(sizes); }}\n",
          entry);
    return text;
  }

 private:
  static int wave_size(std::string_view arch) {
    bool wave64 = arch.starts_with("emu:gfx9");
    return wave64 ? 64 : 32;
  }
};

// "Debian clang version 19.1.7" -> 19; 0 if it does not say.
int major_version(const std::string& text) {
  size_t at = text.find("version ");
  if (at == text.npos) return 0;
  int major = 0;
  std::from_chars(text.data() + at + 8, text.data() + text.size(), major);
  return major;
}

std::vector<std::string> clang_candidates() {
  if (std::string given = setting("clang"); !given.empty()) return {given};
  std::vector<std::string> all;
  for (const std::string& folder : folders(rocm_clang_search())) all.push_back(folder + "/clang++");
  for (int version = 30; version >= kOldestClang; --version)
    if (auto found = find_program(fmt::format("clang++-{}", version))) all.push_back(*found);
  if (auto found = find_program("clang++")) all.push_back(*found);
  return all;
}

}  // namespace

std::unique_ptr<Compiler> make_clang() {
  std::string tried;
  auto note = [&](const std::string& program, const std::string& why) {
    tried += fmt::format("{}'{}' ({})", tried.empty() ? "" : ", ", program, why);
  };
  for (const std::string& program : clang_candidates()) {
    try {
      ProcessResult version = run_process({program, "--version"});
      int major = version.status == 0 ? major_version(version.output) : 0;
      if (major < kOldestClang) {
        note(program, major ? fmt::format("version {}", major) : "not a clang that runs");
        continue;
      }
      ProcessResult targets = run_process({program, "-print-targets"});
      if (targets.output.find("amdgcn") != std::string::npos) return std::make_unique<Clang>(program, version.output);
      note(program, "built without AMD targets");
    } catch (const Error& e) {
      note(program, e.what());
    }
  }
  fail(Code::NotFound,
       "no clang++ from version {} on was found (install clang-19 and lld-19, or set HIPFORGE_CLANG); tried: {}",
       kOldestClang, tried.empty() ? "none is there" : tried);
}

std::unique_ptr<Compiler> make_host_compiler() {
  std::vector<std::string> names{"g++", "c++", "clang++"};
  if (std::string given = setting("cxx"); !given.empty()) names = {given};
  for (const std::string& name : names) {
    std::optional<std::string> program = name.find('/') == name.npos ? find_program(name) : name;
    if (!program) continue;
    ProcessResult version = run_process({*program, "--version"});
    if (version.status == 0) return std::make_unique<HostCompiler>(*program, version.output);
  }
  fail(Code::NotFound, "no C++ compiler was found for the emulator; tried: '{}'; install g++, or set HIPFORGE_CXX",
       names.size() > 1 ? "g++', 'c++', 'clang++" : names[0]);
}

}  // namespace hf::gpu
