// GridSample, AffineGrid, RoiAlign, MaxRoiPool, MaxUnpool, DeformConv. Values by torch or onnxruntime 1.32 unless a
// comment says otherwise.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {
namespace {

std::vector<int64_t> ints(std::initializer_list<int64_t> v) { return v; }

OpCase grid(std::string mode, std::string padding, int64_t align_corners, std::initializer_list<float> values) {
  return {.name = mode + " " + padding + (align_corners ? " corners" : ""),
          .op = "GridSample",
          .attrs = {{"mode", mode}, {"padding_mode", padding}, {"align_corners", align_corners}},
          .inputs = {wave({1, 1, 3, 4}, 0, 0.25f), wave({1, 2, 3, 2}, 1, 0.3f)},
          .expected = {tensor<float>({1, 1, 2, 3}, values)}};
}

// Three regions of two maps.
OpCase regions(std::string mode, int64_t ratio, std::string coordinates, std::initializer_list<float> values,
               int opset = 22) {
  OpCase c = {
      .name = mode + " " + coordinates,
      .op = "RoiAlign",
      .opset = opset,
      .attrs = {{"mode", mode}, {"sampling_ratio", ratio}, {"output_height", int64_t{2}}, {"output_width", int64_t{2}}},
      .inputs = {wave({2, 1, 4, 5}, 0, 0.25f), tensor<float>({3, 4}, {0, 0, 3, 2, -1, 1, 5.5f, 3, 2, 2, 2, 2.5f}),
                 tensor<int64_t>({3}, {0, 1, 0})},
      .expected = {tensor<float>({3, 1, 2, 2}, values)}};
  if (opset >= 16) c.attrs["coordinate_transformation_mode"] = coordinates;
  return c;
}

}  // namespace

