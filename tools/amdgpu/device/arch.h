// The architectures that are emulated.
#pragma once
#include <cstdint>
#include <string>

namespace amdgpu {

/// Cdna3 is gfx94x.
enum class Isa : uint8_t { Rdna2, Rdna3, Rdna4, Cdna2, Cdna3 };

struct Arch {
  const char *gfx, *features, *product;
  Isa isa;
  int wave;
  int multiprocessors;  // compute units; on RDNA work-group processors
  int clock_khz, memory_clock_khz, bus_bits, l2_bytes;
  int vgprs_per_simd, vgpr_granule, waves_per_simd;
  uint64_t memory_mib;

  /// The digits of the name read as decimal (1100) and as hexadecimal (0x90a).
  int decimal() const;
  int hexadecimal() const;
  /// The compute capability that HIP reports.
  int major() const { return wave == 64 ? hexadecimal() >> 8 : decimal() / 100; }
  int minor() const { return wave == 64 ? hexadecimal() >> 4 & 15 : decimal() / 10 % 10; }
  int registers_per_block() const { return wave == 64 ? 65536 : vgprs_per_simd * 128; }
};

/// Null if the architecture is not emulated.
const Arch* find_arch(const std::string& gfx);
/// Their names, separated by spaces.
std::string supported_archs();

}  // namespace amdgpu
