// Facts of GPU architectures, as one table: for lowering without a device, and for reports on compiled kernels.
#pragma once
#include <string_view>

#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// The instructions that multiply matrices. Dot: products of pairs in one lane's registers.
enum class MatrixUnit { None, Dot, Mfma, Wmma, Mma, Wgmma };

struct TargetFacts {
  std::string_view arch;  // "gfx942", "sm_90"; of generic facts: the family, "gfx11"
  int wave_size;
  int lds_kib;        // the most of one block
  int compute_units;  // of a common product, as the runtime counts them: CUs, WGPs on RDNA, SMs
  // What bounds the waves that run at once. A SIMD is a quarter of an SM on NVIDIA.
  int vgprs;         // registers of a SIMD, in those of one lane
  int vgpr_granule;  // registers are given out in these
  int waves;         // the most of a SIMD
  int simds;         // of a compute unit, as counted above ...
  int unit_lds_kib;  // ... and its LDS
  MatrixUnit matrix;
  bool known;  // false: what the family has at least
};

/// The architecture's name without features: "gfx942" of "gfx942:sramecc+:xnack-"; "emu:gfx942" as it is. Code compiled
/// for this name runs whatever the features are.
std::string_view plain_arch(std::string_view arch);

/// Of "gfx942", with or without features, "sm_90", "emu" (like no device) or "emu:gfx942". An AMD architecture that is
/// not in the table gets the facts of its family. Throws Unsupported for other names.
const TargetFacts& facts_of(std::string_view arch);

/// The target that the name stands for where there is no device to ask. The emulators have one compute unit.
Target target_named(std::string_view arch);

/// How many waves of a kernel a SIMD holds at once, as far as registers and LDS bound them; 0: none fits.
/// `threads` and `lds_bytes` are of a block; `vgprs` of a lane, accumulators included.
int waves_per_simd(const TargetFacts& facts, int vgprs, int threads, int64_t lds_bytes);

}  // namespace hf::kernel
