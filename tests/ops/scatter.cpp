// ScatterElements, ScatterND, TensorScatter; DepthToSpace and SpaceToDepth; OneHot, NonZero, Compress.
#include "ops/case.h"

namespace hf::ops {
namespace {

const Tensor kZeros = tensor<int64_t>({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0});
const Tensor kOnes = tensor<int64_t>({4}, {1, 1, 1, 1});
ir::Attrs reduction(const char* r) { return {{"reduction", std::string(r)}}; }

Tensor counting(const Dims& d) {
  Tensor t(DType::I64, d);
  for (int64_t i = 0; i < t.size(); ++i) t.data<int64_t>()[i] = i;
  return t;
}

}  // namespace

TEST(Scatter, Cases) {
  const Tensor by = tensor<int64_t>({2, 3}, {1, 0, 2, 0, -1, 1}),
               updates = tensor<int64_t>({2, 3}, {10, 11, 12, 20, 21, 22});
  const Tensor scattered = tensor<int64_t>({3, 3}, {20, 11, 0, 10, 0, 22, 0, 21, 12});
  const Tensor twice = tensor<int64_t>({3}, {1, 1, 3}), threes = tensor<int64_t>({3}, {3, 4, 5});
  const OpCase cases[] = {
      {.name = "elements", .op = "ScatterElements", .inputs = {kZeros, by, updates}, .expected = {scattered}},
      {.name = "the old name", .op = "Scatter", .opset = 9, .inputs = {kZeros, by, updates}, .expected = {scattered}},
      {.name = "add",
       .op = "ScatterElements",
       .attrs = reduction("add"),
       .inputs = {kOnes, twice, threes},
       .expected = {tensor<int64_t>({4}, {1, 8, 1, 6})}},
      {.name = "mul",
       .op = "ScatterElements",
       .attrs = reduction("mul"),
       .inputs = {kOnes, twice, threes},
       .expected = {tensor<int64_t>({4}, {1, 12, 1, 5})}},
      {.name = "max",
       .op = "ScatterElements",
       .attrs = reduction("max"),
       .inputs = {kOnes, twice, threes},
       .expected = {tensor<int64_t>({4}, {1, 4, 1, 5})}},
      {.name = "min",
       .op = "ScatterElements",
       .attrs = reduction("min"),
       .inputs = {kOnes, twice, threes},
       .expected = {kOnes}},
      {.name = "slices",
       .op = "ScatterND",
       .inputs = {kZeros, tensor<int64_t>({1, 1}, {-1}), tensor<int64_t>({1, 3}, {1, 2, 3})},
       .expected = {tensor<int64_t>({3, 3}, {0, 0, 0, 0, 0, 0, 1, 2, 3})}},
      {.name = "elements by tuples, added",
       .op = "ScatterND",
       .attrs = reduction("add"),
       .inputs = {kZeros, tensor<int64_t>({2, 2}, {1, 1, 1, 1}), tensor<int64_t>({2}, {1, 2})},
       .expected = {tensor<int64_t>({3, 3}, {0, 0, 0, 0, 3, 0, 0, 0, 0})}},
      {.name = "cache",
       .op = "TensorScatter",
       .inputs = {tensor<int64_t>({2, 3, 1}, {1, 2, 3, 4, 5, 6}), tensor<int64_t>({2, 1, 1}, {8, 9}),
                  tensor<int64_t>({2}, {0, 2})},
       .expected = {tensor<int64_t>({2, 3, 1}, {8, 2, 3, 4, 5, 9})}},
      {.name = "circular cache",
       .op = "TensorScatter",
       .attrs = {{"mode", std::string("circular")}},
       .inputs = {tensor<int64_t>({1, 3, 1}, {1, 2, 3}), tensor<int64_t>({1, 2, 1}, {8, 9}), tensor<int64_t>({1}, {5})},
       .expected = {tensor<int64_t>({1, 3, 1}, {9, 2, 8})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Scatter, Refuses) {
  const OpCase cases[] = {
      {.name = "index",
       .op = "ScatterElements",
       .inputs = {kOnes, tensor<int64_t>({1}, {4}), tensor<int64_t>({1}, {0})},
       .expected = {Tensor()}},
      {.name = "updates",
       .op = "ScatterElements",
       .inputs = {kOnes, tensor<int64_t>({1}, {0}), tensor<int64_t>({2}, {0, 0})},
       .expected = {Tensor()}},
      {.name = "tuple",
       .op = "ScatterND",
       .inputs = {kZeros, tensor<int64_t>({1, 2}, {0, -4}), tensor<int64_t>({1}, {0})},
       .expected = {Tensor()}},
      {.name = "reduction",
       .op = "ScatterND",
       .attrs = reduction("sum"),
       .inputs = {kZeros, tensor<int64_t>({1, 2}, {0, 0}), tensor<int64_t>({1}, {0})},
       .expected = {Tensor()}},
      {.name = "over the end",
       .op = "TensorScatter",
       .inputs = {tensor<int64_t>({1, 3, 1}, {1, 2, 3}), tensor<int64_t>({1, 2, 1}, {8, 9}), tensor<int64_t>({1}, {2})},
       .expected = {Tensor()}},
      {.name = "before the start",
       .op = "TensorScatter",
       .attrs = {{"mode", std::string("circular")}},
       .inputs = {tensor<int64_t>({1, 3, 1}, {1, 2, 3}), tensor<int64_t>({1, 2, 1}, {8, 9}),
                  tensor<int64_t>({1}, {-1})},
       .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

TEST(DepthSpace, ThereAndBack) {
  const ir::Attrs crd = {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}, dcr = {{"blocksize", int64_t{2}}};
  const Tensor deep = counting({1, 8, 1, 1});
  const Tensor wide = tensor<int64_t>({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});  // channel = (row * 2 + column) * 2 + c
  const OpCase cases[] = {
      {.name = "dcr", .op = "DepthToSpace", .attrs = dcr, .inputs = {deep}, .expected = {wide}},
      {.name = "crd", .op = "DepthToSpace", .attrs = crd, .inputs = {deep}, .expected = {counting({1, 2, 2, 2})}},
      {.name = "old", .op = "DepthToSpace", .opset = 7, .attrs = dcr, .inputs = {deep}, .expected = {wide}},
      {.name = "dcr back", .op = "SpaceToDepth", .opset = 13, .attrs = dcr, .inputs = {wide}, .expected = {deep}},
      {.name = "crd back", .op = "SpaceToDepth", .attrs = crd, .inputs = {counting({1, 2, 2, 2})}, .expected = {deep}},
      {.name = "rows stay together",
       .op = "DepthToSpace",
       .attrs = dcr,
       .inputs = {counting({1, 4, 1, 2})},
       .expected = {tensor<int64_t>({1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7})}},
  };
  for (const OpCase& c : cases) check_case(c);
  for (int64_t b : {int64_t{0}, int64_t{-2}, int64_t{3}, INT64_MAX})
    EXPECT_THROW(run_case({.name = "block",
                           .op = "DepthToSpace",
                           .attrs = {{"blocksize", b}},
                           .inputs = {deep},
                           .expected = {Tensor()}}),
                 Error);
}

TEST(Select, Cases) {
  const Tensor matrix = tensor<int64_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  const OpCase cases[] = {
      {.name = "non-zero",
       .op = "NonZero",
       .inputs = {tensor<float>({2, 2}, {1, 0, NAN, 2})},
       .expected = {tensor<int64_t>({2, 3}, {0, 1, 1, 0, 0, 1})}},
      {.name = "a scalar has no axes",
       .op = "NonZero",
       .inputs = {tensor<bool>({}, {true})},
       .expected = {tensor<int64_t>({0, 1}, {})}},
      {.name = "rows",
       .op = "Compress",
       .attrs = {{"axis", int64_t{0}}},
       .inputs = {matrix, tensor<bool>({3}, {false, true, true})},
       .expected = {tensor<int64_t>({2, 2}, {3, 4, 5, 6})}},
      {.name = "flat, short condition",
       .op = "Compress",
       .inputs = {matrix, tensor<bool>({4}, {false, true, false, true})},
       .expected = {tensor<int64_t>({2}, {2, 4})}},
      {.name = "one hot",
       .op = "OneHot",
       .inputs = {tensor<int64_t>({4}, {0, 2, -1, 7}), tensor<int64_t>({}, {3}), tensor<float>({2}, {-1, 5})},
       .expected = {tensor<float>({4, 3}, {5, -1, -1, -1, -1, 5, -1, -1, 5, -1, -1, -1})}},
      {.name = "one hot in front, floats",
       .op = "OneHot",
       .attrs = {{"axis", int64_t{0}}},
       .inputs = {tensor<float>({2}, {1.7f, 0}), tensor<float>({1}, {2}), tensor<int32_t>({2}, {0, 1})},
       .expected = {tensor<int32_t>({2, 2}, {0, 1, 1, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.name = "depth",
                         .op = "OneHot",
                         .inputs = {tensor<int64_t>({1}, {0}), tensor<int64_t>({}, {-3}), tensor<float>({2}, {0, 1})},
                         .expected = {Tensor()}}),
               Error);
}

}  // namespace hf::ops
