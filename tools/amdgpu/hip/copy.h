// Copies and fills: which host memory a pointer stands for, and the checks of a call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hip/stream.h"

namespace amdgpu {

/// h rows of w bytes; the pitches are the distances of the rows.
struct Rect {
  size_t width, height, to_pitch, from_pitch;
};
inline Rect row_of(size_t bytes) { return {bytes, 1, bytes, bytes}; }

/// hipMemcpyKind
enum CopyKind : int { HostToHost = 0, HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, DefaultCopy = 4 };

/// Enqueues a copy, or runs it if synchronous. `who` is the function that a message names.
int copy(void* to, const void* from, const Rect& rect, int kind, std::shared_ptr<Stream> stream, bool synchronous,
         const char* who);

/// Fills rows of elements of 1, 2 or 4 bytes.
struct Fill {
  uint32_t value;
  int element_bytes;
  size_t width, height, pitch;

  size_t bytes() const { return (height - 1) * pitch + width * static_cast<size_t>(element_bytes); }
};
int fill(void* to, const Fill& fill, std::shared_ptr<Stream> stream, bool synchronous, const char* who);

}  // namespace amdgpu
