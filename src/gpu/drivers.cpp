// The list of drivers, each loaded at first use.
#include "gpu/drivers.h"

#include <array>
#include <charconv>
#include <future>
#include <mutex>
#include <optional>

#include "base/error.h"

namespace hf::gpu {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Driver> (*make)();
};
constexpr Entry kDrivers[] = {{"hip", make_hip_driver}, {"cuda", make_cuda_driver}, {"emu", make_emu_driver}};

struct Loaded {
  std::unique_ptr<Driver> driver;
  std::optional<Error> error;
};

Loaded& loaded(size_t index) {
  static std::mutex mutex;
  // Never destroyed: runtimes' libraries are gone before static objects of the program are.
  static auto& all = *new std::array<Loaded, std::size(kDrivers)>;
  std::lock_guard lock(mutex);
  Loaded& one = all[index];
  if (!one.driver && !one.error) {
    try {
      // On a thread of its own: the error is remembered, and is not about where it was first asked for.
      one.driver = std::async(std::launch::async, kDrivers[index].make).get();
    } catch (const Error& e) {
      one.error = e;
    }
  }
  return one;
}

}  // namespace

std::vector<std::string_view> driver_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kDrivers) names.push_back(entry.name);
  return names;
}

Driver& driver(std::string_view name) {
  for (size_t i = 0; i < std::size(kDrivers); ++i) {
    if (kDrivers[i].name != name) continue;
    Loaded& one = loaded(i);
    if (one.error) throw *one.error;
    return *one.driver;
  }
  fail(Code::InvalidArgument, "there is no driver '{}', only 'hip', 'cuda' and 'emu'", name);
}

std::shared_ptr<Device> Driver::open_arch(std::string_view arch) {
  std::string present;
  for (int i = 0; i < device_count(); ++i) {
    std::shared_ptr<Device> device = open(i);
    std::string_view have = device->info().arch;
    if (have.starts_with("emu:")) have.remove_prefix(4);
    if (have.substr(0, have.find(':')) == arch) return device;
    present += fmt::format("{}'{}'", present.empty() ? "" : ", ", have);
  }
  fail(Code::NotFound, "{} has no device '{}', only: {}", name(), arch, present.empty() ? "none" : present);
}

void Driver::check_index(int index) {
  if (index < 0 || index >= device_count())
    fail(Code::NotFound, "{} has no device {}, only {} device(s) from 0", name(), index, device_count());
}

std::shared_ptr<Device> open_device(std::string_view text) {
  size_t colon = text.find(':');
  Driver& found = driver(text.substr(0, colon));
  if (colon == text.npos) return found.open(0);
  std::string_view which = text.substr(colon + 1);
  int index = 0;
  auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), index);
  if (error == std::errc() && end == which.data() + which.size()) return found.open(index);
  return found.open_arch(which);
}

}  // namespace hf::gpu
