// Data movement on a device, rows and channels last.
#include <algorithm>

#include "lower/channels_last.h"
#include "lower/on_device.h"

namespace hf::lower {
namespace {

Tensor ints(std::vector<int64_t> v) {
  Tensor t(DType::I64, {static_cast<int64_t>(v.size())});
  std::copy(v.begin(), v.end(), t.data<int64_t>());
  return t;
}

// Also with integers, which are moved without a look at them.
void check_all(OpCase c, const OnDevice& how) {
  c.opset = 28;
  c.tolerance = 0;
  if (c.expected.empty()) c.expected.resize(1);
  check_on_device(c, how);
  Tensor whole(DType::I64, c.inputs[0].dims());
  for (int64_t i = 0; i < whole.size(); ++i) whole.data<int64_t>()[i] = i * 1000000007;
  for (Tensor& t : c.inputs)
    if (t.dims() == whole.dims() && t.dtype() == DType::F32) t = whole;
  if (c.op == "Pad") c.inputs[2] = Tensor();
  check_on_device(c, how);
}

TEST(Movement, Transpose) {
  for (std::vector<int64_t> perm : {std::vector<int64_t>{2, 0, 1}, {1, 0, 2}, {0, 2, 1}})
    check_all(
        {.name = "transpose", .op = "Transpose", .attrs = {{"perm", perm}}, .inputs = {random_tensor({5, 20, 34})}},
        {});
  check_all({.name = "reversed", .op = "Transpose", .inputs = {random_tensor({5, 20, 34})}}, {});
}

TEST(Movement, Slice) {
  auto slice = [](std::vector<int64_t> starts, std::vector<int64_t> ends, std::vector<int64_t> axes,
                  std::vector<int64_t> steps) {
    check_all({.name = "slice",
               .op = "Slice",
               .inputs = {random_tensor({6, 20, 33}), ints(std::move(starts)), ints(std::move(ends)),
                          ints(std::move(axes)), ints(std::move(steps))}},
              {.constants = {1, 2, 3, 4}});
  };
  slice({1, 4}, {5, 100}, {0, 2}, {1, 1});
  slice({-1, 30}, {INT64_MIN, 2}, {1, 2}, {-1, -3});
  slice({-3}, {INT64_MAX}, {-3}, {2});
}

TEST(Movement, SplitAndConcat) {
  for (int64_t axis : {0, 1, -1})
    check_all({.name = "split",
               .op = "Split",
               .attrs = {{"axis", axis}},
               .inputs = {random_tensor({6, 21, 9}), axis == 0   ? ints({1, 2, 3})
                                                     : axis == 1 ? ints({8, 5, 8})
                                                                 : ints({4, 4, 1})},
               .expected = {Tensor(), Tensor(), Tensor()}},
              {.constants = {1}});
  check_all(
      {.name = "concat",
       .op = "Concat",
       .attrs = {{"axis", int64_t{1}}},
       .inputs = {random_tensor({3, 4, 9}), random_tensor({3, 4, 9}, -1, 1, 2), random_tensor({3, 4, 9}, -1, 1, 3)}},
      {});
  check_on_device({.name = "concat of all sizes",
                   .op = "Concat",
                   .opset = 28,
                   .attrs = {{"axis", int64_t{-1}}},
                   .inputs = {random_tensor({3, 4}), random_tensor({3, 1}, -1, 1, 2), random_tensor({3, 7}, -1, 1, 3)},
                   .expected = {Tensor()}},
                  {});
}

TEST(Movement, Pad) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    for (std::vector<int64_t> pads : {std::vector<int64_t>{0, 2, 1, 0, 3, 2}, {1, 0, 0, 0, 0, 0}, {0, -1, 3, 2, 2, -2}})
      check_all({.name = mode,
                 .op = "Pad",
                 .attrs = {{"mode", std::string(mode)}},
                 .inputs = {random_tensor({3, 5, 7}), ints(pads), Tensor::scalar(1.5f)}},
                {.constants = {1, 2}});
  check_on_device({.name = "on an axis",
                   .op = "Pad",
                   .opset = 28,
                   .inputs = {random_tensor({3, 5}), ints({2, 1}), Tensor(), ints({-1})},
                   .expected = {Tensor()}},
                  {.constants = {1, 3}});
  check_on_device({.name = "centre",
                   .op = "CenterCropPad",
                   .opset = 28,
                   .inputs = {random_tensor({3, 8}), ints({6, 5})},
                   .expected = {Tensor()}},
                  {.constants = {1}});
}

TEST(Movement, ExpandAndTile) {
  check_all({.name = "expand", .op = "Expand", .inputs = {random_tensor({3, 1, 8}), ints({2, 3, 5, 1})}},
            {.constants = {1}});
  check_all({.name = "tile", .op = "Tile", .inputs = {random_tensor({3, 2, 8}), ints({2, 1, 3})}}, {.constants = {1}});
}

TEST(Movement, DepthAndSpace) {
  for (const char* mode : {"DCR", "CRD"}) {
    check_all({.name = mode,
               .op = "DepthToSpace",
               .attrs = {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}},
               .inputs = {random_tensor({2, 12, 3, 5})}},
              {});
    check_all({.name = mode,
               .op = "SpaceToDepth",
               .attrs = {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}},
               .inputs = {random_tensor({2, 3, 6, 4})}},
              {});
  }
}

