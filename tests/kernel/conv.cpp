// Convolution kernels: every candidate against plain loops.
#include "base/error.h"
#include "kernel/conv_case.h"
#include "kernel/conv_tiles.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using Conv = ConvTest;
constexpr Element kTypes[] = {Element::F32, Element::F16, Element::BF16};

TEST_P(Conv, ThreeByThreeInEveryType) {
  for (Element type : kTypes)
    check({.n = 2,
           .h = 9,
           .w = 7,
           .c = 32,
           .k = 40,
           .p = 9,
           .q = 7,
           .r = 3,
           .s = 3,
           .pad = {1, 1},
           .in = type,
           .out = type,
           .bias = true});
}
TEST_P(Conv, OddChannelsStridesAndDilations) {
  for (Element type : {Element::F32, Element::F16})
    check({.n = 3,
           .h = 13,
           .w = 10,
           .c = 21,
           .k = 13,
           .p = 5,
           .q = 6,
           .r = 3,
           .s = 2,
           .stride = {2, 1},
           .dilation = {2, 3},
           .pad = {0, 0},
           .in = type,
           .out = type,
           .bias = true});
}
TEST_P(Conv, OneByOneWithoutBias) {
  check({.n = 2, .h = 6, .w = 5, .c = 72, .k = 72, .p = 6, .q = 5, .in = Element::F16, .out = Element::F16});
  check({.n = 2,
         .h = 6,
         .w = 5,
         .c = 64,
         .k = 33,
         .p = 3,
         .q = 3,
         .stride = {2, 2},
         .in = Element::F16,
         .out = Element::F32});
}
TEST_P(Conv, ManyTiles) {
  check({.n = 3,
         .h = 20,
         .w = 11,
         .c = 40,
         .k = 300,
         .p = 20,
         .q = 11,
         .in = Element::F16,
         .out = Element::F16,
         .bias = true},
        {}, {}, 2);
}
TEST_P(Conv, ThinInput) {
  for (Element type : kTypes) {  // 7 x 7 taps; pixels of 8, and of 4 where two are a vector
    ConvProblem p{.n = 2,
                  .h = 14,
                  .w = 12,
                  .c = 3,
                  .k = 24,
                  .p = 7,
                  .q = 6,
                  .r = 7,
                  .s = 7,
                  .stride = {2, 2},
                  .pad = {3, 3},
                  .in = type,
                  .out = type,
                  .bias = true};
    check(p, {}, {}, 2);
    p.pitch = 4;
    check(p, {}, {}, 2);
    p.pad[1] = 2;
    check(p, {}, {}, 1);
  }
}
TEST_P(Conv, MoreTapsThanBits) {
  check({.h = 12,
         .w = 9,
         .c = 8,
         .k = 16,
         .p = 12,
         .q = 9,
         .r = 5,
         .s = 7,
         .pad = {2, 3},
         .in = Element::F16,
         .out = Element::F16},
        {}, {}, 2);
}
TEST_P(Conv, ALongRowWithManyTaps) {
  check({.w = 70000,
         .c = 2,
         .k = 3,
         .q = 138,
         .s = 40,
         .stride = {1, 507},
         .dilation = {1, 10},
         .pad = {0, 5},
         .in = Element::F16,
         .out = Element::F32},
        {}, {}, 1);
}
TEST_P(Conv, Groups) {
  ConvProblem p{.n = 2,
                .h = 6,
                .w = 6,
                .c = 64,
                .k = 128,
                .p = 6,
                .q = 6,
                .r = 3,
                .s = 3,
                .pad = {1, 1},
                .groups = 2,
                .in = Element::F16,
                .out = Element::F16,
                .bias = true};
  check(p, {}, {}, 2);
  p.groups = 16;  // four channels each: joined
  check(p, {}, {}, 2);
  p.c = 6, p.k = 9, p.groups = 3;
  check(p, {}, {}, 2);
  p.c = p.k = p.groups = 40;
  check(p, {}, {}, 1);
}
TEST_P(Conv, SecondInput) {
  ConvProblem p{.n = 2,
                .h = 7,
                .w = 7,
                .c = 40,
                .k = 64,
                .p = 7,
                .q = 7,
                .in = Element::F16,
                .out = Element::F16,
                .bias = true,
                .c2 = 24,
                .h2 = 14,
                .w2 = 13,
                .stride2 = {2, 2}};
  check(p);
  p.r = p.s = 3, p.pad[0] = p.pad[1] = 1, p.in = Element::F32;
  check(p, {}, {}, 2);
}
TEST_P(Conv, WeightsInSmallFloats) {
  for (Element type : {Element::F16, Element::BF16}) {
    weights = type;
    check({.h = 5,
           .w = 5,
           .c = 16,
           .k = 16,
           .p = 3,
           .q = 3,
           .r = 3,
           .s = 3,
           .in = Element::F16,
           .out = Element::BF16,
           .bias = true},
          {}, {}, 1);
  }
}
TEST_P(Conv, ProductsWithRaggedRows) {
  check({.w = 37, .c = 48, .k = 21, .out_pitch = 21, .q = 37, .in = Element::F16, .out = Element::F16, .bias = true},
        {}, {}, 3);
  check({.w = 130, .c = 16, .k = 70, .out_pitch = 70, .q = 130}, {}, {}, 3);
}
TEST_P(Conv, SplitReductions) {
  compute_units = 64;
  ConvProblem p{.h = 4,
                .w = 4,
                .c = 512,
                .pitch = 512,
                .k = 24,
                .p = 4,
                .q = 4,
                .r = 3,
                .s = 3,
                .pad = {1, 1},
                .in = Element::F16,
                .out = Element::F16,
                .bias = true};
  check(p, {}, {}, 2);
  EXPECT_GT(conv_tiles(p, conv_shape(p, target_of_case()), target_of_case(), 6)[0].splits, 1);
}
TEST_P(Conv, Epilogue) {
  // A residual as large as the result, one number a channel, one an image.
  for (Element type : {Element::F32, Element::F16})
    for (int64_t k : {32, 37}) {
      const size_t pitch = static_cast<size_t>((k + 7) / 8 * 8), rows = 2 * 5 * 6;
      auto residual = rounded(random_floats(rows * pitch, -1, 1, 7), type),
           scale = random_floats(static_cast<size_t>(k), -1, 1, 8);
      auto image = rounded(random_floats(2, -1, 1, 9), Element::BF16);
      Epilogue e{.expression = {.inputs = 4, .body = "float t = r0 * r2 + r1 + r3; return max_f32(t, 0.f) + 1.f;"},
                 .operands = {{.type = type, .row_stride = static_cast<int64_t>(pitch), .column_stride = 1},
                              {.column_stride = 1},
                              {.type = Element::BF16, .row_divisor = 30, .row_stride = 1}}};
      check(
          {.n = 2,
           .h = 5,
           .w = 6,
           .c = 16,
           .k = k,
           .p = 5,
           .q = 6,
           .in = type,
           .out = type,
           .bias = true,
           .epilogue = e},
          [&](double v, size_t row, size_t channel) {
            return std::max(v * scale[channel] + residual[row * pitch + channel] + image[row / 30], 0.0) + 1;
          },
          {stored(residual, type), stored(scale, Element::F32), stored(image, Element::BF16)}, 3);
    }
}
TEST_P(Conv, PadsRows) {
  for (Element type : kTypes) {
    auto x = rounded(random_floats(7 * 13, -1, 1), type);
    std::vector<float> y = floats(
        run(pad_rows(7, 13, 16, type), {stored(x, type)}, {static_cast<size_t>(7 * 16 * size_of(type))})[0], type);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i % 16 < 13 ? x[i / 16 * 13 + i % 16] : 0) << i;
  }
}

