// Compilers: what a failure leaves behind, warnings, parallel compiling, odd text.
#include "gpu/compiler.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "gpu/cache.h"
#include "gpu/process.h"
#include "gpu/suite_kernels.h"

namespace hf::gpu {
namespace {

Source source_with(const std::string& text, std::vector<std::string> entries = {}) {
  return {.name = "test_kernel", .text = kernel::device_header() + text, .entries = std::move(entries), .defines = {}};
}

/// Each compiler with an architecture for it; absent ones are skipped by name.
class Compilers : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void SetUp() override {
    try {
      compiler(GetParam().first);
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  Compiler& with() { return compiler(GetParam().first); }
  std::string arch() { return GetParam().second; }
};

TEST_P(Compilers, MakesElf) {
  EXPECT_FALSE(with().identity().empty());
  EXPECT_EQ(with().compile(suite_source(), arch()).bytes.substr(0, 4),
            "\x7f"
            "ELF");
}

TEST_P(Compilers, AFailureKeepsSourceLogAndCommand) {
  try {
    with().compile(source_with("KERNEL(64, 1) broken() { int x = undeclared_thing; }\n"), arch());
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Compile);
    std::string text = e.what();
    EXPECT_NE(text.find("undeclared_thing"), std::string::npos) << text;
    size_t at = text.find("are in '");
    ASSERT_NE(at, std::string::npos) << text;
    at += 8;
    std::filesystem::path folder = text.substr(at, text.find('\'', at) - at);
    EXPECT_NE(read_file(folder / "log.txt").find("undeclared_thing"), std::string::npos);
    std::string replay = read_file(folder / "replay.sh");
    EXPECT_NE(replay.find("kernel."), std::string::npos);
    if (find_program("sh") && with().name() != "nvrtc" && with().name() != "hiprtc") {
      ProcessResult again = run_process({"sh", (folder / "replay.sh").string()});
      EXPECT_NE(again.status, 0);
      EXPECT_NE(again.output.find("undeclared_thing"), std::string::npos) << "the command does not repeat the failure";
    }
    std::filesystem::remove_all(folder);
  }
}

TEST_P(Compilers, AnArchitectureThatIsNoneIsACompileError) {
  if (with().name() == "host") GTEST_SKIP() << "the emulator takes any name";
  try {
    with().compile(suite_source(), arch().substr(0, 3) + "99999");
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Compile);
  }
}

TEST_P(Compilers, DefinesAreNoShellText) {
  Source s = source_with("KERNEL(64, 1) k(int* p) { p[thread_x()] = HF_N; }\n", {"k"});
  s.defines = {"HF_N=(1 + 2) /* $(touch /tmp/hf_injected); ' */"};
  EXPECT_FALSE(with().compile(s, arch()).bytes.empty());
  EXPECT_FALSE(std::filesystem::exists("/tmp/hf_injected"));
}

INSTANTIATE_TEST_SUITE_P(Each, Compilers,
                         testing::Values(std::pair{"host", "emu"}, std::pair{"clang", "gfx942"},
                                         std::pair{"hiprtc", "gfx942"}, std::pair{"nvrtc", "sm_80"}),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(Compiler, UnknownArchitecturesAndNames) {
  EXPECT_THROW(compiler_for("x86"), Error);
  EXPECT_THROW(compiler("msvc"), Error);
}

TEST(Compiler, ManyAtOnceComeInOrderAndFailAsTheFirst) {
  std::vector<Source> sources;
  for (int i = 0; i < 6; ++i)
    sources.push_back(source_with(fmt::format("// {}\nKERNEL(64, 1) k{}(int* p) {{ *p = {}; }}\n", getpid(), i, i),
                                  {fmt::format("k{}", i)}));
  std::vector<CodeObject> made = compile_all(sources, "emu", 3);
  ASSERT_EQ(made.size(), 6u);
  for (int i = 0; i < 6; ++i)
    EXPECT_NE(made[static_cast<size_t>(i)].bytes.find(fmt::format("hf_emu_entry_k{}", i)), std::string::npos);
  sources[4].text += "error here";
  EXPECT_THROW(compile_all(sources, "emu", 2), Error);
  EXPECT_TRUE(compile_all({}, "emu").empty());
}

TEST(Process, OutputStatusAndQuoting) {
  ProcessResult r = run_process({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(r.status, 7);
  EXPECT_EQ(r.output, "out\nerr\n");
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(run_process({"cat"}).output, "") << "standard input is empty";
  EXPECT_THROW(run_process({"/no/such/program"}), Error);
  EXPECT_EQ(shell_line({"a b", "it's", "-DX=1", ""}), "'a b' 'it'\\''s' -DX=1 ''");
}

}  // namespace
}  // namespace hf::gpu
