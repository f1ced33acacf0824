// Building small graphs for the pass and plan tests, and running them plainly.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "ops/op.h"
#include "passes/pass.h"

namespace hf {

/// A graph under construction: values by position, constants random but the same each time.
struct TestGraph {
  std::unique_ptr<ir::Graph> graph = std::make_unique<ir::Graph>();
  std::mt19937 rng{7};

  ir::Value* input(const Dims& dims, std::string name = "x") {
    return graph->add_input(std::move(name), DType::F32, dims);
  }
  Tensor random(const Dims& dims, float low = -1, float high = 1) {
    Tensor t(DType::F32, dims);
    std::uniform_real_distribution<float> uniform(low, high);
    for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = uniform(rng);
    return t;
  }
  ir::Value* constant(const Dims& dims, float low = -1, float high = 1) {
    return graph->add_constant("c", random(dims, low, high));
  }
  ir::Value* number(float v) { return graph->add_constant("k", Tensor::scalar(v)); }
  ir::Value* ints(std::initializer_list<int64_t> v) {
    return graph->add_constant("i", Tensor::ints(std::span(v.begin(), v.size())));
  }
  ir::Value* op(std::string name, std::vector<ir::Value*> inputs, ir::Attrs attrs = {}) {
    return ops::add_op(*graph, std::move(name), std::move(inputs), std::move(attrs))->output();
  }
  void output(ir::Value* v) { graph->add_output(v); }
};

/// The operators in order: "Conv Relu Add".
inline std::string operators(const ir::Graph& g) {
  std::string s;
  for (const ir::Node* n = g.first(); n; n = n->next()) s += (s.empty() ? "" : " ") + n->op;
  return s;
}

/// Evaluates a graph node by node with the reference functions.
inline std::vector<Tensor> evaluate_graph(const ir::Graph& g, const std::vector<Tensor>& inputs) {
  std::map<const ir::Value*, Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[g.inputs()[i]] = inputs[i];
  auto get = [&](const ir::Value* v) { return v->is_constant() ? v->constant : values.at(v); };
  for (const ir::Node* n = g.first(); n; n = n->next()) {
    std::vector<Tensor> held;
    for (const ir::Value* v : n->inputs()) held.push_back(v ? get(v) : Tensor());
    std::vector<const Tensor*> args;
    for (size_t i = 0; i < held.size(); ++i) args.push_back(n->inputs()[i] ? &held[i] : nullptr);
    std::vector<Tensor> results = ops::evaluate(*n, args);
    for (size_t i = 0; i < results.size(); ++i)
      if (n->outputs()[i]) values[n->outputs()[i]] = results[i];
  }
  std::vector<Tensor> outputs;
  for (const ir::Value* v : g.outputs()) outputs.push_back(get(v));
  return outputs;
}

/// Runs the whole pipeline on a copy, expects the same results (relative to the largest), and returns the copy.
inline std::unique_ptr<ir::Graph> optimized(TestGraph& t, double tolerance = 1e-5, bool gpu = false) {
  std::vector<Tensor> inputs;
  for (const ir::Value* v : t.graph->inputs()) inputs.push_back(t.random(v->shape.get()));
  std::vector<Tensor> wanted = evaluate_graph(*t.graph, inputs);
  std::unique_ptr<ir::Graph> g = t.graph->clone();
  passes::PassOptions options;
  options.verify = true;
  options.gpu = gpu;
  passes::run_pipeline(*g, passes::Stage::Plan, options);
  std::string once = ir::to_text(*g);
  std::vector<Tensor> got = evaluate_graph(*g, inputs);
  EXPECT_EQ(got.size(), wanted.size());
  for (size_t k = 0; k < got.size(); ++k) {
    EXPECT_EQ(got[k].dims(), wanted[k].dims());
    double top = 0, error = 0;
    for (int64_t i = 0; i < wanted[k].size(); ++i) {
      top = std::max<double>(top, std::fabs(wanted[k].data<float>()[i]));
      error = std::max<double>(error, std::fabs(wanted[k].data<float>()[i] - got[k].data<float>()[i]));
    }
    EXPECT_LE(error, tolerance * std::max(top, 1e-3)) << once;
  }
  return g;
}

}  // namespace hf
