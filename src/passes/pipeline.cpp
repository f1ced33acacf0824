// The order of the passes, and the runner.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/log.h"
#include "passes/pass.h"

namespace hf::passes {
namespace {

constexpr Pass kPipeline[] = {
    // Shapes first: every later pass reads them, and constants that stand for shapes decide what is static.
    {.name = "propagate", .run = propagate, .required = true, .recurses = true},
    {.name = "clean_up", .run = clean_up},
    // Affine work goes into weights while it is still single nodes; a Pad must be gone before its convolution changes.
    {.name = "fold_pad", .run = fold_pad},
    {.name = "expand_batch_norm", .run = expand_batch_norm},
    {.name = "fold_affine", .run = fold_affine},
    // Known operators are found before elementwise fusion hides their parts.
    {.name = "merge_equal", .run = merge_equal},
    {.name = "recognize", .run = recognize},
    {.name = "sink_transpose", .run = sink_transpose},
    {.name = "merge_linear", .run = merge_linear},
    {.name = "propagate_again", .run = propagate, .recurses = true},
    {.name = "clean_up_again", .run = clean_up},
    {.name = "sink_transposes", .run = sink_transposes, .at_load = false},
    {.name = "clean_up_sunk", .run = clean_up, .at_load = false},
    // Attention while its parts are single nodes.
    {.name = "fuse_attention", .run = fuse_attention, .at_load = false},
    {.name = "fold_shortcut", .run = fold_shortcut, .at_load = false},
    {.name = "unflatten_gemm", .run = unflatten_gemm, .at_load = false},
    // Fusion needs known shapes: an operand's broadcast decides whether it fits. Products take what they can first, the
    // rest of the elementwise work is joined among itself.
    {.name = "fuse_epilogues", .run = fuse_epilogues, .at_load = false},
    {.name = "fuse_pointwise", .run = fuse_pointwise, .at_load = false},
};

void dump(const ir::Graph& g, const std::string& dir, int index, std::string_view name) {
  std::filesystem::create_directories(dir);
  std::string path = fmt::format("{}/{:02}_{}.txt", dir, index, name);
  std::ofstream(path) << ir::to_text(g);
}

bool run_everywhere(const Pass& pass, ir::Graph& g, const PassOptions& options) {
  bool changed = false;
  // Subgraphs first: what they no longer capture, the outer graph need not compute.
  if (!pass.recurses)
    for (ir::Node* n : g.nodes())
      for (const auto& sub : n->subgraphs()) changed |= run_everywhere(pass, *sub, options);
  changed |= pass.run(g, options);
  g.sweep();
  return changed;
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

std::vector<PassTime> run_pipeline(ir::Graph& g, Stage stage, const PassOptions& options) {
  std::vector<PassTime> times;
  int index = 0;
  if (!options.dump_dir.empty()) dump(g, options.dump_dir, 0, "before");
  for (const Pass& pass : kPipeline) {
    ++index;
    if (!options.optimize && !pass.required) continue;
    if (stage == Stage::Load && !pass.at_load) continue;
    if (options.disable.count(std::string(pass.name)) && !pass.required) continue;
    auto where = context([&] { return fmt::format("pass {}", pass.name); });
    auto start = std::chrono::steady_clock::now();
    bool changed = false;
    try {
      changed = run_everywhere(pass, g, options);
      if (options.verify) ir::verify(g);
    } catch (...) {
      if (!options.dump_dir.empty()) dump(g, options.dump_dir, index, std::string(pass.name) + "_failed");
      throw;
    }
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    times.push_back({std::string(pass.name), changed, took.count()});
    log::debug("passes", "{}: {} in {:.0f} us", pass.name, changed ? "changed" : "unchanged", took.count());
    if (!options.dump_dir.empty() && changed) dump(g, options.dump_dir, index, pass.name);
    if (options.stop_after == pass.name) break;
  }
  return times;
}

}  // namespace hf::passes
