// Loading a library of kernels from memory.
#include "gpu/emu_module.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace hf::gpu {

EmuModule::EmuModule(std::string_view code, const DeviceInfo& device) {
  try {
    open(code, device);
  } catch (...) {
    close();
    throw;
  }
}

EmuModule::~EmuModule() { close(); }

void EmuModule::open(std::string_view code, const DeviceInfo& device) {
  if (!code.starts_with("\x7f"
                        "ELF"))
    fail(Code::Driver, "module_load: {} bytes that are no code object", code.size());
  file_ = memfd_create("hipforge kernels", MFD_CLOEXEC);
  for (size_t done = 0; file_ >= 0 && done < code.size();) {
    ssize_t n = write(file_, code.data() + done, code.size() - done);
    if (n <= 0) fail(Code::Driver, "module_load: no memory for a code object of {} bytes", code.size());
    done += static_cast<size_t>(n);
  }
  // The loader knows libraries by their path: the descriptor stays open as long as the library, so no other gets its
  // number.
  handle_ = file_ < 0 ? nullptr : dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) fail(Code::Driver, "module_load: {}", file_ < 0 ? "memfd_create failed" : dlerror());
  auto* abi = static_cast<const int*>(dlsym(handle_, "hf_emu_abi"));
  auto* wave = static_cast<const int*>(dlsym(handle_, "hf_emu_wave"));
  if (!abi || !wave || *abi != kernel::kEmuAbi)
    fail(Code::Driver, "module_load: the library was not compiled for this emulator");
  if (*wave != device.wave_size)
    fail(Code::Driver, "module_load: compiled for waves of {} lanes, but '{}' has {}", *wave, device.arch,
         device.wave_size);
}

std::string EmuModule::path() const { return fmt::format("/proc/self/fd/{}", file_); }

void EmuModule::close() {
  if (handle_) dlclose(handle_);
  // One that the loader keeps all the same (it may: unique symbols, threads' storage) keeps its name as well.
  void* kept = file_ < 0 ? nullptr : dlopen(path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (kept)
    dlclose(kept);
  else if (file_ >= 0)
    ::close(file_);
}

const EmuKernel& EmuModule::kernel(const std::string& name) {
  std::lock_guard lock(mutex_);
  auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  EmuKernel found{.name = name};
  found.self = reinterpret_cast<decltype(found.self)>(dlsym(handle_, "hf_emu_self"));
  found.entry = reinterpret_cast<decltype(found.entry)>(dlsym(handle_, ("hf_emu_entry_" + name).c_str()));
  auto* sizes = reinterpret_cast<unsigned (*)(unsigned*)>(dlsym(handle_, ("hf_emu_args_" + name).c_str()));
  if (!found.self || !found.entry || !sizes) fail(Code::Driver, "function: the code object has no '{}'", name);
  found.argument_bytes.resize(sizes(nullptr));
  sizes(found.argument_bytes.data());
  return kernels_.emplace(name, found).first->second;
}

}  // namespace hf::gpu
