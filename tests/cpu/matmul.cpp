// Matrix products: broadcasting, transposition, bias, epilogues.
#include "cpu/harness.h"

namespace hf::cpu {
namespace {

constexpr double kTolerance = 1e-4;

TEST(MatMul, Shapes) {
  struct Case {
    Dims a, b;
  };
  const Case cases[] = {{{5, 7}, {7, 3}},
                        {{2, 9, 16}, {16, 33}},
                        {{2, 3, 4, 8}, {2, 3, 8, 5}},
                        {{2, 3, 4, 8}, {8, 5}},
                        {{2, 3, 4, 8}, {3, 8, 5}},
                        {{2, 3, 4, 8}, {2, 1, 8, 5}},
                        {{4, 8}, {2, 3, 8, 5}},
                        {{1, 3, 4, 8}, {2, 1, 8, 5}},
                        {{8}, {8, 5}},
                        {{8}, {2, 8, 5}},
                        {{3, 4, 8}, {8}},
                        {{8}, {8}},
                        {{1, 64}, {64, 100}},
                        {{3, 1, 64}, {64, 100}},
                        {{1, 1, 1}, {1, 1}},
                        {{2, 12, 17, 33}, {2, 12, 33, 17}},
                        {{1, 1, 4, 8}, {1, 1, 8, 4}}};
  for (const Case& c : cases)
    for (bool constant : {false, true}) {
      OneNode one("MatMul", {random_tensor(c.a, 1), random_tensor(c.b, 2)}, {false, constant});
      check_node(one, c.a.text() + c.b.text() + (constant ? " constant" : ""), "onednn matmul", kTolerance);
    }
}

TEST(Gemm, AttributesAndC) {
  for (int64_t ta : {0, 1})
    for (int64_t tb : {0, 1})
      for (float alpha : {1.f, 0.5f})
        for (float beta : {1.f, 2.f, 0.f})
          for (const Dims& c : {Dims{9}, Dims{6, 9}, Dims{6, 1}, Dims{}, Dims{1, 9}}) {
            OneNode one("Gemm",
                        {random_tensor(ta ? Dims{5, 6} : Dims{6, 5}, 1), random_tensor(tb ? Dims{9, 5} : Dims{5, 9}, 2),
                         random_tensor(c, 3)},
                        {false, true, true}, {{"transA", ta}, {"transB", tb}, {"alpha", alpha}, {"beta", beta}});
            check_node(one, fmt::format("{} {} {} {} {}", ta, tb, alpha, beta, c.text()),
                       beta == 2 ? "reference" : "onednn matmul", kTolerance);
          }
  OneNode one("Gemm", {random_tensor({6, 5}, 1), random_tensor({5, 9}, 2)}, {});
  check_node(one, "without C", "onednn matmul", kTolerance);
}

TEST(FusedMatMul, Transposes) {
  for (int64_t ta : {0, 1})
    for (int64_t tb : {0, 1})
      for (int64_t ba : {0, 1})
        for (int64_t bb : {0, 1}) {
          // Logical operands [2, 3, 4, 5] and [2, 3, 5, 6].
          Dims a = ta ? Dims{2, 3, 5, 4} : Dims{2, 3, 4, 5}, b = tb ? Dims{2, 3, 6, 5} : Dims{2, 3, 5, 6};
          auto first_inside = [](Dims d) { return Dims{d[2], d[0], d[1], d[3]}; };
          OneNode one("FusedMatMul",
                      {random_tensor(ba ? first_inside(a) : a, 1), random_tensor(bb ? first_inside(b) : b, 2)}, {},
                      {{"transA", ta}, {"transB", tb}, {"transBatchA", ba}, {"transBatchB", bb}, {"alpha", 0.25f}},
                      "com.microsoft");
          check_node(one, fmt::format("{} {} {} {}", ta, tb, ba, bb), "onednn matmul", kTolerance);
        }
}

struct EpilogueCase {
  std::string name;
  ir::Program program;
  std::vector<Tensor> operands;
};

void check_epilogues(const std::vector<Tensor>& inputs, std::span<const EpilogueCase> cases) {
  for (bool constant : {false, true})
    for (const EpilogueCase& e : cases) {
      OneNode one("MatMul", inputs, {false, constant});
      one.epilogue(e.program, e.operands, std::vector<bool>(e.operands.size(), constant));
      check_node(one, e.name, "onednn matmul", kTolerance);
    }
}

TEST(MatMul, EpiloguesOfOneMatrix) {
  Tensor row = random_tensor({33}, 3), full = random_tensor({2, 9, 33}, 4);
  const EpilogueCase cases[] = {
      {"bias", {2, {step("Add", {0, 1})}}, {row}},
      {"bias first", {2, {step("Add", {1, 0})}}, {row}},
      {"bias, Gelu", {2, {step("Add", {0, 1}), step("Gelu", {2}, {0.f})}}, {row}},
      {"bias, Erf", {2, {step("Add", {0, 1}), step("Erf", {2})}}, {row}},
      {"bias, residual", {3, {step("Add", {0, 1}), step("Add", {3, 2})}}, {row, full}},
      {"residual, bias", {3, {step("Add", {0, 1}), step("Add", {3, 2})}}, {full, row}},
      {"positions", {2, {step("Add", {0, 1})}}, {random_tensor({9, 33}, 5)}},
      {"rows", {2, {step("Mul", {0, 1})}}, {random_tensor({2, 9, 1}, 5)}},
      {"scaled", {2, {step("Div", {0, 1})}}, {Tensor::scalar(8.f)}},
      {"used again", {2, {step("Add", {0, 1}), step("Mul", {2, 0})}}, {row}},
  };
  check_epilogues({random_tensor({2, 9, 16}, 1), random_tensor({16, 33}, 2)}, cases);
}

TEST(MatMul, EpiloguesOfABatch) {
  const EpilogueCase cases[] = {
      {"scaled and masked",
       {3, {step("Div", {0, 1}), step("Add", {3, 2})}},
       {Tensor::scalar(8.f), random_tensor({2, 1, 1, 17}, 3)}},
      {"square mask", {2, {step("Add", {0, 1})}}, {random_tensor({1, 1, 17, 17}, 3)}},
      {"full", {2, {step("Add", {0, 1})}}, {random_tensor({2, 4, 17, 17}, 3)}},
      {"heads", {2, {step("Add", {0, 1})}}, {random_tensor({4, 1, 1}, 3)}},
      {"row", {2, {step("Add", {0, 1})}}, {random_tensor({17}, 3)}},
  };
  check_epilogues({random_tensor({2, 4, 17, 8}, 1), random_tensor({2, 4, 8, 17}, 2)}, cases);
}

}  // namespace
}  // namespace hf::cpu
