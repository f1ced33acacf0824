// A session's device by its text.
#pragma once
#include <memory>
#include <string>

#include "gpu/driver.h"

namespace hf {

struct ChosenDevice {
  std::shared_ptr<gpu::Device> device;  // null: the cpu, or a target
  std::string target;                   // "gfx942" of "target:gfx942": no device
  std::string text;                     // for reports: "hip:0", "target:gfx942"; empty: the cpu
  bool is_gpu() const { return device || !target.empty(); }
};

/// SessionOptions::device says which texts there are and what is thrown for others. The first "auto" tests the GPUs
/// that there are, and tells what stands against one that is there.
ChosenDevice choose_device(const std::string& text);

/// "AMD Instinct MI300X (gfx942, ...)", or of a target "64 lanes a wave, 304 compute units, ...".
std::string describe(const ChosenDevice& chosen);

}  // namespace hf
