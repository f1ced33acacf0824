// NVIDIA Hopper's warpgroup matrix multiply: text that kernels which use it put in front of theirs. It is generated,
// because an instruction names each of its registers.
#include <fmt/core.h>

#include "base/error.h"
#include "kernel/device_header.h"

namespace hf::kernel {
namespace {

const char* const kCommon = R"hip(
#if HF_CUDA && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#ifndef HF_WGMMA
#define HF_WGMMA 1
DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEV void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
DEV void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// The descriptor of a tile with k along its rows (lds_offset<CHUNKS>, 4 or 8 chunks). 2 more: the next 16 elements of k.
template <int CHUNKS> DEV u64 wgmma_tile(const u8* p) {
  return (u64)((lds_address(p) & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)(CHUNKS * 16 * 8 >> 4) << 32 | (u64)(CHUNKS == 8 ? 1 : 2) << 62;
}
template <int T, int N> struct wgmma;
#endif
)hip";

std::string list(int count, const char* form) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i ? ", " : "", fmt::format(fmt::runtime(form), i));
  return text;
}

}  // namespace

std::string wgmma_text(Element type, int n) {
  check(type != Element::F32 && n >= 8 && n <= 256 && n % 8 == 0, "wgmma has 8 to 256 columns of f16 or bf16");
  int registers = n / 2;
  const char* name = type == Element::F16 ? "f16" : "bf16";
  std::string outputs = list(registers, "\"+f\"(d[{}])"), numbers = list(registers, "%{}");
  std::string form = fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} {{{}}}", n, name, name, numbers);
  return fmt::format(
      "{}template <> struct wgmma<{}, {}> {{\n"
      "  DEV void run(float* d, u64 a, u64 b) {{\n"
      "    asm volatile(\"{}, %{}, %{}, 1, 1, 1, 0, 0;\" : {} : \"l\"(a), \"l\"(b));\n  }}\n"
      "  DEV void run(float* d, const u32 (&a)[4], u64 b) {{\n"
      "    asm volatile(\"{}, {{%{}, %{}, %{}, %{}}}, %{}, 1, 1, 1, 0;\" : {} : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), "
      "\"r\"(a[3]), \"l\"(b));\n  }}\n"
      "}};\n#endif\n",
      kCommon, static_cast<int>(type), n, form, registers, registers + 1, outputs, form, registers, registers + 1,
      registers + 2, registers + 3, registers + 4, outputs);
}

}  // namespace hf::kernel
