// Packages on offer: found by what is compiled and for what, before the compilers, for as long as they are held.
#include "gpu/packaged.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace hf::gpu {
namespace {

const Source kSource{"packaged_test", "the text", {"entry"}, {"HF_N=1"}};

std::shared_ptr<const CodePackage> package(const std::string& arch, std::string_view code) {
  auto p = std::make_shared<CodePackage>();
  p->arch = arch;
  p->objects[package_key(kSource)] = code;
  return p;
}

TEST(Packaged, IsFoundByArchitectureWithoutFeatures) {
  auto gfx942 = package("gfx942", "for gfx942"), emulated = package("emu:gfx942", "for the emulator");
  EXPECT_FALSE(find_packaged(kSource, "gfx942"));
  offer(gfx942);
  offer(emulated);
  EXPECT_EQ(find_packaged(kSource, "gfx942"), "for gfx942");
  EXPECT_EQ(find_packaged(kSource, "gfx942:sramecc+:xnack-"), "for gfx942");
  EXPECT_EQ(find_packaged(kSource, "emu:gfx942"), "for the emulator");
  EXPECT_FALSE(find_packaged(kSource, "gfx90a"));
  // No compiler is asked, and nothing is stored.
  EXPECT_EQ(compile(kSource, "gfx942:sramecc+:xnack-").bytes, "for gfx942");
  EXPECT_EQ(compile_all({&kSource, 1}, "gfx942")[0].bytes, "for gfx942");
  gfx942.reset();
  EXPECT_FALSE(find_packaged(kSource, "gfx942"));
  EXPECT_EQ(find_packaged(kSource, "emu:gfx942"), "for the emulator");
}

TEST(Packaged, KeysTellSourcesApart) {
  for (const Source& other : {Source{"packaged_test", "the text", {"entry"}, {"HF_N=2"}},
                              Source{"packaged_test", "the text", {"other"}, {"HF_N=1"}},
                              Source{"packaged_test", "another text", {"entry"}, {"HF_N=1"}}})
    EXPECT_NE(package_key(other), package_key(kSource));
  EXPECT_EQ(package_key({"another_name", "the text", {"entry"}, {"HF_N=1"}}), package_key(kSource));
}

TEST(Packaged, ProgressCountsToTheEnd) {
  auto all = package("gfx942", "code");
  offer(all);
  std::vector<Source> sources(5, kSource);
  size_t last = 0;
  compile_all(sources, "gfx942", 3, [&](size_t done, size_t of) {
    EXPECT_EQ(done, last + 1);
    EXPECT_EQ(of, 5u);
    last = done;
  });
  EXPECT_EQ(last, 5u);
}

}  // namespace
}  // namespace hf::gpu
