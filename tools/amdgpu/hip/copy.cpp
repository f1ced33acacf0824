// Copies and fills.
#include "hip/copy.h"

#include <cstring>
#include <vector>

#include "device/support.h"
#include "hip/runtime.h"

namespace amdgpu {

namespace {

constexpr int kDeviceToDeviceNoCu = 1024;

// What the copy kind says of a pointer.
enum class Side { Any, Host, Device };

struct Resolved {
  uint8_t* memory = nullptr;
  const Allocation* allocation = nullptr;  // null for ordinary host memory
};

// The host address at which the range may be accessed.
int resolve(const void* pointer, size_t bytes, Side side, const char* who, Resolved& r) {
  const auto p = reinterpret_cast<uint64_t>(pointer);
  r = {};
  if (!p) return error::InvalidValue;
  if (!in_arena(p)) {
    if (side == Side::Device) {
      log("%s: %p is not a device address", who, pointer);
      return error::InvalidValue;
    }
    r.memory = static_cast<uint8_t*>(const_cast<void*>(pointer));
    return 0;
  }
  const Allocation* a = find_allocation(p);
  if (!a) {
    log("%s: %p is not inside a live allocation", who, pointer);
    return error::InvalidValue;
  }
  if (p + bytes > a->pointer + a->size) {
    log("%s: range %p + %zu exceeds its %zu-byte allocation", who, pointer, bytes, a->size);
    return error::InvalidValue;
  }
  if (side == Side::Host && runtime().settings.strict && a->kind == MemoryKind::Device) {
    log("%s: device pointer %p where the copy kind says host memory", who, pointer);
    return error::InvalidValue;
  }
  r = {host_view(*a, p), a};
  return 0;
}

size_t span(const Rect& r, size_t pitch) { return r.height ? (r.height - 1) * pitch + r.width : 0; }

// A copy whose kind has been turned into what each pointer must be.
struct Transfer {
  void* to;
  const void* from;
  Rect rect;
  Side to_side, from_side;
  const char* who;

  int resolve_both(Resolved& t, Resolved& f) const {
    HIP_TRY(resolve(to, span(rect, rect.to_pitch), to_side, who, t));
    return resolve(from, span(rect, rect.from_pitch), from_side, who, f);
  }

  int run() const {
    Resolved t, f;
    HIP_TRY(resolve_both(t, f));
    for (size_t i = 0; i < rect.height; i++)
      memmove(t.memory + i * rect.to_pitch, f.memory + i * rect.from_pitch, rect.width);
    const bool to_device = t.allocation && t.allocation->kind == MemoryKind::Device;
    const bool from_device = f.allocation && f.allocation->kind == MemoryKind::Device;
    Totals& totals = runtime().totals;
    uint64_t& total = to_device && from_device ? totals.within_device : to_device ? totals.to_device : totals.to_host;
    total += rect.width * rect.height;
    return 0;
  }
};

void fill_row(uint8_t* at, const Fill& fill) {
  if (fill.element_bytes == 1) {
    memset(at, static_cast<int>(fill.value), fill.width);
    return;
  }
  const auto element = static_cast<size_t>(fill.element_bytes);
  for (size_t i = 0; i < fill.width; i++) memcpy(at + i * element, &fill.value, element);
}

Side side_of(int kind, bool device) { return kind == DefaultCopy ? Side::Any : device ? Side::Device : Side::Host; }

}  // namespace

int copy(void* to, const void* from, const Rect& rect, int kind, std::shared_ptr<Stream> stream, bool synchronous,
         const char* who) {
  HIP_TRY(need_device());
  if (kind != kDeviceToDeviceNoCu && (kind < HostToHost || kind > DefaultCopy)) return error::InvalidMemcpyDirection;
  if (synchronous) HIP_TRY(refuse_sync_in_capture(error::StreamCaptureImplicit));
  if (!rect.width || !rect.height) return 0;
  const bool within = kind == DeviceToDevice || kind == kDeviceToDeviceNoCu;
  Transfer transfer{
      to, from, rect, side_of(kind, within || kind == HostToDevice), side_of(kind, within || kind == DeviceToHost),
      who};
  Resolved t, f;
  HIP_TRY(transfer.resolve_both(t, f));
  HIP_TRY(check_stream(*stream));
  if (runtime().settings.async && !stream->capture && !synchronous && !f.allocation) {
    // A pageable source is staged during the call.
    const auto* bytes = static_cast<const uint8_t*>(from);
    auto stage = std::make_shared<std::vector<uint8_t>>(bytes, bytes + span(rect, rect.from_pitch));
    transfer.from_side = Side::Any;
    return submit(*stream, CopyNode, [transfer, stage]() mutable {
      transfer.from = stage->data();
      return transfer.run();
    });
  }
  const bool pageable_target = !t.allocation && !stream->capture;
  HIP_TRY(submit(*stream, CopyNode, [transfer] { return transfer.run(); }));
  if (synchronous || pageable_target) drain(*stream);
  return devices()[stream->device].sticky_error;
}

int fill(void* to, const Fill& fill, std::shared_ptr<Stream> stream, bool synchronous, const char* who) {
  HIP_TRY(need_device());
  if (synchronous) HIP_TRY(refuse_sync_in_capture(error::StreamCaptureImplicit));
  if (!fill.width || !fill.height) return 0;
  Resolved t;
  HIP_TRY(resolve(to, fill.bytes(), Side::Device, who, t));
  HIP_TRY(submit(*stream, FillNode, [=] {
    Resolved now_at;
    HIP_TRY(resolve(to, fill.bytes(), Side::Device, who, now_at));
    for (size_t row = 0; row < fill.height; row++) fill_row(now_at.memory + row * fill.pitch, fill);
    return 0;
  }));
  if (synchronous) drain(*stream);
  return 0;
}

}  // namespace amdgpu
