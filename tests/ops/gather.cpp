// Gather, GatherElements, GatherND.
#include "ops/case.h"

namespace hf::ops {
namespace {

using Ints = std::vector<int64_t>;
const Tensor kData = tensor<int64_t>({3, 2}, {1, 2, 3, 4, 5, 6});
const Tensor kCube = tensor<int64_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});

}  // namespace

TEST(Gather, Cases) {
  const OpCase cases[] = {
      {.name = "rows",
       .op = "Gather",
       .inputs = {kData, tensor<int64_t>({2}, {0, -1})},
       .expected = {tensor<int64_t>({2, 2}, {1, 2, 5, 6})}},
      {.name = "columns by a matrix",
       .op = "Gather",
       .attrs = {{"axis", int64_t{-1}}},
       .inputs = {kData, tensor<int32_t>({1, 1}, {1})},
       .expected = {tensor<int64_t>({3, 1, 1}, {2, 4, 6})}},
      {.name = "scalar",
       .op = "Gather",
       .inputs = {kData, tensor<int64_t>({}, {1})},
       .expected = {tensor<int64_t>({2}, {3, 4})}},
      {.name = "none",
       .op = "Gather",
       .inputs = {kData, tensor<int64_t>({0}, {})},
       .expected = {tensor<int64_t>({0, 2}, {})}},
      {.name = "elements",
       .op = "GatherElements",
       .attrs = {{"axis", int64_t{1}}},
       .inputs = {kData, tensor<int64_t>({2, 2}, {0, 0, -1, 0})},
       .expected = {tensor<int64_t>({2, 2}, {1, 1, 4, 3})}},
      {.name = "tuples to elements",
       .op = "GatherND",
       .inputs = {kData, tensor<int64_t>({2, 2}, {-1, -1, 0, -2})},
       .expected = {tensor<int64_t>({2}, {6, 1})}},
      {.name = "tuples to slices",
       .op = "GatherND",
       .opset = 11,
       .inputs = {kCube, tensor<int64_t>({2, 1, 2}, {0, 1, 1, 0})},
       .expected = {tensor<int64_t>({2, 1, 2}, {2, 3, 4, 5})}},
      {.name = "batches",
       .op = "GatherND",
       .attrs = {{"batch_dims", int64_t{1}}},
       .inputs = {kCube, tensor<int64_t>({2, 1}, {1, 0})},
       .expected = {tensor<int64_t>({2, 2}, {2, 3, 4, 5})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Gather, KeepsWhatIsKnown) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, Shape(Dims{30522, 768}));
  ir::Value* i = g.add_input("i", DType::I64, Shape({Dim::named("batch"), Dim::named("sequence")}));
  EXPECT_EQ(add_op(g, "Gather", {x, i})->output()->shape.text(), "[batch, sequence, 768]");
}

TEST(Gather, RefusesIndicesOutside) {
  const OpCase cases[] = {
      {.name = "3", .op = "Gather", .inputs = {kData, tensor<int64_t>({1}, {3})}, .expected = {Tensor()}},
      {.name = "-4", .op = "Gather", .inputs = {kData, tensor<int64_t>({1}, {-4})}, .expected = {Tensor()}},
      {.name = "of nothing",
       .op = "Gather",
       .inputs = {tensor<int64_t>({0}, {}), tensor<int64_t>({1}, {0})},
       .expected = {Tensor()}},
      {.name = "elements",
       .op = "GatherElements",
       .inputs = {kData, tensor<int64_t>({1, 2}, {0, 3})},
       .expected = {Tensor()}},
      {.name = "tuples", .op = "GatherND", .inputs = {kData, tensor<int64_t>({1, 2}, {0, 2})}, .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) {
    try {
      run_case(c);
      ADD_FAILURE() << c.name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
    }
  }
}

TEST(Gather, RefusesShapesThatDoNotFit) {
  const OpCase cases[] = {
      {.name = "rank", .op = "GatherElements", .inputs = {kData, tensor<int64_t>({1}, {0})}, .expected = {Tensor()}},
      {.name = "wider",
       .op = "GatherElements",
       .inputs = {kData, tensor<int64_t>({1, 3}, {0, 0, 0})},
       .expected = {Tensor()}},
      {.name = "tuple",
       .op = "GatherND",
       .inputs = {kData, tensor<int64_t>({1, 3}, {0, 0, 0})},
       .expected = {Tensor()}},
      {.name = "batches",
       .op = "GatherND",
       .attrs = {{"batch_dims", int64_t{1}}},
       .inputs = {kData, tensor<int64_t>({2, 1}, {0, 0})},
       .expected = {Tensor()}},
      {.name = "axis",
       .op = "Gather",
       .attrs = {{"axis", int64_t{2}}},
       .inputs = {kData, tensor<int64_t>({1}, {0})},
       .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops
