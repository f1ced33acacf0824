// Folding, clean-up, merging and the runner's own duties.
#include <filesystem>

#include "base/convert.h"
#include "passes/graphs.h"

namespace hf {

using ir::Value;

TEST(Passes, ShapeArithmeticFoldsWithoutOptimisationToo) {
  TestGraph t;
  Value* x = t.input({2, 3, 4});
  Value* shape = t.op("Shape", {x});
  Value* first = t.op("Gather", {shape, t.ints({0})});
  Value* wanted = t.op("Concat", {first, t.ints({-1})}, {{"axis", int64_t{0}}});
  t.output(t.op("Reshape", {x, wanted}));
  passes::PassOptions options;
  options.optimize = false;
  passes::run_pipeline(*t.graph, passes::Stage::Plan, options);
  EXPECT_EQ(operators(*t.graph), "Reshape");
  EXPECT_EQ(t.graph->outputs()[0]->shape.text(), "[2, 12]");
}

TEST(Passes, KnownExtentsOfAPartlyKnownShapeFold) {
  TestGraph t;
  Value* x = t.graph->add_input("x", DType::F32, ir::Shape({ir::Dim::named("n"), ir::Dim(3)}));
  Value* all = t.op("Shape", {x});
  Value* last = t.op("Shape", {x}, {{"start", int64_t{1}}});
  t.output(all);
  t.output(last);
  passes::run_pipeline(*t.graph, passes::Stage::Load, {});
  EXPECT_EQ(operators(*t.graph), "Shape");
  EXPECT_EQ(to_ints(t.graph->outputs()[1]->constant), (std::vector<int64_t>{3}));
}

TEST(Passes, WhatDoesNothingGoes) {
  TestGraph t;
  Value* x = t.input({2, 3});
  Value* y = t.op("Identity", {x});
  y = t.op("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 0}}});
  y = t.op("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 0}}});
  y = t.op("Reshape", {y, t.ints({3, 2})});
  y = t.op("Reshape", {y, t.ints({2, 3})});
  y = t.op("Mul", {y, t.number(1)});
  t.output(t.op("Relu", {y}));
  EXPECT_EQ(operators(*optimized(t)), "Relu");
}

TEST(Passes, EqualNodesMerge) {
  TestGraph t;
  Value* x = t.input({2, 3});
  t.output(t.op("MatMul", {t.op("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}}), x}));
  t.output(t.op("Softmax", {t.op("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}})}));
  EXPECT_EQ(operators(*optimized(t)), "Transpose MatMul Softmax");
}

TEST(Passes, ADisabledPassDoesNotRunAndANameIsChecked) {
  TestGraph t;
  t.output(t.op("Relu", {t.op("Add", {t.input({4}), t.number(1)})}));
  passes::PassOptions options;
  options.disable = {"fuse_pointwise"};
  passes::run_pipeline(*t.graph, passes::Stage::Plan, options);
  EXPECT_EQ(operators(*t.graph), "Add Relu");
}

TEST(Passes, TheDumpShowsEachStep) {
  std::filesystem::path dir = std::filesystem::temp_directory_path() / "hipforge_dump_test";
  std::filesystem::remove_all(dir);
  TestGraph t;
  t.output(t.op("Relu", {t.op("Add", {t.input({4}), t.number(1)})}));
  passes::PassOptions options;
  options.dump_dir = dir.string();
  passes::run_pipeline(*t.graph, passes::Stage::Plan, options);
  EXPECT_TRUE(std::filesystem::exists(dir / "00_before.txt"));
  int files = 0;
  for (const auto& e : std::filesystem::directory_iterator(dir))
    files += e.path().string().find("fuse_pointwise") != std::string::npos;
  EXPECT_EQ(files, 1);
  std::filesystem::remove_all(dir);
}

TEST(Passes, AStaleDeclaredShapeGivesWayButADtypeIsTheModelsFault) {
  for (bool dtype : {false, true}) {
    TestGraph t;
    Value* x = t.input({2, 3});
    ir::Node* n = t.graph->add_node("Relu", {x});
    ops::bind(*t.graph, *n, 28);
    n->output()->shape = Dims{2, 4};
    n->output()->dtype = dtype ? DType::F64 : DType::F32;
    t.output(n->output());
    if (!dtype) {
      passes::run_pipeline(*t.graph, passes::Stage::Load, {});
      EXPECT_EQ(n->output()->shape.text(), "[2, 3]");
      continue;
    }
    try {
      passes::run_pipeline(*t.graph, passes::Stage::Load, {});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidModel);
    }
  }
}

TEST(Passes, AnIfThatShapesDecideBecomesItsBranch) {
  for (int64_t rows : {1, 2}) {
    TestGraph t;
    Value* x = t.input({rows, 3});
    Value* extent = t.op("Gather", {t.op("Shape", {x}), t.ints({0})});
    Value* is_one = t.op("Squeeze", {t.op("Equal", {extent, t.ints({1})})});
    auto branch = [&](bool squeezes) {
      auto g = std::make_shared<ir::Graph>();
      Value* inner = g->add_capture("x", DType::F32, x->shape);
      Value* y = squeezes ? ops::add_op(*g, "Squeeze", {inner, g->add_constant("axes", Tensor::ints({{0}}))})->output()
                          : ops::add_op(*g, "Neg", {inner})->output();
      g->add_output(y);
      return g;
    };
    ir::Node* n = t.graph->add_node("If", {is_one, x, x});  // else's capture, then's capture
    n->captures = 2;
    n->attrs = {{"then_branch", branch(rows == 1)}, {"else_branch", branch(false)}};
    ops::bind(*t.graph, *n, 28);
    t.output(t.op("Relu", {n->output()}));
    passes::PassOptions options;
    options.optimize = false;
    options.verify = true;
    passes::run_pipeline(*t.graph, passes::Stage::Plan, options);
    EXPECT_EQ(operators(*t.graph), rows == 1 ? "Squeeze Relu" : "Neg Relu");
    EXPECT_EQ(t.graph->outputs()[0]->shape.text(), rows == 1 ? "[3]" : "[2, 3]");
  }
}

}  // namespace hf