HF_ON_ALL_DEVICES(Conv);

// Layers of a residual network at two batches, and what else takes another way through the text.
Candidates layers(const Target& target) {
  Candidates all;
  Target device = target;
  device.compute_units = 132;
  if (target.arch.starts_with("sm_")) device.lds_bytes = 232448 - (target.arch == "sm_80" ? 65536 : 0);
  auto add = [&](ConvProblem p, Element type) {
    p.in = p.out = type, p.bias = true;
    if (!p.pitch) p.pitch = p.c;
    p.out_pitch = (p.k + 7) / 8 * 8;
    size_t most = 3;
    for (KernelSpec& spec : conv(p, device))
      if (most && most--) all.push_back(std::move(spec));
  };
  Epilogue residual{.expression = {.inputs = 2, .body = "return max_f32(r0 + r1, 0.f);"},
                    .operands = {{.type = Element::F16, .row_stride = 256, .column_stride = 1}}};
  ConvProblem taps{.n = 8, .h = 56, .w = 56, .c = 128, .k = 256, .p = 56, .q = 56, .r = 3, .s = 3, .pad = {1, 1}};
  ConvProblem thin{.h = 224,
                   .w = 224,
                   .c = 3,
                   .pitch = 4,
                   .k = 64,
                   .p = 112,
                   .q = 112,
                   .r = 7,
                   .s = 7,
                   .stride = {2, 2},
                   .pad = {3, 3}};
  ConvProblem two{.h = 28,
                  .w = 28,
                  .c = 64,
                  .k = 256,
                  .p = 28,
                  .q = 28,
                  .epilogue = residual,
                  .c2 = 128,
                  .pitch2 = 128,
                  .h2 = 56,
                  .w2 = 56,
                  .stride2 = {2, 2}};
  for (Element type : kTypes) add(taps, type);
  add(thin, Element::F16), add(two, Element::F16);
  taps.c = 24, taps.groups = 3, taps.k = 96;
  add(taps, Element::F16);
  return all;
}
const OnEveryTarget kLayers(layers);

TEST(ConvSpec, RefusesWhatIntsCannotCount) {
  EXPECT_THROW(
      conv({.n = 1 << 20, .h = 64, .w = 64, .c = 8, .pitch = 8, .out_pitch = 8, .p = 64, .q = 64}, {.arch = "sm_90"}),
      Error);
}

}  // namespace
}  // namespace hf::kernel