TEST(Movement, ExtentsOnly) {
  check_all({.name = "reshape", .op = "Reshape", .inputs = {random_tensor({3, 4}), ints({2, -1})}}, {.constants = {1}});
  check_all({.name = "flatten", .op = "Flatten", .inputs = {random_tensor({3, 4, 2})}}, {});
  check_all({.name = "squeeze", .op = "Squeeze", .inputs = {random_tensor({3, 1, 2}), ints({1})}}, {.constants = {1}});
  check_all({.name = "unsqueeze", .op = "Unsqueeze", .inputs = {random_tensor({3, 2}), ints({0})}}, {.constants = {1}});
  check_on_device(
      {.name = "dropout", .op = "Dropout", .opset = 28, .inputs = {random_tensor({3, 2})}, .expected = {Tensor()}});
}

TEST(Movement, SmallFloats) {
  for (DType precision : {DType::F16, DType::BF16}) {
    OpCase c{.name = "transpose",
             .op = "Transpose",
             .opset = 28,
             .inputs = {random_tensor({20, 30})},
             .expected = {Tensor()},
             .tolerance = 8e-3f};
    check_on_device(c, {.precision = precision});
    c.op = "Pad", c.inputs = {random_tensor({20, 30}), ints({1, 1, 2, 2}), Tensor::scalar(0.75f)};
    check_on_device(c, {.precision = precision, .constants = {1, 2}});
  }
}

// 13 channels in 16, and 16.
TEST(Movement, ChannelsLast) {
  for (int64_t c : {13, 16}) {
    const Tensor x = random_tensor({2, c, 5, 6});
    auto one = [&](std::string op, std::vector<Tensor> more, bool out_last, ir::Attrs attrs = {}) {
      OpCase test{.name = fmt::format("{} of {} channels", op, c),
                  .op = op,
                  .opset = 28,
                  .attrs = std::move(attrs),
                  .inputs = {x},
                  .expected = {Tensor()},
                  .tolerance = 1e-6f};
      test.inputs.insert(test.inputs.end(), more.begin(), more.end());
      check_channels_last(test, out_last);
    };
    one("Transpose", {}, false, {{"perm", std::vector<int64_t>{2, 1, 3, 0}}});
    one("Slice", {ints({1, 4}), ints({4, -100}), ints({2, 3}), ints({1, -2})}, true);
    one("Slice", {ints({2}), ints({11}), ints({1})}, true);
    one("Concat", {random_tensor({2, 7, 5, 6})}, true, {{"axis", int64_t{1}}});
    one("Concat", {random_tensor({2, c, 5, 2})}, true, {{"axis", int64_t{3}}});
    one("Pad", {ints({0, 0, 1, 2, 0, 0, 0, 3})}, true);
    one("Pad", {ints({0, 0, 1, 2, 0, 0, 0, 3})}, true, {{"mode", std::string("reflect")}});
    one("Pad", {ints({0, 1, 1, 2, 0, 0, 0, 3})}, false);
    one("Expand", {ints({3, 1, 1, 1, 1})}, false);
    one("Tile", {ints({2, 1, 1, 3})}, true);
    one("Tile", {ints({1, 2, 1, 1})}, false);
    one("Add", {random_tensor({c, 1, 1})}, true);
    one("Mul", {random_tensor({2, c, 5, 6}, -1, 1, 2)}, true);
    one("Sub", {random_tensor({2, 1, 5, 6})}, true);
    one("Div", {random_tensor({2, c, 1, 1}, 1, 2)}, true);
    one("Max", {random_tensor({6}), random_tensor({1, c, 5, 6}, -1, 1, 3)}, true);
    one("Sigmoid", {}, true);
  }
  for (int64_t c : {12, 32}) {
    OpCase test{.name = "blocks",
                .op = "DepthToSpace",
                .opset = 28,
                .attrs = {{"blocksize", int64_t{2}}},
                .inputs = {random_tensor({2, c, 4, 6})},
                .expected = {Tensor()}};
    check_channels_last(test, true);
    test.attrs = {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}};
    check_channels_last(test, true);
    test.op = "SpaceToDepth";
    check_channels_last(test, true);
  }
}

}  // namespace
}  // namespace hf::lower
