// What If, Loop and Scan share: captures, and the inference and results of bodies that run again and again.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace hf::ops {

/// The type is known: the value has it from now on, whatever the subgraph declared. Undefined and unranked change
/// nothing.
void set_type(ir::Value* v, DType dtype, const Shape& shape);

/// Gives the captures of the node's subgraphs the types of the inputs they stand for.
void type_captures(Node& n);
/// The tensors that the subgraph in `attr` captures, in order.
std::vector<Tensor> captured(const Eval& e, std::string_view attr);

/// What holds of a value that may be of either shape.
Shape either(const Shape& a, const Shape& b);

/// infer_graph(), but false where the graph breaks an operator's rule, with the values up to there inferred.
bool try_infer(ir::Graph& g);

/// Infers a body whose outputs [first_out, first_out + count) become its inputs [first_in, ...) when it runs again. The
/// inputs' types are those of the first run; extents that change from run to run are made unknown.
void infer_body(ir::Graph& body, int first_in, int first_out, int count);

/// Zeros of the value's dtype and shape, whose unknown extents become 0.
Tensor blank(const ir::Value& like);

/// The results of all runs as one tensor with a new axis; `reversed`: the last run first. `like` gives dtype and shape
/// if there was no run (unknown extents become 0). Throws InvalidArgument if their shapes differ.
Tensor stack(const std::vector<Tensor>& runs, int64_t axis, bool reversed, const ir::Value& like);

/// The results of one body's runs until they are stacked. Throws OutOfMemory as soon as stacking them would, so that a
/// loop that never ends does not take all memory first.
class Collected {
 public:
  explicit Collected(int count) : runs_(static_cast<size_t>(count)) {}
  /// Result i of one more run.
  void add(size_t i, Tensor result);
  std::vector<Tensor>& runs(size_t i) { return runs_[i]; }

 private:
  std::vector<std::vector<Tensor>> runs_;
  int64_t bytes_ = 0, look_again_at_ = int64_t{1} << 28;
};

/// The part of a tensor at `index` of `axis`, without that axis.
Tensor part_at(const Tensor& t, int axis, int64_t index);

}  // namespace hf::ops
