// Einsum. Values by hand, or by numpy where a comment says so.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {
namespace {

OpCase einsum(std::string equation, std::vector<Tensor> inputs, Tensor expected) {
  return {
      .name = equation, .op = "Einsum", .attrs = {{"equation", equation}}, .inputs = inputs, .expected = {expected}};
}

}  // namespace

TEST(Einsum, Cases) {
  const Tensor square = tensor<float>({2, 2}, {1, 2, 3, 4}), row = tensor<float>({2}, {10, 1});
  const OpCase cases[] = {
      einsum("ij->ji", {square}, tensor<float>({2, 2}, {1, 3, 2, 4})),
      einsum("ij", {square}, square),
      einsum("ba", {square}, tensor<float>({2, 2}, {1, 3, 2, 4})),  // implicit: sorted
      einsum("ij->", {square}, tensor<float>({}, {10})),
      einsum("ij->j", {square}, tensor<float>({2}, {4, 6})),
      einsum("ii->i", {square}, tensor<float>({2}, {1, 4})),
      einsum("ii", {square}, tensor<float>({}, {5})),
      einsum(" i j , j k -> i k ", {square, square}, tensor<float>({2, 2}, {7, 10, 15, 22})),
      einsum("i,i->i", {row, row}, tensor<float>({2}, {100, 1})),
      einsum("i,j->ji", {row, tensor<float>({3}, {1, 2, 3})}, tensor<float>({3, 2}, {10, 1, 20, 2, 30, 3})),
      einsum("i,ij,j->", {row, square, row}, tensor<float>({}, {154})),
      einsum("Aa,a->A", {square, row}, tensor<float>({2}, {12, 34})),
      einsum("i,j->i", {row, tensor<float>({3}, {1, 2, 3})}, tensor<float>({2}, {60, 6})),
      einsum("...,...", {square, square}, tensor<float>({2, 2}, {1, 4, 9, 16})),
      einsum("i...->...", {square}, tensor<float>({2}, {4, 6})),
      einsum("...i->...", {tensor<float>({1, 1, 2}, {1, 2})}, tensor<float>({1, 1}, {3})),
      einsum("ij,jk->ik", {tensor<int64_t>({1, 1}, {1LL << 40}), tensor<int64_t>({1, 1}, {3})},
             tensor<int64_t>({1, 1}, {3LL << 40})),
      einsum("ij,jk->ik", {tensor<float>({1, 0}, {}), tensor<float>({0, 2}, {})}, tensor<float>({1, 2}, {0, 0})),
      einsum("...ij,...jk->k...i", {wave({2, 1, 2, 3}, 0, 1), wave({1, 2, 3, 1}, 1, 1)},  // by numpy
             tensor<float>({1, 2, 2, 2}, {18, -8, 23, -11, -12, -16, -12, -13})),
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  const Tensor square = tensor<float>({2, 2}, {1, 2, 3, 4}), scalar = tensor<float>({}, {1});
  for (const OpCase& c :
       {einsum("ij,jk->ik", {square}, {}), einsum("i->i", {square}, {}), einsum("ij->ik", {square}, {}),
        einsum("ij->ii", {square}, {}), einsum("i.j->ij", {square}, {}), einsum("...,...->...", {scalar, square}, {}),
        einsum("ii->i", {tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {}), einsum("......->", {square}, {}),
        einsum("ij->i->j", {square}, {}), einsum("ij->i...", {square}, {})})
    EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops
