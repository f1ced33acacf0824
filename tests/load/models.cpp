// The models of make_models.py: good_ ones give what ONNX's reference evaluator gives, bad_ ones are refused for the
// right reason.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/error.h"
#include "load/model.h"
#include "run.h"

namespace hf::load {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(HIPFORGE_SOURCE_DIR) / "tests/load/models";

ir::Model load(const std::string& name) {
  ir::Model m = load_file(kFolder / (name + ".onnx"), {.keep_unknown_operators = true});
  ir::verify(*m.graph);
  return m;
}

std::vector<std::string> names(const std::string& prefix) {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".onnx" && entry.path().filename().string().starts_with(prefix))
      all.push_back(entry.path().stem().string());
  return all;
}

// Inputs as make_models.py feeds them: 1, 2, 3, ...
std::vector<Tensor> inputs_of(const ir::Graph& g) {
  std::vector<Tensor> inputs;
  for (const ir::Value* v : g.inputs()) {
    Dims dims;
    for (const ir::Dim& d : v->shape.dims()) dims.push_back(d.known() ? d.value : 2);
    Tensor t(DType::F32, dims);
    for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i + 1);
    inputs.push_back(t);
  }
  return inputs;
}

TEST(Models, GoodOnesRunAsOnnxSays) {
  int compared = 0;
  for (const std::string& name : names("good_")) {
    SCOPED_TRACE(name);
    ir::Model m = load(name);
    if (!m.metadata.count("expect 0") || !can_run(*m.graph)) continue;
    ++compared;
    std::vector<Tensor> got = Runner().run(*m.graph, inputs_of(*m.graph), {});
    for (size_t i = 0; i < got.size(); ++i) {
      std::istringstream wanted(m.metadata.at(fmt::format("expect {}", i)));
      ReadAs<float> values(got[i]);
      for (float v : values) {
        float w = 0;
        ASSERT_TRUE(wanted >> w);
        EXPECT_FLOAT_EQ(v, w) << "output " << i;
      }
    }
  }
  EXPECT_GE(compared, 5);
}

struct Bad {
  std::string name;
  Code code;
  std::string word;
};

const Bad kBad[] = {
    {"attribute_future", Code::InvalidModel, "attribute type 77"},
    {"attribute_mismatch", Code::InvalidModel, "declared float but holds int"},
    {"attribute_no_tensor", Code::InvalidModel, "no value of type tensor"},
    {"attribute_nothing", Code::InvalidModel, "neither a type nor a value"},
    {"attribute_reference", Code::InvalidModel, "only functions"},
    {"attribute_twice", Code::InvalidModel, "given twice"},
    {"attribute_two_values", Code::InvalidModel, "types float and int"},
    {"attribute_type", Code::InvalidModel, "wanted float"},
    {"attribute_unknown", Code::InvalidModel, "'beta'"},
    {"captures_itself", Code::InvalidModel, "cycle"},
    {"constant_empty", Code::InvalidModel, "value attribute"},
    {"constant_input", Code::InvalidModel, "wanted none"},
    {"constant_two", Code::InvalidModel, "value attribute"},
    {"cycle", Code::InvalidModel, "cycle"},
    {"declared_dtype", Code::InvalidModel, "declared int64"},
    {"deep", Code::Unsupported, "64 deep"},
    {"default_dtype", Code::InvalidModel, "declared float64"},
    {"default_shape", Code::InvalidModel, "does not agree"},
    {"defined_as_input", Code::InvalidModel, "'x' is defined twice"},
    {"defined_twice", Code::InvalidModel, "'y' is defined twice"},
    {"element_type", Code::InvalidModel, "element type 99"},
    {"external_absolute", Code::InvalidModel, "absolute"},
    {"external_empty", Code::InvalidModel, "location is empty"},
    {"external_folder", Code::InvalidModel, "not a regular file"},
    {"external_length", Code::InvalidModel, "length 4, wanted 8"},
    {"external_missing", Code::NotFound, "missing.bin"},
    {"external_negative", Code::InvalidModel, "'-4'"},
    {"external_overflow", Code::InvalidModel, "1211 bytes"},
    {"external_past_end", Code::InvalidModel, "1211 bytes"},
    {"external_slash", Code::InvalidModel, "ends in '/'"},
    {"external_strings", Code::InvalidModel, "strings"},
    {"external_through_file", Code::InvalidModel, "no folder"},
    {"external_too_large", Code::InvalidModel, "not a number"},
    {"external_up", Code::InvalidModel, "out of the model's folder"},
    {"external_zero_byte", Code::InvalidModel, "zero byte"},
    {"function_absent_passed_on", Code::InvalidModel, "'a' is not made"},
    {"function_bomb", Code::Unsupported, "calls of functions expanded"},
    {"function_chain", Code::Unsupported, "64 deep"},
    {"function_import", Code::InvalidModel, "not imported"},
    {"function_inputs", Code::InvalidModel, "2 inputs"},
    {"function_no_result", Code::InvalidModel, "'r' is not made"},
    {"function_outputs", Code::InvalidModel, "2 outputs"},
    {"function_recursive", Code::InvalidModel, "calls itself"},
    {"function_reference_type", Code::InvalidModel, "of type int"},
    {"function_sees_caller", Code::InvalidModel, "'x' is not made"},
    {"function_twice", Code::InvalidModel, "defined twice"},
    {"huge_dims", Code::InvalidModel, "2^62"},
    {"initializer_twice", Code::InvalidModel, "'w' is defined twice"},
    {"initializer_without_name", Code::InvalidModel, "without a name"},
    {"inner_name_outside", Code::InvalidModel, "'t1' is not made"},
    {"input_twice", Code::InvalidModel, "defined twice"},
    {"input_without_type", Code::InvalidModel, "no type"},
    {"int4_length", Code::InvalidModel, "wanted 2 for int4 [3]"},
    {"int8_range", Code::InvalidModel, "300"},
    {"ir_2", Code::Unsupported, "IR version 2"},
    {"large_dims", Code::InvalidModel, "too many elements"},
    {"negative_dim", Code::InvalidModel, "negative"},
    {"no_data", Code::InvalidModel, "wanted 2"},
    {"no_graph", Code::InvalidModel, "no graph"},
    {"no_import", Code::InvalidModel, "not imported"},
    {"opaque", Code::Unsupported, "opaque"},
    {"opset_0", Code::InvalidModel, "version 0"},
    {"opset_29", Code::Unsupported, "opset 29"},
    {"opset_twice", Code::InvalidModel, "17 and 16"},
    {"rank_17", Code::Unsupported, "rank 17"},
    {"raw_length", Code::InvalidModel, "7 bytes of raw data, wanted 8"},
    {"raw_strings", Code::InvalidModel, "strings"},
    {"segment", Code::Unsupported, "segments"},
    {"self", Code::InvalidModel, "cycle"},
    {"shadowing", Code::InvalidModel, "'w' of a subgraph"},
    {"sparse_coordinates", Code::InvalidModel, "index 3 on axis 1"},
    {"sparse_huge", Code::Unsupported, "too large"},
    {"sparse_negative", Code::InvalidModel, "index -1"},
    {"sparse_order", Code::InvalidModel, "not ascending"},
    {"sparse_outside", Code::InvalidModel, "index 4"},
    {"sparse_twice", Code::InvalidModel, "not ascending"},
    {"string_count", Code::InvalidModel, "1 strings, wanted 2"},
    {"tensor_rank", Code::Unsupported, "rank"},
    {"tensor_type", Code::InvalidModel, "element type 98"},
    {"tensor_without_type", Code::InvalidModel, "element type 0"},
    {"typed_field", Code::InvalidModel, "0 numbers of float_data"},
    {"typed_length", Code::InvalidModel, "1 numbers of float_data"},
    {"undefined_input", Code::InvalidModel, "'missing'"},
    {"undefined_output", Code::InvalidModel, "output 'y'"},
    {"unknown_operators", Code::InvalidModel, "'com.example' is used but not imported"},
};

TEST(Models, BadOnesAreRefusedForTheirReason) {
  std::set<std::string> listed;
  for (const Bad& b : kBad) {
    listed.insert("bad_" + b.name);
    try {
      load("bad_" + b.name);
      ADD_FAILURE() << b.name << " is not refused";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), b.code) << e.what();
      EXPECT_NE(std::string(e.what()).find(b.word), std::string::npos) << e.what() << "\nlacks: " << b.word;
    }
  }
  for (const std::string& name : names("bad_")) EXPECT_TRUE(listed.count(name)) << name << " is not in the table";
}

TEST(Models, AllUnknownOperatorsAreListed) {
  try {
    load_file(kFolder / "bad_unknown_operators.onnx");
    ADD_FAILURE() << "not refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unsupported);
    EXPECT_NE(std::string(e.what()).find("Foo (node 0 'here' and 1 more), com.example.Bar (node 2 '')"),
              std::string::npos)
        << e.what();
  }
}

TEST(Models, InitializersAmongTheInputs) {
  ir::Model constant = load("good_ir3"), overridable = load("good_ir4_default");
  EXPECT_EQ(constant.graph->inputs().size(), 1u);
  EXPECT_TRUE(constant.graph->find_value("w")->is_constant());
  ASSERT_EQ(overridable.graph->inputs().size(), 2u);
  EXPECT_FALSE(overridable.graph->inputs()[1]->is_constant());
  EXPECT_EQ(overridable.graph->inputs()[1]->default_value.data<float>()[1], 20.0f);
}

TEST(Models, NamesAndAbsentInputs) {
  ir::Model m = load("good_names");
  std::vector<ir::Node*> nodes = m.graph->nodes();
  EXPECT_EQ(nodes[0]->name, "same");
  EXPECT_EQ(nodes[1]->name, "same");
  EXPECT_EQ(nodes[2]->name, "Clip_2");
  EXPECT_EQ(nodes[2]->input(1), nullptr);
  EXPECT_EQ(nodes[2]->input(2)->name, "w0");
}

