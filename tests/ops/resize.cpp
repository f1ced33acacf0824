// Resize and Upsample. Values by hand unless a comment says otherwise.
#include "ops/case.h"

namespace hf::ops {
namespace {

using Pairs = std::vector<std::pair<const char*, std::string>>;

// x to a vector of `size`, with string attributes.
OpCase to_size(std::string name, Tensor x, int64_t size, Pairs strings, Tensor expected, ir::Attrs attrs = {}) {
  for (auto& [key, value] : strings) attrs.emplace(key, value);
  return {.name = name,
          .op = "Resize",
          .attrs = attrs,
          .inputs = {x, {}, {}, tensor<int64_t>({1}, {size})},
          .expected = {expected}};
}

OpCase by_scale(std::string name, Tensor x, float scale, Pairs strings, Tensor expected) {
  ir::Attrs attrs;
  for (auto& [key, value] : strings) attrs.emplace(key, value);
  return {.name = name,
          .op = "Resize",
          .attrs = attrs,
          .inputs = {x, {}, tensor<float>({1}, {scale})},
          .expected = {expected}};
}

const char* const kCoordinates = "coordinate_transformation_mode";

}  // namespace

TEST(Resize, Nearest) {
  const Tensor x = tensor<float>({4}, {0, 1, 2, 3});
  const OpCase cases[] = {
      by_scale("default", x, 2, {}, tensor<float>({8}, {0, 0, 1, 1, 2, 2, 3, 3})),
      by_scale("floor", x, 2, {{"nearest_mode", "floor"}}, tensor<float>({8}, {0, 0, 0, 1, 1, 2, 2, 3})),
      by_scale("ceil", x, 2, {{"nearest_mode", "ceil"}}, tensor<float>({8}, {0, 1, 1, 2, 2, 3, 3, 3})),
      to_size("halves down", x, 2, {}, tensor<float>({2}, {0, 2})),
      to_size("halves up", x, 2, {{"nearest_mode", "round_prefer_ceil"}}, tensor<float>({2}, {1, 3})),
      to_size("corners", x, 3, {{kCoordinates, "align_corners"}, {"nearest_mode", "ceil"}},
              tensor<float>({3}, {0, 2, 3})),
      by_scale("a third in float is a third", tensor<float>({9}, {0, 1, 2, 3, 4, 5, 6, 7, 8}), 1.0f / 3,
               {{kCoordinates, "asymmetric"}, {"nearest_mode", "floor"}}, tensor<float>({3}, {0, 3, 6})),
      by_scale("so are 1.5 / 0.6", tensor<float>({6}, {0, 1, 2, 3, 4, 5}), 0.6f, {{"nearest_mode", "floor"}},
               tensor<float>({3}, {0, 2, 3})),
      by_scale("sums of rounded terms are whole", tensor<float>({3}, {0, 1, 2}), 1.5f,
               {{kCoordinates, "half_pixel_symmetric"}, {"nearest_mode", "ceil"}}, tensor<float>({4}, {0, 1, 2, 2})),
      by_scale("the product of extent and scale is a float", tensor<float>({3}, {0, 1, 2}), 5.0f / 3,
               {{kCoordinates, "asymmetric"}, {"nearest_mode", "floor"}}, tensor<float>({5}, {0, 0, 1, 1, 2})),
      by_scale("64-bit integers stay exact", tensor<int64_t>({1}, {(1LL << 62) + 1}), 2, {},
               tensor<int64_t>({2}, {(1LL << 62) + 1, (1LL << 62) + 1})),
      {.name = "as it was at opset 10",
       .op = "Resize",
       .opset = 10,
       .inputs = {x, tensor<float>({1}, {0.6f})},
       .expected = {tensor<float>({2}, {0, 2})}},
      {.name = "Upsample",
       .op = "Upsample",
       .opset = 9,
       .inputs = {x, tensor<float>({1}, {1.5f})},
       .expected = {tensor<float>({6}, {0, 0, 1, 2, 2, 3})}},
      {.name = "Upsample with an attribute",
       .op = "Upsample",
       .opset = 7,
       .attrs = {{"scales", std::vector<float>{2}}},
       .inputs = {x},
       .expected = {tensor<float>({8}, {0, 0, 1, 1, 2, 2, 3, 3})}},
      {.name = "axes",
       .op = "Resize",
       .opset = 18,
       .attrs = {{"axes", std::vector<int64_t>{-1}}},
       .inputs = {tensor<uint8_t>({2, 1}, {7, 9}), {}, {}, tensor<int64_t>({1}, {2})},
       .expected = {tensor<uint8_t>({2, 2}, {7, 7, 9, 9})}},
      {.name = "not larger",
       .op = "Resize",
       .opset = 18,
       .attrs = {{"keep_aspect_ratio_policy", std::string("not_larger")}},
       .inputs = {tensor<float>({1, 2}, {1, 2}), {}, {}, tensor<int64_t>({2}, {5, 4})},
       .expected = {tensor<float>({2, 4}, {1, 1, 2, 2, 1, 1, 2, 2})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Resize, Interpolates) {
  const Tensor x = tensor<float>({4}, {1, 2, 3, 4}), pair = tensor<float>({2}, {0, 4});
  const OpCase cases[] = {
      by_scale("half_pixel", pair, 2, {{"mode", "linear"}}, tensor<float>({4}, {0, 1, 3, 4})),
      by_scale("asymmetric", pair, 2, {{"mode", "linear"}, {kCoordinates, "asymmetric"}},
               tensor<float>({4}, {0, 2, 4, 4})),
      to_size("align_corners", pair, 3, {{"mode", "linear"}, {kCoordinates, "align_corners"}},
              tensor<float>({3}, {0, 2, 4})),
      to_size("pytorch_half_pixel", x, 1, {{"mode", "linear"}, {kCoordinates, "pytorch_half_pixel"}},
              tensor<float>({1}, {1})),
      // 2.4 outputs are 2: the centre of the input stays in the centre, at coordinates 0.667 and 2.333.
      by_scale("half_pixel_symmetric", x, 0.6f, {{"mode", "linear"}, {kCoordinates, "half_pixel_symmetric"}},
               tensor<float>({2}, {1.6666667f, 3.3333333f})),
      to_size("antialias", x, 2, {{"mode", "linear"}}, tensor<float>({2}, {1.625f, 3.375f}),
              {{"antialias", int64_t{1}}}),
      to_size("without what is outside", x, 2, {{"mode", "linear"}}, tensor<float>({2}, {12.0f / 7, 23.0f / 7}),
              {{"antialias", int64_t{1}}, {"exclude_outside", int64_t{1}}}),
      to_size("integers round", tensor<uint8_t>({2}, {0, 5}), 3, {{"mode", "linear"}, {kCoordinates, "align_corners"}},
              tensor<uint8_t>({3}, {0, 2, 5})),
      // Keys' weights in 256ths at distances 0.25, 0.75, 1.25, 1.75: 225, 67, -27, -9.
      by_scale("cubic", tensor<float>({4}, {0, 0, 256, 0}), 2, {{"mode", "cubic"}},
               tensor<float>({8}, {0, -9, -27, 67, 225, 225, 67, -27})),
      {.name = "crops",
       .op = "Resize",
       .attrs = {{"mode", std::string("linear")},
                 {kCoordinates, std::string("tf_crop_and_resize")},
                 {"extrapolation_value", 9.0f}},
       .inputs = {x, tensor<float>({2}, {0.5f, 1.5f}), {}, tensor<int64_t>({1}, {3})},
       .expected = {tensor<float>({3}, {2.5f, 4, 9})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Resize, KeepsWhatDoesNotChange) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, std::vector<Dim>{Dim::named("batch"), 3, Dim::named("height"), 8});
  ir::Value* scales = g.add_constant("scales", tensor<float>({4}, {1, 1, 2, 2}));
  EXPECT_EQ(add_op(g, "Resize", {x, nullptr, scales})->output()->shape.text(), "[batch, 3, ?, ?]");
  ir::Value* sizes = g.add_input("sizes", DType::I64, Dims{2});
  Node* n = add_op(g, "Resize", {x, nullptr, nullptr, sizes}, {{"axes", std::vector<int64_t>{2, 3}}});
  EXPECT_EQ(n->output()->shape.text(), "[batch, 3, ?, ?]");
}

TEST(Resize, RefusesWhatDoesNotFit) {
  const Tensor x = tensor<float>({2}, {1, 2});
  const OpCase cases[] = {
      to_size("negative", x, -1, {}, {}),
      to_size("mode", x, 3, {{"mode", "area"}}, {}),
      to_size("coordinates", x, 3, {{kCoordinates, "centre"}}, {}),
      to_size("nothing to look at", tensor<float>({0}, {}), 3, {}, {}),
      to_size("no roi", x, 3, {{kCoordinates, "tf_crop_and_resize"}}, {}),
      by_scale("zero", x, 0, {}, {}),
      by_scale("nan", x, NAN, {}, {}),
      by_scale("huge", x, 1e30f, {}, {}),
      {.name = "neither", .op = "Resize", .inputs = {x}, .expected = {Tensor()}},
      {.name = "both",
       .op = "Resize",
       .inputs = {x, {}, tensor<float>({1}, {2}), tensor<int64_t>({1}, {4})},
       .expected = {Tensor()}},
      {.name = "count", .op = "Resize", .inputs = {x, {}, tensor<float>({2}, {2, 2})}, .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops
