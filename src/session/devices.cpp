// Choosing a device.
#include "session/devices.h"

#include <map>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "engine/engine.h"
#include "kernel/target_facts.h"

namespace hf {
namespace {

constexpr std::string_view kTarget = "target:";

void check_device(const std::string& device) {
  std::string kind = device.substr(0, device.find(':'));
  if (kind == "hip" || kind == "cuda" || kind == "emu") return;
  fail(Code::InvalidArgument, "device '{}' is none of auto, cpu, hip, cuda, emu, target:ARCH", device);
}

// Sessions of one device share its handle, and through it their constants.
std::shared_ptr<gpu::Device> shared_device(const std::string& text) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<gpu::Device>> devices;
  std::string key = text == "hip" || text == "cuda" ? text + ":0" : text;
  std::lock_guard lock(mutex);
  auto device = devices[key].lock();
  if (!device) devices[key] = device = gpu::open_device(text);
  return device;
}

// The first GPU there is that works, or none.
ChosenDevice find_device() {
  for (const char* driver : {"hip", "cuda"}) {
    std::shared_ptr<gpu::Device> device;
    try {
      device = shared_device(driver);
      engine::self_test(device);
      return {.device = std::move(device), .target = "", .text = fmt::format("{}:0", driver)};
    } catch (const Error& e) {
      if (!device && e.code() == Code::NotFound)
        log::debug("session", "no {} device: {}", driver, e.what());
      else
        log::warn("session", "the {} device is not used: {}", driver, e.what());
    }
  }
  return {};
}

}  // namespace

ChosenDevice choose_device(const std::string& text) {
  if (text == "cpu") return {};
  if (text == "auto") return find_device();
  if (text.starts_with(kTarget)) {
    kernel::Target target = kernel::target_named(std::string_view(text).substr(kTarget.size()));
    return {.device = nullptr, .target = target.arch, .text = std::string(kTarget) + target.arch};
  }
  check_device(text);
  return {.device = shared_device(text), .target = "", .text = text == "hip" || text == "cuda" ? text + ":0" : text};
}

std::string describe(const ChosenDevice& chosen) {
  if (chosen.device) return fmt::format("{} {}", chosen.text, engine::describe(chosen.device->info()));
  kernel::Target t = kernel::target_named(chosen.target);
  return fmt::format("{} ({} lanes a wave, {} compute units, {} KiB of LDS)", chosen.text, t.wave_size, t.compute_units,
                     t.lds_bytes >> 10);
}

}  // namespace hf
