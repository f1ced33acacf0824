// What struct mma of the device header is on a target, for choosing tiles on the host.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// mma<T>::PIX, CH and KC there (tests/kernel/matrix.cpp compares), and what else tiles depend on.
struct MatrixTile {
  int pixels, channels, chunks;
  bool matrix = false;  // matrix instructions; else FMA or dot products in the lanes
  bool async = false;   // copies to LDS need no registers: HF_ASYNC_COPIES
  bool wgmma = false;   // and so do factors: wgmma_text()
};
MatrixTile matrix_tile(const Target& target, Element type);

}  // namespace hf::kernel
