// What owners do when something goes wrong.
#include "gpu/objects.h"

#include "base/error.h"
#include "base/log.h"

namespace hf::gpu {

void log_destroy_failure(const char* what) noexcept {
  try {
    log::warn("gpu", "an object of a device could not be destroyed: {}", what);
  } catch (const std::exception&) {
    // A destructor must not throw, even where the log does.
  }
}

void Stream::abandon_capture() const noexcept {
  try {
    Graph unused(shared_device(), device().capture_end(get()));
  } catch (const std::exception&) {
    // The runtime has invalidated the capture already; the first failure is the one to report.
  }
}

}  // namespace hf::gpu
