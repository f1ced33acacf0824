// One node, made ready by the CPU backend and run on given tensors, against its reference.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cpu/backend.h"
#include "ops/case.h"
#include "ops/op.h"
#include "plan/backend.h"

namespace hf::cpu {

inline Tensor random_tensor(const Dims& dims, uint32_t seed, float low = -1, float high = 1) {
  Tensor t(DType::F32, dims);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(low, high);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = number(random);
  return t;
}

/// A node with its graph. Inputs: constants where `constant` says so, else graph inputs.
struct OneNode {
  ir::Graph graph;
  ir::Node* node = nullptr;
  std::vector<Tensor> inputs;  // of the node, in order; undefined where absent

  ir::Value* add_input(const Tensor& t, bool constant) {
    inputs.push_back(t);
    if (!t.defined()) return nullptr;
    return constant ? graph.add_constant("c", t) : graph.add_input("x", t.dtype(), t.dims());
  }
  OneNode(std::string op, std::vector<Tensor> values, std::vector<bool> constant, ir::Attrs attrs = {},
          std::string domain = "", int outputs = 1) {
    std::vector<ir::Value*> in;
    for (size_t i = 0; i < values.size(); ++i) in.push_back(add_input(values[i], i < constant.size() && constant[i]));
    node = ops::add_op(graph, std::move(op), in, std::move(attrs), outputs, nullptr, std::move(domain));
  }
  /// Gives the node an epilogue with these operands.
  void epilogue(ir::Program program, std::vector<Tensor> operands, std::vector<bool> constant = {}) {
    std::vector<ir::Value*> values;
    std::vector<Tensor> own = inputs;
    inputs.clear();
    for (size_t i = 0; i < operands.size(); ++i)
      values.push_back(add_input(operands[i], i < constant.size() && constant[i]));
    std::vector<Tensor> added = std::move(inputs);
    ops::attach_epilogue(graph, *node, std::make_shared<const ir::Program>(std::move(program)), values);
    inputs = std::move(own);
    inputs.resize(node->inputs().size() - added.size());
    inputs.insert(inputs.end(), added.begin(), added.end());
  }
  std::vector<Tensor> reference() const {
    std::vector<const Tensor*> in;
    for (const Tensor& t : inputs) in.push_back(t.defined() ? &t : nullptr);
    return ops::evaluate(*node, in);
  }
};

/// 64-byte aligned bytes, filled with a pattern that shows what was not written.
struct Buffer {
  Tensor bytes;
  explicit Buffer(int64_t size) : bytes(DType::U8, {std::max<int64_t>(size, 1)}) {
    std::memset(bytes.raw(), 0xff, static_cast<size_t>(bytes.size()));
  }
  void* data() { return bytes.raw(); }
};

inline int64_t bytes_of(const ir::Value& v, const plan::Layout& layout) {
  return layout.plain() ? storage_bytes(v.dtype, v.shape.get().count()) : layout.detail->bytes();
}

class Ready {
 public:
  Ready(plan::Backend& backend, const OneNode& one, const std::vector<plan::Layout>& layouts = {})
      : backend_(backend), one_(one) {
    std::vector<plan::Layout> given = layouts;
    given.resize(one.inputs.size());
    auto answer = backend.prepare(*one.node, given);
    if (auto* refusal = std::get_if<Refusal>(&answer)) throw std::runtime_error(refusal->reason);
    prepared = std::move(std::get<plan::Prepared>(answer));
    prepared.inputs.resize(one.inputs.size());
    prepared.outputs.resize(one.node->outputs().size());
    prepared.absorbed.resize(one.inputs.size());
  }
  std::string text() const { return prepared.kernel ? prepared.kernel->text() : "alias"; }

  /// Runs it as the executor would. With `in_place`, output 0 takes over the first input that Prepared allows.
  std::vector<Tensor> run(bool in_place = false) const {
    std::vector<Buffer> in, out;
    std::vector<const void*> from;
    for (size_t i = 0; i < one_.inputs.size(); ++i) {
      const Tensor& t = one_.inputs[i];
      bool wanted = t.defined() && !prepared.absorbed[i];
      in.emplace_back(wanted ? bytes_of(*one_.node->inputs()[i], prepared.inputs[i]) : 0);
      from.push_back(wanted ? in.back().data() : nullptr);
      if (wanted) convert(*one_.node->inputs()[i], t.raw(), {}, in.back().data(), prepared.inputs[i]);
    }
    std::vector<void*> to;
    for (size_t i = 0; i < prepared.outputs.size(); ++i) {
      const ir::Value* v = one_.node->outputs()[i];
      out.emplace_back(v ? bytes_of(*v, prepared.outputs[i]) : 0);
      to.push_back(v ? out.back().data() : nullptr);
    }
    if (in_place && !prepared.in_place.empty())
      to[0] = const_cast<void*>(from[static_cast<size_t>(prepared.in_place[0])]);
    Buffer scratch(prepared.scratch_bytes);
    if (prepared.kernel)
      prepared.kernel->run(from, to, scratch.data());
    else
      to[0] = const_cast<void*>(from[static_cast<size_t>(prepared.alias)]);
    std::vector<Tensor> results;
    for (size_t i = 0; i < to.size(); ++i) {
      const ir::Value* v = one_.node->outputs()[i];
      results.emplace_back();
      if (!v) continue;
      results.back() = Tensor(v->dtype, v->shape.get());
      convert(*v, to[i], prepared.outputs[i], results.back().raw(), {});
    }
    return results;
  }

  plan::Prepared prepared;

 private:
  void convert(const ir::Value& v, const void* from, const plan::Layout& a, void* to, const plan::Layout& b) const {
    if (a == b) {
      std::memcpy(to, from, static_cast<size_t>(bytes_of(v, a)));
      return;
    }
    plan::Prepared conversion = backend_.convert(v, a, b);
    Buffer scratch(conversion.scratch_bytes);
    const void* in[] = {from};
    void* out[] = {to};
    conversion.kernel->run(in, out, scratch.data());
  }

  plan::Backend& backend_;
  const OneNode& one_;
};

inline plan::Backend& test_backend() {
  static auto backend = make_cpu_backend({.threads = 2});
  return *backend;
}

/// Prepares and runs the node, and compares with its reference. Fails if what runs is not `kernel` (the text's
/// beginning; empty: any). Returns the text.
inline std::string check_node(const OneNode& one, const std::string& name, const std::string& kernel = "",
                              double tolerance = 2e-5) {
  Ready ready(test_backend(), one);
  std::vector<Tensor> wanted = one.reference();
  for (bool in_place : {false, true}) {
    std::vector<Tensor> got = ready.run(in_place);
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].defined() && got[i].defined())
        ops::expect_equal(got[i], wanted[i], tolerance, name + " " + ready.text());
  }
  EXPECT_EQ(ready.text().substr(0, kernel.size()), kernel) << name;
  return ready.text();
}

inline ir::Step step(std::string op, std::vector<int> args, std::vector<float> attrs = {}) {
  return {std::move(op), std::move(args), std::move(attrs)};
}

}  // namespace hf::cpu
