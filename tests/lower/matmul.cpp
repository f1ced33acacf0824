// Products of two run-time operands on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

OpCase product(std::string name, const Dims& a, const Dims& b) {
  return {.name = std::move(name),
          .op = "MatMul",
          .inputs = {random_tensor(a), random_tensor(b, -1, 1, 2)},
          .expected = {Tensor()},
          .tolerance = 1e-5f};
}

TEST(MatMul, Batches) {
  check_on_device(product("matrices", {5, 7}, {7, 9}));
  check_on_device(product("shared b", {2, 3, 20, 8}, {8, 24}));
  check_on_device(product("batches", {2, 3, 20, 16}, {2, 3, 16, 24}));
  check_on_device(product("repeated axes", {2, 1, 4, 6}, {3, 6, 5}));
  check_on_device(product("repeated outside", {1, 3, 4, 6}, {2, 1, 6, 5}));
}
TEST(MatMul, Vectors) {
  check_on_device(product("row", {7}, {7, 9}));
  check_on_device(product("column", {2, 5, 7}, {7}));
  check_on_device(product("dot", {7}, {7}));
  check_on_device(product("row of batches", {6}, {2, 6, 3}));
}
TEST(MatMul, SmallFloats) {
  for (DType precision : {DType::F16, DType::BF16}) {
    OpCase c = product("small floats", {2, 20, 16}, {2, 16, 24});
    c.tolerance = precision == DType::F16 ? 5e-3f : 4e-2f;
    check_on_device(c, {.precision = precision});
  }
}
TEST(MatMul, Epilogue) {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 2;
  program->steps = {{.op = "Mul", .args = {0, 1}}, {.op = "Relu", .args = {2}}};
  check_on_device(product("epilogue", {2, 5, 8}, {2, 8, 12}),
                  {.epilogue = program, .epilogue_operands = {random_tensor({12}, -2, 2, 3)}});
}

TEST(FusedMatMul, TransposesAndScales) {
  for (int64_t turned : {0, 1})
    for (int64_t batch : {0, 1}) {
      Dims a = batch ? Dims{turned ? 6 : 5, 3, turned ? 5 : 6} : Dims{3, turned ? 6 : 5, turned ? 5 : 6};
      check_on_device({.name = fmt::format("transA {} transBatchA {}", turned, batch),
                       .op = "FusedMatMul",
                       .domain = "com.microsoft",
                       .attrs = {{"alpha", 0.25f}, {"transA", turned}, {"transBatchA", batch}, {"transB", int64_t{1}}},
                       .inputs = {random_tensor(a), random_tensor({3, 9, 6}, -1, 1, 2)},
                       .expected = {Tensor()},
                       .tolerance = 1e-5f});
    }
}

TEST(Gemm, BiasOfEachShape) {
  for (const Dims& c : {Dims{}, Dims{9}, Dims{5, 1}, Dims{5, 9}, Dims{1, 9}})
    check_on_device({.name = "C of " + c.text(),
                     .op = "Gemm",
                     .attrs = {{"alpha", 0.5f}, {"beta", -2.0f}, {"transA", int64_t{1}}, {"transB", int64_t{1}}},
                     .inputs = {random_tensor({6, 5}), random_tensor({9, 6}, -1, 1, 2), random_tensor(c, -1, 1, 3)},
                     .expected = {Tensor()},
                     .tolerance = 1e-5f});
  check_on_device({.name = "no C",
                   .op = "Gemm",
                   .inputs = {random_tensor({5, 6}), random_tensor({6, 9}, -1, 1, 2)},
                   .expected = {Tensor()},
                   .tolerance = 1e-5f});
}

TEST(Einsum, Products) {
  auto check = [](const char* equation, const Dims& a, const Dims& b, const OnDevice& how = {}) {
    check_on_device({.name = equation,
                     .op = "Einsum",
                     .attrs = {{"equation", std::string(equation)}},
                     .inputs = {random_tensor(a), random_tensor(b, -1, 1, 2)},
                     .expected = {Tensor()},
                     .tolerance = 1e-5f},
                    how);
  };
  check("ij,jk->ik", {5, 7}, {7, 9});
  check("ij,kj->ki", {5, 7}, {9, 7});
  check("bhid, bhjd -> bhij", {2, 3, 6, 8}, {2, 3, 5, 8});
  check("bij,bjhd->bihd", {2, 6, 5}, {2, 5, 3, 4});
  check("bid,hde->bihe", {2, 6, 8}, {3, 8, 4}, {.stays_on_cpu = true});
  check("i,j->ij", {5}, {7});
  check("ij,j->i", {5, 7}, {7});
  check("bi,bi->b", {3, 7}, {3, 7});
  check("abc,bcd->ad", {4, 3, 5}, {3, 5, 6});
  check("ii,ij->j", {4, 4}, {4, 5}, {.stays_on_cpu = true});
}

}  // namespace
}  // namespace hf::lower