TEST(Models, OutputsThatAreInputsOrConstants) {
  ir::Model m = load("good_passthrough");
  const auto& out = m.graph->outputs();
  ASSERT_EQ(out.size(), 4u);
  EXPECT_TRUE(out[1]->is_graph_input());
  EXPECT_TRUE(out[2]->is_constant());
  EXPECT_EQ(out[0], out[3]);
  EXPECT_EQ(out[0]->graph_outputs(), 2);
}

TEST(Models, DeclaredTypes) {
  EXPECT_EQ(load("good_symbols").graph->inputs()[0]->type_text(), "float32 [batch, 3, ?, ?]");
  EXPECT_EQ(load("good_symbols").graph->outputs()[0]->type_text(), "float32 [...]");
  EXPECT_EQ(load("good_stale_shape").graph->find_value("w")->type_text(), "float32 [2]");
  EXPECT_EQ(load("good_sequence").graph->inputs()[1]->kind, ir::TypeKind::Sequence);
}

TEST(Models, FactsOfTheFile) {
  ir::Model m = load("good_plain");
  EXPECT_EQ(m.producer, "make_models");
  EXPECT_EQ(m.opset, 17);
  EXPECT_EQ(m.ir_version, 8);
  EXPECT_EQ(m.graph->name, "g");
  EXPECT_EQ(load("good_ai_onnx").opset, 17);
}

TEST(Models, TypedDataIsRawData) {
  ir::Model m = load("good_typed");
  int pairs = 0;
  for (const ir::Value* v : m.graph->outputs()) {
    if (!v->name.starts_with("t_")) continue;
    const ir::Value* raw = m.graph->find_value("r_" + v->name.substr(2));
    ASSERT_EQ(v->type_text(), raw->type_text());
    EXPECT_EQ(std::memcmp(v->constant.raw(), raw->constant.raw(), static_cast<size_t>(v->constant.size_bytes())), 0)
        << v->type_text();
    ++pairs;
  }
  EXPECT_EQ(pairs, kDTypeCount - 2);
  EXPECT_EQ(m.graph->find_value("strings")->constant.strings(), (std::vector<std::string>{"a", "b\xff"}));
  EXPECT_EQ(to_ints(m.graph->find_value("t_int4")->constant), (std::vector<int64_t>{0, 1, 1, 0, 1}));
}

TEST(Models, SparseTensorsAreDense) {
  ir::Model m = load("good_sparse");
  auto values = [&](const char* name) { return to_ints(m.graph->find_value(name)->constant); };
  EXPECT_EQ(values("c"), (std::vector<int64_t>{0, 6}));
  EXPECT_EQ(values("a"), (std::vector<int64_t>{0, 7, 0, 0, 0, 8}));
  EXPECT_EQ(values("b"), (std::vector<int64_t>{0, 7, 0, 0, 0, 8}));
}

TEST(Models, ExternalData) {
  ir::Model m = load("good_external");
  EXPECT_EQ(m.graph->find_value("big")->constant.data<float>()[299], 299.0f);
  EXPECT_EQ(to_ints(m.graph->find_value("odd")->constant), (std::vector<int64_t>{0x200}));
  EXPECT_EQ(to_ints(m.graph->find_value("flag")->constant), (std::vector<int64_t>{1, 0, 1}));
}

TEST(Models, CapturesChainThroughSubgraphs) {
  ir::Model m = load("good_captures");
  ir::Node* outer = m.graph->first();
  // The condition, then x for the then branch; the else branch uses a constant only.
  ASSERT_EQ(outer->captures, 1);
  EXPECT_EQ(outer->input(1)->name, "x");
  ir::Graph& then = outer->subgraph("then_branch");
  EXPECT_TRUE(outer->subgraph("else_branch").captures().empty());
  ir::Node* inner = then.last();
  ASSERT_EQ(inner->op, "If");
  // In the order of the attributes' names: x for the else branch, then x and h for the then branch.
  ASSERT_EQ(inner->captures, 3);
  EXPECT_TRUE(inner->input(0)->is_constant());
  EXPECT_EQ(inner->input(1), then.captures()[0]);
  EXPECT_EQ(inner->input(2), then.captures()[0]);
  EXPECT_EQ(inner->input(3), then.first()->output());
  const ir::Graph& other = inner->subgraph("else_branch");
  EXPECT_EQ(other.find_value("k")->constant.raw(), outer->subgraph("else_branch").find_value("k")->constant.raw());
}

TEST(Models, FunctionsBecomeNodesWithPaths) {
  ir::Model m = load("good_functions");
  std::set<std::string> seen;
  for (const ir::Node* n : m.graph->nodes()) {
    EXPECT_TRUE(n->domain.empty());
    EXPECT_TRUE(seen.insert(n->name).second) << n->name;
  }
  EXPECT_TRUE(seen.count("first/scale_0/LeakyRelu_0"));
  ir::Model captures = load("good_function_captures");
  EXPECT_EQ(captures.graph->last()->name, "call/If_1");
  EXPECT_EQ(captures.graph->last()->captures, 1);  // the other argument is a constant
}

TEST(Models, AFunctionComesBeforeTheOperatorOfItsName) {
  EXPECT_EQ(load("good_function_first").graph->first()->op, "Neg");
}

}  // namespace
}  // namespace hf::load
