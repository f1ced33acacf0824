// Choosing compilers, keeping failures, compiling in parallel.
#include "gpu/compiler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "gpu/cache.h"
#include "gpu/compilers.h"
#include "gpu/packaged.h"
#include "gpu/process.h"

namespace hf::gpu {
namespace {

struct Entry {
  std::string_view name, arch_prefix;
  std::unique_ptr<Compiler> (*make)();
};
// For one architecture the first that is there is used.
constexpr Entry kCompilers[] = {{"hiprtc", "gfx", make_hiprtc},
                                {"clang", "gfx", make_clang},
                                {"nvrtc", "sm_", make_nvrtc},
                                {"host", "emu", make_host_compiler}};

struct Found {
  std::unique_ptr<Compiler> compiler;
  std::optional<Error> error;
};

Found& found(size_t index) {
  static std::mutex mutex;
  static auto& all = *new std::array<Found, std::size(kCompilers)>;  // outlives threads that still compile at exit
  std::lock_guard lock(mutex);
  Found& one = all[index];
  if (!one.compiler && !one.error) {
    try {
      // On a thread of its own: the error is remembered, and is not about where it was first asked for.
      one.compiler = std::async(std::launch::async, kCompilers[index].make).get();
    } catch (const Error& e) {
      one.error = e;
    }
  }
  return one;
}

// Beside the cache, or where temporary files are if there is none.
std::filesystem::path failure_folder(const std::string& name) {
  std::filesystem::path base = code_cache().folder();
  std::error_code error;
  if (!base.empty()) std::filesystem::create_directories(base /= "failed", error);
  if (base.empty() || error) base = std::filesystem::temp_directory_path(error) / "hipforge-failed";
  std::filesystem::path folder = base / name;
  std::filesystem::create_directories(folder, error);
  return folder;
}

std::string first_error(const std::string& log) {
  size_t at = log.find("error");
  if (at == log.npos) at = 0;
  size_t begin = log.rfind('\n', at);
  begin = begin == log.npos ? 0 : begin + 1;
  return log.substr(begin, std::min<size_t>(log.find('\n', begin) - begin, 300));
}

}  // namespace

CodeObject Compiler::compile(const Source& source, std::string_view arch_text) {
  std::string arch(arch_text);
  CodeObject out;
  if (try_compile(source, arch, out)) return out;
  std::string key = cache_key(source, arch, identity());
  std::string kept;
  try {
    std::filesystem::path folder = failure_folder(fmt::format("{}-{}", source.name, key.substr(0, 12)));
    std::filesystem::path file = folder / (name() == "host" ? "kernel.cpp" : "kernel.hip");
    write_file(file, text_of(source));
    write_file(folder / "log.txt", out.log);
    write_file(
        folder / "replay.sh",
        "#!/bin/sh\n" + shell_line(command(source, arch, file.string(), (folder / "kernel.co").string())) + "\n");
    kept = fmt::format("source and log are in '{}'; repeat it with 'sh {}'", folder.string(),
                       (folder / "replay.sh").string());
  } catch (const Error& e) {
    kept = fmt::format("the source could not be kept ({})", e.what());
  }
  fail(Code::Compile, "kernel '{}' for '{}' with {}: {}; {}", source.name, arch, identity(), first_error(out.log),
       kept);
}

Compiler& compiler(std::string_view name) {
  for (size_t i = 0; i < std::size(kCompilers); ++i) {
    if (kCompilers[i].name != name) continue;
    Found& one = found(i);
    if (one.error) throw *one.error;
    return *one.compiler;
  }
  fail(Code::InvalidArgument, "there is no compiler '{}', only 'hiprtc', 'clang', 'nvrtc' and 'host'", name);
}

Compiler& compiler_for(std::string_view arch) {
  std::string tried;
  for (size_t i = 0; i < std::size(kCompilers); ++i) {
    if (!arch.starts_with(kCompilers[i].arch_prefix)) continue;
    Found& one = found(i);
    if (one.compiler) return *one.compiler;
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", kCompilers[i].name, one.error->what());
  }
  if (tried.empty())
    fail(Code::Unsupported, "'{}' is no architecture of the form gfx..., sm_... or emu[:gfx...]", arch);
  fail(Code::NotFound, "no compiler for '{}' was found; {}", arch, tried);
}

CodeObject compile(const Source& source, std::string_view arch) {
  if (auto packaged = find_packaged(source, arch)) return {std::move(*packaged), ""};
  Compiler& with = compiler_for(arch);
  std::string key = cache_key(source, arch, with.identity());
  if (auto bytes = code_cache().find(key)) return {std::move(*bytes), ""};
  CodeObject made = with.compile(source, arch);
  code_cache().store(key, made.bytes);
  return made;
}

std::vector<CodeObject> compile_all(std::span<const Source> sources, std::string_view arch, int threads,
                                    const CompileProgress& progress) {
  std::vector<CodeObject> results(sources.size());
  std::vector<std::exception_ptr> errors(sources.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex told;
  size_t done = 0;
  auto work = [&] {
    for (size_t i; !failed && (i = next++) < sources.size();) {
      try {
        results[i] = compile(sources[i], arch);
        std::lock_guard lock(told);
        if (progress) progress(++done, sources.size());
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  size_t most = threads > 0 ? static_cast<size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(most, sources.size()); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  for (std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return results;
}

}  // namespace hf::gpu
