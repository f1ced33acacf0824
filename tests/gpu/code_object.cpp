// What code objects say of their kernels, against what the kernels are made to take; MessagePack; damaged objects.
#include "gpu/code_object.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "gpu/compiler.h"
#include "gpu/msgpack.h"

namespace hf::gpu {
namespace {

using namespace std::string_literals;

Compiler* found(const char* name) {
  try {
    return &compiler(name);
  } catch (const Error&) {
    return nullptr;
  }
}

// Registers are named where the text needs them, so that their number is known.
const char* const kAmdText = R"(
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256))) void
KERNEL plain(int* p) { asm volatile("" ::: "v49", "s40"); p[0] = 1; }
KERNEL shared(int* p) {
  __attribute__((shared)) static volatile int lds[1000];
  lds[__builtin_amdgcn_workitem_id_x()] = p[0];
  p[1] = lds[7 + p[2]];
}
KERNEL stack(int* p) {
  volatile int local[100];
  for (int i = 0; i < 100; i++) local[i] = p[i];
  p[0] = local[p[1]];
}
)";

// Three v_mfma_f32_16x16x16_f16.
const char* const kMfmaText = R"(
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
extern "C" __attribute__((global)) void mfma(h4* a, f4* c) {
  f4 x = c[0];
  for (int i = 0; i < 3; i++) x = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i], a[i + 3], x, 0, 0, 0);
  c[0] = x;
}
)";

KernelFacts facts_of(const std::vector<KernelFacts>& all, const std::string& name) {
  for (const KernelFacts& f : all)
    if (f.name == name) return f;
  ADD_FAILURE() << "no kernel " << name;
  return {};
}

TEST(CodeObject, AmdKernels) {
  Compiler* clang = found("clang");
  if (!clang) GTEST_SKIP() << "no clang";
  for (const char* arch : {"gfx90a", "gfx942", "gfx1100", "gfx1201"}) {
    std::string code = clang->compile({"facts", kAmdText, {"plain"}, {}}, arch).bytes;
    std::vector<KernelFacts> all = read_code_object(code);
    EXPECT_EQ(all.size(), 3u);
    KernelFacts plain = facts_of(all, "plain"), shared = facts_of(all, "shared"), stack = facts_of(all, "stack");
    EXPECT_EQ(plain.vgprs, 50) << arch;
    EXPECT_GE(plain.sgprs, 41) << arch;
    EXPECT_EQ(plain.spills, 0) << arch;
    EXPECT_EQ(plain.private_bytes, 0) << arch;
    EXPECT_EQ(plain.lds_bytes, 0) << arch;
    EXPECT_GT(plain.code_bytes, 8) << arch;
    EXPECT_EQ(plain.agprs.has_value(), std::string(arch).starts_with("gfx9")) << arch;
    EXPECT_EQ(shared.lds_bytes, 4000) << arch;
    EXPECT_GE(stack.private_bytes, 400) << arch;
    EXPECT_GT(stack.code_bytes, plain.code_bytes) << arch;
    if (auto count = count_matrix_instructions(code)) EXPECT_EQ(*count, 0) << arch;
  }
}

TEST(CodeObject, MatrixInstructionsAreCounted) {
  Compiler* clang = found("clang");
  if (!clang) GTEST_SKIP() << "no clang";
  std::string code = clang->compile({"facts", kMfmaText, {"mfma"}, {}}, "gfx942").bytes;
  std::optional<int> count = count_matrix_instructions(code);
  if (!count) GTEST_SKIP() << "no llvm-objdump for gfx942";
  EXPECT_EQ(*count, 3);
}

TEST(CodeObject, NvidiaKernels) {
  Compiler* nvrtc = found("nvrtc");
  if (!nvrtc) GTEST_SKIP() << "no NVRTC";
  std::string code = nvrtc
                         ->compile({"facts",
                                    R"(
extern "C" __global__ void __launch_bounds__(1024, 2) few(float* p) { p[threadIdx.x] += 1.f; }
extern "C" __global__ void stack(int* p) {
  volatile int local[100];
  for (int i = 0; i < 100; i++) local[i] = p[i];
  p[0] = local[p[1]];
}
)",
                                    {"few"},
                                    {}},
                                   "sm_80")
                         .bytes;
  std::vector<KernelFacts> all = read_code_object(code);
  KernelFacts few = facts_of(all, "few"), stack = facts_of(all, "stack");
  EXPECT_GE(few.vgprs, 4);
  EXPECT_LE(few.vgprs, 32);  // its bounds: 65536 registers for 2048 threads
  EXPECT_EQ(few.private_bytes, 0);
  EXPECT_GE(stack.private_bytes, 400);
  EXPECT_GT(few.code_bytes, 16);
  EXPECT_FALSE(count_matrix_instructions(code).has_value());
}

