// The table of targets.
//
// Sources. Waves, registers and their granules, LDS: LLVM's "User Guide for AMDGPU Backend" (processors, code object
// metadata) and the occupancy that clang's kernel-resource-usage remarks print; AMD's ISA guides for "Vega", "MI100",
// "MI200", "CDNA3", "CDNA4", "RDNA" to "RDNA4" (chapters on wave state, LDS and matrix instructions). Compute units:
// AMD's product pages of the product named, halved on RDNA, where HIP counts pairs (WGPs). NVIDIA: the CUDA C++
// Programming Guide's table "Technical Specifications per Compute Capability" and the architecture white papers.
#include "kernel/target_facts.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace hf::kernel {
namespace {

using enum MatrixUnit;

// clang-format off
constexpr TargetFacts kTargets[] = {
    // arch     wave LDS  units VGPRs gran waves SIMDs LDS  matrix  known
    {"gfx900",  64,  64,   64,  256,   4,  10,   4,   64,  None,   true},  // Radeon RX Vega 64
    {"gfx906",  64,  64,   60,  256,   4,  10,   4,   64,  Dot,    true},  // Instinct MI50
    {"gfx908",  64,  64,  120,  256,   4,  10,   4,   64,  Mfma,   true},  // Instinct MI100
    {"gfx90a",  64,  64,  104,  512,   8,   8,   4,   64,  Mfma,   true},  // Instinct MI210; one die of MI250
    {"gfx942",  64,  64,  304,  512,   8,   8,   4,   64,  Mfma,   true},  // Instinct MI300X
    {"gfx950",  64, 160,  256,  512,   8,   8,   4,  160,  Mfma,   true},  // Instinct MI355X
    {"gfx1010", 32,  64,   20, 1024,   8,  20,   4,  128,  None,   true},  // Radeon RX 5700 XT
    {"gfx1011", 32,  64,   18, 1024,   8,  20,   4,  128,  Dot,    true},  // Radeon Pro V520
    {"gfx1012", 32,  64,   11, 1024,   8,  20,   4,  128,  Dot,    true},  // Radeon RX 5500 XT
    {"gfx1013", 32,  64,   12, 1024,   8,  20,   4,  128,  None,   true},  // BC-250
    {"gfx1030", 32,  64,   40, 1024,  16,  16,   4,  128,  Dot,    true},  // Radeon RX 6900 XT
    {"gfx1031", 32,  64,   20, 1024,  16,  16,   4,  128,  Dot,    true},  // Radeon RX 6700 XT
    {"gfx1032", 32,  64,   16, 1024,  16,  16,   4,  128,  Dot,    true},  // Radeon RX 6600 XT
    {"gfx1033", 32,  64,    4, 1024,  16,  16,   4,  128,  Dot,    true},  // Van Gogh (Steam Deck)
    {"gfx1034", 32,  64,    8, 1024,  16,  16,   4,  128,  Dot,    true},  // Radeon RX 6500 XT
    {"gfx1035", 32,  64,    6, 1024,  16,  16,   4,  128,  Dot,    true},  // Radeon 680M
    {"gfx1036", 32,  64,    1, 1024,  16,  16,   4,  128,  Dot,    true},  // Ryzen 7000's
    {"gfx1100", 32,  64,   48, 1536,  24,  16,   4,  128,  Wmma,   true},  // Radeon RX 7900 XTX
    {"gfx1101", 32,  64,   30, 1536,  24,  16,   4,  128,  Wmma,   true},  // Radeon RX 7800 XT
    {"gfx1102", 32,  64,   16, 1024,  16,  16,   4,  128,  Wmma,   true},  // Radeon RX 7600
    {"gfx1103", 32,  64,    6, 1024,  16,  16,   4,  128,  Wmma,   true},  // Radeon 780M
    {"gfx1150", 32,  64,    8, 1024,  16,  16,   4,  128,  Wmma,   true},  // Radeon 890M
    {"gfx1151", 32,  64,   20, 1536,  24,  16,   4,  128,  Wmma,   true},  // Radeon 8060S
    {"gfx1152", 32,  64,    4, 1024,  16,  16,   4,  128,  Wmma,   true},  // Radeon 860M
    {"gfx1153", 32,  64,    2, 1024,  16,  16,   4,  128,  Wmma,   true},  // Radeon 840M
    {"gfx1200", 32,  64,   16, 1536,  24,  16,   4,  128,  Wmma,   true},  // Radeon RX 9060 XT
    {"gfx1201", 32,  64,   32, 1536,  24,  16,   4,  128,  Wmma,   true},  // Radeon RX 9070 XT
    {"sm_80",   32, 163,  108,  512,   8,  16,   4,  164,  Mma,    true},  // A100
    {"sm_86",   32,  99,   84,  512,   8,  12,   4,  100,  Mma,    true},  // RTX A6000
    {"sm_89",   32,  99,  142,  512,   8,  12,   4,  100,  Mma,    true},  // L40S
    {"sm_90",   32, 227,  132,  512,   8,  16,   4,  228,  Wgmma,  true},  // H100 SXM
    {"sm_100",  32, 227,  148,  512,   8,  16,   4,  228,  Mma,    true},  // B200
    {"sm_120",  32,  99,  170,  512,   8,  12,   4,  100,  Mma,    true},  // GeForce RTX 5090
    // Families, for what is newer than this table. The first whose name the architecture's begins with.
    {"gfx90",   64,  64,   60,  256,   4,  10,   4,   64,  None,   false},
    {"gfx9",    64,  64,  104,  512,   8,   8,   4,   64,  Mfma,   false},
    {"gfx101",  32,  64,   16, 1024,   8,  20,   4,  128,  None,   false},
    {"gfx10",   32,  64,   16, 1024,  16,  16,   4,  128,  Dot,    false},
    {"gfx11",   32,  64,   16, 1024,  16,  16,   4,  128,  Wmma,   false},
    {"gfx12",   32,  64,   16, 1536,  24,  16,   4,  128,  Wmma,   false},
    {"gfx",     32,  64,   16, 1024,  16,  16,   4,   64,  None,   false},
    {"sm_",     32,  48,   64,  512,   8,  12,   4,   64,  Mma,    false},
    {"",        32,  64,    1, 1024,  16,  16,   4,   64,  None,   false},  // the emulator of no device
};
// clang-format on

}  // namespace

std::string_view plain_arch(std::string_view arch) { return arch.substr(0, arch.find(':', 4)); }

const TargetFacts& facts_of(std::string_view arch) {
  std::string_view name = plain_arch(arch);
  if (name.starts_with("emu:")) name.remove_prefix(4);
  if (name == "emu") return *(std::end(kTargets) - 1);
  constexpr size_t kPrefix = 3, kMost = 8;
  std::string_view number = name.substr(std::min(kPrefix, name.size()));
  bool prefixed = name.starts_with("gfx") || name.starts_with("sm_");
  // gfx90a is hexadecimal, sm_90a a variant.
  bool numbered = !number.empty() && number.size() <= kMost && number[0] >= '0' && number[0] <= '9' &&
                  number.find_first_not_of("0123456789abcdef") == number.npos;
  if (!prefixed || !numbered)
    fail(Code::Unsupported, "'{}' is no architecture of the form gfx..., sm_... or emu[:gfx...]", arch);
  for (const TargetFacts& t : kTargets)
    if (t.known ? name == t.arch : name.starts_with(t.arch)) return t;
  check(false, "the last row takes every name");
  return kTargets[0];
}

Target target_named(std::string_view arch) {
  const TargetFacts& f = facts_of(arch);
  bool emulated = arch.starts_with("emu");
  return {.arch = std::string(plain_arch(arch)),
          .wave_size = f.wave_size,
          .lds_bytes = int64_t{f.lds_kib} << 10,
          .compute_units = emulated ? 1 : f.compute_units};
}

int waves_per_simd(const TargetFacts& facts, int vgprs, int threads, int64_t lds_bytes) {
  int granules = std::max(1, (vgprs + facts.vgpr_granule - 1) / facts.vgpr_granule);
  int waves = std::min(facts.waves, facts.vgprs / (granules * facts.vgpr_granule));
  if (lds_bytes <= 0) return waves;
  int64_t blocks = (int64_t{facts.unit_lds_kib} << 10) / lds_bytes;
  int64_t block_waves = (std::max(threads, 1) + facts.wave_size - 1) / facts.wave_size;
  int64_t by_lds = (blocks * block_waves + facts.simds - 1) / facts.simds;
  return static_cast<int>(std::min<int64_t>(waves, by_lds));
}

}  // namespace hf::kernel
