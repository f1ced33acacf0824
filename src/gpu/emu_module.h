// A code object of the emulator: a shared library in memory.
#pragma once
#include <map>
#include <mutex>

#include "gpu/driver.h"
#include "gpu/emu_block.h"

namespace hf::gpu {

class EmuModule {
 public:
  /// Throws Driver if the bytes are no library of kernels, or one for another wave size than the device's.
  EmuModule(std::string_view code, const DeviceInfo& device);
  ~EmuModule();
  EmuModule(const EmuModule&) = delete;
  EmuModule& operator=(const EmuModule&) = delete;

  /// Throws Driver if there is none of this name.
  const EmuKernel& kernel(const std::string& name);

 private:
  void open(std::string_view code, const DeviceInfo& device);
  void close();
  std::string path() const;

  int file_ = -1;
  void* handle_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, EmuKernel> kernels_;
};

}  // namespace hf::gpu
