// Matrix tiles by architecture names.
#include "kernel/matrix_tile.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hf::kernel {
namespace {

// The number of "sm_90": 90; 0 for another name.
int compute_capability(std::string_view arch) {
  int number = 0;
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

constexpr std::string_view kMfma[] = {"gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"};

}  // namespace

MatrixTile matrix_tile(const Target& target, Element type) {
  std::string_view arch = target.arch;
  const bool f32 = type == Element::F32;
  const int cuda = compute_capability(arch);
  std::string_view gfx = arch.substr(0, arch.find(':'));
  if (cuda >= 80 && f32) return {.pixels = 64, .channels = 32, .chunks = 1, .async = true};
  if (cuda >= 80)
    return {.pixels = 16, .channels = 32, .chunks = 2, .matrix = true, .async = true, .wgmma = cuda == 90};
  if (std::ranges::find(kMfma, gfx) != std::end(kMfma))
    return {.pixels = 32, .channels = 32, .chunks = 2, .matrix = true};
  if (gfx.starts_with("gfx11") || gfx.starts_with("gfx12")) {
    if (f32) return {.pixels = 64, .channels = 32, .chunks = 1};
    return {.pixels = 16, .channels = 16, .chunks = 2, .matrix = true};
  }
  return {.pixels = target.wave_size, .channels = 32, .chunks = 1};
}

}  // namespace hf::kernel
