// Every kernel compiles for every target that a compiler on this machine knows; no device is needed.
#include "kernel/targets.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "gpu/loaded_kernel.h"
#include "kernel/attention.h"
#include "kernel/batched_gemm.h"
#include "kernel/channel_norm.h"
#include "kernel/pointwise.h"
#include "kernel/reduce.h"
#include "kernel/row_norm.h"
#include "kernel/softmax.h"

namespace hf::kernel {
namespace {

class Targets : public testing::TestWithParam<const char*> {};

Candidates all_kernels(const Target& target) {
  Candidates all;
  auto add = [&](Candidates more) { std::move(more.begin(), more.end(), std::back_inserter(all)); };
  for (Element e : {Element::F32, Element::F16, Element::BF16}) {
    for (int64_t size : {64, 128})
      add(attention({.batch = 2,
                     .heads = 4,
                     .kv_heads = 4,
                     .queries = 200,
                     .keys = 200,
                     .head_size = size,
                     .v_head_size = size,
                     .type = e,
                     .out_type = e,
                     .q = {.buffer = 0, .batch = 204800, .head = size, .row = 4 * size},
                     .k = {.buffer = 1, .batch = 204800, .head = size, .row = 4 * size},
                     .v = {.buffer = 2, .batch = 204800, .head = size, .row = 4 * size},
                     .out = {.batch = 204800, .head = size, .row = 4 * size}},
                    target));
    for (int64_t m : {4, 300})
      for (bool turned : {false, true})
        add(batched_gemm({.m = m,
                          .n = 256,
                          .k = 64,
                          .a_row = 64,
                          .b_row = turned ? 1 : 256,
                          .b_col = turned ? 64 : 1,
                          .a = e,
                          .b = e,
                          .out = e},
                         target));
    add(softmax({.rows = 100, .cols = 1000, .in = e, .out = e}, target));
    add(row_norm({.rows = 100, .cols = 768, .in = e, .out = e, .scale = true, .bias = true}, target));
  }
  add(softmax({.rows = 100, .cols = 100000, .log = true}, target));
  for (ReduceOp op : {ReduceOp::Mean, ReduceOp::LogSumExp})
    for (int bits : {0, 64}) {
      const std::vector<ReduceAxis> axes = {{8, false}, {5000, true}, {60, false}, {60, true}};
      if (bits && op != ReduceOp::Mean) continue;
      ReduceProblem p{.op = bits ? ReduceOp::Max : op, .axes = axes, .in = Element::F16, .integer_bits = bits};
      for (Candidates& c : reduce(p, target)) add(std::move(c));
    }
  const ChannelNormProblem groups{.images = 2, .positions = 4096, .channels = 320, .pitch = 320, .groups = 32};
  for (Candidates& c : channel_norm(groups, target)) add(std::move(c));
  add(softmax({.rows = 10, .cols = 20, .inner = 400}, target));
  add(row_norm({.rows = 9, .cols = 9001, .kind = RowNorm::Rms, .scale = true, .mean = true, .inverse = true}, target));
  for (Candidates& c : row_norm_split({.rows = 9, .cols = 90000, .in = Element::F16}, target)) add(std::move(c));
  for (KernelList list : kernel_lists()) add(list(target));
  return all;
}

// The kernel's spilled registers by its metadata, which is MessagePack: a small number is one byte after its key.
int spilled(const std::string& code) {
  constexpr std::string_view kKey = ".vgpr_spill_count";
  size_t at = code.find(kKey);
  return at == code.npos ? -1 : static_cast<unsigned char>(code[at + kKey.size()]);
}

TEST_P(Targets, Compile) {
  std::string arch = GetParam();
  gpu::Compiler* compiler = nullptr;
  try {
    compiler = &gpu::compiler(arch.starts_with("gfx") ? "clang" : arch.starts_with("sm_") ? "nvrtc" : "host");
  } catch (const Error& e) {
    GTEST_SKIP() << e.what();
  }
  bool wave64 = arch.find("gfx9") != arch.npos;
  std::map<std::string, int> compiled;
  for (const KernelSpec& spec : all_kernels({.arch = arch, .wave_size = wave64 ? 64 : 32})) {
    gpu::CodeObject made = compiler->compile(gpu::source_of(spec), arch);
    EXPECT_EQ(made.log, "") << spec.family << " " << spec.variant;
    EXPECT_TRUE(
        made.bytes.starts_with("\x7f"
                               "ELF"));
    if (arch.starts_with("gfx")) {  // the kernel and its descriptor are there, nothing is left to link
      EXPECT_NE(made.bytes.find(spec.entry + ".kd"), std::string::npos);
      // gfx1030 has no matrix unit: the last of the candidates may be too large for it.
      if (spec.family == "conv" && arch != "gfx1030") EXPECT_EQ(spilled(made.bytes), 0) << spec.variant;
    }
    ++compiled[spec.family];
  }
  for (const auto& [family, count] : compiled) RecordProperty(family, count);  // for tools/verified.py
}

INSTANTIATE_TEST_SUITE_P(Arch, Targets,
                         testing::Values("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "sm_80",
                                         "sm_90"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hf::kernel
