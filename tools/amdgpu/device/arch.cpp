// The table of architectures.
#include "device/arch.h"

#include <cstdlib>

namespace amdgpu {

namespace {

constexpr char kCdna[] = ":sramecc+:xnack-";
constexpr int kMiB = 1 << 20;

// clang-format off
constexpr Arch kArchs[] = {
  // gfx, features, product, isa, wave, multiprocessors, clock, memory clock, bus, L2, VGPRs a SIMD, granule, waves a SIMD, MiB
  {"gfx1030", "", "Radeon RX 6800 XT", Isa::Rdna2, 32, 36, 2250000, 1000000, 256, 4 * kMiB, 1024, 8, 16, 16368},
  {"gfx90a", kCdna, "AMD Instinct MI210", Isa::Cdna2, 64, 104, 1700000, 1600000, 4096, 8 * kMiB, 512, 8, 8, 65520},
  {"gfx940", kCdna, "AMD Instinct MI300A", Isa::Cdna3, 64, 228, 2100000, 1300000, 8192, 4 * kMiB, 512, 8, 8, 131072},
  {"gfx941", kCdna, "AMD Instinct MI300X", Isa::Cdna3, 64, 304, 2100000, 1300000, 8192, 4 * kMiB, 512, 8, 8, 196592},
  {"gfx942", kCdna, "AMD Instinct MI300X", Isa::Cdna3, 64, 304, 2100000, 1300000, 8192, 4 * kMiB, 512, 8, 8, 196592},
  {"gfx1100", "", "Radeon RX 7900 XTX", Isa::Rdna3, 32, 48, 2482000, 1249000, 384, 6 * kMiB, 1536, 24, 16, 24560},
  {"gfx1101", "", "Radeon RX 7800 XT", Isa::Rdna3, 32, 30, 2430000, 1219000, 256, 4 * kMiB, 1536, 24, 16, 16368},
  {"gfx1102", "", "Radeon RX 7600", Isa::Rdna3, 32, 16, 2655000, 1125000, 128, 2 * kMiB, 1024, 16, 16, 8176},
  {"gfx1103", "", "AMD Radeon 780M", Isa::Rdna3, 32, 6, 2700000, 2800000, 128, 2 * kMiB, 1024, 16, 16, 8176},
  {"gfx1150", "", "AMD Radeon 890M", Isa::Rdna3, 32, 8, 2900000, 2000000, 128, 2 * kMiB, 1024, 16, 16, 16368},
  {"gfx1151", "", "AMD Radeon 8060S", Isa::Rdna3, 32, 20, 2900000, 2000000, 256, 2 * kMiB, 1536, 24, 16, 65520},
  {"gfx1200", "", "AMD Radeon RX 9060 XT", Isa::Rdna4, 32, 16, 3130000, 1258000, 128, 4 * kMiB, 1536, 24, 16, 16304},
  {"gfx1201", "", "AMD Radeon RX 9070 XT", Isa::Rdna4, 32, 32, 2970000, 1258000, 256, 8 * kMiB, 1536, 24, 16, 16304},
};
// clang-format on

}  // namespace

int Arch::decimal() const { return static_cast<int>(strtol(gfx + 3, nullptr, 10)); }
int Arch::hexadecimal() const { return static_cast<int>(strtol(gfx + 3, nullptr, 16)); }

const Arch* find_arch(const std::string& gfx) {
  for (const Arch& a : kArchs)
    if (gfx == a.gfx) return &a;
  return nullptr;
}

std::string supported_archs() {
  std::string all;
  for (const Arch& a : kArchs) all += std::string(all.empty() ? "" : " ") + a.gfx;
  return all;
}

}  // namespace amdgpu
