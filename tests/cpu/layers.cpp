// Pools, reductions, normalisations, concatenation, aliases, the reference and conversions.
#include <algorithm>

#include "cpu/harness.h"

namespace hf::cpu {
namespace {

using Ints = std::vector<int64_t>;

// The layout that a convolution leaves its output in, on this machine.
plan::Layout native_layout(const Dims& dims) {
  OneNode one("Conv", {random_tensor(dims, 1), random_tensor({dims[1], dims[1], 1, 1}, 2)}, {false, true});
  return Ready(test_backend(), one).prepared.outputs[0];
}

// The node with its first inputs in the native layout too.
void check_layouts(const OneNode& one, const std::string& name, const std::string& kernel) {
  check_node(one, name, kernel);
  std::vector<plan::Layout> layouts;
  for (const Tensor& t : one.inputs)
    layouts.push_back(t.defined() && t.rank() == 4 ? native_layout(t.dims()) : plan::Layout{});
  Ready ready(test_backend(), one, layouts);
  ops::expect_equal(ready.run()[0], one.reference()[0], 2e-5, name + ", native layout");
}

TEST(Pool, MatchesTheReference) {
  struct Case {
    std::string name, op;
    Dims x;
    ir::Attrs attrs;
    std::string kernel = "onednn pooling";
  };
  const Ints k3 = {3, 3}, s2 = {2, 2}, p1 = {1, 1, 1, 1};
  const Case cases[] = {
      {"max", "MaxPool", {2, 17, 13, 14}, {{"kernel_shape", k3}, {"strides", s2}, {"pads", p1}}},
      {"max, rounded up",
       "MaxPool",
       {1, 16, 12, 12},
       {{"kernel_shape", k3}, {"strides", s2}, {"ceil_mode", int64_t{1}}}},
      {"max, dilated", "MaxPool", {1, 16, 12, 12}, {{"kernel_shape", k3}, {"dilations", s2}}, ""},
      {"max, same",
       "MaxPool",
       {1, 16, 11, 12},
       {{"kernel_shape", k3}, {"strides", s2}, {"auto_pad", std::string("SAME_UPPER")}}},
      {"average", "AveragePool", {2, 32, 13, 14}, {{"kernel_shape", k3}, {"strides", s2}, {"pads", p1}}},
      {"average, counted",
       "AveragePool",
       {2, 5, 13, 13},
       {{"kernel_shape", k3}, {"pads", p1}, {"count_include_pad", int64_t{1}}}},
      {"average, rounded up",
       "AveragePool",
       {1, 8, 12, 12},
       {{"kernel_shape", k3}, {"strides", s2}, {"ceil_mode", int64_t{1}}}},
      {"average, counted and rounded up",
       "AveragePool",
       {1, 8, 12, 12},
       {{"kernel_shape", k3}, {"strides", s2}, {"ceil_mode", int64_t{1}}, {"count_include_pad", int64_t{1}}},
       "reference"},
      {"1-d", "MaxPool", {2, 4, 50}, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}}},
      {"3-d", "AveragePool", {1, 4, 6, 6, 6}, {{"kernel_shape", Ints{2, 2, 2}}, {"strides", Ints{2, 2, 2}}}},
      {"global", "GlobalAveragePool", {2, 35, 7, 9}, {}, "simd"},
      {"global max", "GlobalMaxPool", {2, 32, 7, 9}, {}, "simd"},
  };
  for (const Case& c : cases) check_layouts(OneNode(c.op, {random_tensor(c.x, 1)}, {}, c.attrs), c.name, c.kernel);
}

TEST(Pool, IndicesAreLeftToTheReference) {
  OneNode one("MaxPool", {random_tensor({1, 2, 6, 6}, 1)}, {}, {{"kernel_shape", Ints{2, 2}}}, "", 2);
  check_node(one, "indices", "reference");
}

TEST(Reduce, Axes) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax"})
    for (const Ints& axes : {Ints{1}, Ints{-1}, Ints{0}, Ints{2, 3}, Ints{0, 1}, Ints{1, 2}, Ints{0, 1, 2, 3}, Ints{}})
      for (int64_t keep : {0, 1}) {
        OneNode one(op, {random_tensor({3, 17, 70, 5}, 1), Tensor::ints(axes)}, {false, true}, {{"keepdims", keep}});
        check_layouts(one, fmt::format("{} {} axes", op, axes.size()), "simd");
      }
  OneNode split("ReduceMean", {random_tensor({3, 4, 5, 6}, 1), Tensor::ints(Ints{0, 2})}, {false, true});
  check_node(split, "axes apart", "reference");
}

TEST(Softmax, Axes) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (int64_t axis : {-1, 0, 1, 2}) {
      check_node(OneNode(op, {random_tensor({3, 19, 5, 37}, 1, -5, 5)}, {}, {{"axis", axis}}),
                 fmt::format("{} {}", op, axis), "simd");
    }
  check_node(OneNode("Softmax", {random_tensor({7, 1000}, 1, -80, 80)}, {}), "wide", "simd");
}

TEST(LayerNorm, Shapes) {
  for (int64_t n : {1, 5, 16, 768, 771})
    for (bool bias : {false, true}) {
      OneNode one("LayerNormalization",
                  {random_tensor({2, 7, n}, 1), random_tensor({n}, 2), bias ? random_tensor({n}, 3) : Tensor()}, {});
      check_node(one, fmt::format("{}", n), "simd", 1e-4);
    }
  OneNode two("LayerNormalization", {random_tensor({4, 6, 10}, 1), random_tensor({6, 10}, 2)}, {},
              {{"axis", int64_t{1}}});
  check_node(two, "two axes", "simd");
}

