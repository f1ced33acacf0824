// Det. Expected values: numpy.linalg in float64.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(Det, Cases) {
  const OpCase cases[] = {
      {.name = "Det",
       .op = "Det",
       .inputs = {wave({2, 2, 3, 3}, 1)},
       .expected = {tensor<float>({2, 2}, {0, 0.0859375f, 0.0859375f, -0.06445312f})}},
      {.name = "Det that pivots",
       .op = "Det",
       .inputs = {tensor<float>({2, 2}, {0, 2, 3, 0})},
       .expected = {tensor<float>({}, {-6})}},
      {.name = "Det of a singular matrix",
       .op = "Det",
       .inputs = {tensor<float>({2, 2}, {1, 2, 2, 4})},
       .expected = {tensor<float>({}, {0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Det, RefusesWhatIsNotSquare) {
  EXPECT_THROW(run_case({.name = "2 by 3", .op = "Det", .inputs = {wave({2, 3}, 1)}, .expected = {Tensor()}}), Error);
}

}  // namespace hf::ops
