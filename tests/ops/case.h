// One operator case: what goes in, what must come out. Used by the tests of each operator family.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ops/op.h"

namespace hf::ops {

struct OpCase {
  std::string name;
  std::string op;
  std::string domain = "";
  int opset = 28;
  ir::Attrs attrs = {};
  std::vector<Tensor> inputs;    // an undefined Tensor: left out
  std::vector<Tensor> expected;  // an undefined Tensor: not compared
  double tolerance = 1e-5;       // |got - wanted| <= tolerance * (1 + |wanted|)
};

template <class T>
Tensor tensor(const Dims& dims, std::initializer_list<T> values) {
  return Tensor::of<T>(dims, values);
}

/// Binds, infers and evaluates the case's node on constants, as the loader and the executor would.
inline std::vector<Tensor> run_case(const OpCase& c) {
  ir::Graph g;
  std::vector<ir::Value*> inputs;
  for (const Tensor& t : c.inputs) inputs.push_back(t.defined() ? g.add_constant("x", t) : nullptr);
  Node* n = g.add_node(c.op, inputs, static_cast<int>(c.expected.size()), nullptr, c.domain);
  n->name = c.name;
  n->attrs = c.attrs;
  bind(g, *n, c.opset);
  infer_node(*n);
  std::vector<const Tensor*> values;
  for (ir::Value* v : n->inputs()) values.push_back(v ? &v->constant : nullptr);
  std::vector<Tensor> got = evaluate(*n, values);
  for (size_t i = 0; i < got.size(); ++i)  // what infer said must be what came out
    if (n->output(static_cast<int>(i)) && n->output(static_cast<int>(i))->shape.is_static())
      EXPECT_EQ(n->output(static_cast<int>(i))->shape.get(), got[i].dims()) << c.name;
  return got;
}

inline void expect_equal(const Tensor& got, const Tensor& wanted, double tolerance, const std::string& name) {
  ASSERT_EQ(got.dtype(), wanted.dtype()) << name;
  ASSERT_EQ(got.dims(), wanted.dims()) << name << ": " << got.text() << " against " << wanted.text();
  if (wanted.dtype() == DType::String) {
    EXPECT_EQ(got.strings(), wanted.strings()) << name;
    return;
  }
  ReadAs<double> a(got), b(wanted);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) || std::isinf(b[i]))
      EXPECT_TRUE(std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) << name << " at " << i;
    else
      EXPECT_LE(std::fabs(a[i] - b[i]), tolerance * (1 + std::fabs(b[i]))) << name << " at " << i;
  }
}

inline void check_case(const OpCase& c) {
  std::vector<Tensor> got = run_case(c);
  for (size_t i = 0; i < c.expected.size(); ++i)
    if (c.expected[i].defined()) expect_equal(got[i], c.expected[i], c.tolerance, c.name);
}

}  // namespace hf::ops