TEST(Lrn, MatchesTheReference) {
  for (int64_t size : {3, 5})
    for (int64_t channels : {16, 64, 7}) {
      OneNode one("LRN", {random_tensor({2, channels, 9, 8}, 1, -3, 3)}, {},
                  {{"size", size}, {"alpha", 0.5f}, {"beta", 0.75f}, {"bias", 2.f}});
      check_layouts(one, fmt::format("size {} of {}", size, channels), "");
    }
}

TEST(Concat, AxesAndLayouts) {
  for (int64_t axis : {0, 1, 2, -1}) {
    Dims a = {2, 32, 5, 6}, b = a, c = a;
    b[static_cast<int>(axis < 0 ? 3 : axis)] = 3;
    c[static_cast<int>(axis < 0 ? 3 : axis)] = 1;
    OneNode one("Concat", {random_tensor(a, 1), random_tensor(b, 2), random_tensor(c, 3)}, {}, {{"axis", axis}});
    check_layouts(one, fmt::format("axis {}", axis), "concat by copying");
  }
  OneNode ints("Concat", {Tensor::of<int64_t>({2}, {1, 2}), Tensor::of<int64_t>({1}, {3})}, {}, {{"axis", int64_t{0}}});
  check_node(ints, "int64", "concat by copying");
}

TEST(Resize, ModesAndLayouts) {
  struct Case {
    std::string mode, transform;
    std::vector<float> scales;
  };
  const Case cases[] = {{"nearest", "asymmetric", {1, 1, 2, 2}}, {"nearest", "half_pixel", {1, 1, 0.6f, 1.7f}},
                        {"linear", "half_pixel", {1, 1, 2, 3}},  {"linear", "align_corners", {1, 1, 1.5f, 2}},
                        {"cubic", "half_pixel", {1, 1, 2, 2}},   {"linear", "half_pixel", {1, 1, 0.5f, 0.5f}}};
  for (const Case& c : cases) {
    Tensor scales(DType::F32, {4});
    std::copy(c.scales.begin(), c.scales.end(), scales.data<float>());
    OneNode one("Resize", {random_tensor({2, 19, 6, 7}, 1), Tensor(), scales}, {false, true, true},
                {{"mode", c.mode}, {"coordinate_transformation_mode", c.transform}});
    check_layouts(one, c.mode + " " + c.transform, "simd Resize");
  }
}

TEST(Movement, InTheOrderOfMemory) {
  Tensor x = random_tensor({2, 32, 5, 6}, 1);
  OneNode slice(
      "Slice",
      {x, Tensor::ints(Ints{-20, 1}), Tensor::ints(Ints{30, 5}), Tensor::ints(Ints{1, 2}), Tensor::ints(Ints{3, 2})},
      {false, true, true, true, true});
  check_layouts(slice, "Slice", "reference");
  OneNode split("Split", {x, Tensor::ints(Ints{5, 27})}, {false, true}, {{"axis", int64_t{1}}}, "", 2);
  check_layouts(split, "Split", "reference");
  OneNode transpose("Transpose", {x}, {}, {{"perm", Ints{0, 2, 3, 1}}});
  check_layouts(transpose, "Transpose", "reference");
  OneNode other("Transpose", {x}, {}, {{"perm", Ints{1, 0, 2, 3}}});
  check_layouts(other, "Transpose", "reference");
}

TEST(Alias, ReshapeAndItsKin) {
  OneNode reshape("Reshape", {random_tensor({2, 6}, 1), Tensor::ints(Ints{3, 4})}, {false, true});
  EXPECT_EQ(check_node(reshape, "Reshape"), "alias");
  OneNode flatten("Flatten", {random_tensor({2, 3, 4}, 1)}, {});
  EXPECT_EQ(check_node(flatten, "Flatten"), "alias");
}

TEST(Layouts, ConversionsRoundTrip) {
  for (int64_t channels : {3, 5, 16, 17, 64}) {
    Dims dims = {2, channels, 5, 7};
    plan::Layout native = native_layout(dims);
    ir::Graph g;
    ir::Value* v = g.add_input("x", DType::F32, dims);
    Tensor x = random_tensor(dims, 3), back(DType::F32, dims);
    Buffer middle(bytes_of(*v, native));
    if (native.plain()) continue;
    const void* from[] = {x.raw(), middle.data()};
    void* to[] = {middle.data(), back.raw()};
    plan::Prepared there = test_backend().convert(*v, {}, native), again = test_backend().convert(*v, native, {});
    Buffer scratch(std::max(there.scratch_bytes, again.scratch_bytes));
    there.kernel->run(std::span(from, 1), std::span(to, 1), scratch.data());
    again.kernel->run(std::span(from + 1, 1), std::span(to + 1, 1), scratch.data());
    ops::expect_equal(back, x, 0, native.detail->text());
  }
}

TEST(Backend, Cores) {
  EXPECT_GE(usable_cores(), 1);
  auto backend = make_cpu_backend({.threads = 3});
  EXPECT_NE(describe(*backend).find("3 threads"), std::string::npos) << describe(*backend);
}

TEST(Backend, EmptyTensorsAreLeftToTheReference) {
  OneNode one("MatMul", {Tensor(DType::F32, {0, 4}), random_tensor({4, 3}, 2)}, {});
  check_node(one, "no rows", "reference");
  OneNode sum("Add", {Tensor(DType::F32, {0, 4}), random_tensor({4}, 2)}, {});
  check_node(sum, "no elements", "reference");
}

}  // namespace
}  // namespace hf::cpu