TEST(CodeObject, ALibraryForTheEmulatorHasNone) {
  Compiler* host = found("host");
  if (!host) GTEST_SKIP() << "no C++ compiler";
  EXPECT_TRUE(read_code_object(host->compile({"facts", "int x;", {}, {}}, "emu").bytes).empty());
}

// Cut off anywhere, and with bytes changed: an error or an answer.
TEST(CodeObject, DamagedOnesAreSurvived) {
  Compiler* clang = found("clang");
  if (!clang) GTEST_SKIP() << "no clang";
  const std::string code = clang->compile({"facts", kAmdText, {"plain"}, {}}, "gfx942").bytes;
  auto survives = [](const std::string& bytes) {
    try {
      read_code_object(bytes);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::Compile) << e.what();
    }
  };
  for (size_t size = 0; size < code.size(); size += 7) survives(code.substr(0, size));
  std::mt19937 rng(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = code;
    for (int k = 0; k < 3; ++k) {
      // Half of them in the header and in the note, where most is decided.
      size_t range = round % 2 ? bytes.size() : 0x600;
      bytes[rng() % range] = static_cast<char>(rng());
    }
    survives(bytes);
  }
  for (const char* text : {"", "\x7f",
                           "\x7f"
                           "ELF",
                           "no object at all"})
    EXPECT_THROW(read_code_object(text), Error);
}

TEST(MessagePack, ReadsItsKinds) {
  auto number = [](const std::string& bytes) {
    auto p = read_msgpack(bytes);
    return p && p->kind == Pack::Kind::Number ? std::optional(p->number) : std::nullopt;
  };
  EXPECT_EQ(number("\x07"), 7);
  EXPECT_EQ(number("\xff"), -1);
  EXPECT_EQ(number("\xcc\xff"), 255);
  EXPECT_EQ(number("\xcd\x01\x00"s), 256);
  EXPECT_EQ(number("\xce\xff\xff\xff\xff"), 4294967295);
  EXPECT_EQ(number("\xcf\x00\x00\x00\x01\x00\x00\x00\x00"s), 4294967296);
  EXPECT_EQ(number("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), std::nullopt);
  EXPECT_EQ(number("\xd0\x80"), -128);
  EXPECT_EQ(number("\xd1\xff\xfe"), -2);
  EXPECT_EQ(number("\xd2\xff\xff\xff\xfd"), -3);
  EXPECT_EQ(number("\xd3\xff\xff\xff\xff\xff\xff\xff\xfc"), -4);
  const std::string bytes =

      "\x84\xa1"
      "a\x01\xa1"
      "b\x93\x01\xa2xy\xc0\xc3\x05\xd9\x01"
      "c\xde\x00\x00"s;
  auto map = read_msgpack(bytes);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->number_at("a"), 1);
  EXPECT_EQ(map->number_at("b"), std::nullopt);
  ASSERT_TRUE(map->find("b"));
  ASSERT_EQ(map->find("b")->items.size(), 3u);
  EXPECT_EQ(map->find("b")->items[1].text, "xy");
  EXPECT_EQ(map->entries.size(), 3u);  // the key that is no string is left out
  ASSERT_TRUE(map->find("c"));
  EXPECT_EQ(map->find("c")->kind, Pack::Kind::Map);
  EXPECT_EQ(map->find("d"), nullptr);
}

TEST(MessagePack, RefusesWhatIsNot) {
  for (const std::string& bad :
       {""s, "\xc1"s, "\xa5xy"s, "\xdb\xff\xff\xff\xffxy"s, "\xdd\xff\xff\xff\xff\x01"s, "\xdf\x7f\xff\xff\xff\x01"s,
        "\x92\x01"s, "\x81\x01"s, "\x01\x01"s, "\xcd\x01"s, "\xc7\x01\x01\x01"s, std::string(1000000, '\x91')})
    EXPECT_FALSE(read_msgpack(bad).has_value()) << bad.substr(0, 8);
}

}  // namespace
}  // namespace hf::gpu
