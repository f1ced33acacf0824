// hipforge compile: what it writes and says, and that what it wrote runs without a compiler.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace hf::cli {
namespace {

using Json = nlohmann::json;

// No compiler for the emulator, and no cache.
const std::string kNoCompiler = "HIPFORGE_CXX=/nonexistent HIPFORGE_CACHE=off ";

bool has_host_compiler() { return hipforge("compile " + kResnet + " --target emu --json").status == 0; }

Result without_compiler(const std::string& arguments) { return hipforge(arguments, kNoCompiler); }

TEST(Compile, AFileRunsWithoutACompiler) {
  if (!has_host_compiler()) GTEST_SKIP() << "no C++ compiler for the emulator";
  TempFolder t;
  std::string file = (t / "r.hfp").string();
  Result made = hipforge("compile " + kResnet + " --target emu:gfx942,emu --precision fp16 -o " + file);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("emu:gfx942"), std::string::npos);
  EXPECT_NE(made.out.find(file), std::string::npos);
  Json wanted = Json::parse(hipforge("run " + kResnet + " --device cpu --repeat 0 --json").out);
  for (const char* device : {"emu", "emu:gfx942", "cpu"}) {
    std::string arguments = " --repeat 1 --json --fallback allow --device " + std::string(device);
    Result r = without_compiler("run " + file + arguments);
    ASSERT_EQ(r.status, 0) << device << "\n" << r.err;
    EXPECT_EQ(r.err, "") << device;
    double got = Json::parse(r.out)["outputs"][0]["mean"], want = wanted["outputs"][0]["mean"];
    EXPECT_NEAR(got, want, 0.01) << device;
  }
  // The ONNX file needs one; and so do the kernels of another emulated device, and those of another precision.
  EXPECT_EQ(without_compiler("run " + kResnet + " --device emu").status, 5);
  Result other = without_compiler("run " + file + " --device emu:gfx1100");
  EXPECT_EQ(other.status, 5) << other.err;
  EXPECT_NE(other.err.find("no kernels for 'emu:gfx1100', only for emu:gfx942, emu"), std::string::npos) << other.err;
  EXPECT_EQ(std::count(other.err.begin(), other.err.end(), '\n'), 1) << other.err;
  Result precise = without_compiler("run " + file + " --device emu --precision fp32 --fallback error");
  EXPECT_EQ(precise.status, 4) << precise.err;
  EXPECT_NE(precise.err.find("not in the package, which is for input [1, 3, 32, 32] in float16"), std::string::npos)
      << precise.err;
  // With a compiler all of that is compiled.
  EXPECT_EQ(hipforge("run " + file + " --device emu:gfx1100 --repeat 0").status, 0);
}

TEST(Compile, MadeUpInputsHaveTheShapesCompiledFor) {
  TempFolder t;
  std::string file = (t / "r.hfp").string();
  Result made = hipforge("compile " + kResnet + " --target emu --batch 2,1 -o " + file);
  if (made.status == 5) GTEST_SKIP() << made.err;
  ASSERT_EQ(made.status, 0) << made.err;
  auto rows = [&](const std::string& more) {
    Result r = without_compiler("run " + file + " --device emu --repeat 0 --json --fallback allow" + more);
    EXPECT_EQ(r.status, 0) << r.err;
    return Json::parse(r.out)["outputs"][0]["shape"][0].get<int>();
  };
  EXPECT_EQ(rows(""), 2);
  EXPECT_EQ(rows(" --shape N=1"), 1);
}

TEST(Compile, TheReportComesFromTheCode) {
  Result r = hipforge("compile " + kResnet + " --target gfx942,gfx1100 --precision fp16 --json --fallback allow");
  if (r.status == 5) GTEST_SKIP() << r.err;
  ASSERT_EQ(r.status, 0) << r.err;
  Json report = Json::parse(r.out);
  ASSERT_EQ(report["targets"].size(), 2u);
  EXPECT_FALSE(report.contains("output"));
  for (const Json& target : report["targets"]) {
    bool cdna = target["target"] == "gfx942";
    EXPECT_GT(target["nodes"].get<int>(), target["on_cpu"].get<int>());
    EXPECT_GT(target["kernels"].size(), 3u);
    for (const Json& k : target["kernels"]) {
      EXPECT_GT(k["vgprs"].get<int>(), 0) << k;
      EXPECT_LE(k["vgprs"].get<int>(), 512) << k;
      EXPECT_EQ(k["agprs"].is_null(), !cdna) << k;  // RDNA has none
      EXPECT_EQ(k["spills"].get<int>(), 0) << k;
      EXPECT_GT(k["code_bytes"].get<int>(), 0) << k;
      EXPECT_GE(k["waves"].get<int>(), 1) << k;
      EXPECT_LE(k["waves"].get<int>(), cdna ? 8 : 16) << k;
    }
  }
}

TEST(Compile, AnExistingFileIsReplacedWholeOrNotAtAll) {
  TempFolder t;
  std::string file = (t / "r.hfp").string();
  write_file(file, "what was there");
  EXPECT_EQ(hipforge("compile " + kResnet + " --target gfx9zz -o " + file).status, 4);
  EXPECT_EQ(read_file(file), "what was there");
  if (!has_host_compiler()) GTEST_SKIP() << "no C++ compiler for the emulator";
  EXPECT_EQ(hipforge("compile " + kResnet + " --target emu -o " + file).status, 0);
  EXPECT_NE(read_file(file), "what was there");
  EXPECT_EQ(hipforge("compile " + kResnet + " --target emu -o " + (t / "no/folder").string()).status, 6);
  // And may itself be compiled.
  EXPECT_EQ(hipforge("compile " + file + " --target emu:gfx942 -o " + (t / "s.hfp").string()).status, 0);
  EXPECT_EQ(without_compiler("run " + (t / "s.hfp").string() + " --device emu:gfx942 --repeat 0").status, 0);
}

}  // namespace
}  // namespace hf::cli
