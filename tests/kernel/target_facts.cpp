// The table of targets: names, families, and waves a SIMD against what clang says of compiled kernels.
#include "kernel/target_facts.h"

#include <gtest/gtest.h>

#include <charconv>

#include "base/error.h"
#include "gpu/compiler.h"
#include "gpu/process.h"

namespace hf::kernel {
namespace {

TEST(TargetFacts, NamesAndFamilies) {
  EXPECT_EQ(plain_arch("gfx942:sramecc+:xnack-"), "gfx942");
  EXPECT_EQ(plain_arch("emu:gfx942"), "emu:gfx942");
  EXPECT_EQ(plain_arch("emu"), "emu");
  EXPECT_EQ(facts_of("gfx90a:xnack-").arch, "gfx90a");
  EXPECT_EQ(facts_of("emu:gfx1100").arch, "gfx1100");
  EXPECT_EQ(facts_of("gfx90f").wave_size, 64);
  EXPECT_FALSE(facts_of("gfx90f").known);
  EXPECT_EQ(facts_of("gfx1250").arch, "gfx12");
  EXPECT_EQ(facts_of("gfx1399").wave_size, 32);
  EXPECT_EQ(facts_of("sm_75").arch, "sm_");
  for (const char* bad : {"", "gfx", "gfx9zz", "sm_", "mi300", "gfx942x", "emu:", "emu:x", "gfx9424242424", "cuda"})
    EXPECT_THROW(facts_of(bad), Error) << bad;
}

TEST(TargetFacts, TargetsNamed) {
  Target t = target_named("gfx942:xnack+");
  EXPECT_EQ(t.arch, "gfx942");
  EXPECT_EQ(t.wave_size, 64);
  EXPECT_EQ(t.lds_bytes, 65536);
  EXPECT_EQ(t.compute_units, 304);
  Target emu = target_named("emu:gfx1100");
  EXPECT_EQ(emu.wave_size, 32);
  EXPECT_EQ(emu.compute_units, 1);
  EXPECT_EQ(target_named("gfx950").lds_bytes, 160 * 1024);
}

TEST(TargetFacts, LdsBoundsWaves) {
  const TargetFacts& cdna = facts_of("gfx942");
  EXPECT_EQ(waves_per_simd(cdna, 32, 256, 65536), 1);   // one block of 4 waves on 4 SIMDs
  EXPECT_EQ(waves_per_simd(cdna, 32, 256, 32768), 2);   // two
  EXPECT_EQ(waves_per_simd(cdna, 32, 1024, 20000), 8);  // 3 blocks of 16 waves: 12, of which registers allow 8
  EXPECT_EQ(waves_per_simd(cdna, 32, 256, 65537), 0);
  EXPECT_EQ(waves_per_simd(facts_of("gfx1100"), 32, 256, 65536), 4);  // 2 blocks of 8 waves on a WGP's 4 SIMDs
}

// Registers alone, against the occupancy in clang's remarks on a kernel that is made to use as many.
TEST(TargetFacts, RegistersBoundWavesAsClangSays) {
  std::string program;
  try {
    const std::string& identity = gpu::compiler("clang").identity();  // "... (/usr/bin/clang++-19)"
    size_t open = identity.rfind('(');
    program = identity.substr(open + 1, identity.size() - open - 2);
  } catch (const Error& e) {
    GTEST_SKIP() << e.what();
  }
  gpu::TemporaryFolder folder;
  std::string file = (folder.path() / "k.hip").string(), object = (folder.path() / "k.co").string();
  // A kernel for each number of registers.
  std::string text;
  const int counts[] = {24, 40, 64, 72, 84, 96, 100, 128};
  for (int n : counts)
    text += fmt::format(
        "extern \"C\" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256))) "
        "void k{0}(int* p) {{ asm volatile(\"\" ::: \"v{1}\"); p[0] = 1; }}\n",
        n, n - 1);
  gpu::write_file(file, text);
  int compared = 0;
  for (const char* arch : {"gfx900", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1102",
                           "gfx1150", "gfx1151", "gfx1201"}) {
    gpu::ProcessResult r = gpu::run_process({program, "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output",
                                             std::string("--offload-arch=") + arch, "-nogpuinc", "-nogpulib", "-O1",
                                             "-Rpass-analysis=kernel-resource-usage", "-c", file, "-o", object});
    if (r.status != 0) continue;  // newer than this clang
    auto number_after = [&](const std::string& word, size_t from) {
      size_t at = r.output.find(word, from);
      int n = -1;
      if (at != r.output.npos) std::from_chars(&r.output[at + word.size()], r.output.data() + r.output.size(), n);
      return n;
    };
    for (int n : counts) {
      size_t at = r.output.find(fmt::format("Function Name: k{} ", n));
      ASSERT_NE(at, r.output.npos) << r.output;
      int said = number_after("Occupancy [waves/SIMD]: ", at);
      EXPECT_EQ(said, waves_per_simd(facts_of(arch), n, 256, 0)) << arch << " with " << n << " registers";
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
}

}  // namespace
}  // namespace hf::kernel