TEST(GridSample, Cases) {
  const OpCase cases[] = {
      grid("nearest", "zeros", 0, {0, -0.5f, 0, 0, 0, 1.25f}),
      grid("nearest", "border", 0, {-1, -0.5f, 0, -1, 0.5f, 1.25f}),
      grid("nearest", "reflection", 1, {0.75f, -0.5f, 0, -1, 0.5f, -0.5f}),
      grid("linear", "zeros", 0, {0, -0.21125f, 0, -0.065f, 0, 0.6825f}),
      grid("linear", "zeros", 1, {0.025f, -0.31375f, 0, -0.6125f, 0.225f, 0.36f}),
      grid("linear", "border", 0, {-0.475f, -0.325f, 0, -1, 0.325f, 0.6825f}),
      grid("linear", "reflection", 0, {-0.36875f, -0.325f, 0, -1, 0.08125f, 0.6825f}),
      grid("linear", "reflection", 1, {-0.15f, -0.31375f, 0.3f, -0.4325f, -0.10625f, 0.36f}),
      grid("cubic", "zeros", 1, {0.1135f, -0.419152f, -0.11025f, -0.861349f, 0.373717f, 0.544572f}),
      grid("cubic", "border", 0, {-0.4645f, -0.577128f, -0.00675f, -1.1525f, 0.41725f, 0.694884f}),
      grid("cubic", "reflection", 0, {-0.363373f, -0.663217f, -0.0675f, -1.36308f, 0.0966067f, 0.694884f}),
      grid("cubic", "reflection", 1, {-0.189562f, -0.477671f, 0.251438f, -0.637382f, -0.122131f, 0.457344f}),
      {.name = "volume",
       .op = "GridSample",
       .inputs = {wave({1, 1, 2, 3, 2}, 0, 0.25f), wave({1, 1, 2, 2, 3}, 1, 0.25f)},
       .expected = {tensor<float>({1, 1, 1, 2, 2}, {-0.015625f, 0, 0.0546875f, 0.015625f})}},
      {.name = "old names, and no number is outside",
       .op = "GridSample",
       .opset = 16,  // by hand
       .attrs = {{"mode", std::string("bilinear")}},
       .inputs = {tensor<float>({1, 1, 1, 2}, {1, 3}), tensor<float>({1, 1, 3, 2}, {0, 0, NAN, 0, 1e30f, 0})},
       .expected = {tensor<float>({1, 1, 1, 3}, {2, 0, 0})}},
      {.name = "from edge to edge",
       .op = "AffineGrid",
       .inputs = {tensor<float>({1, 2, 3}, {1, 0.5f, 0.25f, 0, 2, -0.5f}), tensor<int64_t>({4}, {1, 1, 2, 3})},
       .expected = {tensor<float>({1, 2, 3, 2}, {-0.666667f, -1.5f, 0, -1.5f, 0.666667f, -1.5f, -0.166667f, 0.5f, 0.5f,
                                                 0.5f, 1.16667f, 0.5f})}},
      {.name = "from centre to centre",
       .op = "AffineGrid",
       .attrs = {{"align_corners", int64_t{1}}},
       .inputs = {tensor<float>({1, 2, 3}, {1, 0.5f, 0.25f, 0, 2, -0.5f}), tensor<int64_t>({4}, {1, 1, 2, 3})},
       .expected = {tensor<float>(
           {1, 2, 3, 2}, {-1.25f, -2.5f, -0.25f, -2.5f, 0.75f, -2.5f, -0.25f, 1.5f, 0.75f, 1.5f, 1.75f, 1.5f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(RoiAlign, Cases) {
  const OpCase cases[] = {
      regions("avg", 0, "half_pixel",
              {-0.703125f, -0.078125f, -0.203125f, 0.25f, 0.46875f, 0.171875f, -0.166016f, -0.251953f, 0, 0, 0, 0}),
      regions("avg", 2, "output_half_pixel",
              {0.140625f, -0.0703125f, -0.21875f, -0.0859375f, 0.09375f, 0.0742188f, -0.09375f, -0.0703125f, 0.375f,
               -0.125f, 0.625f, 0.125f}),
      regions("max", 2, "half_pixel",
              {0.3125f, 0.3125f, 0.46875f, 0.46875f, 0.9375f, 0.421875f, 0.527344f, 0.375f, 0.21875f, 0.21875f,
               0.234375f, 0.234375f}),
      regions(
          "avg", 1, "opset 10",
          {0.3125f, -0.15625f, -0.21875f, 0, 0.359375f, 0.203125f, 0.34375f, 0.53125f, 0.375f, -0.125f, 0.625f, 0.125f},
          10),
      {.name = "the largest of each bin",
       .op = "MaxRoiPool",
       .attrs = {{"pooled_shape", ints({2, 2})}},
       .inputs = {wave({2, 1, 4, 5}, 0, 0.25f), tensor<float>({3, 5}, {0, 0, 0, 3, 2, 1, 1, 1, 4, 3, 0, 2, 2, 2, 2})},
       .expected = {tensor<float>({3, 1, 2, 2}, {1, 1.25f, 1, 0.5f, 0.75f, 1, 1.25f, 1, 0.5f, 0.5f, 0.5f, 0.5f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(RoiAlign, RefusesBadRegionsAndSurvivesHugeOnes) {
  OpCase c = regions("avg", 0, "half_pixel", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  c.inputs[2] = tensor<int64_t>({3}, {0, 2, 0});
  EXPECT_THROW(run_case(c), Error);
  c.inputs[2] = tensor<int64_t>({3}, {0, 1, 0});
  c.inputs[1] = tensor<float>({3, 4}, {0, 0, NAN, 1, 0, 0, 1, 1, 0, 0, 1, 1});
  EXPECT_THROW(run_case(c), Error);
  c.inputs[1] = tensor<float>({3, 4}, {-1e14f, -1e14f, 1e14f, 1e14f, 1e9f, 1e9f, 2e9f, 2e9f, 3, 3, -1e9f, -1e9f});
  EXPECT_NO_THROW(run_case(c));
}

TEST(MaxUnpool, Cases) {
  const Tensor x = tensor<float>({1, 1, 2, 2}, {1, 2, 3, 4}), places = tensor<int64_t>({1, 1, 2, 2}, {5, 7, 13, 15});
  const ir::Attrs attrs = {{"kernel_shape", ints({2, 2})}, {"strides", ints({2, 2})}};
  const OpCase cases[] = {
      {.name = "inferred",
       .op = "MaxUnpool",
       .attrs = attrs,
       .inputs = {x, places},  // by hand
       .expected = {tensor<float>({1, 1, 4, 4}, {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4})}},
      {.name = "indices count in the inferred shape",
       .op = "MaxUnpool",
       .attrs = attrs,  // by hand
       .inputs = {x, places, tensor<int64_t>({4}, {1, 1, 4, 5})},
       .expected = {tensor<float>({1, 1, 4, 5}, {0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.name = "index",
                         .op = "MaxUnpool",
                         .attrs = attrs,
                         .inputs = {x, tensor<int64_t>({1, 1, 2, 2}, {5, 7, 13, 16})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.name = "shape",
                         .op = "MaxUnpool",
                         .attrs = attrs,
                         .inputs = {x, places, tensor<int64_t>({4}, {1, 1, 3, 3})},
                         .expected = {Tensor()}}),
               Error);
}

TEST(DeformConv, Cases) {
  const OpCase cases[] = {
      {.name = "groups, offset groups, mask, bias",
       .op = "DeformConv",
       .attrs = {{"group", int64_t{2}},
                 {"offset_group", int64_t{2}},
                 {"strides", ints({1, 2})},
                 {"pads", ints({0, 1, 0, 1})}},
       .inputs = {wave({1, 4, 4, 3}, 0, 0.25f), wave({4, 2, 2, 2}, 2, 0.25f), wave({1, 16, 3, 2}, 3, 0.3f),
                  wave({4}, 0, 0.25f), wave({1, 8, 3, 2}, 4, 0.25f)},
       .expected = {tensor<float>(
           {1, 4, 3, 2}, {-0.792813f, -1.85625f,  -0.325f, -2.63281f, -1.25f,   -1.125f, 0.625312f,  -0.09375f,
                          1.33437f,   -0.675f,    0.5f,    0.9125f,   -0.5f,    -1.235f, -0.149062f, -0.57125f,
                          -0.583906f, -0.485938f, 1.25f,   2.845f,    1.71312f, 1.28f,   0.0335938f, 1.46875f})}},
      {.name = "half a step",
       .op = "DeformConv",  // by hand
       .inputs = {tensor<float>({1, 1, 1, 3}, {1, 3, 5}), tensor<float>({1, 1, 1, 1}, {2}),
                  tensor<float>({1, 2, 1, 3}, {0, 0, 0, 0.5f, 0.5f, 0.5f})},
       .expected = {tensor<float>({1, 1, 1, 3}, {4, 8, 5})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.name = "offsets",
                         .op = "DeformConv",
                         .inputs = {wave({1, 1, 1, 3}, 0), wave({1, 1, 1, 1}, 0), wave({1, 3, 1, 3}, 0)},
                         .expected = {Tensor()}}),
               Error);
}

}  // namespace hf::ops
