// Passes: rewrites of a graph, and the runner that does the chores for all of them. pipeline.cpp is their order.
#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace hf::passes {

struct PassOptions {
  bool optimize = true;           // false: only the passes that running needs (inference, shape arithmetic)
  std::set<std::string> disable;  // names of passes to skip
  std::string dump_dir;           // the graph before, and after each pass that changed it, as text; empty: no dump
  std::string stop_after;         // name of the last pass to run; empty: all
  bool gpu = false;               // for a session with a GPU: passes that only pay there
  bool verify = false;            // check the IR's invariants after each pass
  int64_t max_folded_bytes = int64_t{1} << 30;  // by how much one sweep of folding may let the constants grow
};

/// When a pass runs: at load, when only symbolic shapes are known and what it does serves every plan; or for each plan,
/// on the graph with known shapes.
enum class Stage : uint8_t { Load, Plan };

/// A rewrite: true if it changed something. Idempotent: a second call on its result changes nothing. It sees one graph;
/// the runner also calls it for each subgraph, unless it goes into them itself.
struct Pass {
  std::string_view name;
  bool (*run)(ir::Graph&, const PassOptions&);
  bool at_load = true;    // part of Stage::Load
  bool required = false;  // runs without optimisation too
  bool recurses = false;  // goes into subgraphs itself
};

struct PassTime {
  std::string name;
  bool changed = false;
  double us = 0;
};

/// The ordered list.
std::span<const Pass> pipeline();

/// Runs the pipeline's passes of a stage over a graph and its subgraphs. What a pass throws gets its name as context,
/// and with a dump folder the graph before it is kept there. Returns the time of each.
std::vector<PassTime> run_pipeline(ir::Graph& g, Stage stage, const PassOptions& options);

// ---- The passes.

/// Dtypes and shapes of every value from the inputs on; nodes whose inputs are all constants become constants (without
/// optimisation only integers, that is, shape arithmetic); Shape and Size of known shapes too; an If with a constant
/// condition becomes the branch that it takes.
bool propagate(ir::Graph& g, const PassOptions&);
/// Removes nodes that nobody uses and operators that do nothing: Identity, Dropout at inference, Cast to the same type,
/// Transpose in order, Reshape to the same shape, Concat of one, and so on; merges a Transpose or Reshape with the
/// next.
bool clean_up(ir::Graph& g, const PassOptions&);
/// One node in the place of equal ones, and one constant in the place of equal small ones.
bool merge_equal(ir::Graph& g, const PassOptions&);
/// BatchNormalization with constant parameters becomes Mul and Add.
bool expand_batch_norm(ir::Graph& g, const PassOptions&);
/// A constant zero Pad before a convolution or pool becomes its pads.
bool fold_pad(ir::Graph& g, const PassOptions&);
/// Mul and Add by constants per channel after Conv, ConvTranspose or Gemm go into weights and bias.
bool fold_affine(ir::Graph& g, const PassOptions&);
/// Chains of nodes that spell Gelu, Swish, HardSwish and LayerNormalization become these.
bool recognize(ir::Graph& g, const PassOptions&);
/// For a GPU: Transpose from channels-last to channels-first goes behind the elementwise nodes that follow it.
bool sink_transposes(ir::Graph& g, const PassOptions&);
/// For GPUs: the products with constant matrices that make queries, keys and values of one input become one.
bool merge_linear(ir::Graph& g, const PassOptions&);
/// For GPUs: a Transpose that leaves the last axis goes behind products with constant matrices and sums with constant
/// rows.
bool sink_transpose(ir::Graph& g, const PassOptions&);
/// For GPUs: softmax(scale * Q K^T + mask) V becomes one StridedAttention, which reads what Transpose, Reshape, Split
/// and Slice only show in another order.
bool fuse_attention(ir::Graph& g, const PassOptions&);
/// On GPUs: the sum of a convolution and one of a single tap, a residual block's shortcut, becomes
/// hipforge.ConvShortcut.
bool fold_shortcut(ir::Graph& g, const PassOptions&);
/// For GPUs: a Gemm by constants between Reshapes that flatten and divide its rows becomes a FusedMatMul and an Add.
bool unflatten_gemm(ir::Graph& g, const PassOptions&);
/// Elementwise nodes that follow a convolution or matrix product become its epilogue.
bool fuse_epilogues(ir::Graph& g, const PassOptions&);
/// Trees of elementwise nodes become one Pointwise node.
bool fuse_pointwise(ir::Graph& g, const PassOptions&);

}  // namespace hf::passes
